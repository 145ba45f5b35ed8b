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

bool
frame_run_kernel(int prog_fd, struct frame *frame)
{
	struct xdp_md in = { .data = frame->meta, .data_end = frame->size }, out = { 0 };
	uint8_t data[FRAME_SIZE];
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame->bytes, .data_size_in = frame->size,
		    .data_out = data, .data_size_out = sizeof(data), .ctx_in = &in,
		    .ctx_size_in = sizeof(in), .ctx_out = &out, .ctx_size_out = sizeof(out),
		    .repeat = 1);

	if (bpf_prog_test_run_opts(prog_fd, &opts) < 0)
		return false;
	frame->result = opts.retval;
	frame->size = opts.data_size_out;
	frame->meta = out.data - out.data_meta;
	memcpy(frame->bytes, data, frame->size);
	return true;
}

void
frame_to_buff(const struct frame *frame, struct xdpvm_buff *buff)
{
	static __thread uint8_t memory[FRAME_SIZE];

	memset(memory, 0, sizeof(memory));
	buff->hard_start = memory;
	buff->frame_end = memory + sizeof(memory) - FRAME_TAIL;
	buff->data = memory + FRAME_HEADROOM;
	buff->data_meta = buff->data - frame->meta;
	buff->data_end = buff->data_meta + frame->size;
	memcpy(buff->data_meta, frame->bytes, frame->size);
}

void
frame_from_buff(struct frame *frame, const struct xdpvm_buff *buff)
{
	frame->meta = buff->data - buff->data_meta;
	frame->size = buff->data_end - buff->data_meta;
	memcpy(frame->bytes, buff->data_meta, frame->size);
}

bool
frame_equal(const struct frame *a, const struct frame *b)
{
	return (uint32_t)a->result == (uint32_t)b->result && a->meta == b->meta &&
	       a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}
