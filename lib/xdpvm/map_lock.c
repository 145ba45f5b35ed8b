/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values with a struct bpf_spin_lock in them: programs hold it, the control side goes round it.
 * Linux allows one in ARRAY and HASH.
 */
#include "map.h"
#include "spin.h"

#define LOCK_SIZE 4u	/* sizeof(struct bpf_spin_lock) */

/* Values with a lock are a multiple of four bytes and aligned so. */
static void
store_around(const struct xdpvm_map *map, uint8_t *shared, const uint8_t *value)
{
	uint32_t word;

	for (uint32_t at = 0; at < map->value_size; at += sizeof(word)) {
		if (at + LOCK_SIZE == map->lock_end)
			continue;
		memcpy(&word, value + at, sizeof(word));
		__atomic_store_n((uint32_t *)(void *)(shared + at), word, __ATOMIC_RELAXED);
	}
}

static uint32_t *
lock_of(const struct xdpvm_map *map, void *shared)
{
	return (uint32_t *)(void *)((uint8_t *)shared + map->lock_end - LOCK_SIZE);
}

void
xdpvm_map_store(const struct xdpvm_map *map, void *shared, const void *value, bool locked)
{
	if (map->lock_end == 0) {
		xdpvm_value_store(shared, value, map->value_size);
		return;
	}
	if (locked)
		xdpvm_spin_lock(lock_of(map, shared));
	store_around(map, shared, value);
	if (locked)
		xdpvm_spin_unlock(lock_of(map, shared));
}

void
xdpvm_map_load(const struct xdpvm_map *map, void *value, const void *shared)
{
	xdpvm_value_load(value, shared, map->value_size);
	if (map->lock_end != 0)
		memset((uint8_t *)value + map->lock_end - LOCK_SIZE, 0, LOCK_SIZE);
}

int
xdpvm_map_lock_flag(const struct xdpvm_map *map, uint64_t *flags, bool *locked)
{
	*locked = (*flags & BPF_F_LOCK) != 0;
	*flags &= ~(uint64_t)BPF_F_LOCK;
	return *locked && map->lock_end == 0 ? -EINVAL : 0;
}
