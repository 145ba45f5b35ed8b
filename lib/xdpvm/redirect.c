/* SPDX-License-Identifier: BSD-3-Clause */
/* The array of cells behind DEVMAP, CPUMAP and XSKMAP; see redirect.h. */
#include <stdlib.h>

#include "object.h"
#include "redirect.h"

#define REF_BASE 0x40000000	/* above every descriptor */

int
xdpvm_prog_ref(const struct xdpvm_prog *prog)
{
	const struct xdpvm_prog *other;
	int place = 1;

	for (other = prog->object->progs; other != prog; other = other->next)
		place++;
	return REF_BASE + place;
}

bool
xdpvm_entry_place(const struct xdpvm_map *map, int fd, uint32_t *place)
{
	const struct xdpvm_prog *prog = map->object != NULL ? map->object->progs : NULL;

	*place = 0;
	if (fd <= 0)
		return true;
	for (*place = 1; prog != NULL; prog = prog->next, (*place)++) {
		if (fd == prog->fd || (uint32_t)fd == REF_BASE + *place)
			return true;
	}
	return false;
}

struct xdpvm_prog *
xdpvm_map_entry_prog(const struct xdpvm_map *map, uint32_t id)
{
	struct xdpvm_prog *prog = id != 0 && map->object != NULL ? map->object->progs : NULL;

	while (prog != NULL && --id != 0)
		prog = prog->next;
	return prog;
}

int
xdpvm_cells_init(struct xdpvm_map *map, bool value_8, uint32_t flags_allowed)
{
	int ret;

	if (map->value_size != 4 && !(value_8 && map->value_size == 8))
		return xdpvm_fail(map->object, -EINVAL, "map %s: value size %u; needs 4%s",
				  map->name, map->value_size, value_8 ? " or 8" : "");
	ret = xdpvm_array_check(map, flags_allowed);
	if (ret != 0)
		return ret;
	map->base = calloc(map->max_entries, sizeof(uint64_t));
	if (map->base == NULL)
		return xdpvm_fail(map->object, -ENOMEM, "map %s: no memory for %u entries",
				  map->name, map->max_entries);
	return 0;
}

void
xdpvm_cells_fini(struct xdpvm_map *map)
{
	free(map->base);
}

void *
xdpvm_cells_lookup(struct xdpvm_map *map, const void *key, struct xdpvm_buff *buff)
{
	uint32_t index = xdpvm_array_index(map, key);

	if (index >= map->max_entries ||
	    __atomic_load_n(xdpvm_cell(map, index), __ATOMIC_RELAXED) == 0)
		return NULL;
	return xdpvm_cell(map, index);
}

int
xdpvm_cells_copy_out(struct xdpvm_map *map, const void *key, void *value)
{
	uint32_t index = xdpvm_array_index(map, key);
	uint64_t cell = 0;

	if (index < map->max_entries)
		cell = __atomic_load_n(xdpvm_cell(map, index), __ATOMIC_RELAXED);
	if (cell == 0)
		return -ENOENT;
	memcpy(value, &cell, map->value_size);
	return 0;
}

int
xdpvm_cells_remove(struct xdpvm_map *map, const void *key)
{
	uint32_t index = xdpvm_array_index(map, key);

	if (index >= map->max_entries)
		return -EINVAL;
	__atomic_store_n(xdpvm_cell(map, index), 0, __ATOMIC_RELAXED);
	return 0;
}
