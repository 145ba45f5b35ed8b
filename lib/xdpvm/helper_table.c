/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers by number, with the contract that Linux gives each. One entry a helper. */
#include "helper.h"
#include "program.h"

static const struct xdpvm_helper helpers[] = {
	[BPF_FUNC_map_lookup_elem] = {
		.name = "map_lookup_elem", .since = "4.8", .fn = xdpvm_help_map_lookup_elem,
		.args = { XDPVM_ARG_MAP, XDPVM_ARG_MAP_KEY },
		.ret = XDPVM_RET_MAP_VALUE_OR_NULL,
	},
	[BPF_FUNC_map_update_elem] = {
		.name = "map_update_elem", .since = "4.8", .fn = xdpvm_help_map_update_elem,
		.args = { XDPVM_ARG_MAP, XDPVM_ARG_MAP_KEY, XDPVM_ARG_MAP_VALUE,
			  XDPVM_ARG_ANYTHING },
		.ret = XDPVM_RET_INTEGER,
	},
	[BPF_FUNC_map_delete_elem] = {
		.name = "map_delete_elem", .since = "4.8", .fn = xdpvm_help_map_delete_elem,
		.args = { XDPVM_ARG_MAP, XDPVM_ARG_MAP_KEY },
		.ret = XDPVM_RET_INTEGER,
	},
	[BPF_FUNC_map_lookup_percpu_elem] = {
		.name = "map_lookup_percpu_elem", .since = "5.19", .fn = xdpvm_help_map_lookup_percpu_elem,
		.args = { XDPVM_ARG_MAP, XDPVM_ARG_MAP_KEY, XDPVM_ARG_ANYTHING },
		.ret = XDPVM_RET_MAP_VALUE_OR_NULL,
	},
	[BPF_FUNC_map_push_elem] = {
		.name = "map_push_elem", .since = "4.20", .fn = xdpvm_help_map_push_elem,
		.args = { XDPVM_ARG_MAP, XDPVM_ARG_MAP_VALUE, XDPVM_ARG_ANYTHING },
		.ret = XDPVM_RET_INTEGER,
	},
	[BPF_FUNC_map_pop_elem] = {
		.name = "map_pop_elem", .since = "4.20", .fn = xdpvm_help_map_pop_elem,
		.args = { XDPVM_ARG_MAP, XDPVM_ARG_MAP_VALUE_OUT },
		.ret = XDPVM_RET_INTEGER,
	},
	[BPF_FUNC_map_peek_elem] = {
		.name = "map_peek_elem", .since = "4.20", .fn = xdpvm_help_map_peek_elem,
		.args = { XDPVM_ARG_MAP, XDPVM_ARG_MAP_VALUE_OUT },
		.ret = XDPVM_RET_INTEGER,
	},
	[BPF_FUNC_xdp_adjust_head] = {
		.name = "xdp_adjust_head", .since = "4.10", .fn = xdpvm_help_xdp_adjust_head,
		.args = { XDPVM_ARG_CTX, XDPVM_ARG_ANYTHING },
		.ret = XDPVM_RET_INTEGER, .flags = XDPVM_HELPER_MOVES_PACKET,
	},
	[BPF_FUNC_xdp_adjust_tail] = {
		.name = "xdp_adjust_tail", .since = "4.18", .fn = xdpvm_help_xdp_adjust_tail,
		.args = { XDPVM_ARG_CTX, XDPVM_ARG_ANYTHING },
		.ret = XDPVM_RET_INTEGER, .flags = XDPVM_HELPER_MOVES_PACKET,
	},
	[BPF_FUNC_xdp_adjust_meta] = {
		.name = "xdp_adjust_meta", .since = "4.15", .fn = xdpvm_help_xdp_adjust_meta,
		.args = { XDPVM_ARG_CTX, XDPVM_ARG_ANYTHING },
		.ret = XDPVM_RET_INTEGER, .flags = XDPVM_HELPER_MOVES_PACKET,
	},
	[BPF_FUNC_xdp_get_buff_len] = {
		.name = "xdp_get_buff_len", .since = "5.18", .fn = xdpvm_help_xdp_get_buff_len,
		.args = { XDPVM_ARG_CTX },
		.ret = XDPVM_RET_INTEGER,
	},
	[BPF_FUNC_xdp_load_bytes] = {
		.name = "xdp_load_bytes", .since = "5.18", .fn = xdpvm_help_xdp_load_bytes,
		.args = { XDPVM_ARG_CTX, XDPVM_ARG_ANYTHING, XDPVM_ARG_MEM_OUT, XDPVM_ARG_SIZE },
		.ret = XDPVM_RET_INTEGER,
	},
	[BPF_FUNC_xdp_store_bytes] = {
		.name = "xdp_store_bytes", .since = "5.18", .fn = xdpvm_help_xdp_store_bytes,
		.args = { XDPVM_ARG_CTX, XDPVM_ARG_ANYTHING, XDPVM_ARG_MEM, XDPVM_ARG_SIZE },
		.ret = XDPVM_RET_INTEGER,
	},
	[BPF_FUNC_check_mtu] = {
		.name = "check_mtu", .since = "5.12", .fn = xdpvm_help_check_mtu,
		.args = { XDPVM_ARG_CTX, XDPVM_ARG_ANYTHING, XDPVM_ARG_U32_OUT,
			  XDPVM_ARG_ANYTHING, XDPVM_ARG_ANYTHING },
		.ret = XDPVM_RET_INTEGER,
	},
	[BPF_FUNC_fib_lookup] = {
		.name = "fib_lookup", .since = "4.18", .fn = xdpvm_help_fib_lookup,
		.args = { XDPVM_ARG_CTX, XDPVM_ARG_MEM_OUT, XDPVM_ARG_SIZE, XDPVM_ARG_ANYTHING },
		.ret = XDPVM_RET_INTEGER,
	},
	[BPF_FUNC_redirect] = {
		.name = "redirect", .since = "4.14", .fn = xdpvm_help_redirect,
		.args = { XDPVM_ARG_ANYTHING, XDPVM_ARG_ANYTHING },
		.ret = XDPVM_RET_INTEGER,
	},
	[BPF_FUNC_redirect_map] = {
		.name = "redirect_map", .since = "4.14", .fn = xdpvm_help_redirect_map,
		.args = { XDPVM_ARG_MAP, XDPVM_ARG_ANYTHING, XDPVM_ARG_ANYTHING },
		.ret = XDPVM_RET_INTEGER,
	},
	[BPF_FUNC_csum_diff] = {
		.name = "csum_diff", .since = "4.16", .fn = xdpvm_help_csum_diff,
		.args = { XDPVM_ARG_MEM_OR_NULL, XDPVM_ARG_SIZE_OR_ZERO, XDPVM_ARG_MEM_OR_NULL,
			  XDPVM_ARG_SIZE_OR_ZERO, XDPVM_ARG_ANYTHING },
		.ret = XDPVM_RET_INTEGER,
	},
	[BPF_FUNC_ktime_get_ns] = {
		.name = "ktime_get_ns", .since = "4.8", .fn = xdpvm_help_ktime_get_ns,
		.ret = XDPVM_RET_INTEGER,
	},
	[BPF_FUNC_ktime_get_boot_ns] = {
		.name = "ktime_get_boot_ns", .since = "5.8", .fn = xdpvm_help_ktime_get_boot_ns,
		.ret = XDPVM_RET_INTEGER,
	},
	[BPF_FUNC_ktime_get_coarse_ns] = {
		.name = "ktime_get_coarse_ns", .since = "5.11", .fn = xdpvm_help_ktime_get_coarse_ns,
		.ret = XDPVM_RET_INTEGER,
	},
	[BPF_FUNC_ktime_get_tai_ns] = {
		.name = "ktime_get_tai_ns", .since = "6.1", .fn = xdpvm_help_ktime_get_tai_ns,
		.ret = XDPVM_RET_INTEGER,
	},
	[BPF_FUNC_jiffies64] = {
		.name = "jiffies64", .since = "5.6", .fn = xdpvm_help_jiffies64,
		.ret = XDPVM_RET_INTEGER,
	},
	[BPF_FUNC_get_smp_processor_id] = {
		.name = "get_smp_processor_id", .since = "4.8", .fn = xdpvm_help_get_smp_processor_id,
		.ret = XDPVM_RET_INTEGER,
	},
	[BPF_FUNC_get_numa_node_id] = {
		.name = "get_numa_node_id", .since = "4.10", .fn = xdpvm_help_get_numa_node_id,
		.ret = XDPVM_RET_INTEGER,
	},
	[BPF_FUNC_get_prandom_u32] = {
		.name = "get_prandom_u32", .since = "4.8", .fn = xdpvm_help_get_prandom_u32,
		.ret = XDPVM_RET_INTEGER,
	},
	[BPF_FUNC_strncmp] = {
		.name = "strncmp", .since = "5.17", .fn = xdpvm_help_strncmp,
		.args = { XDPVM_ARG_MEM, XDPVM_ARG_SIZE, XDPVM_ARG_STRING },
		.ret = XDPVM_RET_INTEGER,
	},
	[BPF_FUNC_trace_printk] = {
		/* R3 to R5 are printed as they are, set or not, as in Linux. */
		.name = "trace_printk", .since = "4.8", .fn = xdpvm_help_trace_printk,
		.proven_fn = xdpvm_help_trace_printk_proven,
		.args = { XDPVM_ARG_MEM, XDPVM_ARG_SIZE },
		.ret = XDPVM_RET_INTEGER,
	},
	[BPF_FUNC_trace_vprintk] = {
		.name = "trace_vprintk", .since = "5.16", .fn = xdpvm_help_trace_vprintk,
		.proven_fn = xdpvm_help_trace_vprintk_proven,
		.args = { XDPVM_ARG_MEM, XDPVM_ARG_SIZE, XDPVM_ARG_MEM_OR_NULL,
			  XDPVM_ARG_SIZE_OR_ZERO },
		.ret = XDPVM_RET_INTEGER,
	},
	[BPF_FUNC_snprintf] = {
		.name = "snprintf", .since = "5.13", .fn = xdpvm_help_snprintf,
		.args = { XDPVM_ARG_MEM_OUT, XDPVM_ARG_SIZE_OR_ZERO, XDPVM_ARG_STRING,
			  XDPVM_ARG_MEM_OR_NULL, XDPVM_ARG_SIZE_OR_ZERO },
		.ret = XDPVM_RET_INTEGER,
	},
	[BPF_FUNC_ringbuf_reserve] = {
		.name = "ringbuf_reserve", .since = "5.8", .fn = xdpvm_help_ringbuf_reserve,
		.args = { XDPVM_ARG_MAP, XDPVM_ARG_CONST_SIZE, XDPVM_ARG_ANYTHING },
		.ret = XDPVM_RET_RINGBUF_MEM_OR_NULL,
	},
	[BPF_FUNC_ringbuf_submit] = {
		.name = "ringbuf_submit", .since = "5.8", .fn = xdpvm_help_ringbuf_submit,
		.args = { XDPVM_ARG_RINGBUF_MEM, XDPVM_ARG_ANYTHING },
		.ret = XDPVM_RET_VOID,
	},
	[BPF_FUNC_ringbuf_discard] = {
		.name = "ringbuf_discard", .since = "5.8", .fn = xdpvm_help_ringbuf_discard,
		.args = { XDPVM_ARG_RINGBUF_MEM, XDPVM_ARG_ANYTHING },
		.ret = XDPVM_RET_VOID,
	},
	[BPF_FUNC_ringbuf_output] = {
		.name = "ringbuf_output", .since = "5.8", .fn = xdpvm_help_ringbuf_output,
		.args = { XDPVM_ARG_MAP, XDPVM_ARG_MEM, XDPVM_ARG_SIZE_OR_ZERO,
			  XDPVM_ARG_ANYTHING },
		.ret = XDPVM_RET_INTEGER,
	},
	[BPF_FUNC_ringbuf_query] = {
		.name = "ringbuf_query", .since = "5.8", .fn = xdpvm_help_ringbuf_query,
		.args = { XDPVM_ARG_MAP, XDPVM_ARG_ANYTHING },
		.ret = XDPVM_RET_INTEGER,
	},
	[BPF_FUNC_perf_event_output] = {
		.name = "perf_event_output", .since = "4.18", .fn = xdpvm_help_perf_event_output,
		.args = { XDPVM_ARG_CTX, XDPVM_ARG_MAP, XDPVM_ARG_ANYTHING, XDPVM_ARG_MEM,
			  XDPVM_ARG_SIZE_OR_ZERO },
		.ret = XDPVM_RET_INTEGER,
	},
	[BPF_FUNC_loop] = {
		.name = "loop", .since = "5.17", .fn = xdpvm_help_loop,
		.args = { XDPVM_ARG_ANYTHING, XDPVM_ARG_FUNCTION, XDPVM_ARG_STACK_OR_NULL,
			  XDPVM_ARG_ANYTHING },
		.ret = XDPVM_RET_INTEGER,
	},
	[BPF_FUNC_for_each_map_elem] = {
		.name = "for_each_map_elem", .since = "5.13", .fn = xdpvm_help_for_each_map_elem,
		.args = { XDPVM_ARG_MAP, XDPVM_ARG_FUNCTION, XDPVM_ARG_STACK_OR_NULL,
			  XDPVM_ARG_ANYTHING },
		.ret = XDPVM_RET_INTEGER,
	},
	[BPF_FUNC_spin_lock] = {
		.name = "spin_lock", .since = "5.1", .fn = xdpvm_help_spin_lock,
		.args = { XDPVM_ARG_SPIN_LOCK },
		.ret = XDPVM_RET_VOID,
	},
	[BPF_FUNC_spin_unlock] = {
		.name = "spin_unlock", .since = "5.1", .fn = xdpvm_help_spin_unlock,
		.args = { XDPVM_ARG_SPIN_LOCK },
		.ret = XDPVM_RET_VOID,
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

xdpvm_helper_fn
xdpvm_helper_entry(const struct xdpvm_prog *prog, uint32_t id)
{
	const struct xdpvm_helper *helper = &helpers[id];

	return prog->proven && helper->proven_fn != NULL ? helper->proven_fn : helper->fn;
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
