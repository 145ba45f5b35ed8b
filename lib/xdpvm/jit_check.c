/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks that the prover asks for (enum xdpvm_check), and how a run ends when one fails: from
 * whatever depth, straight out of the program's own frame, whose place the entry has left in the
 * buffer.
 */
#include "jit_x86.h"

/* jcc abort: always the long form, so that its size does not depend on where that is. */
static void
emit_abort_if(struct jit *jit, enum x86_condition condition)
{
	emit(jit, 0x0f);
	emit(jit, 0x80 | condition);
	emit32(jit, jit->abort_offset - (jit->at + 4));
}

static uint8_t
access_size(const struct bpf_insn *insn)
{
	static const uint8_t sizes[] = {
		[BPF_W >> 3] = 4, [BPF_H >> 3] = 2, [BPF_B >> 3] = 1, [BPF_DW >> 3] = 8,
	};

	return sizes[BPF_SIZE(insn->code) >> 3];
}

/* start <= address and address <= end - size: neither side can wrap, whatever the address. */
static void
emit_range_check(struct jit *jit, const struct bpf_insn *insn, int32_t start, int32_t end)
{
	uint8_t base = BPF_CLASS(insn->code) == BPF_LDX ? src_of(insn) : dst_of(insn);

	emit_rex(jit, true, R10, base, false);
	emit(jit, 0x8d);	/* lea r10, [base + off] */
	emit_modrm_mem(jit, R10, base, insn->off);
	emit_mem(jit, true, 0x3b, R10, BUFF, start);	/* cmp r10, [start] */
	emit_abort_if(jit, CC_B);
	emit_mem(jit, true, X86_LOAD, R11, BUFF, end);
	emit_ri(jit, true, X86_SUB, R11, access_size(insn));
	emit_rr(jit, true, X86_CMP, R10, R11);
	emit_abort_if(jit, CC_A);
}

static void
emit_alignment_check(struct jit *jit, const struct bpf_insn *insn)
{
	emit_rex(jit, true, R10, dst_of(insn), false);
	emit(jit, 0x8d);	/* lea r10, [base + off] */
	emit_modrm_mem(jit, R10, dst_of(insn), insn->off);
	emit_rex(jit, false, 0, R10, false);
	emit(jit, 0xf6);	/* test r10b, size - 1: /0 */
	emit_modrm_reg(jit, 0, R10);
	emit(jit, access_size(insn) - 1);
	emit_abort_if(jit, CC_NE);
}

void
xdpvm_jit_burn_fuel(struct jit *jit, uint32_t cost)
{
	emit_mi(jit, X86_SUB, BUFF, offsetof(struct xdpvm_buff, fuel), cost);
	emit_abort_if(jit, CC_B);
}

void
xdpvm_jit_check(struct jit *jit, uint32_t i)
{
	const struct bpf_insn *insn = &jit->prog->insns[i];

	switch (jit->prog->info[i].check) {
	case XDPVM_CHECK_PACKET:
		emit_range_check(jit, insn, offsetof(struct xdpvm_buff, data),
				 offsetof(struct xdpvm_buff, data_end));
		break;
	case XDPVM_CHECK_META:
		emit_range_check(jit, insn, offsetof(struct xdpvm_buff, data_meta),
				 offsetof(struct xdpvm_buff, data));
		break;
	case XDPVM_CHECK_ALIGNED:
		emit_alignment_check(jit, insn);
		break;
	case XDPVM_CHECK_FUEL:
		xdpvm_jit_burn_fuel(jit, jit->prog->info[i].cost);
		break;
	}
}

/*
 * Emitted behind the program's own function, whose frame it takes down; the frames above are left
 * where they are. The frame pointer is that frame's again before the frame is left.
 */
void
xdpvm_jit_abort(struct jit *jit)
{
	jit->moved |= jit->abort_offset != jit->at;
	jit->abort_offset = jit->at;
	emit_mem(jit, true, X86_LOAD, RSP, BUFF, offsetof(struct xdpvm_buff, jit_stack));
	emit_mi(jit, X86_ADD, BUFF, offsetof(struct xdpvm_buff, aborts), 1);
	emit_rex(jit, true, RBP, RSP, false);
	emit(jit, 0x8d);	/* lea rbp, [rsp + size] */
	emit_modrm_mem(jit, RBP, RSP, xdpvm_jit_saved_size(jit));
	emit_rr(jit, false, X86_XOR, RAX, RAX);
	xdpvm_jit_leave(jit);
	emit(jit, 0xc3);
}
