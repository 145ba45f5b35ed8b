/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queue pairs: birth, the state machine, death.
 */
#include <stdlib.h>
#include <string.h>

#include "device.h"

#define MAX_LOG_COUNT 16 /* max_qp_wr 16351 and its headroom (B.4) */
#define MIN_LOG_STRIDE 4
#define MAX_LOG_STRIDE 10
#define MAX_LOG_RSS 15

/* Transitions but those to RESET and ERROR, which are always allowed. */
static const uint8_t transitions[][2] = {
	{ VCX3_QP_INIT, VCX3_QP_INIT },
	{ VCX3_QP_INIT, VCX3_QP_RTR },
	{ VCX3_QP_RTR, VCX3_QP_RTS },
	{ VCX3_QP_RTS, VCX3_QP_RTS },
	{ VCX3_QP_RTS, VCX3_QP_SQ_DRAINED },
	{ VCX3_QP_SQ_DRAINED, VCX3_QP_SQ_DRAINED },
	{ VCX3_QP_SQ_DRAINED, VCX3_QP_RTS },
	{ VCX3_QP_SQ_ERROR, VCX3_QP_RTS },
};

static bool
is_allowed(enum vcx3_qp_state from, enum vcx3_qp_state to)
{
	if (to == VCX3_QP_RESET || to == VCX3_QP_ERROR)
		return true;
	for (size_t i = 0; i < sizeof(transitions) / sizeof(transitions[0]); i++)
		if (transitions[i][0] == from && transitions[i][1] == to)
			return true;
	return false;
}

static bool
is_wq_good(const struct vcx3_wq_attr *wq, uint64_t base)
{
	return !wq->present ||
	       (wq->log_count <= MAX_LOG_COUNT && wq->log_stride >= MIN_LOG_STRIDE &&
		wq->log_stride <= MAX_LOG_STRIDE && (base + wq->offset) % VCX3_SEGMENT == 0);
}

static bool
is_rss_good(const struct vcx3_core *core, const struct vcx3_rss_attr *rss)
{
	uint32_t size;

	if (rss->log_size > MAX_LOG_RSS || !rss->toeplitz)
		return false;
	size = 1u << rss->log_size;
	return rss->base_qpn % size == 0 && rss->base_qpn + size <= core->nb_qps &&
	       rss->default_qpn < core->nb_qps;
}

static uint64_t
buffer_end(const struct vcx3_wq_attr *wq)
{
	return wq->present ? wq->offset + (UINT64_C(1) << (wq->log_count + wq->log_stride)) : 0;
}

static uint64_t
buffer_size(const struct vcx3_qp_attr *attr)
{
	uint64_t sq = buffer_end(&attr->sq), rq = buffer_end(&attr->rq);

	return sq > rq ? sq : rq;
}

/* Finds the CQs and the SRQ of a new QP. */
static enum vcx3_status
bind(struct vcx3_core *core, struct vcx3_qp *qp)
{
	const struct vcx3_qp_attr *attr = &qp->attr;

	if (attr->is_rss)
		return VCX3_OK;
	if (attr->send_cqn >= core->nb_cqs || attr->recv_cqn >= core->nb_cqs ||
	    (attr->use_srq && attr->srqn >= core->nb_srqs))
		return VCX3_BAD_RESOURCE;
	qp->send_cq = core->cqs[attr->send_cqn];
	qp->recv_cq = core->cqs[attr->recv_cqn];
	qp->srq = attr->use_srq ? core->srqs[attr->srqn] : NULL;
	if ((attr->sq.present && qp->send_cq == NULL) ||
	    ((attr->rq.present || attr->use_srq) && qp->recv_cq == NULL) ||
	    (attr->use_srq && qp->srq == NULL))
		return VCX3_BAD_RESOURCE;
	return VCX3_OK;
}

static bool
map_memory(const struct vcx3_core *core, struct vcx3_qp *qp)
{
	const struct vcx3_qp_attr *attr = &qp->attr;
	uint64_t size = buffer_size(attr);

	if (attr->is_rss) {
		qp->toeplitz = malloc(sizeof(*qp->toeplitz));
		if (qp->toeplitz != NULL)
			vcx3_toeplitz_init(qp->toeplitz, attr->rss.key);
		return qp->toeplitz != NULL;
	}
	return (size == 0 ||
		vcx3_map_init(&qp->buffer, &core->memory, &attr->buffer, size, false) == 0) &&
	       (!attr->rq.present ||
		vcx3_map_init(&qp->record, &core->memory, &attr->record, 4, false) == 0);
}

