/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs and maps in slots, some of them from the start. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

int tail_drop(struct xdp_md *ctx);

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 3);
	__type(key, __u32);
	__array(values, int(struct xdp_md *));
} tails SEC(".maps") = { .values = { [2] = &tail_drop } };

struct inner {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} one SEC(".maps"), two SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 2);
	__type(key, __u32);
	__array(values, struct inner);
} outer SEC(".maps") = { .values = { [0] = &one } };

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP_HASH);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, struct bpf_devmap_val);
} exits SEC(".maps");

SEC("xdp/devmap")
int at_exit(struct xdp_md *ctx)
{
	return ctx->egress_ifindex ? XDP_PASS : XDP_DROP;
}

SEC("xdp")
int leaves(struct xdp_md *ctx)
{
	return bpf_redirect_map(&exits, 1, XDP_PASS);
}

SEC("xdp")
int tail_drop(struct xdp_md *ctx)
{
	return XDP_DROP;
}

SEC("xdp")
int tail_tx(struct xdp_md *ctx)
{
	return XDP_TX;
}

/* What slot 1 says, else whether the inner map in slot 1 has a number. */
SEC("xdp")
int steered(struct xdp_md *ctx)
{
	__u32 zero = 0, slot = 1;
	__u64 *number;
	void *inner;

	bpf_tail_call(ctx, &tails, 1);
	inner = bpf_map_lookup_elem(&outer, &slot);
	if (!inner)
		return XDP_PASS;
	number = bpf_map_lookup_elem(inner, &zero);
	return number && *number ? XDP_ABORTED : XDP_PASS;
}

char _license[] SEC("license") = "Dual BSD/GPL";
