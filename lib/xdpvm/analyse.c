/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flow analysis: which loads read the context, which map each call uses, where on the stack a map's
 * key was built. It follows a program's values along every path, and into every function once for
 * each way it is called (with the callers' stack frames, so a context that was spilled there and is
 * fetched again elsewhere stays known).
 *
 * The verifier allows one kind of pointer per load instruction, so "this load reads the context"
 * has one answer in a valid program; where this analysis cannot tell, the program is refused.
 */
#include <stdlib.h>

#include "flow.h"
#include "helper.h"
#include "object.h"
#include "rewrite.h"

/* Instruction visits of one analysis; Linux stops at as many (BPF_COMPLEXITY_LIMIT_INSNS). */
#define VISITS_MAX 1000000

struct analysis {
	struct xdpvm_prog *prog;
	struct xdpvm_access *access;	/* per instruction */
	uint32_t visits;
};

/* The walk of one function, called in one way. */
struct walk {
	struct analysis *analysis;
	const struct xdpvm_subprog *subprog;
	struct xdpvm_state **at;	/* per instruction of the function: state at jump targets */
	uint32_t *queue;		/* jump targets whose state changed */
	uint32_t n_queue;
	bool *queued;
	struct xdpvm_state *exit;	/* join over all exits */
	bool exits;
};

static const struct xdpvm_value other = { .kind = XDPVM_OTHER };

static int walk_function(struct analysis *analysis, uint32_t subprog, struct xdpvm_state *entry,
			 struct xdpvm_state *exit, bool *exits);

static void
note_base(struct analysis *analysis, uint32_t i, struct xdpvm_value base)
{
	struct xdpvm_access *access = &analysis->access[i];

	if (base.kind != XDPVM_CTX) {
		access->seen |= base.kind == XDPVM_UNCLEAR ? XDPVM_SEEN_UNCLEAR : XDPVM_SEEN_OTHER;
		return;
	}
	if ((access->seen & XDPVM_SEEN_CTX) && access->ctx_offset != base.offset)
		access->seen |= XDPVM_SEEN_UNCLEAR;
	access->seen |= XDPVM_SEEN_CTX;
	access->ctx_offset = base.offset;
}

/* Remembers where in its own frame an instruction works, if it is always the same place. */
static void
note_stack(struct analysis *analysis, uint32_t i, const struct xdpvm_state *state,
	   struct xdpvm_value place)
{
	struct xdpvm_access *access = &analysis->access[i];
	struct xdpvm_insn_info *info = &analysis->prog->info[i];
	int16_t offset = 0;

	if (place.kind == XDPVM_STACK && place.frame == state->depth &&
	    place.offset != XDPVM_ANYWHERE)
		offset = place.offset;
	if (access->seen_stack && info->stack_offset != offset)
		offset = 0;
	info->stack_offset = offset;
	access->seen_stack = true;
}

static void
note_map(struct analysis *analysis, uint32_t i, struct xdpvm_value value)
{
	struct xdpvm_access *access = &analysis->access[i];
	struct xdpvm_insn_info *info = &analysis->prog->info[i];
	struct xdpvm_map *map = NULL;

	if (value.kind == XDPVM_MAP)
		map = &analysis->prog->object->maps[value.index];
	if (access->seen_map && info->map != map)
		map = NULL;
	info->map = map;
	access->seen_map = true;
}

static unsigned int
access_size(const struct bpf_insn *insn)
{
	switch (BPF_SIZE(insn->code)) {
	case BPF_B:
		return 1;
	case BPF_H:
		return 2;
	case BPF_W:
		return 4;
	default:
		return 8;
	}
}

static void
step_load(struct analysis *analysis, uint32_t i, struct xdpvm_state *state)
{
	const struct bpf_insn *insn = &analysis->prog->insns[i];
	struct xdpvm_value base = state->regs[insn->src_reg];

	note_base(analysis, i, base);
	state->regs[insn->dst_reg] = xdpvm_state_load(state, base, insn->off, access_size(insn));
}

