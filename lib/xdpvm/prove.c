/* SPDX-License-Identifier: BSD-3-Clause */
/* The prover's walk over a program: paths, where they meet, and one step. See prove.h. */
#include <stdlib.h>

#include "prove.h"

/* Instructions followed in one attempt; Linux stops at as many (BPF_COMPLEXITY_LIMIT_INSNS). */
#define STEPS_MAX 1000000
#define STATES_MAX 32768	/* about 3 KiB each and frame */

/* Not the end: the next attempt keeps fewer states apart. */
#define TOO_COMPLEX 1

/* Merges at one place before bounds are widened. */
#define MERGES_EXACT 32

struct prove_seen {
	struct prove_state **states;
	uint32_t n, room;
	uint32_t merges;
};

int
xdpvm_prove_readable(struct prover *prover, uint32_t i, const struct prove_state *state,
		     unsigned int reg)
{
	const struct prove_value *value = &state->frames[state->depth].regs[reg];

	if (value->kind != PROVE_UNSET)
		return 0;
	return xdpvm_prog_fail(prover->prog, i, -EACCES, "R%u is read, but was never set, or does "
			       "not survive a call", reg);
}

/* ---- Places where paths meet ----------------------------------------------------------------- */

static struct prove_state *
duplicate(struct prover *prover, const struct prove_state *state)
{
	size_t size = offsetof(struct prove_state, frames) +
		      (state->depth + 1) * sizeof(state->frames[0]);
	struct prove_state *copy = malloc(size);

	if (copy != NULL) {
		memcpy(copy, state, size);
		prover->states++;
	}
	return copy;
}

static int
later(struct prover *prover, const struct prove_state *state, uint32_t at)
{
	if (prover->n_todo == prover->todo_room) {
		size_t room = prover->todo_room * 2 + 64;
		struct prove_state **todo = realloc(prover->todo, room * sizeof(*todo));
		uint32_t *todo_at;

		if (todo == NULL)
			return -ENOMEM;
		prover->todo = todo;
		todo_at = realloc(prover->todo_at, room * sizeof(*todo_at));
		if (todo_at == NULL)
			return -ENOMEM;
		prover->todo_at = todo_at;
		prover->todo_room = room;
	}
	prover->todo[prover->n_todo] = duplicate(prover, state);
	if (prover->todo[prover->n_todo] == NULL)
		return -ENOMEM;
	prover->todo_at[prover->n_todo++] = at;
	return 0;
}

static int
remember(struct prover *prover, struct prove_seen *seen, const struct prove_state *state)
{
	if (seen->n == seen->room) {
		uint32_t room = seen->room * 2 + 4;
		struct prove_state **states = realloc(seen->states, room * sizeof(*states));

		if (states == NULL)
			return -ENOMEM;
		seen->states = states;
		seen->room = room;
	}
	seen->states[seen->n] = duplicate(prover, state);
	if (seen->states[seen->n] == NULL)
		return -ENOMEM;
	seen->n++;
	return 0;
}

static void
forget_dead(struct prover *prover, uint32_t at, struct prove_state *state)
{
	for (unsigned int reg = BPF_REG_0; reg <= BPF_REG_9; reg++)
		if (!(prover->live[at] & 1u << reg))
			prove_top(state)->regs[reg] = (struct prove_value){ .kind = PROVE_UNSET };
}

/* Whether a state seen before covers this one; else it, or what it was merged to, goes on. */
static int
meet(struct prover *prover, uint32_t at, struct prove_state *state, bool *covered)
{
	struct prove_seen *seen = &prover->seen[at];
	struct prove_state *last = NULL;
	uint32_t n = 0;

	forget_dead(prover, at, state);
	*covered = false;
	for (uint32_t i = 0; i < seen->n; i++) {
		if (!xdpvm_prove_comparable(seen->states[i], state))
			continue;
		*covered = xdpvm_prove_covers(seen->states[i], state);
		if (*covered)
			return 0;
		last = seen->states[i];
		n++;
	}
	if (n < prover->room)
		return remember(prover, seen, state);
	xdpvm_prove_merge(prover, last, state, ++seen->merges > MERGES_EXACT);
	xdpvm_prove_copy(state, last);
	return 0;
}

