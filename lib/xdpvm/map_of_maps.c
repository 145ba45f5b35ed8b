/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ARRAY_OF_MAPS and HASH_OF_MAPS: a program's lookup gives it an inner map. Programs are checked
 * against the template, so an inner map must equal it. An inner map that is taken out or replaced
 * may still be in use until xdpvm_synchronize().
 */
#include <stdlib.h>

#include "hash_table.h"
#include "map_array.h"
#include "map_types.h"

#define ARRAY_FLAGS (BPF_F_NUMA_NODE | XDPVM_MAP_ACCESS_FLAGS)
#define HASH_FLAGS (BPF_F_NO_PREALLOC | BPF_F_NUMA_NODE | BPF_F_ZERO_SEED | XDPVM_MAP_ACCESS_FLAGS)

static int
outer_check(const struct xdpvm_map *map)
{
	if (map->value_size == sizeof(uint32_t) && map->inner_template != NULL)
		return 0;
	return xdpvm_fail(map->object, -EINVAL,
			  "map of maps %s: value size %u, %s inner map; needs 4 and an inner map",
			  map->name, map->value_size, map->inner_template != NULL ? "an" : "no");
}

/* Linux: bpf_map_meta_equal(); only arrays have their size in what is proven about a program. */
static int
inner_check(const struct xdpvm_map *map, const struct xdpvm_map *inner)
{
	const struct xdpvm_map *model = map->inner_template;
	bool sized = (inner->type == BPF_MAP_TYPE_ARRAY ||
		      inner->type == BPF_MAP_TYPE_PERCPU_ARRAY) &&
		     !(inner->flags & BPF_F_INNER_MAP);

	if (inner->type == model->type && inner->key_size == model->key_size &&
	    inner->value_size == model->value_size && inner->flags == model->flags &&
	    inner->lock_end == model->lock_end &&
	    (!sized || inner->max_entries == model->max_entries))
		return 0;
	return xdpvm_fail(map->object, -EINVAL,
			  "map %s cannot go into %s: type %u, key %u, value %u, flags 0x%x, %u "
			  "entries; the inner map has %u, %u, %u, 0x%x, %u",
			  inner->name, map->name, inner->type, inner->key_size, inner->value_size,
			  inner->flags, inner->max_entries, model->type, model->key_size,
			  model->value_size, model->flags, model->max_entries);
}

static int
array_of_maps_init(struct xdpvm_map *map)
{
	int ret = outer_check(map);

	if (ret == 0)
		ret = xdpvm_array_check(map, ARRAY_FLAGS);
	if (ret != 0)
		return ret;
	map->base = calloc(map->max_entries, sizeof(struct xdpvm_map *));
	if (map->base == NULL)
		return xdpvm_fail(map->object, -ENOMEM, "map of maps %s: no memory for %u entries",
				  map->name, map->max_entries);
	return 0;
}

static void
array_of_maps_fini(struct xdpvm_map *map)
{
	free(map->base);
}

static struct xdpvm_map **
inner_slot(const struct xdpvm_map *map, uint32_t index)
{
	return (struct xdpvm_map **)(void *)map->base + index;
}

static void *
array_of_maps_lookup(struct xdpvm_map *map, const void *key, struct xdpvm_buff *buff)
{
	uint32_t index = xdpvm_array_index(map, key);

	if (index >= map->max_entries)
		return NULL;
	return __atomic_load_n(inner_slot(map, index), __ATOMIC_ACQUIRE);
}

static int
array_of_maps_put(struct xdpvm_map *map, const void *key, struct xdpvm_map *inner, uint64_t flags)
{
	uint32_t index = xdpvm_array_index(map, key);
	int ret;

	if (flags != BPF_ANY)
		return -EINVAL;
	if (index >= map->max_entries)
		return -E2BIG;
	ret = inner_check(map, inner);
	if (ret == 0)
		__atomic_store_n(inner_slot(map, index), inner, __ATOMIC_RELEASE);
	return ret;
}

static int
array_of_maps_remove(struct xdpvm_map *map, const void *key)
{
	uint32_t index = xdpvm_array_index(map, key);

	if (index >= map->max_entries)
		return -E2BIG;
	return __atomic_exchange_n(inner_slot(map, index), NULL, __ATOMIC_ACQ_REL) != NULL ?
	       0 : -ENOENT;
}

const struct xdpvm_map_ops xdpvm_map_array_of_maps_ops = {
	.init = array_of_maps_init,
	.fini = array_of_maps_fini,
	.lookup = array_of_maps_lookup,
	.remove = array_of_maps_remove,
	.put_map = array_of_maps_put,
	.next_key = xdpvm_array_next_key,
};

static int
hash_of_maps_init(struct xdpvm_map *map)
{
	int ret = outer_check(map);

	if (ret == 0)
		ret = xdpvm_hash_check(map, HASH_FLAGS);
	/* Not XDPVM_LAYOUT_HASH: a lookup gives what the element holds, not its address. */
	return ret != 0 ? ret : xdpvm_hash_init(map, sizeof(struct xdpvm_map *));
}

static struct xdpvm_map **
inner_of(const struct xdpvm_map *map, struct xdpvm_hash_elem *elem)
{
	return (struct xdpvm_map **)(void *)((uint8_t *)elem + map->value_offset);
}

static void
inner_fill(struct xdpvm_map *map, uint32_t index, const void *value, bool fresh, uint32_t cpu)
{
	struct xdpvm_map *inner = (struct xdpvm_map *)(uintptr_t)value;

	__atomic_store_n(inner_of(map, xdpvm_hash_elem_at(map, index)), inner, __ATOMIC_RELAXED);
}

static const struct xdpvm_hash_kind inner_kind = { .fill = inner_fill };

static void *
hash_of_maps_lookup(struct xdpvm_map *map, const void *key, struct xdpvm_buff *buff)
{
	struct xdpvm_hash_elem *elem = xdpvm_hash_find(map, key);

	return elem != NULL ? __atomic_load_n(inner_of(map, elem), __ATOMIC_ACQUIRE) : NULL;
}

static int
hash_of_maps_put(struct xdpvm_map *map, const void *key, struct xdpvm_map *inner, uint64_t flags)
{
	int ret = inner_check(map, inner);

	return ret != 0 ? ret : xdpvm_hash_update(map, &inner_kind, key, inner, flags, 0);
}

const struct xdpvm_map_ops xdpvm_map_hash_of_maps_ops = {
	.init = hash_of_maps_init,
	.fini = xdpvm_hash_fini,
	.lookup = hash_of_maps_lookup,
	.remove = xdpvm_hash_remove,
	.put_map = hash_of_maps_put,
	.next_key = xdpvm_hash_next_key,
};
