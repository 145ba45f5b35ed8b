/* SPDX-License-Identifier: BSD-3-Clause */

/* What a second core gains. */

#ifndef MLX4X_PERF_SCALE_H
#define MLX4X_PERF_SCALE_H

#include "options.h"

/* The verb "scale"; an exit status. */
int perf_scale_main(const struct perf_options *options);

#endif /* MLX4X_PERF_SCALE_H */
