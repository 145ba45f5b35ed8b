/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which jumps close a loop. Every loop has a jump to an instruction before it; but compilers also
 * jump back to share code, where there is no loop. A jump back closes one when what it jumps to can
 * lead to it again: when both are in one strongly connected component. These are found by one walk
 * in depth (R. Tarjan, SIAM Journal on Computing 1(2), 1972), so the time is linear in the program,
 * which may be made to take long. The walk leaves its post-order for prove_live.c.
 */
#include <stdlib.h>

#include "prove.h"

/* Per instruction, all. */
struct walk {
	struct prover *prover;
	uint32_t *number;	/* in order of discovery, from 1 on; 0: not found yet */
	uint32_t *low;		/* least number of an open instruction that it leads to */
	uint32_t *component;	/* 1 + an instruction in it; 0: still open */
	uint8_t *step;		/* successors that were looked at */
	uint32_t *open, n_open;
	uint32_t *path, n_path;
	uint32_t n;
};

static bool
is_jump(const struct bpf_insn *insn)
{
	uint8_t class = BPF_CLASS(insn->code), op = BPF_OP(insn->code);

	return (class == BPF_JMP || class == BPF_JMP32) && op != BPF_CALL && op != BPF_EXIT;
}

/* The next successor of i that was not looked at; false when there is none. */
static bool
successor(struct walk *walk, uint32_t i, uint32_t *next)
{
	const struct bpf_insn *insn = &walk->prover->prog->insns[i];
	bool jump = is_jump(insn);

	if (walk->step[i] == 0) {
		walk->step[i] = 1;
		*next = i + 1 + xdpvm_is_ld_imm64(insn);
		if (insn->code != (BPF_JMP | BPF_EXIT) && !(jump && BPF_OP(insn->code) == BPF_JA))
			return true;
	}
	if (walk->step[i] == 1 && jump) {
		walk->step[i] = 2;
		*next = xdpvm_jump_target(insn, i);
		return true;
	}
	return false;
}

static void
enter(struct walk *walk, uint32_t i)
{
	walk->number[i] = walk->low[i] = ++walk->n;
	walk->open[walk->n_open++] = i;
	walk->path[walk->n_path++] = i;
}

static void
lower(struct walk *walk, uint32_t i, uint32_t number)
{
	if (walk->low[i] > number)
		walk->low[i] = number;
}

/* Everything behind i was seen. */
static void
leave(struct walk *walk, uint32_t i)
{
	uint32_t member;

	walk->prover->order[walk->prover->n_order++] = i;
	walk->n_path--;
	if (walk->n_path > 0)
		lower(walk, walk->path[walk->n_path - 1], walk->low[i]);
	if (walk->low[i] != walk->number[i])
		return;
	do {
		member = walk->open[--walk->n_open];
		walk->component[member] = 1 + i;
	} while (member != i);
}

static void
walk_from(struct walk *walk, uint32_t start)
{
	uint32_t i, next;

	if (walk->number[start] == 0)
		enter(walk, start);
	while (walk->n_path > 0) {
		i = walk->path[walk->n_path - 1];
		if (!successor(walk, i, &next))
			leave(walk, i);
		else if (walk->number[next] == 0)
			enter(walk, next);
		else if (walk->component[next] == 0)
			lower(walk, i, walk->number[next]);
	}
}

static void
mark_loops(const struct walk *walk)
{
	const struct xdpvm_prog *prog = walk->prover->prog;
	uint32_t target;

	for (uint32_t i = 0; i < prog->n_insns; i += 1 + xdpvm_is_ld_imm64(&prog->insns[i])) {
		if (!is_jump(&prog->insns[i]))
			continue;
		target = xdpvm_jump_target(&prog->insns[i], i);
		walk->prover->loops[i] = target <= i && walk->component[i] != 0 &&
					 walk->component[i] == walk->component[target];
	}
}

int
xdpvm_prove_loops(struct prover *prover)
{
	const struct xdpvm_prog *prog = prover->prog;
	uint32_t *words = calloc(prog->n_insns, 5 * sizeof(*words));
	struct walk walk = {
		.prover = prover, .step = calloc(prog->n_insns, sizeof(*walk.step)),
	};
	int ret = -ENOMEM;

	if (words != NULL && walk.step != NULL) {
		walk.number = words;
		walk.low = words + prog->n_insns;
		walk.component = words + 2 * (size_t)prog->n_insns;
		walk.open = words + 3 * (size_t)prog->n_insns;
		walk.path = words + 4 * (size_t)prog->n_insns;
		for (uint32_t s = 0; s < prog->n_subprogs; s++)
			walk_from(&walk, prog->subprogs[s].start);
		mark_loops(&walk);
		ret = 0;
	}
	free(walk.step);
	free(words);
	return ret;
}
