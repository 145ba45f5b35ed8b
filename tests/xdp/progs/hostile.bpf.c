/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each program does one thing that neither the kernel's verifier nor the prover lets pass, in the
 * line that says "refused" and the program's name.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#define SLOTS 4

struct counts {
	__u64 slot[SLOTS];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16);
	__type(key, __u32);
	__type(value, struct counts);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} ring SEC(".maps");

const volatile __u64 limit = 10;

SEC("?xdp")
int value_unchecked(struct xdp_md *ctx)
{
	__u32 key = 0;
	struct counts *found = bpf_map_lookup_elem(&counts, &key);

	return found->slot[1];	/* refused: value_unchecked */
}

SEC("?xdp")
int one_too_far(struct xdp_md *ctx)
{
	__u32 key = 0, i = ctx->rx_queue_index;
	struct counts *found = bpf_map_lookup_elem(&counts, &key);

	if (found != NULL && i <= SLOTS)
		return found->slot[i];	/* refused: one_too_far */
	return XDP_PASS;
}

SEC("?xdp")
int record_used_after(struct xdp_md *ctx)
{
	volatile __u64 *record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);

	if (record == NULL)
		return XDP_PASS;
	bpf_ringbuf_submit((void *)record, 0);
	*record = 1;	/* refused: record_used_after */
	return XDP_PASS;
}

SEC("?xdp")
int packet_moved(struct xdp_md *ctx)
{
	volatile __u8 *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;

	if ((void *)(data + 14) > end || bpf_xdp_adjust_head(ctx, 4) != 0)
		return XDP_PASS;
	return data[0];	/* refused: packet_moved */
}

SEC("?xdp")
int constant_written(struct xdp_md *ctx)
{
	*(volatile __u64 *)&limit = 1;	/* refused: constant_written */
	return XDP_PASS;
}

SEC("?xdp")
int memory_too_short(struct xdp_md *ctx)
{
	__u8 bytes[16] = { 0 };

	return bpf_xdp_store_bytes(ctx, 0, bytes, 64);	/* refused: memory_too_short */
}
