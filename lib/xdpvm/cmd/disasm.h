/* SPDX-License-Identifier: BSD-3-Clause */
/* BPF instructions as text, in the Linux verifier's words. */
#ifndef XDPVM_CMD_DISASM_H
#define XDPVM_CMD_DISASM_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/bpf.h>

/* Whether an instruction takes two slots. */
bool disasm_is_wide(const struct bpf_insn *insn);

/*
 * One instruction without its number, "(b7) r0 = 2". A wide load's constant is printed as
 * constant says, when it is not NULL.
 */
void disasm(const struct bpf_insn *insn, const char *constant, char *text, size_t size);

#endif /* XDPVM_CMD_DISASM_H */
