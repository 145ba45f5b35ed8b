/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCX3_WIRE_RING_H
#define VCX3_WIRE_RING_H

/*
 * Frames in flight inside one process: a byte ring in which each frame lies
 * contiguous behind its length. One thread; positions count up and never wrap.
 */

#include "wire.h"

/* Small enough to stay in a second-level cache, room for 16 of the longest frames. */
#define VCX3_RING_SIZE (256 * 1024)

struct vcx3_ring {
	uint64_t write;
	uint64_t read;
	uint8_t *memory;
};

/* 0 or -ENOMEM. */
int vcx3_ring_init(struct vcx3_ring *ring);
void vcx3_ring_free(struct vcx3_ring *ring);

/* Room for a frame of len bytes, or NULL. */
void *vcx3_ring_reserve(struct vcx3_ring *ring, uint32_t len);
void vcx3_ring_commit(struct vcx3_ring *ring, uint32_t len);

/* Fills data and len of up to n frames. */
uint32_t vcx3_ring_peek(const struct vcx3_ring *ring, struct vcx3_frame *frames, uint32_t n);

/* Drops the first n frames and returns their bytes. */
uint64_t vcx3_ring_consume(struct vcx3_ring *ring, uint32_t n);

#endif /* VCX3_WIRE_RING_H */
