/* SPDX-License-Identifier: BSD-3-Clause */

/* A worker as another process, below the virtual card or not; see worker.h. */

#ifndef MLX4X_PERF_CHILD_H
#define MLX4X_PERF_CHILD_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "options.h"
#include "work.h"

struct perf_child {
	pid_t pid;
	FILE *in;		/* to its standard input */
	FILE *out;		/* from its standard output */
	char driver[32];
	uint64_t tsc_hz;	/* of the time stamp counter */
};

/* Starts a worker and waits until it is ready. 0, or negative with a sentence in reason. */
int perf_child_start(struct perf_child *child, const struct perf_options *options,
	const char *driver, const struct perf_point *point, char *reason, size_t size);

int perf_child_round(struct perf_child *child, const char *scenario, uint32_t burst,
	uint32_t packets, struct perf_round *round, char *reason, size_t size);

/* Ends the worker and waits for it. Harmless on one that did not start. */
void perf_child_stop(struct perf_child *child);

/* Our driver's library. */
const char *perf_ours(const struct perf_options *options);

/* Whether workers can start; if not, says why. */
bool perf_child_possible(const struct perf_options *options);

#endif /* MLX4X_PERF_CHILD_H */
