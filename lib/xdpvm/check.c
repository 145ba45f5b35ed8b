/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Form: every instruction is one that the engines know (RFC 9669, ISA v1 to v4), registers exist,
 * jumps stay inside their function and off the second half of a wide load, functions do not fall
 * through their end. Nothing here vouches for what a program does; but whatever passes here the
 * engines can translate without looking over their shoulder, whoever vouched for it.
 */
#include <stdlib.h>

#include "program.h"

#define N_REGISTERS 11	/* R0 to R10 */

static const char reserved[] = "a reserved field is not zero";

static const char *
check_operand(const struct bpf_insn *insn)
{
	bool reserved_used = BPF_SRC(insn->code) == BPF_X ? insn->imm != 0 : insn->src_reg != 0;

	return reserved_used ? reserved : NULL;
}

static const char *
check_end(const struct bpf_insn *insn)
{
	if (BPF_CLASS(insn->code) == BPF_ALU64 && BPF_SRC(insn->code) != BPF_K)
		return "unknown byte swap";
	if (insn->imm != 16 && insn->imm != 32 && insn->imm != 64)
		return "a byte swap is of 16, 32 or 64 bits";
	return insn->src_reg != 0 || insn->off != 0 ? reserved : NULL;
}

static const char *
check_mov(const struct bpf_insn *insn)
{
	bool wide = BPF_CLASS(insn->code) == BPF_ALU64;

	if (insn->off == 0)
		return check_operand(insn);
	if (BPF_SRC(insn->code) != BPF_X ||
	    (insn->off != 8 && insn->off != 16 && !(wide && insn->off == 32)))
		return "a sign-extending move is of 8, 16 or (64-bit only) 32 bits, from a register";
	return check_operand(insn);
}

static const char *
check_alu(const struct bpf_insn *insn)
{
	switch (BPF_OP(insn->code)) {
	case BPF_END:
		return check_end(insn);
	case BPF_MOV:
		return check_mov(insn);
	case BPF_NEG:
		return BPF_SRC(insn->code) != BPF_K || insn->src_reg != 0 || insn->imm != 0 ||
		       insn->off != 0 ? reserved : NULL;
	case BPF_DIV:
	case BPF_MOD:
		return insn->off != 0 && insn->off != 1 ? reserved : check_operand(insn);
	case BPF_ADD:
	case BPF_SUB:
	case BPF_MUL:
	case BPF_OR:
	case BPF_AND:
	case BPF_LSH:
	case BPF_RSH:
	case BPF_XOR:
	case BPF_ARSH:
		return insn->off != 0 ? reserved : check_operand(insn);
	default:
		return "unknown arithmetic operation";
	}
}

static const char *
check_jump(const struct bpf_insn *insn)
{
	bool narrow = BPF_CLASS(insn->code) == BPF_JMP32;

	switch (BPF_OP(insn->code)) {
	case BPF_JA:
		if (BPF_SRC(insn->code) != BPF_K || insn->dst_reg != 0 || insn->src_reg != 0)
			return reserved;
		return (narrow ? insn->off : insn->imm) != 0 ? reserved : NULL;
	case BPF_CALL:
		if (narrow || BPF_SRC(insn->code) != BPF_K)
			return "unknown call";
		return insn->dst_reg != 0 || insn->off != 0 ? reserved : NULL;
	case BPF_EXIT:
		if (narrow || BPF_SRC(insn->code) != BPF_K)
			return "unknown exit";
		return insn->dst_reg != 0 || insn->src_reg != 0 || insn->off != 0 || insn->imm != 0 ?
		       reserved : NULL;
	case 0xe0:
		return "unknown jump (may_goto is not supported)";
	case 0xf0:
		return "unknown jump";
	default:
		return check_operand(insn);
	}
}

static const char *
check_atomic(const struct bpf_insn *insn)
{
	if (BPF_SIZE(insn->code) != BPF_W && BPF_SIZE(insn->code) != BPF_DW)
		return "atomic operations are of 32 or 64 bits";
	switch (insn->imm) {
	case BPF_ADD:
	case BPF_AND:
	case BPF_OR:
	case BPF_XOR:
	case BPF_ADD | BPF_FETCH:
	case BPF_AND | BPF_FETCH:
	case BPF_OR | BPF_FETCH:
	case BPF_XOR | BPF_FETCH:
	case BPF_XCHG:
	case BPF_CMPXCHG:
		return NULL;
	default:
		return "unknown atomic operation";
	}
}

