/* SPDX-License-Identifier: BSD-3-Clause */
/* See disasm.h. What the library's checks refuse before a dump could show it is not named here. */
#include <stdint.h>
#include <stdio.h>

#include "disasm.h"

#ifndef BPF_MEMSX
#define BPF_MEMSX 0x80	/* ISA v4 */
#endif

#define HELPER_NAME(name) "bpf_" #name
static const char *const helper_names[] = { __BPF_FUNC_MAPPER(HELPER_NAME) };

static const char *const alu_signs[16] = {
	[BPF_ADD >> 4] = "+=", [BPF_SUB >> 4] = "-=", [BPF_MUL >> 4] = "*=", [BPF_DIV >> 4] = "/=",
	[BPF_OR >> 4] = "|=", [BPF_AND >> 4] = "&=", [BPF_LSH >> 4] = "<<=",
	[BPF_RSH >> 4] = ">>=", [BPF_MOD >> 4] = "%=", [BPF_XOR >> 4] = "^=",
	[BPF_MOV >> 4] = "=", [BPF_ARSH >> 4] = "s>>=",
};

static const char *const jump_signs[16] = {
	[BPF_JEQ >> 4] = "==", [BPF_JGT >> 4] = ">", [BPF_JGE >> 4] = ">=", [BPF_JSET >> 4] = "&",
	[BPF_JNE >> 4] = "!=", [BPF_JSGT >> 4] = "s>", [BPF_JSGE >> 4] = "s>=",
	[BPF_JLT >> 4] = "<", [BPF_JLE >> 4] = "<=", [BPF_JSLT >> 4] = "s<",
	[BPF_JSLE >> 4] = "s<=",
};

static const unsigned int width_bits[] = {
	[BPF_W >> 3] = 32, [BPF_H >> 3] = 16, [BPF_B >> 3] = 8, [BPF_DW >> 3] = 64,
};

bool
disasm_is_wide(const struct bpf_insn *insn)
{
	return insn->code == (BPF_LD | BPF_IMM | BPF_DW);
}

static unsigned int
bits_of(const struct bpf_insn *insn)
{
	return width_bits[BPF_SIZE(insn->code) >> 3];
}

/* The sign of an operation with its signed form: division and remainder with off 1. */
static const char *
alu_sign(const struct bpf_insn *insn)
{
	uint8_t op = BPF_OP(insn->code);

	if (insn->off == 1 && op == BPF_DIV)
		return "s/=";
	if (insn->off == 1 && op == BPF_MOD)
		return "s%=";
	return alu_signs[op >> 4] != NULL ? alu_signs[op >> 4] : "?=";
}

static void
disasm_alu(const struct bpf_insn *insn, char *text, size_t size)
{
	bool alu64 = BPF_CLASS(insn->code) == BPF_ALU64;
	char r = alu64 ? 'r' : 'w';

	if (BPF_OP(insn->code) == BPF_END)
		snprintf(text, size, "r%u = %s%d r%u", insn->dst_reg,
			 alu64 ? "bswap" : BPF_SRC(insn->code) == BPF_TO_BE ? "be" : "le",
			 insn->imm, insn->dst_reg);
	else if (BPF_OP(insn->code) == BPF_NEG)
		snprintf(text, size, "%c%u = -%c%u", r, insn->dst_reg, r, insn->dst_reg);
	else if (BPF_SRC(insn->code) == BPF_K)
		snprintf(text, size, "%c%u %s %d", r, insn->dst_reg, alu_sign(insn), insn->imm);
	else if (BPF_OP(insn->code) == BPF_MOV && insn->off != 0)
		snprintf(text, size, "%c%u = (s%d)%c%u", r, insn->dst_reg, insn->off, r,
			 insn->src_reg);
	else
		snprintf(text, size, "%c%u %s %c%u", r, insn->dst_reg, alu_sign(insn), r,
			 insn->src_reg);
}

