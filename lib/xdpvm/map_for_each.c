/* SPDX-License-Identifier: BSD-3-Clause */
/* bpf_for_each_map_elem(): calls a program's function on each element of an array or a hash. */
#include "hash_table.h"
#include "helper.h"
#include "map_array.h"

struct walk {
	struct xdpvm_map *map;
	struct xdpvm_buff *buff;
	uint64_t callback;
	uint64_t ctx;
	long n;		/* elements visited */
};

/* True: the callback wants to see no more. */
static bool
visit(struct walk *walk, const void *key, const void *value)
{
	walk->n++;
	return xdpvm_callback(walk->buff, walk->callback, (uintptr_t)walk->map, (uintptr_t)key,
			      (uintptr_t)value, walk->ctx, 0) != 0;
}

static void
walk_array(struct walk *walk, uint64_t offset)
{
	for (uint32_t index = 0; index < walk->map->max_entries; index++) {
		uint32_t key = index;

		if (visit(walk, &key, xdpvm_array_at(walk->map, index) + offset))
			return;
	}
}

static const uint8_t *
hash_value(const struct walk *walk, const struct xdpvm_hash_elem *elem)
{
	const struct xdpvm_map *map = walk->map;

	if (map->layout == XDPVM_LAYOUT_HASH)
		return (const uint8_t *)elem + map->value_offset;
	return map->values + (size_t)xdpvm_hash_index(map, elem) * map->value_stride +
	       walk->buff->percpu_offset;
}

/* No lock: the callback may update and delete, the element that it looks at included. */
static bool
walk_bucket(struct walk *walk, uint64_t bucket)
{
	uint32_t link = __atomic_load_n(&walk->map->buckets[bucket], __ATOMIC_ACQUIRE);
	struct xdpvm_hash_elem *elem;

	while (!(link & XDPVM_LINK_END)) {
		elem = xdpvm_hash_elem_at(walk->map, link);
		link = __atomic_load_n(&elem->next, __ATOMIC_ACQUIRE);
		if (visit(walk, elem->key, hash_value(walk, elem)))
			return true;
	}
	return false;
}

static void
walk_hash(struct walk *walk)
{
	for (uint64_t bucket = 0; bucket <= walk->map->bucket_mask; bucket++)
		if (walk_bucket(walk, bucket))
			return;
}

long
xdpvm_map_for_each(struct xdpvm_map *map, uint64_t callback, uint64_t ctx, uint64_t flags,
		   struct xdpvm_buff *buff)
{
	struct walk walk = { .map = map, .buff = buff, .callback = callback, .ctx = ctx };

	if (flags != 0)
		return -EINVAL;
	switch (map->layout) {
	case XDPVM_LAYOUT_ARRAY:
		walk_array(&walk, 0);
		break;
	case XDPVM_LAYOUT_PERCPU_ARRAY:
		walk_array(&walk, buff->percpu_offset);
		break;
	case XDPVM_LAYOUT_HASH:
	case XDPVM_LAYOUT_PERCPU_HASH:
		walk_hash(&walk);
		break;
	default:
		return -EOPNOTSUPP;
	}
	return walk.n;
}
