/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands about queue pairs. Rings, CQs and the RSS context are taken at RST2INIT only:
 * later transitions of the IB driver carry zeros there (connectx3-pci.md B.11).
 */
#include <stdlib.h>
#include <string.h>

#include "../core/qp.h"
#include "be.h"
#include "cmd.h"

#define QPN_MASK 0xffffff
#define QPC 8 /* the context's place in the mailbox */
#define QPC_SIZE 0xf8

/* Offsets in the context. */
#define QPC_FLAGS 0x00
#define QPC_PD 0x04
#define QPC_RQ 0x09
#define QPC_SQ 0x0a
#define QPC_UAR 0x0c
#define QPC_SCHED_QUEUE 0x38 /* in the primary path at 18 */
#define QPC_RSS_BASE 0x3c
#define QPC_RSS_DEFAULT 0x40
#define QPC_RSS_FUNCTION 0x46
#define QPC_RSS_FLAGS 0x47
#define QPC_RSS_KEY 0x48
#define QPC_SEND_CQN 0x7c
#define QPC_RECV_CQN 0x9c
#define QPC_RECORD 0xa0
#define QPC_SRQN 0xac
#define QPC_PARAM3 0xc0
#define QPC_LOG_PAGE 0xc8
#define QPC_MTT_HIGH 0xcb
#define QPC_MTT_LOW 0xcc

#define FLAGS_RSS (1U << 13)
#define STATE_SHIFT 28
#define SQ_NO_PREFETCH 0x80
#define SRQ_USED (1U << 24)
#define PARAM3_KEEP_VLAN (1U << 30)
#define PARAM3_FCS (1U << 29)
#define LOG_PAGE_MAX 30

#define LOG_LEAF 9
#define LEAF_SIZE (1U << LOG_LEAF)
#define LEAVES ((QPN_MASK + 1) >> LOG_LEAF)

struct vcx3_qpc_table {
	uint8_t (*leaves[LEAVES])[QPC_SIZE];
};

struct vcx3_qpc_table *
vcx3_qpc_table_create(void)
{
	return calloc(1, sizeof(struct vcx3_qpc_table));
}

void
vcx3_qpc_table_clear(struct vcx3_qpc_table *table)
{
	uint32_t i;

	for (i = 0; i < LEAVES; i++) {
		free(table->leaves[i]);
		table->leaves[i] = NULL;
	}
}

void
vcx3_qpc_table_destroy(struct vcx3_qpc_table *table)
{
	if (table == NULL)
		return;
	vcx3_qpc_table_clear(table);
	free(table);
}

/* The place of a context; NULL when it has never been given. */
static uint8_t *
find_context(const struct vcx3_qpc_table *table, uint32_t qpn)
{
	uint8_t (*leaf)[QPC_SIZE] = table->leaves[(qpn & QPN_MASK) >> LOG_LEAF];

	return leaf != NULL ? leaf[qpn & (LEAF_SIZE - 1)] : NULL;
}

static bool
keep_context(struct vcx3_qpc_table *table, uint32_t qpn, const uint8_t *context)
{
	uint32_t leaf = (qpn & QPN_MASK) >> LOG_LEAF;

	if (table->leaves[leaf] == NULL)
		table->leaves[leaf] = calloc(LEAF_SIZE, QPC_SIZE);
	if (table->leaves[leaf] == NULL)
		return false;
	memcpy(table->leaves[leaf][qpn & (LEAF_SIZE - 1)], context, QPC_SIZE);
	return true;
}

uint32_t
vcx3_qpc_uar(const struct vcx3_qpc_table *table, uint32_t qpn)
{
	const uint8_t *context = find_context(table, qpn);

	return context != NULL ? be32_at(context, QPC_UAR) & QPN_MASK : UINT32_MAX;
}

static uint8_t
port_of(const uint8_t *context)
{
	return (context[QPC_SCHED_QUEUE] >> 6 & 1) + 1;
}

/* One byte describes a ring: log of the number of strides, log of a stride. */
static void
read_wq(struct vcx3_wq_attr *wq, uint8_t shape)
{
	wq->log_count = shape >> 3 & 0xf;
	wq->log_stride = (shape & 7) + 4;
}

/*
 * Both rings share the buffer: the one with larger strides first, the send queue first
 * when they are equal. A queue that only receives has one unused send stride in it.
 */
static void
read_rings(struct vcx3_qp_attr *attr, const uint8_t *context)
{
	uint8_t sq = context[QPC_SQ], rq = context[QPC_RQ];

	read_wq(&attr->sq, sq & (uint8_t)~SQ_NO_PREFETCH);
	read_wq(&attr->rq, rq);
	attr->sq.present = (sq & SQ_NO_PREFETCH) == 0 && attr->sq.log_count > 0;
	attr->rq.present = !attr->use_srq && (rq != 0 || attr->record.base != 0);
	if (attr->rq.log_stride > attr->sq.log_stride)
		attr->sq.offset = 1U << (attr->rq.log_count + attr->rq.log_stride);
	else
		attr->rq.offset = 1U << (attr->sq.log_count + attr->sq.log_stride);
}

