/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Event queues: rings in the guest's memory that the device writes and an interrupt
 * announces (connectx3-pci.md B.8).
 */
#ifndef VCX3_PCI_EQ_H
#define VCX3_PCI_EQ_H

#include <stdbool.h>
#include <stdint.h>

#include "../core/memory.h"
#include "../core/status.h"
#include "irq.h"

#define VCX3_LOG_EQS 7
#define VCX3_EQS (1U << VCX3_LOG_EQS)
#define VCX3_EVENT_TYPES 64
#define VCX3_NO_EQ UINT32_MAX

/** Types of events that come from the front end itself. */
enum vcx3_eqe_type {
	VCX3_EQE_COMPLETION = 0x00,
	VCX3_EQE_PORT_CHANGE = 0x09,
	VCX3_EQE_COMMAND = 0x0a,
};

struct vcx3_eq {
	bool live;
	bool armed;
	uint8_t log_size;
	uint32_t producer;
	uint32_t consumer;
	uint32_t vector;
	uint64_t lost; /* events that found the queue full or its memory gone */
	struct vcx3_map map;
	uint8_t context[64]; /* as the driver gave it */
};

struct vcx3_eqs {
	struct vcx3_eq table[VCX3_EQS];
	uint32_t by_type[VCX3_EVENT_TYPES]; /* async events; VCX3_NO_EQ: not wanted */
	uint8_t eqe_size; /* 32 or 64 */
	struct vcx3_irqs *irqs;
	const struct vcx3_memory *memory;
};

/** One event: its type, subtype and what stands at bytes 4 to 30 of the entry. */
struct vcx3_eqe {
	uint8_t type;
	uint8_t subtype;
	uint8_t data[27];
};

void vcx3_eqs_init(struct vcx3_eqs *eqs, struct vcx3_irqs *irqs, const struct vcx3_memory *memory);

/** Destroys all queues. */
void vcx3_eqs_clear(struct vcx3_eqs *eqs);

/** SW2HW_EQ: context as in B.8; writes the owner of every entry. */
enum vcx3_status vcx3_eq_create(struct vcx3_eqs *eqs, uint32_t eqn, const uint8_t *context);

enum vcx3_status vcx3_eq_destroy(struct vcx3_eqs *eqs, uint32_t eqn);

/** MAP_EQ: sends the event types of a bit mask to a queue, or to none. */
enum vcx3_status vcx3_eq_route(struct vcx3_eqs *eqs, uint32_t eqn, uint64_t mask, bool unmap);

/** The queue's doorbell: consumer index, and whether the next event interrupts. */
void vcx3_eq_doorbell(struct vcx3_eqs *eqs, uint32_t eqn, uint32_t value);

/** Writes an event into one queue. */
void vcx3_eq_push(struct vcx3_eqs *eqs, uint32_t eqn, const struct vcx3_eqe *event);

/** Writes an asynchronous event into the queue of its type; nowhere if it has none. */
void vcx3_eq_push_async(struct vcx3_eqs *eqs, const struct vcx3_eqe *event);

#endif
