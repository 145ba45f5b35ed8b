/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One case per instruction and per corner of RFC 9669: what R0 must be afterwards, by hand from the
 * RFC. Interpreter, compiler and (where this process may load programs) the kernel must give it.
 * R1 and R2 start with the case's operands; R6 is the packet's address and stays alone.
 */
#include <stdio.h>
#include <stdlib.h>

#include "raw.h"

#define CASE_MAX 16	/* instructions */
#define PACKET_SIZE 64	/* bytes */

struct insn_case {
	const char *name;
	uint64_t r1, r2;
	uint64_t expected;
	struct bpf_insn body[CASE_MAX];	/* ends with an empty instruction */
};

#define R0 BPF_REG_0
#define R1 BPF_REG_1
#define R2 BPF_REG_2
#define R3 BPF_REG_3
#define R4 BPF_REG_4
#define FP BPF_REG_10

#define MIN64 0x8000000000000000ull
#define MIN32 0x80000000ull
#define ONES 0xffffffffffffffffull
#define PATTERN 0x1122334455667788ull
#define HIGH 0xfedcba9876543210ull

/* R0 = R1 op R2, R0 = R1 op K, both widths. */
#define OP64_X(op, a, b, result) \
	{ #op " 64 X " #a " " #b, a, b, result, { ALU64_X(BPF_MOV, R0, R1), ALU64_X(op, R0, R2) } }
#define OP64_K(op, a, k, result) \
	{ #op " 64 K " #a " " #k, a, 0, result, { ALU64_X(BPF_MOV, R0, R1), ALU64_K(op, R0, k) } }
#define OP32_X(op, a, b, result) \
	{ #op " 32 X " #a " " #b, a, b, result, { ALU64_X(BPF_MOV, R0, R1), ALU32_X(op, R0, R2) } }
#define OP32_K(op, a, k, result) \
	{ #op " 32 K " #a " " #k, a, 0, result, { ALU64_X(BPF_MOV, R0, R1), ALU32_K(op, R0, k) } }
#define SIGNED_X(class, op, a, b, result) \
	{ "S" #op " " #class " X " #a " " #b, a, b, result, { ALU64_X(BPF_MOV, R0, R1), \
	  INSN((class) | (op) | BPF_X, R0, R2, 1, 0) } }
#define SIGNED_K(class, op, a, k, result) \
	{ "S" #op " " #class " K " #a " " #k, a, 0, result, { ALU64_X(BPF_MOV, R0, R1), \
	  INSN((class) | (op) | BPF_K, R0, 0, 1, k) } }
#define MOVSX(class, bits, a, result) \
	{ "movsx " #class " " #bits " " #a, a, 0, result, { \
	  INSN((class) | BPF_MOV | BPF_X, R0, R1, bits, 0) } }
#define SWAP(class, kind, bits, a, result) \
	{ "swap " #class " " #kind " " #bits, a, 0, result, { ALU64_X(BPF_MOV, R0, R1), \
	  INSN((class) | BPF_END | (kind), R0, 0, 0, bits) } }
/* R0 = 1 when the jump from R1 against R2 or K is taken. */
#define JUMP(insn, name, a, b, taken) \
	{ name " " #a " " #b, a, b, taken, { ALU64_K(BPF_MOV, R0, 1), insn, \
	  ALU64_K(BPF_MOV, R0, 0) } }
#define JUMP_X(op, a, b, taken) JUMP(JMP_X(op, R1, R2, 1), #op " 64 X", a, b, taken)
#define JUMP_K(op, a, k, taken) JUMP(JMP_K(op, R1, k, 1), #op " 64 K", a, k, taken)
#define JUMP32_X(op, a, b, taken) JUMP(JMP32_X(op, R1, R2, 1), #op " 32 X", a, b, taken)
#define JUMP32_K(op, a, k, taken) JUMP(JMP32_K(op, R1, k, 1), #op " 32 K", a, k, taken)
/* R1 goes to the stack and comes back by the load. */
#define LOAD(insn, a, result) { #insn, a, 0, result, { STX(BPF_DW, FP, R1, -8), insn } }
/* Memory starts as R1, the operand is R2; R0 is memory plus what the operand register became. */
#define ATOMIC_MEMORY(size, op, a, b, result) \
	{ "atomic " #size " " #op " memory", a, b, result, { STX(BPF_DW, FP, R1, -8), \
	  ATOMIC(size, FP, R2, -8, op), LDX(BPF_DW, R0, FP, -8) } }
