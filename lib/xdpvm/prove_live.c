/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which registers an instruction and its successors may still read. States are compared without the
 * others: what nobody reads need not be equal. Over the instructions, successors first, until
 * nothing changes; a function ends with R0 and its callee-saved registers belong to it alone.
 */
#include "prove.h"

#define REGISTERS(first, last) ((uint16_t)((2u << (last)) - (1u << (first))))

static uint16_t
helper_arguments(int32_t helper)
{
	const uint8_t *args = xdpvm_helper_get(helper)->args;
	unsigned int n = 0;

	while (n < 5 && args[n] != XDPVM_ARG_NONE)
		n++;
	return n > 0 ? REGISTERS(BPF_REG_1, BPF_REG_1 + n - 1) : 0;
}

static uint16_t
read_by_jump(const struct bpf_insn *insn)
{
	switch (BPF_OP(insn->code)) {
	case BPF_EXIT:
		return 1u << BPF_REG_0;
	case BPF_CALL:
		return insn->src_reg == 0 ? helper_arguments(insn->imm) :
					    REGISTERS(BPF_REG_1, BPF_REG_5);
	case BPF_JA:
		return 0;
	default:
		return 1u << insn->dst_reg | (BPF_SRC(insn->code) == BPF_X ? 1u << insn->src_reg : 0);
	}
}

static uint16_t
registers_read(const struct bpf_insn *insn)
{
	bool atomic;

	switch (BPF_CLASS(insn->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		return (BPF_OP(insn->code) != BPF_MOV ? 1u << insn->dst_reg : 0) |
		       (BPF_SRC(insn->code) == BPF_X ? 1u << insn->src_reg : 0);
	case BPF_LD:
		return 0;
	case BPF_LDX:
		return 1u << insn->src_reg;
	case BPF_ST:
		return 1u << insn->dst_reg;
	case BPF_STX:
		atomic = BPF_MODE(insn->code) == BPF_ATOMIC && insn->imm == BPF_CMPXCHG;
		return 1u << insn->dst_reg | 1u << insn->src_reg | (atomic ? 1u << BPF_REG_0 : 0);
	default:
		return read_by_jump(insn);
	}
}

static uint16_t
registers_written(const struct bpf_insn *insn)
{
	switch (BPF_CLASS(insn->code)) {
	case BPF_ALU:
	case BPF_ALU64:
	case BPF_LD:
	case BPF_LDX:
		return 1u << insn->dst_reg;
	case BPF_JMP:
		return BPF_OP(insn->code) == BPF_CALL ? REGISTERS(BPF_REG_0, BPF_REG_5) : 0;
	default:
		return 0;	/* fetching atomics read what they write */
	}
}

static uint16_t
live_after(const struct prover *prover, uint32_t i)
{
	const struct bpf_insn *insn = &prover->prog->insns[i];
	uint8_t class = BPF_CLASS(insn->code), op = BPF_OP(insn->code);
	bool jump = (class == BPF_JMP || class == BPF_JMP32) && op != BPF_CALL && op != BPF_EXIT;
	uint32_t next = i + 1 + xdpvm_is_ld_imm64(insn);
	uint16_t live = 0;

	if (insn->code == (BPF_JMP | BPF_EXIT))
		return 0;
	if (jump)
		live = prover->live[xdpvm_jump_target(insn, i)];
	if (!jump || op != BPF_JA)
		live |= prover->live[next];
	return live;
}

void
xdpvm_prove_live(struct prover *prover)
{
	const struct bpf_insn *insns = prover->prog->insns;
	bool changed = true;
	uint16_t live;

	while (changed) {
		changed = false;
		for (uint32_t at = 0; at < prover->n_order; at++) {
			uint32_t i = prover->order[at];

			live = (live_after(prover, i) & ~registers_written(&insns[i])) |
			       registers_read(&insns[i]);
			changed |= live != prover->live[i];
			prover->live[i] = live;
		}
	}
}
