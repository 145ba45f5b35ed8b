/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The x86-64 compiler: shared state and instruction encoding. Encodings are from the Intel SDM,
 * volume 2; /n in comments is its notation for an opcode extension.
 *
 * BPF registers live where a C function has its arguments, as in Linux, so helpers and functions of
 * the program are called without moving anything. r9, r10 and r11 are scratch; r12 holds the buffer
 * wherever a program needs it.
 */
#ifndef XDPVM_JIT_X86_H
#define XDPVM_JIT_X86_H

#include "program.h"

enum x86_register {
	RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15,
};

#define BUFF R12

/* Conditions as in the low four bits of Jcc. */
enum x86_condition {
	CC_B = 2, CC_AE = 3, CC_E = 4, CC_NE = 5, CC_BE = 6, CC_A = 7, CC_S = 8,
	CC_L = 12, CC_GE = 13, CC_LE = 14, CC_G = 15,
};

/* Opcodes of the form "op r/m, r"; the number in bits 3 to 5 is the /n of "op r/m, imm". */
enum x86_operation {
	X86_ADD = 0x01, X86_OR = 0x09, X86_AND = 0x21, X86_SUB = 0x29, X86_XOR = 0x31,
	X86_CMP = 0x39, X86_TEST = 0x85, X86_MOV = 0x89, X86_LOAD = 0x8b,
};

/* What jit_plan.c decided about an instruction. */
enum jit_plan {
	JIT_PLAN_NONE,
	JIT_PLAN_SKIP,		/* no code: dead, or done by the one before */
	JIT_PLAN_LEA,		/* a move that also does the addition behind it */
	JIT_PLAN_HALFWORD,	/* a byte load that also loads the byte in front */
	JIT_PLAN_NULL_CHECK,	/* a lookup that also does the check behind it */
};

struct jit {
	struct xdpvm_prog *prog;
	uint8_t *plan;		/* enum jit_plan, by instruction */
	uint8_t *code;		/* where it will run; writable during compilation */
	size_t room;		/* bytes */
	size_t at;		/* bytes emitted */
	bool overflow;

	/* Offsets of instructions from the pass before this one, n_insns + 1. */
	uint32_t *offsets;
	uint32_t *function_offsets;	/* per subprogram: its prologue, as callers enter it */
	uint32_t *thunk_offsets;	/* per subprogram: entry for helpers (callbacks) */
	uint32_t tail_offset;		/* entry for tail calls */
	uint32_t abort_offset;		/* where checks that fail go */
	bool first_pass;
	bool moved;		/* something lies elsewhere than in the pass before */
	bool needs_buff;		/* some function uses r12 */

	/* The function that is being emitted. */
	const struct xdpvm_subprog *subprog;
	uint16_t saved;			/* bit per x86 register that it saves */
	bool uses_stack;
	uint8_t padding;		/* bytes, to keep rsp aligned at calls */
};

extern const uint8_t xdpvm_x86_register[11];	/* by BPF register */

static inline uint8_t
dst_of(const struct bpf_insn *insn)
{
	return xdpvm_x86_register[insn->dst_reg];
}

static inline uint8_t
src_of(const struct bpf_insn *insn)
{
	return xdpvm_x86_register[insn->src_reg];
}

/* ---- Bytes --------------------------------------------------------------------------------- */

static inline void
emit(struct jit *jit, uint8_t byte)
{
	if (jit->at < jit->room)
		jit->code[jit->at] = byte;
	else
		jit->overflow = true;
	jit->at++;
}

static inline void
emit32(struct jit *jit, uint32_t value)
{
	for (unsigned int i = 0; i < 4; i++)
		emit(jit, value >> (8 * i));
}

static inline void
emit64(struct jit *jit, uint64_t value)
{
	emit32(jit, value);
	emit32(jit, value >> 32);
}

static inline bool
fits8(int64_t value)
{
	return value == (int8_t)value;
}

static inline bool
fits32(int64_t value)
{
	return value == (int32_t)value;
}

/* ---- Operands ------------------------------------------------------------------------------- */

/* REX prefix; left out when it says nothing, unless a byte register needs it. */
static inline void
emit_rex(struct jit *jit, bool wide, uint8_t reg, uint8_t rm, bool force)
{
	uint8_t rex = 0x40 | wide << 3 | (reg >> 3) << 2 | rm >> 3;

	if (rex != 0x40 || force)
		emit(jit, rex);
}

