/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The table that turns the bits of a completion into packet type and offload flags
 * (see cqe.h), for the configuration of a port.
 */

#include <string.h>

#include "mlx4x.h"

static const uint32_t ptypes[] = {
	RTE_PTYPE_L2_ETHER,
	RTE_PTYPE_L3_IPV4_EXT,
	RTE_PTYPE_L3_IPV4_EXT_UNKNOWN,
	RTE_PTYPE_L3_IPV6_EXT_UNKNOWN,
	RTE_PTYPE_L4_FRAG,
	RTE_PTYPE_L4_NONFRAG,
	RTE_PTYPE_L4_TCP,
	RTE_PTYPE_L4_UDP,
	/* ConnectX-3 Pro: the list ends here on others */
	RTE_PTYPE_INNER_L3_IPV4_EXT,
	RTE_PTYPE_INNER_L3_IPV4_EXT_UNKNOWN,
	RTE_PTYPE_INNER_L3_IPV6_EXT_UNKNOWN,
	RTE_PTYPE_INNER_L4_FRAG,
	RTE_PTYPE_INNER_L4_NONFRAG,
	RTE_PTYPE_INNER_L4_TCP,
	RTE_PTYPE_INNER_L4_UDP,
	RTE_PTYPE_UNKNOWN
};

const uint32_t *
mlx4x_supported_ptypes(struct rte_eth_dev *eth_dev)
{
	static const uint32_t plain[] = {
		RTE_PTYPE_L2_ETHER,
		RTE_PTYPE_L3_IPV4_EXT,
		RTE_PTYPE_L3_IPV4_EXT_UNKNOWN,
		RTE_PTYPE_L3_IPV6_EXT_UNKNOWN,
		RTE_PTYPE_L4_FRAG,
		RTE_PTYPE_L4_NONFRAG,
		RTE_PTYPE_L4_TCP,
		RTE_PTYPE_L4_UDP,
		RTE_PTYPE_UNKNOWN
	};

	return mlx4x_port_of(eth_dev)->dev->caps.tunnel ? ptypes : plain;
}

static bool
is_fragment(uint32_t idx)
{
	return idx & MLX4X_RX_IDX_IPV4_FRAG ||
		(idx & MLX4X_RX_IDX_IPV6 && idx & MLX4X_RX_IDX_IPV6_FRAG);
}

static bool
is_ip(uint32_t idx)
{
	return idx & (MLX4X_RX_IDX_IPV4 | MLX4X_RX_IDX_IPV4_FRAG | MLX4X_RX_IDX_IPV4_OPT |
		MLX4X_RX_IDX_IPV6);
}

static uint32_t
l3_ptype(uint32_t idx)
{
	if (idx & MLX4X_RX_IDX_IPV4_OPT)
		return RTE_PTYPE_L3_IPV4_EXT;
	if (idx & (MLX4X_RX_IDX_IPV4 | MLX4X_RX_IDX_IPV4_FRAG))
		return RTE_PTYPE_L3_IPV4_EXT_UNKNOWN;
	return idx & MLX4X_RX_IDX_IPV6 ? RTE_PTYPE_L3_IPV6_EXT_UNKNOWN : 0;
}

static uint32_t
l4_ptype(uint32_t idx)
{
	if (!is_ip(idx))
		return 0;
	if (is_fragment(idx))
		return RTE_PTYPE_L4_FRAG;
	if (idx & MLX4X_RX_IDX_TCP)
		return RTE_PTYPE_L4_TCP;
	return idx & MLX4X_RX_IDX_UDP ? RTE_PTYPE_L4_UDP : RTE_PTYPE_L4_NONFRAG;
}

