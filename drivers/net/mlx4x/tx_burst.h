/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The send burst functions; tx_select.c picks one of them.
 */

#ifndef MLX4X_TX_BURST_H
#define MLX4X_TX_BURST_H

#include <stdint.h>

struct rte_mbuf;

#define MLX4X_TX_BURST(name) \
	uint16_t name(void *queue, struct rte_mbuf **pkts, uint16_t nb_pkts)

MLX4X_TX_BURST(mlx4x_tx_burst_stopped);

/* tx.c: single segment */
MLX4X_TX_BURST(mlx4x_tx_burst);
MLX4X_TX_BURST(mlx4x_tx_burst_offload);

/* tx_multi.c: chains, segmentation, inner checksums */
MLX4X_TX_BURST(mlx4x_tx_burst_multi);

/* tx_prepare.c */
MLX4X_TX_BURST(mlx4x_tx_prepare);

#endif /* MLX4X_TX_BURST_H */
