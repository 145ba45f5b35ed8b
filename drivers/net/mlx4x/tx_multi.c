/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Sending any frame: chains of segments, TCP segmentation, inner checksums, from a VF. Its
 * descriptor takes one to eight blocks and may wrap at the end of the ring.
 *
 * A descriptor is drafted in local memory and copied to the ring when the next one
 * has been drafted or the burst ends: only then is it known which frame is the last
 * and asks for the completion, and a frame that turns out to be impossible has left
 * no trace in the ring.
 */

#include "tx_burst.h"
#include "tx_common.h"
#include "tx_multi.h"

/* Units of 16 bytes of a descriptor, as it will lie in the ring. */
struct draft {
	rte_xmm_t unit[MLX4X_TX_MAX_DS];
	uint32_t ds;
	uint32_t opcode;
	uint32_t flags;
	uint32_t imm;
	struct rte_mbuf *mbuf;
};

static void
write_unit(struct mlx4x_txq *txq, uint32_t pi, uint32_t u, const rte_xmm_t *unit)
{
	uint8_t *block = mlx4x_txq_wqe(txq, pi + u / 4);

	*(xmm_t *)(block + u % 4 * sizeof(*unit)) = unit->x;
}

/*
 * Copies a draft to the ring and makes it valid. The first word of a block is where
 * the device looks for what it may take: it is written after the rest of its block,
 * and that of the first block last of all.
 */
static void
publish(struct mlx4x_txq *txq, uint32_t pi, struct draft *draft)
{
	const struct rte_mbuf *mbuf = draft->mbuf;
	bool vlan = mbuf->ol_flags & RTE_MBUF_F_TX_VLAN;
	uint32_t u;

	draft->unit[0].x = mlx4x_wqe_unit(
		rte_cpu_to_be_32(draft->opcode) | mlx4x_tx_owner_be(txq, pi),
		mlx4x_wqe_size_word(vlan ? mbuf->vlan_tci : 0, vlan ? MLX4X_WQE_INS_CVLAN : 0,
			draft->ds),
		rte_cpu_to_be_32(draft->flags), draft->imm);
	for (u = draft->ds; u-- != 0;) {
		if (u % 4 == 0)
			mlx4x_to_device();
		write_unit(txq, pi, u, &draft->unit[u]);
	}
	txq->slots[pi & txq->mask] = draft->mbuf;
	for (u = 1; u < mlx4x_wqe_blocks(draft->ds); u++)
		txq->slots[(pi + u) & txq->mask] = NULL;
}

static void
set_checksums(struct draft *draft, uint64_t ol_flags)
{
	if (ol_flags & RTE_MBUF_F_TX_TUNNEL_MASK) {
		if (ol_flags & RTE_MBUF_F_TX_OUTER_IP_CKSUM)
			draft->flags |= MLX4X_WQE_IP_CSUM;
		if (ol_flags & RTE_MBUF_F_TX_IP_CKSUM)
			draft->opcode |= MLX4X_WQE_IIP;
		if (mlx4x_tx_wants_l4(ol_flags))
			draft->opcode |= MLX4X_WQE_ILP;
		return;
	}
	if (ol_flags & RTE_MBUF_F_TX_IP_CKSUM)
		draft->flags |= MLX4X_WQE_IP_CSUM;
	if (mlx4x_tx_wants_l4(ol_flags))
		draft->flags |= MLX4X_WQE_L4_CSUM;
}

/*
 * The LSO segment: a word with both lengths, then a copy of the headers, which may
 * lie in several segments. Returns the segment in which the payload starts.
 */
static const struct rte_mbuf *
copy_headers(struct draft *draft, uint32_t *skip)
{
	const struct rte_mbuf *seg = draft->mbuf;
	uint32_t hdr_len = mlx4x_tx_header_len(seg), left = hdr_len;
	uint8_t *dst = (uint8_t *)&draft->unit[1] + sizeof(rte_be32_t);

	draft->unit[1].u32[0] =
		rte_cpu_to_be_32((uint32_t)seg->tso_segsz << 16 | hdr_len);
	while (left >= seg->data_len) {
		memcpy(dst, rte_pktmbuf_mtod(seg, const uint8_t *), seg->data_len);
		dst += seg->data_len;
		left -= seg->data_len;
		seg = seg->next;
	}
	memcpy(dst, rte_pktmbuf_mtod(seg, const uint8_t *), left);
	*skip = left;
	draft->opcode = MLX4X_WQE_OPCODE_LSO | MLX4X_WQE_RR;
	draft->flags |= draft->mbuf->ol_flags & RTE_MBUF_F_TX_TUNNEL_MASK ? 0 : MLX4X_WQE_L4_CSUM;
	draft->ds += mlx4x_tx_lso_ds(hdr_len);
	return seg;
}