static const char *
check_load(const struct bpf_insn *insn)
{
	bool signed_load = BPF_MODE(insn->code) == BPF_MEMSX && BPF_SIZE(insn->code) != BPF_DW;

	if (BPF_MODE(insn->code) != BPF_MEM && !signed_load)
		return "unknown load";
	return insn->imm != 0 ? reserved : NULL;
}

static const char *
check_store(const struct bpf_insn *insn)
{
	bool from_register = BPF_CLASS(insn->code) == BPF_STX;

	if (BPF_MODE(insn->code) == BPF_ATOMIC && from_register)
		return check_atomic(insn);
	if (BPF_MODE(insn->code) != BPF_MEM)
		return "unknown store";
	return (from_register ? insn->imm != 0 : insn->src_reg != 0) ? reserved : NULL;
}

static const char *
check_ld(const struct bpf_insn *insn)
{
	if (BPF_MODE(insn->code) == BPF_ABS || BPF_MODE(insn->code) == BPF_IND)
		return "legacy packet load (LD_ABS, LD_IND), which XDP programs do not have";
	return xdpvm_is_ld_imm64(insn) && insn->off == 0 ? NULL : "unknown load of a constant";
}

static const char *
check_class(const struct bpf_insn *insn)
{
	switch (BPF_CLASS(insn->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		return check_alu(insn);
	case BPF_JMP:
	case BPF_JMP32:
		return check_jump(insn);
	case BPF_LD:
		return check_ld(insn);
	case BPF_LDX:
		return check_load(insn);
	default:
		return check_store(insn);
	}
}

static bool
writes_dst(const struct bpf_insn *insn)
{
	uint8_t class = BPF_CLASS(insn->code);

	return class == BPF_ALU || class == BPF_ALU64 || class == BPF_LDX || class == BPF_LD;
}

/* fetch and xchg bring the old value into the source register. */
static bool
writes_src(const struct bpf_insn *insn)
{
	return BPF_CLASS(insn->code) == BPF_STX && BPF_MODE(insn->code) == BPF_ATOMIC &&
	       (insn->imm & BPF_FETCH) != 0 && insn->imm != BPF_CMPXCHG;
}

static const char *
check_registers(const struct bpf_insn *insn)
{
	if (xdpvm_is_ld_imm64(insn) || insn->code == (BPF_JMP | BPF_CALL)) {
		if (insn->dst_reg >= BPF_REG_10)
			return "no such register can be written";
		return NULL;
	}
	if (insn->dst_reg >= N_REGISTERS || insn->src_reg >= N_REGISTERS)
		return "there are only the registers R0 to R10";
	if ((writes_dst(insn) && insn->dst_reg == BPF_REG_10) ||
	    (writes_src(insn) && insn->src_reg == BPF_REG_10))
		return "the frame pointer R10 is read-only";
	return NULL;
}

static bool
is_jump(const struct bpf_insn *insn)
{
	uint8_t class = BPF_CLASS(insn->code);

	return (class == BPF_JMP || class == BPF_JMP32) && BPF_OP(insn->code) != BPF_CALL &&
	       BPF_OP(insn->code) != BPF_EXIT;
}

static bool
ends_function(const struct bpf_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_EXIT) || insn->code == (BPF_JMP | BPF_JA) ||
	       insn->code == (BPF_JMP32 | BPF_JA);
}

static int
check_one(struct xdpvm_prog *prog, const struct xdpvm_subprog *subprog, uint32_t i)
{
	const struct bpf_insn *insn = &prog->insns[i];
	const char *reason = check_registers(insn);
	int64_t target;

	if (reason == NULL)
		reason = check_class(insn);
	if (reason != NULL)
		return xdpvm_prog_fail(prog, i, -EINVAL, "%s (opcode 0x%02x)", reason, insn->code);
	if (!is_jump(insn))
		return 0;
	target = xdpvm_jump_target(insn, i);
	if (target < subprog->start || target >= subprog->end)
		return xdpvm_prog_fail(prog, i, -EINVAL, "jumps out of its function");
	prog->info[target].target = true;
	return 0;
}

/*
 * The second half of a wide load is no instruction: it must be empty, and nothing may land on it.
 */
static int
check_second_half(struct xdpvm_prog *prog, const struct xdpvm_subprog *subprog, uint32_t i)
{
	const struct bpf_insn *half = &prog->insns[i + 1];

	if (i + 1 >= subprog->end || half->code != 0 || half->dst_reg != 0 || half->src_reg != 0 ||
	    half->off != 0)
		return xdpvm_prog_fail(prog, i, -EINVAL, "its second half is missing or malformed");
	return 0;
}

