/* SPDX-License-Identifier: BSD-3-Clause */

/* Files that are built or installed near this program. */

#ifndef MLX4X_PERF_NEAR_H
#define MLX4X_PERF_NEAR_H

#include <stddef.h>

/* Path of this program, of our driver, of vcx3; static memory, NULL when there is none. */
const char *perf_find_self(void);
const char *perf_find_ours(void);
const char *perf_find_launcher(void);

/* Path of an example program, or of one of xdp-tools. 0, or -ENOENT. */
int perf_find_program(const char *name, char *path, size_t size);

#endif /* MLX4X_PERF_NEAR_H */