#define ATOMIC_REGISTER(size, op, a, b, result) \
	{ "atomic " #size " " #op " register", a, b, result, { STX(BPF_DW, FP, R1, -8), \
	  ATOMIC(size, FP, R2, -8, op), ALU64_X(BPF_MOV, R0, R2) } }

static const struct insn_case cases[] = {
	OP64_X(BPF_ADD, ONES, 2, 1),
	OP64_K(BPF_ADD, 5, -7, -2ull),
	OP32_X(BPF_ADD, 0x1ffffffffull, 1, 0),
	OP32_K(BPF_ADD, HIGH, -1, 0x7654320full),
	OP64_X(BPF_SUB, 1, 2, ONES),
	OP64_K(BPF_SUB, 0, -1, 1),
	OP32_X(BPF_SUB, 1, 2, 0xffffffffull),
	OP32_K(BPF_SUB, HIGH, 0x10, 0x76543200ull),
	OP64_X(BPF_MUL, 0x100000001ull, 0x100000001ull, 0x200000001ull),
	OP64_K(BPF_MUL, 3, -2, -6ull),
	OP32_X(BPF_MUL, 0x1ffffffffull, 3, 0xfffffffdull),
	OP32_K(BPF_MUL, 0x80000001ull, 2, 2),
	OP64_X(BPF_DIV, ONES, 16, 0x0fffffffffffffffull),
	OP64_X(BPF_DIV, 7, 0, 0),
	OP64_K(BPF_DIV, ONES, -1, 1),
	OP64_K(BPF_DIV, 100, 7, 14),
	OP32_X(BPF_DIV, HIGH, 16, 0x07654321ull),
	OP32_X(BPF_DIV, HIGH, 0x100000000ull, 0),
	OP32_K(BPF_DIV, 0xf00000010ull, 3, 5),
	OP64_X(BPF_MOD, 100, 7, 2),
	OP64_X(BPF_MOD, HIGH, 0, HIGH),
	OP64_K(BPF_MOD, ONES, 10, 5),
	OP32_X(BPF_MOD, 0x100000064ull, 7, 2),
	OP32_X(BPF_MOD, HIGH, 0x500000000ull, 0x76543210ull),
	OP32_K(BPF_MOD, 0xf00000011ull, 16, 1),
	SIGNED_X(BPF_ALU64, BPF_DIV, -7ull, 2, -3ull),
	SIGNED_X(BPF_ALU64, BPF_DIV, MIN64, ONES, MIN64),
	SIGNED_X(BPF_ALU64, BPF_DIV, 5, 0, 0),
	SIGNED_K(BPF_ALU64, BPF_DIV, -9ull, -4, 2),
	SIGNED_X(BPF_ALU, BPF_DIV, 0xfffffff9ull, 2, 0xfffffffdull),
	SIGNED_X(BPF_ALU, BPF_DIV, MIN32, 0xffffffffull, MIN32),
	SIGNED_X(BPF_ALU, BPF_DIV, 0x100000005ull, 0xa00000000ull, 0),
	SIGNED_K(BPF_ALU, BPF_DIV, 0x1fffffff7ull, -4, 2),
	SIGNED_X(BPF_ALU64, BPF_MOD, -7ull, 3, -1ull),
	SIGNED_X(BPF_ALU64, BPF_MOD, MIN64, ONES, 0),
	SIGNED_X(BPF_ALU64, BPF_MOD, -5ull, 0, -5ull),
	SIGNED_K(BPF_ALU64, BPF_MOD, 13, -3, 1),
	SIGNED_X(BPF_ALU, BPF_MOD, 0xfffffff9ull, 3, 0xffffffffull),
	SIGNED_X(BPF_ALU, BPF_MOD, MIN32, 0xffffffffull, 0),
	SIGNED_X(BPF_ALU, BPF_MOD, 0xbfffffffbull, 0, 0xfffffffbull),
	SIGNED_K(BPF_ALU, BPF_MOD, 0xf0000000dull, -3, 1),
	OP64_X(BPF_OR, 0xf0, 0x0f, 0xff),
	OP64_K(BPF_OR, 1, -16, 0xfffffffffffffff1ull),
	OP32_X(BPF_OR, HIGH, 0x0f, 0x7654321full),
	OP32_K(BPF_OR, HIGH, 0x0f, 0x7654321full),
	OP64_X(BPF_AND, HIGH, ONES, HIGH),
	OP64_K(BPF_AND, HIGH, -256, 0xfedcba9876543200ull),
	OP32_X(BPF_AND, HIGH, ONES, 0x76543210ull),
	OP32_K(BPF_AND, HIGH, -1, 0x76543210ull),
	OP64_X(BPF_XOR, HIGH, HIGH, 0),
	OP64_K(BPF_XOR, 0, -1, ONES),
	OP32_X(BPF_XOR, ONES, 1, 0xfffffffeull),
	OP32_K(BPF_XOR, HIGH, 0x10, 0x76543200ull),
	OP64_X(BPF_LSH, 1, 63, MIN64),
	OP64_X(BPF_LSH, 3, 65, 6),
	OP64_K(BPF_LSH, PATTERN, 8, 0x2233445566778800ull),
	OP32_X(BPF_LSH, 0x100000001ull, 31, MIN32),
	OP32_X(BPF_LSH, 3, 33, 6),
	OP32_X(BPF_LSH, HIGH, 32, 0x76543210ull),
	OP32_K(BPF_LSH, HIGH, 4, 0x65432100ull),
	OP32_K(BPF_LSH, HIGH, 0, 0x76543210ull),
	OP64_X(BPF_RSH, MIN64, 63, 1),
	OP64_X(BPF_RSH, 8, 66, 2),
	OP64_K(BPF_RSH, HIGH, 60, 15),
	OP32_X(BPF_RSH, HIGH, 4, 0x07654321ull),
	OP32_X(BPF_RSH, HIGH, 36, 0x07654321ull),
	OP32_K(BPF_RSH, 0xf80000000ull, 31, 1),
	OP64_X(BPF_ARSH, MIN64, 63, ONES),
	OP64_X(BPF_ARSH, MIN64, 64, MIN64),
	OP64_K(BPF_ARSH, -16ull, 2, -4ull),
	OP32_X(BPF_ARSH, MIN32, 31, 0xffffffffull),
	OP32_X(BPF_ARSH, 0xf7fffffffull, 4, 0x07ffffffull),
	OP32_K(BPF_ARSH, 0xfffffff0ull, 2, 0xfffffffcull),
	{ "shift by R1 of itself", 5, 0, 5 << 5, { ALU64_X(BPF_MOV, R4, R1),
		ALU64_X(BPF_LSH, R4, R4), ALU64_X(BPF_MOV, R0, R4) } },
	{ "shift of R4 by R2", 3, 4, 48, { ALU64_X(BPF_MOV, R4, R1), ALU64_X(BPF_LSH, R4, R2),
		ALU64_X(BPF_MOV, R0, R4) } },
	{ "shift of R0 by R4", 3, 4, 52, { ALU64_X(BPF_MOV, R0, R1), ALU64_X(BPF_MOV, R4, R2),
		ALU64_X(BPF_LSH, R0, R4), ALU64_X(BPF_ADD, R0, R4) } },
	{ "divide leaves R3", 100, 7, 17, { ALU64_K(BPF_MOV, R3, 3), ALU64_X(BPF_MOV, R0, R1),
		ALU64_X(BPF_DIV, R0, R2), ALU64_X(BPF_ADD, R0, R3) } },
	{ "divide R3 leaves R0", 100, 7, 19, { ALU64_K(BPF_MOV, R0, 5), ALU64_X(BPF_MOV, R3, R1),
		ALU64_X(BPF_DIV, R3, R2), ALU64_X(BPF_ADD, R0, R3) } },
	{ "divide by itself", 9, 0, 1, { ALU64_X(BPF_MOV, R0, R1), ALU64_X(BPF_DIV, R0, R0) } },
	{ "divide R3 by R0", 100, 7, 14, { ALU64_X(BPF_MOV, R0, R2), ALU64_X(BPF_MOV, R3, R1),
		ALU64_X(BPF_DIV, R3, R0), ALU64_X(BPF_MOV, R0, R3) } },
	{ "neg 64", 5, 0, -5ull, { ALU64_X(BPF_MOV, R0, R1), ALU64_K(BPF_NEG, R0, 0) } },
	{ "neg 32", HIGH, 0, 0x89abcdf0ull, { ALU64_X(BPF_MOV, R0, R1),
		ALU32_K(BPF_NEG, R0, 0) } },
	{ "mov 64 X", HIGH, 0, HIGH, { ALU64_X(BPF_MOV, R0, R1) } },
	{ "mov 64 K", 0, 0, -3ull, { ALU64_K(BPF_MOV, R0, -3) } },
	{ "mov 32 X", HIGH, 0, 0x76543210ull, { ALU32_X(BPF_MOV, R0, R1) } },
	{ "mov 32 K", 0, 0, 0xfffffffdull, { ALU32_K(BPF_MOV, R0, -3) } },
	{ "mov 32 to itself", HIGH, 0, 0x76543210ull, { ALU64_X(BPF_MOV, R0, R1),
		ALU32_X(BPF_MOV, R0, R0) } },
	{ "wide constant", 0, 0, HIGH, { LD64(R0, HIGH) } },
	{ "wide constant, low half negative", 0, 0, 0x80000000ull, { LD64(R0, 0x80000000ull) } },
	{ "wide constant, sign-extended", 0, 0, -2ull, { LD64(R0, -2ull) } },
	MOVSX(BPF_ALU64, 8, 0x1280ull, -128ull),
	MOVSX(BPF_ALU64, 16, 0x128000ull, -32768ull),
	MOVSX(BPF_ALU64, 32, 0xf80000000ull, 0xffffffff80000000ull),
	MOVSX(BPF_ALU, 8, 0x12ffull, 0xffffffffull),
	MOVSX(BPF_ALU, 16, 0x17fffull, 0x7fffull),
	SWAP(BPF_ALU, BPF_K, 16, PATTERN, 0x7788ull),
	SWAP(BPF_ALU, BPF_K, 32, PATTERN, 0x55667788ull),
	SWAP(BPF_ALU, BPF_K, 64, PATTERN, PATTERN),
	SWAP(BPF_ALU, BPF_X, 16, PATTERN, 0x8877ull),
	SWAP(BPF_ALU, BPF_X, 32, PATTERN, 0x88776655ull),
	SWAP(BPF_ALU, BPF_X, 64, PATTERN, 0x8877665544332211ull),
	SWAP(BPF_ALU64, BPF_K, 16, PATTERN, 0x8877ull),
	SWAP(BPF_ALU64, BPF_K, 32, PATTERN, 0x88776655ull),
	SWAP(BPF_ALU64, BPF_K, 64, PATTERN, 0x8877665544332211ull),
	JUMP_X(BPF_JEQ, HIGH, HIGH, 1), JUMP_X(BPF_JEQ, HIGH, 0x76543210ull, 0),
	JUMP_K(BPF_JEQ, ONES, -1, 1), JUMP_K(BPF_JEQ, 0xffffffffull, -1, 0),
	JUMP_K(BPF_JEQ, 0, 0, 1), JUMP_K(BPF_JEQ, 0x100000000ull, 0, 0),
	JUMP_X(BPF_JNE, 1, 1, 0), JUMP_K(BPF_JNE, 1, 2, 1),
	JUMP_X(BPF_JGT, ONES, 0, 1), JUMP_K(BPF_JGT, 5, -1, 0), JUMP_K(BPF_JGT, 5, 5, 0),
	JUMP_X(BPF_JGE, 5, 5, 1), JUMP_K(BPF_JGE, 4, 5, 0),
	JUMP_X(BPF_JLT, 0, ONES, 1), JUMP_K(BPF_JLT, 5, 5, 0),
	JUMP_X(BPF_JLE, 5, 5, 1), JUMP_K(BPF_JLE, 6, 5, 0), JUMP_K(BPF_JLE, 0, 0, 1),
	JUMP_X(BPF_JSGT, 0, ONES, 1), JUMP_K(BPF_JSGT, MIN64, -1, 0), JUMP_K(BPF_JSGT, 1, 0, 1),
	JUMP_X(BPF_JSGE, ONES, ONES, 1), JUMP_K(BPF_JSGE, -2ull, -1, 0),
	JUMP_X(BPF_JSLT, MIN64, 0, 1), JUMP_K(BPF_JSLT, 0, -1, 0), JUMP_K(BPF_JSLT, ONES, 0, 1),
	JUMP_X(BPF_JSLE, ONES, 0, 1), JUMP_K(BPF_JSLE, 0, -1, 0),
	JUMP_X(BPF_JSET, 6, 2, 1), JUMP_X(BPF_JSET, 4, 2, 0),
	JUMP_K(BPF_JSET, MIN64, -1, 1), JUMP_K(BPF_JSET, MIN64, 0x7fffffff, 0),
	JUMP32_X(BPF_JEQ, HIGH, 0x76543210ull, 1), JUMP32_K(BPF_JEQ, 0xffffffffull, -1, 1),
	JUMP32_K(BPF_JEQ, 0x100000000ull, 0, 1),
	JUMP32_X(BPF_JNE, 0x100000001ull, 1, 0), JUMP32_K(BPF_JNE, 1, 2, 1),
	JUMP32_X(BPF_JGT, 0x100000000ull, 1, 0), JUMP32_K(BPF_JGT, 2, 1, 1),
	JUMP32_X(BPF_JGE, 0x100000001ull, 1, 1), JUMP32_K(BPF_JGE, 0, 1, 0),
	JUMP32_X(BPF_JLT, 0x100000000ull, 1, 1), JUMP32_K(BPF_JLT, 1, 1, 0),
	JUMP32_X(BPF_JLE, 0x100000001ull, 1, 1), JUMP32_K(BPF_JLE, 2, 1, 0),
	JUMP32_X(BPF_JSGT, 0, 0xffffffffull, 1), JUMP32_K(BPF_JSGT, MIN32, 0, 0),
	JUMP32_X(BPF_JSGE, MIN32, MIN32, 1), JUMP32_K(BPF_JSGE, MIN32, 0, 0),
	JUMP32_X(BPF_JSLT, MIN32, 0, 1), JUMP32_K(BPF_JSLT, 0x7fffffffull, 0, 0),
	JUMP32_X(BPF_JSLE, 0xffffffffull, 0, 1), JUMP32_K(BPF_JSLE, 1, 0, 0),
	JUMP32_X(BPF_JSET, 0xf00000000ull, ONES, 0), JUMP32_K(BPF_JSET, 0x80000000ull, -1, 1),
	{ "ja", 0, 0, 1, { ALU64_K(BPF_MOV, R0, 1), JMP_K(BPF_JNE, R1, 0, 1),
		INSN(BPF_JMP | BPF_JA, 0, 0, 1, 0), ALU64_K(BPF_MOV, R0, 0) } },
	{ "gotol", 0, 0, 1, { ALU64_K(BPF_MOV, R0, 1), JMP_K(BPF_JNE, R1, 0, 1),
		INSN(BPF_JMP32 | BPF_JA, 0, 0, 0, 1), ALU64_K(BPF_MOV, R0, 0) } },
	{ "loop", 10, 0, 55, { ALU64_K(BPF_MOV, R0, 0), ALU64_K(BPF_MOV, R3, 10),
		ALU64_X(BPF_ADD, R0, R3), ALU64_K(BPF_SUB, R3, 1), JMP_K(BPF_JNE, R3, 0, -3) } },
	LOAD(LDX(BPF_B, R0, FP, -8), HIGH, 0x10),
	LOAD(LDX(BPF_H, R0, FP, -6), HIGH, 0x7654ull),
	LOAD(LDX(BPF_W, R0, FP, -4), HIGH, 0xfedcba98ull),
	LOAD(LDX(BPF_DW, R0, FP, -8), HIGH, HIGH),
	LOAD(LDSX(BPF_B, R0, FP, -1), HIGH, -2ull),
	LOAD(LDSX(BPF_H, R0, FP, -2), HIGH, 0xfffffffffffffedcull),
	LOAD(LDSX(BPF_W, R0, FP, -4), HIGH, 0xfffffffffedcba98ull),
	{ "stx b", HIGH, 0, 0x10, { ST(BPF_DW, FP, -8, 0), STX(BPF_B, FP, R1, -8),
		LDX(BPF_DW, R0, FP, -8) } },
	{ "stx b from R2", 0, HIGH, 0x10, { ST(BPF_DW, FP, -8, 0), STX(BPF_B, FP, R2, -8),
		LDX(BPF_DW, R0, FP, -8) } },
	{ "stx h", HIGH, 0, 0x32100000ull, { ST(BPF_DW, FP, -8, 0), STX(BPF_H, FP, R1, -6),
		LDX(BPF_DW, R0, FP, -8) } },
	{ "stx w", HIGH, 0, 0x7654321000000000ull, { ST(BPF_DW, FP, -8, 0),
		STX(BPF_W, FP, R1, -4), LDX(BPF_DW, R0, FP, -8) } },
	{ "st b", 0, 0, 0xfe, { ST(BPF_DW, FP, -8, 0), ST(BPF_B, FP, -8, -2),
		LDX(BPF_DW, R0, FP, -8) } },
	{ "st h", 0, 0, 0xfffe, { ST(BPF_DW, FP, -8, 0), ST(BPF_H, FP, -8, -2),
		LDX(BPF_DW, R0, FP, -8) } },
	{ "st w", 0, 0, 0xfffffffeull, { ST(BPF_DW, FP, -8, 0), ST(BPF_W, FP, -8, -2),
		LDX(BPF_DW, R0, FP, -8) } },
	{ "st dw", 0, 0, -2ull, { ST(BPF_DW, FP, -8, -2), LDX(BPF_DW, R0, FP, -8) } },
	ATOMIC_MEMORY(BPF_DW, BPF_ADD, HIGH, 1, HIGH + 1),
	ATOMIC_MEMORY(BPF_W, BPF_ADD, 0x5ffffffffull, 1, 0x500000000ull),
	ATOMIC_MEMORY(BPF_DW, BPF_AND, HIGH, 0xff, 0x10),
	ATOMIC_MEMORY(BPF_W, BPF_AND, HIGH, 0xff, 0xfedcba9800000010ull),
	ATOMIC_MEMORY(BPF_DW, BPF_OR, HIGH, 0xf, HIGH | 0xf),
	ATOMIC_MEMORY(BPF_W, BPF_OR, HIGH, ONES, 0xfedcba98ffffffffull),
	ATOMIC_MEMORY(BPF_DW, BPF_XOR, HIGH, HIGH, 0),
	ATOMIC_MEMORY(BPF_W, BPF_XOR, HIGH, HIGH, 0xfedcba9800000000ull),
	ATOMIC_MEMORY(BPF_DW, BPF_ADD | BPF_FETCH, HIGH, 1, HIGH + 1),
	ATOMIC_REGISTER(BPF_DW, BPF_ADD | BPF_FETCH, HIGH, 1, HIGH),
	ATOMIC_REGISTER(BPF_W, BPF_ADD | BPF_FETCH, HIGH, ONES, 0x76543210ull),
	ATOMIC_MEMORY(BPF_DW, BPF_AND | BPF_FETCH, HIGH, 0xff, 0x10),
	ATOMIC_REGISTER(BPF_DW, BPF_AND | BPF_FETCH, HIGH, 0xff, HIGH),
	ATOMIC_MEMORY(BPF_W, BPF_AND | BPF_FETCH, HIGH, 0xff, 0xfedcba9800000010ull),
	ATOMIC_REGISTER(BPF_W, BPF_AND | BPF_FETCH, HIGH, 0xff, 0x76543210ull),
	ATOMIC_MEMORY(BPF_DW, BPF_OR | BPF_FETCH, HIGH, 0xf, HIGH | 0xf),
	ATOMIC_REGISTER(BPF_W, BPF_OR | BPF_FETCH, HIGH, 0xf, 0x76543210ull),
	ATOMIC_MEMORY(BPF_DW, BPF_XOR | BPF_FETCH, HIGH, HIGH, 0),
	ATOMIC_REGISTER(BPF_DW, BPF_XOR | BPF_FETCH, HIGH, 1, HIGH),
	ATOMIC_MEMORY(BPF_DW, BPF_XCHG, HIGH, PATTERN, PATTERN),
	ATOMIC_REGISTER(BPF_DW, BPF_XCHG, HIGH, PATTERN, HIGH),
	ATOMIC_MEMORY(BPF_W, BPF_XCHG, HIGH, PATTERN, 0xfedcba9855667788ull),
	ATOMIC_REGISTER(BPF_W, BPF_XCHG, HIGH, PATTERN, 0x76543210ull),
	{ "fetch and with R0", HIGH, 0xff, HIGH, { STX(BPF_DW, FP, R1, -8),
		ALU64_X(BPF_MOV, R0, R2), ATOMIC(BPF_DW, FP, R0, -8, BPF_AND | BPF_FETCH) } },
	{ "fetch or 32 with R0", HIGH, 0xff, 0x76543210ull, { STX(BPF_DW, FP, R1, -8),
		ALU64_X(BPF_MOV, R0, R2), ATOMIC(BPF_W, FP, R0, -8, BPF_OR | BPF_FETCH) } },
	{ "fetch xor keeps R0", 1, 2, 7, { STX(BPF_DW, FP, R1, -8), ALU64_K(BPF_MOV, R0, 7),
		ATOMIC(BPF_DW, FP, R2, -8, BPF_XOR | BPF_FETCH) } },
	{ "fetch through R0", HIGH, 0xff, 0x10, { STX(BPF_DW, FP, R1, -8), ALU64_X(BPF_MOV, R0, FP),
		ATOMIC(BPF_DW, R0, R2, -8, BPF_AND | BPF_FETCH), LDX(BPF_DW, R0, FP, -8) } },
	{ "cmpxchg equal, old value", HIGH, PATTERN, HIGH, { STX(BPF_DW, FP, R1, -8),
		ALU64_X(BPF_MOV, R0, R1), ATOMIC(BPF_DW, FP, R2, -8, BPF_CMPXCHG) } },
	{ "cmpxchg equal, memory", HIGH, PATTERN, PATTERN, { STX(BPF_DW, FP, R1, -8),
		ALU64_X(BPF_MOV, R0, R1), ATOMIC(BPF_DW, FP, R2, -8, BPF_CMPXCHG),
		LDX(BPF_DW, R0, FP, -8) } },
	{ "cmpxchg different, old value", HIGH, PATTERN, HIGH, { STX(BPF_DW, FP, R1, -8),
		ALU64_K(BPF_MOV, R0, 3), ATOMIC(BPF_DW, FP, R2, -8, BPF_CMPXCHG) } },
	{ "cmpxchg different, memory", HIGH, PATTERN, HIGH, { STX(BPF_DW, FP, R1, -8),
		ALU64_K(BPF_MOV, R0, 3), ATOMIC(BPF_DW, FP, R2, -8, BPF_CMPXCHG),
		LDX(BPF_DW, R0, FP, -8) } },
	{ "cmpxchg 32 equal, zero-extended", HIGH, PATTERN, 0x76543210ull, {
		STX(BPF_DW, FP, R1, -8), ALU64_X(BPF_MOV, R0, R1),
		ATOMIC(BPF_W, FP, R2, -8, BPF_CMPXCHG) } },
	{ "cmpxchg 32 different", HIGH, PATTERN, 0x76543210ull, { STX(BPF_DW, FP, R1, -8),
		ALU64_K(BPF_MOV, R0, 3), ATOMIC(BPF_W, FP, R2, -8, BPF_CMPXCHG) } },
	/* What the compiler does in one: whole, and with a jump into the middle. */
	{ "two bytes put together", PATTERN, 0, 0x7788 + 0x88, { LDX(BPF_B, R3, BPF_REG_6, 8),
		LDX(BPF_B, R4, BPF_REG_6, 9), ALU64_K(BPF_LSH, R4, 8), ALU64_X(BPF_OR, R4, R3),
		ALU64_X(BPF_MOV, R0, R4), ALU64_X(BPF_ADD, R0, R3) } },
	{ "two bytes put together, the shift jumped to", PATTERN, 0, 0x501, {
		ALU64_K(BPF_MOV, R3, 1), ALU64_K(BPF_MOV, R4, 5), JMP_K(BPF_JEQ, R2, 0, 2),
		LDX(BPF_B, R3, BPF_REG_6, 8), LDX(BPF_B, R4, BPF_REG_6, 9),
		ALU64_K(BPF_LSH, R4, 8), ALU64_X(BPF_OR, R4, R3), ALU64_X(BPF_MOV, R0, R4) } },
	{ "two bytes over their own address", PATTERN, 0, 0x7788, {
		ALU64_X(BPF_MOV, R4, BPF_REG_6), LDX(BPF_B, R3, R4, 8), LDX(BPF_B, R4, R4, 9),
		ALU64_K(BPF_LSH, R4, 8), ALU64_X(BPF_OR, R4, R3), ALU64_X(BPF_MOV, R0, R4) } },
	{ "move and add, the addition jumped to", PATTERN, 0, 12, { ALU64_K(BPF_MOV, R0, 7),
		JMP_K(BPF_JEQ, R2, 0, 1), ALU64_X(BPF_MOV, R0, R1), ALU64_K(BPF_ADD, R0, 5) } },
};

