/* SPDX-License-Identifier: BSD-3-Clause */
/* HASH and LRU_HASH: the value stands in the element. */
#include "hash_table.h"
#include "map_types.h"

#define HASH_FLAGS \
	(BPF_F_NO_PREALLOC | BPF_F_NUMA_NODE | BPF_F_ZERO_SEED | XDPVM_MAP_ACCESS_FLAGS)
#define LRU_FLAGS \
	(BPF_F_NO_COMMON_LRU | BPF_F_NUMA_NODE | BPF_F_ZERO_SEED | XDPVM_MAP_ACCESS_FLAGS)

static uint8_t *
hash_value(const struct xdpvm_map *map, uint32_t index)
{
	return map->base + (size_t)index * map->elem_size + map->value_offset;
}

static int
hash_init_flags(struct xdpvm_map *map, uint32_t flags_allowed)
{
	int ret = xdpvm_hash_check(map, flags_allowed);

	if (ret != 0)
		return ret;
	map->layout = XDPVM_LAYOUT_HASH;
	return xdpvm_hash_init(map, map->value_size);
}

static int
hash_init(struct xdpvm_map *map)
{
	return hash_init_flags(map, HASH_FLAGS);
}

static int
lru_init(struct xdpvm_map *map)
{
	map->mark_referenced = true;
	return hash_init_flags(map, LRU_FLAGS);
}

static void
hash_fill(struct xdpvm_map *map, uint32_t index, const void *value, bool fresh, uint32_t cpu)
{
	xdpvm_map_store(map, hash_value(map, index), value, false);
}

static void
locked_fill(struct xdpvm_map *map, uint32_t index, const void *value, bool fresh, uint32_t cpu)
{
	xdpvm_map_store(map, hash_value(map, index), value, !fresh);
}

static const struct xdpvm_hash_kind hash_kind = { .fill = hash_fill };
static const struct xdpvm_hash_kind locked_kind = { .fill = locked_fill, .in_place = true };
static const struct xdpvm_hash_kind lru_kind = { .fill = hash_fill, .evicts = true };

static void *
hash_lookup(struct xdpvm_map *map, const void *key, struct xdpvm_buff *buff)
{
	struct xdpvm_hash_elem *elem = xdpvm_hash_find(map, key);

	return elem != NULL ? (uint8_t *)elem + map->value_offset : NULL;
}

static void *
lru_lookup(struct xdpvm_map *map, const void *key, struct xdpvm_buff *buff)
{
	struct xdpvm_hash_elem *elem = xdpvm_hash_find(map, key);

	if (elem == NULL)
		return NULL;
	xdpvm_hash_mark(elem);
	return (uint8_t *)elem + map->value_offset;
}

static const struct xdpvm_hash_kind *
kind_of(const struct xdpvm_map *map)
{
	return map->mark_referenced ? &lru_kind : &hash_kind;
}

static int
hash_copy_in(struct xdpvm_map *map, const void *key, const void *value, uint64_t flags)
{
	bool locked;
	int ret = xdpvm_map_lock_flag(map, &flags, &locked);

	if (ret != 0)
		return ret;
	return xdpvm_hash_update(map, locked ? &locked_kind : kind_of(map), key, value, flags, 0);
}

static long
hash_update(struct xdpvm_map *map, const void *key, const void *value, uint64_t flags,
	    struct xdpvm_buff *buff)
{
	return hash_copy_in(map, key, value, flags);
}

static void
copy_visit(struct xdpvm_map *map, uint32_t index, void *value)
{
	xdpvm_map_load(map, value, hash_value(map, index));
}

static int
hash_copy_out(struct xdpvm_map *map, const void *key, void *value)
{
	return xdpvm_hash_visit(map, key, false, copy_visit, value);
}

static int
hash_take(struct xdpvm_map *map, const void *key, void *value)
{
	return xdpvm_hash_visit(map, key, true, copy_visit, value);
}

#define HASH_OPS(how_to_init, how_to_lookup) { \
	.init = how_to_init, \
	.fini = xdpvm_hash_fini, \
	.lookup = how_to_lookup, \
	.update = hash_update, \
	.delete = xdpvm_hash_delete, \
	.copy_out = hash_copy_out, \
	.copy_in = hash_copy_in, \
	.remove = xdpvm_hash_remove, \
	.take = hash_take, \
	.next_key = xdpvm_hash_next_key, \
}

const struct xdpvm_map_ops xdpvm_map_hash_ops = HASH_OPS(hash_init, hash_lookup);
const struct xdpvm_map_ops xdpvm_map_lru_hash_ops = HASH_OPS(lru_init, lru_lookup);
