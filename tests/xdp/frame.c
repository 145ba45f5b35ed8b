/* SPDX-License-Identifier: BSD-3-Clause */
/* See frame.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <bpf/bpf.h>

#include "frame.h"

int
frame_load_kernel(const struct bpf_insn *insns, uint32_t n)
{
	static char log[65536];
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .log_buf = log, .log_size = sizeof(log),
		    .log_level = 1);
	int fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "test", "GPL", insns, n, &opts);

	if (fd < 0)
		fprintf(stderr, "%s\n%s", strerror(errno), log);
	return fd;
}

void
frame_to_buff(const struct frame *frame, struct xdpvm_buff *buff)
{
	static __thread uint8_t memory[FRAME_SIZE];
	struct xdpvm_packet packet;

	frame_place(frame, memory, &packet);
	buff->hard_start = packet.hard_start;
	buff->frame_end = packet.frame_end;
	buff->data = packet.data;
	buff->data_meta = packet.data_meta;
	buff->data_end = packet.data_end;
}

void
frame_from_buff(struct frame *frame, const struct xdpvm_buff *buff)
{
	frame->meta = buff->data - buff->data_meta;
	frame->size = buff->data_end - buff->data_meta;
	memcpy(frame->bytes, buff->data_meta, frame->size);
}
