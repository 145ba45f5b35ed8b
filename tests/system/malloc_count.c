/* SPDX-License-Identifier: BSD-3-Clause */

/* See malloc_count.h: what a program defines goes before the C library, for all libraries. */

#include "malloc_count.h"

#include <stdlib.h>

static uint64_t calls;

static void
count(void)
{
	__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
}

uint64_t
malloc_count(void)
{
	return __atomic_load_n(&calls, __ATOMIC_RELAXED);
}

#if defined(__SANITIZE_ADDRESS__)

#include <sanitizer/allocator_interface.h>

static void
on_malloc(const volatile void *memory, size_t size)
{
	count();
}

static void
on_free(const volatile void *memory)
{
}

__attribute__((constructor)) static void
install(void)
{
	__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
}

#else

/* The C library's own names. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t nb, size_t size);
void *__libc_realloc(void *memory, size_t size);

void *
malloc(size_t size)
{
	count();
	return __libc_malloc(size);
}

void *
calloc(size_t nb, size_t size)
{
	count();
	return __libc_calloc(nb, size);
}

void *
realloc(void *memory, size_t size)
{
	count();
	return __libc_realloc(memory, size);
}

#endif
