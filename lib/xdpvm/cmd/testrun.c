/* SPDX-License-Identifier: BSD-3-Clause */
/* See testrun.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <bpf/bpf.h>

#include "testrun.h"

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

uint64_t
thread_time_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* CPU time of repeat runs in nanoseconds, with what the call itself takes; or a negative errno. */
static int64_t
time_call(int prog_fd, const struct frame *frame, uint32_t repeat, uint32_t *whole_ns)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame->bytes, .data_size_in = frame->size,
		    .repeat = repeat);
	uint64_t start = thread_time_ns();

	if (bpf_prog_test_run_opts(prog_fd, &opts) < 0)
		return -errno;
	*whole_ns = opts.duration;
	return thread_time_ns() - start;
}

int
frame_time_kernel(int prog_fd, const struct frame *frame, uint32_t repeat, double *precise)
{
	/* The call patches the kernel's code before and after: that is in both and falls out. */
	uint32_t few = repeat / 10, whole_ns;
	int64_t short_ns = time_call(prog_fd, frame, few, &whole_ns);
	int64_t long_ns = short_ns < 0 ? short_ns : time_call(prog_fd, frame, repeat, &whole_ns);

	if (long_ns < 0)
		return long_ns;
	*precise = (double)(long_ns - short_ns) / (repeat - few);
	return whole_ns;
}

void
frame_place(const struct frame *frame, uint8_t *memory, struct xdpvm_packet *packet)
{
	memset(memory, 0, FRAME_SIZE);
	packet->hard_start = memory;
	packet->frame_end = memory + FRAME_SIZE - FRAME_TAIL;
	packet->data = memory + FRAME_HEADROOM;
	packet->data_meta = packet->data - frame->meta;
	packet->data_end = packet->data_meta + frame->size;
	memcpy(packet->data_meta, frame->bytes, frame->size);
}

void
frame_take(struct frame *frame, const struct xdpvm_packet *packet)
{
	frame->result = packet->action;
	frame->meta = packet->data - packet->data_meta;
	frame->size = packet->data_end - packet->data_meta;
	memcpy(frame->bytes, packet->data_meta, frame->size);
}

bool
frame_equal(const struct frame *a, const struct frame *b)
{
	return (uint32_t)a->result == (uint32_t)b->result && a->meta == b->meta &&
	       a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

void
frame_difference(const struct frame *a, const struct frame *b, char *text, size_t size)
{
	size_t at = snprintf(text, size, "result %u, %u bytes, %u of metadata against result %u, "
			     "%u bytes, %u of metadata", (uint32_t)a->result, a->size, a->meta,
			     (uint32_t)b->result, b->size, b->meta);

	for (uint32_t i = 0; i < a->size && i < b->size && at < size; i++) {
		if (a->bytes[i] == b->bytes[i])
			continue;
		snprintf(text + at, size - at, "; byte %u is %02x against %02x", i, a->bytes[i],
			 b->bytes[i]);
		break;
	}
}
