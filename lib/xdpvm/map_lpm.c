/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LPM_TRIE: a binary trie with path compression over the bits of struct bpf_lpm_trie_key. Readers
 * take no lock. A node that only joins two others has no value ("joint"); nodes are numbered from
 * one, zero is none.
 *
 * Freed nodes are used again, oldest first, and a reader may still stand on one: it therefore
 * compares every node's bits itself, stops when a step does not lead to a longer prefix, and
 * starts again when so many nodes were taken in the meantime that one of its way may be among them.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "hash_pool.h"
#include "map.h"
#include "map_types.h"
#include "spin.h"

#define LPM_FLAGS (BPF_F_NO_PREALLOC | BPF_F_NUMA_NODE | XDPVM_MAP_ACCESS_FLAGS)
#define MAX_DATA 256u		/* bytes behind the length in a key; Linux */
#define MAX_ENTRIES (1u << 30)
#define MAX_VALUE (4u << 20)	/* bytes; Linux: KMALLOC_MAX_SIZE */
#define SPARE 1024u		/* nodes that are free at any time */

struct node {
	uint32_t child[2];
	uint32_t prefix;	/* bits */
	uint32_t joint;		/* no value here */
	uint8_t data[];		/* of the key, padded to 8; then the value */
};

struct trie {
	uint32_t lock;		/* writers */
	uint32_t root;
	uint32_t count;		/* nodes with a value */
	uint32_t taken;		/* nodes ever taken from the pool; wraps */
	uint32_t data_size;	/* bytes */
	uint32_t value_offset;
	uint32_t node_size;
	struct xdpvm_hash_pool pool;
	uint8_t *nodes;
	size_t nodes_bytes;
};

/* A key as the caller gives it. */
struct lpm_key {
	uint32_t prefix;
	const uint8_t *data;
};

static struct lpm_key
key_parse(const void *key)
{
	struct lpm_key parsed = { .data = (const uint8_t *)key + sizeof(parsed.prefix) };

	memcpy(&parsed.prefix, key, sizeof(parsed.prefix));
	return parsed;
}

static uint32_t
bit_of(const uint8_t *data, uint32_t bit)
{
	return data[bit / 8] >> (7 - bit % 8) & 1;
}

static struct node *
node_at(const struct trie *trie, uint32_t number)
{
	return (struct node *)(trie->nodes + (size_t)(number - 1) * trie->node_size);
}

static uint8_t *
node_value(const struct trie *trie, struct node *node)
{
	return (uint8_t *)node + trie->value_offset;
}

/* Bits that node and key have in common, at most either's prefix. */
static uint32_t
common_bits(const struct node *node, const struct lpm_key *key)
{
	uint32_t prefix = __atomic_load_n(&node->prefix, __ATOMIC_ACQUIRE);
	uint32_t limit = prefix < key->prefix ? prefix : key->prefix;
	uint32_t bits = 0;

	for (uint32_t i = 0; bits < limit; i++, bits += 8) {
		uint32_t difference = __atomic_load_n(&node->data[i], __ATOMIC_ACQUIRE) ^
				      key->data[i];

		if (difference != 0) {
			bits += __builtin_clz(difference) - 24;
			break;
		}
	}
	return bits < limit ? bits : limit;
}

static int
lpm_check(struct xdpvm_map *map)
{
	uint32_t data_size = map->key_size - sizeof(uint32_t);

	if (map->max_entries == 0 || map->max_entries > MAX_ENTRIES || map->value_size == 0 ||
	    map->value_size > MAX_VALUE || map->key_size <= sizeof(uint32_t) ||
	    data_size > MAX_DATA)
		return xdpvm_fail(map->object, -EINVAL,
				  "LPM trie %s: key size %u, value size %u, %u entries; needs 5 to "
				  "%u, 1 to %u, 1 to %u", map->name, map->key_size, map->value_size,
				  map->max_entries, MAX_DATA + 4, MAX_VALUE, MAX_ENTRIES);
	if (!(map->flags & BPF_F_NO_PREALLOC))
		return xdpvm_fail(map->object, -EINVAL, "LPM trie %s: needs BPF_F_NO_PREALLOC",
				  map->name);
	return xdpvm_map_check_flags(map, LPM_FLAGS);
}

