/* SPDX-License-Identifier: BSD-3-Clause */
/* A program a map; each does what the packet asks for and leaves the outcome there. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#define ENTRIES 400	/* as many as there are keys */

enum operation {
	UPDATE,
	DELETE,
	LOOKUP,
	ADD,	/* through the pointer that a lookup gives */
};

struct request {
	__u32 operation;
	__u32 number;	/* of the key */
	__u64 value;
	__s64 result;
};

struct long_key {
	__u64 high;
	__u32 low;
	__u32 number;
};

struct prefix {
	__u32 length;
	__u32 number;
};

#define RACE_MAP(name, kind, flags, key_type) \
	struct { \
		__uint(type, kind); \
		__uint(max_entries, ENTRIES); \
		__uint(map_flags, flags); \
		__type(key, key_type); \
		__type(value, __u64); \
	} name##_map SEC(".maps")

RACE_MAP(hash, BPF_MAP_TYPE_HASH, 0, __u32);
RACE_MAP(hash_long, BPF_MAP_TYPE_HASH, 0, struct long_key);
RACE_MAP(percpu_hash, BPF_MAP_TYPE_PERCPU_HASH, 0, __u32);
RACE_MAP(lru_hash, BPF_MAP_TYPE_LRU_HASH, 0, __u32);
RACE_MAP(array, BPF_MAP_TYPE_ARRAY, 0, __u32);
RACE_MAP(percpu_array, BPF_MAP_TYPE_PERCPU_ARRAY, 0, __u32);
RACE_MAP(lpm, BPF_MAP_TYPE_LPM_TRIE, BPF_F_NO_PREALLOC, struct prefix);

static __always_inline void serve(void *map, const void *key, struct request *request)
{
	__u64 value = request->value, *found;

	switch (request->operation) {
	case UPDATE:
		request->result = bpf_map_update_elem(map, key, &value, BPF_ANY);
		break;
	case DELETE:
		request->result = bpf_map_delete_elem(map, key);
		break;
	default:
		found = bpf_map_lookup_elem(map, key);
		request->result = found != NULL;
		if (!found)
			break;
		if (request->operation == ADD)
			*found += value;
		request->value = *found;
	}
}

#define RACE(name, key_type, ...) \
	SEC("xdp") \
	int name(struct xdp_md *ctx) \
	{ \
		struct request *request = (void *)(long)ctx->data; \
		\
		if ((void *)(request + 1) > (void *)(long)ctx->data_end) \
			return XDP_ABORTED; \
		key_type key = __VA_ARGS__; \
		serve(&name##_map, &key, request); \
		return XDP_PASS; \
	}

RACE(hash, __u32, request->number)
RACE(hash_long, struct long_key, { request->number * 7, 1, request->number })
RACE(percpu_hash, __u32, request->number)
RACE(lru_hash, __u32, request->number)
RACE(array, __u32, request->number)
RACE(percpu_array, __u32, request->number)
RACE(lpm, struct prefix, { 32, request->number })

char _license[] SEC("license") = "Dual BSD/GPL";
