/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive queues: finds the next WQE, scatters a frame over its segments, completes it
 * (connectx3-device.md D.8).
 */
#include <string.h>

#include "checksum.h"
#include "device.h"

#define BYTE_COUNT_ERROR 0x80000000u /* lets the stock PMD see an error (D.7) */
#define FCS_SIZE 4

/* Walks the segments of a receive WQE. */
struct scatter {
	const uint8_t *segment;
	const uint8_t *end;
	struct vcx3_span span;
	uint64_t room; /* left in the open segment */
};

bool
vcx3_rq_can_receive(const struct vcx3_qp *qp)
{
	return qp->recv_cq != NULL && (qp->rq.count > 0 || qp->srq != NULL) &&
	       (qp->state == VCX3_QP_RTR || qp->state == VCX3_QP_RTS ||
		qp->state == VCX3_QP_SQ_DRAINED || qp->state == VCX3_QP_SQ_ERROR);
}

static inline const uint8_t *
wqe_at(const struct vcx3_core *core, struct vcx3_qp *qp, uint32_t index)
{
	struct vcx3_rq *rq = &qp->rq;
	uint64_t offset = rq->offset + ((uint64_t)(index & (rq->count - 1)) << rq->log_stride);

	return vcx3_map_at(&qp->buffer, &core->memory, offset);
}

/* Strict: looks at each newly posted WQE once. */
static void
check_posts(struct vcx3_core *core, struct vcx3_qp *qp)
{
	struct vcx3_rq *rq = &qp->rq;

	for (; rq->checked != rq->posted; rq->checked++) {
		const uint8_t *wqe = wqe_at(core, qp, rq->checked);

		if (wqe == NULL)
			return;
		for (uint32_t i = 0; i < 1u << rq->log_stride; i += VCX3_SEGMENT)
			if (vcx3_load_be32(wqe + i + 4) != VCX3_INVALID_LKEY)
				vcx3_strict_buffer_posted(core, qp->qpn, vcx3_load_be64(wqe + i + 8));
	}
}

/* Strict: what a record may not say. */
static void
check_record(struct vcx3_core *core, struct vcx3_qp *qp, uint32_t word, uint32_t ahead)
{
	struct vcx3_rq *rq = &qp->rq;
	uint32_t words[] = { word, rq->head, rq->count };

	if (ahead > rq->count)
		vcx3_violate(core, VCX3_STRICT_rq_overposted, "qp", qp->qpn, words, 3);
	/* A first post in little endian leaves the 16 bits that count at 0. */
	if (rq->head != 0 || ahead != 0 || word == 0 || rq->looks_swapped ||
	    __builtin_bswap32(word) > rq->count)
		return;
	rq->looks_swapped = true;
	vcx3_violate(core, VCX3_STRICT_byte_order, "qp", qp->qpn, words, 3);
}

/* Reads the record: 16 bits of it count (C.3). */
static void
read_record(struct vcx3_core *core, struct vcx3_qp *qp)
{
	const uint8_t *record = vcx3_map_at(&qp->record, &core->memory, 0);
	struct vcx3_rq *rq = &qp->rq;
	uint32_t word, ahead;

	if (record == NULL)
		return;
	word = vcx3_load_published_be32(record);
	ahead = (uint16_t)(word - rq->head);
	rq->posted = rq->head + ahead;
	if (!core->config.strict)
		return;
	check_record(core, qp, word, ahead);
	if (ahead <= rq->count)
		check_posts(core, qp);
}

bool
vcx3_rq_has_wqe(struct vcx3_core *core, struct vcx3_qp *qp)
{
	if (qp->rq.stalled_until_ns > core->now_ns ||
	    qp->recv_cq->stalled_until_ns > core->now_ns)
		return false;
	if (qp->srq != NULL)
		return vcx3_srq_wqe(core, qp->srq) != NULL;
	if (qp->rq.head == qp->rq.posted)
		read_record(core, qp);
	return qp->rq.head != qp->rq.posted;
}

static const enum vcx3_rule_id access_rules[] = {
	[VCX3_ACCESS_BAD_KEY] = VCX3_STRICT_lkey,
	[VCX3_ACCESS_BAD_RANGE] = VCX3_STRICT_mr_range,
	[VCX3_ACCESS_NOT_WRITABLE] = VCX3_STRICT_mr_access,
	[VCX3_ACCESS_NO_MEMORY] = VCX3_STRICT_mr_range,
};

static void
report_segment(struct vcx3_core *core, const struct vcx3_qp *qp, const uint8_t *segment,
	       enum vcx3_access_result result)
{
	uint32_t words[4];

	for (int i = 0; i < 4; i++)
		words[i] = vcx3_load_be32(segment + 4 * i);
	vcx3_violate(core, access_rules[result], "qp", qp->qpn, words, 4);
}

