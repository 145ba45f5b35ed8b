/* SPDX-License-Identifier: BSD-3-Clause */

/* Instructions per packet of two drivers. */

#ifndef MLX4X_PERF_COUNT_H
#define MLX4X_PERF_COUNT_H

#include "options.h"

/* The verb "count"; an exit status. */
int perf_count_main(const struct perf_options *options);

#endif /* MLX4X_PERF_COUNT_H */
