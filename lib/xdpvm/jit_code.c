/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory for native code. It is placed within 2 GiB of the library, where a direct call reaches
 * every helper, and is never writable and executable at once.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "helper.h"
#include "jit_x86.h"

#define STEP (16ul << 20)	/* bytes between two tries */
#define REACH (1ul << 30)	/* bytes: half of what a call reaches, to be far from its edge */

static size_t
whole_pages(size_t size)
{
	size_t page = sysconf(_SC_PAGESIZE);

	return (size + page - 1) & ~(page - 1);
}

static uint8_t *
try_at(uintptr_t where, size_t size)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | (where != 0 ? MAP_FIXED_NOREPLACE : 0);
	void *code = mmap((void *)where, size, PROT_READ | PROT_WRITE, flags, -1, 0);

	return code != MAP_FAILED ? code : NULL;
}

uint8_t *
xdpvm_code_alloc(size_t size)
{
	uintptr_t near = (uintptr_t)xdpvm_helper_get & ~(STEP - 1);
	uint8_t *code = NULL;

	size = whole_pages(size);
	for (uintptr_t away = STEP; away < REACH && code == NULL; away += STEP) {
		if (away < near)
			code = try_at(near - away, size);
		if (code == NULL)
			code = try_at(near + away, size);
	}
	/* Calls go through a register when it is far. */
	return code != NULL ? code : try_at(0, size);
}

int
xdpvm_code_seal(uint8_t *code, size_t size)
{
	return mprotect(code, whole_pages(size), PROT_READ | PROT_EXEC) == 0 ? 0 : -errno;
}

void
xdpvm_code_free(uint8_t *code, size_t size)
{
	munmap(code, whole_pages(size));
}
