/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Hash types: what DPDK calls a packet type is, in verbs, a set of header fields.
 */

#include <infiniband/verbs.h>

#include <rte_common.h>
#include <rte_ethdev.h>

#include "flow.h"

#define IPV4_FIELDS (IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4)
#define IPV6_FIELDS (IBV_RX_HASH_SRC_IPV6 | IBV_RX_HASH_DST_IPV6)
#define TCP_FIELDS (IBV_RX_HASH_SRC_PORT_TCP | IBV_RX_HASH_DST_PORT_TCP)
#define UDP_FIELDS (IBV_RX_HASH_SRC_PORT_UDP | IBV_RX_HASH_DST_PORT_UDP)

/*
 * The device hashes the ports of a protocol together with the addresses, for each
 * address family that it hashes at all; a fragment, and every other protocol, as its
 * addresses (connectx3-device.md E.4).
 */
static const struct {
	uint64_t hf;
	uint64_t fields;
} hash_types[] = {
	{
		RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_FRAG_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_OTHER,
		IPV4_FIELDS,
	}, {
		RTE_ETH_RSS_IPV6 | RTE_ETH_RSS_FRAG_IPV6 | RTE_ETH_RSS_NONFRAG_IPV6_OTHER |
		RTE_ETH_RSS_IPV6_EX,
		IPV6_FIELDS,
	}, {
		RTE_ETH_RSS_NONFRAG_IPV4_TCP,
		IPV4_FIELDS | TCP_FIELDS,
	}, {
		RTE_ETH_RSS_NONFRAG_IPV6_TCP | RTE_ETH_RSS_IPV6_TCP_EX,
		IPV6_FIELDS | TCP_FIELDS,
	}, {
		RTE_ETH_RSS_NONFRAG_IPV4_UDP,
		IPV4_FIELDS | UDP_FIELDS,
	}, {
		RTE_ETH_RSS_NONFRAG_IPV6_UDP | RTE_ETH_RSS_IPV6_UDP_EX,
		IPV6_FIELDS | UDP_FIELDS,
	},
};

/* The verbs fields that hash types need. */
uint64_t
mlx4x_rss_fields(uint64_t hf)
{
	uint64_t fields = 0;
	unsigned int i;

	for (i = 0; i < RTE_DIM(hash_types); i++) {
		if (hash_types[i].hf & hf)
			fields |= hash_types[i].fields;
	}
	return fields;
}

/* All hash types that a device which hashes these fields performs. */
uint64_t
mlx4x_rss_hf(uint64_t fields)
{
	uint64_t hf = 0;
	unsigned int i;

	for (i = 0; i < RTE_DIM(hash_types); i++) {
		if ((hash_types[i].fields & fields) == hash_types[i].fields)
			hf |= hash_types[i].hf;
	}
	return hf;
}

/* False if the device would hash ports of an address family that hf does not ask for. */
bool
mlx4x_rss_is_exact(uint64_t hf)
{
	uint64_t fields = mlx4x_rss_fields(hf);
	unsigned int i;

	for (i = 0; i < RTE_DIM(hash_types); i++) {
		if ((hash_types[i].fields & fields) == hash_types[i].fields &&
		    hash_types[i].fields & (TCP_FIELDS | UDP_FIELDS) && !(hash_types[i].hf & hf))
			return false;
	}
	return true;
}
