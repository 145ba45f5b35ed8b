/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which jumps close a loop. Every loop has a jump to an instruction before it; but compilers also
 * jump back to share code, where there is no loop. A jump back closes one when what it jumps to can
 * lead to it again.
 */
#include <stdlib.h>

#include "prove.h"

struct search {
	const struct xdpvm_prog *prog;
	bool *found;		/* per instruction: in todo, or was */
	uint32_t *todo;
	uint32_t n;
};

static void
find(struct search *search, uint32_t i)
{
	if (search->found[i])
		return;
	search->found[i] = true;
	search->todo[search->n++] = i;
}

static bool
is_jump(const struct bpf_insn *insn)
{
	uint8_t class = BPF_CLASS(insn->code), op = BPF_OP(insn->code);

	return (class == BPF_JMP || class == BPF_JMP32) && op != BPF_CALL && op != BPF_EXIT;
}

static void
find_next(struct search *search, uint32_t i)
{
	const struct bpf_insn *insn = &search->prog->insns[i];

	if (is_jump(insn))
		find(search, xdpvm_jump_target(insn, i));
	if (insn->code != (BPF_JMP | BPF_EXIT) && !(is_jump(insn) && BPF_OP(insn->code) == BPF_JA))
		find(search, i + 1 + xdpvm_is_ld_imm64(insn));
}

static bool
leads_to(struct search *search, uint32_t from, uint32_t to)
{
	memset(search->found, 0, search->prog->n_insns * sizeof(*search->found));
	search->n = 0;
	find(search, from);
	while (search->n > 0 && !search->found[to])
		find_next(search, search->todo[--search->n]);
	return search->found[to];
}

int
xdpvm_prove_loops(struct prover *prover)
{
	const struct xdpvm_prog *prog = prover->prog;
	struct search search = {
		.prog = prog,
		.found = calloc(prog->n_insns, sizeof(*search.found)),
		.todo = calloc(prog->n_insns, sizeof(*search.todo)),
	};
	int ret = search.found != NULL && search.todo != NULL ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < prog->n_insns && ret == 0; i++) {
		if (is_jump(&prog->insns[i]) && xdpvm_jump_target(&prog->insns[i], i) <= i)
			prover->loops[i] = leads_to(&search, xdpvm_jump_target(&prog->insns[i], i),
						    i);
		i += xdpvm_is_ld_imm64(&prog->insns[i]);
	}
	free(search.found);
	free(search.todo);
	return ret;
}
