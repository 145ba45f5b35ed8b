/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What makes a frame impossible to send. rte_eth_tx_prepare() tells the application;
 * the burst functions drop such a frame and count it, so that it cannot block the
 * frames behind it.
 *
 * Frames are not changed: the device computes the pseudo-header sums itself.
 */

#include <errno.h>

#include <rte_errno.h>

#include "tx_burst.h"
#include "tx_common.h"
#include "tx_multi.h"

/* Offload flags of a frame and what they need of the queue. */
static const struct {
	uint64_t flag;
	uint64_t offload;
} needs[] = {
	{ RTE_MBUF_F_TX_IP_CKSUM, RTE_ETH_TX_OFFLOAD_IPV4_CKSUM },
	{ RTE_MBUF_F_TX_OUTER_IP_CKSUM, RTE_ETH_TX_OFFLOAD_OUTER_IPV4_CKSUM },
	{ RTE_MBUF_F_TX_VLAN, RTE_ETH_TX_OFFLOAD_VLAN_INSERT },
	{ RTE_MBUF_F_TX_TCP_SEG, RTE_ETH_TX_OFFLOAD_TCP_TSO },
	{ RTE_MBUF_F_TX_UDP_SEG, RTE_ETH_TX_OFFLOAD_UDP_TSO },
	{ RTE_MBUF_F_TX_QINQ, RTE_ETH_TX_OFFLOAD_QINQ_INSERT },
	{ RTE_MBUF_F_TX_OUTER_UDP_CKSUM, RTE_ETH_TX_OFFLOAD_OUTER_UDP_CKSUM },
};

static bool
lacks_offload(const struct mlx4x_txq *txq, uint64_t ol_flags)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(needs); i++) {
		if (ol_flags & needs[i].flag && !(txq->offloads & needs[i].offload))
			return true;
	}
	switch (ol_flags & RTE_MBUF_F_TX_L4_MASK) {
	case RTE_MBUF_F_TX_TCP_CKSUM:
		return !(txq->offloads & RTE_ETH_TX_OFFLOAD_TCP_CKSUM);
	case RTE_MBUF_F_TX_UDP_CKSUM:
		return !(txq->offloads & RTE_ETH_TX_OFFLOAD_UDP_CKSUM);
	case RTE_MBUF_F_TX_SCTP_CKSUM:
		return true;
	default:
		return false;
	}
}

/* Inner headers: only ConnectX-3 Pro finds them, and only in these tunnels. */
static bool
tunnel_is_unknown(const struct mlx4x_txq *txq, uint64_t ol_flags)
{
	uint64_t tunnel = ol_flags & RTE_MBUF_F_TX_TUNNEL_MASK;
	bool wants_inner = ol_flags & RTE_MBUF_F_TX_IP_CKSUM || mlx4x_tx_wants_l4(ol_flags);

	if (tunnel == 0 || !(wants_inner || ol_flags & RTE_MBUF_F_TX_OUTER_IP_CKSUM))
		return false;
	return !txq->port->dev->caps.tunnel ||
		(tunnel != RTE_MBUF_F_TX_TUNNEL_VXLAN && tunnel != RTE_MBUF_F_TX_TUNNEL_GRE);
}

/* Lengths of a segmentation, and what is left of the descriptor for data. */
static int
check_tso(const struct mlx4x_txq *txq, const struct rte_mbuf *mbuf)
{
	uint32_t hdr_len = mlx4x_tx_header_len(mbuf);

	if (mbuf->tso_segsz == 0 || mbuf->l4_len == 0 || hdr_len > MLX4X_TX_MAX_TSO_HEADER ||
	    hdr_len >= mbuf->pkt_len)
		return EINVAL;
	if (mbuf->pkt_len - hdr_len > txq->port->dev->caps.max_tso)
		return EINVAL;
	return 1 + mlx4x_tx_lso_ds(hdr_len) + mbuf->nb_segs > MLX4X_TX_MAX_DS ? EINVAL : 0;
}

/* A chain is what its head says: as many segments, as many bytes. */
static int
check_chain(const struct mlx4x_txq *txq, const struct rte_mbuf *mbuf)
{
	const struct rte_mbuf *seg;
	uint32_t len = 0, nb = 0;

	if (mbuf->nb_segs > MLX4X_TX_MAX_SEGS ||
	    (mbuf->nb_segs > 1 && txq->free_mode != MLX4X_TX_FREE_CHAIN))
		return EINVAL;
	for (seg = mbuf; seg != NULL && nb <= mbuf->nb_segs; seg = seg->next, nb++)
		len += seg->data_len;
	return nb == mbuf->nb_segs && len == mbuf->pkt_len && len >= MLX4X_TX_MIN_LEN ? 0 : EINVAL;
}

int
mlx4x_tx_check(const struct mlx4x_txq *txq, const struct rte_mbuf *mbuf)
{
	if (check_chain(txq, mbuf) != 0)
		return EINVAL;
	if (lacks_offload(txq, mbuf->ol_flags) || tunnel_is_unknown(txq, mbuf->ol_flags))
		return ENOTSUP;
	return mbuf->ol_flags & RTE_MBUF_F_TX_TCP_SEG ? check_tso(txq, mbuf) : 0;
}

uint16_t
mlx4x_tx_prepare(void *queue, struct rte_mbuf **pkts, uint16_t nb_pkts)
{
	uint16_t i;

	for (i = 0; i < nb_pkts; i++) {
		int error = mlx4x_tx_check(queue, pkts[i]);

		if (error != 0) {
			rte_errno = error;
			break;
		}
	}
	return i;
}
