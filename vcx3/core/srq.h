/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared receive queues: a linked list of WQEs that several QPs draw from
 * (connectx3-pci.md B.12).
 */
#ifndef VCX3_CORE_SRQ_H
#define VCX3_CORE_SRQ_H

#include "core.h"

struct vcx3_srq_attr {
	uint32_t pd;
	uint8_t log_count;
	uint8_t log_stride; /**< 5 (32 bytes: next segment and one data segment) or more */
	uint16_t limit; /**< event when fewer are left; 0 = none */
	struct vcx3_object buffer;
	struct vcx3_object record; /**< 16-bit count of WQEs ever posted */
};

enum vcx3_status vcx3_srq_create(struct vcx3_core *core, uint32_t srqn,
				 const struct vcx3_srq_attr *attr);
enum vcx3_status vcx3_srq_destroy(struct vcx3_core *core, uint32_t srqn);
enum vcx3_status vcx3_srq_arm(struct vcx3_core *core, uint32_t srqn, uint16_t limit);
enum vcx3_status vcx3_srq_query(const struct vcx3_core *core, uint32_t srqn,
				struct vcx3_srq_attr *attr);

#endif