/*
 * R1 = ctx; R6 = the packet if it is long enough; operands; the case; R0 to the packet; exit.
 * Values come out of the packet, so that the kernel cannot fold them.
 */
static uint32_t
build(const struct insn_case *c, struct bpf_insn *insns)
{
	const struct bpf_insn before[] = {
		LDX(BPF_W, BPF_REG_6, R1, offsetof(struct xdp_md, data)),
		LDX(BPF_W, R2, R1, offsetof(struct xdp_md, data_end)),
		ALU64_X(BPF_MOV, R3, BPF_REG_6),
		ALU64_K(BPF_ADD, R3, PACKET_SIZE),
		ALU64_K(BPF_MOV, R0, XDP_ABORTED),
		JMP_X(BPF_JLE, R3, R2, 1),
		EXIT(),
		LDX(BPF_DW, R1, BPF_REG_6, 8),
		LDX(BPF_DW, R2, BPF_REG_6, 16),
	};
	const struct bpf_insn after[] = {
		STX(BPF_DW, BPF_REG_6, R0, 0),
		ALU64_K(BPF_MOV, R0, XDP_TX),
		EXIT(),
	};
	uint32_t n = 0, body = 0;

	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++)
		insns[n++] = before[i];
	while (body < CASE_MAX && (c->body[body].code != 0 ||
				   (body > 0 && xdpvm_is_ld_imm64(&c->body[body - 1]))))
		insns[n++] = c->body[body++];
	for (size_t i = 0; i < sizeof(after) / sizeof(after[0]); i++)
		insns[n++] = after[i];
	return n;
}

