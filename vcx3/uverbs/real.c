/* SPDX-License-Identifier: BSD-3-Clause */

/* See real.h. */

#include "real.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>

static struct uv_real functions;
static atomic_bool resolved;

/* Two threads may both resolve: they store the same values. */
const struct uv_real *
uv_real(void)
{
	if (!atomic_load_explicit(&resolved, memory_order_acquire)) {
#define RESOLVE(type, name, args) \
	functions.name = (__typeof__(functions.name))dlsym(RTLD_NEXT, #name);
		UV_REAL_FUNCTIONS(RESOLVE)
#undef RESOLVE
		atomic_store_explicit(&resolved, true, memory_order_release);
	}
	return &functions;
}
