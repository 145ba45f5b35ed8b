/* SPDX-License-Identifier: BSD-3-Clause */
/* See sync_refs.h. As with values, what a tool wrote goes before what was written here. */
#include <stdlib.h>

#include <bpf/bpf.h>

#include "object.h"
#include "sync_refs.h"

bool
xdpvm_sync_refs_wanted(const struct xdpvm_map *map)
{
	return map->fd >= 0 && map->ops != NULL &&
	       !(map->flags & (BPF_F_RDONLY | BPF_F_WRONLY)) &&
	       (map->type == BPF_MAP_TYPE_PROG_ARRAY || map->type == BPF_MAP_TYPE_ARRAY_OF_MAPS);
}

int
xdpvm_sync_refs_init(struct xdpvm_sync_refs *refs, struct xdpvm_map *map)
{
	*refs = (struct xdpvm_sync_refs){ .map = map };
	refs->kernel = calloc(map->max_entries, sizeof(*refs->kernel));
	refs->own = calloc(map->max_entries, sizeof(*refs->own));
	return refs->kernel != NULL && refs->own != NULL ? 0 : -ENOMEM;
}

void
xdpvm_sync_refs_fini(struct xdpvm_sync_refs *refs)
{
	free(refs->kernel);
	free(refs->own);
}

static const void *
own_slot(const struct xdpvm_map *map, uint32_t slot)
{
	const void *const *slots = (const void *const *)(const void *)map->base;

	return __atomic_load_n(&slots[slot], __ATOMIC_ACQUIRE);
}

/* The id in a slot of the kernel's map, 0 when it is empty. */
static uint32_t
kernel_slot(const struct xdpvm_map *map, uint32_t slot)
{
	uint32_t id = 0;

	return bpf_map_lookup_elem(map->fd, &slot, &id) == 0 ? id : 0;
}

uint32_t
xdpvm_sync_prog_id(const struct xdpvm_prog *prog)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);

	if (prog == NULL || prog->fd < 0 || bpf_obj_get_info_by_fd(prog->fd, &info, &size) != 0)
		return 0;
	return info.id;
}

struct xdpvm_prog *
xdpvm_sync_prog_of(const struct xdpvm_object *object, uint32_t id)
{
	struct xdpvm_prog *prog = object->progs;

	while (prog != NULL && xdpvm_sync_prog_id(prog) != id)
		prog = prog->next;
	return prog;
}

static uint32_t
map_id(int fd)
{
	struct bpf_map_info info = { 0 };
	uint32_t size = sizeof(info);

	return fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &size) == 0 ? info.id : 0;
}

static int
put_prog(struct xdpvm_map *map, uint32_t slot, uint32_t id)
{
	struct xdpvm_prog *prog = xdpvm_sync_prog_of(map->object, id);

	return prog != NULL ? xdpvm_map_update_prog(map, slot, prog) : -ENOENT;
}

static int
put_map(struct xdpvm_map *map, uint32_t slot, uint32_t id)
{
	struct xdpvm_object *object = map->object;

	for (uint32_t i = 0; i < object->n_maps; i++)
		if (map_id(object->maps[i].fd) == id)
			return xdpvm_map_update_map(map, &slot, &object->maps[i], BPF_ANY);
	return -ENOENT;
}

static void
take(struct xdpvm_sync_refs *refs, uint32_t slot, uint32_t id, struct xdpvm_sync_stats *stats)
{
	struct xdpvm_map *map = refs->map;
	int ret = 0;

	if (id == 0)
		map->ops->remove(map, &slot);
	else if (map->type == BPF_MAP_TYPE_PROG_ARRAY)
		ret = put_prog(map, slot, id);
	else
		ret = put_map(map, slot, id);
	if (ret == 0)
		stats->taken++;
	else
		stats->refused++;
	refs->kernel[slot] = id;
	refs->own[slot] = own_slot(map, slot);
}

static void
give(struct xdpvm_sync_refs *refs, uint32_t slot, const void *now, struct xdpvm_sync_stats *stats)
{
	const struct xdpvm_map *map = refs->map;
	int fd, ret;

	if (now == NULL) {
		ret = bpf_map_delete_elem(map->fd, &slot);
	} else {
		fd = map->type == BPF_MAP_TYPE_PROG_ARRAY ? ((const struct xdpvm_prog *)now)->fd :
							    ((const struct xdpvm_map *)now)->fd;
		ret = bpf_map_update_elem(map->fd, &slot, &fd, BPF_ANY);
	}
	if (ret == 0)
		stats->given++;
	else
		stats->refused++;
	refs->kernel[slot] = kernel_slot(map, slot);
	refs->own[slot] = now;
}

void
xdpvm_sync_refs_round(struct xdpvm_sync_refs *refs, struct xdpvm_sync_stats *stats)
{
	for (uint32_t slot = 0; slot < refs->map->max_entries; slot++) {
		uint32_t id = kernel_slot(refs->map, slot);
		const void *now = own_slot(refs->map, slot);

		if (id != refs->kernel[slot])
			take(refs, slot, id, stats);
		else if (now != refs->own[slot])
			give(refs, slot, now, stats);
	}
}
