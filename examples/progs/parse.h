/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parsing that the example programs share. Each step returns where the next header
 * starts, or NULL when the packet ends before it: the form that the verifier of the
 * kernel and the prover of xdpvm both follow.
 */
#ifndef EXAMPLES_PROGS_PARSE_H
#define EXAMPLES_PROGS_PARSE_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <linux/udp.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

struct vlan_tag {
	__be16 tci;
	__be16 ether_type;
};

struct packet {
	void *data;
	void *end;
	__be16 ether_type; /* of what follows the VLAN tags */
};

static __always_inline struct packet packet_of(struct xdp_md *ctx)
{
	struct packet packet = {
		.data = (void *)(long)ctx->data,
		.end = (void *)(long)ctx->data_end,
	};

	return packet;
}

/* Skips Ethernet and up to two VLAN tags. */
static __always_inline void *parse_ethernet(struct packet *packet)
{
	struct ethhdr *eth = packet->data;
	void *next = eth + 1;

	if (next > packet->end)
		return NULL;
	packet->ether_type = eth->h_proto;
#pragma unroll
	for (int i = 0; i < 2; i++) {
		struct vlan_tag *tag = next;

		if (packet->ether_type != bpf_htons(ETH_P_8021Q) &&
		    packet->ether_type != bpf_htons(ETH_P_8021AD))
			break;
		if ((void *)(tag + 1) > packet->end)
			return NULL;
		packet->ether_type = tag->ether_type;
		next = tag + 1;
	}
	return next;
}

static __always_inline struct iphdr *parse_ipv4(struct packet *packet)
{
	struct iphdr *ip = parse_ethernet(packet);

	if (!ip || packet->ether_type != bpf_htons(ETH_P_IP))
		return NULL;
	if ((void *)(ip + 1) > packet->end || ip->ihl < 5)
		return NULL;
	return ip;
}

/* The L4 header of an IPv4 packet that is no later fragment, else NULL. */
static __always_inline void *ipv4_payload(struct iphdr *ip)
{
	const __u16 fragment_offset_mask = 0x1fff;

	if (ip->frag_off & bpf_htons(fragment_offset_mask))
		return NULL;
	return (void *)ip + ip->ihl * 4;
}

/* In words of 2 bytes: for bytes, clang loads and stores one after the other. */
static __always_inline void swap_macs(struct ethhdr *eth)
{
	__u16 *dst = (__u16 *)eth->h_dest, *src = (__u16 *)eth->h_source;

#pragma unroll
	for (int i = 0; i < ETH_ALEN / 2; i++) {
		__u16 word = dst[i];

		dst[i] = src[i];
		src[i] = word;
	}
}

#endif
