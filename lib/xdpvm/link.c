/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last link step: references to maps become addresses, and every call is to something that
 * exists here. What a kernel has and this library cannot honour is refused here by name.
 */
#include <bpf/libbpf.h>

#include "helper.h"
#include "object.h"

static struct xdpvm_map *
map_by_fd(const struct xdpvm_object *object, int fd)
{
	for (uint32_t i = 0; i < object->n_maps; i++)
		if (object->maps[i].fd == fd)
			return &object->maps[i];
	return NULL;
}

/* The kernel's way names maps by descriptor, the linker's by index. */
static struct xdpvm_map *
map_of(const struct xdpvm_object *object, const struct bpf_insn *insn)
{
	if (insn->src_reg == BPF_PSEUDO_MAP_FD || insn->src_reg == BPF_PSEUDO_MAP_VALUE)
		return insn->imm >= 0 ? map_by_fd(object, insn->imm) : NULL;
	return (uint32_t)insn->imm < object->n_maps ? &object->maps[insn->imm] : NULL;
}

static void
set_imm64(struct bpf_insn *insn, uint8_t kind, const void *pointer)
{
	insn[0].src_reg = kind;
	insn[0].imm = (uint32_t)(uintptr_t)pointer;
	insn[1].imm = (uint64_t)(uintptr_t)pointer >> 32;
}

static const char *
type_name(enum bpf_map_type type)
{
	const char *name = libbpf_bpf_map_type_str(type);

	return name != NULL ? name : "unknown";
}

static int
link_map(struct xdpvm_prog *prog, uint32_t i, bool value)
{
	struct bpf_insn *insn = &prog->insns[i];
	struct xdpvm_map *map = map_of(prog->object, insn);
	uint32_t offset = insn[1].imm;

	if (map == NULL)
		return xdpvm_prog_fail(prog, i, -EINVAL, "refers to a map that the object has not");
	if (map->ops == NULL)
		return xdpvm_prog_fail(prog, i, -ENOTSUP, "map %s: maps of type %s (%u) are not "
				       "supported", map->name, type_name(map->type), map->type);
	prog->info[i].map = map;
	if (map->type == BPF_MAP_TYPE_PROG_ARRAY)
		map->jit_callers |= xdpvm_jit_wanted(prog);
	if (!value) {
		set_imm64(insn, BPF_PSEUDO_MAP_FD, map);
		return 0;
	}
	if (map->layout != XDPVM_LAYOUT_ARRAY)
		return xdpvm_prog_fail(prog, i, -EINVAL, "map %s: only arrays have direct values",
				       map->name);
	if (offset >= map->value_size)
		return xdpvm_prog_fail(prog, i, -EINVAL, "map %s: offset %u is outside its value of %u",
				       map->name, offset, map->value_size);
	set_imm64(insn, BPF_PSEUDO_MAP_VALUE, map->base + offset);
	return 0;
}

static int
refuse_ksym(const struct xdpvm_prog *prog, uint32_t i)
{
	bool call = xdpvm_is_call(&prog->insns[i], BPF_PSEUDO_KFUNC_CALL);
	char names[256];

	xdpvm_object_ksyms(prog->object, names, sizeof(names));
	return xdpvm_prog_fail(prog, i, -ENOTSUP, "%s of the kernel (the object declares %s), which "
			       "a program in user space cannot reach",
			       call ? "calls a function" : "uses a symbol", names);
}

static int
link_wide_load(struct xdpvm_prog *prog, uint32_t i)
{
	switch (prog->insns[i].src_reg) {
	case 0:
	case BPF_PSEUDO_FUNC:
		return 0;
	case BPF_PSEUDO_MAP_FD:
	case BPF_PSEUDO_MAP_IDX:
		return link_map(prog, i, false);
	case BPF_PSEUDO_MAP_VALUE:
	case BPF_PSEUDO_MAP_IDX_VALUE:
		return link_map(prog, i, true);
	case BPF_PSEUDO_BTF_ID:
		return refuse_ksym(prog, i);
	default:
		return xdpvm_prog_fail(prog, i, -EINVAL, "unknown kind of constant (%u)",
				       prog->insns[i].src_reg);
	}
}

static int
link_call(struct xdpvm_prog *prog, uint32_t i)
{
	const struct bpf_insn *insn = &prog->insns[i];

	if (insn->src_reg == BPF_PSEUDO_CALL)
		return 0;
	if (insn->src_reg == BPF_PSEUDO_KFUNC_CALL)
		return refuse_ksym(prog, i);
	if (insn->src_reg != 0)
		return xdpvm_prog_fail(prog, i, -EINVAL, "unknown kind of call (%u)", insn->src_reg);
	if (xdpvm_helper_get(insn->imm) == NULL)
		return xdpvm_prog_fail(prog, i, -ENOTSUP, "helper %d (%s) is not supported in XDP "
				       "programs here", insn->imm, xdpvm_helper_name(insn->imm));
	if (insn->imm == BPF_FUNC_tail_call)
		prog->uses_tail_calls = true;
	return 0;
}

int
xdpvm_link(struct xdpvm_prog *prog)
{
	int ret = 0;

	for (uint32_t i = 0; i < prog->n_insns && ret == 0; i++) {
		if (xdpvm_is_ld_imm64(&prog->insns[i]))
			ret = link_wide_load(prog, i++);
		else if (prog->insns[i].code == (BPF_JMP | BPF_CALL))
			ret = link_call(prog, i);
	}
	return ret;
}
