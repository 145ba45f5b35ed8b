/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Send queues: finds WQEs by their owner bit, executes them in order, completes them
 * (connectx3-device.md D.1 to D.3, E.6). How a frame leaves the port: tx.c.
 */
#include <string.h>

#include "device.h"

#define BURST 64 /* WQEs of one queue in one slice */
#define LSO_HEADER_OFFSET 4 /* of the header bytes in the LSO segment */

static inline uint8_t *
slot_at(const struct vcx3_core *core, struct vcx3_qp *qp, uint32_t index)
{
	struct vcx3_sq *sq = &qp->sq;
	uint64_t offset = sq->offset + ((uint64_t)(index & (sq->count - 1)) << sq->log_stride);

	return vcx3_map_at(&qp->buffer, &core->memory, offset);
}

static uint32_t
strides_of(const struct vcx3_sq *sq, uint32_t ds)
{
	return (ds * VCX3_SEGMENT + (1u << sq->log_stride) - 1) >> sq->log_stride;
}

/* The slot of the WQE at an index, if software has handed it over; else NULL. */
static inline const uint8_t *
ready_slot(const struct vcx3_core *core, struct vcx3_qp *qp, uint32_t index)
{
	const uint8_t *slot = slot_at(core, qp, index);
	bool owner;

	if (slot == NULL)
		return NULL;
	owner = vcx3_load_published_be32(slot) & VCX3_SQ_OWNER;
	return owner == !!(index & qp->sq.count) ? slot : NULL;
}

static uint32_t
slot_ds(const uint8_t *slot)
{
	return slot != NULL ? vcx3_load_be32(slot + 4) & VCX3_SQ_DS : 0;
}

bool
vcx3_sq_has_work(struct vcx3_core *core, struct vcx3_qp *qp)
{
	return qp->sq.count > 0 && slot_ds(ready_slot(core, qp, qp->sq.head)) > 0;
}

/* A WQE that ends the ring, or a page, is put together in scratch memory. */
static const uint8_t *
contiguous(struct vcx3_core *core, struct vcx3_qp *qp, const uint8_t *first, uint32_t size)
{
	struct vcx3_sq *sq = &qp->sq;
	uint32_t start = (sq->head & (sq->count - 1)) << sq->log_stride;
	uint32_t stride = 1u << sq->log_stride;

	if (start + size <= sq->count << sq->log_stride &&
	    size <= vcx3_map_run(&qp->buffer, sq->offset + start))
		return first;
	for (uint32_t done = 0; done < size; done += stride) {
		const uint8_t *slot = slot_at(core, qp, sq->head + (done >> sq->log_stride));

		if (slot == NULL)
			return NULL;
		memcpy(core->wqe + done, slot, size - done < stride ? size - done : stride);
	}
	return core->wqe;
}

/* Reads the WQE at the head. A driver without doorbells leaves DS 0 in unused slots. */
static bool
fetch(struct vcx3_core *core, struct vcx3_qp *qp, struct vcx3_wqe *wqe)
{
	const uint8_t *slot = ready_slot(core, qp, qp->sq.head);
	uint32_t ds = slot_ds(slot);

	if (slot == NULL || (ds == 0 && !qp->attr.need_doorbell))
		return false;
	wqe->data = contiguous(core, qp, slot, ds > 0 ? ds * VCX3_SEGMENT : VCX3_SEGMENT);
	if (wqe->data == NULL)
		return false;
	wqe->size = ds * VCX3_SEGMENT;
	wqe->strides = ds > 0 ? strides_of(&qp->sq, ds) : 1;
	wqe->owner_opcode = vcx3_load_be32(wqe->data);
	wqe->vlan_ds = vcx3_load_be32(wqe->data + 4);
	wqe->flags = vcx3_load_be32(wqe->data + 8);
	wqe->opcode = wqe->owner_opcode & VCX3_SQ_OPCODE;
	wqe->payload = VCX3_SEGMENT;
	return true;
}

static void
report(struct vcx3_core *core, const struct vcx3_qp *qp, enum vcx3_rule_id rule,
       const uint8_t *at)
{
	uint32_t words[4];

	if (!core->config.strict)
		return;
	for (int i = 0; i < 4; i++)
		words[i] = vcx3_load_be32(at + 4 * i);
	vcx3_violate(core, rule, "qp", qp->qpn, words, 4);
}

/* Bytes that a segment takes in the WQE, and brings to the frame; 0 = it is bad. */
static uint32_t
segment_size(const uint8_t *segment, uint32_t room, uint32_t *bytes)
{
	uint32_t count = vcx3_load_be32(segment);
	uint32_t size = VCX3_SEGMENT;

	*bytes = count & ~VCX3_INLINE;
	if (count & VCX3_INLINE)
		size = (sizeof(count) + *bytes + VCX3_SEGMENT - 1) & ~(VCX3_SEGMENT - 1u);
	return *bytes <= VCX3_LSO_MAX && size <= room ? size : 0;
}

