/* SPDX-License-Identifier: BSD-3-Clause */
/* PERCPU_ARRAY: an array for each thread. */
#include "map_array.h"
#include "map_types.h"

static int
percpu_array_init(struct xdpvm_map *map)
{
	int ret = xdpvm_array_check(map, XDPVM_MAP_ACCESS_FLAGS);

	if (ret == 0)
		ret = xdpvm_percpu_check(map);
	if (ret != 0)
		return ret;
	map->layout = XDPVM_LAYOUT_PERCPU_ARRAY;
	map->base = xdpvm_percpu_alloc((size_t)map->elem_size * map->max_entries);
	if (map->base == NULL)
		return xdpvm_fail(map->object, -ENOMEM,
				  "per-CPU array %s: no memory for %u elements of %u", map->name,
				  map->max_entries, map->elem_size);
	return 0;
}

static void
percpu_array_fini(struct xdpvm_map *map)
{
	xdpvm_percpu_free(map->base);
}

static void *
percpu_array_lookup_percpu(struct xdpvm_map *map, const void *key, uint32_t cpu)
{
	uint32_t index = xdpvm_array_index(map, key);

	if (index >= map->max_entries || cpu >= XDPVM_MAX_THREADS)
		return NULL;
	return xdpvm_percpu_ptr(xdpvm_array_at(map, index), cpu);
}

static void *
percpu_array_lookup(struct xdpvm_map *map, const void *key, struct xdpvm_buff *buff)
{
	return percpu_array_lookup_percpu(map, key, buff->thread->cpu);
}

static long
percpu_array_update(struct xdpvm_map *map, const void *key, const void *value, uint64_t flags,
		    struct xdpvm_buff *buff)
{
	uint32_t index = xdpvm_array_index(map, key);
	int ret = xdpvm_array_may_update(map, index, flags);

	if (ret == 0)
		xdpvm_value_store(xdpvm_percpu_ptr(xdpvm_array_at(map, index), buff->thread->cpu),
				  value, map->value_size);
	return ret;
}

static int
percpu_array_copy_out(struct xdpvm_map *map, const void *key, void *value)
{
	uint32_t index = xdpvm_array_index(map, key);

	if (index >= map->max_entries)
		return -ENOENT;
	xdpvm_percpu_load_all(value, xdpvm_array_at(map, index), map->value_size);
	return 0;
}

static int
percpu_array_copy_in(struct xdpvm_map *map, const void *key, const void *value, uint64_t flags)
{
	uint32_t index = xdpvm_array_index(map, key);
	int ret = xdpvm_array_may_update(map, index, flags);

	if (ret == 0)
		xdpvm_percpu_store_all(xdpvm_array_at(map, index), value, map->value_size);
	return ret;
}

static int
percpu_array_copy_out_cpu(struct xdpvm_map *map, const void *key, void *value, uint32_t cpu)
{
	const void *copy = percpu_array_lookup_percpu(map, key, cpu);

	if (copy == NULL)
		return -ENOENT;
	xdpvm_value_load(value, copy, map->value_size);
	return 0;
}

static int
percpu_array_copy_in_cpu(struct xdpvm_map *map, const void *key, const void *value, uint32_t cpu)
{
	void *copy = percpu_array_lookup_percpu(map, key, cpu);

	if (copy == NULL)
		return -ENOENT;
	xdpvm_value_store(copy, value, map->value_size);
	return 0;
}

const struct xdpvm_map_ops xdpvm_map_percpu_array_ops = {
	.init = percpu_array_init,
	.fini = percpu_array_fini,
	.lookup = percpu_array_lookup,
	.lookup_percpu = percpu_array_lookup_percpu,
	.update = percpu_array_update,
	.delete = xdpvm_array_delete,
	.copy_out = percpu_array_copy_out,
	.copy_in = percpu_array_copy_in,
	.copy_out_cpu = percpu_array_copy_out_cpu,
	.copy_in_cpu = percpu_array_copy_in_cpu,
	.remove = xdpvm_array_remove,
	.next_key = xdpvm_array_next_key,
};
