/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts packets and bytes by IP protocol and drops UDP to one port that is set from
 * outside: a parse, a map, a verdict.
 */
#include "parse.h"

struct counter {
	__u64 packets;
	__u64 bytes;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 256);
	__type(key, __u32);
	__type(value, struct counter);
} counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} blocked_port SEC(".maps");

static __always_inline int is_blocked(struct packet *packet, struct iphdr *ip)
{
	struct udphdr *udp = ipv4_payload(ip);
	__u32 zero = 0;
	__u32 *port = bpf_map_lookup_elem(&blocked_port, &zero);

	if (ip->protocol != IPPROTO_UDP || !udp || (void *)(udp + 1) > packet->end)
		return 0;
	return port && *port && udp->dest == bpf_htons(*port);
}

SEC("xdp")
int xdp_counter(struct xdp_md *ctx)
{
	struct packet packet = packet_of(ctx);
	struct iphdr *ip = parse_ipv4(&packet);
	__u32 protocol = ip ? ip->protocol : 0;
	struct counter *counter = bpf_map_lookup_elem(&counters, &protocol);

	if (counter) {
		counter->packets++;
		counter->bytes += packet.end - packet.data;
	}
	return ip && is_blocked(&packet, ip) ? XDP_DROP : XDP_PASS;
}

char _license[] SEC("license") = "Dual BSD/GPL";
