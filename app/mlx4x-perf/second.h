/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A second core that runs the timed function at the same time, on queues of its own. The
 * card still moves only while both wait.
 */

#ifndef MLX4X_PERF_SECOND_H
#define MLX4X_PERF_SECOND_H

#include <stdint.h>

#include "work.h"

/* Takes half of the queues to the second lcore of EAL. 0, or a negative errno with a reason. */
int perf_second_begin(struct perf_work *work, char *reason, size_t size);
void perf_second_end(struct perf_work *work);

/* Lets it run the function once; then waits for it: cycles that it took, packets added. */
void perf_second_start(struct perf_work *work, uint32_t (*timed)(struct perf_work *work));
uint64_t perf_second_wait(struct perf_work *work, uint32_t *packets);

#endif /* MLX4X_PERF_SECOND_H */
