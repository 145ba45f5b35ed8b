/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The maps of an object: their definitions as libbpf read them, and after the load their memory.
 * Globals (.rodata, .data, .bss, .kconfig) are array maps of one element in libbpf's own memory,
 * which is the kernel map's when there is one.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "object.h"

static size_t
page_round(size_t size)
{
	size_t page = sysconf(_SC_PAGESIZE);

	return (size + page - 1) & ~(page - 1);
}

/*
 * End of the struct bpf_spin_lock among the value's members, as Linux wants it; 0: none, or one
 * that is not inside the value.
 */
static uint32_t
value_lock_end(const struct bpf_object *object, const struct bpf_map *map)
{
	const struct btf *btf = bpf_object__btf(object);
	const struct btf_type *type, *member_type;
	const struct btf_member *member;
	uint64_t end;

	if (btf == NULL)
		return 0;
	type = btf__type_by_id(btf, bpf_map__btf_value_type_id(map));
	if (type == NULL || !btf_is_struct(type))
		return 0;
	member = btf_members(type);
	for (uint16_t i = 0; i < btf_vlen(type); i++) {
		member_type = btf__type_by_id(btf, member[i].type);
		end = btf_member_bit_offset(type, i) / 8 + sizeof(struct bpf_spin_lock);
		if (btf_is_struct(member_type) && end <= bpf_map__value_size(map) &&
		    strcmp(btf__name_by_offset(btf, member_type->name_off), "bpf_spin_lock") == 0)
			return end;
	}
	return 0;
}

static void
map_define(struct xdpvm_map *map, struct bpf_map *bpf)
{
	map->bpf = bpf;
	map->fd = -1;
	map->type = bpf_map__type(bpf);
	map->key_size = bpf_map__key_size(bpf);
	map->value_size = bpf_map__value_size(bpf);
	map->max_entries = bpf_map__max_entries(bpf);
	map->flags = bpf_map__map_flags(bpf);
	map->lock_end = value_lock_end(map->object->bpf, bpf);
	strncpy(map->name, bpf_map__name(bpf), sizeof(map->name) - 1);
}

static int
map_define_inner(struct xdpvm_map *map)
{
	struct bpf_map *inner = bpf_map__inner_map(map->bpf);

	if (inner == NULL)
		return 0;
	map->inner_template = calloc(1, sizeof(*map->inner_template));
	if (map->inner_template == NULL)
		return -ENOMEM;
	map->inner_template->object = map->object;
	map_define(map->inner_template, inner);
	return 0;
}

int
xdpvm_object_maps_open(struct xdpvm_object *object)
{
	uint32_t limit = object->options.max_entries;
	struct xdpvm_map *map;
	struct bpf_map *bpf;
	uint32_t n = 0;

	bpf_object__for_each_map(bpf, object->bpf)
		n++;
	object->maps = calloc(n + 1, sizeof(*object->maps));
	if (object->maps == NULL)
		return xdpvm_fail(object, -ENOMEM, "no memory for %u maps", n);
	bpf_object__for_each_map(bpf, object->bpf) {
		map = &object->maps[object->n_maps++];
		map->object = object;
		map_define(map, bpf);
		if (limit != 0 && map->max_entries > limit)
			return xdpvm_fail(object, -E2BIG, "map %s: %u entries, more than %u",
					  map->name, map->max_entries, limit);
		if (map_define_inner(map) != 0)
			return xdpvm_fail(object, -ENOMEM, "map %s: no memory", map->name);
	}
	return 0;
}

/*
 * The globals of a section without visible variables: libbpf keeps no memory of these from
 * release 1.5 on, when the kernel has the map.
 */
static int
globals_read(struct xdpvm_map *map)
{
	uint32_t first = 0;

	if (map->fd < 0 || bpf_map_lookup_elem(map->fd, &first, map->base) != 0)
		return xdpvm_fail(map->object, -ENOTSUP, "map %s: its contents cannot be read",
				  map->name);
	return 0;
}

