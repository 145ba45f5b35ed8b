/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCX3_WIRE_BATCH_H
#define VCX3_WIRE_BATCH_H

/* Frames that one system call brought, in line for the port. */

#include <string.h>

#include "wire.h"

#define VCX3_BATCH_MAX 1024

struct vcx3_batch {
	uint32_t first;
	uint32_t last;
	struct vcx3_frame frames[VCX3_BATCH_MAX];
};

static inline bool
vcx3_batch_is_empty(const struct vcx3_batch *batch)
{
	return batch->first == batch->last;
}

static inline bool
vcx3_batch_is_full(const struct vcx3_batch *batch)
{
	return batch->last == VCX3_BATCH_MAX;
}

static inline void
vcx3_batch_clear(struct vcx3_batch *batch)
{
	batch->first = 0;
	batch->last = 0;
}

static inline void
vcx3_batch_add(struct vcx3_batch *batch, const uint8_t *data, uint32_t len)
{
	batch->frames[batch->last++] = (struct vcx3_frame){.data = data, .len = len};
}

/*
 * Adds a frame of a host, which leaves to its card to pad it to the shortest
 * length of Ethernet; data has room for that.
 */
static inline void
vcx3_batch_add_padded(struct vcx3_batch *batch, uint8_t *data, uint32_t len)
{
	if (len < VCX3_WIRE_FRAME_MIN) {
		memset(data + len, 0, VCX3_WIRE_FRAME_MIN - len);
		len = VCX3_WIRE_FRAME_MIN;
	}
	vcx3_batch_add(batch, data, len);
}

static inline uint32_t
vcx3_batch_peek(const struct vcx3_batch *batch, struct vcx3_frame *frames, uint32_t n)
{
	uint32_t count = batch->last - batch->first;

	if (count > n)
		count = n;
	memcpy(frames, &batch->frames[batch->first], count * sizeof(*frames));
	return count;
}

/* Drops the first n frames and counts them for the wire. */
static inline void
vcx3_batch_consume(struct vcx3_batch *batch, struct vcx3_wire *wire, uint32_t n)
{
	wire->stats.rx_frames += n;
	for (; n > 0; n--)
		wire->stats.rx_bytes += batch->frames[batch->first++].len;
}

#endif /* VCX3_WIRE_BATCH_H */
