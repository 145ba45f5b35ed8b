/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arithmetic and comparisons of the interpreter, each a pure function: RFC 9669 sections 4 and 5.
 */
#ifndef XDPVM_INTERP_H
#define XDPVM_INTERP_H

#include "program.h"

/* The function that is running; buff->interp points to the innermost. */
struct xdpvm_frame {
	struct xdpvm_prog *prog;
	bool *aborted;		/* of the run: a check failed */
	uint8_t *stack;		/* XDPVM_FRAME_STACK bytes */
	struct xdpvm_frame *outer;	/* the one that called it, or NULL */
};

/* Result of an ALU or ALU64 instruction; operand is the immediate (sign-extended) or the source. */
uint64_t xdpvm_alu(const struct bpf_insn *insn, uint64_t dst, uint64_t operand);

/* Whether a conditional jump is taken. */
bool xdpvm_jump_taken(const struct bpf_insn *insn, uint64_t dst, uint64_t operand);

/* Memory instructions through the real address. */
uint64_t xdpvm_load(const struct bpf_insn *insn, const void *address);
void xdpvm_store(const struct bpf_insn *insn, void *address, uint64_t value);

/* Atomic operation; src and r0 are the registers it may change. */
void xdpvm_atomic(const struct bpf_insn *insn, void *address, uint64_t *src, uint64_t *r0);

/* interp_check.c: whether an instruction may be executed; see enum xdpvm_check. */
bool xdpvm_check_passes(struct xdpvm_buff *buff, const struct bpf_insn *insn,
			const struct xdpvm_insn_info *info, const uint64_t *regs);
bool xdpvm_burn_fuel(struct xdpvm_buff *buff, uint32_t cost);

#endif /* XDPVM_INTERP_H */