static void
step_store(struct analysis *analysis, uint32_t i, struct xdpvm_state *state)
{
	const struct bpf_insn *insn = &analysis->prog->insns[i];
	struct xdpvm_value base = state->regs[insn->dst_reg];
	bool atomic = BPF_MODE(insn->code) == BPF_ATOMIC;
	struct xdpvm_value value = other;

	note_base(analysis, i, base);
	note_stack(analysis, i, state, xdpvm_value_add(base, insn->off));
	if (BPF_CLASS(insn->code) == BPF_STX && !atomic)
		value = state->regs[insn->src_reg];
	xdpvm_state_store(state, base, insn->off, access_size(insn), value);
	if (!atomic || !(insn->imm & BPF_FETCH))
		return;
	state->regs[insn->imm == BPF_CMPXCHG ? BPF_REG_0 : insn->src_reg] = other;
}

/* A pointer plus something unknown: still into the same thing. */
static struct xdpvm_value
add_unknown(struct xdpvm_value a, struct xdpvm_value b)
{
	struct xdpvm_value pointer = a.kind == XDPVM_OTHER ? b : a;

	switch (pointer.kind) {
	case XDPVM_STACK:
		pointer.offset = XDPVM_ANYWHERE;
		return pointer;
	case XDPVM_CTX:
		return (struct xdpvm_value){ .kind = XDPVM_UNCLEAR };
	case XDPVM_POINTER:
	case XDPVM_UNCLEAR:
		return pointer;
	default:
		return other;
	}
}

static void
step_alu64(const struct bpf_insn *insn, struct xdpvm_state *state)
{
	struct xdpvm_value *dst = &state->regs[insn->dst_reg];
	struct xdpvm_value src = state->regs[insn->src_reg];
	bool constant = BPF_SRC(insn->code) == BPF_K;

	switch (BPF_OP(insn->code)) {
	case BPF_MOV:
		*dst = constant || insn->off != 0 ? other : src;
		break;
	case BPF_ADD:
		*dst = constant ? xdpvm_value_add(*dst, insn->imm) : add_unknown(*dst, src);
		break;
	case BPF_SUB:
		*dst = constant ? xdpvm_value_add(*dst, -(int64_t)insn->imm) :
				  src.kind == XDPVM_OTHER ? add_unknown(*dst, src) : other;
		break;
	default:
		*dst = other;
	}
}

static void
step_wide_load(struct analysis *analysis, uint32_t i, struct xdpvm_state *state)
{
	const struct bpf_insn *insn = &analysis->prog->insns[i];
	const struct xdpvm_insn_info *info = &analysis->prog->info[i];
	struct xdpvm_value value = other;

	if (insn->src_reg == BPF_PSEUDO_MAP_FD) {
		value.kind = XDPVM_MAP;
		value.index = info->map - analysis->prog->object->maps;
	} else if (insn->src_reg == BPF_PSEUDO_FUNC) {
		value.kind = XDPVM_FUNC;
		value.index = info->subprog;
	}
	state->regs[insn->dst_reg] = value;
}

static void
clobber_call(struct xdpvm_state *state)
{
	for (unsigned int reg = BPF_REG_0; reg <= BPF_REG_5; reg++)
		state->regs[reg] = other;
}

static void
enter_function(struct xdpvm_state *callee, const struct xdpvm_state *caller)
{
	xdpvm_state_copy(callee, caller);
	callee->depth++;
	for (unsigned int reg = BPF_REG_6; reg <= BPF_REG_9; reg++)
		callee->regs[reg] = other;
	callee->regs[BPF_REG_0] = other;
	callee->regs[BPF_REG_10] = (struct xdpvm_value){ XDPVM_STACK, callee->depth, { 0 } };
	memset(callee->slots[callee->depth], 0, sizeof(callee->slots[0]));
}

/*
 * Analyses a function as called from instruction i with the arguments in args (R1 to R5). The
 * caller's frames take what the callee left in them: replaced after a call, joined after a
 * callback, which may run any number of times.
 */
