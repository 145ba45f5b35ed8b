/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Initial values of PROG_ARRAYs and maps of maps: ".values = { [3] = &prog }" leaves a relocation
 * in the .maps section, at the map's variable plus the offset of its member "values" plus the slot.
 */
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "elf_file.h"
#include "object.h"

#define SLOT_BYTES 8	/* a pointer in the BPF object */

/* Offset of a map definition's member "values" in bytes, or -1. */
static int64_t
values_offset(const struct btf *btf, uint32_t type_id)
{
	const struct btf_type *type = btf__type_by_id(btf, type_id);
	const struct btf_member *member;

	while (type != NULL && (btf_is_mod(type) || btf_is_typedef(type)))
		type = btf__type_by_id(btf, type->type);
	if (type == NULL || !btf_is_struct(type))
		return -1;
	member = btf_members(type);
	for (uint16_t i = 0; i < btf_vlen(type); i++, member++)
		if (strcmp(btf__name_by_offset(btf, member->name_off), "values") == 0)
			return btf_member_bit_offset(type, i) / 8;
	return -1;
}

/* Which map, and which slot of it, an offset in .maps belongs to. */
static struct xdpvm_map *
find_slot(struct xdpvm_object *object, const struct btf *btf, uint64_t offset, uint32_t *slot)
{
	const struct btf_type *section, *variable;
	const struct btf_var_secinfo *info;
	int64_t values;
	int32_t id = btf__find_by_name_kind(btf, ".maps", BTF_KIND_DATASEC);

	if (id < 0)
		return NULL;
	section = btf__type_by_id(btf, id);
	info = btf_var_secinfos(section);
	for (uint16_t i = 0; i < btf_vlen(section); i++, info++) {
		if (offset < info->offset || offset >= (uint64_t)info->offset + info->size)
			continue;
		variable = btf__type_by_id(btf, info->type);
		values = values_offset(btf, variable->type);
		if (values < 0 || offset < info->offset + (uint64_t)values)
			return NULL;
		*slot = (offset - info->offset - values) / SLOT_BYTES;
		return xdpvm_map_find(object, btf__name_by_offset(btf, variable->name_off));
	}
	return NULL;
}

static int
fill_slot(struct xdpvm_object *object, struct xdpvm_map *map, uint32_t slot, const char *target)
{
	int ret;

	if (map->ops == NULL)
		return 0;	/* no loaded program uses a map of this type */
	if (map->type == BPF_MAP_TYPE_PROG_ARRAY) {
		struct xdpvm_prog *prog = xdpvm_prog_find(object, target);

		/* Programs of other types stay out: an XDP program cannot call them. */
		ret = prog != NULL ? xdpvm_map_update_prog(map, slot, prog) : 0;
	} else {
		struct xdpvm_map *inner = xdpvm_map_find(object, target);

		ret = inner != NULL ? xdpvm_map_update_map(map, &slot, inner, 0) : -ENOENT;
	}
	if (ret != 0)
		return xdpvm_fail(object, ret, "map %s: %s cannot be put into slot %u: %s",
				  map->name, target, slot, strerror(-ret));
	return 0;
}

int
xdpvm_object_slots(struct xdpvm_object *object)
{
	const struct btf *btf = bpf_object__btf(object->bpf);
	const Elf64_Rel *relocations;
	struct xdpvm_elf elf;
	uint32_t count, section;
	int ret = 0;

	xdpvm_elf_open(&elf, object->image);
	section = xdpvm_elf_find(&elf, ".maps");
	if (btf == NULL || section == 0)
		return 0;
	relocations = xdpvm_elf_relocations(&elf, section, &count);
	for (uint32_t i = 0; i < count && ret == 0; i++) {
		uint32_t symbol = ELF64_R_SYM(relocations[i].r_info), slot;
		struct xdpvm_map *map = find_slot(object, btf, relocations[i].r_offset, &slot);

		if (map != NULL)
			ret = fill_slot(object, map, slot, xdpvm_elf_symbol_name(&elf, symbol));
	}
	return ret;
}
