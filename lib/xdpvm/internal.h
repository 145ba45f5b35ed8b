/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all files of the library share: threads as the engine sees them, messages, and the few
 * functions that cross the parts.
 */
#ifndef XDPVM_INTERNAL_H
#define XDPVM_INTERNAL_H

#include <errno.h>
#include <string.h>

#include "xdpvm.h"

#define XDPVM_CACHE_LINE 64

/* A registered thread; lives in a static table, so pointers stay good. */
struct xdpvm_thread {
	uint32_t cpu;
	uint32_t numa_node;
	bool used;
	uint32_t random_state[4];	/* bpf_get_prandom_u32; seeded at registration */
} __attribute__((aligned(XDPVM_CACHE_LINE)));

/* The calling thread's registration, or NULL. */
extern __thread struct xdpvm_thread *xdpvm_self __attribute__((tls_model("initial-exec")));

/* Sends a sentence to the object's log; object may be NULL (nothing happens). */
void xdpvm_log(const struct xdpvm_object *object, enum xdpvm_log_level level, const char *format,
	       ...) __attribute__((format(printf, 3, 4)));

/* Sends an error and returns error, a negative errno: "return xdpvm_fail(object, -EINVAL, ...)". */
int xdpvm_fail(const struct xdpvm_object *object, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* interp.c: see xdpvm_callback(). */
uint64_t xdpvm_interp_callback(struct xdpvm_buff *buff, uint64_t callback, uint64_t r1, uint64_t r2,
			       uint64_t r3, uint64_t r4, uint64_t r5);

#endif /* XDPVM_INTERNAL_H */
