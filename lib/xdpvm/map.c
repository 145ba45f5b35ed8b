/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Maps: the table of types, birth and death, and the control-side calls of the public header.
 * Each type lives in its own map_<type>.c.
 */
#include "map.h"
#include "map_types.h"

/* One line a type; a type that is missing here is refused when an object is opened. */
static const struct xdpvm_map_ops *const map_types[] = {
	[BPF_MAP_TYPE_HASH] = &xdpvm_map_hash_ops,
	[BPF_MAP_TYPE_ARRAY] = &xdpvm_map_array_ops,
	[BPF_MAP_TYPE_PERF_EVENT_ARRAY] = &xdpvm_map_perf_ops,
	[BPF_MAP_TYPE_RINGBUF] = &xdpvm_map_ringbuf_ops,
	[BPF_MAP_TYPE_HASH_OF_MAPS] = &xdpvm_map_hash_of_maps_ops,
	[BPF_MAP_TYPE_ARRAY_OF_MAPS] = &xdpvm_map_array_of_maps_ops,
	[BPF_MAP_TYPE_STACK] = &xdpvm_map_queue_ops,
	[BPF_MAP_TYPE_QUEUE] = &xdpvm_map_queue_ops,
	[BPF_MAP_TYPE_LPM_TRIE] = &xdpvm_map_lpm_ops,
	[BPF_MAP_TYPE_XSKMAP] = &xdpvm_map_xskmap_ops,
	[BPF_MAP_TYPE_CPUMAP] = &xdpvm_map_cpumap_ops,
	[BPF_MAP_TYPE_DEVMAP_HASH] = &xdpvm_map_devmap_hash_ops,
	[BPF_MAP_TYPE_DEVMAP] = &xdpvm_map_devmap_ops,
	[BPF_MAP_TYPE_PROG_ARRAY] = &xdpvm_map_prog_array_ops,
	[BPF_MAP_TYPE_PERCPU_HASH] = &xdpvm_map_percpu_hash_ops,
	[BPF_MAP_TYPE_PERCPU_ARRAY] = &xdpvm_map_percpu_array_ops,
	[BPF_MAP_TYPE_LRU_HASH] = &xdpvm_map_lru_hash_ops,
	[BPF_MAP_TYPE_LRU_PERCPU_HASH] = &xdpvm_map_lru_percpu_hash_ops,
};

const struct xdpvm_map_ops *
xdpvm_map_ops_of(enum bpf_map_type type)
{
	return type < sizeof(map_types) / sizeof(map_types[0]) ? map_types[type] : NULL;
}

bool
xdpvm_map_is_percpu(enum bpf_map_type type)
{
	return type == BPF_MAP_TYPE_PERCPU_ARRAY || type == BPF_MAP_TYPE_PERCPU_HASH ||
	       type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
}

int
xdpvm_map_check_flags(const struct xdpvm_map *map, uint32_t allowed)
{
	uint32_t program = BPF_F_RDONLY_PROG | BPF_F_WRONLY_PROG;
	uint32_t control = BPF_F_RDONLY | BPF_F_WRONLY;

	if (map->flags & ~allowed)
		return xdpvm_fail(map->object, -EINVAL, "map %s: flags 0x%x; this type may have 0x%x",
				  map->name, map->flags, allowed);
	if ((map->flags & program) == program || (map->flags & control) == control)
		return xdpvm_fail(map->object, -EINVAL,
				  "map %s: flags 0x%x: read-only and write-only exclude each other",
				  map->name, map->flags);
	return 0;
}

int
xdpvm_map_init(struct xdpvm_map *map)
{
	int ret;

	map->ops = xdpvm_map_ops_of(map->type);
	if (map->ops == NULL)
		return xdpvm_fail(map->object, -ENOTSUP, "map %s: type %u is not supported",
				  map->name, map->type);
	pthread_mutex_init(&map->lock, NULL);
	ret = map->ops->init(map);
	if (ret != 0) {
		pthread_mutex_destroy(&map->lock);
		map->ops = NULL;
	}
	return ret;
}

void
xdpvm_map_fini(struct xdpvm_map *map)
{
	if (map->ops == NULL)
		return;
	map->ops->fini(map);
	pthread_mutex_destroy(&map->lock);
	map->ops = NULL;
}

void
xdpvm_map_info(const struct xdpvm_map *map, struct xdpvm_map_info *info)
{
	*info = (struct xdpvm_map_info){
		.name = map->name,
		.type = map->type,
		.key_size = map->key_size,
		.value_size = map->value_size,
		.max_entries = map->max_entries,
		.flags = map->flags,
		.fd = map->fd,
	};
}

size_t
xdpvm_map_value_bytes(const struct xdpvm_map *map)
{
	if (xdpvm_map_is_percpu(map->type))
		return (size_t)((map->value_size + 7) & ~7u) * XDPVM_MAX_THREADS;
	return map->value_size;
}

/*
 * Access rights of the control side: those of the file descriptor that Linux would have given. A
 * map that is not loaded, or whose type nobody here knows, has no operations.
 */
static int
may_read(const struct xdpvm_map *map)
{
	if (map->ops == NULL)
		return -ENOTSUP;
	return map->flags & BPF_F_WRONLY ? -EPERM : 0;
}

static int
may_write(const struct xdpvm_map *map)
{
	if (map->ops == NULL)
		return -ENOTSUP;
	return map->frozen || (map->flags & BPF_F_RDONLY) ? -EPERM : 0;
}

int
xdpvm_map_lookup(struct xdpvm_map *map, const void *key, void *value)
{
	int ret = may_read(map);

	if (ret != 0)
		return ret;
	return map->ops->copy_out != NULL ? map->ops->copy_out(map, key, value) : -ENOTSUP;
}

int
xdpvm_map_update(struct xdpvm_map *map, const void *key, const void *value, uint64_t flags)
{
	int ret = may_write(map);

	if (ret != 0)
		return ret;
	return map->ops->copy_in != NULL ? map->ops->copy_in(map, key, value, flags) : -ENOTSUP;
}

int
xdpvm_map_delete(struct xdpvm_map *map, const void *key)
{
	int ret = may_write(map);

	if (ret != 0)
		return ret;
	return map->ops->remove != NULL ? map->ops->remove(map, key) : -ENOTSUP;
}

int
xdpvm_map_take(struct xdpvm_map *map, const void *key, void *value)
{
	int ret = may_read(map);

	if (ret == 0)
		ret = may_write(map);
	if (ret != 0)
		return ret;
	return map->ops->take != NULL ? map->ops->take(map, key, value) : -ENOTSUP;
}

int
xdpvm_map_next_key(struct xdpvm_map *map, const void *key, void *next_key)
{
	int ret = may_read(map);

	if (ret != 0)
		return ret;
	return map->ops->next_key != NULL ? map->ops->next_key(map, key, next_key) : -ENOTSUP;
}

int
xdpvm_map_update_map(struct xdpvm_map *map, const void *key, struct xdpvm_map *inner,
		     uint64_t flags)
{
	if (map->ops == NULL || map->ops->put_map == NULL)
		return -ENOTSUP;
	return map->ops->put_map(map, key, inner, flags);
}
