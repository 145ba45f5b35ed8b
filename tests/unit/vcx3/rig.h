/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A core on a bench: flat memory, wires that a test fills and reads, a recording sink,
 * and a plain driver for CQs, send and receive queues. Nothing here is shared with the
 * core but its public headers.
 */
#ifndef VCX3_TEST_RIG_H
#define VCX3_TEST_RIG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "core/counters.h"
#include "core/cq.h"
#include "core/fault.h"
#include "core/mpt.h"
#include "core/port.h"
#include "core/qp.h"
#include "core/srq.h"
#include "core/steer.h"
#include "core/strict.h"
#include "wire/wire.h"

#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			exit(1); \
		} \
	} while (0)

#define CHECK_EQUAL(a, b) \
	do { \
		unsigned long long a_ = (a), b_ = (b); \
		if (a_ != b_) { \
			fprintf(stderr, "%s:%d: %s is %#llx, %s is %#llx\n", __FILE__, __LINE__, \
				#a, a_, #b, b_); \
			exit(1); \
		} \
	} while (0)

#define RIG_PD 7
#define RIG_ARENA (64u << 20)
#define RIG_EVENTS 4096
#define RIG_WIRE_FRAMES 8192

/* A wire with a list of frames each way. */
struct rig_wire {
	struct vcx3_wire wire;
	struct rig_frame {
		uint8_t *data;
		uint32_t len;
		uint32_t flow_id;
	} rx[RIG_WIRE_FRAMES], tx[RIG_WIRE_FRAMES];
	uint32_t rx_head, rx_tail, tx_head, tx_tail;
	uint32_t tx_room; /* frames that fit until it is full */
	bool discards; /* keeps no sent frame: for benchmarks */
	uint8_t reserve[VCX3_WIRE_FRAME_MAX];
};

struct rig_event {
	char kind; /* 'c'ompletion, 'a'sync, 'p'ort, 'f'atal */
	uint32_t what; /* async: event; port: up; completion: event queue */
	uint32_t number;
	uint32_t syndrome;
};

struct rig {
	struct vcx3_core *core;
	struct rig_wire wires[2];
	uint8_t *arena;
	uint32_t used;
	uint32_t lkey; /* of the whole arena, writable */
	uint64_t now_ns;
	struct rig_event events[RIG_EVENTS];
	unsigned int nb_events;
	struct vcx3_violation last_violation;
};

struct rig_cq {
	uint8_t *buffer;
	uint8_t *record;
	uint32_t cqn, count, size, ci;
};

struct rig_cqe {
	uint32_t qpn, flags, hash, status, byte_count;
	uint16_t tci, wqe_index, checksum;
	uint8_t opcode, syndrome; /* opcode without owner */
	uint64_t timestamp;
};

struct rig_qp {
	uint8_t *sq, *rq, *record;
	uint32_t qpn;
	uint32_t sq_count, sq_shift, sq_head;
	uint32_t rq_count, rq_shift, rq_posted;
};

/* Tries config (ports 0 = 2) and opens both ports. */
void rig_create(struct rig *rig, const struct vcx3_core_config *config);
/* Checks the census after destroying nothing: the core frees what is left. */
void rig_destroy(struct rig *rig);
/* Zeroed memory from the arena, 64-byte aligned. */
uint8_t *rig_alloc(struct rig *rig, uint32_t size);
/* Runs slices until nothing moves. */
void rig_run(struct rig *rig);
unsigned int rig_count_events(const struct rig *rig, char kind, uint32_t what, uint32_t number);

void rig_push(struct rig *rig, unsigned int port, const void *data, uint32_t len,
	      uint32_t flow_id);
/* The next sent frame, or NULL; the caller frees it. */
uint8_t *rig_pop(struct rig *rig, unsigned int port, uint32_t *len);

void rig_cq(struct rig *rig, struct rig_cq *cq, uint32_t cqn, unsigned int log,
	    const struct vcx3_cq_attr *extra);
/* Takes one completion and writes set_ci. */
bool rig_poll(struct rig_cq *cq, struct rig_cqe *cqe);

/* Makes a QP and brings it to RTS; log sizes < 0 leave a queue out. */
void rig_qp(struct rig *rig, struct rig_qp *qp, uint32_t qpn, uint32_t cqn, int log_sq, int log_rq,
	    unsigned int sges, const struct vcx3_qp_attr *extra);
void rig_post_recv(struct rig_qp *qp, uint32_t lkey, void *address, uint32_t len);

/* Builds a send WQE: fill in segments, then hand it over. */
struct rig_wqe {
	uint8_t bytes[1024];
	uint32_t size;
};
void rig_wqe_start(struct rig_wqe *wqe);
void rig_wqe_data(struct rig_wqe *wqe, uint32_t lkey, const void *address, uint32_t len);
void rig_wqe_inline(struct rig_wqe *wqe, const void *data, uint32_t len);
void rig_wqe_lso(struct rig_wqe *wqe, uint32_t mss, const void *header, uint32_t len);
void rig_post_send(struct rig_qp *qp, struct rig_wqe *wqe, uint32_t opcode, uint32_t flags);
/* Stamps slots that a completion has freed. */
void rig_stamp(struct rig_qp *qp, uint32_t index, uint32_t strides);

uint64_t rig_rule_mac(struct rig *rig, unsigned int port, const uint8_t mac[6], uint32_t qpn,
		      uint16_t priority);
uint64_t rig_rule_default(struct rig *rig, unsigned int port, enum vcx3_rule_type type,
			  uint32_t qpn);

/* A repeatable random number. */
uint32_t rig_random(uint64_t *state);

static inline void
rig_be16(void *at, uint16_t value)
{
	uint8_t *byte = at;

	byte[0] = value >> 8;
	byte[1] = value;
}

static inline void
rig_be32(void *at, uint32_t value)
{
	rig_be16(at, value >> 16);
	rig_be16((uint8_t *)at + 2, value);
}

static inline void
rig_be64(void *at, uint64_t value)
{
	rig_be32(at, value >> 32);
	rig_be32((uint8_t *)at + 4, value);
}

static inline uint32_t
rig_get32(const void *at)
{
	const uint8_t *byte = at;

	return (uint32_t)byte[0] << 24 | byte[1] << 16 | byte[2] << 8 | byte[3];
}

static inline uint16_t
rig_get16(const void *at)
{
	const uint8_t *byte = at;

	return byte[0] << 8 | byte[1];
}

#endif
