/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps of every type that is kept in step with the kernel, and programs that write to some. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#define KEYED_MAP(name, kind, flags, key_type, n) \
	struct { \
		__uint(type, kind); \
		__uint(max_entries, n); \
		__uint(map_flags, flags); \
		__type(key, key_type); \
		__type(value, struct value); \
	} name SEC(".maps")

struct value {
	__u64 hits;
	__u32 setting;
};

struct prefix {
	__u32 length;
	__u32 address;
};

KEYED_MAP(hash, BPF_MAP_TYPE_HASH, 0, __u32, 200);
KEYED_MAP(percpu_hash, BPF_MAP_TYPE_PERCPU_HASH, 0, __u32, 200);
/* Room for what each CPU keeps free, so that the kernel never evicts here. */
KEYED_MAP(lru_hash, BPF_MAP_TYPE_LRU_HASH, 0, __u32, 20000);
KEYED_MAP(lru_percpu_hash, BPF_MAP_TYPE_LRU_PERCPU_HASH, 0, __u32, 20000);
KEYED_MAP(array, BPF_MAP_TYPE_ARRAY, 0, __u32, 50);
KEYED_MAP(percpu_array, BPF_MAP_TYPE_PERCPU_ARRAY, 0, __u32, 50);
KEYED_MAP(lpm, BPF_MAP_TYPE_LPM_TRIE, BPF_F_NO_PREALLOC, struct prefix, 200);

KEYED_MAP(small_lru, BPF_MAP_TYPE_LRU_HASH, 0, __u32, 300);

struct locked_value {
	struct bpf_spin_lock lock;
	__u32 setting;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 3);
	__type(key, __u32);
	__type(value, struct locked_value);
} locked SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP_HASH);
	__uint(max_entries, 10);
	__type(key, __u32);
	__type(value, __u32);
} devices SEC(".maps");

__u32 wanted = 7;	/* a global: its memory is shared */

static __always_inline void count(void *map, const void *key)
{
	struct value *value = bpf_map_lookup_elem(map, key);

	if (value)
		value->hits++;
}

/* Counts where there is an entry for key 7 (or the prefix of it). */
SEC("xdp")
int counter(struct xdp_md *ctx)
{
	struct prefix prefix = { .length = 32, .address = wanted };
	__u32 key = wanted;

	count(&hash, &key);
	count(&percpu_hash, &key);
	count(&lru_hash, &key);
	count(&lru_percpu_hash, &key);
	count(&array, &key);
	count(&percpu_array, &key);
	count(&lpm, &prefix);
	return bpf_redirect_map(&devices, key, XDP_PASS);
}

char _license[] SEC("license") = "Dual BSD/GPL";
