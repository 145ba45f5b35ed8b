/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A worker is one driver at one point. It says "ready DRIVER TSC-HZ" or "error SENTENCE", then
 * answers each line "SCENARIO BURST PACKETS" with "ok" and the fields of struct
 * perf_round or "error SENTENCE", until its input ends.
 */

#ifndef MLX4X_PERF_WORKER_H
#define MLX4X_PERF_WORKER_H

#include "options.h"

/* The verb "worker"; an exit status. */
int perf_worker_main(const struct perf_options *options);

/* The verb "run": one driver in this process, results as text and JSON; an exit status. */
int perf_run_main(const struct perf_options *options);

#endif /* MLX4X_PERF_WORKER_H */