/* The silicon reads inline data by 64-byte lines. */
static bool
crosses_line(const struct vcx3_wqe *wqe, const uint8_t *segment, uint32_t bytes)
{
	uint32_t start = (segment - wqe->data) % 64;

	return start + sizeof(uint32_t) + bytes > 64;
}

/* Adds up the data of a WQE. @return 0 or a syndrome. */
static uint8_t
measure(struct vcx3_core *core, struct vcx3_qp *qp, struct vcx3_wqe *wqe)
{
	uint32_t bytes, size;

	wqe->len = 0;
	for (uint32_t at = wqe->payload; at < wqe->size; at += size) {
		const uint8_t *segment = wqe->data + at;

		size = segment_size(segment, wqe->size - at, &bytes);
		if (size == 0) {
			report(core, qp, VCX3_STRICT_wqe_size, segment);
			return VCX3_SYNDROME_LENGTH;
		}
		if (vcx3_load_be32(segment) == 0) {
			report(core, qp, VCX3_STRICT_wqe_zero_length, segment);
			return VCX3_SYNDROME_LENGTH;
		}
		if (vcx3_load_be32(segment) & VCX3_INLINE && crosses_line(wqe, segment, bytes))
			report(core, qp, VCX3_STRICT_wqe_inline_line, segment);
		wqe->len += bytes;
		if (wqe->len > VCX3_LSO_MAX)
			return VCX3_SYNDROME_LENGTH;
	}
	return 0;
}

static void
report_access(struct vcx3_core *core, struct vcx3_qp *qp, const uint8_t *segment,
	      enum vcx3_access_result result)
{
	struct vcx3_key_cache cache = { 0 };
	uint32_t key = vcx3_load_be32(segment + 4);

	report(core, qp, result == VCX3_ACCESS_BAD_KEY ? VCX3_STRICT_lkey : VCX3_STRICT_mr_range,
	       segment);
	if (result == VCX3_ACCESS_BAD_KEY &&
	    vcx3_mpt_find(core, __builtin_bswap32(key), &cache) != NULL)
		report(core, qp, VCX3_STRICT_byte_order, segment);
}

/* Copies one data segment. */
static bool
read_segment(struct vcx3_core *core, struct vcx3_qp *qp, const uint8_t *segment, uint8_t *to,
	     uint32_t bytes)
{
	struct vcx3_span span;
	enum vcx3_access_result result =
		vcx3_span_open(core, &qp->sq.keys, qp->pd, vcx3_load_be32(segment + 4),
			       vcx3_load_be64(segment + 8), bytes, false, &span);

	if (result == VCX3_ACCESS_OK && !vcx3_span_read(core, &span, to, bytes))
		result = VCX3_ACCESS_NO_MEMORY;
	if (result != VCX3_ACCESS_OK)
		report_access(core, qp, segment, result);
	return result == VCX3_ACCESS_OK;
}

/* Collects the data of a measured WQE. @return 0 or a syndrome. */
static uint8_t
gather(struct vcx3_core *core, struct vcx3_qp *qp, const struct vcx3_wqe *wqe, uint8_t *to)
{
	uint32_t bytes, size;

	for (uint32_t at = wqe->payload; at < wqe->size; at += size) {
		const uint8_t *segment = wqe->data + at;

		size = segment_size(segment, wqe->size - at, &bytes);
		if (vcx3_load_be32(segment) & VCX3_INLINE)
			memcpy(to, segment + sizeof(uint32_t), bytes);
		else if (!read_segment(core, qp, segment, to, bytes))
			return VCX3_SYNDROME_PROTECTION;
		to += bytes;
	}
	return 0;
}

/* The usual WQE needs no walk: one data segment. */
static inline bool
is_plain(struct vcx3_wqe *wqe)
{
	wqe->len = vcx3_load_be32(wqe->data + VCX3_SEGMENT);
	return wqe->size == 2 * VCX3_SEGMENT && wqe->len != 0 && !(wqe->len & VCX3_INLINE);
}

/* One frame. */
static uint8_t
send(struct vcx3_core *core, struct vcx3_qp *qp, struct vcx3_wqe *wqe, bool *is_full)
{
	struct vcx3_tx_frame frame;
	uint8_t syndrome = 0;
	bool plain = wqe->size >= 2 * VCX3_SEGMENT && is_plain(wqe);

	if (!plain)
		syndrome = measure(core, qp, wqe);

	if (syndrome != 0)
		return syndrome;
	if (wqe->len < VCX3_ETHER_HEADER || wqe->len > VCX3_WIRE_FRAME_MAX - VCX3_VLAN_TAG)
		return VCX3_SYNDROME_LENGTH;
	if (!vcx3_tx_open(core, qp, wqe, wqe->len, &frame)) {
		*is_full = true;
		return 0;
	}
	if (!plain)
		syndrome = gather(core, qp, wqe, frame.data);
	else if (!read_segment(core, qp, wqe->data + VCX3_SEGMENT, frame.data, wqe->len))
		syndrome = VCX3_SYNDROME_PROTECTION;
	if (syndrome == 0)
		vcx3_tx_close(core, qp, wqe, &frame);
	return syndrome;
}

