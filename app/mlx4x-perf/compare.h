/* SPDX-License-Identifier: BSD-3-Clause */

/* Two drivers side by side. */

#ifndef MLX4X_PERF_COMPARE_H
#define MLX4X_PERF_COMPARE_H

#include "options.h"

/* The verb "compare"; an exit status. */
int perf_compare_main(const struct perf_options *options);

#endif /* MLX4X_PERF_COMPARE_H */
