/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads, stores and atomic operations. */
#include "jit_x86.h"

static void
emit_load(struct jit *jit, const struct bpf_insn *insn)
{
	uint8_t dst = dst_of(insn), base = src_of(insn);
	bool is_signed = BPF_MODE(insn->code) == BPF_MEMSX;

	switch (BPF_SIZE(insn->code)) {
	case BPF_B:	/* movzx, movsx */
		emit_mem0f(jit, is_signed, is_signed ? 0xbe : 0xb6, dst, base, insn->off);
		break;
	case BPF_H:
		emit_mem0f(jit, is_signed, is_signed ? 0xbf : 0xb7, dst, base, insn->off);
		break;
	case BPF_W:	/* movsxd */
		emit_mem(jit, is_signed, is_signed ? 0x63 : X86_LOAD, dst, base, insn->off);
		break;
	default:
		emit_mem(jit, true, X86_LOAD, dst, base, insn->off);
	}
}

static void
emit_store(struct jit *jit, const struct bpf_insn *insn)
{
	uint8_t base = dst_of(insn), src = src_of(insn);

	switch (BPF_SIZE(insn->code)) {
	case BPF_B:
		emit_rex(jit, false, src, base, src >= RSP);
		emit(jit, 0x88);
		emit_modrm_mem(jit, src, base, insn->off);
		break;
	case BPF_H:
		emit(jit, 0x66);
		emit_mem(jit, false, X86_MOV, src, base, insn->off);
		break;
	default:
		emit_mem(jit, BPF_SIZE(insn->code) == BPF_DW, X86_MOV, src, base, insn->off);
	}
}

static void
emit_store_imm(struct jit *jit, const struct bpf_insn *insn)
{
	uint8_t base = dst_of(insn), size = BPF_SIZE(insn->code);

	if (size == BPF_H)
		emit(jit, 0x66);
	emit_mem(jit, size == BPF_DW, size == BPF_B ? 0xc6 : 0xc7, 0, base, insn->off);
	emit(jit, insn->imm);
	if (size == BPF_B)
		return;
	emit(jit, insn->imm >> 8);
	if (size == BPF_H)
		return;
	emit(jit, insn->imm >> 16);
	emit(jit, insn->imm >> 24);
}

static uint8_t
operation_of(const struct bpf_insn *insn)
{
	switch (insn->imm & ~BPF_FETCH) {
	case BPF_ADD:
		return X86_ADD;
	case BPF_AND:
		return X86_AND;
	case BPF_OR:
		return X86_OR;
	default:
		return X86_XOR;
	}
}

#define LOCK 0xf0

/*
 * and, or, xor that fetch: no single instruction does it, so compare and exchange until nobody came
 * between. rax is kept in r11, where base and operand are looked for if they were rax.
 */
static void
emit_fetch_loop(struct jit *jit, const struct bpf_insn *insn, bool wide)
{
	uint8_t base = dst_of(insn) == RAX ? R11 : dst_of(insn);
	uint8_t operand = src_of(insn) == RAX ? R11 : src_of(insn);
	size_t again;

	emit_mov(jit, true, R11, RAX);
	emit_mem(jit, wide, X86_LOAD, RAX, base, insn->off);
	again = jit->at;
	emit_mov(jit, true, R10, RAX);
	emit_rr(jit, wide, operation_of(insn), R10, operand);
	emit(jit, LOCK);
	emit_mem0f(jit, wide, 0xb1, R10, base, insn->off);	/* cmpxchg */
	land_at(jit, emit_jcc_short(jit, CC_NE), again);
	if (src_of(insn) == RAX) {
		emit_mov(jit, wide, RAX, RAX);
		return;
	}
	emit_mov(jit, wide, src_of(insn), RAX);
	emit_mov(jit, true, RAX, R11);
}

static void
emit_atomic(struct jit *jit, const struct bpf_insn *insn)
{
	bool wide = BPF_SIZE(insn->code) == BPF_DW;
	uint8_t base = dst_of(insn), src = src_of(insn);

	switch (insn->imm) {
	case BPF_ADD | BPF_FETCH:
		emit(jit, LOCK);
		emit_mem0f(jit, wide, 0xc1, src, base, insn->off);	/* xadd */
		break;
	case BPF_AND | BPF_FETCH:
	case BPF_OR | BPF_FETCH:
	case BPF_XOR | BPF_FETCH:
		emit_fetch_loop(jit, insn, wide);
		break;
	case BPF_XCHG:
		emit_mem(jit, wide, 0x87, src, base, insn->off);	/* locks by itself */
		break;
	case BPF_CMPXCHG:
		emit(jit, LOCK);
		emit_mem0f(jit, wide, 0xb1, src, base, insn->off);
		emit_mov(jit, wide, RAX, RAX);	/* the old value, zero-extended, also on success */
		break;
	default:
		emit(jit, LOCK);
		emit_mem(jit, wide, operation_of(insn), src, base, insn->off);
	}
}

void
xdpvm_jit_memory(struct jit *jit, const struct bpf_insn *insn)
{
	if (BPF_CLASS(insn->code) == BPF_LDX)
		emit_load(jit, insn);
	else if (BPF_CLASS(insn->code) == BPF_ST)
		emit_store_imm(jit, insn);
	else if (BPF_MODE(insn->code) == BPF_ATOMIC)
		emit_atomic(jit, insn);
	else
		emit_store(jit, insn);
}
