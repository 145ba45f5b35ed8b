/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Counters of the whole port, the kernel's traffic included: phy_stats.c.
 */

#ifndef MLX4X_PHY_STATS_H
#define MLX4X_PHY_STATS_H

#include <stddef.h>
#include <stdint.h>

struct mlx4x_port;

/* Takes the names from the kernel. A port whose counters it does not tell has none. */
void mlx4x_phy_stats_init(struct mlx4x_port *port);
void mlx4x_phy_stats_fini(struct mlx4x_port *port);

unsigned int mlx4x_phy_stats_count(const struct mlx4x_port *port);
void mlx4x_phy_stats_name(const struct mlx4x_port *port, unsigned int i, char *name,
	size_t size);

/*
 * Asks the kernel for all values since the last reset. If it does not answer, as when the
 * device is gone, they are what they were. In the primary under the lock of the device.
 * values may be NULL.
 */
void mlx4x_phy_stats_read(const struct mlx4x_port *port, uint64_t *values);

/* Counts from 0 again. Primary only, under the lock of the device. */
void mlx4x_phy_stats_reset(const struct mlx4x_port *port);

#endif /* MLX4X_PHY_STATS_H */
