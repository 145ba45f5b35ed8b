/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A load balancer: packets to a virtual address are put into an IPv4 tunnel (IPIP) to
 * one of the backends, chosen by flow, and leave by the port they came from.
 */
#include "parse.h"

#define MAX_BACKENDS 64

struct backend {
	__be32 address;
	__u8 mac[ETH_ALEN];
	__u8 zero[2];
};

struct balancer {
	__be32 virtual_address;
	__be32 own_address;
	__u32 backends;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct balancer);
} config SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_BACKENDS);
	__type(key, __u32);
	__type(value, struct backend);
} backends SEC(".maps");

/* A few multiply-xor rounds over addresses and ports: even enough for a demo. */
static __always_inline __u32 flow_hash(struct packet *packet, struct iphdr *ip)
{
	__u32 *ports = ipv4_payload(ip);
	__u32 hash = ip->saddr ^ ip->protocol;

	if (ports && (void *)(ports + 1) <= packet->end)
		hash ^= *ports * 0x9e3779b1u;
	hash = (hash ^ hash >> 15) * 0x85ebca6bu;
	return hash ^ hash >> 13;
}

static __always_inline __u16 header_checksum(struct iphdr *ip)
{
	__u16 *word = (__u16 *)ip;
	__u32 sum = 0;

#pragma unroll
	for (unsigned int i = 0; i < sizeof(*ip) / 2; i++)
		sum += word[i];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

static __always_inline int encapsulate(struct xdp_md *ctx, const struct balancer *balancer,
	const struct backend *backend, __u16 inner_length)
{
	struct packet packet;
	struct ethhdr *eth, old;
	struct iphdr *outer;

	packet = packet_of(ctx);
	if (packet.data + sizeof(old) > packet.end)
		return XDP_ABORTED;
	__builtin_memcpy(&old, packet.data, sizeof(old));
	if (bpf_xdp_adjust_head(ctx, -(int)sizeof(*outer)))
		return XDP_ABORTED;
	packet = packet_of(ctx);
	eth = packet.data;
	outer = (void *)(eth + 1);
	if ((void *)(outer + 1) > packet.end)
		return XDP_ABORTED;
	__builtin_memcpy(eth->h_source, old.h_dest, ETH_ALEN);
	__builtin_memcpy(eth->h_dest, backend->mac, ETH_ALEN);
	eth->h_proto = bpf_htons(ETH_P_IP);
	__builtin_memset(outer, 0, sizeof(*outer));
	outer->version = 4;
	outer->ihl = sizeof(*outer) / 4;
	outer->tot_len = bpf_htons(inner_length + sizeof(*outer));
	outer->ttl = 64;
	outer->protocol = IPPROTO_IPIP;
	outer->saddr = balancer->own_address;
	outer->daddr = backend->address;
	outer->check = header_checksum(outer);
	return XDP_TX;
}

SEC("xdp")
int xdp_balancer(struct xdp_md *ctx)
{
	struct packet packet = packet_of(ctx);
	struct iphdr *ip = parse_ipv4(&packet);
	__u32 zero = 0, index;
	struct balancer *balancer = bpf_map_lookup_elem(&config, &zero);
	struct backend *backend;

	/* The tunnel header goes right behind an untagged Ethernet header. */
	if (!ip || !balancer || !balancer->backends || (void *)ip != packet.data + ETH_HLEN ||
	    ip->daddr != balancer->virtual_address)
		return XDP_PASS;
	index = flow_hash(&packet, ip) % balancer->backends;
	backend = bpf_map_lookup_elem(&backends, &index);
	if (!backend)
		return XDP_DROP;
	return encapsulate(ctx, balancer, backend, bpf_ntohs(ip->tot_len));
}

char _license[] SEC("license") = "Dual BSD/GPL";
