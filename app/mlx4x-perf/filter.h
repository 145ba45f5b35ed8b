/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The rule of xdp-filter with the policy "deny" and 1000 MAC and 1000 IPv4 addresses that
 * may pass, none of which occurs: each packet is looked up in all tables and dropped. As
 * maps of xdp-tools' own program, and as C code on rte_hash.
 */

#ifndef MLX4X_PERF_FILTER_H
#define MLX4X_PERF_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_work;

/* Fills the maps of the attached program. 0, or a negative errno. */
int perf_filter_fill(void);

/* Makes the tables of the C code. 0, or a negative errno with a reason. */
int perf_filter_begin(struct perf_work *work, char *reason, size_t size);
void perf_filter_end(struct perf_work *work);

/* Whether a frame may pass. */
bool perf_filter_allows(const uint8_t *data, const uint8_t *end);

#endif /* MLX4X_PERF_FILTER_H */
