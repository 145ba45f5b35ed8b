/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Secondary processes: mp.c.
 */

#ifndef MLX4X_MP_H
#define MLX4X_MP_H

#include <ethdev_driver.h>

struct mlx4x_port;

int mlx4x_mp_init(void);
void mlx4x_mp_fini(void);
void mlx4x_mp_tell_start(const struct mlx4x_port *port);
void mlx4x_mp_tell_stop(const struct mlx4x_port *port);
void mlx4x_mp_tell_close(const struct mlx4x_port *port);
int mlx4x_mp_attach(struct rte_eth_dev *eth_dev);
void mlx4x_mp_detach(struct rte_eth_dev *eth_dev);

#endif /* MLX4X_MP_H */