static int
check_engine(const struct insn_case *c, const struct raw_prog *raw, enum raw_engine engine)
{
	uint64_t packet[PACKET_SIZE / 8] = { 0, c->r1, c->r2 };
	uint32_t action = raw_run(raw, engine, packet, sizeof(packet));

	if (action == XDP_TX && packet[0] == c->expected)
		return 0;
	fprintf(stderr, "%s: %s: action %u, R0 0x%llx, expected 0x%llx\n", c->name,
		raw_engine_names[engine], action, (unsigned long long)packet[0],
		(unsigned long long)c->expected);
	return 1;
}

static int
check_case(const struct insn_case *c, bool kernel)
{
	struct bpf_insn insns[CASE_MAX + 16];
	uint32_t n = build(c, insns);
	struct raw_prog raw;
	int failed = 0;

	if (raw_load(&raw, insns, n, false) != 0) {
		fprintf(stderr, "%s: refused\n", c->name);
		return 1;
	}
	failed += check_engine(c, &raw, RAW_INTERP);
	failed += check_engine(c, &raw, RAW_JIT);
	if (kernel && raw.fd >= 0) {
		failed += check_engine(c, &raw, RAW_KERNEL);
	} else if (kernel) {
		fprintf(stderr, "%s: the kernel refused: %s\n", c->name, raw.log);
		failed++;
	}
	raw_free(&raw);
	return failed;
}

int
main(void)
{
	bool kernel = raw_kernel_available();
	int failed = 0;

	xdpvm_thread_register(XDPVM_THREAD_ANY);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		failed += check_case(&cases[i], kernel);
	printf("%zu cases, %d failures%s\n", sizeof(cases) / sizeof(cases[0]), failed,
	       kernel ? "" : "; not compared with the kernel, which needs CAP_BPF");
	return failed != 0;
}