/* ---- One step -------------------------------------------------------------------------------- */

static struct prove_value
operand_of(const struct bpf_insn *insn, const struct prove_value *regs)
{
	uint8_t class = BPF_CLASS(insn->code);

	/* A byte swap has its direction there, not a source. */
	if (BPF_SRC(insn->code) == BPF_X && BPF_OP(insn->code) != BPF_END)
		return regs[insn->src_reg];
	return prove_constant(class == BPF_ALU64 ? (uint64_t)(int64_t)insn->imm :
						   (uint32_t)insn->imm);
}

static int
step_alu(struct prover *prover, uint32_t i, struct prove_state *state)
{
	const struct bpf_insn *insn = &prover->prog->insns[i];
	struct prove_value *regs = prove_top(state)->regs;
	bool from_register = BPF_SRC(insn->code) == BPF_X && BPF_OP(insn->code) != BPF_END;
	struct prove_value src = operand_of(insn, regs), dst = regs[insn->dst_reg];
	int ret = 0;

	if (BPF_OP(insn->code) == BPF_MOV)
		dst = src;
	else
		ret = xdpvm_prove_readable(prover, i, state, insn->dst_reg);
	if (ret == 0 && from_register)
		ret = xdpvm_prove_readable(prover, i, state, insn->src_reg);
	if (ret != 0)
		return ret;
	if (dst.kind == PROVE_NUMBER && src.kind == PROVE_NUMBER)
		regs[insn->dst_reg] = xdpvm_prove_alu(prover, insn, dst, src);
	else
		regs[insn->dst_reg] = xdpvm_prove_pointer_alu(prover, insn, dst, src);
	return 0;
}

static void
step_wide_load(struct prover *prover, uint32_t i, struct prove_state *state)
{
	const struct bpf_insn *insn = &prover->prog->insns[i];
	const struct xdpvm_insn_info *info = &prover->prog->info[i];
	struct prove_value value = { .kind = PROVE_NUMBER };

	switch (insn->src_reg) {
	case BPF_PSEUDO_MAP_FD:
		value.kind = PROVE_MAP;
		value.map = info->map;
		break;
	case BPF_PSEUDO_MAP_VALUE:
		value.kind = PROVE_VALUE;
		value.map = info->map;
		value.offset = xdpvm_imm64(insn) - (uintptr_t)info->map->base;
		break;
	case BPF_PSEUDO_FUNC:
		value.kind = PROVE_FUNCTION;
		value.offset = info->subprog;
		break;
	default:
		value = prove_constant(xdpvm_imm64(insn));
	}
	prove_top(state)->regs[insn->dst_reg] = value;
}

static int
step_memory(struct prover *prover, uint32_t i, struct prove_state *state)
{
	const struct bpf_insn *insn = &prover->prog->insns[i];
	uint8_t class = BPF_CLASS(insn->code);
	int ret;

	if (class == BPF_LDX) {
		ret = xdpvm_prove_readable(prover, i, state, insn->src_reg);
		return ret != 0 ? ret : xdpvm_prove_load(prover, i, state);
	}
	ret = xdpvm_prove_readable(prover, i, state, insn->dst_reg);
	if (ret == 0 && class == BPF_STX)
		ret = xdpvm_prove_readable(prover, i, state, insn->src_reg);
	if (ret == 0 && class == BPF_STX && BPF_MODE(insn->code) == BPF_ATOMIC &&
	    insn->imm == BPF_CMPXCHG)
		ret = xdpvm_prove_readable(prover, i, state, BPF_REG_0);
	return ret != 0 ? ret : xdpvm_prove_store(prover, i, state);
}

int
xdpvm_prove_may_end(struct prover *prover, uint32_t i, const struct prove_state *state)
{
	if (!state->record)
		return 0;
	return xdpvm_prog_fail(prover->prog, i, -ENOTSUP, "a check at run time while a record of a "
			       "ring buffer is reserved needs verify=kernel");
}

