/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that write records and call back into themselves. What a helper returned goes into the
 * packet, behind its parameters, so that a test can compare it between engines.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

struct bpf_map;

#define RECORD 24	/* bytes */

struct parameters {
	__u32 flags;
	__u32 number;
	__s64 results[4];
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__type(key, __u32);
	__type(value, __u32);
} events SEC(".maps");

struct guarded {
	struct bpf_spin_lock lock;
	__u32 pad;
	__u64 sum;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 7);
	__type(key, __u32);
	__type(value, struct guarded);
} guarded SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 7);
	__type(key, __u32);
	__type(value, struct guarded);
} guarded_hash SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 50);
	__type(key, __u32);
	__type(value, __u64);
} numbers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 5);
	__type(key, __u32);
	__type(value, __u64);
} counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 20);
	__type(key, __u32);
	__type(value, __u64);
} percpu_numbers SEC(".maps");

static __always_inline struct parameters *parameters_of(struct xdp_md *ctx)
{
	struct parameters *p = (void *)(long)ctx->data;

	return (void *)(p + 1) <= (void *)(long)ctx->data_end ? p : NULL;
}

/* Reserves, fills and submits or (number 3 of 4) discards a record; then asks about the ring. */
SEC("xdp")
int ring_reserve(struct xdp_md *ctx)
{
	struct parameters *p = parameters_of(ctx);
	__u32 *record;

	if (!p)
		return XDP_ABORTED;
	record = bpf_ringbuf_reserve(&ring, RECORD, 0);
	p->results[0] = record != NULL;
	if (record) {
		for (int i = 0; i < RECORD / 4; i++)
			record[i] = p->number + i;
		if ((p->number & 3) == 3)
			bpf_ringbuf_discard(record, p->flags);
		else
			bpf_ringbuf_submit(record, p->flags);
	}
	p->results[1] = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA);
	p->results[2] = bpf_ringbuf_query(&ring, BPF_RB_RING_SIZE);
	p->results[3] = bpf_ringbuf_query(&ring, BPF_RB_PROD_POS);
	return XDP_PASS;
}

SEC("xdp")
int ring_output(struct xdp_md *ctx)
{
	struct parameters *p = parameters_of(ctx), copy;

	if (!p)
		return XDP_ABORTED;
	copy = *p;
	p->results[0] = bpf_ringbuf_output(&ring, &copy, p->number & 31, p->flags);
	p->results[1] = bpf_ringbuf_query(&ring, BPF_RB_CONS_POS);
	p->results[2] = bpf_ringbuf_query(&ring, p->number);
	return XDP_PASS;
}

/* The parameters are a CPU in flags and how much of the packet in number. */
SEC("xdp")
int perf_output(struct xdp_md *ctx)
{
	struct parameters *p = parameters_of(ctx);
	__u64 flags, words[3] = { 1, 2, 3 };

	if (!p)
		return XDP_ABORTED;
	flags = (__u64)p->number << 32 | p->flags;
	words[1] = p->number;
	p->results[0] = bpf_perf_event_output(ctx, &events, flags, words, sizeof(words));
	return XDP_PASS;
}

struct sum {
	__u64 sum;
	__u64 stop;
};

static int loop_body(__u32 index, struct sum *sum)
{
	sum->sum += index;
	return index == sum->stop;
}

SEC("xdp")
int loops(struct xdp_md *ctx)
{
	struct parameters *p = parameters_of(ctx);
	struct sum sum;

	if (!p)
		return XDP_ABORTED;
	sum.sum = p->results[1];	/* 0, but the verifier would count along if it knew */
	sum.stop = p->number / 2;
	p->results[0] = bpf_loop(p->number, loop_body, &sum, p->flags);
	p->results[1] = sum.sum;
	return XDP_PASS;
}

struct visit {
	__u64 sum;
	__u64 seen;
	__u64 stop;
};

static long visit_number(struct bpf_map *map, const __u32 *key, __u64 *value, struct visit *visit)
{
	visit->sum += *key * *value;
	(*value)++;
	visit->seen++;
	return visit->seen == visit->stop;
}

/* Deletes while it walks. */
static long visit_delete(struct bpf_map *map, __u32 *key, __u64 *value, struct visit *visit)
{
	visit->sum += *key;
	visit->seen++;
	if (*key & 1)
		bpf_map_delete_elem(map, key);
	return 0;
}

static long visit_guarded(struct bpf_map *map, __u32 *key, struct guarded *value,
			  struct visit *visit)
{
	bpf_spin_lock(&value->lock);
	value->sum += *key + 1;
	visit->sum += value->sum;
	bpf_spin_unlock(&value->lock);
	return 0;
}

static int fill(__u32 key, __u32 *number)
{
	__u64 value = *number + key;

	bpf_map_update_elem(&numbers, &key, &value, BPF_ANY);
	bpf_map_update_elem(&percpu_numbers, &key, &value, BPF_ANY);
	return 0;
}

/* Fills the hashes, then walks over everything; the first two walks end after number % 64. */
SEC("xdp")
int walks(struct xdp_md *ctx)
{
	struct parameters *p = parameters_of(ctx);
	struct visit visit;
	__u32 number;

	if (!p)
		return XDP_ABORTED;
	visit.sum = p->results[0];
	visit.seen = p->results[1];
	number = p->number;
	visit.stop = p->number % 64;
	bpf_loop(20, fill, &number, 0);
	p->results[0] = bpf_for_each_map_elem(&numbers, visit_number, &visit, p->flags);
	p->results[1] = bpf_for_each_map_elem(&counters, visit_number, &visit, 0);
	visit.stop = 0;
	p->results[2] = bpf_for_each_map_elem(&percpu_numbers, visit_number, &visit, 0);
	bpf_for_each_map_elem(&percpu_numbers, visit_delete, &visit, 0);
	p->results[2] += bpf_for_each_map_elem(&percpu_numbers, visit_number, &visit, 0) << 16;
	bpf_for_each_map_elem(&guarded, visit_guarded, &visit, 0);
	/* The order of a hash is its own: what was added up says something of whole walks only. */
	p->results[3] = p->number % 64 ? visit.seen : visit.sum;
	return XDP_PASS;
}

/* Both numbers of key 0 are always equal under its lock; counts when they are not. */
static __always_inline int count_pair(struct guarded *pair)
{
	int differ;

	if (!pair)
		return 0;
	bpf_spin_lock(&pair->lock);
	differ = pair->pad != (__u32)pair->sum;
	pair->pad++;
	pair->sum++;
	bpf_spin_unlock(&pair->lock);
	return differ;
}

SEC("xdp")
int pairs(struct xdp_md *ctx)
{
	__u32 zero = 0;

	if (count_pair(bpf_map_lookup_elem(&guarded, &zero)) ||
	    count_pair(bpf_map_lookup_elem(&guarded_hash, &zero)))
		return XDP_DROP;
	return XDP_PASS;
}

char _license[] SEC("license") = "Dual BSD/GPL";