static void
read_rss(struct vcx3_rss_attr *rss, const uint8_t *context)
{
	uint32_t base = be32_at(context, QPC_RSS_BASE);

	rss->log_size = base >> 24 & 0xf;
	rss->base_qpn = base & QPN_MASK;
	rss->default_qpn = be32_at(context, QPC_RSS_DEFAULT) & QPN_MASK;
	rss->flags = context[QPC_RSS_FLAGS];
	rss->toeplitz = context[QPC_RSS_FUNCTION] == 1;
	memcpy(rss->key, context + QPC_RSS_KEY, sizeof(rss->key));
}

static enum vcx3_status
read_context(struct vcx3_pci *pci, const uint8_t *context, struct vcx3_qp_attr *attr)
{
	uint32_t log_page = (context[QPC_LOG_PAGE] & 0x3f) + 12;
	uint32_t param3 = be32_at(context, QPC_PARAM3);

	*attr = (struct vcx3_qp_attr){
		.pd = be32_at(context, QPC_PD) & QPN_MASK,
		.port = port_of(context),
		.is_rss = (be32_at(context, QPC_FLAGS) & FLAGS_RSS) != 0,
		.use_srq = (be32_at(context, QPC_SRQN) & SRQ_USED) != 0,
		.deliver_fcs = (param3 & PARAM3_FCS) != 0,
		.strip_vlan = (param3 & PARAM3_KEEP_VLAN) == 0,
		.need_doorbell = true,
		.send_cqn = be32_at(context, QPC_SEND_CQN) & QPN_MASK,
		.recv_cqn = be32_at(context, QPC_RECV_CQN) & QPN_MASK,
		.srqn = be32_at(context, QPC_SRQN) & QPN_MASK,
		.record = vcx3_dma_object(be64_at(context, QPC_RECORD)),
	};
	if (attr->port > pci->ports || log_page > LOG_PAGE_MAX)
		return VCX3_BAD_PARAM;
	attr->buffer = vcx3_icm_object((uint64_t)context[QPC_MTT_HIGH] << 32 |
				       be32_at(context, QPC_MTT_LOW), (uint8_t)log_page, 0);
	if (attr->is_rss)
		read_rss(&attr->rss, context);
	else
		read_rings(attr, context);
	return VCX3_OK;
}

enum vcx3_status
vcx3_cmd_rst2init(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	const uint8_t *context = cmd->in + QPC;
	uint32_t qpn = cmd->modifier & QPN_MASK;
	struct vcx3_qp_attr attr;
	enum vcx3_status status = read_context(pci, context, &attr);

	if (status == VCX3_OK)
		status = vcx3_qp_init(pci->core, qpn, &attr);
	if (status == VCX3_OK && !keep_context(pci->qpcs, qpn, context)) {
		vcx3_qp_modify(pci->core, qpn, VCX3_QP_RESET, 0);
		status = VCX3_EXCEED_LIM;
	}
	return status;
}

/* The state that a transition leads to. */
static enum vcx3_qp_state
target_state(uint16_t opcode)
{
	switch (opcode) {
	case 0x02d:
		return VCX3_QP_INIT;
	case 0x01a:
		return VCX3_QP_RTR;
	case 0x01e:
		return VCX3_QP_ERROR;
	case 0x01f:
	case 0x038:
		return VCX3_QP_SQ_DRAINED;
	default: /* 1b, 1c, 1d, 20 */
		return VCX3_QP_RTS;
	}
}

/* Which states a transition starts from; the core knows only where it leads. */
static bool
is_source(uint16_t opcode, enum vcx3_qp_state from)
{
	switch (opcode) {
	case 0x01b:
		return from == VCX3_QP_RTR;
	case 0x01c:
		return from == VCX3_QP_RTS;
	case 0x01d:
		return from == VCX3_QP_SQ_ERROR;
	case 0x01f:
		return from == VCX3_QP_RTS;
	case 0x020:
	case 0x038:
		return from == VCX3_QP_SQ_DRAINED;
	default:
		return true;
	}
}

enum vcx3_status
vcx3_cmd_modify_qp(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	uint32_t qpn = cmd->modifier & QPN_MASK;
	uint8_t port = 0;

	if (!is_source(cmd->opcode, vcx3_qp_state(pci->core, qpn)))
		return VCX3_BAD_QP_STATE;
	if (cmd->opcode == 0x01a) /* the IB driver names the port only here */
		port = port_of(cmd->in + QPC);
	return vcx3_qp_modify(pci->core, qpn, target_state(cmd->opcode), port);
}

enum vcx3_status
vcx3_cmd_reset_qp(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	uint32_t qpn = cmd->modifier & QPN_MASK;
	uint8_t *context = find_context(pci->qpcs, qpn);

	if (context != NULL)
		memset(context, 0, QPC_SIZE);
	return vcx3_qp_modify(pci->core, qpn, VCX3_QP_RESET, 0);
}

enum vcx3_status
vcx3_cmd_query_qp(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	uint32_t qpn = cmd->modifier & QPN_MASK;
	const uint8_t *context = find_context(pci->qpcs, qpn);
	enum vcx3_qp_state state = vcx3_qp_state(pci->core, qpn);

	if (context == NULL || state == VCX3_QP_RESET)
		return VCX3_BAD_QP_STATE;
	memcpy(cmd->out + QPC, context, QPC_SIZE);
	put_be32(cmd->out, QPC + QPC_FLAGS, (be32_at(context, QPC_FLAGS) & 0x0fffffff) |
		 (uint32_t)state << STATE_SHIFT);
	return VCX3_OK;
}
