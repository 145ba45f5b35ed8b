/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of the program. Each call is followed with the arguments that it has, with the callers'
 * frames below it; so a function needs no signature, and recursion ends at the limit of frames.
 */
#include "prove.h"

static const struct prove_value unset = { .kind = PROVE_UNSET };

/* A frame above the caller's: R1 to R5 as given, R10 its stack, nothing else. */
static int
push_frame(struct prover *prover, uint32_t i, struct prove_state *state, uint32_t subprog,
	   const struct prove_value *args, bool callback)
{
	struct prove_frame *frame;

	if (state->depth + 1 == XDPVM_MAX_FRAMES)
		return xdpvm_prog_fail(prover->prog, i, -E2BIG, "calls nest deeper than %u frames",
				       XDPVM_MAX_FRAMES);
	frame = &state->frames[++state->depth];
	memset(frame, 0, sizeof(*frame));
	memcpy(&frame->regs[BPF_REG_1], args, 5 * sizeof(*args));
	frame->regs[BPF_REG_10] = (struct prove_value){
		.kind = PROVE_STACK, .frame = state->depth,
	};
	frame->call = i;
	frame->subprog = subprog;
	frame->callback = callback;
	return 0;
}

int
xdpvm_prove_enter(struct prover *prover, uint32_t i, struct prove_state *state)
{
	struct prove_value *regs = prove_top(state)->regs;
	int ret = push_frame(prover, i, state, prover->prog->info[i].subprog, &regs[BPF_REG_1],
			     false);

	for (unsigned int reg = BPF_REG_0; ret == 0 && reg <= BPF_REG_5; reg++)
		regs[reg] = unset;
	return ret;
}

static int
function_argument(const struct bpf_insn *insn)
{
	const struct xdpvm_helper *helper = xdpvm_helper_get(insn->imm);

	for (int arg = 0; arg < 5; arg++)
		if (helper->args[arg] == XDPVM_ARG_FUNCTION)
			return arg;
	return -1;
}

bool
xdpvm_prove_calls_back(const struct bpf_insn *insn)
{
	return xdpvm_is_call(insn, 0) && function_argument(insn) >= 0;
}

/* What helpers hand to their callbacks; enum bpf_func_id documents each. False: unknown helper. */
static bool
callback_arguments(struct prover *prover, int32_t helper, const struct prove_value *regs,
		   struct prove_value *args)
{
	const struct xdpvm_map *map = regs[BPF_REG_1].map;

	switch (helper) {
	case BPF_FUNC_loop:
		args[0] = xdpvm_prove_unknown(prover, 4);
		args[1] = regs[BPF_REG_3];
		return true;
	case BPF_FUNC_for_each_map_elem:
		args[0] = regs[BPF_REG_1];
		args[1] = (struct prove_value){
			.kind = PROVE_MEMORY, .read_only = true, .range = map->key_size,
		};
		args[2] = (struct prove_value){
			.kind = PROVE_VALUE, .map = map,
			.read_only = xdpvm_prove_read_only_values(map),
		};
		args[3] = regs[BPF_REG_3];
		return true;
	default:
		return false;
	}
}

int
xdpvm_prove_enter_callback(struct prover *prover, uint32_t i, struct prove_state *state)
{
	const struct bpf_insn *insn = &prover->prog->insns[i];
	const struct prove_value *regs = prove_top(state)->regs;
	const struct prove_value *function = &regs[BPF_REG_1 + function_argument(insn)];
	struct prove_value args[5] = { unset, unset, unset, unset, unset };

	if (!callback_arguments(prover, insn->imm, regs, args))
		return xdpvm_prog_fail(prover->prog, i, -ENOTSUP, "callbacks of %s need "
				       "verify=kernel", xdpvm_helper_name(insn->imm));
	prover->prog->checked = true;	/* a callback burns fuel */
	return push_frame(prover, i, state, function->offset, args, true);
}

/* Pointers into the frame that ends are of no use, and its number will be another frame's. */
static void
drop_frame(struct prove_value *value, void *arg)
{
	const uint32_t *depth = arg;

	if (value->kind == PROVE_STACK && value->frame == *depth)
		*value = unset;
}

static int
leave_program(struct prover *prover, uint32_t i, struct prove_state *state)
{
	if (state->record)
		return xdpvm_prog_fail(prover->prog, i, -EACCES, "ends with a record that is "
				       "neither submitted nor discarded");
	return 0;
}

int
xdpvm_prove_exit(struct prover *prover, uint32_t i, struct prove_state *state, uint32_t *next,
		 bool *ends)
{
	const struct prove_frame *frame = prove_top(state);
	struct prove_value result = frame->regs[BPF_REG_0];
	uint32_t depth = state->depth;
	int ret = 0;

	*ends = depth == 0;
	if (*ends || frame->callback)
		ret = xdpvm_prove_readable(prover, i, state, BPF_REG_0);
	if (ret != 0 || *ends)
		return ret != 0 ? ret : leave_program(prover, i, state);
	/* After a callback its helper may call it again: back to the call. */
	*next = frame->callback ? frame->call : frame->call + 1;
	state->depth--;
	if (!frame->callback)
		prove_top(state)->regs[BPF_REG_0] = result;
	xdpvm_prove_each(state, drop_frame, &depth);
	return 0;
}
