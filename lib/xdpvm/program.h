/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program between loader and engines: linked instructions, its functions, what the analysis (and,
 * with verify=internal, the prover) found out about each instruction, and its compiled form.
 */
#ifndef XDPVM_PROGRAM_H
#define XDPVM_PROGRAM_H

#include "internal.h"

#define XDPVM_MAX_FRAMES 8		/* Linux: MAX_CALL_FRAMES */
#define XDPVM_FRAME_STACK 512		/* bytes, Linux: MAX_BPF_STACK */
#define XDPVM_MAX_TAIL_CALLS 33		/* Linux: MAX_TAIL_CALL_CNT */
#define XDPVM_MAX_INSNS 1000000		/* Linux: BPF_COMPLEXITY_LIMIT_INSNS, instructions */
#define XDPVM_MAX_SUBPROGS 256		/* Linux: BPF_MAX_SUBPROGS */

/* What must be checked before a memory access when the prover could not prove it. */
enum xdpvm_check {
	XDPVM_CHECK_NONE,
	XDPVM_CHECK_PACKET,	/* inside [data, data_end) */
	XDPVM_CHECK_META,	/* inside [data_meta, data) */
	XDPVM_CHECK_MAP_VALUE,	/* inside the storage of insn.map */
	XDPVM_CHECK_FUEL,	/* not an access: a back edge, burns one unit */
};

/* Beside each instruction. */
struct xdpvm_insn_info {
	struct xdpvm_map *map;	/* ld_imm64 of a map or its value; calls: the map in R1 if it is
				 * the same on every path; CHECK_MAP_VALUE: the map accessed */
	const struct xdpvm_chunks *key;	/* map calls: how the key in R2 was stored, or NULL */
	uint8_t check;		/* enum xdpvm_check */
	bool target;		/* some jump lands here */
};

/* How a key was put on the stack, in order of address: the widths of the stores. */
#define XDPVM_MAX_CHUNKS 16
struct xdpvm_chunks {
	int16_t stack_offset;	/* of the key, from the frame pointer; negative */
	uint8_t count;
	uint8_t width[XDPVM_MAX_CHUNKS];	/* bytes: 1, 2, 4 or 8 */
};

struct xdpvm_subprog {
	uint32_t start;		/* first instruction */
	uint32_t end;		/* one past the last */
	uint32_t stack_depth;	/* bytes used below the frame pointer, multiple of 8 */
	bool callback;		/* its address is taken */
};

/* One line of BTF line information, sorted by instruction. */
struct xdpvm_line {
	uint32_t insn;
	uint32_t line;
	const char *file;	/* both in the object's BTF strings, owned by the program */
	const char *text;
};

struct xdpvm_prog {
	xdpvm_entry_fn entry;	/* native code, or NULL */
	/*
	 * Code that a tail call jumps to: entry without its prologue. NULL without native code.
	 */
	const void *tail_entry;
	enum xdpvm_stats_mode stats_mode;
	struct xdpvm_stats_slot *stats;	/* one per thread, allocated when first wanted */

	struct xdpvm_object *object;
	char *name;
	char *section;
	uint8_t tag[XDPVM_TAG_SIZE];

	/*
	 * Linked and rewritten. Differences from what the kernel gets: ctx loads are loads of
	 * struct xdpvm_buff; ld_imm64 holds the address of struct xdpvm_map or of the map's
	 * memory, its src_reg still says which (BPF_PSEUDO_MAP_FD, _MAP_VALUE, _FUNC, 0).
	 */
	struct bpf_insn *insns;
	struct bpf_insn *original;	/* as the loader linked them, before any rewrite */
	struct xdpvm_insn_info *info;
	uint32_t n_insns;
	struct xdpvm_subprog *subprogs;	/* [0] is the program itself; sorted by start */
	uint32_t n_subprogs;
	struct xdpvm_line *lines;
	uint32_t n_lines;
	bool uses_tail_calls;

	void *code;		/* native code, read and execute only */
	size_t code_size;	/* bytes, without the rounding to pages */
	struct xdpvm_prog *next;
};

#endif /* XDPVM_PROGRAM_H */