/* Opens the next segment that has room. @return 0 or a syndrome. */
static inline uint8_t
open_segment(struct vcx3_core *core, struct vcx3_qp *qp, struct scatter *scatter)
{
	struct vcx3_key_cache *keys = qp->srq != NULL ? &qp->srq->keys : &qp->rq.keys;
	const uint8_t *segment = scatter->segment;
	enum vcx3_access_result result;
	uint32_t key;

	if (segment == scatter->end)
		return VCX3_SYNDROME_LENGTH;
	key = vcx3_load_be32(segment + 4);
	if (key == VCX3_INVALID_LKEY)
		return VCX3_SYNDROME_LENGTH;
	scatter->segment += VCX3_SEGMENT;
	scatter->room = vcx3_load_be32(segment);
	if (scatter->room == 0)
		return 0;
	result = vcx3_span_open(core, keys, qp->pd, key, vcx3_load_be64(segment + 8), scatter->room,
				true, &scatter->span);
	if (result == VCX3_ACCESS_OK)
		return 0;
	if (core->config.strict)
		report_segment(core, qp, segment, result);
	return VCX3_SYNDROME_PROTECTION;
}

/* Adds bytes. @return 0 or a syndrome. */
static inline uint8_t
scatter_bytes(struct vcx3_core *core, struct vcx3_qp *qp, struct scatter *scatter,
	      const uint8_t *data, uint64_t len)
{
	while (len > 0) {
		uint64_t part;
		uint8_t syndrome;

		if (scatter->room == 0) {
			syndrome = open_segment(core, qp, scatter);
			if (syndrome != 0)
				return syndrome;
		}
		part = len < scatter->room ? len : scatter->room;
		if (!vcx3_span_write(core, &scatter->span, data, part))
			return VCX3_SYNDROME_PROTECTION;
		scatter->room -= part;
		data += part;
		len -= part;
	}
	return 0;
}

/* The frame as this QP wants it: without tag, with FCS. */
static inline uint8_t
scatter_frame(struct vcx3_core *core, struct vcx3_qp *qp, struct scatter *scatter,
	      const uint8_t *data, uint32_t len, bool strip)
{
	uint8_t fcs[FCS_SIZE];
	uint32_t crc, skip = strip ? 2 * 6 + VCX3_VLAN_TAG : 0;
	uint8_t syndrome = strip ? scatter_bytes(core, qp, scatter, data, 2 * 6) : 0;

	if (syndrome == 0)
		syndrome = scatter_bytes(core, qp, scatter, data + skip, len - skip);
	if (syndrome != 0 || !qp->deliver_fcs)
		return syndrome;
	crc = vcx3_crc32(data, len);
	for (int i = 0; i < FCS_SIZE; i++)
		fcs[i] = crc >> 8 * i;
	return scatter_bytes(core, qp, scatter, fcs, FCS_SIZE);
}

static void
complete(struct vcx3_core *core, struct vcx3_qp *qp, uint8_t *cqe, uint32_t byte_count,
	 const struct vcx3_meta *meta, uint32_t hash, uint16_t wqe_index)
{
	vcx3_store_be32(cqe, qp->qpn | meta->vlan_flags);
	vcx3_store_be32(cqe + 4, hash);
	vcx3_store_be32(cqe + 8, 0);
	vcx3_store_be32(cqe + 12, (uint32_t)meta->tci << 16);
	vcx3_store_be32(cqe + 16, meta->status);
	vcx3_store_be32(cqe + 20, byte_count);
	vcx3_store_be32(cqe + 24, (uint32_t)wqe_index << 16 | meta->checksum);
	vcx3_cq_publish(core, qp->recv_cq, cqe, VCX3_CQE_RX_SEND);
}

/* Strict: the buffers of a WQE may be posted again. */
static void
forget_posts(struct vcx3_core *core, const struct vcx3_qp *qp, const uint8_t *wqe)
{
	for (uint32_t i = 0; i < 1u << qp->rq.log_stride; i += VCX3_SEGMENT)
		if (vcx3_load_be32(wqe + i + 4) != VCX3_INVALID_LKEY)
			vcx3_strict_buffer_taken(core, vcx3_load_be64(wqe + i + 8));
}

/* Takes the WQE at the head; its index goes into the CQE. */
static inline uint16_t
take_wqe(struct vcx3_core *core, struct vcx3_qp *qp, const uint8_t *wqe)
{
	uint16_t index;

	core->counters.rx_wqes++;
	if (qp->srq != NULL) {
		index = qp->srq->next;
		vcx3_srq_take(core, qp->srq, wqe);
		return index;
	}
	if (core->config.strict)
		forget_posts(core, qp, wqe);
	return qp->rq.head++;
}

/*
 * A frame that does not fit leaves the queue alive; a WQE that the device may not use
 * ends it (D.8, E.7).
 */