static inline void
emit_modrm_reg(struct jit *jit, uint8_t reg, uint8_t rm)
{
	emit(jit, 0xc0 | (reg & 7) << 3 | (rm & 7));
}

/* [base + disp] */
static inline void
emit_modrm_mem(struct jit *jit, uint8_t reg, uint8_t base, int32_t disp)
{
	uint8_t mode = disp == 0 && (base & 7) != RBP ? 0x00 : fits8(disp) ? 0x40 : 0x80;

	emit(jit, mode | (reg & 7) << 3 | (base & 7));
	if ((base & 7) == RSP)
		emit(jit, 0x24);	/* SIB: no index */
	if (mode == 0x40)
		emit(jit, disp);
	else if (mode == 0x80)
		emit32(jit, disp);
}

/* ---- Instructions --------------------------------------------------------------------------- */

/* op rm, reg (X86_LOAD and two-byte loads have their own forms) */
static inline void
emit_rr(struct jit *jit, bool wide, uint8_t op, uint8_t rm, uint8_t reg)
{
	emit_rex(jit, wide, reg, rm, false);
	emit(jit, op);
	emit_modrm_reg(jit, reg, rm);
}

/* op reg, [base + disp] or op [base + disp], reg, as the opcode says */
static inline void
emit_mem(struct jit *jit, bool wide, uint8_t op, uint8_t reg, uint8_t base, int32_t disp)
{
	emit_rex(jit, wide, reg, base, false);
	emit(jit, op);
	emit_modrm_mem(jit, reg, base, disp);
}

/* 0f op reg, [base + disp] */
static inline void
emit_mem0f(struct jit *jit, bool wide, uint8_t op, uint8_t reg, uint8_t base, int32_t disp)
{
	emit_rex(jit, wide, reg, base, false);
	emit(jit, 0x0f);
	emit(jit, op);
	emit_modrm_mem(jit, reg, base, disp);
}

/* 0f op reg, rm */
static inline void
emit_rr0f(struct jit *jit, bool wide, uint8_t op, uint8_t reg, uint8_t rm, bool byte_register)
{
	emit_rex(jit, wide, reg, rm, byte_register && rm >= RSP);
	emit(jit, 0x0f);
	emit(jit, op);
	emit_modrm_reg(jit, reg, rm);
}

/* op rm, imm for add, or, and, sub, xor, cmp: 83 /n ib, 81 /n id */
static inline void
emit_ri(struct jit *jit, bool wide, uint8_t op, uint8_t rm, int32_t imm)
{
	uint8_t extension = op >> 3;

	emit_rex(jit, wide, 0, rm, false);
	emit(jit, fits8(imm) ? 0x83 : 0x81);
	emit_modrm_reg(jit, extension, rm);
	if (fits8(imm))
		emit(jit, imm);
	else
		emit32(jit, imm);
}

/* op dword [base + disp], imm, of the same group */
static inline void
emit_mi(struct jit *jit, uint8_t op, uint8_t base, int32_t disp, int32_t imm)
{
	emit_rex(jit, false, 0, base, false);
	emit(jit, fits8(imm) ? 0x83 : 0x81);
	emit_modrm_mem(jit, op >> 3, base, disp);
	if (fits8(imm))
		emit(jit, imm);
	else
		emit32(jit, imm);
}

static inline void
emit_mov(struct jit *jit, bool wide, uint8_t to, uint8_t from)
{
	if (to != from || !wide)
		emit_rr(jit, wide, X86_MOV, to, from);
}

/* Shortest load of a 64-bit constant. Changes no flags. */
static inline void
emit_mov_imm(struct jit *jit, uint8_t reg, uint64_t value)
{
	bool signed32 = fits32((int64_t)value);

	emit_rex(jit, value > UINT32_MAX, 0, reg, false);
	if (value > UINT32_MAX && signed32) {
		emit(jit, 0xc7);	/* mov r/m64, simm32 */
		emit_modrm_reg(jit, 0, reg);
		emit32(jit, value);
		return;
	}
	emit(jit, 0xb8 | (reg & 7));
	if (value > UINT32_MAX)
		emit64(jit, value);
	else
		emit32(jit, value);
}

