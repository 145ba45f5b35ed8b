/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arithmetic: results that C leaves undefined are spelled out (division by zero gives 0, modulo by
 * zero the dividend, the most negative number divided by -1 itself), shift counts are masked.
 */
#include "interp.h"

static uint64_t
divide64(uint64_t a, uint64_t b, bool is_signed)
{
	if (b == 0)
		return 0;
	if (!is_signed)
		return a / b;
	return (int64_t)b == -1 ? -a : (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t
modulo64(uint64_t a, uint64_t b, bool is_signed)
{
	if (b == 0)
		return a;
	if (!is_signed)
		return a % b;
	return (int64_t)b == -1 ? 0 : (uint64_t)((int64_t)a % (int64_t)b);
}

static uint32_t
divide32(uint32_t a, uint32_t b, bool is_signed)
{
	if (b == 0)
		return 0;
	if (!is_signed)
		return a / b;
	return (int32_t)b == -1 ? -a : (uint32_t)((int32_t)a / (int32_t)b);
}

static uint32_t
modulo32(uint32_t a, uint32_t b, bool is_signed)
{
	if (b == 0)
		return a;
	if (!is_signed)
		return a % b;
	return (int32_t)b == -1 ? 0 : (uint32_t)((int32_t)a % (int32_t)b);
}

static uint64_t
sign_extend(uint64_t value, int16_t bits)
{
	switch (bits) {
	case 8:
		return (int64_t)(int8_t)value;
	case 16:
		return (int64_t)(int16_t)value;
	case 32:
		return (int64_t)(int32_t)value;
	default:
		return value;
	}
}

/* BPF_ALU: to little (K) or big (X) endian; BPF_ALU64: swap. The machine is little-endian. */
static uint64_t
byte_swap(const struct bpf_insn *insn, uint64_t value)
{
	bool swap = BPF_CLASS(insn->code) == BPF_ALU64 || BPF_SRC(insn->code) == BPF_X;

	switch (insn->imm) {
	case 16:
		return swap ? __builtin_bswap16(value) : (uint16_t)value;
	case 32:
		return swap ? __builtin_bswap32(value) : (uint32_t)value;
	default:
		return swap ? __builtin_bswap64(value) : value;
	}
}

static uint64_t
alu64(const struct bpf_insn *insn, uint64_t a, uint64_t b)
{
	switch (BPF_OP(insn->code)) {
	case BPF_ADD:
		return a + b;
	case BPF_SUB:
		return a - b;
	case BPF_MUL:
		return a * b;
	case BPF_DIV:
		return divide64(a, b, insn->off == 1);
	case BPF_OR:
		return a | b;
	case BPF_AND:
		return a & b;
	case BPF_LSH:
		return a << (b & 63);
	case BPF_RSH:
		return a >> (b & 63);
	case BPF_NEG:
		return -a;
	case BPF_MOD:
		return modulo64(a, b, insn->off == 1);
	case BPF_XOR:
		return a ^ b;
	case BPF_MOV:
		return sign_extend(b, insn->off);
	default:	/* BPF_ARSH */
		return (int64_t)a >> (b & 63);
	}
}

static uint32_t
alu32(const struct bpf_insn *insn, uint32_t a, uint32_t b)
{
	switch (BPF_OP(insn->code)) {
	case BPF_ADD:
		return a + b;
	case BPF_SUB:
		return a - b;
	case BPF_MUL:
		return a * b;
	case BPF_DIV:
		return divide32(a, b, insn->off == 1);
	case BPF_OR:
		return a | b;
	case BPF_AND:
		return a & b;
	case BPF_LSH:
		return a << (b & 31);
	case BPF_RSH:
		return a >> (b & 31);
	case BPF_NEG:
		return -a;
	case BPF_MOD:
		return modulo32(a, b, insn->off == 1);
	case BPF_XOR:
		return a ^ b;
	case BPF_MOV:
		return sign_extend(b, insn->off);
	default:	/* BPF_ARSH */
		return (int32_t)a >> (b & 31);
	}
}

uint64_t
xdpvm_alu(const struct bpf_insn *insn, uint64_t dst, uint64_t operand)
{
	if (BPF_OP(insn->code) == BPF_END)
		return byte_swap(insn, dst);
	if (BPF_CLASS(insn->code) == BPF_ALU)
		return alu32(insn, dst, operand);
	return alu64(insn, dst, operand);
}

bool
xdpvm_jump_taken(const struct bpf_insn *insn, uint64_t a, uint64_t b)
{
	bool narrow = BPF_CLASS(insn->code) == BPF_JMP32;
	int64_t sa = narrow ? (int32_t)a : (int64_t)a;
	int64_t sb = narrow ? (int32_t)b : (int64_t)b;

	if (narrow) {
		a = (uint32_t)a;
		b = (uint32_t)b;
	}
	switch (BPF_OP(insn->code)) {
	case BPF_JEQ:
		return a == b;
	case BPF_JGT:
		return a > b;
	case BPF_JGE:
		return a >= b;
	case BPF_JSET:
		return (a & b) != 0;
	case BPF_JNE:
		return a != b;
	case BPF_JSGT:
		return sa > sb;
	case BPF_JSGE:
		return sa >= sb;
	case BPF_JLT:
		return a < b;
	case BPF_JLE:
		return a <= b;
	case BPF_JSLT:
		return sa < sb;
	default:	/* BPF_JSLE */
		return sa <= sb;
	}
}
