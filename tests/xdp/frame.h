/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One packet in the frame that BPF_PROG_TEST_RUN gives a program (a zeroed page, 256 bytes of
 * headroom with the metadata at its end, room for struct skb_shared_info behind), for running the
 * same thing in the kernel and here.
 */
#ifndef FRAME_H
#define FRAME_H

#include "xdpvm.h"

#define FRAME_SIZE 4096
#define FRAME_HEADROOM 256
#define FRAME_TAIL 320	/* sizeof(struct skb_shared_info), aligned, Linux 6.18 on x86-64 */

/* A packet with its metadata in front. */
struct frame {
	uint32_t meta;		/* bytes of metadata */
	uint32_t size;		/* bytes of metadata and packet */
	uint64_t result;	/* what the program, or the helper, returned */
	uint8_t bytes[FRAME_SIZE];
};

/* Runs a loaded kernel program on the frame; false when the kernel refused to. */
bool frame_run_kernel(int prog_fd, struct frame *frame);

/* Loads an XDP program from instructions; the verifier's log goes to stderr when it refuses. */
int frame_load_kernel(const struct bpf_insn *insns, uint32_t n);

/* Puts the frame into own memory, and the packet back into it. buff is bound to this thread. */
void frame_to_buff(const struct frame *frame, struct xdpvm_buff *buff);
void frame_from_buff(struct frame *frame, const struct xdpvm_buff *buff);

/* Result (its low 32 bits), metadata, length and bytes. */
bool frame_equal(const struct frame *a, const struct frame *b);

#endif /* FRAME_H */
