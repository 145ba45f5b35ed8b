/* SPDX-License-Identifier: BSD-3-Clause */
/* Returns what the test wrote into the array "verdict", whatever it is. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} verdict SEC(".maps");

SEC("xdp")
int xdp_verdict(struct xdp_md *ctx)
{
	__u32 zero = 0, *value = bpf_map_lookup_elem(&verdict, &zero);

	return value ? *value : XDP_ABORTED;
}

char _license[] SEC("license") = "Dual BSD/GPL";