/* shl /4, shr /5, sar /7, ror /1 by a constant */
#define SHIFT_ROR 1
#define SHIFT_LEFT 4
#define SHIFT_RIGHT 5
#define SHIFT_ARITHMETIC 7
static inline void
emit_shift(struct jit *jit, bool wide, uint8_t extension, uint8_t rm, uint8_t count)
{
	emit_rex(jit, wide, 0, rm, false);
	emit(jit, 0xc1);
	emit_modrm_reg(jit, extension, rm);
	emit(jit, count);
}

static inline void
emit_push(struct jit *jit, uint8_t reg)
{
	emit_rex(jit, false, 0, reg, false);
	emit(jit, 0x50 | (reg & 7));
}

static inline void
emit_pop(struct jit *jit, uint8_t reg)
{
	emit_rex(jit, false, 0, reg, false);
	emit(jit, 0x58 | (reg & 7));
}

/* imul reg, rm, imm */
static inline void
emit_imul_imm(struct jit *jit, bool wide, uint8_t reg, uint8_t rm, int32_t imm)
{
	emit_rex(jit, wide, reg, rm, false);
	emit(jit, 0x69);
	emit_modrm_reg(jit, reg, rm);
	emit32(jit, imm);
}

/* ---- Jumps inside one BPF instruction: always short ------------------------------------------ */

/* Returns the place of the distance, for land(). */
static inline size_t
emit_jcc_short(struct jit *jit, enum x86_condition condition)
{
	emit(jit, 0x70 | condition);
	emit(jit, 0);
	return jit->at - 1;
}

static inline size_t
emit_jmp_short(struct jit *jit)
{
	emit(jit, 0xeb);
	emit(jit, 0);
	return jit->at - 1;
}

/* The jump whose distance is at place lands at target; places are within 127 bytes by design. */
static inline void
land_at(struct jit *jit, size_t place, size_t target)
{
	int64_t distance = (int64_t)target - (int64_t)(place + 1);

	if (!fits8(distance))
		jit->overflow = true;
	else if (place < jit->room)
		jit->code[place] = distance;
}

static inline void
land(struct jit *jit, size_t place)
{
	land_at(jit, place, jit->at);
}

/* Calls a place outside the code. */
static inline void
emit_call(struct jit *jit, uintptr_t target)
{
	int64_t distance = (int64_t)target - (int64_t)(uintptr_t)(jit->code + jit->at + 5);

	if (fits32(distance)) {
		emit(jit, 0xe8);
		emit32(jit, distance);
		return;
	}
	emit_mov_imm(jit, RAX, target);
	emit(jit, 0xff);	/* call /2 */
	emit_modrm_reg(jit, 2, RAX);
}

/* ---- The parts ------------------------------------------------------------------------------ */

void xdpvm_jit_plan(struct jit *jit);
void xdpvm_jit_alu(struct jit *jit, const struct bpf_insn *insn);
void xdpvm_jit_memory(struct jit *jit, const struct bpf_insn *insn);
void xdpvm_jit_jump(struct jit *jit, uint32_t i);
void xdpvm_jit_call(struct jit *jit, uint32_t i);

/* Emits a map lookup without a call; false when this one needs the call. */
bool xdpvm_jit_lookup(struct jit *jit, uint32_t i);
/* Whether it would be, and whether that needs the buffer. */
bool xdpvm_jit_lookup_inlined(const struct xdpvm_prog *prog, uint32_t i, bool *needs_buff);

/* jit_check.c: the check before an instruction; what happens when one fails. */
void xdpvm_jit_check(struct jit *jit, uint32_t i);
void xdpvm_jit_burn_fuel(struct jit *jit, uint32_t cost);
void xdpvm_jit_abort(struct jit *jit);
int32_t xdpvm_jit_saved_size(const struct jit *jit);

void xdpvm_jit_prologue(struct jit *jit);
void xdpvm_jit_leave(struct jit *jit);	/* restores registers and stack, without the ret */

/* Memory for code, near the library: writable, then executable. NULL when there is none. */
uint8_t *xdpvm_code_alloc(size_t size);
int xdpvm_code_seal(uint8_t *code, size_t size);
void xdpvm_code_free(uint8_t *code, size_t size);

#endif /* XDPVM_JIT_X86_H */
