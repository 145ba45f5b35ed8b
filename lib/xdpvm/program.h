/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program between loader and engines: linked instructions, its functions, what the analysis (and,
 * with verify=internal, the prover) found out about each instruction, and its compiled form.
 */
#ifndef XDPVM_PROGRAM_H
#define XDPVM_PROGRAM_H

#include "internal.h"

/* Sign-extending loads of ISA v4, which older headers lack. */
#ifndef BPF_MEMSX
#define BPF_MEMSX 0x80
#endif

#define XDPVM_MAX_FRAMES 8		/* Linux: MAX_CALL_FRAMES */
#define XDPVM_FRAME_STACK 512		/* bytes, Linux: MAX_BPF_STACK */
#define XDPVM_MAX_TAIL_CALLS 33		/* Linux: MAX_TAIL_CALL_CNT */
#define XDPVM_MAX_INSNS 1000000		/* Linux: BPF_COMPLEXITY_LIMIT_INSNS, instructions */
#define XDPVM_MAX_SUBPROGS 256		/* Linux: BPF_MAX_SUBPROGS */

/*
 * What the engines check before an instruction when the prover could not prove it. A check that
 * fails ends the run with XDP_ABORTED.
 */
enum xdpvm_check {
	XDPVM_CHECK_NONE,
	XDPVM_CHECK_PACKET,	/* the access is inside [data, data_end) */
	XDPVM_CHECK_META,	/* the access is inside [data_meta, data) */
	XDPVM_CHECK_ALIGNED,	/* an atomic operation does not cross into another cache line */
	XDPVM_CHECK_FUEL,	/* a jump that closes a loop: burns its cost */
};

/*
 * Instructions that loops and callbacks of one run may cost (prove_cost.c), tail calls included.
 * Linux's verifier unrolls loops and follows a million instructions (BPF_COMPLEXITY_LIMIT_INSNS).
 */
#define XDPVM_FUEL (1u << 20)

/* How a key was put on the stack: its 8-byte words, cut so that each load has one store to meet. */
#define XDPVM_KEY_INLINE 16		/* bytes; longer keys are hashed by a call */
struct xdpvm_key {
	uint8_t width[XDPVM_KEY_INLINE];	/* by offset: bytes to load here, 0 inside a piece */
};

/* Beside each instruction: what analyse.c (and the prover) found out. */
struct xdpvm_insn_info {
	struct xdpvm_map *map;	/* ld_imm64 of a map or its value; calls: the map in R1 when it is
				 * the same on every path */
	uint16_t key;		/* calls with map: 1 + index in prog->keys, 0: not known */
	uint16_t subprog;	/* bpf-to-bpf calls and addresses of functions: index */
	int16_t stack_offset;	/* stores: offset from the frame pointer, 0 when elsewhere or not
				 * known; calls: the same of R2 */
	uint8_t check;		/* enum xdpvm_check */
	bool target;		/* some jump lands here */
	uint32_t cost;		/* fuel that XDPVM_CHECK_FUEL burns */
};

struct xdpvm_subprog {
	uint32_t start;		/* first instruction */
	uint32_t end;		/* one past the last */
	bool callback;		/* its address is taken */
	uint32_t cost;		/* fuel that it burns as a callback */
	uint64_t zero_slots;	/* bit i: the 8 bytes at frame pointer - 8 * (i + 1) must be zero
				 * when it is entered */
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
	struct xdpvm_key *keys;
	uint32_t n_keys;
	struct xdpvm_line *lines;
	uint32_t n_lines;
	bool uses_tail_calls;
	bool proven;		/* by prove.c: no kernel looked at it */
	bool checked;		/* some instruction or callback has a check */

	void *code;		/* native code, read and execute only */
	size_t code_size;	/* bytes, without the rounding to pages */
	size_t code_mapped;	/* bytes */
	int fd;			/* of the kernel's program, or -1 */
	struct xdpvm_prog *next;
};

static inline bool
xdpvm_is_ld_imm64(const struct bpf_insn *insn)
{
	return insn->code == (BPF_LD | BPF_IMM | BPF_DW);
}

static inline bool
xdpvm_is_call(const struct bpf_insn *insn, uint8_t kind)
{
	return insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == kind;
}

static inline uint64_t
xdpvm_imm64(const struct bpf_insn *insn)
{
	return (uint32_t)insn[0].imm | (uint64_t)(uint32_t)insn[1].imm << 32;
}

/* Where a jump lands: BPF_JMP32 | BPF_JA has its distance in imm, all others in off. */
static inline int64_t
xdpvm_jump_target(const struct bpf_insn *insn, uint32_t i)
{
	return (int64_t)i + 1 + (insn->code == (BPF_JMP32 | BPF_JA) ? insn->imm : insn->off);
}

/* Sends "program NAME, instruction N (FILE:LINE: TEXT): reason" and returns error. */
int xdpvm_prog_fail(const struct xdpvm_prog *prog, uint32_t insn, int error, const char *format,
		    ...) __attribute__((format(printf, 4, 5)));

/* lines.c: the source line of an instruction, or NULL. */
const struct xdpvm_line *xdpvm_prog_line(const struct xdpvm_prog *prog, uint32_t insn);

/*
 * The steps of a load, each 0 or a negative errno after a sentence.
 * check.c: functions found, every instruction well formed, jumps inside their function.
 * link.c: map references become addresses, calls known.
 * prove.c: memory safety (verify=internal).
 * analyse.c: which loads read the context, which maps calls use; then the rewrite.
 * jit.c: native code.
 */
int xdpvm_check_subprogs(struct xdpvm_prog *prog);
int xdpvm_check_insns(struct xdpvm_prog *prog);
int xdpvm_link(struct xdpvm_prog *prog);
int xdpvm_prove(struct xdpvm_prog *prog);
int xdpvm_analyse(struct xdpvm_prog *prog);
int xdpvm_jit(struct xdpvm_prog *prog);
bool xdpvm_jit_wanted(const struct xdpvm_prog *prog);
void xdpvm_jit_free(struct xdpvm_prog *prog);
bool xdpvm_jit_available(void);

/* One packet of a burst into the buffer that programs run on, and what became of it back. */
static inline void
xdpvm_packet_load(const struct xdpvm_packet *packet, struct xdpvm_buff *buff)
{
	buff->data = packet->data;
	buff->data_end = packet->data_end;
	buff->data_meta = packet->data_meta;
	buff->hard_start = packet->hard_start;
	buff->frame_end = packet->frame_end;
}

static inline void
xdpvm_packet_store(struct xdpvm_packet *packet, const struct xdpvm_buff *buff)
{
	packet->data = buff->data;
	packet->data_end = buff->data_end;
	packet->data_meta = buff->data_meta;
	if (packet->action == XDP_REDIRECT)
		packet->redirect = buff->redirect;
}

/* interp.c: one run of the whole program. */
uint64_t xdpvm_interp(struct xdpvm_prog *prog, struct xdpvm_buff *buff);

#endif /* XDPVM_PROGRAM_H */