static void
free_qp(struct vcx3_qp *qp)
{
	vcx3_map_fini(&qp->buffer);
	vcx3_map_fini(&qp->record);
	free(qp->toeplitz);
	free(qp);
}

static void
count_users(struct vcx3_qp *qp, int change)
{
	if (qp->send_cq != NULL)
		qp->send_cq->users += change;
	if (qp->recv_cq != NULL)
		qp->recv_cq->users += change;
	if (qp->srq != NULL)
		qp->srq->users += change;
}

static void
set_queues(struct vcx3_qp *qp)
{
	const struct vcx3_qp_attr *attr = &qp->attr;

	qp->pd = attr->pd;
	qp->deliver_fcs = attr->deliver_fcs;
	qp->strip_vlan = attr->strip_vlan;
	qp->sq.count = attr->sq.present ? 1u << attr->sq.log_count : 0;
	qp->sq.log_stride = attr->sq.log_stride;
	qp->sq.offset = attr->sq.offset;
	qp->rq.count = attr->rq.present ? 1u << attr->rq.log_count : 0;
	qp->rq.log_stride = attr->rq.log_stride;
	qp->rq.offset = attr->rq.offset;
}

static void
insert(struct vcx3_core *core, struct vcx3_qp *qp)
{
	qp->next = core->live_qps;
	qp->link = &core->live_qps;
	if (qp->next != NULL)
		qp->next->link = &qp->next;
	core->live_qps = qp;
	core->qps[qp->qpn] = qp;
	core->counters.live_qps++;
	core->steer_generation++;
	count_users(qp, 1);
}

/* Strict: software has marked every slot as its own (libmlx4 does so before INIT). */
static void
check_pattern(struct vcx3_core *core, struct vcx3_qp *qp)
{
	for (uint32_t i = 0; i < qp->sq.count; i++) {
		const uint8_t *slot = vcx3_map_at(&qp->buffer, &core->memory,
			qp->sq.offset + ((uint64_t)i << qp->sq.log_stride));
		uint32_t words[2];

		if (slot == NULL)
			return;
		words[0] = vcx3_load_be32(slot);
		words[1] = vcx3_load_be32(slot + 4);
		/* mlx4_en leaves zeros and relies on the doorbell: DS 0 is not a WQE. */
		if (words[0] & VCX3_SQ_OWNER || (words[1] & VCX3_SQ_DS) == 0)
			continue;
		vcx3_violate(core, VCX3_STRICT_sq_initial_pattern, "qp", qp->qpn, words, 2);
		return;
	}
}

static enum vcx3_status
check_attr(const struct vcx3_core *core, uint32_t qpn, const struct vcx3_qp_attr *attr)
{
	if (qpn >= core->nb_qps)
		return VCX3_BAD_INDEX;
	if (core->qps[qpn] != NULL)
		return VCX3_BAD_QP_STATE;
	if (attr->port > core->config.ports || !is_wq_good(&attr->sq, attr->buffer.base) ||
	    !is_wq_good(&attr->rq, attr->buffer.base) || attr->record.base % 4 != 0 ||
	    (attr->is_rss && !is_rss_good(core, &attr->rss)))
		return VCX3_BAD_PARAM;
	return VCX3_OK;
}

enum vcx3_status
vcx3_qp_init(struct vcx3_core *core, uint32_t qpn, const struct vcx3_qp_attr *attr)
{
	enum vcx3_status status = check_attr(core, qpn, attr);
	struct vcx3_qp *qp;

	if (status != VCX3_OK)
		return status;
	qp = calloc(1, sizeof(*qp));
	if (qp == NULL)
		return VCX3_EXCEED_LIM;
	qp->qpn = qpn;
	qp->attr = *attr;
	qp->state = VCX3_QP_INIT;
	qp->port = attr->port != 0 ? &core->ports[attr->port - 1] : NULL;
	set_queues(qp);
	status = bind(core, qp);
	if (status == VCX3_OK && !map_memory(core, qp))
		status = VCX3_EXCEED_LIM;
	if (status != VCX3_OK) {
		free_qp(qp);
		return status;
	}
	if (core->config.strict)
		check_pattern(core, qp);
	insert(core, qp);
	return VCX3_OK;
}

