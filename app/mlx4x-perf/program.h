/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * XDP programs on the receiving port: native hooks and objects, by the public interface of
 * our driver, which is a plugin and so looked up in the running program.
 */

#ifndef MLX4X_PERF_PROGRAM_H
#define MLX4X_PERF_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xdpvm.h>

#include "work.h"

/* What a program is; one of both is set. */
struct perf_program {
	xdpvm_entry_fn hook;
	const char *object;	/* name of an example program, or of one of xdp-tools */
	int (*fill)(void);	/* its maps, once it is attached; or NULL */
};

/* Whether the driver, the library of --driver, runs programs. */
bool perf_program_possible(const struct perf_options *options);

/* Attaches to all queues of the receiving port. 0, or a negative errno with a reason. */
int perf_program_attach(struct perf_work *work, const struct perf_program *program,
	char *reason, size_t size);
/* For fill: an entry of a map of the attached object. 0, or a negative errno. */
int perf_program_map_update(const char *map, const void *key, const void *value);

void perf_program_detach(struct perf_work *work);

/* Frames that programs have judged so far. */
uint64_t perf_program_judged(const struct perf_work *work);

#endif /* MLX4X_PERF_PROGRAM_H */
