/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The x86-64 compiler's driver: passes over a program until the jumps have their shortest form.
 * The first pass assumes long jumps, so code only shrinks from pass to pass and the passes end.
 */
#include <stdlib.h>

#include "jit_x86.h"

const uint8_t xdpvm_x86_register[11] = { RAX, RDI, RSI, RDX, RCX, R8, RBX, R13, R14, R15, RBP };

#define ROOM_PER_INSN 96	/* bytes, more than any instruction but a call */
#define ROOM_PER_CALL 512	/* bytes, more than any inlined lookup */
#define ROOM_PER_FUNCTION 1024	/* bytes, all slots zeroed included */
#define CODE_ALIGN 16
#define PASSES_MAX 64

/* What one instruction does for its neighbours; false when it is by itself. */
static bool
emit_planned(struct jit *jit, uint32_t i)
{
	const struct bpf_insn *insn = &jit->prog->insns[i];

	switch (jit->plan[i]) {
	case JIT_PLAN_SKIP:
		return true;
	case JIT_PLAN_LEA:
		emit_mem(jit, true, 0x8d, dst_of(insn), src_of(insn), insn[1].imm);
		return true;
	case JIT_PLAN_HALFWORD:
		emit_mem0f(jit, false, 0xb7, dst_of(insn), src_of(insn), insn->off - 1);
		return true;
	default:
		return false;
	}
}

