/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The interpreter: the oracle of the JIT and the engine of other machines. One C frame per BPF
 * frame; registers hold real addresses.
 */
#include "helper.h"
#include "interp.h"
#include "map.h"

struct function {
	struct xdpvm_frame frame;
	struct xdpvm_buff *buff;
	uint64_t regs[11];
	uint8_t stack[XDPVM_FRAME_STACK] __attribute__((aligned(16)));
};

static uint64_t run_function(struct xdpvm_frame frame, struct xdpvm_buff *buff,
			     const struct xdpvm_subprog *subprog, const uint64_t *args);

/* Programs that were proven rely on it where the prover says so; the others find what they find. */
static void
zero_stack(struct function *function, const struct xdpvm_subprog *subprog)
{
	if (subprog->zero_slots != 0)
		memset(function->stack, 0, sizeof(function->stack));
}

static void
call_helper(struct function *function, const struct bpf_insn *insn)
{
	uint64_t *r = function->regs;

	r[0] = xdpvm_helper_entry(function->frame.prog, insn->imm)(r[1], r[2], r[3], r[4], r[5],
								   function->buff);
}

/* The program that a tail call goes to, or NULL: then the call falls through. */
static struct xdpvm_prog *
tail_target(struct function *function)
{
	const struct xdpvm_map *map = (void *)(uintptr_t)function->regs[2];
	uint32_t index = function->regs[3];
	struct xdpvm_prog *prog;

	if (index >= map->max_entries || function->buff->tail_calls >= XDPVM_MAX_TAIL_CALLS)
		return NULL;
	prog = __atomic_load_n((struct xdpvm_prog **)map->base + index, __ATOMIC_ACQUIRE);
	if (prog != NULL)
		function->buff->tail_calls++;
	return prog;
}

/* Executes a call; returns the next instruction. */
static uint32_t
step_call(struct function *function, uint32_t pc)
{
	struct xdpvm_prog *prog = function->frame.prog;
	const struct bpf_insn *insn = &prog->insns[pc];

	if (insn->src_reg == BPF_PSEUDO_CALL) {
		function->regs[0] = run_function(function->frame, function->buff,
						 &prog->subprogs[prog->info[pc].subprog],
						 &function->regs[1]);
	} else if (insn->imm == BPF_FUNC_tail_call) {
		prog = tail_target(function);
		if (prog != NULL) {
			function->frame.prog = prog;
			zero_stack(function, &prog->subprogs[0]);
			return 0;
		}
	} else {
		call_helper(function, insn);
	}
	return pc + 1;
}

static uint64_t
operand(const struct function *function, const struct bpf_insn *insn)
{
	return BPF_SRC(insn->code) == BPF_X ? function->regs[insn->src_reg] :
					      (uint64_t)(int64_t)insn->imm;
}

static void
step_memory(struct function *function, const struct bpf_insn *insn)
{
	uint64_t *dst = &function->regs[insn->dst_reg];
	uint64_t *src = &function->regs[insn->src_reg];
	void *target = (void *)(uintptr_t)(*dst + insn->off);

	if (BPF_CLASS(insn->code) == BPF_LDX)
		*dst = xdpvm_load(insn, (const void *)(uintptr_t)(*src + insn->off));
	else if (BPF_CLASS(insn->code) == BPF_ST)
		xdpvm_store(insn, target, (int64_t)insn->imm);
	else if (BPF_MODE(insn->code) == BPF_ATOMIC)
		xdpvm_atomic(insn, target, src, &function->regs[0]);
	else
		xdpvm_store(insn, target, *src);
}

static uint32_t
step_wide_load(struct function *function, uint32_t pc)
{
	struct xdpvm_prog *prog = function->frame.prog;
	const struct bpf_insn *insn = &prog->insns[pc];

	if (insn->src_reg == BPF_PSEUDO_FUNC)
		function->regs[insn->dst_reg] =
			(uintptr_t)&prog->subprogs[prog->info[pc].subprog];
	else
		function->regs[insn->dst_reg] = xdpvm_imm64(insn);
	return pc + 2;
}

