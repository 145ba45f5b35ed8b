/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Cables inside one card: peer joins the two ports, self plugs a port into
 * itself. Each end owns the ring of the frames that travel towards it.
 */

#include <errno.h>
#include <stdlib.h>

#include "kinds.h"
#include "ring.h"

struct peer {
	struct vcx3_wire wire;
	struct peer *other;	/* self: this end; NULL: unplugged by closing */
	struct vcx3_ring arriving;
	uint8_t lost[VCX3_WIRE_FRAME_MAX];	/* room for frames to a closed end */
};

static uint32_t
peer_peek(struct vcx3_wire *wire, struct vcx3_frame *frames, uint32_t n)
{
	return vcx3_ring_peek(&((struct peer *)wire)->arriving, frames, n);
}

static void
peer_consume(struct vcx3_wire *wire, uint32_t n)
{
	wire->stats.rx_frames += n;
	wire->stats.rx_bytes += vcx3_ring_consume(&((struct peer *)wire)->arriving, n);
}

static void *
peer_reserve(struct vcx3_wire *wire, uint32_t len)
{
	struct peer *peer = (struct peer *)wire;
	void *room;

	if (peer->other == NULL)
		return peer->lost;
	room = vcx3_ring_reserve(&peer->other->arriving, len);
	if (room == NULL)
		wire->stats.tx_full++;
	return room;
}

static void
peer_commit(struct vcx3_wire *wire, uint32_t len)
{
	struct peer *peer = (struct peer *)wire;

	if (peer->other == NULL)
		wire->stats.tx_dropped++;
	else
		vcx3_ring_commit(&peer->other->arriving, len);
}

static void
peer_set_link(struct vcx3_wire *wire, bool up)
{
	struct peer *peer = (struct peer *)wire;

	if (peer->other != NULL && peer->other != peer)
		peer->other->wire.carrier = up;
}

static void
peer_close(struct vcx3_wire *wire)
{
	struct peer *peer = (struct peer *)wire;

	if (peer->other != NULL && peer->other != peer) {
		peer->other->wire.carrier = false;
		peer->other->other = NULL;
	}
	vcx3_ring_free(&peer->arriving);
	free(peer);
}

static const struct vcx3_wire_ops peer_ops = {
	.rx_peek = peer_peek,
	.rx_consume = peer_consume,
	.tx_reserve = peer_reserve,
	.tx_commit = peer_commit,
	.set_link = peer_set_link,
	.close = peer_close,
};

static struct peer *
new_end(enum vcx3_wire_kind kind, const struct vcx3_wire_env *env)
{
	struct peer *peer = vcx3_wire_alloc(sizeof(*peer), kind, &peer_ops, env);

	if (peer != NULL && vcx3_ring_init(&peer->arriving) != 0) {
		free(peer);
		return NULL;
	}
	return peer;
}

int
vcx3_peer_open(const struct vcx3_wire_env env[2], struct vcx3_wire *out[2],
	char *reason, size_t size)
{
	struct peer *one = new_end(VCX3_WIRE_PEER, &env[0]);
	struct peer *two = one != NULL ? new_end(VCX3_WIRE_PEER, &env[1]) : NULL;

	if (two == NULL) {
		if (one != NULL)
			peer_close(&one->wire);
		return vcx3_wire_refuse(reason, size, ENOMEM, "wire peer: no memory");
	}
	one->other = two;
	two->other = one;
	out[0] = &one->wire;
	out[1] = &two->wire;
	return 0;
}

VCX3_WIRE_OPEN(self)
{
	struct peer *peer = new_end(spec->kind, env);

	if (peer == NULL)
		return vcx3_wire_refuse(reason, size, ENOMEM, "wire self: no memory");
	peer->other = peer;
	*out = &peer->wire;
	return 0;
}