static int
note_loop(struct prover *prover, uint32_t i, const struct prove_state *state)
{
	if (!prover->loops[i])
		return 0;
	prover->prog->info[i].check = XDPVM_CHECK_FUEL;
	prover->prog->checked = true;
	return xdpvm_prove_may_end(prover, i, state);
}

/* ---- Paths ----------------------------------------------------------------------------------- */

/* Where a path goes on. */
struct path {
	struct prove_state *state;
	struct prove_state *other;	/* room for the other side of a branch */
	uint32_t at;
	bool ends;
};

static int
follow_branch(struct prover *prover, struct path *path)
{
	const struct bpf_insn *insn = &prover->prog->insns[path->at];
	uint32_t target = xdpvm_jump_target(insn, path->at);
	int ret = xdpvm_prove_readable(prover, path->at, path->state, insn->dst_reg);

	if (ret == 0 && BPF_SRC(insn->code) == BPF_X)
		ret = xdpvm_prove_readable(prover, path->at, path->state, insn->src_reg);
	if (ret == 0)
		ret = note_loop(prover, path->at, path->state);
	if (ret != 0)
		return ret;
	xdpvm_prove_copy(path->other, path->state);
	if (xdpvm_prove_branch(path->other, insn, true))
		ret = later(prover, path->other, target);
	path->ends = !xdpvm_prove_branch(path->state, insn, false);
	path->at++;
	return ret;
}

/* A helper that calls back: its callback is entered, any number of times, before it returns. */
static int
follow_helper(struct prover *prover, struct path *path)
{
	const struct bpf_insn *insn = &prover->prog->insns[path->at];
	int ret;

	xdpvm_prove_copy(path->other, path->state);
	ret = xdpvm_prove_helper(prover, path->at, path->state);
	if (ret == 0 && xdpvm_prove_calls_back(insn)) {
		uint32_t function;

		ret = xdpvm_prove_may_end(prover, path->at, path->other);
		if (ret == 0)
			ret = xdpvm_prove_enter_callback(prover, path->at, path->other);
		function = prove_top(path->other)->subprog;
		if (ret == 0)
			ret = later(prover, path->other, prover->prog->subprogs[function].start);
	}
	path->at++;
	return ret;
}

static int
follow_jump(struct prover *prover, struct path *path)
{
	const struct bpf_insn *insn = &prover->prog->insns[path->at];
	int ret;

	switch (BPF_OP(insn->code)) {
	case BPF_EXIT:
		return xdpvm_prove_exit(prover, path->at, path->state, &path->at, &path->ends);
	case BPF_JA:
		ret = note_loop(prover, path->at, path->state);
		path->at = xdpvm_jump_target(insn, path->at);
		return ret;
	case BPF_CALL:
		if (insn->src_reg != BPF_PSEUDO_CALL)
			return follow_helper(prover, path);
		ret = xdpvm_prove_enter(prover, path->at, path->state);
		path->at = prover->prog->subprogs[prover->prog->info[path->at].subprog].start;
		return ret;
	default:
		return follow_branch(prover, path);
	}
}

static int
follow_insn(struct prover *prover, struct path *path)
{
	const struct bpf_insn *insn = &prover->prog->insns[path->at];
	int ret = 0;

	switch (BPF_CLASS(insn->code)) {
	case BPF_JMP:
	case BPF_JMP32:
		return follow_jump(prover, path);
	case BPF_ALU:
	case BPF_ALU64:
		ret = step_alu(prover, path->at, path->state);
		break;
	case BPF_LD:
		step_wide_load(prover, path->at, path->state);
		path->at++;
		break;
	default:
		ret = step_memory(prover, path->at, path->state);
	}
	path->at++;
	return ret;
}

static int
follow_path(struct prover *prover, struct path *path)
{
	const struct xdpvm_prog *prog = prover->prog;
	bool covered;
	int ret;

	while (!path->ends) {
		if (prog->info[path->at].target || xdpvm_prove_calls_back(&prog->insns[path->at])) {
			ret = meet(prover, path->at, path->state, &covered);
			if (ret != 0 || covered)
				return ret;
		}
		if (++prover->steps > STEPS_MAX || prover->states > STATES_MAX)
			return TOO_COMPLEX;
		ret = follow_insn(prover, path);
		if (ret != 0)
			return ret;
	}
	return 0;
}

