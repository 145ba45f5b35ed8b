/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * XSKMAP: where AF_XDP sockets would be in Linux. The value is any 32-bit number by which the
 * embedder knows the consumer (0 included); unlike in Linux the control side can read it back.
 */
#include "map_types.h"
#include "redirect.h"

#define XSKMAP_FLAGS (BPF_F_NUMA_NODE | BPF_F_RDONLY | BPF_F_WRONLY)
#define PRESENT (1ull << 32)	/* above the value in its cell */

static int
xskmap_init(struct xdpvm_map *map)
{
	return xdpvm_cells_init(map, false, XSKMAP_FLAGS);
}

static int
xskmap_copy_in(struct xdpvm_map *map, const void *key, const void *value, uint64_t flags)
{
	uint32_t index = xdpvm_array_index(map, key);
	uint64_t old, new;
	uint32_t number;

	if (flags > BPF_EXIST)
		return -EINVAL;
	if (index >= map->max_entries)
		return -E2BIG;
	memcpy(&number, value, sizeof(number));
	new = number | PRESENT;
	old = __atomic_load_n(xdpvm_cell(map, index), __ATOMIC_RELAXED);
	do {
		if (old == new)
			return 0;
		if (old != 0 && flags == BPF_NOEXIST)
			return -EEXIST;
		if (old == 0 && flags == BPF_EXIST)
			return -ENOENT;
	} while (!__atomic_compare_exchange_n(xdpvm_cell(map, index), &old, new, false,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return 0;
}

static long
xskmap_redirect(struct xdpvm_map *map, uint64_t key, uint64_t flags, struct xdpvm_buff *buff)
{
	uint32_t index = key;
	const uint64_t *place = xdpvm_cells_lookup(map, &index, buff);
	/* Read once more than the lookup did: it may be empty now. */
	uint64_t cell = place != NULL ? __atomic_load_n(place, __ATOMIC_RELAXED) : 0;
	struct xdpvm_redirect target = {
		.kind = XDPVM_REDIRECT_XSK,
		.value = cell != 0 ? place : NULL,
		.key = key,
		.target = (uint32_t)cell,
	};

	return xdpvm_redirect_to(map, buff, flags, 0, &target);
}

const struct xdpvm_map_ops xdpvm_map_xskmap_ops = {
	.init = xskmap_init,
	.fini = xdpvm_cells_fini,
	.lookup = xdpvm_cells_lookup,
	.redirect = xskmap_redirect,
	.copy_out = xdpvm_cells_copy_out,
	.copy_in = xskmap_copy_in,
	.remove = xdpvm_cells_remove,
	.next_key = xdpvm_array_next_key,
};
