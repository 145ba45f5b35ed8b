/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an object says about chaining a program: section ".xdp_run_config" has a variable "_PROGRAM"
 * whose type carries the numbers, as __uint() of bpf_helpers.h does: a member is a pointer to an
 * array of so many elements. Nothing is read but BTF.
 */
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "object.h"
#include "xdpvm_chain.h"

#define DEFAULT_PRIORITY 50			/* libxdp: XDP_DEFAULT_RUN_PRIO */
#define DEFAULT_ACTIONS (1u << XDP_PASS)	/* XDP_DEFAULT_CHAIN_CALL_ACTIONS */

static const struct btf_type *
skip_modifiers(const struct btf *btf, uint32_t id)
{
	const struct btf_type *type = btf__type_by_id(btf, id);

	while (type != NULL && (btf_is_mod(type) || btf_is_typedef(type)))
		type = btf__type_by_id(btf, type->type);
	return type;
}

/* The structure that describes the program, or NULL. */
static const struct btf_type *
find_struct(const struct btf *btf, const char *program)
{
	int32_t id = btf__find_by_name_kind(btf, ".xdp_run_config", BTF_KIND_DATASEC);
	const struct btf_type *section, *variable, *type;
	const struct btf_var_secinfo *info;
	const char *name;

	if (id < 0)
		return NULL;
	section = btf__type_by_id(btf, id);
	info = btf_var_secinfos(section);
	for (uint16_t i = 0; i < btf_vlen(section); i++) {
		variable = btf__type_by_id(btf, info[i].type);
		name = btf__name_by_offset(btf, variable->name_off);
		if (name[0] != '_' || strcmp(name + 1, program) != 0)
			continue;
		type = skip_modifiers(btf, variable->type);
		return type != NULL && btf_is_struct(type) ? type : NULL;
	}
	return NULL;
}

/* The number that a member stands for. */
static bool
member_number(const struct btf *btf, const struct btf_member *member, uint32_t *number)
{
	const struct btf_type *type = skip_modifiers(btf, member->type);

	if (type == NULL || !btf_is_ptr(type))
		return false;
	type = skip_modifiers(btf, type->type);
	if (type == NULL || !btf_is_array(type))
		return false;
	*number = btf_array(type)->nelems;
	return true;
}

static bool
apply_member(const char *name, uint32_t number, struct xdpvm_run_config *config)
{
	static const char *const actions[] = {
		[XDP_ABORTED] = "XDP_ABORTED", [XDP_DROP] = "XDP_DROP", [XDP_PASS] = "XDP_PASS",
		[XDP_TX] = "XDP_TX", [XDP_REDIRECT] = "XDP_REDIRECT",
	};

	if (strcmp(name, "priority") == 0) {
		config->priority = number;
		return true;
	}
	for (uint32_t action = 0; action <= XDP_REDIRECT; action++) {
		if (strcmp(name, actions[action]) != 0)
			continue;
		if (number != 0)
			config->chain_call_actions |= 1u << action;
		else
			config->chain_call_actions &= ~(1u << action);
		return true;
	}
	return false;
}

int
xdpvm_prog_run_config(const struct xdpvm_prog *prog, struct xdpvm_run_config *config)
{
	const struct btf *btf = bpf_object__btf(prog->object->bpf);
	const struct btf_type *type = btf != NULL ? find_struct(btf, prog->name) : NULL;
	const struct btf_member *member;
	const char *name;
	uint32_t number;

	*config = (struct xdpvm_run_config){ DEFAULT_PRIORITY, DEFAULT_ACTIONS };
	if (type == NULL)
		return 0;
	member = btf_members(type);
	for (uint16_t i = 0; i < btf_vlen(type); i++, member++) {
		name = btf__name_by_offset(btf, member->name_off);
		if (!member_number(btf, member, &number) || !apply_member(name, number, config))
			return xdpvm_fail(prog->object, -EINVAL, "program %s: its run config has "
					  "\"%s\"; known are priority and XDP_ABORTED to "
					  "XDP_REDIRECT, written with __uint()", prog->name, name);
	}
	return 0;
}