static int
trie_alloc(struct xdpvm_map *map, struct trie *trie)
{
	uint32_t n_nodes = 2 * map->max_entries + SPARE;	/* n values need n - 1 joints */

	trie->data_size = map->key_size - sizeof(uint32_t);
	trie->value_offset = sizeof(struct node) + ((trie->data_size + 7) & ~7u);
	trie->node_size = trie->value_offset + ((map->value_size + 7) & ~7u);
	trie->nodes_bytes = (size_t)n_nodes * trie->node_size;
	if (xdpvm_hash_pool_init(&trie->pool, n_nodes) != 0)
		return -ENOMEM;
	trie->nodes = mmap(NULL, trie->nodes_bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (trie->nodes != MAP_FAILED)
		return 0;
	xdpvm_hash_pool_fini(&trie->pool);
	return -ENOMEM;
}

static int
lpm_init(struct xdpvm_map *map)
{
	struct trie *trie;
	int ret = lpm_check(map);

	if (ret != 0)
		return ret;
	trie = calloc(1, sizeof(*trie));
	if (trie == NULL || trie_alloc(map, trie) != 0) {
		free(trie);
		return xdpvm_fail(map->object, -ENOMEM, "LPM trie %s: no memory for %u prefixes",
				  map->name, map->max_entries);
	}
	map->private = trie;
	return 0;
}

static void
lpm_fini(struct xdpvm_map *map)
{
	struct trie *trie = map->private;

	munmap(trie->nodes, trie->nodes_bytes);
	xdpvm_hash_pool_fini(&trie->pool);
	free(trie);
}

static struct node *
walk(const struct trie *trie, const struct lpm_key *key)
{
	uint32_t number = __atomic_load_n(&trie->root, __ATOMIC_ACQUIRE);
	struct node *found = NULL, *node;
	int64_t longest = -1;
	uint32_t prefix;

	while (number != 0) {
		node = node_at(trie, number);
		prefix = __atomic_load_n(&node->prefix, __ATOMIC_ACQUIRE);
		if (prefix <= longest || common_bits(node, key) < prefix)
			break;
		longest = prefix;
		if (__atomic_load_n(&node->joint, __ATOMIC_ACQUIRE) == 0)
			found = node;
		if (prefix >= key->prefix)
			break;
		number = __atomic_load_n(&node->child[bit_of(key->data, prefix)],
					 __ATOMIC_ACQUIRE);
	}
	return found;
}

static struct node *
longest_match(const struct trie *trie, const struct lpm_key *key)
{
	uint32_t before, after;
	struct node *found;

	do {
		before = __atomic_load_n(&trie->taken, __ATOMIC_ACQUIRE);
		found = walk(trie, key);	/* loads with acquire order: after is read last */
		after = __atomic_load_n(&trie->taken, __ATOMIC_RELAXED);
	} while (after - before >= SPARE);
	return found;
}

static void *
lpm_lookup(struct xdpvm_map *map, const void *key, struct xdpvm_buff *buff)
{
	struct trie *trie = map->private;
	struct lpm_key wanted = key_parse(key);
	struct node *node;

	if (wanted.prefix > trie->data_size * 8)
		return NULL;
	node = longest_match(trie, &wanted);
	return node != NULL ? node_value(trie, node) : NULL;
}

static int
lpm_copy_out(struct xdpvm_map *map, const void *key, void *value)
{
	struct trie *trie = map->private;
	const void *found;

	xdpvm_spin_lock(&trie->lock);	/* keeps the node from being used again */
	found = lpm_lookup(map, key, NULL);
	if (found != NULL)
		xdpvm_value_load(value, found, map->value_size);
	xdpvm_spin_unlock(&trie->lock);
	return found != NULL ? 0 : -ENOENT;
}

static void
node_free(struct trie *trie, uint32_t number)
{
	xdpvm_hash_pool_put(&trie->pool, number - 1);
}

/* A node without children, not linked yet; 0 when there is none left. */
static uint32_t
node_new(struct trie *trie, const struct lpm_key *key, uint32_t prefix, bool joint)
{
	struct node *node;
	uint32_t number;

	if (!xdpvm_hash_pool_get(&trie->pool, &number))
		return 0;
	/* Seen before anything that changes in the node: see longest_match(). */
	__atomic_store_n(&trie->taken, trie->taken + 1, __ATOMIC_RELAXED);
	node = node_at(trie, ++number);
	__atomic_store_n(&node->child[0], 0, __ATOMIC_RELEASE);
	__atomic_store_n(&node->child[1], 0, __ATOMIC_RELEASE);
	__atomic_store_n(&node->prefix, prefix, __ATOMIC_RELEASE);
	__atomic_store_n(&node->joint, joint, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < trie->data_size; i++)
		__atomic_store_n(&node->data[i], key->data[i], __ATOMIC_RELEASE);
	return number;
}

static void
link_set(uint32_t *link, uint32_t number)
{
	__atomic_store_n(link, number, __ATOMIC_RELEASE);
}

/* The link where key is or would be; *common gets its bits in common with the node there. */
static uint32_t *
find_place(struct trie *trie, const struct lpm_key *key, uint32_t *common)
{
	uint32_t *link = &trie->root;

	while (*link != 0) {
		struct node *node = node_at(trie, *link);

		*common = common_bits(node, key);
		if (*common < node->prefix || node->prefix == key->prefix)
			break;
		link = &node->child[bit_of(key->data, node->prefix)];
	}
	return link;
}

/* Links a new node between link and the node that it leads to, which goes below it. */
static int
link_above(struct trie *trie, uint32_t *link, uint32_t number, const struct lpm_key *key,
	   uint32_t common)
{
	struct node *old = node_at(trie, *link);
	uint32_t side = bit_of(old->data, common);
	uint32_t joint;

	if (common == key->prefix) {
		link_set(&node_at(trie, number)->child[side], *link);
		link_set(link, number);
		return 0;
	}
	joint = node_new(trie, key, common, true);
	if (joint == 0)
		return -ENOMEM;
	link_set(&node_at(trie, joint)->child[side], *link);
	link_set(&node_at(trie, joint)->child[!side], number);
	link_set(link, joint);
	return 0;
}

/* What Linux answers before it looks for room. exists: key has a value already. */
static int
may_update(const struct xdpvm_map *map, const struct trie *trie, bool exists, uint64_t flags)
{
	if (exists)
		return flags == BPF_NOEXIST ? -EEXIST : 0;
	if (flags == BPF_EXIST)
		return -ENOENT;
	return trie->count == map->max_entries ? -ENOSPC : 0;
}

static int
insert_locked(struct xdpvm_map *map, struct trie *trie, const struct lpm_key *key,
	      const void *value, uint64_t flags)
{
	uint32_t common = 0, number;
	uint32_t *link = find_place(trie, key, &common);
	struct node *old = *link != 0 ? node_at(trie, *link) : NULL;
	bool same = old != NULL && old->prefix == key->prefix && common == key->prefix;
	bool exists = same && !old->joint;
	int ret = may_update(map, trie, exists, flags);

	if (ret != 0)
		return ret;
	number = node_new(trie, key, key->prefix, false);
	if (number == 0)
		return -ENOMEM;
	xdpvm_value_store(node_value(trie, node_at(trie, number)), value, map->value_size);
	if (same) {
		link_set(&node_at(trie, number)->child[0], old->child[0]);
		link_set(&node_at(trie, number)->child[1], old->child[1]);
		common = *link;
		link_set(link, number);
		node_free(trie, common);
	} else if (old != NULL) {
		ret = link_above(trie, link, number, key, common);
	} else {
		link_set(link, number);
	}
	if (ret != 0)
		node_free(trie, number);
	else
		trie->count += !exists;
	return ret;
}

static int
lpm_copy_in(struct xdpvm_map *map, const void *key, const void *value, uint64_t flags)
{
	struct trie *trie = map->private;
	struct lpm_key parsed = key_parse(key);
	int ret;

	if (flags > BPF_EXIST || parsed.prefix > trie->data_size * 8)
		return -EINVAL;
	xdpvm_spin_lock(&trie->lock);
	ret = insert_locked(map, trie, &parsed, value, flags);
	xdpvm_spin_unlock(&trie->lock);
	return ret;
}

static long
lpm_update(struct xdpvm_map *map, const void *key, const void *value, uint64_t flags,
	   struct xdpvm_buff *buff)
{
	return lpm_copy_in(map, key, value, flags);
}

/* Takes the node at link, whose parent is at parent_link (NULL: it is the root), out. */
static void
unlink_node(struct trie *trie, uint32_t *link, uint32_t *parent_link)
{
	uint32_t number = *link, parent_number;
	struct node *node = node_at(trie, number), *parent;

	if (node->child[0] != 0 && node->child[1] != 0) {
		__atomic_store_n(&node->joint, 1, __ATOMIC_RELAXED);
		return;
	}
	if (parent_link != NULL && node->child[0] == 0 && node->child[1] == 0 &&
	    node_at(trie, *parent_link)->joint) {
		parent_number = *parent_link;
		parent = node_at(trie, parent_number);
		link_set(parent_link, parent->child[link == &parent->child[0]]);
		node_free(trie, parent_number);
	} else {
		link_set(link, node->child[0] != 0 ? node->child[0] : node->child[1]);
	}
	node_free(trie, number);
}

static int
remove_locked(struct trie *trie, const struct lpm_key *key)
{
	uint32_t *link = &trie->root, *parent_link = NULL;
	struct node *node;

	for (;;) {
		if (*link == 0)
			return -ENOENT;
		node = node_at(trie, *link);
		if (common_bits(node, key) < node->prefix)
			return -ENOENT;
		if (node->prefix == key->prefix)
			break;
		parent_link = link;
		link = &node->child[bit_of(key->data, node->prefix)];
	}
	if (node->joint)
		return -ENOENT;
	unlink_node(trie, link, parent_link);
	trie->count--;
	return 0;
}

static int
lpm_remove(struct xdpvm_map *map, const void *key)
{
	struct trie *trie = map->private;
	struct lpm_key parsed = key_parse(key);
	int ret;

	if (parsed.prefix > trie->data_size * 8)
		return -EINVAL;
	xdpvm_spin_lock(&trie->lock);
	ret = remove_locked(trie, &parsed);
	xdpvm_spin_unlock(&trie->lock);
	return ret;
}

static long
lpm_delete(struct xdpvm_map *map, const void *key)
{
	return lpm_remove(map, key);
}

/* Appends to path the way from its last node down to the first one of a walk. */
static uint32_t
path_descend(const struct trie *trie, uint32_t *path, uint32_t depth)
{
	const struct node *node = node_at(trie, path[depth - 1]);

	while (node->child[0] != 0 || node->child[1] != 0) {
		path[depth] = node->child[0] != 0 ? node->child[0] : node->child[1];
		node = node_at(trie, path[depth++]);
	}
	return depth;
}

/* Fills path with the nodes from the root to key's; 0 when key has no value. */
static uint32_t
path_to(const struct trie *trie, uint32_t *path, const struct lpm_key *key)
{
	uint32_t depth = 0, number = trie->root;

	while (number != 0) {
		const struct node *node = node_at(trie, number);

		path[depth++] = number;
		if (common_bits(node, key) < node->prefix)
			return 0;
		if (node->prefix == key->prefix)
			return node->joint ? 0 : depth;
		number = node->child[bit_of(key->data, node->prefix)];
	}
	return 0;
}

/* One step of the walk, children before their parent. */
static uint32_t
path_next(const struct trie *trie, uint32_t *path, uint32_t depth)
{
	const struct node *parent;
	uint32_t number = path[--depth];

	if (depth == 0)
		return 0;
	parent = node_at(trie, path[depth - 1]);
	if (parent->child[0] == number && parent->child[1] != 0) {
		path[depth] = parent->child[1];
		return path_descend(trie, path, depth + 1);
	}
	return depth;
}

static int
next_key_locked(const struct trie *trie, const void *key, void *next_key)
{
	uint32_t path[MAX_DATA * 8 + 1];
	uint32_t depth = 0;
	struct lpm_key parsed;
	struct node *node;

	if (trie->root == 0)
		return -ENOENT;
	if (key != NULL) {
		parsed = key_parse(key);
		if (parsed.prefix <= trie->data_size * 8)
			depth = path_to(trie, path, &parsed);
	}
	if (depth != 0) {
		depth = path_next(trie, path, depth);
	} else {
		path[0] = trie->root;
		depth = path_descend(trie, path, 1);
	}
	while (depth != 0 && node_at(trie, path[depth - 1])->joint)
		depth = path_next(trie, path, depth);
	if (depth == 0)
		return -ENOENT;
	node = node_at(trie, path[depth - 1]);
	memcpy(next_key, &node->prefix, sizeof(node->prefix));
	memcpy((uint8_t *)next_key + sizeof(node->prefix), node->data, trie->data_size);
	return 0;
}

static int
lpm_next_key(struct xdpvm_map *map, const void *key, void *next_key)
{
	struct trie *trie = map->private;
	int ret;

	xdpvm_spin_lock(&trie->lock);
	ret = next_key_locked(trie, key, next_key);
	xdpvm_spin_unlock(&trie->lock);
	return ret;
}

const struct xdpvm_map_ops xdpvm_map_lpm_ops = {
	.init = lpm_init,
	.fini = lpm_fini,
	.lookup = lpm_lookup,
	.update = lpm_update,
	.delete = lpm_delete,
	.copy_out = lpm_copy_out,
	.copy_in = lpm_copy_in,
	.remove = lpm_remove,
	.next_key = lpm_next_key,
};
