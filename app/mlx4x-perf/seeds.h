/* SPDX-License-Identifier: BSD-3-Clause */

/* The kernel's own figures for its receive path, next to ours. */

#ifndef MLX4X_PERF_SEEDS_H
#define MLX4X_PERF_SEEDS_H

#include "options.h"

/* The verb "seeds"; an exit status. */
int perf_seeds_main(const struct perf_options *options);

#endif /* MLX4X_PERF_SEEDS_H */