/* Globals live in libbpf's memory; read-only ones are made so for us too. */
static int
globals_load(struct xdpvm_map *map)
{
	size_t size;
	void *memory = (void *)(uintptr_t)bpf_map__initial_value(map->bpf, &size);
	int ret;

	map->base = memory;
	map->shared_memory = memory != NULL;
	ret = xdpvm_map_init(map);
	if (ret == 0 && memory == NULL)
		ret = globals_read(map);
	if (ret != 0)
		return ret;
	map->frozen = (map->flags & BPF_F_RDONLY_PROG) != 0;
	if (map->frozen && mprotect(map->base, page_round(map->value_size), PROT_READ) != 0)
		return xdpvm_fail(map->object, -errno, "map %s: cannot be made read-only",
				  map->name);
	return 0;
}

/* The kernel's array memory, when it can be mapped; otherwise the map gets memory of its own. */
static void
array_attach(struct xdpvm_map *map)
{
	size_t size = (size_t)((map->value_size + 7) & ~7u) * map->max_entries;
	void *memory;

	if (map->fd < 0 || !(bpf_map__map_flags(map->bpf) & BPF_F_MMAPABLE))
		return;
	memory = mmap(NULL, page_round(size), PROT_READ | PROT_WRITE, MAP_SHARED, map->fd, 0);
	if (memory == MAP_FAILED)
		return;
	map->base = memory;
	map->shared_memory = true;
}

static int
map_load(struct xdpvm_map *map)
{
	map->fd = map->object->verify == XDPVM_VERIFY_KERNEL ? bpf_map__fd(map->bpf) : -1;
	map->max_entries = bpf_map__max_entries(map->bpf);
	/* The prover lets programs write to a lock as to any field: nobody may wait for it then. */
	if (map->object->verify == XDPVM_VERIFY_INTERNAL)
		map->lock_end = 0;
	if (xdpvm_map_ops_of(map->type) == NULL)
		return 0;	/* refused when a program that is loaded refers to it */
	if (bpf_map__is_internal(map->bpf))
		return globals_load(map);
	if (map->type == BPF_MAP_TYPE_ARRAY)
		array_attach(map);
	return xdpvm_map_init(map);
}

int
xdpvm_object_maps_load(struct xdpvm_object *object)
{
	int ret = 0;

	for (uint32_t i = 0; i < object->n_maps && ret == 0; i++)
		ret = map_load(&object->maps[i]);
	return ret;
}

static void
map_detach(struct xdpvm_map *map)
{
	bool array = map->shared_memory && !bpf_map__is_internal(map->bpf);

	xdpvm_map_fini(map);
	if (array)
		munmap(map->base, page_round((size_t)((map->value_size + 7) & ~7u) *
					     map->max_entries));
	free(map->inner_template);
}

void
xdpvm_object_maps_free(struct xdpvm_object *object)
{
	for (uint32_t i = 0; i < object->n_maps; i++)
		map_detach(&object->maps[i]);
	free(object->maps);
	object->maps = NULL;
	object->n_maps = 0;
}

struct xdpvm_map *
xdpvm_map_find(struct xdpvm_object *object, const char *name)
{
	/* libbpf knows the short names of globals (".rodata"). */
	const struct bpf_map *bpf = bpf_object__find_map_by_name(object->bpf, name);

	for (uint32_t i = 0; i < object->n_maps; i++)
		if (object->maps[i].bpf == bpf)
			return &object->maps[i];
	return NULL;
}

struct xdpvm_map *
xdpvm_map_next(struct xdpvm_object *object, const struct xdpvm_map *map)
{
	uint32_t next = map != NULL ? map - object->maps + 1 : 0;

	return next < object->n_maps ? &object->maps[next] : NULL;
}

int
xdpvm_map_set_max_entries(struct xdpvm_map *map, uint32_t max_entries)
{
	int ret;

	if (map->ops != NULL || map->object->loaded)
		return -EBUSY;
	ret = bpf_map__set_max_entries(map->bpf, max_entries);
	if (ret == 0)
		map->max_entries = max_entries;
	return ret;
}

int
xdpvm_map_pin(struct xdpvm_map *map, const char *path)
{
	if (map->fd < 0)
		return xdpvm_fail(map->object, -ENOTSUP,
				  "map %s cannot be pinned: there is no kernel map behind it",
				  map->name);
	if (bpf_obj_pin(map->fd, path) != 0)
		return xdpvm_fail(map->object, -errno, "map %s cannot be pinned at %s: %s",
				  map->name, path, strerror(errno));
	return 0;
}
