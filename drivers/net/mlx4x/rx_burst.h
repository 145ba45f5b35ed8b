/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The receive burst functions; rx_select.c picks one of them.
 */

#ifndef MLX4X_RX_BURST_H
#define MLX4X_RX_BURST_H

#include <stdint.h>

struct rte_mbuf;

#define MLX4X_RX_BURST(name) \
	uint16_t name(void *queue, struct rte_mbuf **pkts, uint16_t nb_pkts)

MLX4X_RX_BURST(mlx4x_rx_burst_stopped);

/* rx.c: single segment */
MLX4X_RX_BURST(mlx4x_rx_burst);
MLX4X_RX_BURST(mlx4x_rx_burst_tunnel);
MLX4X_RX_BURST(mlx4x_rx_burst_strip);
MLX4X_RX_BURST(mlx4x_rx_burst_stamp);

/* rx_vec_sse.c, rx_vec_avx2.c: as mlx4x_rx_burst */
MLX4X_RX_BURST(mlx4x_rx_burst_sse);
MLX4X_RX_BURST(mlx4x_rx_burst_avx2);

/* rx_scatter.c: frames that may take several buffers */
MLX4X_RX_BURST(mlx4x_rx_burst_scatter);
MLX4X_RX_BURST(mlx4x_rx_burst_scatter_strip);
MLX4X_RX_BURST(mlx4x_rx_burst_scatter_stamp);

/* rx_xdp.c: queues with and without a program */
MLX4X_RX_BURST(mlx4x_rx_burst_xdp);

#endif /* MLX4X_RX_BURST_H */
