/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Maps inside the library: what a map type implements, what every map has, and the memory layouts
 * that the JIT knows by heart and looks up without a call.
 *
 * A map type is one file map_<type>.c with one struct xdpvm_map_ops, entered in the table in map.c.
 * Program-side operations run on registered threads, several at once, beside control-side ones;
 * memory that a program may still hold a pointer to is freed only after xdpvm_synchronize().
 */
#ifndef XDPVM_MAP_INTERNAL_H
#define XDPVM_MAP_INTERNAL_H

#include <pthread.h>

#include "internal.h"

/*
 * How elements lie in memory. Everything but XDPVM_LAYOUT_OTHER is a contract with the JIT, which
 * reads the map's fields when it compiles: they never change after init.
 */
enum xdpvm_layout {
	XDPVM_LAYOUT_OTHER,		/* by call only */
	/* element i at base + i * elem_size, for i < max_entries */
	XDPVM_LAYOUT_ARRAY,
	/* element i at base + i * elem_size + buff->percpu_offset */
	XDPVM_LAYOUT_PERCPU_ARRAY,
	/* struct xdpvm_hash_elem i at base + i * elem_size, its value at value_offset in it */
	XDPVM_LAYOUT_HASH,
	/* the same without value; value at values + i * value_stride + buff->percpu_offset */
	XDPVM_LAYOUT_PERCPU_HASH,
};

/*
 * Chained hash over elements that never move. An update of a present key links a new element in
 * the old one's place with a single store, so a reader sees the old or the new value, whole, and
 * never a missing key (Linux's promise for HASH; PERCPU_HASH overwrites one copy in place, also as
 * Linux). The memory of a deleted or replaced element may be given to another key without a grace
 * period, as Linux does with preallocated elements; here the one that has been free for longest is
 * taken, and there are spare ones.
 *
 * Lookup: h = xdpvm_hash(); link = buckets[h & bucket_mask]; while !(link & XDPVM_LINK_END):
 * element number link has hash h and an equal key: found; else link = its next. The end of a chain
 * carries the bucket's number: link == (XDPVM_LINK_END | (h & bucket_mask)) is "no such key"; any
 * other end means that an element under the reader went to another chain: start again.
 * A writer fills hash, key and value before it publishes the link with release order.
 */
struct xdpvm_hash_elem {
	uint32_t next;
	uint8_t referenced;	/* LRU: set to 1 by a program's lookup when it is 0 */
	uint8_t pad[3];
	uint64_t hash;
	uint8_t key[];		/* key_size, zero-padded to 8; then the value (HASH) */
};

#define XDPVM_LINK_END 0x80000000u

/*
 * The hash: folded 64x64 -> 128 bit products of the key's 8-byte little-endian words, keyed
 * with a random secret per map, so that addresses picked by a sender do not pile up. (A CRC is
 * linear: its collisions are the same under every seed.) The JIT has the words in registers anyway.
 *
 * words: key_size rounded up to 8, the tail zero. h = secret[0]; for each pair (a, b):
 * h = fold((a ^ h) * (b ^ secret[1])); a last word without partner has b = 0.
 */
static inline uint64_t
xdpvm_hash_fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

struct xdpvm_map_ops {
	/*
	 * Checks type, sizes and flags as the kernel's map_alloc_check does and allocates.
	 * 0 or a negative errno after xdpvm_log().
	 */
	int (*init)(struct xdpvm_map *map);
	void (*fini)(struct xdpvm_map *map);

	/* Program side: results and errors are the kernel helpers'. NULL: -EOPNOTSUPP. */
	void *(*lookup)(struct xdpvm_map *map, const void *key, struct xdpvm_buff *buff);
	long (*update)(struct xdpvm_map *map, const void *key, const void *value, uint64_t flags,
		       struct xdpvm_buff *buff);
	long (*delete)(struct xdpvm_map *map, const void *key);
	void *(*lookup_percpu)(struct xdpvm_map *map, const void *key, uint32_t cpu);
	long (*push)(struct xdpvm_map *map, const void *value, uint64_t flags);
	long (*pop)(struct xdpvm_map *map, void *value);
	long (*peek)(struct xdpvm_map *map, void *value);
	long (*redirect)(struct xdpvm_map *map, uint64_t key, uint64_t flags,
			 struct xdpvm_buff *buff);

