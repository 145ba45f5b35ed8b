/* SPDX-License-Identifier: BSD-3-Clause */
/* Program tags as Linux computes them (kernel/bpf/core.c, bpf_prog_calc_tag). */
#ifndef XDPVM_TAG_H
#define XDPVM_TAG_H

#include "internal.h"

/* insns: linked, with map references by descriptor or by index. 0 or -ENOMEM. */
int xdpvm_tag(const struct bpf_insn *insns, uint32_t n, uint8_t tag[XDPVM_TAG_SIZE]);

#endif /* XDPVM_TAG_H */
