/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * .BTF: header, strings and types. Layout and rules are those of Documentation/bpf/btf.rst, "BTF
 * Type and String Encoding", and linux/btf.h; rules that protect nobody here (names of structures,
 * encodings of integers) are left to the kernel.
 */
#include <stdlib.h>

#include "object_check.h"

#define VERSION 1		/* linux/btf.h: BTF_VERSION */
#define INFO_BITS 0x9f00ffffu	/* of btf_type.info: kind flag, kind, vlen */
#define NESTING_MAX 32		/* Linux and libbpf: MAX_RESOLVE_DEPTH */

struct checker {
	const struct xdpvm_object *object;
	struct xdpvm_btf_view *btf;
	uint8_t *heights;	/* by type: 1 + those nested in it, 0 when not known yet */
};

/* How many bytes follow a struct btf_type. */
static const struct kind {
	uint8_t fixed;
	uint8_t each;		/* vlen times */
	bool exists;
} kinds[] = {
	[BTF_KIND_INT] = { sizeof(uint32_t), 0, true },
	[BTF_KIND_PTR] = { 0, 0, true },
	[BTF_KIND_ARRAY] = { sizeof(struct btf_array), 0, true },
	[BTF_KIND_STRUCT] = { 0, sizeof(struct btf_member), true },
	[BTF_KIND_UNION] = { 0, sizeof(struct btf_member), true },
	[BTF_KIND_ENUM] = { 0, sizeof(struct btf_enum), true },
	[BTF_KIND_FWD] = { 0, 0, true },
	[BTF_KIND_TYPEDEF] = { 0, 0, true },
	[BTF_KIND_VOLATILE] = { 0, 0, true },
	[BTF_KIND_CONST] = { 0, 0, true },
	[BTF_KIND_RESTRICT] = { 0, 0, true },
	[BTF_KIND_FUNC] = { 0, 0, true },
	[BTF_KIND_FUNC_PROTO] = { 0, sizeof(struct btf_param), true },
	[BTF_KIND_VAR] = { sizeof(struct btf_var), 0, true },
	[BTF_KIND_DATASEC] = { 0, sizeof(struct btf_var_secinfo), true },
	[BTF_KIND_FLOAT] = { 0, 0, true },
	[BTF_KIND_DECL_TAG] = { sizeof(struct btf_decl_tag), 0, true },
	[BTF_KIND_TYPE_TAG] = { 0, 0, true },
	[BTF_KIND_ENUM64] = { 0, sizeof(struct btf_enum64), true },
};

static int
fail(const struct checker *checker, uint32_t id, const char *reason)
{
	return xdpvm_fail(checker->object, -EINVAL, "section .BTF: type %u: %s", id, reason);
}

/* NULL, or what is wrong with the header and the strings; sets the view, but for its types. */
static const char *
open_view(struct xdpvm_bytes bytes, struct xdpvm_btf_view *btf, uint32_t *types_size)
{
	const struct btf_header *header = (const void *)bytes.at;
	uint64_t size;

	if (bytes.size < sizeof(*header))
		return "it is shorter than its header";
	if (header->magic != BTF_MAGIC || header->version != VERSION || header->flags != 0 ||
	    header->hdr_len != sizeof(*header))
		return "its header is not one of version 1 in this machine's byte order";
	size = bytes.size - sizeof(*header);
	if (header->type_off % sizeof(uint32_t) != 0 || header->str_off > size ||
	    (uint64_t)header->type_off + header->type_len > header->str_off ||
	    header->str_len > size - header->str_off)
		return "its types or strings are not inside it";
	btf->types = bytes.at + sizeof(*header) + header->type_off;
	btf->strings = (const char *)bytes.at + sizeof(*header) + header->str_off;
	btf->strings_size = header->str_len;
	*types_size = header->type_len;
	if (header->str_len == 0 || header->str_len > BTF_MAX_NAME_OFFSET ||
	    btf->strings[0] != '\0' || btf->strings[header->str_len - 1] != '\0')
		return "its strings do not begin with an empty one and end with a whole one";
	return NULL;
}

/* Whether the bytes hold a type, and how many are its. */
static bool
type_size(const struct btf_type *type, uint32_t left, uint32_t *size)
{
	const struct kind *kind;
	uint16_t kind_number;

	if (left < sizeof(*type) || (type->info & ~INFO_BITS) != 0)
		return false;
	kind_number = btf_kind(type);
	if (kind_number >= sizeof(kinds) / sizeof(kinds[0]) || !kinds[kind_number].exists)
		return false;
	kind = &kinds[kind_number];
	*size = sizeof(*type) + kind->fixed + (uint32_t)kind->each * btf_vlen(type);
	return *size <= left;
}