static int
call_function(struct analysis *analysis, uint32_t i, uint32_t subprog, struct xdpvm_state *state,
	      const struct xdpvm_value *args, bool callback, bool *changed)
{
	struct xdpvm_state *callee, *exit;
	bool exits = false;
	int ret = -ENOMEM;

	if (state->depth + 1 == XDPVM_MAX_FRAMES)
		return xdpvm_prog_fail(analysis->prog, i, -E2BIG, "calls nest deeper than %u frames",
				       XDPVM_MAX_FRAMES);
	callee = malloc(sizeof(*callee));
	exit = malloc(sizeof(*exit));
	if (callee != NULL && exit != NULL) {
		enter_function(callee, state);
		memcpy(&callee->regs[BPF_REG_1], args, 5 * sizeof(*args));
		ret = walk_function(analysis, subprog, callee, exit, &exits);
	}
	if (ret == 0 && exits && callback)
		*changed = xdpvm_state_join_frames(state, exit, state->depth);
	else if (ret == 0 && exits) {
		memcpy(state->slots, exit->slots, (state->depth + 1) * sizeof(exit->slots[0]));
		clobber_call(state);
		state->regs[BPF_REG_0] = exit->regs[BPF_REG_0];
	}
	free(callee);
	free(exit);
	return ret;
}

/* What a helper hands to its callback: enum bpf_func_id documents each. */
static void
callback_args(uint32_t helper, const struct xdpvm_state *state, struct xdpvm_value *args)
{
	for (unsigned int i = 0; i < 5; i++)
		args[i] = other;
	if (helper == BPF_FUNC_for_each_map_elem)
		args[3] = state->regs[BPF_REG_3];
	else	/* bpf_loop and whatever else calls back with (something, context) */
		args[1] = state->regs[BPF_REG_3];
}

static int
step_callbacks(struct analysis *analysis, uint32_t i, struct xdpvm_state *state)
{
	const struct bpf_insn *insn = &analysis->prog->insns[i];
	const struct xdpvm_helper *helper = xdpvm_helper_get(insn->imm);
	struct xdpvm_value args[5], function;
	bool changed;
	int ret = 0;

	for (unsigned int arg = 0; arg < 5; arg++) {
		if (helper->args[arg] != XDPVM_ARG_FUNCTION)
			continue;
		function = state->regs[BPF_REG_1 + arg];
		if (function.kind != XDPVM_FUNC)
			return xdpvm_prog_fail(analysis->prog, i, -EINVAL,
					       "the callback is no function that is known here");
		do {
			changed = false;
			callback_args(insn->imm, state, args);
			ret = call_function(analysis, i, function.index, state, args, true,
					    &changed);
		} while (ret == 0 && changed);
	}
	return ret;
}

static int
step_call(struct analysis *analysis, uint32_t i, struct xdpvm_state *state)
{
	const struct bpf_insn *insn = &analysis->prog->insns[i];
	bool changed;
	int ret;

	if (insn->src_reg == BPF_PSEUDO_CALL)
		return call_function(analysis, i, analysis->prog->info[i].subprog, state,
				     &state->regs[BPF_REG_1], false, &changed);
	note_map(analysis, i, state->regs[insn->imm == BPF_FUNC_tail_call ? BPF_REG_2 : BPF_REG_1]);
	note_stack(analysis, i, state, state->regs[BPF_REG_2]);
	ret = step_callbacks(analysis, i, state);
	clobber_call(state);
	return ret;
}

/* One instruction's effect on the state; jumps and exit have none. */
static int
step(struct analysis *analysis, uint32_t i, struct xdpvm_state *state)
{
	const struct bpf_insn *insn = &analysis->prog->insns[i];

	if (++analysis->visits > VISITS_MAX)
		return xdpvm_prog_fail(analysis->prog, i, -E2BIG, "the program is too complex: more "
				       "than %u instructions to follow", VISITS_MAX);
	switch (BPF_CLASS(insn->code)) {
	case BPF_ALU64:
		step_alu64(insn, state);
		return 0;
	case BPF_ALU:
		state->regs[insn->dst_reg] = other;
		return 0;
	case BPF_LD:
		step_wide_load(analysis, i, state);
		return 0;
	case BPF_LDX:
		step_load(analysis, i, state);
		return 0;
	case BPF_ST:
	case BPF_STX:
		step_store(analysis, i, state);
		return 0;
	default:
		return insn->code == (BPF_JMP | BPF_CALL) ? step_call(analysis, i, state) : 0;
	}
}

