/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PERF_EVENT_ARRAY: a ring for each thread, where Linux has a perf event for each CPU that somebody
 * opened. The rings are there from the start; pages come when they are written.
 */
#include <stdlib.h>

#include "helper.h"
#include "map.h"
#include "map_types.h"
#include "ring.h"

#define RING_BYTES (64u << 10)	/* 8 MiB in all, if the process locks its memory */
#define PERF_FLAGS (BPF_F_PRESERVE_ELEMS | XDPVM_MAP_ACCESS_FLAGS)

struct perf {
	struct xdpvm_ring rings[XDPVM_MAX_THREADS];
	uint64_t lost[XDPVM_MAX_THREADS];	/* since the last read */
};

static void
perf_fini(struct xdpvm_map *map)
{
	struct perf *perf = map->private;

	for (uint32_t cpu = 0; cpu < XDPVM_MAX_THREADS; cpu++)
		xdpvm_ring_fini(&perf->rings[cpu]);
	free(perf);
}

static int
perf_init(struct xdpvm_map *map)
{
	struct perf *perf;
	int ret = xdpvm_map_check_flags(map, PERF_FLAGS);

	if (ret != 0)
		return ret;
	if (map->key_size != 4 || map->value_size != 4)
		return xdpvm_fail(map->object, -EINVAL,
				  "perf event array %s: key size %u, value size %u; needs 4, 4",
				  map->name, map->key_size, map->value_size);
	perf = calloc(1, sizeof(*perf));
	if (perf == NULL)
		return xdpvm_fail(map->object, -ENOMEM, "perf event array %s: no memory", map->name);
	map->private = perf;
	for (uint32_t cpu = 0; cpu < XDPVM_MAX_THREADS; cpu++) {
		if (xdpvm_ring_init(&perf->rings[cpu], RING_BYTES) != 0) {
			perf_fini(map);
			return xdpvm_fail(map->object, -ENOMEM,
					  "perf event array %s: no memory for %u rings of %u bytes",
					  map->name, XDPVM_MAX_THREADS, RING_BYTES);
		}
	}
	return 0;
}

const struct xdpvm_map_ops xdpvm_map_perf_ops = {
	.init = perf_init,
	.fini = perf_fini,
};

/*
 * Whose ring flags ask for. Linux refuses the event of another CPU. "The current one" works for
 * every thread, because their numbers do not depend on the machine's CPUs, as max_entries does.
 */
static long
ring_index(const struct xdpvm_map *map, uint64_t flags, const struct xdpvm_buff *buff)
{
	uint64_t index = flags & BPF_F_INDEX_MASK;

	if (index == BPF_F_CURRENT_CPU)
		return buff->thread->cpu;
	if (index >= map->max_entries)
		return -E2BIG;
	return index == buff->thread->cpu ? (long)index : -EOPNOTSUPP;
}

XDPVM_HELPER(perf_event_output)
{
	struct xdpvm_buff *xdp = xdpvm_arg_pointer(r1);
	struct xdpvm_map *map = xdpvm_arg_pointer(r2);
	struct perf *perf = map->private;
	uint64_t piece = (r3 & BPF_F_CTXLEN_MASK) >> 32;
	uint8_t *record;
	long cpu;

	if (r3 & ~(BPF_F_CTXLEN_MASK | BPF_F_INDEX_MASK))
		return -EINVAL;
	if (piece > (uint64_t)(xdp->data_end - xdp->data))
		return -EFAULT;
	cpu = ring_index(map, r3, buff);
	if (cpu < 0)
		return cpu;
	record = xdpvm_ring_reserve(&perf->rings[cpu], r5 + piece);
	if (record == NULL) {
		__atomic_fetch_add(&perf->lost[cpu], 1, __ATOMIC_RELAXED);
		return -ENOSPC;
	}
	memcpy(record, xdpvm_arg_pointer(r4), r5);
	memcpy(record + r5, xdp->data, piece);
	xdpvm_ring_commit(record, false);
	return 0;
}

int
xdpvm_perf_read(struct xdpvm_map *map, uint32_t cpu, xdpvm_record_fn record, void *arg,
		unsigned int limit, uint64_t *lost)
{
	struct perf *perf = map->private;

	if (map->type != BPF_MAP_TYPE_PERF_EVENT_ARRAY || map->ops == NULL ||
	    cpu >= XDPVM_MAX_THREADS)
		return -EINVAL;
	if (lost != NULL)
		*lost = __atomic_exchange_n(&perf->lost[cpu], 0, __ATOMIC_RELAXED);
	return xdpvm_ring_read(&perf->rings[cpu], record, arg, limit);
}