static uint32_t
step_jump(struct function *function, uint32_t pc)
{
	const struct bpf_insn *insn = &function->frame.prog->insns[pc];

	if (BPF_OP(insn->code) == BPF_CALL)
		return step_call(function, pc);
	if (BPF_OP(insn->code) == BPF_JA ||
	    xdpvm_jump_taken(insn, function->regs[insn->dst_reg], operand(function, insn)))
		return xdpvm_jump_target(insn, pc);
	return pc + 1;
}

/* Executes the instruction at pc; returns the next one. */
static uint32_t
step(struct function *function, uint32_t pc)
{
	const struct bpf_insn *insn = &function->frame.prog->insns[pc];
	uint64_t *dst = &function->regs[insn->dst_reg];

	switch (BPF_CLASS(insn->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		*dst = xdpvm_alu(insn, *dst, operand(function, insn));
		return pc + 1;
	case BPF_JMP:
	case BPF_JMP32:
		return step_jump(function, pc);
	case BPF_LD:
		return step_wide_load(function, pc);
	default:
		step_memory(function, insn);
		return pc + 1;
	}
}

/* The next instruction, unless a check ends the run before this one. */
static uint32_t
checked_step(struct function *function, uint32_t pc)
{
	struct xdpvm_prog *prog = function->frame.prog;

	if (prog->info[pc].check != XDPVM_CHECK_NONE &&
	    !xdpvm_check_passes(function->buff, &prog->insns[pc], &prog->info[pc],
				function->regs)) {
		*function->frame.aborted = true;
		return pc;
	}
	return step(function, pc);
}

static uint64_t
run_function(struct xdpvm_frame frame, struct xdpvm_buff *buff,
	     const struct xdpvm_subprog *subprog, const uint64_t *args)
{
	struct function function;
	uint32_t pc = subprog->start;

	function.frame = frame;
	function.frame.stack = function.stack;
	function.frame.outer = buff->interp;
	function.buff = buff;
	zero_stack(&function, subprog);
	memset(function.regs, 0, sizeof(function.regs));
	memcpy(&function.regs[1], args, 5 * sizeof(*args));
	function.regs[10] = (uintptr_t)function.stack + sizeof(function.stack);
	buff->interp = &function.frame;
	while (!*frame.aborted && function.frame.prog->insns[pc].code != (BPF_JMP | BPF_EXIT))
		pc = checked_step(&function, pc);
	buff->interp = function.frame.outer;
	return function.regs[0];
}

uint64_t
xdpvm_interp(struct xdpvm_prog *prog, struct xdpvm_buff *buff)
{
	uint64_t args[5] = { (uintptr_t)buff };
	bool aborted = false;
	uint64_t result;

	buff->tail_calls = 0;
	buff->fuel = XDPVM_FUEL;
	result = run_function((struct xdpvm_frame){ .prog = prog, .aborted = &aborted }, buff,
			      &prog->subprogs[0], args);
	buff->aborts += aborted;
	return aborted ? XDP_ABORTED : result;
}

uint64_t
xdpvm_interp_callback(struct xdpvm_buff *buff, uint64_t callback, uint64_t r1, uint64_t r2,
		      uint64_t r3, uint64_t r4, uint64_t r5)
{
	const struct xdpvm_subprog *subprog = (void *)(uintptr_t)callback;
	uint64_t args[5] = { r1, r2, r3, r4, r5 };
	struct xdpvm_frame frame = *buff->interp;

	if (frame.prog->checked && !xdpvm_burn_fuel(buff, subprog->cost))
		*frame.aborted = true;
	/* Not 0 once the run has ended: no helper calls again. */
	return *frame.aborted ? 1 : run_function(frame, buff, subprog, args);
}
