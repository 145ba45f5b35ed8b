/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PROG_ARRAY: pointers to loaded programs, read by tail calls only (the engines know that base is
 * an array of struct xdpvm_prog *). A program that is replaced may still be entered by who read its
 * slot before; whoever frees it waits with xdpvm_synchronize().
 */
#include <stdlib.h>

#include "map.h"
#include "map_types.h"
#include "program.h"

static int
prog_array_init(struct xdpvm_map *map)
{
	if (map->key_size != 4 || map->value_size != 4 || map->max_entries == 0)
		return xdpvm_fail(map->object, -EINVAL, "program array %s: key size %u, value size "
				  "%u, %u entries; needs 4, 4, > 0", map->name, map->key_size,
				  map->value_size, map->max_entries);
	map->base = calloc(map->max_entries, sizeof(struct xdpvm_prog *));
	if (map->base == NULL)
		return xdpvm_fail(map->object, -ENOMEM, "program array %s: no memory for %u slots",
				  map->name, map->max_entries);
	return 0;
}

static void
prog_array_fini(struct xdpvm_map *map)
{
	free(map->base);
}

static struct xdpvm_prog **
slot_of(struct xdpvm_map *map, uint32_t index)
{
	return index < map->max_entries ? (struct xdpvm_prog **)map->base + index : NULL;
}

static int
prog_array_remove(struct xdpvm_map *map, const void *key)
{
	struct xdpvm_prog **slot;
	uint32_t index;

	memcpy(&index, key, sizeof(index));
	slot = slot_of(map, index);
	if (slot == NULL)
		return -E2BIG;
	return __atomic_exchange_n(slot, NULL, __ATOMIC_ACQ_REL) != NULL ? 0 : -ENOENT;
}

int
xdpvm_map_update_prog(struct xdpvm_map *map, uint32_t index, struct xdpvm_prog *prog)
{
	struct xdpvm_prog **slot;

	if (map->type != BPF_MAP_TYPE_PROG_ARRAY || map->ops == NULL)
		return xdpvm_fail(map->object, -EINVAL, "map %s is no loaded program array",
				  map->name);
	slot = slot_of(map, index);
	if (slot == NULL)
		return -E2BIG;
	/* Native code jumps to native code only. */
	if (prog != NULL && map->jit_callers && prog->tail_entry == NULL)
		return xdpvm_fail(map->object, -EINVAL,
				  "map %s: program %s has no native code, its callers have",
				  map->name, prog->name);
	__atomic_store_n(slot, prog, __ATOMIC_RELEASE);
	return 0;
}

const struct xdpvm_map_ops xdpvm_map_prog_array_ops = {
	.init = prog_array_init,
	.fini = prog_array_fini,
	.remove = prog_array_remove,
};
