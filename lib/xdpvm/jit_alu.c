/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arithmetic. 32-bit forms zero the upper half of their result by themselves, as BPF wants it.
 */
#include "jit_x86.h"

static bool
is_wide(const struct bpf_insn *insn)
{
	return BPF_CLASS(insn->code) == BPF_ALU64;
}

static void
emit_simple(struct jit *jit, const struct bpf_insn *insn, uint8_t op)
{
	if (BPF_SRC(insn->code) == BPF_X)
		emit_rr(jit, is_wide(insn), op, dst_of(insn), src_of(insn));
	else
		emit_ri(jit, is_wide(insn), op, dst_of(insn), insn->imm);
}

static void
emit_move(struct jit *jit, const struct bpf_insn *insn)
{
	bool wide = is_wide(insn);
	uint8_t dst = dst_of(insn), src = src_of(insn);

	if (BPF_SRC(insn->code) == BPF_K)
		emit_mov_imm(jit, dst, wide ? (uint64_t)(int64_t)insn->imm : (uint32_t)insn->imm);
	else if (insn->off == 0)
		emit_mov(jit, wide, dst, src);
	else if (insn->off == 32)
		emit_rr(jit, wide, 0x63, src, dst);	/* movsxd dst, src: reg is the target */
	else
		emit_rr0f(jit, wide, insn->off == 8 ? 0xbe : 0xbf, dst, src, insn->off == 8);
}

static void
emit_multiply(struct jit *jit, const struct bpf_insn *insn)
{
	if (BPF_SRC(insn->code) == BPF_X)
		emit_rr0f(jit, is_wide(insn), 0xaf, dst_of(insn), src_of(insn), false);
	else
		emit_imul_imm(jit, is_wide(insn), dst_of(insn), dst_of(insn), insn->imm);
}

static void
emit_negate(struct jit *jit, bool wide, uint8_t reg)
{
	emit_rex(jit, wide, 0, reg, false);
	emit(jit, 0xf7);
	emit_modrm_reg(jit, 3, reg);
}

static void
emit_shift_operation(struct jit *jit, const struct bpf_insn *insn, uint8_t extension)
{
	uint8_t dst = dst_of(insn), src = src_of(insn), work = dst;
	bool wide = is_wide(insn);

	if (BPF_SRC(insn->code) == BPF_K) {
		emit_shift(jit, wide, extension, dst, insn->imm & (wide ? 63 : 31));
		return;
	}
	/* The count must be in cl; rcx is saved in, or shifted as, r11. */
	if (src != RCX || dst == RCX)
		emit_mov(jit, true, R11, RCX);
	if (dst == RCX)
		work = R11;
	if (src != RCX)
		emit_mov(jit, true, RCX, src);
	emit_rex(jit, wide, 0, work, false);
	emit(jit, 0xd3);
	emit_modrm_reg(jit, extension, work);
	if (src != RCX || dst == RCX)
		emit_mov(jit, true, RCX, R11);
}

/* The quotient or remainder of dst by r11 into r11; rax and rdx are kept in r10 and r9. */
static void
emit_divide_core(struct jit *jit, bool wide, bool is_signed, bool modulo, uint8_t dst)
{
	emit_mov(jit, true, R10, RAX);
	emit_mov(jit, true, R9, RDX);
	emit_mov(jit, true, RAX, dst);
	if (is_signed) {
		emit_rex(jit, wide, 0, 0, false);
		emit(jit, 0x99);	/* cdq, cqo */
	} else {
		emit_rr(jit, false, X86_XOR, RDX, RDX);
	}
	emit_rex(jit, wide, 0, R11, false);
	emit(jit, 0xf7);
	emit_modrm_reg(jit, is_signed ? 7 : 6, R11);
	emit_mov(jit, true, R11, modulo ? RDX : RAX);
	emit_mov(jit, true, RAX, R10);
	emit_mov(jit, true, RDX, R9);
	emit_mov(jit, wide, dst, R11);
}