	/* Control side, any thread: values as xdpvm_map_value_bytes() counts them. */
	int (*copy_out)(struct xdpvm_map *map, const void *key, void *value);
	int (*copy_in)(struct xdpvm_map *map, const void *key, const void *value, uint64_t flags);
	int (*remove)(struct xdpvm_map *map, const void *key);
	int (*take)(struct xdpvm_map *map, const void *key, void *value);
	int (*put_map)(struct xdpvm_map *map, const void *key, struct xdpvm_map *inner,
		       uint64_t flags);	/* maps of maps */
	int (*next_key)(struct xdpvm_map *map, const void *key, void *next_key);
	/* Per-CPU types: one copy of a key that is there. -ENOENT. */
	int (*copy_out_cpu)(struct xdpvm_map *map, const void *key, void *value, uint32_t cpu);
	int (*copy_in_cpu)(struct xdpvm_map *map, const void *key, const void *value, uint32_t cpu);
};

struct xdpvm_map {
	/* What the JIT reads; see enum xdpvm_layout. */
	enum xdpvm_layout layout;
	uint32_t elem_size;	/* bytes from one element to the next */
	uint8_t *base;
	uint32_t *buckets;	/* hashes */
	uint8_t *values;	/* PERCPU_HASH: before adding percpu_offset */
	uint32_t value_stride;	/* PERCPU_HASH */
	uint32_t value_offset;	/* HASH: of the value inside its element */
	uint64_t bucket_mask;	/* hashes: number of buckets - 1 */
	uint64_t secret[2];	/* hashes */
	bool mark_referenced;	/* hashes: a lookup sets elem->referenced */

	/* Definition, constant after open (max_entries: after load). */
	enum bpf_map_type type;
	uint32_t key_size;
	uint32_t value_size;
	uint32_t max_entries;
	uint32_t flags;
	uint32_t lock_end;	/* of the struct bpf_spin_lock in a value; 0: there is none */
	char name[64];
	const struct xdpvm_map_ops *ops;
	struct xdpvm_map *inner_template;	/* maps of maps: what an inner map must equal */

	struct xdpvm_object *object;	/* for messages; NULL for a map of its own */
	struct bpf_map *bpf;		/* libbpf's, owned by the object */
	int fd;				/* the kernel's map, or -1 */
	bool pin_created;	/* by this load: it was not pinned before */
	bool shared_memory;		/* base is the kernel map's own memory (BPF_F_MMAPABLE) */
	bool jit_callers;		/* PROG_ARRAY: native code makes tail calls through it */
	bool frozen;			/* read-only from both sides after load: .rodata */

	pthread_mutex_t lock;	/* serialises writers that need it */
	void *private;		/* the type's own state */
};

/* The operations of a type, or NULL when it is not supported. */
const struct xdpvm_map_ops *xdpvm_map_ops_of(enum bpf_map_type type);

/* Sets lock and defaults, then ops->init(). The definition must be filled in. */
int xdpvm_map_init(struct xdpvm_map *map);
void xdpvm_map_fini(struct xdpvm_map *map);

/* bpf_for_each_map_elem() on an array or a hash: elements visited or a negative errno. */
long xdpvm_map_for_each(struct xdpvm_map *map, uint64_t callback, uint64_t ctx, uint64_t flags,
			struct xdpvm_buff *buff);

bool xdpvm_map_is_percpu(enum bpf_map_type type);

