/* SPDX-License-Identifier: BSD-3-Clause */

/* A wire that takes every frame and brings none. */

#include <errno.h>
#include <stdlib.h>

#include "kinds.h"

struct sink {
	struct vcx3_wire wire;
	uint8_t room[VCX3_WIRE_FRAME_MAX];
};

static void *
sink_reserve(struct vcx3_wire *wire, uint32_t len)
{
	return ((struct sink *)wire)->room;
}

static void
sink_commit(struct vcx3_wire *wire, uint32_t len)
{
}

static void
sink_close(struct vcx3_wire *wire)
{
	free(wire);
}

static const struct vcx3_wire_ops sink_ops = {
	.tx_reserve = sink_reserve,
	.tx_commit = sink_commit,
	.close = sink_close,
};

VCX3_WIRE_OPEN(sink)
{
	*out = vcx3_wire_alloc(sizeof(struct sink), spec->kind, &sink_ops, env);
	return *out ? 0 : vcx3_wire_refuse(reason, size, ENOMEM, "wire sink: no memory");
}