static void
disasm_atomic(const struct bpf_insn *insn, char *text, size_t size)
{
	unsigned int bits = bits_of(insn);
	uint8_t op = insn->imm & ~BPF_FETCH;
	const char *name = op == BPF_ADD ? "add" : op == BPF_OR ? "or" : op == BPF_AND ? "and" : "xor";

	if (insn->imm == BPF_CMPXCHG)
		snprintf(text, size, "r0 = atomic%s_cmpxchg((u%u *)(r%u %+d), r0, r%u)",
			 bits == 64 ? "64" : "", bits, insn->dst_reg, insn->off, insn->src_reg);
	else if (insn->imm == BPF_XCHG)
		snprintf(text, size, "r%u = atomic%s_xchg((u%u *)(r%u %+d), r%u)", insn->src_reg,
			 bits == 64 ? "64" : "", bits, insn->dst_reg, insn->off, insn->src_reg);
	else if (insn->imm & BPF_FETCH)
		snprintf(text, size, "r%u = atomic%s_fetch_%s((u%u *)(r%u %+d), r%u)",
			 insn->src_reg, bits == 64 ? "64" : "", name, bits, insn->dst_reg,
			 insn->off, insn->src_reg);
	else
		snprintf(text, size, "lock *(u%u *)(r%u %+d) %s r%u", bits, insn->dst_reg,
			 insn->off, alu_signs[op >> 4], insn->src_reg);
}

static void
disasm_memory(const struct bpf_insn *insn, char *text, size_t size)
{
	unsigned int bits = bits_of(insn);

	switch (BPF_CLASS(insn->code)) {
	case BPF_LDX:
		snprintf(text, size, "r%u = *(%c%u *)(r%u %+d)", insn->dst_reg,
			 BPF_MODE(insn->code) == BPF_MEMSX ? 's' : 'u', bits, insn->src_reg,
			 insn->off);
		break;
	case BPF_ST:
		snprintf(text, size, "*(u%u *)(r%u %+d) = %d", bits, insn->dst_reg, insn->off,
			 insn->imm);
		break;
	default:
		if (BPF_MODE(insn->code) == BPF_ATOMIC)
			disasm_atomic(insn, text, size);
		else
			snprintf(text, size, "*(u%u *)(r%u %+d) = r%u", bits, insn->dst_reg,
				 insn->off, insn->src_reg);
	}
}

static void
disasm_call(const struct bpf_insn *insn, char *text, size_t size)
{
	size_t known = sizeof(helper_names) / sizeof(helper_names[0]);

	if (insn->src_reg == BPF_PSEUDO_CALL)
		snprintf(text, size, "call pc%+d", insn->imm);
	else if (insn->src_reg == BPF_PSEUDO_KFUNC_CALL)
		snprintf(text, size, "call kernel-function#%d", insn->imm);
	else
		snprintf(text, size, "call %s#%d",
			 (uint32_t)insn->imm < known ? helper_names[insn->imm] : "unknown",
			 insn->imm);
}

static void
disasm_jump(const struct bpf_insn *insn, char *text, size_t size)
{
	bool jmp32 = BPF_CLASS(insn->code) == BPF_JMP32;
	uint8_t op = BPF_OP(insn->code);
	const char *sign = jump_signs[op >> 4] != NULL ? jump_signs[op >> 4] : "?";
	char r = jmp32 ? 'w' : 'r';

	if (op == BPF_CALL)
		disasm_call(insn, text, size);
	else if (op == BPF_EXIT)
		snprintf(text, size, "exit");
	else if (op == BPF_JA)
		snprintf(text, size, "%s pc%+d", jmp32 ? "gotol" : "goto",
			 jmp32 ? insn->imm : insn->off);
	else if (BPF_SRC(insn->code) == BPF_K)
		snprintf(text, size, "if %c%u %s 0x%x goto pc%+d", r, insn->dst_reg, sign,
			 insn->imm, insn->off);
	else
		snprintf(text, size, "if %c%u %s %c%u goto pc%+d", r, insn->dst_reg, sign, r,
			 insn->src_reg, insn->off);
}

static void
disasm_wide(const struct bpf_insn *insn, const char *constant, char *text, size_t size)
{
	uint64_t value = (uint32_t)insn[0].imm | (uint64_t)(uint32_t)insn[1].imm << 32;

	if (constant != NULL)
		snprintf(text, size, "r%u = %s", insn->dst_reg, constant);
	else
		snprintf(text, size, "r%u = 0x%llx", insn->dst_reg, (unsigned long long)value);
}

void
disasm(const struct bpf_insn *insn, const char *constant, char *text, size_t size)
{
	int at = snprintf(text, size, "(%02x) ", insn->code);

	text += at;
	size -= at;
	switch (BPF_CLASS(insn->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		disasm_alu(insn, text, size);
		break;
	case BPF_JMP:
	case BPF_JMP32:
		disasm_jump(insn, text, size);
		break;
	case BPF_LD:
		disasm_wide(insn, constant, text, size);
		break;
	default:
		disasm_memory(insn, text, size);
	}
}
