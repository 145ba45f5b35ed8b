/* SPDX-License-Identifier: BSD-3-Clause */

/**
 * @file
 * What net_mlx4x offers beyond ethdev.
 *
 * Device arguments, after the PCI address of the function:
 *
 * - port=N: probe port N of the function, 0 or 1. May be given twice; without it, all
 *   ports are probed.
 *
 * A port is named after its function and number, for instance "0000:03:00.0_port1".
 */

#ifndef RTE_PMD_MLX4X_H
#define RTE_PMD_MLX4X_H

/** Name of the driver, as in struct rte_eth_dev_info::driver_name. */
#define RTE_PMD_MLX4X_DRIVER_NAME "net_mlx4x"

#endif /* RTE_PMD_MLX4X_H */
