/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The chained hash table: readers take no lock, writers one of a set of short spin locks chosen by
 * the bucket.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "hash_table.h"
#include "spin.h"

#define MAX_ENTRIES (1u << 30)	/* element numbers stay below XDPVM_LINK_END */
#define MAX_ELEM_BYTES (4u << 20)	/* Linux: KMALLOC_MAX_SIZE */
#define MAX_LOCKS 256u
#define MIN_SPARE 64u
#define MAX_SPARE 8192u
#define EVICT_SCAN 128	/* elements looked at for one that was not used lately */

int
xdpvm_hash_check(struct xdpvm_map *map, uint32_t flags_allowed)
{
	if (map->key_size == 0 || map->value_size == 0 || map->max_entries == 0)
		return xdpvm_fail(map->object, -EINVAL,
				  "hash %s: key size %u, value size %u, %u entries; each must be > 0",
				  map->name, map->key_size, map->value_size, map->max_entries);
	if ((uint64_t)map->key_size + map->value_size >= MAX_ELEM_BYTES ||
	    map->max_entries > MAX_ENTRIES)
		return xdpvm_fail(map->object, -E2BIG,
				  "hash %s: %u entries of %u + %u bytes; at most %u entries of %u bytes",
				  map->name, map->max_entries, map->key_size, map->value_size,
				  MAX_ENTRIES, MAX_ELEM_BYTES);
	return xdpvm_map_check_flags(map, flags_allowed);
}

static uint32_t
power_of_two(uint32_t n)
{
	return n <= 1 ? 1 : 1u << (32 - __builtin_clz(n - 1));
}

static void *
memory_get(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);

	return memory == MAP_FAILED ? NULL : memory;
}

static void
secret_set(struct xdpvm_map *map)
{
	if (map->flags & BPF_F_ZERO_SEED ||
	    getrandom(map->secret, sizeof(map->secret), 0) != sizeof(map->secret))
		memset(map->secret, 0, sizeof(map->secret));
	/* With both zero or even the products would lose the low bits. */
	map->secret[0] |= 1;
	map->secret[1] |= 0x9e3779b97f4a7c15;	/* 2^64 / golden ratio */
}

static void
layout_set(struct xdpvm_map *map, uint32_t value_size)
{
	map->value_offset = sizeof(struct xdpvm_hash_elem) + ((map->key_size + 7) & ~7u);
	map->elem_size = map->value_offset + ((value_size + 7) & ~7u);
	map->bucket_mask = power_of_two(map->max_entries) * 2ul - 1;
	secret_set(map);
}

static int
table_alloc(struct xdpvm_map *map, struct xdpvm_hash *table)
{
	uint32_t spare = map->max_entries / 2;
	uint32_t n_elems;

	spare = spare < MIN_SPARE ? MIN_SPARE : spare > MAX_SPARE ? MAX_SPARE : spare;
	n_elems = map->max_entries + spare;
	if (xdpvm_hash_pool_init(&table->pool, n_elems) != 0)
		return -ENOMEM;
	table->n_locks = map->bucket_mask < MAX_LOCKS ? map->bucket_mask + 1 : MAX_LOCKS;
	table->locks = calloc(table->n_locks, XDPVM_CACHE_LINE);
	table->elems_bytes = (size_t)n_elems * map->elem_size;
	table->buckets_bytes = (map->bucket_mask + 1) * sizeof(*map->buckets);
	map->base = memory_get(table->elems_bytes);
	map->buckets = memory_get(table->buckets_bytes);
	if (table->locks == NULL || map->base == NULL || map->buckets == NULL)
		return -ENOMEM;
	for (uint64_t i = 0; i <= map->bucket_mask; i++)
		map->buckets[i] = XDPVM_LINK_END | (uint32_t)i;
	return 0;
}

int
xdpvm_hash_init(struct xdpvm_map *map, uint32_t value_size)
{
	struct xdpvm_hash *table = calloc(1, sizeof(*table));

	map->private = table;
	layout_set(map, value_size);
	if (table != NULL && table_alloc(map, table) == 0)
		return 0;
	xdpvm_hash_fini(map);
	return xdpvm_fail(map->object, -ENOMEM, "hash %s: no memory for %u elements of %u bytes",
			  map->name, map->max_entries, map->elem_size);
}