/* Finds the header of an LSO WQE; the data segments follow it. */
static bool
open_lso(struct vcx3_wqe *wqe, struct vcx3_lso *lso)
{
	const uint8_t *segment = wqe->data + VCX3_SEGMENT;
	uint32_t word, size;

	if (wqe->size < 2 * VCX3_SEGMENT)
		return false;
	word = vcx3_load_be32(segment);
	lso->mss = word >> 16;
	lso->header_len = word & 0xffff;
	lso->header = segment + LSO_HEADER_OFFSET;
	size = (LSO_HEADER_OFFSET + lso->header_len + VCX3_SEGMENT - 1) & ~(VCX3_SEGMENT - 1u);
	if (lso->mss == 0 || size > wqe->size - VCX3_SEGMENT)
		return false;
	wqe->payload = VCX3_SEGMENT + size;
	return vcx3_lso_parse(lso);
}

/*
 * Cutting changes lengths, so the device fills in checksums whether asked or not (D.1; the
 * stock driver does not ask for TSO over IPv6).
 */
static void
imply_checksums(struct vcx3_wqe *wqe, const struct vcx3_lso *lso)
{
	wqe->flags |= VCX3_SQ_IP_CSUM;
	if (lso->has_tunnel)
		wqe->owner_opcode |= VCX3_SQ_INNER_IP_CSUM | VCX3_SQ_INNER_L4_CSUM;
	else
		wqe->flags |= VCX3_SQ_L4_CSUM;
}

/* Many frames; what is on the wire when it fills up is not sent again. */
static uint8_t
send_lso(struct vcx3_core *core, struct vcx3_qp *qp, struct vcx3_wqe *wqe, bool *is_full)
{
	struct vcx3_sq *sq = &qp->sq;
	struct vcx3_lso lso;
	uint8_t syndrome;

	if (!open_lso(wqe, &lso)) {
		report(core, qp, VCX3_STRICT_wqe_lso, wqe->data);
		return VCX3_SYNDROME_QP_OPERATION;
	}
	imply_checksums(wqe, &lso);
	syndrome = measure(core, qp, wqe);
	if (syndrome == 0)
		syndrome = gather(core, qp, wqe, core->payload);
	if (syndrome != 0)
		return syndrome;
	do {
		uint32_t left = wqe->len - sq->lso_done;
		uint32_t part = left < lso.mss ? left : lso.mss;
		struct vcx3_tx_frame frame;

		if (lso.header_len + part > VCX3_WIRE_FRAME_MAX - VCX3_VLAN_TAG)
			return VCX3_SYNDROME_LENGTH;
		if (!vcx3_tx_open(core, qp, wqe, lso.header_len + part, &frame)) {
			*is_full = true;
			return 0;
		}
		vcx3_lso_build(&lso, core->payload, sq->lso_done, part, left == part, frame.data);
		vcx3_tx_close(core, qp, wqe, &frame);
		core->counters.tx_segments++;
		sq->lso_done += part;
	} while (sq->lso_done < wqe->len);
	return 0;
}

static uint8_t
execute(struct vcx3_core *core, struct vcx3_qp *qp, struct vcx3_wqe *wqe, bool *is_full)
{
	const struct vcx3_fault *fault = NULL;

	if (core->nb_faults > 0 && qp->sq.lso_done == 0)
		fault = vcx3_fault_take(core, VCX3_FAULT_TX_ERROR,
					qp->port != NULL ? qp->port->number : 0, qp->qpn);
	if (fault != NULL)
		return fault->value;
	if (wqe->size == 0) {
		report(core, qp, VCX3_STRICT_wqe_size, wqe->data);
		return VCX3_SYNDROME_QP_OPERATION;
	}
	switch (wqe->opcode) {
	case VCX3_OPCODE_SEND:
		return send(core, qp, wqe, is_full);
	case VCX3_OPCODE_LSO:
		return send_lso(core, qp, wqe, is_full);
	case VCX3_OPCODE_NOP:
		return 0;
	default:
		report(core, qp, VCX3_STRICT_wqe_opcode, wqe->data);
		if ((wqe->owner_opcode >> 24 & VCX3_SQ_OPCODE) == VCX3_OPCODE_SEND)
			report(core, qp, VCX3_STRICT_byte_order, wqe->data);
		return VCX3_SYNDROME_QP_OPERATION;
	}
}

