/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a round of a loop, or a callback, costs at most, in instructions. Behind a jump back the
 * program is as many instructions nearer to its start as the jump spans; between jumps back it
 * only goes forward, and each step brings it at least one nearer to its end. So what a function
 * executes is at most its length and what its jumps back span together: a jump back burns its span.
 * A call inside the span counts with what its function, or helper, costs.
 */
#include <stdlib.h>

#include "prove.h"

/* About what a lookup, an update or a line of the trace log cost beside an addition. */
#define HELPER_COST 32
/* The same of an atomic operation, or a division of 64 bits. */
#define SLOW_COST 8
/* Bytes that are copied or summed up in the time of an instruction. */
#define BYTES_PER_INSN 16

/* More than any run has. */
#define TOO_MUCH (XDPVM_FUEL + 1)

struct costs {
	struct xdpvm_prog *prog;
	const uint32_t *bytes;
};

static uint32_t
limited(uint64_t cost)
{
	return cost < TOO_MUCH ? cost : TOO_MUCH;
}

/* These two call each other as deep as functions do: XDPVM_MAX_SUBPROGS at most. */
static uint32_t function_cost(const struct costs *costs, uint32_t subprog);

static bool
is_slow(const struct bpf_insn *insn)
{
	uint8_t op = BPF_OP(insn->code);

	if (BPF_CLASS(insn->code) == BPF_STX)
		return BPF_MODE(insn->code) == BPF_ATOMIC;
	return BPF_CLASS(insn->code) == BPF_ALU64 && (op == BPF_DIV || op == BPF_MOD);
}

static uint32_t
insn_cost(const struct costs *costs, uint32_t i)
{
	const struct bpf_insn *insn = &costs->prog->insns[i];

	if (xdpvm_is_call(insn, BPF_PSEUDO_CALL))
		return 1 + function_cost(costs, costs->prog->info[i].subprog);
	if (xdpvm_is_call(insn, 0))
		return HELPER_COST + costs->bytes[i] / BYTES_PER_INSN;
	return is_slow(insn) ? SLOW_COST : 1;
}

/* A function that calls itself costs more than any run has. */
static uint32_t
function_cost(const struct costs *costs, uint32_t subprog)
{
	struct xdpvm_subprog *function = &costs->prog->subprogs[subprog];
	uint64_t cost = 0;

	if (function->cost != 0)
		return function->cost;
	function->cost = TOO_MUCH;
	for (uint32_t i = function->start; i < function->end; i++)
		cost = limited(cost + insn_cost(costs, i));
	return function->cost = limited(cost);
}

int
xdpvm_prove_costs(struct prover *prover)
{
	struct xdpvm_prog *prog = prover->prog;
	struct costs costs = { prog, prover->bytes };
	uint64_t *before = malloc((prog->n_insns + 1) * sizeof(*before));

	if (before == NULL)
		return -ENOMEM;
	before[0] = 0;
	for (uint32_t s = 0; s < prog->n_subprogs; s++)
		function_cost(&costs, s);
	for (uint32_t i = 0; i < prog->n_insns; i++)
		before[i + 1] = before[i] + insn_cost(&costs, i);
	for (uint32_t i = 0; i < prog->n_insns; i++)
		if (prover->loops[i])
			prog->info[i].cost = limited(before[i + 1] -
					before[xdpvm_jump_target(&prog->insns[i], i)]);
	free(before);
	return 0;
}
