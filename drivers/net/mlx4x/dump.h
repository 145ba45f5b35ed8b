/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MLX4X_DUMP_H
#define MLX4X_DUMP_H

#include <stdio.h>

struct rte_eth_dev;

int mlx4x_priv_dump(struct rte_eth_dev *eth_dev, FILE *file);

#endif /* MLX4X_DUMP_H */
