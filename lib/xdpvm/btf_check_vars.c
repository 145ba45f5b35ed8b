/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Variables. A DATASEC lists those of an ELF section; the compiler leaves out where they are, and
 * libbpf takes that from symbols of the same name. Variables that the kernel provides (.ksyms) and
 * that its configuration provides (.kconfig) have no section.
 */
#include "object_check.h"

#define KCONFIG_VALUE_MAX 4096u	/* bytes; libbpf reads lines of PATH_MAX of the configuration */

struct checker {
	const struct xdpvm_object *object;
	const struct xdpvm_elf *elf;
	const struct xdpvm_btf_view *btf;
	const char *section_name;
	uint32_t section;	/* index, 0 when the kernel is to provide it */
	uint64_t size;		/* of the section */
	uint32_t n_variables;	/* of all sections */
};

static const char *
name_of(const struct checker *checker, const struct btf_type *type)
{
	return checker->btf->strings + type->name_off;
}

/* The symbol that libbpf takes for a global variable, NULL when there is none. */
static const Elf64_Sym *
find_symbol(const struct checker *checker, const char *name)
{
	for (uint32_t i = 0; i < checker->elf->n_symbols; i++) {
		const Elf64_Sym *symbol = &checker->elf->symbols[i];

		if (ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT &&
		    ELF64_ST_BIND(symbol->st_info) != STB_LOCAL &&
		    strcmp(xdpvm_elf_symbol_name(checker->elf, i), name) == 0)
			return symbol;
	}
	return NULL;
}

static const struct btf_type *
skip_modifiers(const struct checker *checker, uint32_t id)
{
	const struct btf_type *type = xdpvm_btf_view_type(checker->btf, id);

	while (btf_is_mod(type) || btf_is_typedef(type))
		type = xdpvm_btf_view_type(checker->btf, type->type);
	return type;
}

/* Whether a member of a map definition, __uint(type, N), says that the map is one of this type. */
static bool
member_is_type(const struct checker *checker, const struct btf_member *member, uint32_t map_type)
{
	const struct btf_type *type = skip_modifiers(checker, member->type);

	if (strcmp(checker->btf->strings + member->name_off, "type") != 0 || !btf_is_ptr(type))
		return false;
	type = xdpvm_btf_view_type(checker->btf, type->type);
	return btf_is_array(type) && btf_array(type)->nelems == map_type;
}

/*
 * libbpf believes that a map of this type came from section .struct_ops, with what belongs to it.
 * Any structure may be the definition of an inner map, so all of them are looked at.
 */
static int
check_map_types(const struct checker *checker)
{
	for (uint32_t id = 1; id <= checker->btf->n_types; id++) {
		const struct btf_type *type = xdpvm_btf_view_type(checker->btf, id);

		for (uint32_t i = 0; btf_is_composite(type) && i < btf_vlen(type); i++)
			if (member_is_type(checker, &btf_members(type)[i],
					   BPF_MAP_TYPE_STRUCT_OPS))
				return xdpvm_fail(checker->object, -ENOTSUP, "section .BTF: type %u: "
						  "it defines a map of operations of the kernel", id);
	}
	return 0;
}

static const char *
place_fault(const struct checker *checker, const struct btf_var_secinfo *info,
	    const struct btf_type *variable)
{
	const Elf64_Sym *symbol;

	if (btf_kind(variable) != BTF_KIND_VAR)
		return "it is no variable";
	if ((uint64_t)info->offset + info->size > checker->size)
		return "it reaches over the section's end";
	if (btf_var(variable)->linkage != BTF_VAR_GLOBAL_ALLOCATED)
		return NULL;
	symbol = find_symbol(checker, name_of(checker, variable));
	if (symbol == NULL)
		return "it has no symbol";
	if (symbol->st_shndx != checker->section)
		return "its symbol is in another section";
	if (symbol->st_value > checker->size || info->size > checker->size - symbol->st_value)
		return "its symbol is outside the section";
	return NULL;
}

