/* SPDX-License-Identifier: BSD-3-Clause */
/* What array-shaped maps have in common: a 32-bit index as key, elements that cannot be deleted. */
#ifndef XDPVM_MAP_ARRAY_H
#define XDPVM_MAP_ARRAY_H

#include "map.h"

/* Checks sizes and flags; sets elem_size. 0 or a negative errno. */
int xdpvm_array_check(struct xdpvm_map *map, uint32_t flags_allowed);

/* The index of a key; max_entries when it is beyond. */
static inline uint32_t
xdpvm_array_index(const struct xdpvm_map *map, const void *key)
{
	uint32_t index;

	memcpy(&index, key, sizeof(index));
	return index < map->max_entries ? index : map->max_entries;
}

/* Element 0 to max_entries - 1 of a map whose elements lie side by side. */
static inline uint8_t *
xdpvm_array_at(const struct xdpvm_map *map, uint32_t index)
{
	return map->base + (size_t)index * map->elem_size;
}

/* Linux's verdict on an update, by index and flags: 0, -EINVAL, -E2BIG, -EEXIST. */
int xdpvm_array_may_update(const struct xdpvm_map *map, uint32_t index, uint64_t flags);

long xdpvm_array_delete(struct xdpvm_map *map, const void *key);
int xdpvm_array_remove(struct xdpvm_map *map, const void *key);
int xdpvm_array_next_key(struct xdpvm_map *map, const void *key, void *next_key);

#endif /* XDPVM_MAP_ARRAY_H */
