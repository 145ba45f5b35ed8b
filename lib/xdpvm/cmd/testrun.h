/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One packet in the frame that BPF_PROG_TEST_RUN gives a program (a zeroed page, 256 bytes of
 * headroom with the metadata at its end, room for struct skb_shared_info behind), for running the
 * same thing in the kernel and here.
 */
#ifndef XDPVM_CMD_TESTRUN_H
#define XDPVM_CMD_TESTRUN_H

#include "xdpvm.h"

#define FRAME_SIZE 4096
#define FRAME_HEADROOM 256
#define FRAME_TAIL 320	/* sizeof(struct skb_shared_info), aligned, Linux 6.18 on x86-64 */
#define FRAME_PACKET_MAX (FRAME_SIZE - FRAME_HEADROOM - FRAME_TAIL)
#define FRAME_PACKET_MIN 14	/* bytes; the kernel runs no shorter ones */

/* A packet with its metadata in front. */
struct frame {
	uint32_t meta;		/* bytes of metadata */
	uint32_t size;		/* bytes of metadata and packet */
	uint64_t result;	/* what the program, or the helper, returned */
	uint8_t bytes[FRAME_SIZE];
};

/* Runs a loaded kernel program on the frame; false when the kernel refused to. */
bool frame_run_kernel(int prog_fd, struct frame *frame);

/* CPU time of the calling thread in nanoseconds: what others do on this CPU does not count. */
uint64_t thread_time_ns(void);

/*
 * Runs the packet repeat times in a row in the kernel, which does not restore it in between. Whole
 * nanoseconds a run as the kernel measured them, or a negative errno; precise receives the same as
 * CPU time.
 */
int frame_time_kernel(int prog_fd, const struct frame *frame, uint32_t repeat, double *precise);

/* Puts the frame into memory of FRAME_SIZE bytes, and the packet back into the frame. */
void frame_place(const struct frame *frame, uint8_t *memory, struct xdpvm_packet *packet);
void frame_take(struct frame *frame, const struct xdpvm_packet *packet);

/* Result (its low 32 bits), metadata, length and bytes. */
bool frame_equal(const struct frame *a, const struct frame *b);

/* What is not equal, as "result PASS, 60 bytes against result DROP, 60 bytes". */
void frame_difference(const struct frame *a, const struct frame *b, char *text, size_t size);

#endif /* XDPVM_CMD_TESTRUN_H */