void
xdpvm_hash_fini(struct xdpvm_map *map)
{
	struct xdpvm_hash *table = map->private;

	if (table == NULL)
		return;
	if (map->base != NULL)
		munmap(map->base, table->elems_bytes);
	if (map->buckets != NULL)
		munmap(map->buckets, table->buckets_bytes);
	xdpvm_hash_pool_fini(&table->pool);
	free(table->locks);
	free(table);
	map->base = NULL;
	map->buckets = NULL;
	map->private = NULL;
}

uint64_t
xdpvm_hash(const struct xdpvm_map *map, const void *key)
{
	const uint8_t *at = key;
	uint64_t hash = map->secret[0];
	uint64_t pair[2];

	for (uint32_t left = map->key_size; left > 0;) {
		uint32_t n = left < sizeof(pair) ? left : sizeof(pair);

		pair[0] = 0;
		pair[1] = 0;
		memcpy(pair, at, n);
		hash = xdpvm_hash_fold(pair[0] ^ hash, pair[1] ^ map->secret[1]);
		at += n;
		left -= n;
	}
	return hash;
}

/* A reader may look at an element that is being given to another key; it notices later. */
static bool
key_equal(const uint8_t *shared, const uint8_t *key, uint32_t size)
{
	uint64_t word;

	for (; size >= sizeof(word); size -= sizeof(word)) {
		memcpy(&word, key, sizeof(word));
		if (__atomic_load_n((const uint64_t *)(const void *)shared, __ATOMIC_RELAXED) != word)
			return false;
		shared += sizeof(word);
		key += sizeof(word);
	}
	for (uint32_t i = 0; i < size; i++)
		if (__atomic_load_n(&shared[i], __ATOMIC_RELAXED) != key[i])
			return false;
	return true;
}

static bool
elem_matches(const struct xdpvm_map *map, const struct xdpvm_hash_elem *elem, uint64_t hash,
	     const void *key)
{
	return __atomic_load_n(&elem->hash, __ATOMIC_RELAXED) == hash &&
	       key_equal(elem->key, key, map->key_size);
}

static struct xdpvm_hash_elem *
find(const struct xdpvm_map *map, const void *key, uint64_t hash)
{
	uint32_t bucket = hash & map->bucket_mask;
	struct xdpvm_hash_elem *elem;
	uint32_t link;

	do {
		link = __atomic_load_n(&map->buckets[bucket], __ATOMIC_ACQUIRE);
		while (!(link & XDPVM_LINK_END)) {
			elem = xdpvm_hash_elem_at(map, link);
			if (elem_matches(map, elem, hash, key))
				return elem;
			link = __atomic_load_n(&elem->next, __ATOMIC_ACQUIRE);
		}
	} while (link != (XDPVM_LINK_END | bucket));
	return NULL;
}

struct xdpvm_hash_elem *
xdpvm_hash_find(const struct xdpvm_map *map, const void *key)
{
	return find(map, key, xdpvm_hash(map, key));
}

static uint32_t *
bucket_lock(const struct xdpvm_map *map, uint64_t hash)
{
	const struct xdpvm_hash *table = map->private;
	size_t i = hash & map->bucket_mask & (table->n_locks - 1);

	return (uint32_t *)(table->locks + i * XDPVM_CACHE_LINE);
}

/* With the bucket locked: the link that leads to the key's element, or NULL. */
static uint32_t *
find_link(const struct xdpvm_map *map, const void *key, uint64_t hash)
{
	uint32_t *link = &map->buckets[hash & map->bucket_mask];

	while (!(*link & XDPVM_LINK_END)) {
		struct xdpvm_hash_elem *elem = xdpvm_hash_elem_at(map, *link);

		if (elem_matches(map, elem, hash, key))
			return link;
		link = &elem->next;
	}
	return NULL;
}

/* With the bucket locked: takes the element that link leads to out of its chain. */
static void
unlink_elem(struct xdpvm_map *map, uint32_t *link)
{
	struct xdpvm_hash *table = map->private;
	uint32_t index = *link;

	__atomic_store_n(link, xdpvm_hash_elem_at(map, index)->next, __ATOMIC_RELEASE);
	__atomic_fetch_sub(&table->count, 1, __ATOMIC_RELAXED);
	xdpvm_hash_pool_put(&table->pool, index);
}

