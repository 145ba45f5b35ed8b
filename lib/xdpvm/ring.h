/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ring of records of any size, with the rules of Linux's BPF ring buffer: several writers reserve
 * under a short lock and fill in parallel, one reader takes the records in order. The memory is
 * mapped twice in a row, so that a record never has to be split.
 */
#ifndef XDPVM_RING_H
#define XDPVM_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "xdpvm_events.h"

struct xdpvm_ring {
	uint32_t lock;		/* writers that reserve */
	uint32_t reading;	/* 1: somebody reads */
	uint64_t consumer;	/* bytes since the start; positions never wrap */
	uint64_t producer;
	uint64_t pending;	/* the oldest record that is not committed begins here or later */
	uint64_t size;		/* bytes, power of two, whole pages */
	uint8_t *data;
};

/* 0 or -ENOMEM. */
int xdpvm_ring_init(struct xdpvm_ring *ring, uint64_t size);
void xdpvm_ring_fini(struct xdpvm_ring *ring);

/* Room for size bytes, 8-byte aligned; NULL when there is none. */
void *xdpvm_ring_reserve(struct xdpvm_ring *ring, uint64_t size);

/* Makes a reserved record visible, or void. */
void xdpvm_ring_commit(void *record, bool discard);

/* See xdpvm_ringbuf_read(). */
int xdpvm_ring_read(struct xdpvm_ring *ring, xdpvm_record_fn record, void *arg, unsigned int limit);

#endif /* XDPVM_RING_H */
