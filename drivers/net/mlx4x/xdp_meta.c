/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the completion of the frame under judgement says, for C hooks.
 */

#include <errno.h>

#include "rx_common.h"
#include "xdp.h"

static const struct mlx4x_xdp *
queue_of(const struct xdpvm_buff *buff)
{
	return container_of(buff, const struct mlx4x_xdp, buff);
}

/* The index bits of cqe.h as hash types. */
static uint32_t
hash_type(uint32_t idx)
{
	uint32_t type = 0;

	if (idx & (MLX4X_RX_IDX_IPV4 | MLX4X_RX_IDX_IPV4_FRAG | MLX4X_RX_IDX_IPV4_OPT))
		type |= RTE_PMD_MLX4X_XDP_RSS_IPV4;
	if (idx & MLX4X_RX_IDX_IPV6)
		type |= RTE_PMD_MLX4X_XDP_RSS_IPV6;
	if (idx & MLX4X_RX_IDX_IPV4_OPT)
		type |= RTE_PMD_MLX4X_XDP_RSS_DYNHDR;
	if (idx & MLX4X_RX_IDX_TCP)
		type |= RTE_PMD_MLX4X_XDP_RSS_L4 | RTE_PMD_MLX4X_XDP_RSS_TCP;
	if (idx & MLX4X_RX_IDX_UDP)
		type |= RTE_PMD_MLX4X_XDP_RSS_L4 | RTE_PMD_MLX4X_XDP_RSS_UDP;
	return type;
}

int
rte_pmd_mlx4x_xdp_rx_hash(const struct xdpvm_buff *buff, uint32_t *hash, uint32_t *type)
{
	const struct mlx4x_xdp *xdp = queue_of(buff);

	if (!(xdp->rxq->offloads & RTE_ETH_RX_OFFLOAD_RSS_HASH))
		return -ENODATA;
	*hash = mlx4x_cqe_rss_hash(xdp->cqe);
	*type = hash_type(mlx4x_cqe_meaning_index(xdp->cqe));
	return 0;
}

int
rte_pmd_mlx4x_xdp_rx_timestamp(const struct xdpvm_buff *buff, uint64_t *timestamp)
{
	const struct mlx4x_xdp *xdp = queue_of(buff);

	if (!(xdp->features & MLX4X_RX_STAMP))
		return -ENODATA;
	*timestamp = mlx4x_cqe_timestamp(xdp->cqe);
	return 0;
}

int
rte_pmd_mlx4x_xdp_rx_vlan_tag(const struct xdpvm_buff *buff, uint16_t *proto, uint16_t *tci)
{
	const struct mlx4x_xdp *xdp = queue_of(buff);

	if (xdp->features & MLX4X_RX_STAMP)
		return -EOPNOTSUPP;
	if (!mlx4x_cqe_has_vlan(xdp->cqe))
		return -ENODATA;
	*proto = xdp->cqe->vlan_my_qpn & RTE_BE32(MLX4X_CQE_SVLAN) ?
		RTE_ETHER_TYPE_QINQ : RTE_ETHER_TYPE_VLAN;
	*tci = mlx4x_cqe_vlan_tci(xdp->cqe);
	return 0;
}
