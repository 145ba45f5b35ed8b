/* SPDX-License-Identifier: BSD-3-Clause */

/* See ring.h. */

#include "ring.h"

#include <errno.h>
#include <stdlib.h>

/* Frames start on multiples of this, behind the length that takes as much. */
#define UNIT 16
/* Instead of a length: the next frame is at the start of the memory. */
#define MARKER UINT32_MAX

static uint32_t
record_size(uint32_t len)
{
	return UNIT + ((len + UNIT - 1) & ~(uint32_t)(UNIT - 1));
}

static uint8_t *
at(const struct vcx3_ring *ring, uint64_t position)
{
	return ring->memory + position % VCX3_RING_SIZE;
}

static uint32_t *
length_at(const struct vcx3_ring *ring, uint64_t position)
{
	return (uint32_t *)(void *)at(ring, position);
}

/* Bytes from position to the end of the memory. */
static uint32_t
to_end(uint64_t position)
{
	return VCX3_RING_SIZE - (uint32_t)(position % VCX3_RING_SIZE);
}

/* Position of the record at or after position, past a marker. */
static uint64_t
skip_marker(const struct vcx3_ring *ring, uint64_t position)
{
	if (position != ring->write && *length_at(ring, position) == MARKER)
		return position + to_end(position);
	return position;
}

int
vcx3_ring_init(struct vcx3_ring *ring)
{
	ring->write = 0;
	ring->read = 0;
	ring->memory = aligned_alloc(64, VCX3_RING_SIZE);
	return ring->memory ? 0 : -ENOMEM;
}

void
vcx3_ring_free(struct vcx3_ring *ring)
{
	free(ring->memory);
}

void *
vcx3_ring_reserve(struct vcx3_ring *ring, uint32_t len)
{
	uint32_t need = record_size(len);
	uint32_t end = to_end(ring->write);
	uint64_t used = ring->write - ring->read;

	if (need > end) {
		if (used + end + need > VCX3_RING_SIZE)
			return NULL;
		*length_at(ring, ring->write) = MARKER;
		ring->write += end;
	} else if (used + need > VCX3_RING_SIZE) {
		return NULL;
	}
	return at(ring, ring->write) + UNIT;
}

void
vcx3_ring_commit(struct vcx3_ring *ring, uint32_t len)
{
	*length_at(ring, ring->write) = len;
	ring->write += record_size(len);
}

uint32_t
vcx3_ring_peek(const struct vcx3_ring *ring, struct vcx3_frame *frames, uint32_t n)
{
	uint64_t position = skip_marker(ring, ring->read);
	uint32_t count = 0;

	while (count < n && position != ring->write) {
		uint32_t len = *length_at(ring, position);

		frames[count++] = (struct vcx3_frame){
			.data = at(ring, position) + UNIT,
			.len = len,
		};
		position = skip_marker(ring, position + record_size(len));
	}
	return count;
}

uint64_t
vcx3_ring_consume(struct vcx3_ring *ring, uint32_t n)
{
	uint64_t bytes = 0;

	while (n-- > 0) {
		uint64_t position = skip_marker(ring, ring->read);
		uint32_t len = *length_at(ring, position);

		bytes += len;
		ring->read = position + record_size(len);
	}
	return bytes;
}