/* By zero: quotient 0, remainder the dividend. */
static void
emit_divide_by_zero(struct jit *jit, bool wide, bool modulo, uint8_t dst)
{
	if (!modulo)
		emit_rr(jit, false, X86_XOR, dst, dst);
	else if (!wide)
		emit_rr(jit, false, X86_MOV, dst, dst);
}

/* By -1, where the processor traps for the most negative number: negated, remainder 0. */
static void
emit_divide_by_minus_one(struct jit *jit, bool wide, bool modulo, uint8_t dst)
{
	if (modulo)
		emit_rr(jit, false, X86_XOR, dst, dst);
	else
		emit_negate(jit, wide, dst);
}

static void
emit_divide(struct jit *jit, const struct bpf_insn *insn)
{
	bool wide = is_wide(insn), is_signed = insn->off == 1;
	bool modulo = BPF_OP(insn->code) == BPF_MOD;
	size_t zero, minus_one = 0, done, done_too = 0;
	uint8_t dst = dst_of(insn);

	if (BPF_SRC(insn->code) == BPF_X)
		emit_mov(jit, true, R11, src_of(insn));
	else
		emit_mov_imm(jit, R11, (int64_t)insn->imm);
	emit_rr(jit, wide, X86_TEST, R11, R11);
	zero = emit_jcc_short(jit, CC_E);
	if (is_signed) {
		emit_ri(jit, wide, X86_CMP, R11, -1);
		minus_one = emit_jcc_short(jit, CC_E);
	}
	emit_divide_core(jit, wide, is_signed, modulo, dst);
	done = emit_jmp_short(jit);
	if (is_signed) {
		land(jit, minus_one);
		emit_divide_by_minus_one(jit, wide, modulo, dst);
		done_too = emit_jmp_short(jit);
	}
	land(jit, zero);
	emit_divide_by_zero(jit, wide, modulo, dst);
	land(jit, done);
	if (is_signed)
		land(jit, done_too);
}

static void
emit_swap(struct jit *jit, uint8_t dst, int32_t bits)
{
	if (bits == 16) {
		emit(jit, 0x66);
		emit_shift(jit, false, SHIFT_ROR, dst, 8);
		emit_rr0f(jit, false, 0xb7, dst, dst, false);	/* movzx dst, dst16 */
		return;
	}
	emit_rex(jit, bits == 64, 0, dst, false);
	emit(jit, 0x0f);
	emit(jit, 0xc8 | (dst & 7));	/* bswap */
}

static void
emit_end(struct jit *jit, const struct bpf_insn *insn)
{
	uint8_t dst = dst_of(insn);

	if (is_wide(insn) || BPF_SRC(insn->code) == BPF_X)
		emit_swap(jit, dst, insn->imm);
	else if (insn->imm == 16)
		emit_rr0f(jit, false, 0xb7, dst, dst, false);
	else if (insn->imm == 32)
		emit_rr(jit, false, X86_MOV, dst, dst);
}

void
xdpvm_jit_alu(struct jit *jit, const struct bpf_insn *insn)
{
	switch (BPF_OP(insn->code)) {
	case BPF_ADD:
		emit_simple(jit, insn, X86_ADD);
		break;
	case BPF_SUB:
		emit_simple(jit, insn, X86_SUB);
		break;
	case BPF_AND:
		emit_simple(jit, insn, X86_AND);
		break;
	case BPF_OR:
		emit_simple(jit, insn, X86_OR);
		break;
	case BPF_XOR:
		emit_simple(jit, insn, X86_XOR);
		break;
	case BPF_MOV:
		emit_move(jit, insn);
		break;
	case BPF_MUL:
		emit_multiply(jit, insn);
		break;
	case BPF_DIV:
	case BPF_MOD:
		emit_divide(jit, insn);
		break;
	case BPF_NEG:
		emit_negate(jit, is_wide(insn), dst_of(insn));
		break;
	case BPF_LSH:
		emit_shift_operation(jit, insn, SHIFT_LEFT);
		break;
	case BPF_RSH:
		emit_shift_operation(jit, insn, SHIFT_RIGHT);
		break;
	case BPF_ARSH:
		emit_shift_operation(jit, insn, SHIFT_ARITHMETIC);
		break;
	default:
		emit_end(jit, insn);
	}
}