static int
check_function(struct xdpvm_prog *prog, const struct xdpvm_subprog *subprog)
{
	uint32_t last = subprog->start;
	int ret;

	for (uint32_t i = subprog->start; i < subprog->end; i++) {
		last = i;
		ret = check_one(prog, subprog, i);
		if (ret == 0 && xdpvm_is_ld_imm64(&prog->insns[i])) {
			ret = check_second_half(prog, subprog, i);
			i++;
		}
		if (ret != 0)
			return ret;
	}
	if (!ends_function(&prog->insns[last]))
		return xdpvm_prog_fail(prog, last, -EINVAL, "the function falls through its end");
	return 0;
}

static int
check_halves(struct xdpvm_prog *prog)
{
	for (uint32_t i = 0; i + 1 < prog->n_insns; i++) {
		if (!xdpvm_is_ld_imm64(&prog->insns[i]))
			continue;
		if (prog->info[++i].target)
			return xdpvm_prog_fail(prog, i, -EINVAL,
					       "a jump lands on the second half of a wide load");
	}
	return 0;
}

int
xdpvm_check_insns(struct xdpvm_prog *prog)
{
	int ret = 0;

	for (uint32_t i = 0; i < prog->n_subprogs && ret == 0; i++)
		ret = check_function(prog, &prog->subprogs[i]);
	return ret == 0 ? check_halves(prog) : ret;
}

/* Whether the instruction calls a function of the program or takes its address, and which. */
static bool
names_function(const struct bpf_insn *insn, uint32_t i, int64_t *start)
{
	*start = (int64_t)i + 1 + insn->imm;
	return xdpvm_is_call(insn, BPF_PSEUDO_CALL) ||
	       (xdpvm_is_ld_imm64(insn) && insn->src_reg == BPF_PSEUDO_FUNC);
}

static int
add_subprog(struct xdpvm_prog *prog, uint32_t start, uint32_t *room)
{
	struct xdpvm_subprog *subprogs = prog->subprogs;

	for (uint32_t i = 0; i < prog->n_subprogs; i++)
		if (subprogs[i].start == start)
			return 0;
	if (prog->n_subprogs == XDPVM_MAX_SUBPROGS)
		return xdpvm_prog_fail(prog, start, -E2BIG, "more than %u functions",
				       XDPVM_MAX_SUBPROGS);
	if (prog->n_subprogs == *room) {
		*room = *room * 2 + 8;
		subprogs = realloc(subprogs, *room * sizeof(*subprogs));
		if (subprogs == NULL)
			return xdpvm_prog_fail(prog, start, -ENOMEM, "no memory");
		prog->subprogs = subprogs;
	}
	subprogs[prog->n_subprogs++] = (struct xdpvm_subprog){ .start = start };
	return 0;
}

static int
compare_starts(const void *a, const void *b)
{
	const struct xdpvm_subprog *left = a, *right = b;

	return left->start < right->start ? -1 : left->start > right->start;
}

static void
note_targets(struct xdpvm_prog *prog)
{
	for (uint32_t i = 0; i < prog->n_insns; i++) {
		int64_t start;

		if (!names_function(&prog->insns[i], i, &start))
			continue;
		for (uint32_t s = 0; s < prog->n_subprogs; s++) {
			if (prog->subprogs[s].start != start)
				continue;
			prog->info[i].subprog = s;
			if (xdpvm_is_ld_imm64(&prog->insns[i]))
				prog->subprogs[s].callback = true;
		}
	}
}

int
xdpvm_check_subprogs(struct xdpvm_prog *prog)
{
	uint32_t room = 0;
	int ret = add_subprog(prog, 0, &room);

	for (uint32_t i = 0; i < prog->n_insns && ret == 0; i++) {
		int64_t start;

		if (!names_function(&prog->insns[i], i, &start))
			continue;
		if (start < 0 || start >= prog->n_insns)
			ret = xdpvm_prog_fail(prog, i, -EINVAL, "calls a function outside the program");
		else
			ret = add_subprog(prog, start, &room);
	}
	if (ret != 0)
		return ret;
	qsort(prog->subprogs, prog->n_subprogs, sizeof(*prog->subprogs), compare_starts);
	for (uint32_t s = 0; s < prog->n_subprogs; s++)
		prog->subprogs[s].end = s + 1 < prog->n_subprogs ? prog->subprogs[s + 1].start :
								   prog->n_insns;
	note_targets(prog);
	return 0;
}
