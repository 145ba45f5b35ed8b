/* SPDX-License-Identifier: BSD-3-Clause */
/* QUEUE and STACK: values without keys, in a ring under a short lock. */
#include <stdlib.h>

#include "map.h"
#include "map_types.h"
#include "spin.h"

#define QUEUE_FLAGS (BPF_F_NUMA_NODE | XDPVM_MAP_ACCESS_FLAGS)
#define MAX_VALUE (4u << 20)	/* bytes; Linux: KMALLOC_MAX_SIZE */

struct queue {
	uint32_t lock;
	uint32_t oldest;
	uint32_t count;
	uint8_t values[];
};

static int
queue_check(struct xdpvm_map *map)
{
	if (map->key_size != 0 || map->value_size == 0 || map->max_entries == 0)
		return xdpvm_fail(map->object, -EINVAL,
				  "queue %s: key size %u, value size %u, %u entries; needs 0, > 0, > 0",
				  map->name, map->key_size, map->value_size, map->max_entries);
	if (map->value_size > MAX_VALUE)
		return xdpvm_fail(map->object, -E2BIG, "queue %s: value size %u; at most %u",
				  map->name, map->value_size, MAX_VALUE);
	return xdpvm_map_check_flags(map, QUEUE_FLAGS);
}

static int
queue_init(struct xdpvm_map *map)
{
	int ret = queue_check(map);

	if (ret != 0)
		return ret;
	map->private = calloc(1, sizeof(struct queue) + (size_t)map->max_entries * map->value_size);
	if (map->private == NULL)
		return xdpvm_fail(map->object, -ENOMEM, "queue %s: no memory for %u values of %u",
				  map->name, map->max_entries, map->value_size);
	return 0;
}

static void
queue_fini(struct xdpvm_map *map)
{
	free(map->private);
}

/* Value number position counted from the oldest one. */
static uint8_t *
value_at(const struct xdpvm_map *map, struct queue *queue, uint32_t position)
{
	uint64_t slot = ((uint64_t)queue->oldest + position) % map->max_entries;

	return queue->values + slot * map->value_size;
}

static long
queue_push(struct xdpvm_map *map, const void *value, uint64_t flags)
{
	struct queue *queue = map->private;
	long ret = 0;

	if (flags == BPF_NOEXIST || flags > BPF_EXIST)
		return -EINVAL;
	xdpvm_spin_lock(&queue->lock);
	if (queue->count == map->max_entries && flags == BPF_EXIST) {
		queue->oldest = (queue->oldest + 1) % map->max_entries;
		queue->count--;
	}
	if (queue->count < map->max_entries)
		memcpy(value_at(map, queue, queue->count++), value, map->value_size);
	else
		ret = -E2BIG;
	xdpvm_spin_unlock(&queue->lock);
	return ret;
}

/* Copies the value at the end that is next out, and with remove takes it. */
static long
queue_get(struct xdpvm_map *map, void *value, bool remove)
{
	struct queue *queue = map->private;
	bool stack = map->type == BPF_MAP_TYPE_STACK;
	long ret = 0;

	xdpvm_spin_lock(&queue->lock);
	if (queue->count == 0) {
		memset(value, 0, map->value_size);
		ret = -ENOENT;
	} else {
		memcpy(value, value_at(map, queue, stack ? queue->count - 1 : 0), map->value_size);
		if (remove && !stack)
			queue->oldest = (queue->oldest + 1) % map->max_entries;
		queue->count -= remove;
	}
	xdpvm_spin_unlock(&queue->lock);
	return ret;
}

static long
queue_pop(struct xdpvm_map *map, void *value)
{
	return queue_get(map, value, true);
}

static long
queue_peek(struct xdpvm_map *map, void *value)
{
	return queue_get(map, value, false);
}

static int
queue_copy_out(struct xdpvm_map *map, const void *key, void *value)
{
	return queue_get(map, value, false);
}

static int
queue_take(struct xdpvm_map *map, const void *key, void *value)
{
	return queue_get(map, value, true);
}

static int
queue_copy_in(struct xdpvm_map *map, const void *key, const void *value, uint64_t flags)
{
	return queue_push(map, value, flags);
}

static int
queue_remove(struct xdpvm_map *map, const void *key)
{
	return -EINVAL;
}

static int
queue_next_key(struct xdpvm_map *map, const void *key, void *next_key)
{
	return -EINVAL;
}

const struct xdpvm_map_ops xdpvm_map_queue_ops = {
	.init = queue_init,
	.fini = queue_fini,
	.push = queue_push,
	.pop = queue_pop,
	.peek = queue_peek,
	.copy_out = queue_copy_out,
	.copy_in = queue_copy_in,
	.remove = queue_remove,
	.take = queue_take,
	.next_key = queue_next_key,
};
