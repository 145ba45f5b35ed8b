/* SPDX-License-Identifier: BSD-3-Clause */
/* RINGBUF: one ring for all threads, its helpers and its reader. */
#include <stdlib.h>

#include "helper.h"
#include "map.h"
#include "map_types.h"
#include "ring.h"

#define PAGE 4096u
#define WAKEUP_FLAGS (BPF_RB_NO_WAKEUP | BPF_RB_FORCE_WAKEUP)	/* readers here poll */

static int
ringbuf_init(struct xdpvm_map *map)
{
	uint32_t size = map->max_entries;
	int ret = xdpvm_map_check_flags(map, BPF_F_NUMA_NODE);

	if (ret != 0)
		return ret;
	if (map->key_size != 0 || map->value_size != 0 || size % PAGE != 0 || size == 0 ||
	    (size & (size - 1)) != 0)
		return xdpvm_fail(map->object, -EINVAL, "ring buffer %s: key size %u, value size %u, "
				  "%u bytes; needs 0, 0, a power of two of at least %u", map->name,
				  map->key_size, map->value_size, size, PAGE);
	map->private = calloc(1, sizeof(struct xdpvm_ring));
	if (map->private != NULL && xdpvm_ring_init(map->private, size) == 0)
		return 0;
	free(map->private);
	return xdpvm_fail(map->object, -ENOMEM, "ring buffer %s: no memory for %u bytes",
			  map->name, size);
}

static void
ringbuf_fini(struct xdpvm_map *map)
{
	xdpvm_ring_fini(map->private);
	free(map->private);
}

const struct xdpvm_map_ops xdpvm_map_ringbuf_ops = {
	.init = ringbuf_init,
	.fini = ringbuf_fini,
};

static struct xdpvm_ring *
ring_of(uint64_t map)
{
	return ((struct xdpvm_map *)xdpvm_arg_pointer(map))->private;
}

XDPVM_HELPER(ringbuf_reserve)
{
	return r3 == 0 ? (uintptr_t)xdpvm_ring_reserve(ring_of(r1), r2) : 0;
}

XDPVM_HELPER(ringbuf_submit)
{
	xdpvm_ring_commit(xdpvm_arg_pointer(r1), false);
	return 0;
}

XDPVM_HELPER(ringbuf_discard)
{
	xdpvm_ring_commit(xdpvm_arg_pointer(r1), true);
	return 0;
}

XDPVM_HELPER(ringbuf_output)
{
	void *record;

	if (r4 & ~(uint64_t)WAKEUP_FLAGS)
		return -EINVAL;
	record = xdpvm_ring_reserve(ring_of(r1), r3);
	if (record == NULL)
		return -EAGAIN;
	memcpy(record, xdpvm_arg_pointer(r2), r3);
	xdpvm_ring_commit(record, false);
	return 0;
}

XDPVM_HELPER(ringbuf_query)
{
	const struct xdpvm_ring *ring = ring_of(r1);
	uint64_t consumer = __atomic_load_n(&ring->consumer, __ATOMIC_ACQUIRE);
	uint64_t producer = __atomic_load_n(&ring->producer, __ATOMIC_ACQUIRE);

	switch (r2) {
	case BPF_RB_AVAIL_DATA:
		return producer - consumer;
	case BPF_RB_RING_SIZE:
		return ring->size;
	case BPF_RB_CONS_POS:
		return consumer;
	case BPF_RB_PROD_POS:
		return producer;
	default:
		return 0;
	}
}

int
xdpvm_ringbuf_read(struct xdpvm_map *map, xdpvm_record_fn record, void *arg, unsigned int limit)
{
	if (map->type != BPF_MAP_TYPE_RINGBUF || map->ops == NULL)
		return -EINVAL;
	return xdpvm_ring_read(map->private, record, arg, limit);
}