static int
index_types(const struct checker *checker, uint32_t types_size)
{
	struct xdpvm_btf_view *btf = checker->btf;
	uint32_t size;

	btf->offsets = malloc((types_size / sizeof(struct btf_type) + 1) * sizeof(*btf->offsets));
	if (btf->offsets == NULL)
		return xdpvm_fail(checker->object, -ENOMEM, "no memory");
	for (uint32_t at = 0; at < types_size; at += size) {
		if (!type_size((const void *)(btf->types + at), types_size - at, &size))
			return fail(checker, btf->n_types + 1, "it is of no known kind, or not whole");
		if (btf->n_types == XDPVM_TYPES_MAX)
			return xdpvm_fail(checker->object, -E2BIG, "section .BTF: more than %u types",
					  XDPVM_TYPES_MAX);
		btf->offsets[btf->n_types++] = at;
	}
	return 0;
}

static bool
is_name(const struct checker *checker, uint32_t offset)
{
	return offset < checker->btf->strings_size;
}

/* Something that a value can be of, or void. */
static bool
is_value_type(const struct checker *checker, uint32_t id)
{
	if (id > checker->btf->n_types)
		return false;
	switch (btf_kind(xdpvm_btf_view_type(checker->btf, id))) {
	case BTF_KIND_FUNC:
	case BTF_KIND_VAR:
	case BTF_KIND_DATASEC:
	case BTF_KIND_DECL_TAG:
		return false;
	default:
		return true;
	}
}

static const char *
members_fault(const struct checker *checker, const struct btf_type *type)
{
	const struct btf_member *member = btf_members(type);

	for (uint32_t i = 0; i < btf_vlen(type); i++) {
		if (!is_name(checker, member[i].name_off))
			return "a member's name is outside the strings";
		if (member[i].type == 0 || !is_value_type(checker, member[i].type))
			return "a member is of no type that exists";
		if (btf_member_bit_offset(type, i) > (uint64_t)type->size * 8)
			return "a member is outside it";
	}
	return NULL;
}

static const char *
params_fault(const struct checker *checker, const struct btf_type *type)
{
	const struct btf_param *param = btf_params(type);

	for (uint32_t i = 0; i < btf_vlen(type); i++)
		if (!is_name(checker, param[i].name_off) || !is_value_type(checker, param[i].type))
			return "a parameter's name or type does not exist";
	return is_value_type(checker, type->type) ? NULL : "it returns no type that exists";
}

static const char *
enum_fault(const struct checker *checker, const struct btf_type *type)
{
	const struct btf_enum64 *wide = btf_enum64(type);
	const struct btf_enum *narrow = btf_enum(type);
	bool is_wide = btf_kind(type) == BTF_KIND_ENUM64;

	for (uint32_t i = 0; i < btf_vlen(type); i++)
		if (!is_name(checker, is_wide ? wide[i].name_off : narrow[i].name_off))
			return "a value's name is outside the strings";
	return NULL;
}

static const char *
section_fault(const struct checker *checker, const struct btf_type *type)
{
	const struct btf_var_secinfo *variable = btf_var_secinfos(type);

	for (uint32_t i = 0; i < btf_vlen(type); i++) {
		const struct btf_type *var;

		if (variable[i].type > checker->btf->n_types)
			return "a variable of it does not exist";
		var = xdpvm_btf_view_type(checker->btf, variable[i].type);
		if (btf_kind(var) != BTF_KIND_VAR && btf_kind(var) != BTF_KIND_FUNC)
			return "what it lists is neither variable nor function";
	}
	return NULL;
}

static const char *
function_fault(const struct checker *checker, const struct btf_type *type)
{
	if (btf_vlen(type) > BTF_FUNC_EXTERN)
		return "its linkage is unknown";
	if (type->type > checker->btf->n_types ||
	    btf_kind(xdpvm_btf_view_type(checker->btf, type->type)) != BTF_KIND_FUNC_PROTO)
		return "it is a function without a prototype";
	return NULL;
}

static const char *
array_fault(const struct checker *checker, const struct btf_type *type)
{
	const struct btf_array *array = btf_array(type);

	if (array->type == 0 || !is_value_type(checker, array->type) ||
	    !is_value_type(checker, array->index_type))
		return "its elements or its index are of no type that exists";
	return NULL;
}

