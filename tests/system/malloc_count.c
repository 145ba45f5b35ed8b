/* SPDX-License-Identifier: BSD-3-Clause */

/* See malloc_count.h: what a program defines goes before the C library, for all libraries. */

#include "malloc_count.h"

#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ADDRESS_SANITIZER
#endif
#endif

static __thread uint64_t calls;

static void
count(void)
{
	calls++;
}

uint64_t
malloc_count(void)
{
	return calls;
}

#ifdef HAS_ADDRESS_SANITIZER

/* sanitizer/allocator_interface.h of LLVM; gcc has the function, not the header. */
int __sanitizer_install_malloc_and_free_hooks(
	void (*on_malloc)(const volatile void *memory, size_t size),
	void (*on_free)(const volatile void *memory));

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
