/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One virtual ConnectX-3: the hardware objects behind any front end.
 *
 * Not thread safe: every call is made under the front end's lock (runner.h). Nothing
 * here blocks, prints, or keeps state outside the instance. Numbers (QPN, CQN, keys)
 * are chosen by the caller, as the driver of a real card chooses them.
 */
#ifndef VCX3_CORE_CORE_H
#define VCX3_CORE_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory.h"
#include "sink.h"
#include "status.h"

#define VCX3_MAX_PORTS 2
#define VCX3_CLOCK_KHZ 427000 /* connectx3-device.md B.4 */

struct vcx3_core;

enum vcx3_device {
	VCX3_CX3, /**< 15b3:1003 */
	VCX3_CX3_PRO, /**< 15b3:1007: also inner checksums and tunnel bits */
	VCX3_VF, /**< 15b3:1004: also loopback to its own port by destination MAC */
};

struct vcx3_core_config {
	enum vcx3_device device;
	unsigned int ports; /**< 1 or 2 */
	uint32_t speed_mbps; /**< of every port; 0 = 40000 */
	uint32_t mtu; /**< of every port, without Ethernet header; 0 = 1500 */
	uint8_t log_max_qp; /**< 0 = 19 */
	uint8_t log_max_cq; /**< 0 = 16 */
	uint8_t log_max_srq; /**< 0 = 16 */
	uint8_t log_max_mpt; /**< 0 = 19 */
	bool strict; /**< check what silicon needs (strict.h) */
	bool vlan_insert; /**< obey ins_vlan (connectx3-device.md V.2-5) */
	bool cold_cqe; /**< flush completion lines after writing them */
	bool cold_data; /**< flush data lines after writing them */
	const struct vcx3_memory_ops *memory_ops; /**< NULL: objects hold addresses of this process */
	void *memory_ctx;
	const struct vcx3_sink *sink; /**< any callback may be NULL */
	void *sink_ctx;
	uint64_t (*now_ns)(void *ctx); /**< NULL: CLOCK_MONOTONIC */
	void *now_ctx;
	const char *const *commands; /**< names for command faults, NULL at the end; NULL: any */
};

/**
 * Makes a device without objects; its ports have no wire and carrier.
 *
 * @return 0, -EINVAL (number of ports or a size out of range) or -ENOMEM.
 */
int vcx3_core_create(const struct vcx3_core_config *config, struct vcx3_core **core);

/** Frees the device and all of its objects; the wires stay with their owner. */
void vcx3_core_destroy(struct vcx3_core *core);

/** Destroys all objects, as the reset register does; ports keep wire and MAC. */
void vcx3_core_reset(struct vcx3_core *core);

/**
 * Runs the engine for one slice: every live queue and wire gets its turn.
 *
 * @return the number of frames moved and events fired; 0 = nothing to do now.
 */
unsigned int vcx3_core_run(struct vcx3_core *core);

/**
 * The receive buffers that software has posted and the device has not taken, segment by segment,
 * in the order of each ring. Shared receive queues are left out.
 *
 * @param[out] addresses
 *   Those of the first max segments, as they stand in the WQEs.
 * @return the number of segments, also when it exceeds max.
 */
size_t vcx3_core_posted(struct vcx3_core *core, uint64_t *addresses, size_t max);

/** Tells the core that translations of its memory have become void. */
void vcx3_core_memory_changed(struct vcx3_core *core);

/** The device clock, VCX3_CLOCK_KHZ, 48 bits of it significant. */
uint64_t vcx3_core_clock(const struct vcx3_core *core);

/** Nanoseconds of the clock that was given at creation. */
uint64_t vcx3_core_now_ns(const struct vcx3_core *core);

/** True after the fatal event. */
bool vcx3_core_is_dead(const struct vcx3_core *core);

/** Stops the engine for good and raises the fatal event. */
void vcx3_core_die(struct vcx3_core *core, const char *reason);

#endif
