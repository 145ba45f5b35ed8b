/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CO-RE without the kernel: the linker leaves the compiler's own offsets in place. They are right
 * for structures that never change (struct xdp_md, headers on the wire); everything else must be
 * adapted to the running kernel and is refused.
 */
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "elf_file.h"
#include "object.h"

/* From linux/bpf.h and the include/uapi headers of the protocols. */
static const struct {
	const char *name;
	uint32_t size;		/* bytes */
} fixed_structs[] = {
	{ "arphdr", 8 },
	{ "ethhdr", 14 },
	{ "icmp6hdr", 8 },
	{ "icmphdr", 8 },
	{ "iphdr", 20 },
	{ "ipv6hdr", 40 },
	{ "tcphdr", 20 },
	{ "udphdr", 8 },
	{ "vlan_hdr", 4 },
	{ "xdp_md", 24 },
};

struct checker {
	const struct xdpvm_object *object;
	const struct btf *btf;
};

static bool
is_fixed(const struct btf_type *type, const char *name)
{
	for (size_t i = 0; i < sizeof(fixed_structs) / sizeof(fixed_structs[0]); i++)
		if (strcmp(fixed_structs[i].name, name) == 0)
			return btf_is_struct(type) && type->size == fixed_structs[i].size;
	return false;
}

static bool
section_is_loaded(const struct xdpvm_object *object, const char *section)
{
	if (strcmp(section, ".text") == 0)
		return true;
	for (const struct xdpvm_prog *prog = object->progs; prog != NULL; prog = prog->next)
		if (strcmp(prog->section, section) == 0)
			return true;
	return false;
}

static int
check_relo(void *arg, uint32_t section_name, const void *record)
{
	const struct checker *checker = arg;
	const struct bpf_core_relo *relo = record;
	const char *section = btf__str_by_offset(checker->btf, section_name);
	const struct btf_type *type = btf__type_by_id(checker->btf, relo->type_id);
	const char *name = btf__name_by_offset(checker->btf, type->name_off);

	if (!section_is_loaded(checker->object, section) || is_fixed(type, name))
		return 0;
	return xdpvm_fail(checker->object, -ENOTSUP,
			  "section %s, instruction %u: CO-RE access to %s, whose layout only the "
			  "kernel knows; needs verify=kernel", section,
			  relo->insn_off / (uint32_t)sizeof(struct bpf_insn), name);
}

int
xdpvm_core_relo_check(const struct xdpvm_object *object)
{
	struct checker checker = { object, bpf_object__btf(object->bpf) };
	struct xdpvm_elf elf;

	if (checker.btf == NULL)
		return 0;
	xdpvm_elf_open(&elf, object->image);
	return xdpvm_btf_ext_each(&elf, XDPVM_BTF_EXT_RELOS, check_relo, &checker);
}
