/* SPDX-License-Identifier: BSD-3-Clause */

/* A wire that offers one frame at a time and takes whatever the card sends. */

#ifndef TESTS_FUZZ_ONE_FRAME_H
#define TESTS_FUZZ_ONE_FRAME_H

#include "wire/wire.h"

struct one_frame_wire {
	struct vcx3_wire wire;		/* first: the operations get its address */
	struct vcx3_frame frame;	/* data NULL: there is none */
	uint8_t room[VCX3_WIRE_FRAME_MAX];
};

static uint32_t
one_frame_peek(struct vcx3_wire *wire, struct vcx3_frame *frames, uint32_t n)
{
	frames[0] = ((struct one_frame_wire *)wire)->frame;
	return frames[0].data != NULL;
}

static void
one_frame_consume(struct vcx3_wire *wire, uint32_t n)
{
	((struct one_frame_wire *)wire)->frame.data = NULL;
}

static void *
one_frame_reserve(struct vcx3_wire *wire, uint32_t len)
{
	struct one_frame_wire *self = (struct one_frame_wire *)wire;

	return len <= sizeof(self->room) ? self->room : NULL;
}

static void
one_frame_commit(struct vcx3_wire *wire, uint32_t len)
{
}

static inline void
one_frame_init(struct one_frame_wire *self)
{
	static const struct vcx3_wire_ops ops = {
		.rx_peek = one_frame_peek,
		.rx_consume = one_frame_consume,
		.tx_reserve = one_frame_reserve,
		.tx_commit = one_frame_commit,
	};

	self->wire = (struct vcx3_wire){ .ops = &ops, .carrier = true, .kind = VCX3_WIRE_UNIX };
	self->frame.data = NULL;
}

#endif /* TESTS_FUZZ_ONE_FRAME_H */