/* Brings a state to a jump target; queues it when that changed what is known there. */
static int
reach(struct walk *walk, uint32_t target, const struct xdpvm_state *state)
{
	uint32_t at = target - walk->subprog->start;

	if (walk->at[at] == NULL) {
		walk->at[at] = malloc(sizeof(*state));
		if (walk->at[at] == NULL)
			return -ENOMEM;
		xdpvm_state_copy(walk->at[at], state);
	} else if (!xdpvm_state_join(walk->at[at], state)) {
		return 0;
	}
	if (!walk->queued[at]) {
		walk->queued[at] = true;
		walk->queue[walk->n_queue++] = target;
	}
	return 0;
}

static void
note_exit(struct walk *walk, const struct xdpvm_state *state)
{
	if (walk->exits)
		xdpvm_state_join(walk->exit, state);
	else
		xdpvm_state_copy(walk->exit, state);
	walk->exits = true;
}

/* Follows the instructions from i until the path ends or meets a jump target. */
static int
walk_path(struct walk *walk, uint32_t i, struct xdpvm_state *state)
{
	struct analysis *analysis = walk->analysis;
	const struct bpf_insn *insns = analysis->prog->insns;
	uint8_t class;
	int ret;

	for (;; i++) {
		ret = step(analysis, i, state);
		if (ret != 0)
			return ret;
		class = BPF_CLASS(insns[i].code);
		if (insns[i].code == (BPF_JMP | BPF_EXIT)) {
			note_exit(walk, state);
			return 0;
		}
		if ((class == BPF_JMP || class == BPF_JMP32) && BPF_OP(insns[i].code) != BPF_CALL) {
			ret = reach(walk, xdpvm_jump_target(&insns[i], i), state);
			if (ret != 0 || BPF_OP(insns[i].code) == BPF_JA)
				return ret;
		}
		i += xdpvm_is_ld_imm64(&insns[i]);
		if (analysis->prog->info[i + 1].target)
			return reach(walk, i + 1, state);
	}
}

static int
walk_all(struct walk *walk, struct xdpvm_state *state)
{
	uint32_t start = walk->subprog->start;
	int ret = reach(walk, start, state);

	while (ret == 0 && walk->n_queue > 0) {
		uint32_t i = walk->queue[--walk->n_queue];

		walk->queued[i - start] = false;
		xdpvm_state_copy(state, walk->at[i - start]);
		ret = walk_path(walk, i, state);
	}
	return ret;
}

static int
walk_function(struct analysis *analysis, uint32_t index, struct xdpvm_state *entry,
	      struct xdpvm_state *exit, bool *exits)
{
	const struct xdpvm_subprog *subprog = &analysis->prog->subprogs[index];
	uint32_t n = subprog->end - subprog->start;
	struct walk walk = {
		.analysis = analysis,
		.subprog = subprog,
		.at = calloc(n, sizeof(*walk.at)),
		.queue = calloc(n, sizeof(*walk.queue)),
		.queued = calloc(n, sizeof(*walk.queued)),
		.exit = exit,
	};
	int ret = -ENOMEM;

	if (walk.at != NULL && walk.queue != NULL && walk.queued != NULL)
		ret = walk_all(&walk, entry);
	*exits = walk.exits;
	for (uint32_t i = 0; walk.at != NULL && i < n; i++)
		free(walk.at[i]);
	free(walk.at);
	free(walk.queue);
	free(walk.queued);
	return ret;
}

static int
analyse(struct analysis *analysis, struct xdpvm_state *states)
{
	bool exits;
	int ret;

	states[0].regs[BPF_REG_1].kind = XDPVM_CTX;
	states[0].regs[BPF_REG_10].kind = XDPVM_STACK;
	ret = walk_function(analysis, 0, &states[0], &states[1], &exits);
	if (ret == 0)
		ret = xdpvm_rewrite_ctx(analysis->prog, analysis->access);
	return ret != 0 ? ret : xdpvm_find_keys(analysis->prog);
}

int
xdpvm_analyse(struct xdpvm_prog *prog)
{
	struct xdpvm_state *states = calloc(2, sizeof(*states));
	struct analysis analysis = {
		.prog = prog,
		.access = calloc(prog->n_insns, sizeof(*analysis.access)),
	};
	int ret = -ENOMEM;

	if (states != NULL && analysis.access != NULL)
		ret = analyse(&analysis, states);
	if (ret == -ENOMEM)
		xdpvm_fail(prog->object, ret, "program %s: no memory", prog->name);
	free(states);
	free(analysis.access);
	return ret;
}
