/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ARRAY: zero-filled elements side by side. Its memory is the kernel map's own when there is one
 * (the loader maps it and sets shared_memory), else anonymous memory.
 */
#include <sys/mman.h>

#include "map.h"
#include "map_types.h"

static int
array_init(struct xdpvm_map *map)
{
	if (map->key_size != 4 || map->value_size == 0 || map->max_entries == 0)
		return xdpvm_fail(map->object, -EINVAL,
				  "array %s: key size %u, value size %u, %u entries; needs 4, > 0, > 0",
				  map->name, map->key_size, map->value_size, map->max_entries);
	map->layout = XDPVM_LAYOUT_ARRAY;
	map->elem_size = (map->value_size + 7) & ~7u;	/* as Linux, whose memory this may be */
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

static uint8_t *
array_element(const struct xdpvm_map *map, const void *key)
{
	uint32_t index;

	memcpy(&index, key, sizeof(index));
	return index < map->max_entries ? map->base + (size_t)index * map->elem_size : NULL;
}

static void *
array_lookup(struct xdpvm_map *map, const void *key, struct xdpvm_buff *buff)
{
	return array_element(map, key);
}

static int
array_copy_out(struct xdpvm_map *map, const void *key, void *value)
{
	const uint8_t *element = array_element(map, key);

	if (element == NULL)
		return -ENOENT;
	memcpy(value, element, map->value_size);
	return 0;
}

static int
array_copy_in(struct xdpvm_map *map, const void *key, const void *value, uint64_t flags)
{
	uint8_t *element = array_element(map, key);

	if (flags > BPF_EXIST)
		return -EINVAL;
	if (element == NULL)
		return -E2BIG;
	if (flags == BPF_NOEXIST)
		return -EEXIST;
	memcpy(element, value, map->value_size);
	return 0;
}

static int
array_next_key(struct xdpvm_map *map, const void *key, void *next_key)
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

const struct xdpvm_map_ops xdpvm_map_array_ops = {
	.init = array_init,
	.fini = array_fini,
	.lookup = array_lookup,
	.copy_out = array_copy_out,
	.copy_in = array_copy_in,
	.next_key = array_next_key,
};
