/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What rx_xdp.c and xdp_redirect.c share: pages of a queue with a program, and making
 * an mbuf of the frame under judgement.
 */

#ifndef MLX4X_RX_XDP_H
#define MLX4X_RX_XDP_H

#include "rx_common.h"
#include "xdp.h"

/* rx_xdp.c: gets pages into the empty cache; false if there are none */
bool mlx4x_xdp_fill_cache(struct mlx4x_xdp *xdp);

/* A page for the ring, or NULL. */
static inline struct rte_mbuf *
mlx4x_xdp_take_page(struct mlx4x_xdp *xdp)
{
	if (unlikely(xdp->cache.count == 0) && !mlx4x_xdp_fill_cache(xdp))
		return NULL;
	return page_pool_cache_pop(&xdp->cache);
}

/* VLAN tag of the frame as the program left it, if it has one. */
static inline void
mlx4x_xdp_strip(struct rte_mbuf *mbuf)
{
	struct rte_ether_hdr *eth = rte_pktmbuf_mtod(mbuf, struct rte_ether_hdr *);
	const struct rte_vlan_hdr *vlan = (const struct rte_vlan_hdr *)(eth + 1);

	if (mbuf->data_len >= sizeof(*eth) + sizeof(*vlan) &&
	    (eth->ether_type == RTE_BE16(RTE_ETHER_TYPE_VLAN) ||
	     eth->ether_type == RTE_BE16(RTE_ETHER_TYPE_QINQ)))
		mlx4x_rx_take_tag(mbuf, rte_be_to_cpu_16(vlan->vlan_tci));
}

/*
 * What is still true of the frame. A program that moved the head has other headers in
 * front than the device saw: hash, type and checksum verdict go. One that moved the
 * tail leaves the headers, but no checksum covers what is there now.
 */
static __rte_always_inline void
mlx4x_xdp_describe(const struct mlx4x_xdp *xdp, struct rte_mbuf *mbuf, bool head_moved,
	bool tail_moved)
{
	const struct mlx4x_rx_meaning *meaning =
		mlx4x_rx_meaning_of(xdp->rxq, xdp->cqe, xdp->features);

	mbuf->vlan_tci = 0;
	if (unlikely(head_moved)) {
		mbuf->ol_flags = 0;
		mbuf->packet_type = 0;
	} else {
		mbuf->ol_flags = meaning->ol_flags;
		mbuf->packet_type = meaning->ptype;
		mbuf->hash.rss = mlx4x_cqe_rss_hash(xdp->cqe);
		if (unlikely(tail_moved))
			mbuf->ol_flags &= RTE_MBUF_F_RX_RSS_HASH;
	}
	if (xdp->features & MLX4X_RX_STRIP)
		mlx4x_xdp_strip(mbuf);
	if (xdp->features & MLX4X_RX_STAMP)
		mlx4x_rx_stamp(xdp->rxq->port, mbuf, xdp->cqe);
}

/* The page under judgement becomes an mbuf. */
static __rte_always_inline void
mlx4x_xdp_to_mbuf(const struct mlx4x_xdp *xdp, struct rte_mbuf *mbuf)
{
	const struct xdpvm_buff *buff = &xdp->buff;
	const uint8_t *frame = buff->hard_start + MLX4X_XDP_HEADROOM;
	uint32_t len = mlx4x_cqe_byte_count(xdp->cqe) - xdp->rxq->crc_len;
	bool head_moved = buff->data != frame, tail_moved = buff->data_end != frame + len;

	mlx4x_rx_rearm(xdp->rxq, mbuf, buff->data - frame);
	mbuf->data_len = buff->data_end - buff->data;
	mbuf->pkt_len = mbuf->data_len;
	mlx4x_xdp_describe(xdp, mbuf, head_moved, tail_moved);
}

/*
 * xdp_redirect.c: hands the page under judgement on, as the program's redirect says.
 * True if it left; else the reason is counted in xdp.
 */
bool mlx4x_xdp_redirect(struct mlx4x_xdp *xdp, struct rte_mbuf *page);

/* End of a burst with redirects: everything goes. */
void mlx4x_xdp_redirect_flush(struct mlx4x_xdp *xdp);

/* Pages come back from other ports. True if some are still on their way. */
bool mlx4x_xdp_redirect_drain(struct mlx4x_xdp *xdp);

#endif /* MLX4X_RX_XDP_H */