static int
follow_all(struct prover *prover, struct path *path)
{
	int ret;

	memset(path->state, 0, sizeof(*path->state));
	path->state->frames[0].regs[BPF_REG_1].kind = PROVE_CTX;
	path->state->frames[0].regs[BPF_REG_10].kind = PROVE_STACK;
	ret = later(prover, path->state, 0);
	while (ret == 0 && prover->n_todo > 0) {
		struct prove_state *next = prover->todo[--prover->n_todo];

		xdpvm_prove_copy(path->state, next);
		path->at = prover->todo_at[prover->n_todo];
		path->ends = false;
		free(next);
		prover->states--;
		ret = follow_path(prover, path);
	}
	return ret;
}

/* ---- Attempts -------------------------------------------------------------------------------- */

static void
forget_all(struct prover *prover)
{
	while (prover->n_todo > 0)
		free(prover->todo[--prover->n_todo]);
	for (uint32_t i = 0; i < prover->prog->n_insns; i++) {
		struct prove_seen *seen = &prover->seen[i];

		while (seen->n > 0)
			free(seen->states[--seen->n]);
		seen->merges = 0;
	}
	prover->states = 0;
	prover->steps = 0;
}

static void
forget_findings(struct xdpvm_prog *prog)
{
	prog->checked = false;
	for (uint32_t i = 0; i < prog->n_insns; i++)
		prog->info[i].check = XDPVM_CHECK_NONE;
	for (uint32_t s = 0; s < prog->n_subprogs; s++)
		prog->subprogs[s].zero_slots = 0;
}

/* First with many states kept apart, which proves more; then with fewer, which ends sooner. */
static int
attempt(struct prover *prover, struct path *path)
{
	static const uint32_t rooms[] = { 64, 8, 1 };
	int ret = TOO_COMPLEX;

	for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]) && ret == TOO_COMPLEX; i++) {
		forget_findings(prover->prog);
		prover->room = rooms[i];
		ret = follow_all(prover, path);
		forget_all(prover);
	}
	if (ret == TOO_COMPLEX)
		return xdpvm_prog_fail(prover->prog, 0, -E2BIG, "the program is too complex: more "
				       "than %u instructions to follow", STEPS_MAX);
	return ret;
}

int
xdpvm_prove(struct xdpvm_prog *prog)
{
	struct prover prover = {
		.prog = prog,
		.live = calloc(prog->n_insns + 1, sizeof(*prover.live)),
		.loops = calloc(prog->n_insns, sizeof(*prover.loops)),
		.order = calloc(prog->n_insns, sizeof(*prover.order)),
		.bytes = calloc(prog->n_insns, sizeof(*prover.bytes)),
		.seen = calloc(prog->n_insns, sizeof(*prover.seen)),
	};
	struct path path = {
		.state = malloc(sizeof(*path.state)),
		.other = malloc(sizeof(*path.other)),
	};
	int ret = -ENOMEM;

	if (prover.live != NULL && prover.loops != NULL && prover.order != NULL &&
	    prover.bytes != NULL && prover.seen != NULL && path.state != NULL && path.other != NULL)
		ret = xdpvm_prove_loops(&prover);
	if (ret == 0) {
		xdpvm_prove_live(&prover);
		ret = attempt(&prover, &path);
	}
	if (ret == 0)
		ret = xdpvm_prove_costs(&prover);
	if (ret == -ENOMEM)
		xdpvm_fail(prog->object, ret, "program %s: no memory", prog->name);
	for (uint32_t i = 0; prover.seen != NULL && i < prog->n_insns; i++)
		free(prover.seen[i].states);
	free(prover.seen);
	free(prover.bytes);
	free(prover.order);
	free(prover.loops);
	free(prover.live);
	free(prover.todo);
	free(prover.todo_at);
	free(path.state);
	free(path.other);
	return ret;
}
