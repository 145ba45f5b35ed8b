/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers by number, with the contract that Linux gives each. One entry a helper. */
#include "helper.h"

static const struct xdpvm_helper helpers[] = {
	[BPF_FUNC_map_lookup_elem] = {
		.name = "map_lookup_elem", .since = "4.8", .fn = xdpvm_help_map_lookup_elem,
		.args = { XDPVM_ARG_MAP, XDPVM_ARG_MAP_KEY },
		.ret = XDPVM_RET_MAP_VALUE_OR_NULL,
	},
	/* The engines do the call: fn is never used. */
	[BPF_FUNC_tail_call] = {
		.name = "tail_call", .since = "4.8",
		.args = { XDPVM_ARG_CTX, XDPVM_ARG_MAP, XDPVM_ARG_ANYTHING },
		.ret = XDPVM_RET_VOID, .flags = XDPVM_HELPER_TAIL_CALL,
	},
};

const struct xdpvm_helper *
xdpvm_helper_get(uint32_t id)
{
	if (id >= sizeof(helpers) / sizeof(helpers[0]) || helpers[id].name == NULL)
		return NULL;
	return &helpers[id];
}

#define HELPER_NAME(name) #name
static const char *const names[] = {
	__BPF_FUNC_MAPPER(HELPER_NAME)
};

const char *
xdpvm_helper_name(uint32_t id)
{
	return id < sizeof(names) / sizeof(names[0]) ? names[id] : "unknown";
}
