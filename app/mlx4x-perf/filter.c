/* SPDX-License-Identifier: BSD-3-Clause */

/* Tables of addresses; see filter.h. */

#include "filter.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_ether.h>
#include <rte_hash.h>
#include <rte_ip.h>
#include <rte_lcore.h>
#include <rte_udp.h>
#include <xdpvm.h>

#include "program.h"

#define NB_ADDRESSES 1000u

/* What an entry is about, as xdp-filter has it (headers/common_kern_user.h of xdp-tools). */
#define MATCH_SRC (1u << 0)
#define MATCH_DST (1u << 1)

/* Entries of a kind, and for each what it is about. */
struct table {
	struct rte_hash *hash;
	uint64_t match[NB_ADDRESSES];
};

static struct table macs, addresses;
static uint64_t ports[UINT16_MAX + 1];

/* Locally administered, and no generator's. */
static struct rte_ether_addr
mac_number(unsigned int i)
{
	return (struct rte_ether_addr){ { 0x02, 0xff, 0, 0, i >> 8, i & 0xff } };
}

/* The generator sends within 10/8. */
static rte_be32_t
address_number(unsigned int i)
{
	return rte_cpu_to_be_32(RTE_IPV4(192, 168, 0, 0) + i);
}

int
perf_filter_fill(void)
{
	uint64_t copies[XDPVM_MAX_THREADS];
	unsigned int i;
	int ret = 0;

	for (i = 0; i < XDPVM_MAX_THREADS; i++)
		copies[i] = MATCH_SRC | MATCH_DST;
	for (i = 0; ret == 0 && i < NB_ADDRESSES; i++) {
		struct rte_ether_addr mac = mac_number(i);
		rte_be32_t address = address_number(i);

		ret = perf_program_map_update("filter_ethernet", &mac, copies);
		if (ret == 0)
			ret = perf_program_map_update("filter_ipv4", &address, copies);
	}
	return ret;
}

static int
table_create(struct table *table, const char *name, uint32_t key_len)
{
	struct rte_hash_parameters parameters = {
		.name = name,
		.entries = NB_ADDRESSES,
		.key_len = key_len,
		.socket_id = rte_socket_id(),
	};

	table->hash = rte_hash_create(&parameters);
	return table->hash != NULL ? 0 : -rte_errno;
}

static int
table_add(struct table *table, const void *key)
{
	int position = rte_hash_add_key(table->hash, key);

	if (position < 0)
		return position;
	table->match[position] = MATCH_SRC | MATCH_DST;
	return 0;
}

int
perf_filter_begin(struct perf_work *work, char *reason, size_t size)
{
	int ret = table_create(&macs, "macs", sizeof(struct rte_ether_addr));
	unsigned int i;

	if (ret == 0)
		ret = table_create(&addresses, "addresses", sizeof(rte_be32_t));
	for (i = 0; ret == 0 && i < NB_ADDRESSES; i++) {
		struct rte_ether_addr mac = mac_number(i);
		rte_be32_t address = address_number(i);

		ret = table_add(&macs, &mac);
		if (ret == 0)
			ret = table_add(&addresses, &address);
	}
	if (ret != 0)
		snprintf(reason, size, "tables of %u addresses: %s", NB_ADDRESSES, strerror(-ret));
	return ret;
}

void
perf_filter_end(struct perf_work *work)
{
	rte_hash_free(macs.hash);
	rte_hash_free(addresses.hash);
	macs.hash = NULL;
	addresses.hash = NULL;
}

static inline bool
is_listed(const struct table *table, const void *key, uint64_t match)
{
	int position = rte_hash_lookup(table->hash, key);

	return position >= 0 && (table->match[position] & match) != 0;
}

/* TCP has its ports at the same place. */
static inline bool
allows_ports(const struct rte_udp_hdr *udp)
{
	return (ports[udp->dst_port] & MATCH_DST) != 0 || (ports[udp->src_port] & MATCH_SRC) != 0;
}

bool
perf_filter_allows(const uint8_t *data, const uint8_t *end)
{
	const struct rte_ether_hdr *eth = (const struct rte_ether_hdr *)data;
	const struct rte_ipv4_hdr *ip = (const struct rte_ipv4_hdr *)(eth + 1);
	const struct rte_udp_hdr *udp;

	if ((const uint8_t *)ip > end)
		return false;
	if (is_listed(&macs, &eth->dst_addr, MATCH_DST) ||
	    is_listed(&macs, &eth->src_addr, MATCH_SRC))
		return true;
	if (eth->ether_type != RTE_BE16(RTE_ETHER_TYPE_IPV4) || (const uint8_t *)(ip + 1) > end)
		return false;
	if (is_listed(&addresses, &ip->dst_addr, MATCH_DST) ||
	    is_listed(&addresses, &ip->src_addr, MATCH_SRC))
		return true;
	udp = (const struct rte_udp_hdr *)((const uint8_t *)ip + rte_ipv4_hdr_len(ip));
	return (ip->next_proto_id == IPPROTO_UDP || ip->next_proto_id == IPPROTO_TCP) &&
		(const uint8_t *)(udp + 1) <= end && allows_ports(udp);
}
