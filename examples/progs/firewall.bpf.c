/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stateless firewall: source prefixes that are refused (LPM trie), and single
 * (address, protocol, port) exceptions that are let through in spite of them (hash).
 */
#include "parse.h"

struct prefix {
	__u32 length_bits;
	__be32 address;
};

struct service {
	__be32 address;
	__be16 port;
	__u8 protocol;
	__u8 zero;
};

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, 4096);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct prefix);
	__type(value, __u64);
} refused SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct service);
	__type(value, __u64);
} allowed SEC(".maps");

static __always_inline __be16 destination_port(struct packet *packet, struct iphdr *ip)
{
	struct udphdr *ports = ipv4_payload(ip); /* TCP has its ports at the same place */

	if (ip->protocol != IPPROTO_TCP && ip->protocol != IPPROTO_UDP)
		return 0;
	if (!ports || (void *)(ports + 1) > packet->end)
		return 0;
	return ports->dest;
}

static __always_inline int count(__u64 *hits)
{
	if (hits)
		__sync_fetch_and_add(hits, 1);
	return hits != NULL;
}

SEC("xdp")
int xdp_firewall(struct xdp_md *ctx)
{
	struct packet packet = packet_of(ctx);
	struct iphdr *ip = parse_ipv4(&packet);
	struct prefix source = { .length_bits = 32 };
	struct service service = { 0 };

	if (!ip)
		return XDP_PASS;
	service.address = ip->daddr;
	service.protocol = ip->protocol;
	service.port = destination_port(&packet, ip);
	if (count(bpf_map_lookup_elem(&allowed, &service)))
		return XDP_PASS;
	source.address = ip->saddr;
	return count(bpf_map_lookup_elem(&refused, &source)) ? XDP_DROP : XDP_PASS;
}

char _license[] SEC("license") = "Dual BSD/GPL";
