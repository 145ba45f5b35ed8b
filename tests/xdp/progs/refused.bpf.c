/* SPDX-License-Identifier: BSD-3-Clause */
/* Each program needs one thing that cannot be had in user space, or that is not supported. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#define __ksym __attribute__((section(".ksyms")))

extern int bpf_xdp_metadata_rx_hash(const struct xdp_md *ctx, __u32 *hash, __u32 *type) __ksym;
extern const int bpf_prog_active __ksym;

struct timed {
	struct bpf_timer timer;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct timed);
} timers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_BLOOM_FILTER);
	__uint(max_entries, 100);
	__type(value, __u32);
} bloom SEC(".maps");

SEC("?xdp")
int needs_kfunc(struct xdp_md *ctx)
{
	__u32 hash = 0, type = 0;

	return bpf_xdp_metadata_rx_hash(ctx, &hash, &type) ? XDP_DROP : XDP_PASS;
}

SEC("?xdp")
int needs_kernel_variable(struct xdp_md *ctx)
{
	return bpf_prog_active ? XDP_DROP : XDP_PASS;
}

SEC("?xdp")
int needs_timer(struct xdp_md *ctx)
{
	__u32 zero = 0;
	struct timed *timed = bpf_map_lookup_elem(&timers, &zero);

	return timed && bpf_timer_init(&timed->timer, &timers, 1) ? XDP_DROP : XDP_PASS;
}

SEC("?xdp")
int needs_dynptr(struct xdp_md *ctx)
{
	struct bpf_dynptr pointer;
	__u32 word = 0;

	bpf_dynptr_from_mem(&word, sizeof(word), 0, &pointer);
	return XDP_PASS;
}

SEC("?xdp")
int needs_kernel_memory(struct xdp_md *ctx)
{
	__u64 word = 0;

	bpf_probe_read_kernel(&word, sizeof(word), (void *)(long)ctx->rx_queue_index);
	return word ? XDP_DROP : XDP_PASS;
}

SEC("?xdp")
int needs_socket(struct xdp_md *ctx)
{
	struct bpf_sock_tuple tuple = { 0 };
	struct bpf_sock *sk = bpf_sk_lookup_tcp(ctx, &tuple, sizeof(tuple.ipv4), 0, 0);

	if (!sk)
		return XDP_PASS;
	bpf_sk_release(sk);
	return XDP_DROP;
}

SEC("?xdp")
int needs_bloom(struct xdp_md *ctx)
{
	__u32 word = ctx->rx_queue_index;

	return bpf_map_peek_elem(&bloom, &word) ? XDP_DROP : XDP_PASS;
}

char _license[] SEC("license") = "Dual BSD/GPL";
