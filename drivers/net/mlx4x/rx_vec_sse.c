/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Receiving with SSE4.2, which every x86-64 that DPDK runs on has: four frames at a time.
 */

#include "rx_vec.h"

static __rte_always_inline uint32_t
take_run(struct mlx4x_rxq *rxq, struct rte_mbuf **pkts, uint32_t nb, size_t stride)
{
	__m128i bytes = _mm_setzero_si128();
	struct mlx4x_rx_run run;

	mlx4x_rx_run_begin(&run, rxq, pkts, nb, stride);
	while (run.nb >= MLX4X_RX_GROUP) {
		if (run.nb >= 2 * MLX4X_RX_GROUP)
			mlx4x_rx_prefetch(&run, MLX4X_RX_GROUP);
		if (!mlx4x_rx_take_group(&run, &bytes))
			break;
	}
	return mlx4x_rx_run_end(&run, rxq, pkts, bytes);
}

uint16_t
mlx4x_rx_burst_sse(void *queue, struct rte_mbuf **pkts, uint16_t nb_pkts)
{
	return mlx4x_rx_vec_burst(queue, pkts, nb_pkts, take_run);
}