static enum vcx3_delivery
fail(struct vcx3_core *core, struct vcx3_qp *qp, const uint8_t *wqe, uint8_t syndrome,
     uint32_t byte_count)
{
	uint16_t index = take_wqe(core, qp, wqe);

	vcx3_cq_write_error(core, qp->recv_cq, qp->qpn, index, syndrome, byte_count, 0);
	if (syndrome == VCX3_SYNDROME_PROTECTION)
		vcx3_qp_fail(core, qp, VCX3_EVENT_ACCESS_ERROR);
	return VCX3_DELIVERY_FAILED;
}

static const uint8_t *
next_wqe(struct vcx3_core *core, struct vcx3_qp *qp, struct scatter *scatter)
{
	const uint8_t *wqe;
	uint8_t log_stride;

	if (!vcx3_rq_has_wqe(core, qp))
		return NULL;
	if (qp->srq != NULL) {
		wqe = vcx3_srq_wqe(core, qp->srq);
		log_stride = qp->srq->attr.log_stride;
	} else {
		wqe = wqe_at(core, qp, qp->rq.head);
		log_stride = qp->rq.log_stride;
	}
	if (wqe == NULL)
		return NULL;
	scatter->segment = wqe + (qp->srq != NULL ? VCX3_SEGMENT : 0); /* behind the link */
	scatter->end = wqe + (1u << log_stride);
	scatter->room = 0;
	return wqe;
}

enum vcx3_delivery
vcx3_rq_deliver(struct vcx3_core *core, struct vcx3_qp *qp, const uint8_t *data, uint32_t len,
		const struct vcx3_meta *meta, uint32_t hash)
{
	bool strip = qp->strip_vlan && meta->vlan_flags & (VCX3_CQE_CVLAN | VCX3_CQE_SVLAN);
	struct scatter scatter;
	const struct vcx3_fault *fault;
	const uint8_t *wqe = next_wqe(core, qp, &scatter);
	uint8_t *cqe;
	uint8_t syndrome;

	if (wqe == NULL)
		return VCX3_NO_WQE;
	fault = core->nb_faults > 0 ?
			vcx3_fault_take(core, VCX3_FAULT_RX_ERROR,
					qp->port != NULL ? qp->port->number : 0, qp->qpn) : NULL;
	if (fault != NULL)
		return fail(core, qp, wqe, fault->value, fault->msb ? BYTE_COUNT_ERROR : 0);
	syndrome = scatter_frame(core, qp, &scatter, data, len, strip);
	if (syndrome != 0)
		return fail(core, qp, wqe, syndrome, BYTE_COUNT_ERROR);
	cqe = vcx3_cq_next(core, qp->recv_cq);
	if (cqe == NULL) {
		vcx3_qp_fail(core, qp, VCX3_EVENT_WQ_CATASTROPHIC);
		return VCX3_DELIVERY_FAILED;
	}
	complete(core, qp, cqe,
		 len - (strip ? VCX3_VLAN_TAG : 0) + (qp->deliver_fcs ? FCS_SIZE : 0), meta, hash,
		 take_wqe(core, qp, wqe));
	qp->rx_frames++;
	return VCX3_DELIVERED;
}

/* Appends the addresses of one ring. */
static size_t
list_posted(struct vcx3_core *core, struct vcx3_qp *qp, uint64_t *addresses, size_t max, size_t nb)
{
	read_record(core, qp);
	for (uint32_t index = qp->rq.head; index != qp->rq.posted; index++) {
		const uint8_t *wqe = wqe_at(core, qp, index);

		for (uint32_t i = 0; wqe != NULL && i < 1u << qp->rq.log_stride; i += VCX3_SEGMENT) {
			if (vcx3_load_be32(wqe + i + 4) == VCX3_INVALID_LKEY)
				continue;
			if (nb < max)
				addresses[nb] = vcx3_load_be64(wqe + i + 8);
			nb++;
		}
	}
	return nb;
}

size_t
vcx3_core_posted(struct vcx3_core *core, uint64_t *addresses, size_t max)
{
	size_t nb = 0;

	for (struct vcx3_qp *qp = core->live_qps; qp != NULL; qp = qp->next) {
		if (vcx3_rq_can_receive(qp) && qp->rq.count > 0)
			nb = list_posted(core, qp, addresses, max, nb);
	}
	return nb;
}

/* Ends what is posted to a QP in error. An SRQ's WQEs are not the QP's. */
unsigned int
vcx3_rq_flush(struct vcx3_core *core, struct vcx3_qp *qp)
{
	unsigned int flushed = 0;

	if (qp->rq.count == 0)
		return 0;
	while (vcx3_rq_has_wqe(core, qp) && !qp->recv_cq->is_dead && flushed < qp->rq.count) {
		const uint8_t *wqe = wqe_at(core, qp, qp->rq.head);
		uint16_t index;

		if (wqe == NULL)
			break;
		index = take_wqe(core, qp, wqe);
		vcx3_cq_write_error(core, qp->recv_cq, qp->qpn, index, VCX3_SYNDROME_FLUSH,
				    BYTE_COUNT_ERROR, 0);
		flushed++;
	}
	return flushed;
}
