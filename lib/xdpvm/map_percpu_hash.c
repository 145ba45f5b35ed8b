/* SPDX-License-Identifier: BSD-3-Clause */
/* PERCPU_HASH and LRU_PERCPU_HASH: the element has no value, each thread has its copy elsewhere. */
#include "hash_table.h"
#include "map_types.h"

#define HASH_FLAGS (BPF_F_NO_PREALLOC | BPF_F_ZERO_SEED | XDPVM_MAP_ACCESS_FLAGS)
#define LRU_FLAGS (BPF_F_NO_COMMON_LRU | BPF_F_ZERO_SEED | XDPVM_MAP_ACCESS_FLAGS)

static uint8_t *
copies(const struct xdpvm_map *map, uint32_t index)
{
	return map->values + (size_t)index * map->value_stride;
}

static int
percpu_init(struct xdpvm_map *map, uint32_t flags_allowed)
{
	struct xdpvm_hash *table;
	int ret = xdpvm_hash_check(map, flags_allowed);

	if (ret == 0)
		ret = xdpvm_percpu_check(map);
	if (ret == 0)
		ret = xdpvm_hash_init(map, 0);
	if (ret != 0)
		return ret;
	table = map->private;
	map->layout = XDPVM_LAYOUT_PERCPU_HASH;
	map->value_stride = (map->value_size + 7) & ~7u;
	map->values = xdpvm_percpu_alloc((size_t)table->pool.size * map->value_stride);
	if (map->values != NULL)
		return 0;
	xdpvm_hash_fini(map);
	return xdpvm_fail(map->object, -ENOMEM, "per-CPU hash %s: no memory for %u values of %u",
			  map->name, map->max_entries, map->value_size);
}

static int
percpu_hash_init(struct xdpvm_map *map)
{
	return percpu_init(map, HASH_FLAGS);
}

static int
lru_percpu_init(struct xdpvm_map *map)
{
	map->mark_referenced = true;
	return percpu_init(map, LRU_FLAGS);
}

static void
percpu_hash_fini(struct xdpvm_map *map)
{
	xdpvm_percpu_free(map->values);
	xdpvm_hash_fini(map);
}

static void
percpu_fill(struct xdpvm_map *map, uint32_t index, const void *value, bool fresh, uint32_t cpu)
{
	uint8_t *memory = copies(map, index);

	if (cpu == XDPVM_MAX_THREADS)
		xdpvm_percpu_store_all(memory, value, map->value_size);
	else if (fresh)
		xdpvm_percpu_store_first(memory, value, map->value_size, cpu);
	else
		xdpvm_value_store(xdpvm_percpu_ptr(memory, cpu), value, map->value_size);
}

static const struct xdpvm_hash_kind percpu_kind = { .fill = percpu_fill, .in_place = true };
static const struct xdpvm_hash_kind lru_percpu_kind = {
	.fill = percpu_fill, .in_place = true, .evicts = true,
};

static const struct xdpvm_hash_kind *
kind_of(const struct xdpvm_map *map)
{
	return map->mark_referenced ? &lru_percpu_kind : &percpu_kind;
}

static void *
percpu_hash_lookup_percpu(struct xdpvm_map *map, const void *key, uint32_t cpu)
{
	struct xdpvm_hash_elem *elem = xdpvm_hash_find(map, key);

	if (elem == NULL || cpu >= XDPVM_MAX_THREADS)
		return NULL;
	if (map->mark_referenced)
		xdpvm_hash_mark(elem);
	return xdpvm_percpu_ptr(copies(map, xdpvm_hash_index(map, elem)), cpu);
}

static void *
percpu_hash_lookup(struct xdpvm_map *map, const void *key, struct xdpvm_buff *buff)
{
	return percpu_hash_lookup_percpu(map, key, buff->thread->cpu);
}

static long
percpu_hash_update(struct xdpvm_map *map, const void *key, const void *value, uint64_t flags,
		   struct xdpvm_buff *buff)
{
	return xdpvm_hash_update(map, kind_of(map), key, value, flags, buff->thread->cpu);
}

static int
percpu_hash_copy_in(struct xdpvm_map *map, const void *key, const void *value, uint64_t flags)
{
	return xdpvm_hash_update(map, kind_of(map), key, value, flags, XDPVM_MAX_THREADS);
}

static void
copy_visit(struct xdpvm_map *map, uint32_t index, void *value)
{
	xdpvm_percpu_load_all(value, copies(map, index), map->value_size);
}

static int
percpu_hash_copy_out(struct xdpvm_map *map, const void *key, void *value)
{
	return xdpvm_hash_visit(map, key, false, copy_visit, value);
}

static int
percpu_hash_take(struct xdpvm_map *map, const void *key, void *value)
{
	return xdpvm_hash_visit(map, key, true, copy_visit, value);
}

/* One thread's copy and what to move to or from it. */
struct one_copy {
	void *value;
	uint32_t cpu;
};

static void
copy_out_visit(struct xdpvm_map *map, uint32_t index, void *arg)
{
	const struct one_copy *copy = arg;

	xdpvm_value_load(copy->value, xdpvm_percpu_ptr(copies(map, index), copy->cpu),
			 map->value_size);
}

static void
copy_in_visit(struct xdpvm_map *map, uint32_t index, void *arg)
{
	const struct one_copy *copy = arg;

	xdpvm_value_store(xdpvm_percpu_ptr(copies(map, index), copy->cpu), copy->value,
			  map->value_size);
}

static int
percpu_hash_copy_out_cpu(struct xdpvm_map *map, const void *key, void *value, uint32_t cpu)
{
	struct one_copy copy = { .value = value, .cpu = cpu };

	return xdpvm_hash_visit(map, key, false, copy_out_visit, &copy);
}

static int
percpu_hash_copy_in_cpu(struct xdpvm_map *map, const void *key, const void *value, uint32_t cpu)
{
	struct one_copy copy = { .value = (void *)(uintptr_t)value, .cpu = cpu };

	xdpvm_percpu_use(cpu);
	return xdpvm_hash_visit(map, key, false, copy_in_visit, &copy);
}

#define PERCPU_HASH_OPS(how_to_init) { \
	.init = how_to_init, \
	.fini = percpu_hash_fini, \
	.lookup = percpu_hash_lookup, \
	.lookup_percpu = percpu_hash_lookup_percpu, \
	.update = percpu_hash_update, \
	.delete = xdpvm_hash_delete, \
	.copy_out = percpu_hash_copy_out, \
	.copy_in = percpu_hash_copy_in, \
	.copy_out_cpu = percpu_hash_copy_out_cpu, \
	.copy_in_cpu = percpu_hash_copy_in_cpu, \
	.remove = xdpvm_hash_remove, \
	.take = percpu_hash_take, \
	.next_key = xdpvm_hash_next_key, \
}

const struct xdpvm_map_ops xdpvm_map_percpu_hash_ops = PERCPU_HASH_OPS(percpu_hash_init);
const struct xdpvm_map_ops xdpvm_map_lru_percpu_hash_ops = PERCPU_HASH_OPS(lru_percpu_init);
