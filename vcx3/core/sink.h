/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the device tells its front end. Called with the front end's lock held, from the
 * thread that runs the engine or the command; must not call back into the core.
 */
#ifndef VCX3_CORE_SINK_H
#define VCX3_CORE_SINK_H

#include <stdbool.h>
#include <stdint.h>

/** Asynchronous events by their code in an event queue entry (connectx3-pci.md B.8). */
enum vcx3_event {
	VCX3_EVENT_SQ_DRAINED = 0x03,
	VCX3_EVENT_CQ_ERROR = 0x04, /**< number: CQN; syndrome 1 = overrun */
	VCX3_EVENT_WQ_CATASTROPHIC = 0x05, /**< number: QPN */
	VCX3_EVENT_INVALID_REQUEST = 0x10, /**< number: QPN */
	VCX3_EVENT_ACCESS_ERROR = 0x11, /**< number: QPN */
	VCX3_EVENT_SRQ_CATASTROPHIC = 0x12, /**< number: SRQN */
	VCX3_EVENT_SRQ_LIMIT = 0x14, /**< number: SRQN */
};

/** A broken rule of strict mode (strict.h). */
struct vcx3_violation {
	const char *rule; /**< name in VCX3_RULES */
	const char *sentence; /**< what the rule asks, with the fact it rests on */
	const char *object; /**< "qp", "cq", "srq", "mpt" or "port" */
	uint32_t number;
	uint32_t words[8]; /**< the offending words, in CPU byte order */
	uint32_t nb_words;
};

struct vcx3_sink {
	/** A CQ that was armed has something. @p event_queue as given at creation. */
	void (*completion)(void *ctx, uint32_t cqn, uint32_t event_queue);
	void (*async)(void *ctx, enum vcx3_event event, uint32_t number, uint8_t syndrome);
	/** The link of a port (1 or 2) has changed. */
	void (*port_change)(void *ctx, unsigned int port, bool up);
	/** The device is gone for good until reset. */
	void (*fatal)(void *ctx, const char *reason);
	void (*violation)(void *ctx, const struct vcx3_violation *violation);
	/** A frame that no rule takes: the kernel's netdev may. @return whether it did. */
	bool (*unclaimed)(void *ctx, unsigned int port, const uint8_t *data, uint32_t len);
};

#endif