/* Refuses flags that are not in allowed, and those that exclude each other: -EINVAL. */
int xdpvm_map_check_flags(const struct xdpvm_map *map, uint32_t allowed);

/* Flags that every type may have: access rights of control side and of programs. */
#define XDPVM_MAP_ACCESS_FLAGS (BPF_F_RDONLY | BPF_F_WRONLY | BPF_F_RDONLY_PROG | BPF_F_WRONLY_PROG)

/*
 * Values that other threads may be using are copied in words, so that a counter is never torn.
 * The shared side is 8-byte aligned.
 */
static inline void
xdpvm_value_store(void *shared, const void *value, uint32_t size)
{
	uint8_t *to = shared;
	const uint8_t *from = value;
	uint64_t word;

	for (; size >= sizeof(word); size -= sizeof(word)) {
		memcpy(&word, from, sizeof(word));
		__atomic_store_n((uint64_t *)(void *)to, word, __ATOMIC_RELAXED);
		to += sizeof(word);
		from += sizeof(word);
	}
	for (uint32_t i = 0; i < size; i++)
		__atomic_store_n(&to[i], from[i], __ATOMIC_RELAXED);
}

static inline void
xdpvm_value_load(void *value, const void *shared, uint32_t size)
{
	uint8_t *to = value;
	const uint8_t *from = shared;
	uint64_t word;

	for (; size >= sizeof(word); size -= sizeof(word)) {
		word = __atomic_load_n((const uint64_t *)(const void *)from, __ATOMIC_RELAXED);
		memcpy(to, &word, sizeof(word));
		to += sizeof(word);
		from += sizeof(word);
	}
	for (uint32_t i = 0; i < size; i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}

/*
 * The same for the value of a map that may have a struct bpf_spin_lock in it, which is left as it
 * is, and reads as zero. locked: under that lock (BPF_F_LOCK).
 */
void xdpvm_map_store(const struct xdpvm_map *map, void *shared, const void *value, bool locked);
void xdpvm_map_load(const struct xdpvm_map *map, void *value, const void *shared);

/* Update flags as the type's functions know them: BPF_F_LOCK off, *locked instead; or -EINVAL. */
int xdpvm_map_lock_flag(const struct xdpvm_map *map, uint64_t *flags, bool *locked);

/*
 * Per-CPU memory. As in Linux, one offset per thread serves all maps: the copy of thread t of what
 * xdpvm_percpu_alloc() returned lies at t * XDPVM_PERCPU_STRIDE from it. Zeroed, page-aligned.
 * NULL with errno ENOMEM when size bytes are not left of the stride.
 */
#define XDPVM_PERCPU_STRIDE (256ul << 20)
void *xdpvm_percpu_alloc(size_t size);
void xdpvm_percpu_free(void *memory);

static inline void *
xdpvm_percpu_ptr(const void *memory, uint32_t cpu)
{
	return (uint8_t *)(uintptr_t)memory + cpu * XDPVM_PERCPU_STRIDE;
}

/*
 * All copies of a per-CPU value at once, as the control side moves them: in memory each copy is
 * rounded up to 8 bytes. Copies of threads that never ran are zero and cost no memory.
 */
void xdpvm_percpu_store_all(void *memory, const void *values, uint32_t value_size);
void xdpvm_percpu_load_all(void *values, const void *memory, uint32_t value_size);

/* Sets the copy of cpu, and all others to zero. */
void xdpvm_percpu_store_first(void *memory, const void *value, uint32_t value_size, uint32_t cpu);

/* Refuses values larger than a per-CPU value of Linux: -E2BIG. */
int xdpvm_percpu_check(const struct xdpvm_map *map);

/* A copy for this CPU number may be written: from now on it is cleared with the others. */
void xdpvm_percpu_use(uint32_t cpu);

/* One above the highest number that was announced so; at least as high as any thread's. */
uint32_t xdpvm_percpu_limit(void);

#endif /* XDPVM_MAP_INTERNAL_H */
