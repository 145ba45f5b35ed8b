/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCX3_WIRE_PLAYER_H
#define VCX3_WIRE_PLAYER_H

/*
 * A source that brings the frames of a list in turn, over and over, until a
 * number of them has gone. The list is made when the wire opens; showing frames
 * copies descriptions only.
 */

#include "wire.h"

struct vcx3_player {
	const struct vcx3_frame *frames;
	uint32_t length;	/* of the list */
	uint32_t next;		/* first in line */
	uint64_t left;		/* frames still to bring; UINT64_MAX: without end */
	bool held;
};

uint32_t vcx3_player_peek(const struct vcx3_player *player, struct vcx3_frame *frames, uint32_t n);

/* Drops the first n frames and returns their bytes. */
uint64_t vcx3_player_consume(struct vcx3_player *player, uint32_t n);

#endif /* VCX3_WIRE_PLAYER_H */
