/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Receiving frames that may take several buffers. A frame takes the first slots of
 * its descriptor and clears them; the buffers that it did not need stay where they
 * are, and the refill replaces exactly the cleared ones, all of them or none.
 */

#include "rx_burst.h"
#include "rx_common.h"

/* Chains the buffers that a frame of len bytes took, and clears their slots. */
static inline struct rte_mbuf *
take_chain(struct mlx4x_rxq *rxq, struct rte_mbuf **slots, uint32_t len)
{
	struct rte_mbuf *head = slots[0], *tail = head;
	uint32_t room = head->buf_len - rxq->headroom;
	uint16_t nb_segs = 1;

	slots[0] = NULL;
	head->data_len = RTE_MIN(len, room);
	len -= head->data_len;
	while (len != 0) {
		struct rte_mbuf *seg = slots[nb_segs];

		slots[nb_segs++] = NULL;
		mlx4x_rx_rearm(rxq, seg, 0);
		seg->data_off = 0;
		seg->ol_flags = 0;
		seg->data_len = RTE_MIN(len, seg->buf_len);
		len -= seg->data_len;
		tail->next = seg;
		tail = seg;
	}
	head->nb_segs = nb_segs;
	return head;
}

/* What the device says it wrote can only be as much as it was given room for. */
static inline bool
fits(const struct mlx4x_rxq *rxq, struct rte_mbuf *const *slots, uint32_t len)
{
	return len <= (uint32_t)slots[0]->buf_len * rxq->nb_sges - rxq->headroom;
}

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
		struct rte_mbuf **slots = &rxq->slots[(size_t)(ci & rxq->mask) << rxq->log_sges];
		struct rte_mbuf *mbuf = slots[0];
		uint32_t len;

		if (!mlx4x_cqe_is_ready(cqe, ci + rxq->cq_offset, rxq->mask + 1))
			break;
		mlx4x_from_device();
		len = mlx4x_cqe_byte_count(cqe) - rxq->crc_len;
		if (unlikely(mlx4x_rx_is_bad(cqe) || !fits(rxq, slots, len))) {
			if (!mlx4x_rx_count_bad(rxq, cqe))
				return mlx4x_rx_give_up(rxq, ci, nb, bytes);
			continue;
		}
		mlx4x_rx_rearm(rxq, mbuf, 0);
		mbuf->pkt_len = len;
		take_chain(rxq, slots, len);
		mlx4x_rx_describe(rxq, mbuf, cqe, features);
		bytes += mbuf->pkt_len;
		pkts[nb++] = mbuf;
	}
	mlx4x_rx_finish(rxq, ci, nb, bytes);
	return nb;
}

uint16_t
mlx4x_rx_burst_scatter(void *queue, struct rte_mbuf **pkts, uint16_t nb_pkts)
{
	return receive(queue, pkts, nb_pkts, MLX4X_RX_TUNNEL);
}

uint16_t
mlx4x_rx_burst_scatter_strip(void *queue, struct rte_mbuf **pkts, uint16_t nb_pkts)
{
	return receive(queue, pkts, nb_pkts, MLX4X_RX_TUNNEL | MLX4X_RX_STRIP);
}

uint16_t
mlx4x_rx_burst_scatter_stamp(void *queue, struct rte_mbuf **pkts, uint16_t nb_pkts)
{
	return receive(queue, pkts, nb_pkts, MLX4X_RX_TUNNEL | MLX4X_RX_STAMP);
}