/* Strict: work that nobody announced, and buffers that are software's again. */
static void
check_at_end(struct vcx3_core *core, struct vcx3_qp *qp)
{
	uint32_t words[] = { qp->sq.head };

	if (qp->state == VCX3_QP_RTS && qp->attr.need_doorbell && !qp->sq.is_kicked &&
	    vcx3_sq_has_work(core, qp))
		vcx3_violate(core, VCX3_STRICT_sq_doorbell, "qp", qp->qpn, words, 1);
	vcx3_strict_queue_ended(core, qp);
}

void
vcx3_qp_release(struct vcx3_core *core, struct vcx3_qp *qp)
{
	if (core->config.strict)
		check_at_end(core, qp);
	*qp->link = qp->next;
	if (qp->next != NULL)
		qp->next->link = qp->link;
	core->qps[qp->qpn] = NULL;
	core->counters.live_qps--;
	core->steer_generation++;
	count_users(qp, -1);
	free_qp(qp);
}

enum vcx3_status
vcx3_qp_modify(struct vcx3_core *core, uint32_t qpn, enum vcx3_qp_state to, uint8_t port)
{
	struct vcx3_qp *qp = vcx3_qp_find(core, qpn);

	if (qpn >= core->nb_qps)
		return VCX3_BAD_INDEX;
	if (qp == NULL) /* in reset: resetting again is harmless, all else needs RST2INIT */
		return to == VCX3_QP_RESET ? VCX3_OK : VCX3_BAD_QP_STATE;
	if (port > core->config.ports)
		return VCX3_BAD_PARAM;
	if (!is_allowed(qp->state, to))
		return VCX3_BAD_QP_STATE;
	if (to == VCX3_QP_RESET) {
		vcx3_qp_release(core, qp);
		return VCX3_OK;
	}
	if (port != 0) {
		qp->attr.port = port;
		qp->port = &core->ports[port - 1];
	}
	qp->state = to;
	core->steer_generation++;
	return VCX3_OK;
}

enum vcx3_qp_state
vcx3_qp_state(const struct vcx3_core *core, uint32_t qpn)
{
	const struct vcx3_qp *qp = vcx3_qp_find(core, qpn);

	return qp != NULL ? qp->state : VCX3_QP_RESET;
}

enum vcx3_status
vcx3_qp_query(const struct vcx3_core *core, uint32_t qpn, struct vcx3_qp_attr *attr)
{
	const struct vcx3_qp *qp = vcx3_qp_find(core, qpn);

	if (qp == NULL)
		return VCX3_BAD_INDEX;
	*attr = qp->attr;
	return VCX3_OK;
}

/* An error that the device found: what is posted gets flushed (D.7). */
void
vcx3_qp_fail(struct vcx3_core *core, struct vcx3_qp *qp, enum vcx3_event event)
{
	if (qp->state == VCX3_QP_ERROR)
		return;
	qp->state = VCX3_QP_ERROR;
	core->steer_generation++;
	vcx3_raise(core, event, qp->qpn, 0);
}

void
vcx3_qp_kick(struct vcx3_core *core, uint32_t qpn)
{
	struct vcx3_qp *qp = vcx3_qp_find(core, qpn);
	uint32_t words[] = { qpn };

	core->counters.doorbells++;
	if (qp == NULL || qp->state < VCX3_QP_RTS || qp->sq.count == 0) {
		if (core->config.strict)
			vcx3_violate(core, VCX3_STRICT_sq_doorbell_unknown, "qp", qpn, words, 1);
		return;
	}
	qp->doorbells++;
	if (qp->state == VCX3_QP_RTS && !vcx3_sq_has_work(core, qp))
		core->counters.doorbells_idle++;
	if (core->config.strict)
		vcx3_strict_check_stamps(core, qp);
	qp->sq.is_kicked = true;
}
