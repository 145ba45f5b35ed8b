/* SPDX-License-Identifier: BSD-3-Clause */
/* Small programs for the benchmark: what parsing and each kind of map lookup costs. */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/udp.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

struct tuple {
	__be32 saddr;
	__be32 daddr;
	__be16 sport;
	__be16 dport;
	__u32 protocol;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 256);
	__type(key, __u32);
	__type(value, __u64);
} array SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 256);
	__type(key, __u32);
	__type(value, __u64);
} percpu SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u64);
} addresses SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct tuple);
	__type(value, __u64);
} tuples SEC(".maps");

static __always_inline struct udphdr *parse(struct xdp_md *ctx, struct iphdr **ip)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = data;
	struct udphdr *udp;

	*ip = data + sizeof(*eth);
	udp = data + sizeof(*eth) + sizeof(**ip);
	if ((void *)(udp + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP) || (*ip)->ihl != 5 ||
	    (*ip)->protocol != IPPROTO_UDP)
		return 0;
	return udp;
}

static __always_inline int count(__u64 *counter)
{
	if (!counter)
		return XDP_PASS;
	++*counter;
	return XDP_DROP;
}

SEC("xdp")
int bench_drop(struct xdp_md *ctx)
{
	return XDP_DROP;
}

SEC("xdp")
int bench_array(struct xdp_md *ctx)
{
	struct iphdr *ip;
	__u32 key;

	if (!parse(ctx, &ip))
		return XDP_PASS;
	key = ip->protocol;
	return count(bpf_map_lookup_elem(&array, &key));
}

SEC("xdp")
int bench_percpu(struct xdp_md *ctx)
{
	struct iphdr *ip;
	__u32 key;

	if (!parse(ctx, &ip))
		return XDP_PASS;
	key = ip->protocol;
	return count(bpf_map_lookup_elem(&percpu, &key));
}

SEC("xdp")
int bench_address(struct xdp_md *ctx)
{
	struct iphdr *ip;
	__u32 key;

	if (!parse(ctx, &ip))
		return XDP_PASS;
	key = ip->saddr;
	return count(bpf_map_lookup_elem(&addresses, &key));
}

SEC("xdp")
int bench_tuple(struct xdp_md *ctx)
{
	struct tuple tuple = { 0 };
	struct udphdr *udp;
	struct iphdr *ip;

	udp = parse(ctx, &ip);
	if (!udp)
		return XDP_PASS;
	tuple.saddr = ip->saddr;
	tuple.daddr = ip->daddr;
	tuple.sport = udp->source;
	tuple.dport = udp->dest;
	tuple.protocol = ip->protocol;
	return count(bpf_map_lookup_elem(&tuples, &tuple));
}

#define MIX(n) \
	hash = (hash ^ words[(n) % 8]) * 0x01000193u; \
	hash ^= hash >> 13; \
	if (hash & 1) \
		hash += n;
#define MIX8(n) \
	MIX(n) MIX(n + 1) MIX(n + 2) MIX(n + 3) MIX(n + 4) MIX(n + 5) MIX(n + 6) MIX(n + 7)
#define MIX64(n) \
	MIX8(n) MIX8(n + 8) MIX8(n + 16) MIX8(n + 24) MIX8(n + 32) MIX8(n + 40) MIX8(n + 48) \
	MIX8(n + 56)

/* Some 3,000 instructions, for the time that a load takes. */
SEC("xdp")
int bench_long(struct xdp_md *ctx)
{
	__u32 *words = (void *)(long)ctx->data, hash = 0;

	if ((void *)(words + 8) > (void *)(long)ctx->data_end)
		return XDP_PASS;
	MIX64(0) MIX64(64) MIX64(128) MIX64(192)
	MIX8(256) MIX8(264) MIX8(272) MIX8(280) MIX8(288)
	return hash & 2 ? XDP_DROP : XDP_PASS;
}

char _license[] SEC("license") = "Dual BSD/GPL";
