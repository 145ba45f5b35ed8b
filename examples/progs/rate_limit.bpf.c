/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A token bucket per source address. The bucket of a source that has not been seen
 * lately is evicted by the LRU map, which refills it: harmless.
 */
#include "parse.h"

#define NS_PER_SECOND 1000000000ull

struct bucket {
	__u64 filled_at_ns;
	__u64 tokens; /* packets x NS_PER_SECOND, so that no fraction is lost */
};

struct limit {
	__u64 packets_per_second;
	__u64 burst_packets;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, __be32);
	__type(value, struct bucket);
} buckets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct limit);
} limits SEC(".maps");

static __always_inline int take_token(struct bucket *bucket, const struct limit *limit,
	__u64 now_ns)
{
	const __u64 full = limit->burst_packets * NS_PER_SECOND;
	__u64 waited_ns = now_ns - bucket->filled_at_ns;
	__u64 tokens;

	/* A longer wait fills any bucket, and its product would overflow. */
	if (waited_ns > 60 * NS_PER_SECOND)
		waited_ns = 60 * NS_PER_SECOND;
	tokens = bucket->tokens + waited_ns * limit->packets_per_second;
	if (tokens > full)
		tokens = full;
	bucket->filled_at_ns = now_ns;
	bucket->tokens = tokens >= NS_PER_SECOND ? tokens - NS_PER_SECOND : tokens;
	return tokens >= NS_PER_SECOND;
}

SEC("xdp")
int xdp_rate_limit(struct xdp_md *ctx)
{
	struct packet packet = packet_of(ctx);
	struct iphdr *ip = parse_ipv4(&packet);
	__u32 zero = 0;
	struct limit *limit = bpf_map_lookup_elem(&limits, &zero);
	struct bucket *bucket, fresh = { 0 };
	__be32 source;
	__u64 now_ns;

	if (!ip || !limit || !limit->burst_packets)
		return XDP_PASS;
	source = ip->saddr;
	now_ns = bpf_ktime_get_ns();
	bucket = bpf_map_lookup_elem(&buckets, &source);
	if (bucket)
		return take_token(bucket, limit, now_ns) ? XDP_PASS : XDP_DROP;
	fresh.filled_at_ns = now_ns;
	fresh.tokens = (limit->burst_packets - 1) * NS_PER_SECOND;
	bpf_map_update_elem(&buckets, &source, &fresh, BPF_ANY);
	return XDP_PASS;
}

char _license[] SEC("license") = "Dual BSD/GPL";
