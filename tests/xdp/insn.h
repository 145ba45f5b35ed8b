/* SPDX-License-Identifier: BSD-3-Clause */
/* Instructions as initialisers, for programs that tests write by hand. */
#ifndef INSN_H
#define INSN_H

#include <linux/bpf.h>

#define INSN(op, dst, src, offset, immediate) \
	((struct bpf_insn){ .code = (op), .dst_reg = (dst), .src_reg = (src), \
			    .off = (offset), .imm = (immediate) })
#define MOV(dst, src) INSN(BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0)
#define MOV_IMM(dst, imm) INSN(BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, imm)
#define ADD_IMM(dst, imm) INSN(BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, imm)
#define LOAD(size, dst, src, off) INSN(BPF_LDX | BPF_MEM | (size), dst, src, off, 0)
#define STORE(size, dst, off, src) INSN(BPF_STX | BPF_MEM | (size), dst, src, off, 0)
#define STORE_IMM(size, dst, off, imm) INSN(BPF_ST | BPF_MEM | (size), dst, 0, off, imm)
#define JUMP(op, dst, src, off) INSN(BPF_JMP | (op) | BPF_X, dst, src, off, 0)
#define JUMP_IMM(op, dst, imm, off) INSN(BPF_JMP | (op) | BPF_K, dst, 0, off, imm)
#define CALL(helper) INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_##helper)
#define EXIT() INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)
/* Two instructions: the map with this file descriptor. */
#define MAP_FD(dst, fd) \
	INSN(BPF_LD | BPF_IMM | BPF_DW, dst, BPF_PSEUDO_MAP_FD, 0, fd), INSN(0, 0, 0, 0, 0)
/* Two instructions: address of offset in value 0 of the map. */
#define MAP_VALUE(dst, fd, offset) \
	INSN(BPF_LD | BPF_IMM | BPF_DW, dst, BPF_PSEUDO_MAP_VALUE, 0, fd), \
	INSN(0, 0, 0, 0, offset)

/*
 * Six instructions: r6 = ctx, r7 = data; a packet shorter than bytes ends with XDP_PASS + 1000.
 */
#define PACKET_HAS(bytes) \
	MOV(6, 1), \
	LOAD(BPF_W, 7, 6, 0), \
	LOAD(BPF_W, 2, 6, 4), \
	MOV(3, 7), \
	ADD_IMM(3, bytes), \
	MOV_IMM(0, XDP_PASS + 1000), \
	JUMP(BPF_JLE, 3, 2, 1), \
	EXIT()

#endif /* INSN_H */