/* The inner names of layer 3 and 4 have the values of the outer ones, shifted. */
static uint32_t
inner_ptype(uint32_t idx)
{
	static_assert(RTE_PTYPE_INNER_L4_TCP == RTE_PTYPE_L4_TCP << 16, "inner layer 4");
	static_assert(RTE_PTYPE_INNER_L4_NONFRAG == RTE_PTYPE_L4_NONFRAG << 16, "inner layer 4");

	switch (l3_ptype(idx)) {
	case RTE_PTYPE_L3_IPV4_EXT:
		return RTE_PTYPE_INNER_L3_IPV4_EXT | l4_ptype(idx) << 16;
	case RTE_PTYPE_L3_IPV4_EXT_UNKNOWN:
		return RTE_PTYPE_INNER_L3_IPV4_EXT_UNKNOWN | l4_ptype(idx) << 16;
	case RTE_PTYPE_L3_IPV6_EXT_UNKNOWN:
		return RTE_PTYPE_INNER_L3_IPV6_EXT_UNKNOWN | l4_ptype(idx) << 16;
	default:
		return 0;
	}
}

static uint32_t
outer_ptype(uint32_t tunnel)
{
	return RTE_PTYPE_L2_ETHER | (tunnel & MLX4X_RX_TUN_IPV4 ?
		RTE_PTYPE_L3_IPV4_EXT_UNKNOWN : RTE_PTYPE_L3_IPV6_EXT_UNKNOWN);
}

/* True if the device hashes a frame: what it does not hash has no hash to show. */
static bool
is_hashed(const struct mlx4x_port *port, uint32_t idx)
{
	uint64_t fields = port->hashed_fields;

	if (idx & MLX4X_RX_IDX_IPV6)
		return fields & IBV_RX_HASH_SRC_IPV6;
	return is_ip(idx) && fields & IBV_RX_HASH_SRC_IPV4;
}

static uint32_t
flags(const struct mlx4x_port *port, uint32_t idx)
{
	uint64_t offloads = port->data->dev_conf.rxmode.offloads;
	uint32_t result = 0;

	if (offloads & RTE_ETH_RX_OFFLOAD_RSS_HASH && is_hashed(port, idx))
		result |= RTE_MBUF_F_RX_RSS_HASH;
	if (!(offloads & RTE_ETH_RX_OFFLOAD_CHECKSUM))
		return result;
	/* A bit that is not set says "not checked or wrong": software looks again. */
	if (idx & MLX4X_RX_IDX_IP_OK)
		result |= RTE_MBUF_F_RX_IP_CKSUM_GOOD;
	if (idx & MLX4X_RX_IDX_L4_OK)
		result |= RTE_MBUF_F_RX_L4_CKSUM_GOOD;
	return result;
}

/* In a tunnel, "good" is said of both headers or not at all. */
static uint32_t
tunnel_flags(const struct mlx4x_port *port, uint32_t tunnel, uint32_t idx)
{
	uint32_t result = flags(port, idx);

	return tunnel & MLX4X_RX_TUN_IP_OK ? result : result & ~RTE_MBUF_F_RX_IP_CKSUM_GOOD;
}

void
mlx4x_rx_table_build(struct mlx4x_port *port)
{
	uint32_t mask = port->ptype_hidden ? 0 : UINT32_MAX;
	uint32_t idx, tunnel;

	for (idx = 0; idx < MLX4X_RX_TABLE_SIZE; idx++) {
		port->meaning[idx].ptype = mask &
			(RTE_PTYPE_L2_ETHER | l3_ptype(idx) | l4_ptype(idx));
		port->meaning[idx].ol_flags = flags(port, idx);
		for (tunnel = 0; tunnel < MLX4X_RX_TUN_TABLES; tunnel++) {
			port->tunnel_meaning[tunnel][idx].ptype = mask &
				(outer_ptype(tunnel) | inner_ptype(idx));
			port->tunnel_meaning[tunnel][idx].ol_flags =
				tunnel_flags(port, tunnel, idx);
		}
	}
}

/* Types cost nothing here: an application that wants none gets 0, the rest all. */
int
mlx4x_ptypes_set(struct rte_eth_dev *eth_dev, uint32_t mask)
{
	struct mlx4x_port *port = mlx4x_port_of(eth_dev);

	port->ptype_hidden = mask == 0;
	mlx4x_rx_table_build(port);
	return 0;
}
