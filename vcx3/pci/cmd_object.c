/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands about event queues, memory keys, completion queues and shared receive
 * queues: contexts of the driver turned into the core's attributes.
 */
#include "../core/cq.h"
#include "../core/mpt.h"
#include "../core/srq.h"
#include "be.h"
#include "cmd.h"

#define NUMBER_MASK 0xffffff
#define MAP_EQ_UNMAP (1U << 31)

#define MPT_PHYSICAL (1U << 9)
#define MPT_REGION (1U << 8)
#define MPT_LOCAL_WRITE (1U << 11)
#define MPT_LOG_PAGE_MAX 31

#define CQ_OVERRUN_IGNORE (1U << 17)
#define CQ_COLLAPSED (1U << 18)
#define CQ_TIMESTAMP (1U << 19)
#define LOG_PAGE_MAX 30

static bool
is_log_page(uint32_t log_page)
{
	return log_page >= 12 && log_page <= LOG_PAGE_MAX;
}

/* The page table of a context: 40 bits of address, at the same place in most of them. */
static uint64_t
mtt_address(const uint8_t *context, uint32_t high)
{
	return (uint64_t)context[high] << 32 | be32_at(context, high + 1);
}

enum vcx3_status
vcx3_cmd_sw2hw_eq(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	return vcx3_eq_create(&pci->eqs, cmd->modifier, cmd->in);
}

enum vcx3_status
vcx3_cmd_hw2sw_eq(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	return vcx3_eq_destroy(&pci->eqs, cmd->modifier & NUMBER_MASK);
}

enum vcx3_status
vcx3_cmd_map_eq(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	return vcx3_eq_route(&pci->eqs, cmd->modifier & ~MAP_EQ_UNMAP, cmd->in_param,
			     (cmd->modifier & MAP_EQ_UNMAP) != 0);
}

enum vcx3_status
vcx3_cmd_sw2hw_mpt(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	const uint8_t *context = cmd->in;
	uint32_t flags = be32_at(context, 0x00), log_page = be32_at(context, 0x38);
	struct vcx3_mpt_attr attr = {
		.pd = be32_at(context, 0x0c) & NUMBER_MASK,
		.access = (flags & MPT_LOCAL_WRITE) != 0 ? VCX3_ACCESS_LOCAL_WRITE : 0,
		.start = be64_at(context, 0x10),
		.length = be64_at(context, 0x18),
	};

	if ((flags & MPT_REGION) == 0) /* a memory window */
		return VCX3_BAD_OP;
	if ((flags & MPT_PHYSICAL) != 0) {
		attr.object = vcx3_dma_object(attr.start);
	} else {
		if (log_page < 12 || log_page > MPT_LOG_PAGE_MAX)
			return VCX3_BAD_PARAM;
		attr.object = vcx3_icm_object(mtt_address(context, 0x2f), (uint8_t)log_page,
					      attr.start & ((UINT64_C(1) << log_page) - 1));
	}
	/* The modifier is the index modulo the table; the context has it whole. */
	return vcx3_mpt_create(pci->core, vcx3_mpt_key(be32_at(context, 0x08)), &attr);
}

enum vcx3_status
vcx3_cmd_hw2sw_mpt(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	cmd->out_size = 0;
	return vcx3_mpt_destroy(pci->core, vcx3_mpt_key(cmd->modifier));
}

enum vcx3_status
vcx3_cmd_sync_tpt(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	vcx3_pci_memory_changed(pci);
	return VCX3_OK;
}

enum vcx3_status
vcx3_cmd_sw2hw_cq(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	const uint8_t *context = cmd->in;
	uint32_t flags = be32_at(context, 0x00), log_page = (context[0x18] & 0x3f) + 12;
	struct vcx3_cq_attr attr = {
		.record = vcx3_dma_object(be64_at(context, 0x38)),
		.log_size = context[0x0c] & 0x1f,
		.cqe_size = pci->cqe_size,
		.device_init = cmd->opmod == 0,
		.timestamps = (flags & CQ_TIMESTAMP) != 0,
		.ignore_overrun = (flags & CQ_OVERRUN_IGNORE) != 0,
		.moderation_us = be16_at(context, 0x10),
		.moderation_count = be16_at(context, 0x12),
		.event_queue = context[0x17],
	};

	if (!is_log_page(log_page) || (flags & CQ_COLLAPSED) != 0)
		return VCX3_BAD_PARAM;
	attr.buffer = vcx3_icm_object(mtt_address(context, 0x1b), (uint8_t)log_page, 0);
	return vcx3_cq_create(pci->core, cmd->modifier & NUMBER_MASK, &attr);
}

enum vcx3_status
vcx3_cmd_hw2sw_cq(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	return vcx3_cq_destroy(pci->core, cmd->modifier & NUMBER_MASK);
}

enum vcx3_status
vcx3_cmd_modify_cq(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	const uint8_t *context = cmd->in;
	uint32_t cqn = cmd->modifier & NUMBER_MASK, log_page = (context[0x18] & 0x3f) + 12;
	struct vcx3_object buffer;

	if (cmd->opmod == 1)
		return vcx3_cq_moderate(pci->core, cqn, be16_at(context, 0x12),
					be16_at(context, 0x10));
	if (cmd->opmod != 0 || !is_log_page(log_page))
		return VCX3_BAD_PARAM;
	buffer = vcx3_icm_object(mtt_address(context, 0x1b), (uint8_t)log_page, 0);
	return vcx3_cq_resize(pci->core, cqn, &buffer, context[0x0c] & 0x1f, true);
}

enum vcx3_status
vcx3_cmd_sw2hw_srq(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	const uint8_t *context = cmd->in;
	uint32_t log_page = (context[0x10] & 0x3f) + 12;
	struct vcx3_srq_attr attr = {
		.pd = be32_at(context, 0x18) & NUMBER_MASK,
		.log_count = context[0x00] & 0xf,
		.log_stride = (context[0x04] & 7) + 4,
		.limit = be16_at(context, 0x1c),
		.record = vcx3_dma_object(be64_at(context, 0x28)),
	};

	if (!is_log_page(log_page))
		return VCX3_BAD_PARAM;
	attr.buffer = vcx3_icm_object(mtt_address(context, 0x13), (uint8_t)log_page, 0);
	return vcx3_srq_create(pci->core, cmd->modifier & NUMBER_MASK, &attr);
}

enum vcx3_status
vcx3_cmd_hw2sw_srq(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	return vcx3_srq_destroy(pci->core, cmd->modifier & NUMBER_MASK);
}

enum vcx3_status
vcx3_cmd_query_srq(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	struct vcx3_srq_attr attr;
	uint32_t srqn = cmd->modifier & NUMBER_MASK;
	enum vcx3_status status = vcx3_srq_query(pci->core, srqn, &attr);

	if (status != VCX3_OK)
		return status;
	put_be32(cmd->out, 0x00, (uint32_t)attr.log_count << 24 | srqn);
	cmd->out[0x04] = attr.log_stride - 4;
	put_be32(cmd->out, 0x18, attr.pd);
	put_be16(cmd->out, 0x1c, attr.limit);
	return VCX3_OK;
}

enum vcx3_status
vcx3_cmd_arm_srq(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	return vcx3_srq_arm(pci->core, cmd->modifier & NUMBER_MASK, (uint16_t)cmd->in_param);
}
