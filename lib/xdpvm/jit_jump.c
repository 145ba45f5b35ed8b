/* SPDX-License-Identifier: BSD-3-Clause */
/* Jumps, and how functions begin and end. */
#include "jit_x86.h"

static const uint8_t saved_order[] = { RBX, R12, R13, R14, R15 };
#define N_SAVED (sizeof(saved_order) / sizeof(saved_order[0]))

/* mov dword [base + disp], value */
static void
emit_set(struct jit *jit, uint8_t base, int32_t disp, uint32_t value)
{
	emit_mem(jit, false, 0xc7, 0, base, disp);
	emit32(jit, value);
}

/* What the prover wants zero: see struct xdpvm_subprog. */
static void
zero_slots(struct jit *jit)
{
	for (int slot = 0; slot < XDPVM_FRAME_STACK / 8; slot++) {
		if (!(jit->subprog->zero_slots & 1ull << slot))
			continue;
		emit_mem(jit, true, 0xc7, 0, RBP, -8 * (slot + 1));	/* mov qword, 0 */
		emit32(jit, 0);
	}
}

void
xdpvm_jit_prologue(struct jit *jit)
{
	bool entry = jit->subprog->start == 0;
	int32_t frame = (jit->uses_stack ? XDPVM_FRAME_STACK : 0) + jit->padding;

	if (entry && (jit->prog->uses_tail_calls || jit->prog->checked)) {
		/* A run starts; a tail call enters behind this. */
		emit_set(jit, RDI, offsetof(struct xdpvm_buff, tail_calls), 0);
		emit_set(jit, RDI, offsetof(struct xdpvm_buff, fuel), XDPVM_FUEL);
	}
	if (entry)
		jit->tail_offset = jit->at;
	if (jit->uses_stack) {
		emit_push(jit, RBP);
		emit_mov(jit, true, RBP, RSP);
	}
	if (frame != 0)
		emit_ri(jit, true, X86_SUB, RSP, frame);
	for (size_t i = 0; i < N_SAVED; i++)
		if (jit->saved & 1u << saved_order[i])
			emit_push(jit, saved_order[i]);
	if (jit->saved & 1u << BUFF)
		emit_mov(jit, true, BUFF, RDI);
	if (entry && jit->prog->checked)
		emit_mem(jit, true, X86_MOV, RSP, BUFF, offsetof(struct xdpvm_buff, jit_stack));
	zero_slots(jit);
	if (jit->subprog->callback && jit->prog->checked)
		xdpvm_jit_burn_fuel(jit, jit->subprog->cost);
}

int32_t
xdpvm_jit_saved_size(const struct jit *jit)
{
	return XDPVM_FRAME_STACK + jit->padding + 8 * __builtin_popcount(jit->saved);
}

void
xdpvm_jit_leave(struct jit *jit)
{
	for (size_t i = N_SAVED; i-- > 0;)
		if (jit->saved & 1u << saved_order[i])
			emit_pop(jit, saved_order[i]);
	if (jit->uses_stack)
		emit(jit, 0xc9);	/* leave */
	else if (jit->padding != 0)
		emit_ri(jit, true, X86_ADD, RSP, jit->padding);
}

/*
 * How far a jump goes, when its short form is two bytes. Backward targets were placed in this pass.
 * For forward ones the last pass's places count, both ends: that distance never grows from pass to
 * pass, so what was short stays short; in the last pass it is the true one.
 */
static int64_t
jump_distance(const struct jit *jit, uint32_t i, uint32_t target)
{
	if (jit->first_pass)
		return INT32_MAX;
	if (target < i)
		return (int64_t)jit->offsets[target] - (int64_t)(jit->at + 2);
	return (int64_t)jit->offsets[target] - jit->offsets[i + 1];
}

static void
emit_jump_to(struct jit *jit, uint32_t i, uint32_t target, int condition)
{
	int64_t distance = jump_distance(jit, i, target);
	size_t size = condition < 0 ? 5 : 6;

	if (fits8(distance)) {
		emit(jit, condition < 0 ? 0xeb : 0x70 | condition);
		emit(jit, distance);
		return;
	}
	if (target < i)
		distance = (int64_t)jit->offsets[target] - (int64_t)(jit->at + size);
	if (condition >= 0)
		emit(jit, 0x0f);
	emit(jit, condition < 0 ? 0xe9 : 0x80 | condition);
	emit32(jit, distance);
}

static int
condition_of(const struct bpf_insn *insn)
{
	switch (BPF_OP(insn->code)) {
	case BPF_JEQ:
		return CC_E;
	case BPF_JNE:
	case BPF_JSET:
		return CC_NE;
	case BPF_JGT:
		return CC_A;
	case BPF_JGE:
		return CC_AE;
	case BPF_JLT:
		return CC_B;
	case BPF_JLE:
		return CC_BE;
	case BPF_JSGT:
		return CC_G;
	case BPF_JSGE:
		return CC_GE;
	case BPF_JSLT:
		return CC_L;
	default:
		return CC_LE;
	}
}

static void
emit_compare(struct jit *jit, const struct bpf_insn *insn)
{
	bool wide = BPF_CLASS(insn->code) == BPF_JMP, test = BPF_OP(insn->code) == BPF_JSET;
	uint8_t dst = dst_of(insn);

	if (BPF_SRC(insn->code) == BPF_X) {
		emit_rr(jit, wide, test ? X86_TEST : X86_CMP, dst, src_of(insn));
	} else if (test) {
		emit_rex(jit, wide, 0, dst, false);
		emit(jit, 0xf7);	/* test r/m, imm32: /0 */
		emit_modrm_reg(jit, 0, dst);
		emit32(jit, insn->imm);
	} else if (insn->imm == 0) {
		emit_rr(jit, wide, X86_TEST, dst, dst);	/* the same flags as cmp dst, 0 */
	} else {
		emit_ri(jit, wide, X86_CMP, dst, insn->imm);
	}
}

void
xdpvm_jit_jump(struct jit *jit, uint32_t i)
{
	const struct bpf_insn *insn = &jit->prog->insns[i];

	switch (BPF_OP(insn->code)) {
	case BPF_CALL:
		xdpvm_jit_call(jit, i);
		break;
	case BPF_EXIT:
		xdpvm_jit_leave(jit);
		emit(jit, 0xc3);
		break;
	case BPF_JA:
		if (xdpvm_jump_target(insn, i) != (int64_t)i + 1)
			emit_jump_to(jit, i, xdpvm_jump_target(insn, i), -1);
		break;
	default:
		emit_compare(jit, insn);
		emit_jump_to(jit, i, xdpvm_jump_target(insn, i), condition_of(insn));
	}
}