/* libbpf writes integers of up to 8 bytes, a three-valued enum of 4, and strings. */
static const char *
kconfig_fault(const struct checker *checker, const struct btf_type *variable)
{
	const struct btf_type *type;

	if (btf_kind(variable) != BTF_KIND_VAR)
		return "it is no variable";
	type = skip_modifiers(checker, variable->type);
	if (btf_is_array(type) && btf_array(type)->nelems <= KCONFIG_VALUE_MAX) {
		type = skip_modifiers(checker, btf_array(type)->type);
		return btf_is_int(type) && type->size == 1 ? NULL : "it is an array, but no string";
	}
	if ((btf_is_int(type) && type->size <= sizeof(uint64_t)) ||
	    (btf_kind(type) == BTF_KIND_ENUM && type->size == sizeof(uint32_t)))
		return NULL;
	return "no value of the configuration can be of its type";
}

static const char *
variable_fault(const struct checker *checker, const struct btf_var_secinfo *info)
{
	const struct btf_type *variable = xdpvm_btf_view_type(checker->btf, info->type);

	if (!xdpvm_is_identifier(name_of(checker, variable)))
		return "its name is none that a variable can have";
	if (strcmp(checker->section_name, ".ksyms") == 0)
		return NULL;
	if (strcmp(checker->section_name, ".kconfig") == 0)
		return kconfig_fault(checker, variable);
	return place_fault(checker, info, variable);
}

static int
check_section(struct checker *checker, const struct btf_type *type)
{
	const struct btf_var_secinfo *info = btf_var_secinfos(type);
	const char *fault;

	checker->n_variables += btf_vlen(type);
	if (checker->n_variables > XDPVM_VARIABLES_MAX)
		return xdpvm_fail(checker->object, -E2BIG, "section .BTF: more than %u variables",
				  XDPVM_VARIABLES_MAX);
	for (uint32_t i = 0; i < btf_vlen(type); i++) {
		fault = variable_fault(checker, &info[i]);
		if (fault != NULL)
			return xdpvm_fail(checker->object, -EINVAL, "section .BTF: variable %u of "
					  "section %s: %s", i, checker->section_name, fault);
	}
	return 0;
}

static bool
is_provided(const char *name)
{
	return strcmp(name, ".ksyms") == 0 || strcmp(name, ".kconfig") == 0;
}

/* The DATASEC with an id, all before it were found good. */
static int
check_datasec(struct checker *checker, uint32_t id, const uint32_t *before, uint32_t n_before)
{
	const struct btf_type *type = xdpvm_btf_view_type(checker->btf, id);

	checker->section_name = name_of(checker, type);
	checker->section = xdpvm_elf_find(checker->elf, checker->section_name);
	checker->size = checker->elf->sections[checker->section].sh_size;
	if (!is_provided(checker->section_name) &&
	    (checker->section == 0 || type->size > checker->size))
		return xdpvm_fail(checker->object, -EINVAL, "section .BTF: type %u: it describes a "
				  "section that the file has not, or has smaller", id);
	for (uint32_t i = 0; i < n_before; i++)
		if (strcmp(checker->section_name,
			   name_of(checker, xdpvm_btf_view_type(checker->btf, before[i]))) == 0)
			return xdpvm_fail(checker->object, -EINVAL, "section .BTF: type %u: section "
					  "%s is described twice", id, checker->section_name);
	return check_section(checker, type);
}

int
xdpvm_btf_check_vars(const struct xdpvm_object *object, const struct xdpvm_elf *elf,
		     const struct xdpvm_btf_view *btf)
{
	struct checker checker = { .object = object, .elf = elf, .btf = btf };
	uint32_t found[XDPVM_SECTIONS_MAX], n_found = 0;
	int ret = check_map_types(&checker);

	for (uint32_t id = 1; id <= btf->n_types && ret == 0; id++) {
		if (!btf_is_datasec(xdpvm_btf_view_type(btf, id)))
			continue;
		if (n_found == XDPVM_SECTIONS_MAX)
			return xdpvm_fail(object, -E2BIG, "section .BTF: more than %u sections",
					  XDPVM_SECTIONS_MAX);
		ret = check_datasec(&checker, id, found, n_found);
		found[n_found++] = id;
	}
	return ret;
}
