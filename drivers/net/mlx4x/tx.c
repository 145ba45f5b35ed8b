/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Sending frames of one segment: one descriptor of one block. The data segments of all
 * frames of a burst are written first, then the control segments, which make them valid.
 *
 * Blocks are not stamped when they are freed: in a ring of one-block descriptors the
 * first word of every block is always a control word, and that of the last lap has
 * the owner bit that is invalid in this one (libmlx4 leaves first blocks unstamped
 * for the same reason: stamp_send_wqe()).
 */

#include "tx_burst.h"
#include "tx_common.h"

/* Checksum flags of a frame that is in no tunnel; only what was asked for. */
static inline uint32_t
checksum_flags(uint64_t ol_flags)
{
	static_assert(RTE_MBUF_F_TX_IP_CKSUM == 1ULL << 54, "bit 54 becomes bit 4");
	static_assert((RTE_MBUF_F_TX_TCP_CKSUM & RTE_MBUF_F_TX_UDP_CKSUM) == 1ULL << 52 &&
		!(RTE_MBUF_F_TX_SCTP_CKSUM & 1ULL << 52), "bit 52 is TCP or UDP");

	return (ol_flags >> (54 - 4) & MLX4X_WQE_IP_CSUM) |
		(ol_flags >> (52 - 5) & MLX4X_WQE_L4_CSUM);
}

/* All of the control segment but its first word, which makes it valid. */
static inline void
write_offloads(struct mlx4x_wqe_ctrl *ctrl, const struct rte_mbuf *mbuf)
{
	bool vlan = mbuf->ol_flags & RTE_MBUF_F_TX_VLAN;

	ctrl->vlan_tag = vlan ? rte_cpu_to_be_16(mbuf->vlan_tci) : 0;
	ctrl->ins_vlan = vlan ? MLX4X_WQE_INS_CVLAN : 0;
	ctrl->fence_size = MLX4X_TX_SINGLE_DS;
	ctrl->srcrb_flags = rte_cpu_to_be_32(MLX4X_TX_BASE_FLAGS | checksum_flags(mbuf->ol_flags));
	ctrl->imm = 0;
}

/* As mlx4x_tx_publish(), after write_offloads(). */
static inline void
publish_offloads(struct mlx4x_txq *txq, uint32_t end)
{
	struct mlx4x_wqe_ctrl *last = mlx4x_txq_wqe(txq, end - 1);

	last->srcrb_flags |= RTE_BE32(MLX4X_WQE_CQ_UPDATE);
	mlx4x_to_device();
	for (; txq->pi != end; txq->pi++) {
		struct mlx4x_wqe_ctrl *ctrl = mlx4x_txq_wqe(txq, txq->pi);

		mlx4x_store_relaxed(&ctrl->owner_opcode,
			RTE_BE32(MLX4X_WQE_OPCODE_SEND) | mlx4x_tx_owner_be(txq, txq->pi));
	}
	mlx4x_tx_doorbell(txq);
}

/* A frame that cannot be sent as it is: finds its key, or counts why it goes. */
static __rte_always_inline enum mlx4x_tx_verdict
check_frame(struct mlx4x_txq *txq, const struct rte_mbuf *mbuf, rte_be32_t *lkey)
{
	if (unlikely(mbuf->data_len < MLX4X_TX_MIN_LEN || mbuf->nb_segs != 1)) {
		txq->stats.malformed++;
		return MLX4X_TX_DROP;
	}
	return mlx4x_tx_lkey(txq, rte_pktmbuf_mtod(mbuf, uintptr_t), mbuf->data_len, lkey);
}

static __rte_always_inline uint16_t
transmit(struct mlx4x_txq *txq, struct rte_mbuf **pkts, uint16_t nb_pkts, bool offload)
{
	uint32_t pi = txq->pi, room, i;
	uint64_t bytes = 0;

	if (unlikely(txq->state != MLX4X_QUEUE_RUNNING))
		return 0;
	if (unlikely(!mlx4x_tx_poll(txq)))
		return mlx4x_tx_give_up(txq);
	mlx4x_tx_check_mr_cache(txq);
	room = mlx4x_tx_room(txq, nb_pkts);
	if (unlikely(room < nb_pkts)) {
		txq->stats.ring_full++;
		nb_pkts = room;
	}
	for (i = 0; i < nb_pkts; i++) {
		struct rte_mbuf *mbuf = pkts[i];
		enum mlx4x_tx_verdict verdict;
		rte_be32_t lkey;

		if (i + MLX4X_TX_PREFETCH < nb_pkts)
			rte_prefetch0(pkts[i + MLX4X_TX_PREFETCH]);
		verdict = check_frame(txq, mbuf, &lkey);
		if (unlikely(verdict != MLX4X_TX_SEND)) {
			if (verdict == MLX4X_TX_WAIT)
				break;
			rte_pktmbuf_free(mbuf);
			continue;
		}
		mlx4x_wqe_write_data(mlx4x_txq_data(txq, pi), mbuf->data_len, lkey,
			rte_pktmbuf_mtod(mbuf, uintptr_t));
		if (offload)
			write_offloads(mlx4x_txq_wqe(txq, pi), mbuf);
		txq->slots[pi & txq->mask] = mbuf;
		bytes += mbuf->data_len;
		pi++;
	}
	if (likely(pi != txq->pi)) {
		txq->stats.packets += pi - txq->pi;
		txq->stats.bytes += bytes;
		if (offload)
			publish_offloads(txq, pi);
		else
			mlx4x_tx_publish(txq, pi);
	}
	return i;
}

uint16_t
mlx4x_tx_burst(void *queue, struct rte_mbuf **pkts, uint16_t nb_pkts)
{
	return transmit(queue, pkts, nb_pkts, false);
}

uint16_t
mlx4x_tx_burst_offload(void *queue, struct rte_mbuf **pkts, uint16_t nb_pkts)
{
	return transmit(queue, pkts, nb_pkts, true);
}

/* While the port is stopped, or after the device is gone. */
uint16_t
mlx4x_tx_burst_stopped(void *queue, struct rte_mbuf **pkts, uint16_t nb_pkts)
{
	return 0;
}
