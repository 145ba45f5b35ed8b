/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls: helpers, functions of the program, tail calls. */
#include "helper.h"
#include "jit_x86.h"
#include "map.h"

static void
emit_helper_call(struct jit *jit, const struct bpf_insn *insn)
{
	/* R1 to R5 are where C has its first five arguments; the sixth is the buffer. */
	emit_mov(jit, true, R9, BUFF);
	emit_call(jit, (uintptr_t)xdpvm_helper_entry(jit->prog, insn->imm));
}

static void
emit_function_call(struct jit *jit, uint32_t i)
{
	uint32_t target = jit->function_offsets[jit->prog->info[i].subprog];

	emit(jit, 0xe8);
	emit32(jit, target - (jit->at + 4));
}

static void
emit_cpu_number(struct jit *jit)
{
	emit_mem(jit, true, X86_LOAD, RAX, BUFF, offsetof(struct xdpvm_buff, thread));
	emit_mem(jit, false, X86_LOAD, RAX, RAX, offsetof(struct xdpvm_thread, cpu));
}

/*
 * R2 is the map, R3 the index. Out of range, the 34th in a row, or an empty slot: execution goes on
 * behind. Else this function's frame goes and the other program takes its place.
 */
static void
emit_tail_call(struct jit *jit)
{
	const int32_t count = offsetof(struct xdpvm_buff, tail_calls);
	size_t out_of_range, too_many, empty;

	emit_mem(jit, false, 0x3b, RDX, RSI, offsetof(struct xdpvm_map, max_entries));
	out_of_range = emit_jcc_short(jit, CC_AE);
	emit_mi(jit, X86_CMP, BUFF, count, XDPVM_MAX_TAIL_CALLS);
	too_many = emit_jcc_short(jit, CC_AE);
	emit_mem(jit, true, X86_LOAD, RAX, RSI, offsetof(struct xdpvm_map, base));
	emit_mov(jit, false, RDX, RDX);
	/* mov rax, [rax + rdx * 8] */
	emit_rex(jit, true, RAX, RAX, false);
	emit(jit, X86_LOAD);
	emit(jit, 0x04);
	emit(jit, 0xd0);
	emit_rr(jit, true, X86_TEST, RAX, RAX);
	empty = emit_jcc_short(jit, CC_E);
	emit_mi(jit, X86_ADD, BUFF, count, 1);
	emit_mem(jit, true, X86_LOAD, R11, RAX, offsetof(struct xdpvm_prog, tail_entry));
	emit_mov(jit, true, RDI, BUFF);
	xdpvm_jit_leave(jit);
	emit_rex(jit, false, 0, R11, false);
	emit(jit, 0xff);	/* jmp r11: /4 */
	emit_modrm_reg(jit, 4, R11);
	land(jit, out_of_range);
	land(jit, too_many);
	land(jit, empty);
}

void
xdpvm_jit_call(struct jit *jit, uint32_t i)
{
	const struct bpf_insn *insn = &jit->prog->insns[i];

	if (insn->src_reg == BPF_PSEUDO_CALL)
		emit_function_call(jit, i);
	else if (insn->imm == BPF_FUNC_tail_call)
		emit_tail_call(jit);
	else if (insn->imm == BPF_FUNC_get_smp_processor_id)
		emit_cpu_number(jit);
	else if (insn->imm != BPF_FUNC_map_lookup_elem || !xdpvm_jit_lookup(jit, i))
		emit_helper_call(jit, insn);
}
