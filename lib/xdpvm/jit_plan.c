/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What instructions need no code of their own, found before the first pass:
 * - the arguments of a lookup that is inlined: it knows the map, and where in the frame the key is;
 * - "add constant" behind "move register": one lea does both;
 * - the second of two bytes that are loaded and put together, as clang reads h_proto of the packed
 *   struct ethhdr: one load of 16 bits does what three instructions did;
 * - the check for NULL behind an inlined lookup, which knows its answer and jumps itself.
 */
#include "jit_x86.h"

static bool
is_move(const struct bpf_insn *insn)
{
	return insn->code == (BPF_ALU64 | BPF_MOV | BPF_X) && insn->off == 0 &&
	       insn->dst_reg != insn->src_reg;
}

static void
plan_lea(struct jit *jit, uint32_t i)
{
	const struct bpf_insn *insn = &jit->prog->insns[i];

	if (i + 1 >= jit->prog->n_insns || !is_move(insn) ||
	    insn[1].code != (BPF_ALU64 | BPF_ADD | BPF_K) || insn[1].dst_reg != insn->dst_reg ||
	    jit->prog->info[i + 1].target || jit->plan[i] != JIT_PLAN_NONE ||
	    jit->plan[i + 1] != JIT_PLAN_NONE)
		return;
	jit->plan[i] = JIT_PLAN_LEA;
	jit->plan[i + 1] = JIT_PLAN_SKIP;
}

static bool
is_byte_load(const struct bpf_insn *insn)
{
	return insn->code == (BPF_LDX | BPF_MEM | BPF_B);
}

/* a = byte at p; b = byte at p + 1; b <<= 8; b |= a */
static void
plan_halfword(struct jit *jit, uint32_t i)
{
	const struct bpf_insn *insn = &jit->prog->insns[i];
	const struct xdpvm_insn_info *info = &jit->prog->info[i];
	uint8_t low = insn[0].dst_reg, both = insn[1].dst_reg;

	if (!is_byte_load(&insn[0]) || !is_byte_load(&insn[1]) ||
	    insn[0].src_reg != insn[1].src_reg || insn[0].src_reg == low || low == both ||
	    insn[0].off + 1 != insn[1].off ||
	    insn[2].code != (BPF_ALU64 | BPF_LSH | BPF_K) || insn[2].dst_reg != both ||
	    insn[2].imm != 8 || insn[3].code != (BPF_ALU64 | BPF_OR | BPF_X) ||
	    insn[3].dst_reg != both || insn[3].src_reg != low)
		return;
	if (info[1].target || info[2].target || info[3].target ||
	    info[0].check != XDPVM_CHECK_NONE || info[1].check != XDPVM_CHECK_NONE)
		return;
	jit->plan[i + 1] = JIT_PLAN_HALFWORD;
	jit->plan[i + 2] = JIT_PLAN_SKIP;
	jit->plan[i + 3] = JIT_PLAN_SKIP;
}

static void
plan_null_check(struct jit *jit, uint32_t i)
{
	const struct bpf_insn *next = &jit->prog->insns[i + 1];
	const struct xdpvm_insn_info *info = &jit->prog->info[i + 1];

	if (next->code != (BPF_JMP | BPF_JEQ | BPF_K) || next->dst_reg != BPF_REG_0 ||
	    next->imm != 0 || info->target || info->check != XDPVM_CHECK_NONE)
		return;
	jit->plan[i] = JIT_PLAN_NULL_CHECK;
	jit->plan[i + 1] = JIT_PLAN_SKIP;
}

static uint16_t
read_registers(const struct bpf_insn *insn)
{
	uint16_t both = 1u << insn->dst_reg | 1u << insn->src_reg;
	uint8_t class = BPF_CLASS(insn->code);

	if (class == BPF_LDX)
		return 1u << insn->src_reg;
	if (class == BPF_ST || class == BPF_STX)
		return both;
	if (BPF_OP(insn->code) == BPF_MOV)
		return BPF_SRC(insn->code) == BPF_X ? 1u << insn->src_reg : 0;
	return BPF_SRC(insn->code) == BPF_X ? both : 1u << insn->dst_reg;
}

/*
 * Backwards from an inlined lookup to the last jump or call before it: what only made R1 and R2 is
 * dead. Jumps into this stretch do not matter, their R1 and R2 are as dead.
 */
static void
plan_arguments(struct jit *jit, uint32_t start, uint32_t i)
{
	const struct bpf_insn *insns = jit->prog->insns;
	uint16_t dead = 1u << BPF_REG_1;

	if (jit->prog->info[i].stack_offset < 0)
		dead |= 1u << BPF_REG_2;
	for (uint32_t at = i; at-- > start;) {
		const struct bpf_insn *insn = &insns[at];
		uint8_t class;

		/* The second half of a wide load has code 0. */
		if (insn->code == 0 && at > start)
			insn = &insns[--at];
		class = BPF_CLASS(insn->code);
		if (class == BPF_JMP || class == BPF_JMP32)
			return;
		if ((class == BPF_ALU || class == BPF_ALU64 || class == BPF_LD) &&
		    dead & 1u << insn->dst_reg)
			jit->plan[at] = JIT_PLAN_SKIP;
		else if (class != BPF_LD)
			dead &= ~read_registers(insn);
	}
}

void
xdpvm_jit_plan(struct jit *jit)
{
	const struct xdpvm_prog *prog = jit->prog;
	bool needs_buff;

	for (uint32_t s = 0; s < prog->n_subprogs; s++) {
		const struct xdpvm_subprog *subprog = &prog->subprogs[s];

		for (uint32_t i = subprog->start; i < subprog->end; i++) {
			if (!xdpvm_jit_lookup_inlined(prog, i, &needs_buff))
				continue;
			plan_arguments(jit, subprog->start, i);
			plan_null_check(jit, i);
		}
		for (uint32_t i = subprog->start; i + 1 < subprog->end; i++)
			plan_lea(jit, i);
		for (uint32_t i = subprog->start; i + 3 < subprog->end; i++)
			plan_halfword(jit, i);
	}
}
