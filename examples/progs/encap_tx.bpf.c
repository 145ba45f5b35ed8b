/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts IPv4 packets into IPv4 (RFC 2003) between two fixed addresses and sends them back. */
#include "parse.h"

#define TUNNEL_SOURCE 0x0a000001 /* 10.0.0.1 */
#define TUNNEL_END 0x0a000002

static __always_inline __u16 checksum_of(struct iphdr *ip)
{
	__u16 *word = (__u16 *)ip;
	__u32 sum = 0;

#pragma unroll
	for (int i = 0; i < (int)sizeof(*ip) / 2; i++)
		sum += word[i];
	sum = (sum & 0xffff) + (sum >> 16);
	return ~(sum + (sum >> 16));
}

SEC("xdp")
int xdp_encap_tx(struct xdp_md *ctx)
{
	struct packet packet = packet_of(ctx);
	struct iphdr *inner = parse_ipv4(&packet), *outer;
	struct ethhdr old, *eth = packet.data;
	__u16 length;

	/* Tags would have to move too: only plain frames are taken. */
	if (!inner || eth->h_proto != bpf_htons(ETH_P_IP))
		return XDP_PASS;
	length = bpf_ntohs(inner->tot_len) + sizeof(*outer);
	__builtin_memcpy(&old, eth, sizeof(old));
	if (bpf_xdp_adjust_head(ctx, -(int)sizeof(*outer)))
		return XDP_ABORTED;
	packet = packet_of(ctx);
	eth = packet.data;
	outer = (struct iphdr *)(eth + 1);
	if ((void *)(outer + 1) > packet.end)
		return XDP_ABORTED;
	__builtin_memcpy(eth, &old, sizeof(old));
	swap_macs(eth);
	*outer = (struct iphdr){
		.version = 4,
		.ihl = sizeof(*outer) / 4,
		.tot_len = bpf_htons(length),
		.ttl = 64,
		.protocol = IPPROTO_IPIP,
		.saddr = bpf_htonl(TUNNEL_SOURCE),
		.daddr = bpf_htonl(TUNNEL_END),
	};
	outer->check = checksum_of(outer);
	return XDP_TX;
}

char _license[] SEC("license") = "Dual BSD/GPL";
