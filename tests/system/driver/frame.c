/* SPDX-License-Identifier: BSD-3-Clause */

/* Frames of pair.h as bytes, and their hash. Nothing of the driver is used for it. */

#include <netinet/in.h>
#include <string.h>

#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "pair.h"

#define MIN_FRAME 60

static const uint8_t ipv6_prefix[12] = { 0x20, 0x01, 0x0d, 0xb8 };

static bool
has_ports(const struct frame *frame)
{
	return !frame->fragment &&
		(frame->protocol == IPPROTO_TCP || frame->protocol == IPPROTO_UDP);
}

static uint16_t
write_ipv6_address(void *at, uint32_t last)
{
	rte_be32_t be = rte_cpu_to_be_32(last);
	uint8_t *bytes = at; /* struct rte_ipv6_addr from DPDK 24.11 on */

	memcpy(bytes, ipv6_prefix, sizeof(ipv6_prefix));
	memcpy(bytes + sizeof(ipv6_prefix), &be, sizeof(be));
	return 16;
}

static uint8_t *
write_l2(const struct frame *frame, uint8_t *at)
{
	struct rte_ether_hdr *eth = (struct rte_ether_hdr *)at;
	rte_be16_t type = frame->version == 4 ? RTE_BE16(RTE_ETHER_TYPE_IPV4) :
		frame->version == 6 ? RTE_BE16(RTE_ETHER_TYPE_IPV6) : RTE_BE16(0x88b5);
	struct rte_vlan_hdr *tag = (struct rte_vlan_hdr *)(eth + 1);

	eth->dst_addr = frame->dst;
	eth->src_addr = (struct rte_ether_addr){ { 0x02, 0, 0, 0, 0, 0x99 } };
	eth->ether_type = frame->tagged ? RTE_BE16(RTE_ETHER_TYPE_VLAN) : type;
	if (!frame->tagged)
		return (uint8_t *)(eth + 1);
	tag->vlan_tci = rte_cpu_to_be_16(3 << 13 | frame->vid);	/* a priority, too */
	tag->eth_proto = type;
	return (uint8_t *)(tag + 1);
}

static uint8_t *
write_ipv4(const struct frame *frame, uint8_t *at)
{
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)at;

	ip->version_ihl = RTE_IPV4_VHL_DEF;
	ip->total_length = rte_cpu_to_be_16(sizeof(*ip) + sizeof(struct rte_tcp_hdr));
	ip->time_to_live = 64;
	ip->fragment_offset = frame->fragment ? RTE_BE16(8) : 0;
	ip->next_proto_id = frame->protocol;
	ip->src_addr = rte_cpu_to_be_32(frame->src_ip);
	ip->dst_addr = rte_cpu_to_be_32(frame->dst_ip);
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	return (uint8_t *)(ip + 1);
}

static uint8_t *
write_ipv6(const struct frame *frame, uint8_t *at)
{
	struct rte_ipv6_hdr *ip = (struct rte_ipv6_hdr *)at;
	struct rte_ipv6_fragment_ext *ext = (struct rte_ipv6_fragment_ext *)(ip + 1);

	ip->vtc_flow = RTE_BE32(6u << 28);
	ip->payload_len = rte_cpu_to_be_16(sizeof(struct rte_tcp_hdr) +
		(frame->fragment ? sizeof(*ext) : 0));
	ip->proto = frame->fragment ? IPPROTO_FRAGMENT : frame->protocol;
	ip->hop_limits = 64;
	write_ipv6_address(&ip->src_addr, frame->src_ip);
	write_ipv6_address(&ip->dst_addr, frame->dst_ip);
	if (!frame->fragment)
		return (uint8_t *)(ip + 1);
	ext->next_header = frame->protocol;
	ext->frag_data = RTE_BE16(64);
	return (uint8_t *)(ext + 1);
}

uint16_t
frame_write(const struct frame *frame, uint8_t *bytes)
{
	uint8_t *at;

	memset(bytes, 0, 128);
	at = write_l2(frame, bytes);
	if (frame->version == 4)
		at = write_ipv4(frame, at);
	else if (frame->version == 6)
		at = write_ipv6(frame, at);
	if (frame->version != 0 && has_ports(frame)) {
		/* Both protocols begin with the ports; what follows of TCP is 5 words. */
		struct rte_tcp_hdr *tcp = (struct rte_tcp_hdr *)at;

		tcp->src_port = rte_cpu_to_be_16(frame->src_port);
		tcp->dst_port = rte_cpu_to_be_16(frame->dst_port);
		if (frame->protocol == IPPROTO_TCP)
			tcp->data_off = 5 << 4;
		else
			((struct rte_udp_hdr *)at)->dgram_len =
				rte_cpu_to_be_16(sizeof(struct rte_tcp_hdr));
	}
	at += sizeof(struct rte_tcp_hdr);
	return RTE_MAX(at - bytes, MIN_FRAME);
}

static uint32_t
toeplitz(const uint8_t *key, const uint8_t *input, unsigned int len)
{
	uint32_t hash = 0, window;
	unsigned int bit;

	for (bit = 0; bit < len * 8; bit++) {
		unsigned int i, at = bit;

		if (!(input[bit / 8] & 0x80 >> bit % 8))
			continue;
		for (i = 0, window = 0; i < 32; i++, at++)
			window = window << 1 | (key[at / 8] >> (7 - at % 8) & 1);
		hash ^= window;
	}
	return hash;
}

/*
 * The hash type of a frame, and those that make the device hash its addresses: it does so
 * for all frames of an address family of which it hashes any.
 */
static void
hash_types(const struct frame *frame, uint64_t *ports, uint64_t *addresses)
{
	bool tcp = frame->protocol == IPPROTO_TCP;

	*ports = 0;
	*addresses = frame->version == 4 ? RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_TCP |
		RTE_ETH_RSS_NONFRAG_IPV4_UDP : RTE_ETH_RSS_IPV6 | RTE_ETH_RSS_NONFRAG_IPV6_TCP |
		RTE_ETH_RSS_NONFRAG_IPV6_UDP;
	if (has_ports(frame) && frame->version == 4)
		*ports = tcp ? RTE_ETH_RSS_NONFRAG_IPV4_TCP : RTE_ETH_RSS_NONFRAG_IPV4_UDP;
	else if (has_ports(frame))
		*ports = tcp ? RTE_ETH_RSS_NONFRAG_IPV6_TCP : RTE_ETH_RSS_NONFRAG_IPV6_UDP;
}

uint32_t
frame_hash(const struct frame *frame, const uint8_t key[40], uint64_t rss_hf)
{
	uint64_t ports_type, addresses_type;
	rte_be32_t words[3] = {
		rte_cpu_to_be_32(frame->src_ip), rte_cpu_to_be_32(frame->dst_ip),
		rte_cpu_to_be_32((uint32_t)frame->src_port << 16 | frame->dst_port),
	};
	uint8_t input[36];
	unsigned int len = 0;

	hash_types(frame, &ports_type, &addresses_type);
	if (frame->version == 0 || !(rss_hf & addresses_type))
		return 0;
	if (frame->version == 4) {
		memcpy(input, words, 8);
		len = 8;
	} else {
		len += write_ipv6_address(input, frame->src_ip);
		len += write_ipv6_address(input + len, frame->dst_ip);
	}
	if (rss_hf & ports_type) {
		memcpy(input + len, &words[2], 4);
		len += 4;
	}
	return toeplitz(key, input, len);
}
