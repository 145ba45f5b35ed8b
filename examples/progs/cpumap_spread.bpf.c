/* SPDX-License-Identifier: BSD-3-Clause */
/* Spreads flows over the CPUs of a cpumap, so that a slow stack is shared by several. */
#include "parse.h"

struct {
	__uint(type, BPF_MAP_TYPE_CPUMAP);
	__uint(max_entries, 16);
	__type(key, __u32);
	__type(value, struct bpf_cpumap_val);
} cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} cpu_count SEC(".maps");

SEC("xdp")
int xdp_cpumap_spread(struct xdp_md *ctx)
{
	struct packet packet = packet_of(ctx);
	struct iphdr *ip = parse_ipv4(&packet);
	__u32 zero = 0, hash;
	__u32 *count = bpf_map_lookup_elem(&cpu_count, &zero);

	if (!ip || !count || !*count)
		return XDP_PASS;
	/* Both directions of a conversation meet on one CPU. */
	hash = (ip->saddr ^ ip->daddr) * 0x9e3779b1u >> 16;
	return bpf_redirect_map(&cpus, hash % *count, XDP_PASS);
}

char _license[] SEC("license") = "Dual BSD/GPL";