/* Unlinks element index if it is in the table. */
static bool
evict_elem(struct xdpvm_map *map, uint32_t index)
{
	struct xdpvm_hash_elem *elem = xdpvm_hash_elem_at(map, index);
	uint64_t hash = __atomic_load_n(&elem->hash, __ATOMIC_RELAXED);
	uint32_t *lock = bucket_lock(map, hash);
	uint32_t *link = &map->buckets[hash & map->bucket_mask];

	xdpvm_spin_lock(lock);
	while (!(*link & XDPVM_LINK_END) && *link != index)
		link = &xdpvm_hash_elem_at(map, *link)->next;
	if (*link != index) {
		xdpvm_spin_unlock(lock);
		return false;
	}
	unlink_elem(map, link);
	xdpvm_spin_unlock(lock);
	return true;
}

/*
 * Second chance: the hand goes round the elements, spares those that a program looked up since it
 * came by, and takes the first other one. When all it meets are in use it takes one nevertheless,
 * as Linux does, so that an insertion has a bounded cost.
 */
static bool
evict(struct xdpvm_map *map)
{
	struct xdpvm_hash *table = map->private;
	unsigned int scanned = 0;

	for (uint32_t tries = 0; tries < 2 * table->pool.size; tries++) {
		uint32_t index = __atomic_fetch_add(&table->hand, 1, __ATOMIC_RELAXED) %
				 table->pool.size;
		struct xdpvm_hash_elem *elem = xdpvm_hash_elem_at(map, index);

		if (__atomic_load_n(&elem->referenced, __ATOMIC_RELAXED) != 0 &&
		    ++scanned < EVICT_SCAN)
			__atomic_store_n(&elem->referenced, 0, __ATOMIC_RELAXED);
		else if (evict_elem(map, index))
			return true;
	}
	return false;
}

/* Counts one element more, if the map may have it. */
static long
reserve(struct xdpvm_map *map, const struct xdpvm_hash_kind *kind)
{
	struct xdpvm_hash *table = map->private;

	while (__atomic_fetch_add(&table->count, 1, __ATOMIC_RELAXED) >= map->max_entries) {
		__atomic_fetch_sub(&table->count, 1, __ATOMIC_RELAXED);
		if (!kind->evicts)
			return -E2BIG;
		if (!evict(map))
			return -ENOMEM;
	}
	return 0;
}

static void
unreserve(struct xdpvm_map *map)
{
	struct xdpvm_hash *table = map->private;

	__atomic_fetch_sub(&table->count, 1, __ATOMIC_RELAXED);
}

/* What a writer knows about the key it writes. */
struct request {
	const struct xdpvm_hash_kind *kind;
	const void *key;
	const void *value;
	uint64_t hash;
	uint64_t flags;
	uint32_t cpu;
	bool reserved;	/* an element more is counted already */
};

static void
elem_fill(struct xdpvm_map *map, uint32_t index, const struct request *request, uint32_t next)
{
	struct xdpvm_hash_elem *elem = xdpvm_hash_elem_at(map, index);

	__atomic_store_n(&elem->next, next, __ATOMIC_RELAXED);
	__atomic_store_n(&elem->referenced, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&elem->hash, request->hash, __ATOMIC_RELAXED);
	xdpvm_value_store(elem->key, request->key, map->key_size);
	request->kind->fill(map, index, request->value, true, request->cpu);
}

static long
replace(struct xdpvm_map *map, const struct request *request, uint32_t *link)
{
	struct xdpvm_hash *table = map->private;
	uint32_t old = *link;
	uint32_t index;

	if (request->flags == BPF_NOEXIST)
		return -EEXIST;
	if (request->kind->in_place) {
		request->kind->fill(map, old, request->value, false, request->cpu);
		return 0;
	}
	if (!xdpvm_hash_pool_get(&table->pool, &index))
		return -ENOMEM;
	elem_fill(map, index, request, xdpvm_hash_elem_at(map, old)->next);
	__atomic_store_n(link, index, __ATOMIC_RELEASE);
	xdpvm_hash_pool_put(&table->pool, old);
	return 0;
}

