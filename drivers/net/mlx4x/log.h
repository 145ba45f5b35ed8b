/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the driver says goes through here. Two log types, pmd.net.mlx4x.init (probe,
 * configuration) and pmd.net.mlx4x.driver (everything later), so that one can be
 * turned up without the other.
 */

#ifndef MLX4X_LOG_H
#define MLX4X_LOG_H

#include <rte_log.h>

extern int mlx4x_logtype_init;
extern int mlx4x_logtype_driver;

#define MLX4X_INIT_LOG(level, fmt, ...) \
	rte_log(RTE_LOG_ ## level, mlx4x_logtype_init, "mlx4x: " fmt "\n", ##__VA_ARGS__)

/* A sentence about a port: its name comes first. */
#define MLX4X_LOG(port, level, fmt, ...) \
	rte_log(RTE_LOG_ ## level, mlx4x_logtype_driver, "mlx4x: %s: " fmt "\n", \
		(port)->data->name, ##__VA_ARGS__)

#endif /* MLX4X_LOG_H */