static void
emit_insn(struct jit *jit, uint32_t i)
{
	const struct bpf_insn *insn = &jit->prog->insns[i];

	xdpvm_jit_check(jit, i);
	if (emit_planned(jit, i))
		return;
	switch (BPF_CLASS(insn->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		xdpvm_jit_alu(jit, insn);
		break;
	case BPF_LD:
		if (insn->src_reg != BPF_PSEUDO_FUNC) {
			emit_mov_imm(jit, dst_of(insn), xdpvm_imm64(insn));
			break;
		}
		/* lea reg, [rip + distance of the thunk] */
		emit_rex(jit, true, dst_of(insn), 0, false);
		emit(jit, 0x8d);
		emit(jit, 0x05 | (dst_of(insn) & 7) << 3);
		emit32(jit, jit->thunk_offsets[jit->prog->info[i].subprog] - (jit->at + 4));
		break;
	case BPF_JMP:
	case BPF_JMP32:
		xdpvm_jit_jump(jit, i);
		break;
	default:
		xdpvm_jit_memory(jit, insn);
	}
}

static uint16_t
written_register(const struct bpf_insn *insn)
{
	uint8_t class = BPF_CLASS(insn->code);

	if (class == BPF_STX && BPF_MODE(insn->code) == BPF_ATOMIC && (insn->imm & BPF_FETCH))
		return 1u << src_of(insn);
	if (class == BPF_ALU || class == BPF_ALU64 || class == BPF_LDX || class == BPF_LD)
		return 1u << dst_of(insn);
	return 0;
}

static bool
is_leaf_lookup(const struct xdpvm_prog *prog, uint32_t i)
{
	bool needs_buff;

	return xdpvm_jit_lookup_inlined(prog, i, &needs_buff);
}

/* What the function's frame must hold. */
static void
scan_function(struct jit *jit)
{
	const struct xdpvm_subprog *subprog = jit->subprog;
	const uint16_t callee_saved = 1u << RBX | 1u << R13 | 1u << R14 | 1u << R15;
	uint16_t written = 0;
	bool calls = false;

	jit->uses_stack = false;
	for (uint32_t i = subprog->start; i < subprog->end; i++) {
		const struct bpf_insn *insn = &jit->prog->insns[i];
		bool call = insn->code == (BPF_JMP | BPF_CALL);

		written |= written_register(insn);
		calls |= call && !is_leaf_lookup(jit->prog, i);
		jit->uses_stack |= !call && (insn->src_reg == BPF_REG_10 ||
					     insn->dst_reg == BPF_REG_10);
		i += xdpvm_is_ld_imm64(insn);
	}
	jit->saved = written & callee_saved;
	if (subprog->start == 0 && jit->needs_buff)
		jit->saved |= 1u << BUFF;
	if (subprog->start == 0 && jit->prog->checked) {
		/* A check that fails in another function returns from here: all must be saved. */
		jit->saved |= callee_saved;
		jit->uses_stack = true;
	}
	/* The return address, and rbp if it is saved, are on the stack already. */
	jit->padding = calls && (__builtin_popcount(jit->saved) + !jit->uses_stack) % 2 ? 8 : 0;
}

static bool
needs_buff(const struct xdpvm_prog *prog)
{
	if (prog->checked)
		return true;
	for (uint32_t i = 0; i < prog->n_insns; i++) {
		bool needed = true;

		if (xdpvm_is_call(&prog->insns[i], 0) &&
		    (!xdpvm_jit_lookup_inlined(prog, i, &needed) || needed))
			return true;
		i += xdpvm_is_ld_imm64(&prog->insns[i]);
	}
	return false;
}

static void
emit_align(struct jit *jit)
{
	while (jit->at % CODE_ALIGN != 0)
		emit(jit, 0xcc);	/* int3: nothing runs into it */
}

/*
 * A callback's entry for C code: the buffer comes as sixth argument and goes where functions of the
 * program expect it.
 */
static void
emit_thunk(struct jit *jit, uint32_t index)
{
	jit->thunk_offsets[index] = jit->at;
	emit_push(jit, BUFF);
	emit_mov(jit, true, BUFF, R9);
	emit(jit, 0xe8);
	emit32(jit, jit->function_offsets[index] - (jit->at + 4));
	emit_pop(jit, BUFF);
	emit(jit, 0xc3);
}

static void
emit_function(struct jit *jit, uint32_t index)
{
	jit->subprog = &jit->prog->subprogs[index];
	scan_function(jit);
	emit_align(jit);
	if (jit->subprog->callback)
		emit_thunk(jit, index);
	jit->moved |= jit->function_offsets[index] != jit->at;
	jit->function_offsets[index] = jit->at;
	xdpvm_jit_prologue(jit);
	for (uint32_t i = jit->subprog->start; i < jit->subprog->end; i++) {
		bool wide = xdpvm_is_ld_imm64(&jit->prog->insns[i]);
		uint32_t start = jit->at;

		emit_insn(jit, i);
		jit->moved |= jit->offsets[i] != start;
		jit->offsets[i] = start;
		i += wide;
		if (wide)
			jit->offsets[i] = jit->at;
	}
	if (index == 0 && jit->prog->checked)
		xdpvm_jit_abort(jit);
}

/* One pass; returns whether any place moved. */
static bool
emit_program(struct jit *jit)
{
	jit->at = 0;
	jit->moved = false;
	for (uint32_t s = 0; s < jit->prog->n_subprogs; s++)
		emit_function(jit, s);
	jit->offsets[jit->prog->n_insns] = jit->at;
	return jit->moved;
}

static int
emit_until_stable(struct jit *jit)
{
	xdpvm_jit_plan(jit);
	jit->first_pass = true;
	emit_program(jit);
	jit->first_pass = false;
	for (unsigned int pass = 0; pass < PASSES_MAX && !jit->overflow; pass++) {
		if (!emit_program(jit))
			return jit->overflow ? -ENOSPC : 0;
	}
	return -ENOSPC;
}

static size_t
room_for(const struct xdpvm_prog *prog)
{
	size_t room = CODE_ALIGN + prog->n_subprogs * ROOM_PER_FUNCTION;

	for (uint32_t i = 0; i < prog->n_insns; i++)
		room += prog->insns[i].code == (BPF_JMP | BPF_CALL) ? ROOM_PER_CALL : ROOM_PER_INSN;
	return room;
}

static int
publish(struct jit *jit)
{
	struct xdpvm_prog *prog = jit->prog;
	int ret = xdpvm_code_seal(jit->code, jit->room);

	if (ret != 0)
		return xdpvm_fail(prog->object, ret, "program %s: native code cannot be made "
				  "executable: %s", prog->name, strerror(-ret));
	prog->code_size = jit->at;
	prog->tail_entry = jit->code + jit->tail_offset;
	prog->entry = (xdpvm_entry_fn)(uintptr_t)jit->code;
	return 0;
}

static int
compile(struct jit *jit)
{
	struct xdpvm_prog *prog = jit->prog;
	int ret;

	jit->code = xdpvm_code_alloc(jit->room);
	if (jit->code == NULL)
		return xdpvm_fail(prog->object, -ENOMEM, "program %s: no memory for %zu bytes of "
				  "native code", prog->name, jit->room);
	prog->code = jit->code;
	prog->code_mapped = jit->room;
	ret = emit_until_stable(jit);
	if (ret != 0)
		return xdpvm_fail(prog->object, ret, "program %s: native code does not settle in "
				  "%zu bytes", prog->name, jit->room);
	return publish(jit);
}

int
xdpvm_jit(struct xdpvm_prog *prog)
{
	struct jit jit = {
		.prog = prog,
		.room = room_for(prog),
		.plan = calloc(prog->n_insns + 1, sizeof(*jit.plan)),
		.offsets = calloc(prog->n_insns + 1, sizeof(*jit.offsets)),
		.function_offsets = calloc(prog->n_subprogs, sizeof(*jit.function_offsets)),
		.thunk_offsets = calloc(prog->n_subprogs, sizeof(*jit.thunk_offsets)),
		.needs_buff = needs_buff(prog),
	};
	int ret = -ENOMEM;

	if (jit.plan != NULL && jit.offsets != NULL && jit.function_offsets != NULL &&
	    jit.thunk_offsets != NULL)
		ret = compile(&jit);
	free(jit.plan);
	free(jit.offsets);
	free(jit.function_offsets);
	free(jit.thunk_offsets);
	return ret;
}

void
xdpvm_jit_free(struct xdpvm_prog *prog)
{
	if (prog->code != NULL)
		xdpvm_code_free(prog->code, prog->code_mapped);
	prog->code = NULL;
}

bool
xdpvm_jit_available(void)
{
	return true;
}