/* One data segment for each segment that has data, from skip bytes into the first. */
static enum mlx4x_tx_verdict
add_segments(struct mlx4x_txq *txq, struct draft *draft, const struct rte_mbuf *seg, uint32_t skip)
{
	for (; seg != NULL; seg = seg->next, skip = 0) {
		uint32_t len = seg->data_len - skip;
		uintptr_t addr = rte_pktmbuf_mtod(seg, uintptr_t) + skip;
		rte_be64_t addr_be = rte_cpu_to_be_64(addr);
		enum mlx4x_tx_verdict verdict;
		rte_be32_t lkey;

		if (len == 0)
			continue;
		verdict = mlx4x_tx_lkey(txq, addr, len, &lkey);
		if (verdict != MLX4X_TX_SEND)
			return verdict;
		draft->unit[draft->ds++].x = mlx4x_wqe_unit(rte_cpu_to_be_32(len), lkey,
			(uint32_t)addr_be, addr_be >> 32);
	}
	return MLX4X_TX_SEND;
}

/*
 * A VF writes the destination into the control segment: there the switch inside the
 * card looks for other functions of the port (Linux: mlx4_en_xmit()).
 */
static void
set_destination(struct draft *draft)
{
	struct rte_ether_addr copy;
	const uint8_t *dst = rte_pktmbuf_read(draft->mbuf, 0, sizeof(copy), &copy);
	rte_be16_t high;

	memcpy(&high, dst, sizeof(high));
	memcpy(&draft->imm, dst + sizeof(high), sizeof(draft->imm));
	draft->flags |= (uint32_t)rte_be_to_cpu_16(high) << MLX4X_WQE_DMAC_HIGH_SHIFT;
}

static enum mlx4x_tx_verdict
draft_frame(struct mlx4x_txq *txq, struct draft *draft, struct rte_mbuf *mbuf)
{
	const struct rte_mbuf *seg = mbuf;
	uint32_t skip = 0;

	if (mlx4x_tx_check(txq, mbuf) != 0) {
		txq->stats.malformed++;
		return MLX4X_TX_DROP;
	}
	draft->mbuf = mbuf;
	draft->ds = 1;
	draft->opcode = MLX4X_WQE_OPCODE_SEND;
	draft->flags = MLX4X_TX_BASE_FLAGS;
	draft->imm = 0;
	if (txq->wants_destination)
		set_destination(draft);
	set_checksums(draft, mbuf->ol_flags);
	if (mbuf->ol_flags & RTE_MBUF_F_TX_TCP_SEG) {
		uint32_t opcode = draft->opcode & (MLX4X_WQE_IIP | MLX4X_WQE_ILP);

		seg = copy_headers(draft, &skip);
		draft->opcode |= opcode;
	}
	return add_segments(txq, draft, seg, skip);
}

uint16_t
mlx4x_tx_burst_multi(void *queue, struct rte_mbuf **pkts, uint16_t nb_pkts)
{
	struct mlx4x_txq *txq = queue;
	struct draft drafts[2], *last = NULL, *next = &drafts[0];
	uint32_t room, pi = txq->pi, nb_sent = 0, i;
	uint64_t bytes = 0;

	if (unlikely(txq->state != MLX4X_QUEUE_RUNNING))
		return 0;
	if (unlikely(!mlx4x_tx_poll(txq)))
		return mlx4x_tx_give_up(txq);
	mlx4x_tx_check_mr_cache(txq);
	room = mlx4x_tx_room(txq, (uint32_t)nb_pkts * MLX4X_TX_MAX_BLOCKS);
	for (i = 0; i < nb_pkts; i++) {
		enum mlx4x_tx_verdict verdict;

		if (i + MLX4X_TX_PREFETCH < nb_pkts)
			rte_prefetch0(pkts[i + MLX4X_TX_PREFETCH]);
		verdict = draft_frame(txq, next, pkts[i]);
		if (verdict == MLX4X_TX_WAIT)
			break;
		if (unlikely(verdict == MLX4X_TX_DROP)) {
			rte_pktmbuf_free(pkts[i]);
			continue;
		}
		if (unlikely(room < mlx4x_wqe_blocks(next->ds))) {
			txq->stats.ring_full++;
			break;
		}
		room -= mlx4x_wqe_blocks(next->ds);
		bytes += pkts[i]->pkt_len;
		nb_sent++;
		if (last != NULL) {
			publish(txq, pi, last);
			pi += mlx4x_wqe_blocks(last->ds);
		}
		last = next;
		next = &drafts[nb_sent % 2];
	}
	if (likely(last != NULL)) {
		last->flags |= MLX4X_WQE_CQ_UPDATE;
		publish(txq, pi, last);
		txq->pi = pi + mlx4x_wqe_blocks(last->ds);
		txq->stats.packets += nb_sent;
		txq->stats.bytes += bytes;
		mlx4x_tx_doorbell(txq);
	}
	return i;
}