static const char *
variable_fault(const struct checker *checker, const struct btf_type *type)
{
	if (btf_var(type)->linkage > BTF_VAR_GLOBAL_EXTERN)
		return "its linkage is unknown";
	return is_value_type(checker, type->type) ? NULL : "it is of no type that exists";
}

/* NULL, or what of a type refers to something that is not there. */
static const char *
type_fault(const struct checker *checker, const struct btf_type *type)
{
	if (!is_name(checker, type->name_off))
		return "its name is outside the strings";
	switch (btf_kind(type)) {
	case BTF_KIND_ARRAY:
		return array_fault(checker, type);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return members_fault(checker, type);
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return enum_fault(checker, type);
	case BTF_KIND_FUNC:
		return function_fault(checker, type);
	case BTF_KIND_FUNC_PROTO:
		return params_fault(checker, type);
	case BTF_KIND_VAR:
		return variable_fault(checker, type);
	case BTF_KIND_DATASEC:
		return section_fault(checker, type);
	case BTF_KIND_DECL_TAG:
		return type->type <= checker->btf->n_types ? NULL : "it is for no type that exists";
	case BTF_KIND_INT:
	case BTF_KIND_FWD:
	case BTF_KIND_FLOAT:
		return NULL;
	default:	/* pointers, typedefs and modifiers */
		return is_value_type(checker, type->type) ? NULL : "it is for no type that exists";
	}
}

static int nesting(const struct checker *checker, uint32_t id, uint32_t level);

/* The height of the highest member, or a negative errno. */
static int
members_nesting(const struct checker *checker, const struct btf_type *type, uint32_t level)
{
	const struct btf_member *member = btf_members(type);
	int height, most = 0;

	for (uint32_t i = 0; i < btf_vlen(type); i++) {
		height = nesting(checker, member[i].type, level);
		if (height < 0)
			return height;
		most = height > most ? height : most;
	}
	return most;
}

/*
 * How many types a type has inside itself, one in the other, or a negative errno. libbpf walks them
 * recursively or until there are no more, so they have to end. A pointer ends the walk.
 */
static int
nesting(const struct checker *checker, uint32_t id, uint32_t level)
{
	const struct btf_type *type = xdpvm_btf_view_type(checker->btf, id);
	int height = 0;

	if (id == 0)
		return 0;
	if (level + checker->heights[id] > NESTING_MAX)
		return fail(checker, id, "it is inside itself, or more than 32 types deep in others");
	if (checker->heights[id] != 0)
		return checker->heights[id];
	if (btf_is_composite(type))
		height = members_nesting(checker, type, level + 1);
	else if (btf_is_array(type))
		height = nesting(checker, btf_array(type)->type, level + 1);
	else if (btf_is_mod(type) || btf_is_typedef(type) || btf_is_var(type))
		height = nesting(checker, type->type, level + 1);
	if (height < 0)
		return height;
	checker->heights[id] = height + 1;
	return height + 1;
}

static int
check_types(struct checker *checker, uint32_t types_size)
{
	int ret = index_types(checker, types_size);
	const char *fault = NULL;
	uint32_t id;

	for (id = 1; id <= checker->btf->n_types && ret == 0 && fault == NULL; id++)
		fault = type_fault(checker, xdpvm_btf_view_type(checker->btf, id));
	if (fault != NULL)
		return fail(checker, id - 1, fault);
	checker->heights = ret == 0 ? calloc(checker->btf->n_types + 1, 1) : NULL;
	if (ret == 0 && checker->heights == NULL)
		ret = xdpvm_fail(checker->object, -ENOMEM, "no memory");
	for (id = 1; id <= checker->btf->n_types && ret >= 0; id++)
		ret = nesting(checker, id, 0);
	free(checker->heights);
	return ret < 0 ? ret : 0;
}

int
xdpvm_btf_check(const struct xdpvm_object *object, const struct xdpvm_elf *elf,
		struct xdpvm_btf_view *btf)
{
	uint32_t section = xdpvm_elf_find(elf, ".BTF"), types_size;
	struct checker checker = { .object = object, .btf = btf };
	const char *fault;

	if (section == 0)
		return 0;
	fault = open_view(xdpvm_elf_bytes(elf, section), btf, &types_size);
	if (fault != NULL)
		return xdpvm_fail(object, -EINVAL, "section .BTF: %s", fault);
	return check_types(&checker, types_size);
}
