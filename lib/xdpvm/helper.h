/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Helper functions inside the library: their calling convention, their contracts (which the prover
 * enforces) and the table by number.
 *
 * A group of helpers is one file helper_<group>.c; its functions are declared below the table's
 * extern and entered in helper_table.c.
 */
#ifndef XDPVM_HELPER_H
#define XDPVM_HELPER_H

#include "internal.h"

/*
 * r1 to r5 as the program has them, pointers being real addresses: a ctx argument is the struct
 * xdpvm_buff, a map argument the struct xdpvm_map. The sixth argument is the running buffer, for
 * helpers that have no ctx argument; it is bound to this thread. Results are sign-extended as the
 * kernel's are.
 */
typedef uint64_t (*xdpvm_helper_fn)(uint64_t r1, uint64_t r2, uint64_t r3, uint64_t r4, uint64_t r5,
				    struct xdpvm_buff *buff);

/* What an argument must be; names and meaning follow the kernel's enum bpf_arg_type. */
enum xdpvm_arg {
	XDPVM_ARG_NONE,
	XDPVM_ARG_ANYTHING,		/* any initialised scalar or pointer */
	XDPVM_ARG_CTX,
	XDPVM_ARG_MAP,			/* a map, known when the program is checked */
	XDPVM_ARG_MAP_KEY,		/* key_size readable bytes */
	XDPVM_ARG_MAP_VALUE,		/* value_size readable bytes */
	XDPVM_ARG_MAP_VALUE_OUT,	/* value_size writable bytes */
	XDPVM_ARG_MEM,			/* readable bytes, their number is the next argument */
	XDPVM_ARG_MEM_OR_NULL,
	XDPVM_ARG_MEM_OUT,		/* writable bytes, their number is the next argument */
	XDPVM_ARG_SIZE,			/* > 0 */
	XDPVM_ARG_SIZE_OR_ZERO,
	XDPVM_ARG_U32_OUT,		/* four initialised and writable bytes, 4-byte aligned */
	XDPVM_ARG_STRING,		/* NUL-terminated in a frozen read-only map */
	XDPVM_ARG_FUNCTION,		/* a subprogram: callback */
	XDPVM_ARG_STACK_OR_NULL,	/* callback context */
	XDPVM_ARG_SPIN_LOCK,		/* a struct bpf_spin_lock in a map value */
	XDPVM_ARG_RINGBUF_MEM,		/* what ringbuf_reserve returned; released by the call */
	XDPVM_ARG_CONST_SIZE,		/* a constant: size of the memory that is returned */
	XDPVM_ARG_FIXED_MEM,		/* helper.fixed_size readable bytes */
};

enum xdpvm_ret {
	XDPVM_RET_INTEGER,
	XDPVM_RET_VOID,
	XDPVM_RET_MAP_VALUE_OR_NULL,
	XDPVM_RET_RINGBUF_MEM_OR_NULL,
};

/* helper.flags */
#define XDPVM_HELPER_MOVES_PACKET 1u	/* packet pointers are stale after the call */
#define XDPVM_HELPER_TAIL_CALL 2u	/* done by the engine, never called */

struct xdpvm_helper {
	const char *name;	/* as in enum bpf_func_id, without BPF_FUNC_ */
	xdpvm_helper_fn fn;
	xdpvm_helper_fn proven_fn;	/* instead of fn in programs that the prover let pass, or NULL */
	const char *since;	/* first Linux version whose XDP programs may call it */
	uint8_t args[5];	/* enum xdpvm_arg */
	uint8_t ret;		/* enum xdpvm_ret */
	uint8_t flags;
	uint16_t fixed_size;	/* bytes, for XDPVM_ARG_FIXED_MEM */
};

/* By BPF_FUNC_* number; NULL when XDP programs may not call it or it is not implemented. */
const struct xdpvm_helper *xdpvm_helper_get(uint32_t id);

/* What a program calls for a number that xdpvm_helper_get() knows. */
struct xdpvm_prog;
xdpvm_helper_fn xdpvm_helper_entry(const struct xdpvm_prog *prog, uint32_t id);

/* The name of any BPF_FUNC_* number, for messages; "unknown" beyond the list. */
const char *xdpvm_helper_name(uint32_t id);

/*
 * Calls a callback (XDPVM_ARG_FUNCTION) of the running program, whichever engine runs it.
 * Only to be called by a helper, with its own buff.
 */
static inline uint64_t
xdpvm_callback(struct xdpvm_buff *buff, uint64_t callback, uint64_t r1, uint64_t r2, uint64_t r3,
	       uint64_t r4, uint64_t r5)
{
	if (buff->interp != NULL)
		return xdpvm_interp_callback(buff, callback, r1, r2, r3, r4, r5);
	return ((xdpvm_helper_fn)(uintptr_t)callback)(r1, r2, r3, r4, r5, buff);
}

#define XDPVM_HELPER(name) \
	uint64_t xdpvm_help_##name(uint64_t r1, uint64_t r2, uint64_t r3, uint64_t r4, \
				   uint64_t r5, struct xdpvm_buff *buff)

static inline void *
xdpvm_arg_pointer(uint64_t r)
{
	return (void *)(uintptr_t)r;
}

/* helper_map.c */
XDPVM_HELPER(map_lookup_elem);
XDPVM_HELPER(map_update_elem);
XDPVM_HELPER(map_delete_elem);
XDPVM_HELPER(map_lookup_percpu_elem);
XDPVM_HELPER(map_push_elem);
XDPVM_HELPER(map_pop_elem);
XDPVM_HELPER(map_peek_elem);

/* helper_packet.c */
XDPVM_HELPER(xdp_adjust_head);
XDPVM_HELPER(xdp_adjust_tail);
XDPVM_HELPER(xdp_adjust_meta);
XDPVM_HELPER(xdp_get_buff_len);
XDPVM_HELPER(xdp_load_bytes);
XDPVM_HELPER(xdp_store_bytes);

/* helper_device.c */
XDPVM_HELPER(check_mtu);
XDPVM_HELPER(fib_lookup);
XDPVM_HELPER(redirect);
XDPVM_HELPER(redirect_map);

/* helper_csum.c */
XDPVM_HELPER(csum_diff);

/* helper_time.c */
XDPVM_HELPER(ktime_get_ns);
XDPVM_HELPER(ktime_get_boot_ns);
XDPVM_HELPER(ktime_get_coarse_ns);
XDPVM_HELPER(ktime_get_tai_ns);
XDPVM_HELPER(jiffies64);

/* map_ringbuf.c, map_perf.c */
XDPVM_HELPER(ringbuf_reserve);
XDPVM_HELPER(ringbuf_submit);
XDPVM_HELPER(ringbuf_discard);
XDPVM_HELPER(ringbuf_output);
XDPVM_HELPER(ringbuf_query);
XDPVM_HELPER(perf_event_output);

/* helper_flow.c */
XDPVM_HELPER(loop);
XDPVM_HELPER(for_each_map_elem);
XDPVM_HELPER(spin_lock);
XDPVM_HELPER(spin_unlock);

/* trace.c */
XDPVM_HELPER(trace_printk);
XDPVM_HELPER(trace_vprintk);
XDPVM_HELPER(trace_printk_proven);
XDPVM_HELPER(trace_vprintk_proven);
XDPVM_HELPER(snprintf);

/* helper_misc.c */
XDPVM_HELPER(get_smp_processor_id);
XDPVM_HELPER(get_numa_node_id);
XDPVM_HELPER(get_prandom_u32);
XDPVM_HELPER(strncmp);

#endif /* XDPVM_HELPER_H */
