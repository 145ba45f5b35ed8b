/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ARRAY: zero-filled elements side by side. Its memory is the kernel map's own when there is one
 * (the loader maps it and sets shared_memory), else anonymous memory.
 */
#include <sys/mman.h>

#include "map_array.h"
#include "map_types.h"

#define ARRAY_FLAGS \
	(BPF_F_NUMA_NODE | BPF_F_MMAPABLE | BPF_F_INNER_MAP | BPF_F_PRESERVE_ELEMS | \
	 XDPVM_MAP_ACCESS_FLAGS)

int
xdpvm_array_check(struct xdpvm_map *map, uint32_t flags_allowed)
{
	if (map->key_size != 4 || map->value_size == 0 || map->max_entries == 0)
		return xdpvm_fail(map->object, -EINVAL,
				  "array %s: key size %u, value size %u, %u entries; needs 4, > 0, > 0",
				  map->name, map->key_size, map->value_size, map->max_entries);
	if (map->value_size > INT32_MAX)
		return xdpvm_fail(map->object, -E2BIG, "array %s: value size %u; at most %d",
				  map->name, map->value_size, INT32_MAX);
	map->elem_size = (map->value_size + 7) & ~7u;	/* as Linux, whose memory this may be */
	return xdpvm_map_check_flags(map, flags_allowed);
}

int
xdpvm_array_may_update(const struct xdpvm_map *map, uint32_t index, uint64_t flags)
{
	if (flags > BPF_EXIST)
		return -EINVAL;
	if (index >= map->max_entries)
		return -E2BIG;
	return flags == BPF_NOEXIST ? -EEXIST : 0;
}

long
xdpvm_array_delete(struct xdpvm_map *map, const void *key)
{
	return -EINVAL;
}

int
xdpvm_array_remove(struct xdpvm_map *map, const void *key)
{
	return -EINVAL;
}

int
xdpvm_array_next_key(struct xdpvm_map *map, const void *key, void *next_key)
{
	uint32_t index = UINT32_MAX;

	if (key != NULL)
		memcpy(&index, key, sizeof(index));
	index = index < map->max_entries ? index + 1 : 0;
	if (index == map->max_entries)
		return -ENOENT;
	memcpy(next_key, &index, sizeof(index));
	return 0;
}

static int
array_init(struct xdpvm_map *map)
{
	int ret = xdpvm_array_check(map, ARRAY_FLAGS);

	if (ret != 0)
		return ret;
	map->layout = XDPVM_LAYOUT_ARRAY;
	if (map->shared_memory)
		return 0;
	map->base = mmap(NULL, (size_t)map->elem_size * map->max_entries, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map->base == MAP_FAILED)
		return xdpvm_fail(map->object, -ENOMEM, "array %s: no memory for %u elements of %u",
				  map->name, map->max_entries, map->elem_size);
	return 0;
}

static void
array_fini(struct xdpvm_map *map)
{
	if (!map->shared_memory)
		munmap(map->base, (size_t)map->elem_size * map->max_entries);
}

static void *
array_lookup(struct xdpvm_map *map, const void *key, struct xdpvm_buff *buff)
{
	uint32_t index = xdpvm_array_index(map, key);

	return index < map->max_entries ? xdpvm_array_at(map, index) : NULL;
}

static int
array_copy_out(struct xdpvm_map *map, const void *key, void *value)
{
	const void *element = array_lookup(map, key, NULL);

	if (element == NULL)
		return -ENOENT;
	xdpvm_map_load(map, value, element);
	return 0;
}

static int
array_copy_in(struct xdpvm_map *map, const void *key, const void *value, uint64_t flags)
{
	uint32_t index = xdpvm_array_index(map, key);
	bool locked;
	int lock = xdpvm_map_lock_flag(map, &flags, &locked);
	int ret = xdpvm_array_may_update(map, index, flags);

	if (ret == 0)
		ret = lock;
	if (ret == 0)
		xdpvm_map_store(map, xdpvm_array_at(map, index), value, locked);
	return ret;
}

static long
array_update(struct xdpvm_map *map, const void *key, const void *value, uint64_t flags,
	     struct xdpvm_buff *buff)
{
	return array_copy_in(map, key, value, flags);
}

const struct xdpvm_map_ops xdpvm_map_array_ops = {
	.init = array_init,
	.fini = array_fini,
	.lookup = array_lookup,
	.update = array_update,
	.delete = xdpvm_array_delete,
	.copy_out = array_copy_out,
	.copy_in = array_copy_in,
	.remove = xdpvm_array_remove,
	.next_key = xdpvm_array_next_key,
};
