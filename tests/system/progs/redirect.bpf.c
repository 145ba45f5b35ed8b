/* SPDX-License-Identifier: BSD-3-Clause */
/* Redirects to whatever the test asks for in the array "order". */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, 8);
	__type(key, __u32);
	__type(value, __u32);
} ports SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP_HASH);
	__uint(max_entries, 8);
	__type(key, __u32);
	__type(value, __u32);
} ports_hash SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, 8);
	__type(key, __u32);
	__type(value, __u32);
} sockets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_CPUMAP);
	__uint(max_entries, 8);
	__type(key, __u32);
	__type(value, __u32);
} cpus SEC(".maps");

/* The same with second programs in their entries. */
struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, 8);
	__type(key, __u32);
	__type(value, struct bpf_devmap_val);
} ports_prog SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_CPUMAP);
	__uint(max_entries, 8);
	__type(key, __u32);
	__type(value, struct bpf_cpumap_val);
} cpus_prog SEC(".maps");

/* What to do; key or ifindex; flags. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 3);
	__type(key, __u32);
	__type(value, __u32);
} order SEC(".maps");

static __always_inline __u32 ordered(__u32 i)
{
	__u32 *value = bpf_map_lookup_elem(&order, &i);

	return value ? *value : 0;
}

/* A router in small: the address at byte 26 says where to, the answer what to write in front. */
static __always_inline int route(struct xdp_md *ctx)
{
	__u8 *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct bpf_fib_lookup params = { .family = 2, .ifindex = ctx->ingress_ifindex };
	long ret;

	if (data + 34 > end)
		return XDP_ABORTED;
	params.ipv4_dst = *(__u32 *)(data + 26);
	ret = bpf_fib_lookup(ctx, &params, sizeof(params), 0);
	if (ret == BPF_FIB_LKUP_RET_NOT_FWDED)
		return XDP_PASS;
	if (ret != BPF_FIB_LKUP_RET_SUCCESS)
		return XDP_DROP;
	__builtin_memcpy(data, params.dmac, sizeof(params.dmac));
	__builtin_memcpy(data + sizeof(params.dmac), params.smac, sizeof(params.smac));
	return bpf_redirect(params.ifindex, 0);
}

SEC("xdp")
int xdp_redirect_as_ordered(struct xdp_md *ctx)
{
	__u32 key = ordered(1), flags = ordered(2);

	switch (ordered(0)) {
	case 1:
		return bpf_redirect(key, 0);
	case 2:
		return bpf_redirect_map(&ports, key, flags);
	case 3:
		return bpf_redirect_map(&ports_hash, key, flags);
	case 4:
		return bpf_redirect_map(&sockets, key, flags);
	case 5:
		return bpf_redirect_map(&cpus, key, flags);
	case 6:
		return bpf_redirect_map(&ports_prog, key, flags);
	case 7:
		return bpf_redirect_map(&cpus_prog, key, flags);
	case 8:
		return route(ctx);
	}
	return XDP_PASS;
}

/* Drops frames with an odd number, marks the others. */
static __always_inline int drop_odd(struct xdp_md *ctx, __u8 mark)
{
	__u8 *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;

	if (data + 31 > end)
		return XDP_ABORTED;
	data[30] = mark;
	return data[14] & 1 ? XDP_DROP : XDP_PASS;
}

SEC("xdp/devmap")
int xdp_at_port(struct xdp_md *ctx)
{
	return ctx->egress_ifindex ? drop_odd(ctx, 0xa1) : XDP_ABORTED;
}

SEC("xdp/cpumap")
int xdp_at_cpu(struct xdp_md *ctx)
{
	return drop_odd(ctx, 0xa2);
}

char _license[] SEC("license") = "Dual BSD/GPL";