static void
write_completion(struct vcx3_core *core, struct vcx3_qp *qp, const struct vcx3_wqe *wqe)
{
	uint8_t *cqe = vcx3_cq_next(core, qp->send_cq);

	if (cqe == NULL) {
		vcx3_qp_fail(core, qp, VCX3_EVENT_WQ_CATASTROPHIC);
		return;
	}
	memset(cqe, 0, VCX3_CQE_SIZE - sizeof(uint32_t));
	vcx3_store_be32(cqe, qp->qpn);
	vcx3_store_be16(cqe + 24, qp->sq.head);
	vcx3_cq_publish(core, qp->send_cq, cqe, wqe->opcode | VCX3_CQE_SEND);
}

static void
write_error(struct vcx3_core *core, struct vcx3_qp *qp, const struct vcx3_wqe *wqe,
	    uint8_t syndrome)
{
	if (!(wqe->owner_opcode & VCX3_SQ_NO_ERROR_CQE))
		vcx3_cq_write_error(core, qp->send_cq, qp->qpn, qp->sq.head, syndrome, 0,
				    VCX3_CQE_SEND);
}

static void
retire(struct vcx3_core *core, struct vcx3_qp *qp, const struct vcx3_wqe *wqe)
{
	qp->sq.head += wqe->strides;
	qp->sq.lso_done = 0;
	core->counters.tx_wqes++;
}

/* One WQE from the head. @return false when the wire is full. */
static bool
run_wqe(struct vcx3_core *core, struct vcx3_qp *qp, struct vcx3_wqe *wqe)
{
	bool is_full = false;
	uint8_t syndrome = execute(core, qp, wqe, &is_full);

	if (is_full)
		return false;
	if (syndrome != 0) {
		write_error(core, qp, wqe, syndrome);
		vcx3_qp_fail(core, qp, syndrome == VCX3_SYNDROME_PROTECTION ?
					       VCX3_EVENT_ACCESS_ERROR :
					       VCX3_EVENT_INVALID_REQUEST);
	} else if ((wqe->flags & VCX3_SQ_CQ_UPDATE) == VCX3_SQ_CQ_UPDATE) {
		write_completion(core, qp, wqe);
	}
	retire(core, qp, wqe);
	return true;
}

unsigned int
vcx3_sq_run(struct vcx3_core *core, struct vcx3_qp *qp)
{
	struct vcx3_sq *sq = &qp->sq;
	struct vcx3_wqe wqe;
	unsigned int done = 0;

	if ((qp->attr.need_doorbell && !sq->is_kicked) || sq->stalled_until_ns > core->now_ns ||
	    qp->send_cq->stalled_until_ns > core->now_ns)
		return 0;
	while (done < BURST && qp->state == VCX3_QP_RTS) {
		if (!fetch(core, qp, &wqe)) {
			sq->is_kicked = false;
			break;
		}
		if (!run_wqe(core, qp, &wqe))
			break;
		done++;
	}
	return done;
}

/* Ends the posted WQEs of a QP in error; each has its CQE, asked for or not. */
unsigned int
vcx3_sq_flush(struct vcx3_core *core, struct vcx3_qp *qp)
{
	struct vcx3_wqe wqe;
	unsigned int done = 0;

	while (done < BURST && !qp->send_cq->is_dead && fetch(core, qp, &wqe)) {
		write_error(core, qp, &wqe, VCX3_SYNDROME_FLUSH);
		retire(core, qp, &wqe);
		done++;
	}
	return done;
}

/*
 * Strict: the slots behind the last posted WQE, as far as the device prefetches (the
 * 2048 bytes that software keeps free, D.2), must not look handed over. Called at a
 * doorbell, when the thread that fills the queue stands still, or has gone on in order.
 */
void
vcx3_strict_check_stamps(struct vcx3_core *core, struct vcx3_qp *qp)
{
	uint32_t end = qp->sq.head, limit = qp->sq.head + qp->sq.count, ds;
	uint32_t prefetch = 2048u >> qp->sq.log_stride;

	while (end - qp->sq.head < qp->sq.count && (ds = slot_ds(ready_slot(core, qp, end))) > 0)
		end += strides_of(&qp->sq, ds);
	for (uint32_t i = 1; i < prefetch && (int32_t)(end + i - limit) < 0; i++) {
		const uint8_t *slot = ready_slot(core, qp, end + i);

		if (slot == NULL || vcx3_load_be32(slot + 4) == 0) /* 0: never used */
			continue;
		/* A VM's doorbell may come late, when software has posted what follows. */
		if (ready_slot(core, qp, end) != NULL)
			return;
		report(core, qp, VCX3_STRICT_sq_stamp, slot);
		return;
	}
}
