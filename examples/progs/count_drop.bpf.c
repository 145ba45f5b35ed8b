/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts packets by IP protocol and drops them, as the kernel's sample xdp1 does. */
#include "parse.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 256);
	__type(key, __u32);
	__type(value, __u64);
} packets SEC(".maps");

SEC("xdp")
int xdp_count_drop(struct xdp_md *ctx)
{
	struct packet packet = packet_of(ctx);
	struct iphdr *ip = parse_ipv4(&packet);
	__u32 protocol = ip ? ip->protocol : 0;
	__u64 *count = bpf_map_lookup_elem(&packets, &protocol);

	if (count)
		++*count;
	return XDP_DROP;
}

char _license[] SEC("license") = "Dual BSD/GPL";
