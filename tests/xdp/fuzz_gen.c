/* SPDX-License-Identifier: BSD-3-Clause */
/* See fuzz_gen.h. */
#include "fuzz_gen.h"

#define FUNCTIONS 3		/* the program and two more */
#define STACK_BYTES 64		/* initialised, below the frame pointer */
#define MAX_CALLS 3		/* per function, so that run time stays small */

/* R6 holds the packet in the program itself and is left alone everywhere. */
static const uint8_t free_registers[] = { 0, 1, 2, 3, 4, 5, 7, 8, 9 };
#define N_FREE (sizeof(free_registers) / sizeof(free_registers[0]))

struct generator {
	uint64_t state;
	struct bpf_insn *insns;
	uint32_t n;
	uint32_t calls[FUNCTIONS * MAX_CALLS];	/* call instructions whose target is to be filled */
	uint8_t callee[FUNCTIONS * MAX_CALLS];
	uint32_t n_calls;
};

/* splitmix64 */
static uint64_t
draw(struct generator *g)
{
	uint64_t z = (g->state += 0x9e3779b97f4a7c15ull);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static uint32_t
below(struct generator *g, uint32_t n)
{
	return draw(g) % n;
}

static uint8_t
any_register(struct generator *g)
{
	return free_registers[below(g, N_FREE)];
}

/* Corners more often than chance would have them. */
static uint64_t
any_value(struct generator *g)
{
	static const uint64_t corners[] = {
		0, 1, 2, -1ull, -2ull, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff,
		0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff, 0x8000000000000000,
	};

	if (below(g, 2) == 0)
		return corners[below(g, sizeof(corners) / sizeof(corners[0]))];
	return draw(g) >> below(g, 64);
}

static void
put(struct generator *g, struct bpf_insn insn)
{
	if (g->n < FUZZ_INSNS_MAX)
		g->insns[g->n++] = insn;
}

static void
put_value(struct generator *g, uint8_t reg)
{
	uint64_t value = any_value(g);

	put(g, INSN(BPF_LD | BPF_IMM | BPF_DW, reg, 0, 0, (uint32_t)value));
	put(g, INSN(0, 0, 0, 0, (uint32_t)(value >> 32)));
}

static void
put_alu(struct generator *g)
{
	static const uint8_t operations[] = {
		BPF_ADD, BPF_SUB, BPF_MUL, BPF_DIV, BPF_OR, BPF_AND, BPF_LSH, BPF_RSH, BPF_NEG,
		BPF_MOD, BPF_XOR, BPF_MOV, BPF_ARSH,
	};
	uint8_t op = operations[below(g, sizeof(operations))];
	uint8_t class = below(g, 2) ? BPF_ALU64 : BPF_ALU, dst = any_register(g);
	bool shift = op == BPF_LSH || op == BPF_RSH || op == BPF_ARSH;
	bool divide = op == BPF_DIV || op == BPF_MOD;
	int32_t imm = any_value(g);
	int16_t off = divide ? below(g, 2) : 0;

	if (op == BPF_NEG) {
		put(g, INSN(class | BPF_NEG, dst, 0, 0, 0));
		return;
	}
	if (below(g, 2) == 0) {
		if (op == BPF_MOV && below(g, 2) == 0)
			off = 8 << below(g, class == BPF_ALU64 ? 3 : 2);
		put(g, INSN(class | op | BPF_X, dst, any_register(g), off, 0));
		return;
	}
	/* The verifier wants shifts in range and no division by a constant zero. */
	if (shift)
		imm &= class == BPF_ALU64 ? 63 : 31;
	if (divide && imm == 0)
		imm = 3;
	put(g, INSN(class | op | BPF_K, dst, 0, off, imm));
}

static void
put_swap(struct generator *g)
{
	static const uint8_t kinds[] = {
		BPF_ALU | BPF_END | BPF_K, BPF_ALU | BPF_END | BPF_X, BPF_ALU64 | BPF_END | BPF_K,
	};

	put(g, INSN(kinds[below(g, 3)], any_register(g), 0, 0, 16 << below(g, 3)));
}

static const uint8_t sizes[] = { BPF_B, BPF_H, BPF_W, BPF_DW };

static int16_t
stack_place(struct generator *g, unsigned int log_size)
{
	return -STACK_BYTES + (int16_t)(below(g, STACK_BYTES >> log_size) << log_size);
}

static void
put_memory(struct generator *g)
{
	unsigned int log_size = below(g, 4);
	int16_t place = stack_place(g, log_size);

	switch (below(g, 4)) {
	case 0:
		put(g, STX(sizes[log_size], BPF_REG_10, any_register(g), place));
		break;
	case 1:
		put(g, ST(sizes[log_size], BPF_REG_10, place, (int32_t)any_value(g)));
		break;
	case 2:
		if (log_size < 3) {
			put(g, LDSX(sizes[log_size], any_register(g), BPF_REG_10, place));
			break;
		}
		/* fall through */
	default:
		put(g, LDX(sizes[log_size], any_register(g), BPF_REG_10, place));
	}
}

static void
put_atomic(struct generator *g)
{
	static const int32_t operations[] = {
		BPF_ADD, BPF_AND, BPF_OR, BPF_XOR, BPF_ADD | BPF_FETCH, BPF_AND | BPF_FETCH,
		BPF_OR | BPF_FETCH, BPF_XOR | BPF_FETCH, BPF_XCHG, BPF_CMPXCHG,
	};
	int32_t operation = operations[below(g, sizeof(operations) / sizeof(operations[0]))];
	unsigned int log_size = 2 + below(g, 2);
	int16_t place = stack_place(g, log_size);

	/*
	 * Linux 6.18 forgets, when it asks where a fetched value came from, that it came from the
	 * stack: of two paths that left different known values there it follows one and takes a
	 * later comparison as decided for both. A byte in the middle makes the value unknown.
	 */
	if (operation & BPF_FETCH)
		put(g, ST(BPF_B, BPF_REG_10, place + 1, (int32_t)below(g, 255) + 1));
	put(g, ATOMIC(sizes[log_size], BPF_REG_10, any_register(g), place, operation));
}

/* A conditional jump over a few instructions of the kind that has no jumps itself. */
static void
put_jump(struct generator *g)
{
	static const uint8_t operations[] = {
		BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET, BPF_JNE, BPF_JSGT, BPF_JSGE, BPF_JLT, BPF_JLE,
		BPF_JSLT, BPF_JSLE,
	};
	uint8_t op = operations[below(g, sizeof(operations))];
	uint8_t class = below(g, 2) ? BPF_JMP : BPF_JMP32, dst = any_register(g);
	uint32_t jump = g->n, skipped = 1 + below(g, below(g, 8) == 0 ? 60 : 4);

	if (below(g, 2))
		put(g, INSN(class | op | BPF_X, dst, any_register(g), 0, 0));
	else
		put(g, INSN(class | op | BPF_K, dst, 0, 0, (int32_t)any_value(g)));
	for (uint32_t i = 0; i < skipped; i++)
		below(g, 3) == 0 ? put_memory(g) : put_alu(g);
	g->insns[jump].off = g->n - jump - 1;
}

static void
put_call(struct generator *g, uint8_t callee)
{
	static const uint8_t lost[] = { 1, 2, 3, 4, 5 };

	g->calls[g->n_calls] = g->n;
	g->callee[g->n_calls++] = callee;
	put(g, CALL_FUNCTION(0));
	for (size_t i = 0; i < sizeof(lost); i++)
		put_value(g, lost[i]);
}

static void
put_body(struct generator *g, uint32_t length, uint8_t function)
{
	uint32_t end = g->n + length, calls = 0;

	while (g->n < end) {
		switch (below(g, 16)) {
		case 0:
			put_value(g, any_register(g));
			break;
		case 1:
			put_swap(g);
			break;
		case 2:
		case 3:
			put_atomic(g);
			break;
		case 4:
		case 5:
		case 6:
			put_memory(g);
			break;
		case 7:
		case 8:
			put_jump(g);
			break;
		case 9:
			if (function + 1 < FUNCTIONS && calls++ < MAX_CALLS) {
				put_call(g, function + 1);
				break;
			}
			/* fall through */
		default:
			put_alu(g);
		}
	}
}

static void
put_stack(struct generator *g)
{
	for (int16_t place = -STACK_BYTES; place < 0; place += 8)
		put(g, STX(BPF_DW, BPF_REG_10, free_registers[below(g, N_FREE)], place));
}

/* R6 = packet, if it is long enough; values for the rest. */
static void
put_program_start(struct generator *g)
{
	put(g, LDX(BPF_W, BPF_REG_6, BPF_REG_1, offsetof(struct xdp_md, data)));
	put(g, LDX(BPF_W, BPF_REG_2, BPF_REG_1, offsetof(struct xdp_md, data_end)));
	put(g, ALU64_X(BPF_MOV, BPF_REG_3, BPF_REG_6));
	put(g, ALU64_K(BPF_ADD, BPF_REG_3, FUZZ_PACKET));
	put(g, ALU64_K(BPF_MOV, BPF_REG_0, XDP_ABORTED));
	put(g, JMP_X(BPF_JLE, BPF_REG_3, BPF_REG_2, 1));
	put(g, EXIT());
	for (size_t i = 0; i < N_FREE; i++) {
		if (below(g, 2) == 0)
			put_value(g, free_registers[i]);
		else
			put(g, LDX(BPF_DW, free_registers[i], BPF_REG_6, 8 * below(g, 16)));
	}
}

static void
put_program_end(struct generator *g)
{
	int16_t at = 0;

	for (size_t i = 0; i < N_FREE; i++, at += 8)
		put(g, STX(BPF_DW, BPF_REG_6, free_registers[i], at));
	for (int16_t place = -STACK_BYTES; place < 0; place += 8, at += 8) {
		put(g, LDX(BPF_DW, BPF_REG_0, BPF_REG_10, place));
		put(g, STX(BPF_DW, BPF_REG_6, BPF_REG_0, at));
	}
	put(g, ALU64_K(BPF_MOV, BPF_REG_0, XDP_TX));
	put(g, EXIT());
}

/* Arguments in R1 to R5; the result folds everything in. */
static void
put_function(struct generator *g, uint32_t length, uint8_t function)
{
	put(g, ALU64_X(BPF_MOV, BPF_REG_0, BPF_REG_1));
	for (uint8_t reg = BPF_REG_7; reg <= BPF_REG_9; reg++)
		put_value(g, reg);
	put_stack(g);
	put_body(g, length, function);
	for (size_t i = 1; i < N_FREE; i++)
		put(g, ALU64_X(BPF_XOR, BPF_REG_0, free_registers[i]));
	put(g, EXIT());
}

uint32_t
fuzz_generate(uint64_t seed, uint32_t body, struct bpf_insn *insns)
{
	struct generator g = { .state = seed, .insns = insns };
	uint32_t starts[FUNCTIONS] = { 0 };

	put_program_start(&g);
	put_stack(&g);
	put_body(&g, body, 0);
	put_program_end(&g);
	for (uint8_t function = 1; function < FUNCTIONS; function++) {
		bool called = false;

		for (uint32_t i = 0; i < g.n_calls; i++)
			called |= g.callee[i] == function;
		if (!called)
			break;	/* unreachable code is refused */
		starts[function] = g.n;
		put_function(&g, body / 2, function);
	}
	for (uint32_t i = 0; i < g.n_calls; i++)
		insns[g.calls[i]].imm = starts[g.callee[i]] - g.calls[i] - 1;
	return g.n;
}
