/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion queues (connectx3-device.md C.3, C.4, D.3 to D.5).
 */
#ifndef VCX3_CORE_CQ_H
#define VCX3_CORE_CQ_H

#include "core.h"

/** Arm commands, as in bits 25:24 of the doorbell. */
enum vcx3_cq_arm {
	VCX3_ARM_SOLICITED = 1,
	VCX3_ARM_NEXT = 2,
};

struct vcx3_cq_attr {
	struct vcx3_object buffer;
	struct vcx3_object record; /**< set_ci at byte 0, arm at byte 4 */
	uint8_t log_size; /**< of the number of entries */
	uint8_t cqe_size; /**< 32 or 64 */
	bool device_init; /**< write the owner bit of every entry now (SW2HW_CQ opmod 0) */
	bool timestamps; /**< clock in the CQEs instead of VLAN and rlid */
	bool ignore_overrun;
	bool arm_by_record; /**< watch the arm record; else only vcx3_cq_arm() arms */
	uint16_t moderation_count; /**< completions an event may wait for; 0, 1 = none */
	uint16_t moderation_us;
	uint32_t event_queue; /**< handed back with each event */
};

/** @return VCX3_BAD_INDEX (number beyond the table or in use), VCX3_BAD_PARAM (shape). */
enum vcx3_status vcx3_cq_create(struct vcx3_core *core, uint32_t cqn,
				const struct vcx3_cq_attr *attr);

/** @return VCX3_RESOURCE_BUSY while a QP or SRQ uses it. */
enum vcx3_status vcx3_cq_destroy(struct vcx3_core *core, uint32_t cqn);

/**
 * Moves a CQ to another buffer: a RESIZE CQE ends the old one, indices go on.
 *
 * @return VCX3_BAD_SIZE when the unread entries do not fit the new buffer.
 */
enum vcx3_status vcx3_cq_resize(struct vcx3_core *core, uint32_t cqn,
				const struct vcx3_object *buffer, uint8_t log_size,
				bool device_init);

enum vcx3_status vcx3_cq_moderate(struct vcx3_core *core, uint32_t cqn, uint16_t count,
				  uint16_t us);

enum vcx3_status vcx3_cq_query(const struct vcx3_core *core, uint32_t cqn,
			       struct vcx3_cq_attr *attr);

/**
 * The arm doorbell was written: a 64-bit store to UAR + 0x20.
 *
 * An unknown number is a violation in strict mode and else ignored.
 */
void vcx3_cq_arm(struct vcx3_core *core, uint32_t cqn, enum vcx3_cq_arm command, uint32_t ci,
		 uint8_t sn);

#endif
