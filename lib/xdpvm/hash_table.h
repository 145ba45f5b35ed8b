/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table behind every hash-shaped map; struct xdpvm_hash_elem in map.h has the layout and the
 * lookup rule. The kinds of map differ in where a value lives and how it is filled.
 */
#ifndef XDPVM_HASH_TABLE_H
#define XDPVM_HASH_TABLE_H

#include "hash_pool.h"
#include "map.h"

struct xdpvm_hash {
	struct xdpvm_hash_pool pool;
	uint32_t count;		/* live elements, at most max_entries */
	uint32_t hand;		/* LRU: where the search for a victim goes on */
	uint32_t n_locks;	/* power of two; lock i serves buckets with i in their low bits */
	uint8_t *locks;		/* one a cache line */
	size_t elems_bytes;
	size_t buckets_bytes;
};

/*
 * How a kind of map puts a value into element index. fresh: the element was free until now, else
 * it is in use and kept (in_place). cpu: the running thread's, XDPVM_MAX_THREADS: value holds
 * the copies of all.
 */
struct xdpvm_hash_kind {
	void (*fill)(struct xdpvm_map *map, uint32_t index, const void *value, bool fresh,
		     uint32_t cpu);
	bool in_place;	/* an update of a present key overwrites */
	bool evicts;	/* a full map makes room */
};

/* Sets the map's layout fields but values; value_size bytes inside the element (0: elsewhere). */
int xdpvm_hash_init(struct xdpvm_map *map, uint32_t value_size);
void xdpvm_hash_fini(struct xdpvm_map *map);

/* Checks of definition and flags that Linux makes for HASH and its relatives. */
int xdpvm_hash_check(struct xdpvm_map *map, uint32_t flags_allowed);

uint64_t xdpvm_hash(const struct xdpvm_map *map, const void *key);

static inline struct xdpvm_hash_elem *
xdpvm_hash_elem_at(const struct xdpvm_map *map, uint32_t index)
{
	return (struct xdpvm_hash_elem *)(map->base + (size_t)index * map->elem_size);
}

static inline uint32_t
xdpvm_hash_index(const struct xdpvm_map *map, const struct xdpvm_hash_elem *elem)
{
	return ((const uint8_t *)elem - map->base) / map->elem_size;
}

/* A program looked the element up; written only when that changes something. */
static inline void
xdpvm_hash_mark(struct xdpvm_hash_elem *elem)
{
	if (__atomic_load_n(&elem->referenced, __ATOMIC_RELAXED) == 0)
		__atomic_store_n(&elem->referenced, 1, __ATOMIC_RELAXED);
}

/* No lock; NULL when there is no such key. */
struct xdpvm_hash_elem *xdpvm_hash_find(const struct xdpvm_map *map, const void *key);

long xdpvm_hash_update(struct xdpvm_map *map, const struct xdpvm_hash_kind *kind, const void *key,
		       const void *value, uint64_t flags, uint32_t cpu);
long xdpvm_hash_delete(struct xdpvm_map *map, const void *key);

/*
 * Calls visit with the element of key, which stays in the table during the call; with remove the
 * element leaves the table after it. -ENOENT. A NULL visit is allowed.
 */
int xdpvm_hash_visit(struct xdpvm_map *map, const void *key, bool remove,
		     void (*visit)(struct xdpvm_map *map, uint32_t index, void *arg), void *arg);

int xdpvm_hash_next_key(struct xdpvm_map *map, const void *key, void *next_key);
int xdpvm_hash_remove(struct xdpvm_map *map, const void *key);

#endif /* XDPVM_HASH_TABLE_H */
