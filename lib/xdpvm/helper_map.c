/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers on maps: thin, each calls the map type's operation. */
#include "helper.h"
#include "map.h"

uint64_t
xdpvm_help_map_lookup_elem(uint64_t map, uint64_t key, uint64_t r3, uint64_t r4, uint64_t r5,
			   struct xdpvm_buff *buff)
{
	struct xdpvm_map *m = (struct xdpvm_map *)(uintptr_t)map;

	return (uintptr_t)m->ops->lookup(m, (const void *)(uintptr_t)key, buff);
}