static long
insert(struct xdpvm_map *map, struct request *request)
{
	struct xdpvm_hash *table = map->private;
	uint32_t *bucket = &map->buckets[request->hash & map->bucket_mask];
	uint32_t index;
	long ret;

	if (request->flags == BPF_EXIST)
		return -ENOENT;
	if (!request->reserved) {
		if (request->kind->evicts)
			return -EAGAIN;	/* room is made without this lock */
		ret = reserve(map, request->kind);
		if (ret != 0)
			return ret;
		request->reserved = true;
	}
	if (!xdpvm_hash_pool_get(&table->pool, &index))
		return -ENOMEM;
	elem_fill(map, index, request, *bucket);
	__atomic_store_n(bucket, index, __ATOMIC_RELEASE);
	request->reserved = false;	/* it is in the table now */
	return 0;
}

static long
write_locked(struct xdpvm_map *map, struct request *request)
{
	uint32_t *lock = bucket_lock(map, request->hash);
	uint32_t *link;
	long ret;

	xdpvm_spin_lock(lock);
	link = find_link(map, request->key, request->hash);
	ret = link != NULL ? replace(map, request, link) : insert(map, request);
	xdpvm_spin_unlock(lock);
	if (request->reserved) {
		unreserve(map);
		request->reserved = false;
	}
	return ret;
}

long
xdpvm_hash_update(struct xdpvm_map *map, const struct xdpvm_hash_kind *kind, const void *key,
		  const void *value, uint64_t flags, uint32_t cpu)
{
	struct request request = {
		.kind = kind,
		.key = key,
		.value = value,
		.hash = xdpvm_hash(map, key),
		.flags = flags,
		.cpu = cpu,
	};
	long ret;

	if (flags > BPF_EXIST)
		return -EINVAL;
	while ((ret = write_locked(map, &request)) == -EAGAIN) {
		ret = reserve(map, kind);
		if (ret != 0)
			return ret;
		request.reserved = true;
	}
	return ret;
}

int
xdpvm_hash_visit(struct xdpvm_map *map, const void *key, bool remove,
		 void (*visit)(struct xdpvm_map *map, uint32_t index, void *arg), void *arg)
{
	uint64_t hash = xdpvm_hash(map, key);
	uint32_t *lock = bucket_lock(map, hash);
	uint32_t *link;

	xdpvm_spin_lock(lock);
	link = find_link(map, key, hash);
	if (link != NULL && visit != NULL)
		visit(map, *link, arg);
	if (link != NULL && remove)
		unlink_elem(map, link);
	xdpvm_spin_unlock(lock);
	return link != NULL ? 0 : -ENOENT;
}

long
xdpvm_hash_delete(struct xdpvm_map *map, const void *key)
{
	return xdpvm_hash_visit(map, key, true, NULL, NULL);
}

int
xdpvm_hash_remove(struct xdpvm_map *map, const void *key)
{
	return xdpvm_hash_visit(map, key, true, NULL, NULL);
}

/* Copies the key that follows key in its chain, or the first one when key is NULL. */
static int
next_in_bucket(struct xdpvm_map *map, uint64_t bucket, const void *key, uint64_t hash,
	       void *next_key)
{
	uint32_t *lock = bucket_lock(map, bucket);
	uint32_t *link = &map->buckets[bucket];
	int ret = -ENOENT;

	xdpvm_spin_lock(lock);
	if (key != NULL) {
		link = find_link(map, key, hash);
		link = link != NULL ? &xdpvm_hash_elem_at(map, *link)->next : NULL;
	}
	if (link == NULL) {
		ret = -ESRCH;
	} else if (!(*link & XDPVM_LINK_END)) {
		memcpy(next_key, xdpvm_hash_elem_at(map, *link)->key, map->key_size);
		ret = 0;
	}
	xdpvm_spin_unlock(lock);
	return ret;
}

int
xdpvm_hash_next_key(struct xdpvm_map *map, const void *key, void *next_key)
{
	uint64_t bucket = 0, hash;
	int ret;

	if (key != NULL) {
		hash = xdpvm_hash(map, key);
		ret = next_in_bucket(map, hash & map->bucket_mask, key, hash, next_key);
		if (ret == 0)
			return 0;
		/* A key that is gone starts the walk again, as in Linux. */
		bucket = ret == -ESRCH ? 0 : (hash & map->bucket_mask) + 1;
	}
	for (; bucket <= map->bucket_mask; bucket++) {
		if (__atomic_load_n(&map->buckets[bucket], __ATOMIC_RELAXED) & XDPVM_LINK_END)
			continue;
		if (next_in_bucket(map, bucket, NULL, 0, next_key) == 0)
			return 0;
	}
	return -ENOENT;
}
