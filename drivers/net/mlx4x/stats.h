/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Sums of the counters of a port's receive side: stats.c.
 */

#ifndef MLX4X_STATS_H
#define MLX4X_STATS_H

#include "xdp.h"

/* Of one receive queue, or of all with RTE_PMD_MLX4X_XDP_PORT; since the last reset. */
void mlx4x_rxq_stats_sum(const struct mlx4x_port *port, uint16_t queue,
	struct mlx4x_rxq_stats *sum);

/*
 * Of the page pools behind the receive queues, each once, with the caches of the queues.
 * All 0 if none of their mempools is a page pool. Under the lock of the device.
 */
void mlx4x_page_pool_stats_sum(const struct mlx4x_port *port, struct page_pool_stats *sum);

#endif /* MLX4X_STATS_H */
