/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much memory an object's maps may take, all together. An object asks for what it likes, and
 * Linux counts that on the memory cgroup of who loads it; here the process itself would be the
 * victim. Pages come when they are first written, so what is counted is the most there can be.
 * With verify=kernel the kernel makes the same maps, and their memory at once: so the limit holds
 * before the kernel is asked. (Linux 6.18 crashes on a PERCPU_ARRAY of more than 2^31 entries when
 * memory runs out.)
 */
#include <unistd.h>

#include "object.h"

#define DEFAULT_MAX (4ull << 30)	/* bytes, or half of the machine's memory if that is less */

/* Bytes of an entry are nodes * (overhead + key + value). */
struct cost {
	uint8_t nodes;
	uint8_t overhead;	/* of a node, rounded up */
	bool key;
	bool value;
};

static const struct cost costs[] = {
	[BPF_MAP_TYPE_ARRAY] = { 1, 0, false, true },
	[BPF_MAP_TYPE_QUEUE] = { 1, 0, false, true },
	[BPF_MAP_TYPE_STACK] = { 1, 0, false, true },
	[BPF_MAP_TYPE_RINGBUF] = { 1, 1, false, false },
	[BPF_MAP_TYPE_PROG_ARRAY] = { 1, 8, false, false },
	[BPF_MAP_TYPE_ARRAY_OF_MAPS] = { 1, 8, false, false },
	[BPF_MAP_TYPE_DEVMAP] = { 1, 8, false, false },
	[BPF_MAP_TYPE_CPUMAP] = { 1, 8, false, false },
	[BPF_MAP_TYPE_XSKMAP] = { 1, 8, false, false },
	/* Header, up to four buckets of 4 bytes, and a place in the ring of free elements. */
	[BPF_MAP_TYPE_HASH] = { 1, 40, true, true },
	[BPF_MAP_TYPE_LRU_HASH] = { 1, 40, true, true },
	[BPF_MAP_TYPE_DEVMAP_HASH] = { 1, 40, true, true },
	[BPF_MAP_TYPE_HASH_OF_MAPS] = { 1, 40, true, true },
	[BPF_MAP_TYPE_PERCPU_HASH] = { 1, 48, true, true },
	[BPF_MAP_TYPE_LRU_PERCPU_HASH] = { 1, 48, true, true },
	[BPF_MAP_TYPE_PERCPU_ARRAY] = { 1, 8, false, true },
	[BPF_MAP_TYPE_PERF_EVENT_ARRAY] = { 1, 8, false, false },
	/* Each prefix may need a joint. */
	[BPF_MAP_TYPE_LPM_TRIE] = { 2, 32, true, true },
};

static uint64_t
round_up(uint32_t bytes)
{
	return (bytes + 7ull) & ~7ull;
}

/* Types that only a kernel has take what a hash takes. */
static const struct cost *
cost_of(enum bpf_map_type type)
{
	if (type < sizeof(costs) / sizeof(costs[0]) && costs[type].nodes != 0)
		return &costs[type];
	return &costs[BPF_MAP_TYPE_HASH];
}

/* UINT64_MAX when it is more than that. */
static uint64_t
map_bytes(const struct xdpvm_map *map)
{
	const struct cost *cost = cost_of(map->type);
	uint64_t node = cost->overhead, bytes;

	if (cost->key)
		node += round_up(map->key_size);
	if (cost->value)
		node += round_up(map->value_size);
	return __builtin_mul_overflow(node * cost->nodes, map->max_entries, &bytes) ? UINT64_MAX :
										     bytes;
}

static uint64_t
default_max(void)
{
	uint64_t half = (uint64_t)sysconf(_SC_PHYS_PAGES) / 2 * sysconf(_SC_PAGESIZE);

	return half < DEFAULT_MAX ? half : DEFAULT_MAX;
}

/* Takes what a map may use from what is left of max; both in bytes. */
static int
check_map(const struct xdpvm_map *map, uint64_t max, uint64_t *left)
{
	uint64_t bytes = map_bytes(map);

	if (xdpvm_map_is_percpu(map->type) &&
	    round_up(map->value_size) * map->max_entries > XDPVM_PERCPU_STRIDE)
		return xdpvm_fail(map->object, -E2BIG, "map %s: %u per-CPU values of %u bytes; each "
				  "thread has %lu MiB for such values", map->name, map->max_entries,
				  map->value_size, XDPVM_PERCPU_STRIDE >> 20);
	if (bytes > *left)
		return xdpvm_fail(map->object, -E2BIG, "map %s: %u entries of %u + %u bytes may take "
				  "%llu MiB; of %llu MiB for all maps %llu are left", map->name,
				  map->max_entries, map->key_size, map->value_size,
				  (unsigned long long)bytes >> 20, (unsigned long long)max >> 20,
				  (unsigned long long)*left >> 20);
	*left -= bytes;
	return 0;
}

int
xdpvm_object_maps_check(const struct xdpvm_object *object)
{
	uint64_t max = object->options.map_memory != 0 ? object->options.map_memory : default_max();
	uint64_t left = max;
	int ret = 0;

	for (uint32_t i = 0; i < object->n_maps && ret == 0; i++) {
		ret = check_map(&object->maps[i], max, &left);
		if (ret == 0 && object->maps[i].inner_template != NULL)
			ret = check_map(object->maps[i].inner_template, max, &left);
	}
	return ret;
}
