/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of testrun.h for tests that run single helpers rather than programs. */
#ifndef FRAME_H
#define FRAME_H

#include "testrun.h"

/* Loads an XDP program from instructions; the verifier's log goes to stderr when it refuses. */
int frame_load_kernel(const struct bpf_insn *insns, uint32_t n);

/* Puts the frame into own memory, and the packet back into it. buff is bound to this thread. */
void frame_to_buff(const struct frame *frame, struct xdpvm_buff *buff);
void frame_from_buff(struct frame *frame, const struct xdpvm_buff *buff);

#endif /* FRAME_H */
