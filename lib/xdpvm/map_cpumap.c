/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CPUMAP: threads by CPU number; the value is a struct bpf_cpumap_val or its first field alone, the
 * queue size, which is the embedder's to honour, as is the second program.
 */
#include "map_types.h"
#include "redirect.h"

#define MAX_QUEUE_SIZE 16384	/* packets; Linux */

static int
cpumap_init(struct xdpvm_map *map)
{
	if (map->max_entries > XDPVM_MAX_THREADS)
		return xdpvm_fail(map->object, -E2BIG, "CPU map %s: %u entries; at most %u",
				  map->name, map->max_entries, XDPVM_MAX_THREADS);
	return xdpvm_cells_init(map, true, BPF_F_NUMA_NODE);
}

static int
cpumap_copy_in(struct xdpvm_map *map, const void *key, const void *value, uint64_t flags)
{
	uint32_t index = xdpvm_array_index(map, key);
	int ret = xdpvm_array_may_update(map, index, flags);
	struct bpf_cpumap_val entry = { 0 };
	uint64_t cell;

	if (ret != 0)
		return ret;
	memcpy(&entry, value, map->value_size);
	if (entry.qsize > MAX_QUEUE_SIZE)
		return -EOVERFLOW;
	if (!xdpvm_entry_place(map, entry.bpf_prog.fd, &entry.bpf_prog.id))
		return -EINVAL;
	memcpy(&cell, &entry, sizeof(cell));
	__atomic_store_n(xdpvm_cell(map, index), cell, __ATOMIC_RELAXED);
	return 0;
}

static long
cpumap_redirect(struct xdpvm_map *map, uint64_t key, uint64_t flags, struct xdpvm_buff *buff)
{
	uint32_t cpu = key;
	const uint64_t *cell = xdpvm_cells_lookup(map, &cpu, buff);
	struct xdpvm_redirect target = {
		.kind = XDPVM_REDIRECT_CPU,
		.value = cell,
		.key = key,
		.target = cpu,
	};

	if (cell != NULL)	/* the program is the upper half of bpf_cpumap_val */
		target.prog = xdpvm_map_entry_prog(map,
			__atomic_load_n(cell, __ATOMIC_RELAXED) >> 32);
	return xdpvm_redirect_to(map, buff, flags, 0, &target);
}

const struct xdpvm_map_ops xdpvm_map_cpumap_ops = {
	.init = cpumap_init,
	.fini = xdpvm_cells_fini,
	.lookup = xdpvm_cells_lookup,
	.redirect = cpumap_redirect,
	.copy_out = xdpvm_cells_copy_out,
	.copy_in = cpumap_copy_in,
	.remove = xdpvm_cells_remove,
	.next_key = xdpvm_array_next_key,
};
