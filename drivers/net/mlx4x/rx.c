/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Receiving frames that fit one buffer, in plain C: one completion, one mbuf. The
 * vector versions of the plain case are rx_vec_sse.c and rx_vec_avx2.c.
 */

#include "rx_burst.h"
#include "rx_common.h"

/* How far ahead the mbuf that will be written is fetched. */
#define PREFETCH_DISTANCE 4

static __rte_always_inline uint16_t
receive(struct mlx4x_rxq *rxq, struct rte_mbuf **pkts, uint16_t nb_pkts, uint32_t features)
{
	uint32_t ci = rxq->ci, end = ci + nb_pkts;
	uint64_t bytes = 0;
	uint16_t nb = 0;

	if (unlikely(rxq->state != MLX4X_QUEUE_RUNNING))
		return 0;
	for (; ci != end; ci++) {
		const struct mlx4x_cqe *cqe = mlx4x_rxq_cqe(rxq, ci + rxq->cq_offset);
		struct rte_mbuf *mbuf = rxq->slots[ci & rxq->mask];
		uint32_t len;

		if (!mlx4x_cqe_is_ready(cqe, ci + rxq->cq_offset, rxq->mask + 1))
			break;
		mlx4x_from_device();
		rte_prefetch0(rxq->slots[(ci + PREFETCH_DISTANCE) & rxq->mask]);
		if (unlikely(mlx4x_rx_is_bad(cqe))) {
			if (!mlx4x_rx_count_bad(rxq, cqe))
				return mlx4x_rx_give_up(rxq, ci, nb, bytes);
			rte_mbuf_raw_free(mbuf);
			continue;
		}
		len = mlx4x_cqe_byte_count(cqe) - rxq->crc_len;
		mlx4x_rx_rearm(rxq, mbuf, 0);
		mbuf->pkt_len = len;
		mbuf->data_len = len;
		mlx4x_rx_describe(rxq, mbuf, cqe, features);
		bytes += mbuf->pkt_len;
		pkts[nb++] = mbuf;
	}
	mlx4x_rx_finish(rxq, ci, nb, bytes);
	return nb;
}

uint16_t
mlx4x_rx_burst(void *queue, struct rte_mbuf **pkts, uint16_t nb_pkts)
{
	return receive(queue, pkts, nb_pkts, 0);
}

uint16_t
mlx4x_rx_burst_tunnel(void *queue, struct rte_mbuf **pkts, uint16_t nb_pkts)
{
	return receive(queue, pkts, nb_pkts, MLX4X_RX_TUNNEL);
}

uint16_t
mlx4x_rx_burst_strip(void *queue, struct rte_mbuf **pkts, uint16_t nb_pkts)
{
	return receive(queue, pkts, nb_pkts, MLX4X_RX_TUNNEL | MLX4X_RX_STRIP);
}

uint16_t
mlx4x_rx_burst_stamp(void *queue, struct rte_mbuf **pkts, uint16_t nb_pkts)
{
	return receive(queue, pkts, nb_pkts, MLX4X_RX_TUNNEL | MLX4X_RX_STAMP);
}

/* While the port is stopped, or after the device is gone. */
uint16_t
mlx4x_rx_burst_stopped(void *queue, struct rte_mbuf **pkts, uint16_t nb_pkts)
{
	return 0;
}
