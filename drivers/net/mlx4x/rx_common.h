/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the receive burst functions share: judging one completion and describing
 * its frame in an mbuf. They are instances of inline functions whose features are
 * compile-time constants, so that none of them tests at run time what the start of
 * the port has decided.
 */

#ifndef MLX4X_RX_COMMON_H
#define MLX4X_RX_COMMON_H

#include <rte_mbuf_dyn.h>
#include <rte_prefetch.h>

#include "barrier.h"
#include "mlx4x.h"

/* Features of a burst function. */
#define MLX4X_RX_TUNNEL (1u << 0)	/* ConnectX-3 Pro: look for inner headers */
#define MLX4X_RX_STRIP (1u << 1)	/* take the VLAN tag out of the frame */
#define MLX4X_RX_STAMP (1u << 2)	/* time stamps */

static inline const struct mlx4x_cqe *
mlx4x_rxq_cqe(const struct mlx4x_rxq *rxq, uint32_t cq_ci)
{
	return mlx4x_cqe_at(rxq->cqes, cq_ci & rxq->mask, rxq->cqe_shift);
}

/* True if the completion brings no good frame; rx_error.c then says what it is. */
static inline bool
mlx4x_rx_is_bad(const struct mlx4x_cqe *cqe)
{
	return mlx4x_cqe_is_error(cqe) || mlx4x_cqe_is_bad_fcs(cqe);
}

/*
 * Counts a bad completion; its buffers stay with the caller. False if it says that
 * the device has stopped the queue: then it is not counted, and the burst ends with
 * mlx4x_rx_give_up().
 */
bool mlx4x_rx_count_bad(struct mlx4x_rxq *rxq, const struct mlx4x_cqe *cqe);
uint16_t mlx4x_rx_give_up(struct mlx4x_rxq *rxq, uint32_t ci, uint16_t nb_pkts, uint64_t bytes);

/* Takes the tag out by moving the two addresses up. */
static inline void
mlx4x_rx_take_tag(struct rte_mbuf *mbuf, uint16_t vlan_tci)
{
	char *frame = rte_pktmbuf_mtod(mbuf, char *);

	memmove(frame + RTE_VLAN_HLEN, frame, 2 * RTE_ETHER_ADDR_LEN);
	mbuf->data_off += RTE_VLAN_HLEN;
	mbuf->data_len -= RTE_VLAN_HLEN;
	mbuf->pkt_len -= RTE_VLAN_HLEN;
	mbuf->vlan_tci = vlan_tci;
	mbuf->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
}

/*
 * Software strips: the device leaves the tag in the frames of raw packet queues, but
 * says what it holds.
 */
static inline void
mlx4x_rx_strip(struct rte_mbuf *mbuf, const struct mlx4x_cqe *cqe)
{
	if (mlx4x_cqe_has_vlan(cqe))
		mlx4x_rx_take_tag(mbuf, mlx4x_cqe_vlan_tci(cqe));
}

static inline void
mlx4x_rx_stamp(const struct mlx4x_port *port, struct rte_mbuf *mbuf, const struct mlx4x_cqe *cqe)
{
	*RTE_MBUF_DYNFIELD(mbuf, port->timestamp_offset, rte_mbuf_timestamp_t *) =
		mlx4x_cqe_timestamp(cqe);
	mbuf->ol_flags |= port->timestamp_flag;
}

static inline const struct mlx4x_rx_meaning *
mlx4x_rx_meaning_of(const struct mlx4x_rxq *rxq, const struct mlx4x_cqe *cqe, uint32_t features)
{
	uint32_t idx = mlx4x_cqe_meaning_index(cqe);

	if (features & MLX4X_RX_TUNNEL && unlikely(mlx4x_cqe_is_tunnel(cqe)))
		return &rxq->port->tunnel_meaning[mlx4x_cqe_tunnel_table(cqe)][idx];
	return &rxq->meaning[idx];
}

/*
 * The first word of a fresh mbuf: data_off, refcnt, nb_segs and port in one store. The
 * frame begins moved bytes behind the headroom, or so many in front.
 */
static inline void
mlx4x_rx_rearm(const struct mlx4x_rxq *rxq, struct rte_mbuf *mbuf, ptrdiff_t moved)
{
	uint64_t *word = (uint64_t *)((uintptr_t)mbuf + offsetof(struct rte_mbuf, rearm_data));

	static_assert(offsetof(struct rte_mbuf, data_off) == offsetof(struct rte_mbuf, rearm_data) &&
		RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN, "data_off can be added to");
	*word = rxq->rearm + moved;
}

/* What a completion says of a frame, beyond its length. */
static inline void
mlx4x_rx_describe(const struct mlx4x_rxq *rxq, struct rte_mbuf *mbuf,
	const struct mlx4x_cqe *cqe, uint32_t features)
{
	const struct mlx4x_rx_meaning *meaning = mlx4x_rx_meaning_of(rxq, cqe, features);

	mbuf->ol_flags = meaning->ol_flags;
	mbuf->packet_type = meaning->ptype;
	mbuf->vlan_tci = 0;
	mbuf->hash.rss = mlx4x_cqe_rss_hash(cqe);
	if (features & MLX4X_RX_STRIP)
		mlx4x_rx_strip(mbuf, cqe);
	if (features & MLX4X_RX_STAMP)
		mlx4x_rx_stamp(rxq->port, mbuf, cqe);
}

/* End of a burst: counters, and new buffers when enough are missing. */
static inline void
mlx4x_rx_finish(struct mlx4x_rxq *rxq, uint32_t ci, uint32_t nb_pkts, uint64_t bytes)
{
	rxq->ci = ci;
	rxq->stats.packets += nb_pkts;
	rxq->stats.bytes += bytes;
	if (rxq->mask + 1 - (rxq->pi - ci) >= rxq->refill_batch)
		mlx4x_rx_refill(rxq);
}

#endif /* MLX4X_RX_COMMON_H */
