/* SPDX-License-Identifier: BSD-3-Clause */
#include "rig.h"

static uint32_t
peek(struct vcx3_wire *wire, struct vcx3_frame *frames, uint32_t n)
{
	struct rig_wire *self = (struct rig_wire *)wire;
	uint32_t i;

	for (i = 0; i < n && self->rx_head + i != self->rx_tail; i++) {
		struct rig_frame *frame = &self->rx[(self->rx_head + i) % RIG_WIRE_FRAMES];

		frames[i] = (struct vcx3_frame){ frame->data, frame->len, frame->flow_id, 0 };
	}
	return i;
}

static void
consume(struct vcx3_wire *wire, uint32_t n)
{
	struct rig_wire *self = (struct rig_wire *)wire;

	for (uint32_t i = 0; i < n; i++)
		free(self->rx[self->rx_head++ % RIG_WIRE_FRAMES].data);
}

static void *
reserve(struct vcx3_wire *wire, uint32_t len)
{
	struct rig_wire *self = (struct rig_wire *)wire;

	CHECK(len <= VCX3_WIRE_FRAME_MAX);
	return self->tx_room > 0 && self->tx_tail - self->tx_head < RIG_WIRE_FRAMES ?
		       self->reserve : NULL;
}

static void
commit(struct vcx3_wire *wire, uint32_t len)
{
	struct rig_wire *self = (struct rig_wire *)wire;
	struct rig_frame *frame = &self->tx[self->tx_tail % RIG_WIRE_FRAMES];

	if (self->discards)
		return;
	self->tx_room--;
	self->tx_tail++;
	frame->len = len;
	frame->data = malloc(len);
	CHECK(frame->data != NULL);
	memcpy(frame->data, self->reserve, len);
}

static const struct vcx3_wire_ops ops = {
	.rx_peek = peek,
	.rx_consume = consume,
	.tx_reserve = reserve,
	.tx_commit = commit,
};

static void
record(struct rig *rig, char kind, uint32_t what, uint32_t number, uint32_t syndrome)
{
	CHECK(rig->nb_events < RIG_EVENTS);
	rig->events[rig->nb_events++] = (struct rig_event){ kind, what, number, syndrome };
}

static void
on_completion(void *ctx, uint32_t cqn, uint32_t event_queue)
{
	record(ctx, 'c', event_queue, cqn, 0);
}

static void
on_async(void *ctx, enum vcx3_event event, uint32_t number, uint8_t syndrome)
{
	record(ctx, 'a', event, number, syndrome);
}

static void
on_port(void *ctx, unsigned int port, bool up)
{
	record(ctx, 'p', up, port, 0);
}

static void
on_fatal(void *ctx, const char *reason)
{
	record(ctx, 'f', 0, 0, 0);
}

static void
on_violation(void *ctx, const struct vcx3_violation *violation)
{
	((struct rig *)ctx)->last_violation = *violation;
	fprintf(stderr, "violation of %s by %s %#x: %#x %#x %#x %#x\n", violation->rule,
		violation->object, violation->number, violation->words[0], violation->words[1],
		violation->words[2], violation->words[3]);
}

static const struct vcx3_sink sink = {
	.completion = on_completion,
	.async = on_async,
	.port_change = on_port,
	.fatal = on_fatal,
	.violation = on_violation,
};

static uint64_t
now(void *ctx)
{
	return ((struct rig *)ctx)->now_ns;
}

void
rig_create(struct rig *rig, const struct vcx3_core_config *config)
{
	struct vcx3_core_config own = config != NULL ? *config : (struct vcx3_core_config){ 0 };
	struct vcx3_mpt_attr mpt;

	memset(rig, 0, sizeof(*rig));
	if (own.ports == 0)
		own.ports = 2;
	own.sink = &sink;
	own.sink_ctx = rig;
	own.now_ns = now;
	own.now_ctx = rig;
	rig->now_ns = 1000000000;
	CHECK_EQUAL(vcx3_core_create(&own, &rig->core), 0);
	rig->arena = aligned_alloc(4096, RIG_ARENA);
	CHECK(rig->arena != NULL);
	for (unsigned int i = 0; i < own.ports; i++) {
		rig->wires[i].wire = (struct vcx3_wire){ .ops = &ops, .carrier = true,
							 .kind = VCX3_WIRE_UNIX };
		rig->wires[i].tx_room = UINT32_MAX;
		CHECK_EQUAL(vcx3_port_attach_wire(rig->core, i + 1, &rig->wires[i].wire), 0);
		CHECK_EQUAL(vcx3_port_set_admin(rig->core, i + 1, true), 0);
	}
	rig->lkey = vcx3_mpt_key(5);
	mpt = (struct vcx3_mpt_attr){
		.pd = RIG_PD,
		.access = VCX3_ACCESS_LOCAL_WRITE,
		.start = (uintptr_t)rig->arena,
		.length = RIG_ARENA,
		.object = vcx3_object_flat(rig->arena),
	};
	CHECK_EQUAL(vcx3_mpt_create(rig->core, rig->lkey, &mpt), VCX3_OK);
	rig->nb_events = 0;
}

void
rig_destroy(struct rig *rig)
{
	uint32_t len;

	vcx3_core_destroy(rig->core);
	for (unsigned int port = 1; port <= 2; port++) {
		struct rig_wire *wire = &rig->wires[port - 1];
		uint8_t *data;

		consume(&wire->wire, wire->rx_tail - wire->rx_head);
		while ((data = rig_pop(rig, port, &len)) != NULL)
			free(data);
	}
	free(rig->arena);
}

uint8_t *
rig_alloc(struct rig *rig, uint32_t size)
{
	uint8_t *memory = rig->arena + rig->used;

	rig->used += (size + 63) & ~63u;
	CHECK(rig->used <= RIG_ARENA);
	memset(memory, 0, size);
	return memory;
}

void
rig_run(struct rig *rig)
{
	while (vcx3_core_run(rig->core) > 0)
		;
}

unsigned int
rig_count_events(const struct rig *rig, char kind, uint32_t what, uint32_t number)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < rig->nb_events; i++)
		count += rig->events[i].kind == kind && rig->events[i].what == what &&
			 rig->events[i].number == number;
	return count;
}

void
rig_push(struct rig *rig, unsigned int port, const void *data, uint32_t len, uint32_t flow_id)
{
	struct rig_wire *wire = &rig->wires[port - 1];
	struct rig_frame *frame = &wire->rx[wire->rx_tail % RIG_WIRE_FRAMES];

	CHECK(wire->rx_tail - wire->rx_head < RIG_WIRE_FRAMES);
	wire->rx_tail++;
	*frame = (struct rig_frame){ malloc(len), len, flow_id };
	CHECK(frame->data != NULL);
	memcpy(frame->data, data, len);
}

uint8_t *
rig_pop(struct rig *rig, unsigned int port, uint32_t *len)
{
	struct rig_wire *wire = &rig->wires[port - 1];
	struct rig_frame *frame = &wire->tx[wire->tx_head % RIG_WIRE_FRAMES];

	if (wire->tx_head == wire->tx_tail)
		return NULL;
	wire->tx_head++;
	*len = frame->len;
	return frame->data;
}

void
rig_cq(struct rig *rig, struct rig_cq *cq, uint32_t cqn, unsigned int log,
       const struct vcx3_cq_attr *extra)
{
	struct vcx3_cq_attr attr = extra != NULL ? *extra : (struct vcx3_cq_attr){ 0 };

	if (attr.cqe_size == 0)
		attr.cqe_size = 64;
	attr.log_size = log;
	attr.device_init = true;
	*cq = (struct rig_cq){
		.buffer = rig_alloc(rig, attr.cqe_size << log),
		.record = rig_alloc(rig, 8),
		.cqn = cqn,
		.count = 1u << log,
		.size = attr.cqe_size,
	};
	attr.buffer = vcx3_object_flat(cq->buffer);
	attr.record = vcx3_object_flat(cq->record);
	CHECK_EQUAL(vcx3_cq_create(rig->core, cqn, &attr), VCX3_OK);
}

bool
rig_poll(struct rig_cq *cq, struct rig_cqe *out)
{
	const uint8_t *cqe = cq->buffer + (cq->ci & (cq->count - 1)) * cq->size + cq->size - 32;

	if (!(cqe[31] & 0x80) != !(cq->ci & cq->count))
		return false;
	*out = (struct rig_cqe){
		.qpn = rig_get32(cqe) & 0xffffff,
		.flags = rig_get32(cqe) & 0xff000000,
		.hash = rig_get32(cqe + 4),
		.tci = rig_get16(cqe + 12),
		.status = rig_get32(cqe + 16),
		.byte_count = rig_get32(cqe + 20),
		.wqe_index = rig_get16(cqe + 24),
		.checksum = rig_get16(cqe + 26),
		.syndrome = cqe[27],
		.opcode = cqe[31] & 0x7f,
		.timestamp = (((uint64_t)rig_get32(cqe + 12) + !(cqe[29] | cqe[30])) << 16) |
			     cqe[29] << 8 | cqe[30],
	};
	cq->ci++;
	rig_be32(cq->record, cq->ci & 0xffffff);
	return true;
}

/* What a driver writes before RESET->INIT (connectx3-device.md D.2). */
static void
write_pattern(struct rig_qp *qp)
{
	for (uint32_t i = 0; i < qp->sq_count; i++) {
		rig_be32(qp->sq + (i << qp->sq_shift), 0xffffffff);
		qp->sq[(i << qp->sq_shift) + 7] = 1u << qp->sq_shift >> 4;
	}
}

void
rig_qp(struct rig *rig, struct rig_qp *qp, uint32_t qpn, uint32_t cqn, int log_sq, int log_rq,
       unsigned int sges, const struct vcx3_qp_attr *extra)
{
	struct vcx3_qp_attr attr = extra != NULL ? *extra : (struct vcx3_qp_attr){ 0 };
	uint32_t shift = 4, sq_size;

	while (1u << shift < sges * 16)
		shift++;
	*qp = (struct rig_qp){ .qpn = qpn, .sq_shift = 6, .rq_shift = shift };
	qp->sq_count = log_sq >= 0 ? 1u << log_sq : 0;
	qp->rq_count = log_rq >= 0 ? 1u << log_rq : 0;
	sq_size = qp->sq_count << 6;
	qp->sq = rig_alloc(rig, sq_size + (qp->rq_count << shift));
	qp->rq = qp->sq + sq_size;
	qp->record = rig_alloc(rig, 4);
	write_pattern(qp);
	if (attr.pd == 0)
		attr.pd = RIG_PD;
	if (attr.port == 0)
		attr.port = 1;
	attr.send_cqn = attr.recv_cqn = cqn;
	attr.buffer = vcx3_object_flat(qp->sq);
	attr.record = vcx3_object_flat(qp->record);
	attr.sq = (struct vcx3_wq_attr){ log_sq >= 0, log_sq, 6, 0 };
	attr.rq = (struct vcx3_wq_attr){ log_rq >= 0, log_rq, shift, sq_size };
	CHECK_EQUAL(vcx3_qp_init(rig->core, qpn, &attr), VCX3_OK);
	CHECK_EQUAL(vcx3_qp_modify(rig->core, qpn, VCX3_QP_RTR, 0), VCX3_OK);
	CHECK_EQUAL(vcx3_qp_modify(rig->core, qpn, VCX3_QP_RTS, 0), VCX3_OK);
}

void
rig_post_recv(struct rig_qp *qp, uint32_t lkey, void *address, uint32_t len)
{
	uint8_t *wqe = qp->rq + ((qp->rq_posted & (qp->rq_count - 1)) << qp->rq_shift);

	memset(wqe, 0, 1u << qp->rq_shift);
	rig_be32(wqe, len);
	rig_be32(wqe + 4, lkey);
	rig_be64(wqe + 8, (uintptr_t)address);
	for (uint32_t at = 16; at < 1u << qp->rq_shift; at += 16)
		rig_be32(wqe + at + 4, VCX3_INVALID_LKEY);
	qp->rq_posted++;
	rig_be32(qp->record, qp->rq_posted & 0xffff);
}

void
rig_wqe_start(struct rig_wqe *wqe)
{
	memset(wqe->bytes, 0, sizeof(wqe->bytes));
	wqe->size = 16;
}

void
rig_wqe_data(struct rig_wqe *wqe, uint32_t lkey, const void *address, uint32_t len)
{
	rig_be32(wqe->bytes + wqe->size, len);
	rig_be32(wqe->bytes + wqe->size + 4, lkey);
	rig_be64(wqe->bytes + wqe->size + 8, (uintptr_t)address);
	wqe->size += 16;
}

void
rig_wqe_inline(struct rig_wqe *wqe, const void *data, uint32_t len)
{
	rig_be32(wqe->bytes + wqe->size, 0x80000000 | len);
	if (len > 0)
		memcpy(wqe->bytes + wqe->size + 4, data, len);
	wqe->size = (wqe->size + 4 + len + 15) & ~15u;
}

void
rig_wqe_lso(struct rig_wqe *wqe, uint32_t mss, const void *header, uint32_t len)
{
	rig_be32(wqe->bytes + wqe->size, mss << 16 | len);
	memcpy(wqe->bytes + wqe->size + 4, header, len);
	wqe->size = (wqe->size + 4 + len + 15) & ~15u;
}

void
rig_post_send(struct rig_qp *qp, struct rig_wqe *wqe, uint32_t opcode, uint32_t flags)
{
	uint32_t stride = 1u << qp->sq_shift, strides = (wqe->size + stride - 1) >> qp->sq_shift;
	uint32_t owner = qp->sq_head & qp->sq_count ? 0x80000000 : 0;

	rig_be32(wqe->bytes, owner | opcode);
	wqe->bytes[7] |= wqe->size / 16;
	rig_be32(wqe->bytes + 8, rig_get32(wqe->bytes + 8) | flags);
	for (uint32_t i = strides; i-- > 0;) { /* the first stride last: it hands over */
		uint32_t slot = (qp->sq_head + i) & (qp->sq_count - 1);
		uint32_t part = wqe->size - (i << qp->sq_shift);

		memcpy(qp->sq + (slot << qp->sq_shift), wqe->bytes + (i << qp->sq_shift),
		       part < stride ? part : stride);
	}
	qp->sq_head += strides;
}

void
rig_stamp(struct rig_qp *qp, uint32_t index, uint32_t strides)
{
	for (uint32_t i = index; i != index + strides; i++) {
		uint32_t parity = i & qp->sq_count ? 0x80000000 : 0; /* of the lap that is over */

		rig_be32(qp->sq + ((i & (qp->sq_count - 1)) << qp->sq_shift), 0x7fffffff | parity);
	}
}

uint64_t
rig_rule_mac(struct rig *rig, unsigned int port, const uint8_t mac[6], uint32_t qpn,
	     uint16_t priority)
{
	struct vcx3_rule rule = { .type = VCX3_RULE_REGULAR, .priority = priority, .port = port,
				  .qpn = qpn };
	uint64_t handle = 0;

	memcpy(rule.dst_mac, mac, 6);
	memset(rule.dst_mac_mask, 0xff, 6);
	CHECK_EQUAL(vcx3_rule_attach(rig->core, &rule, &handle), VCX3_OK);
	CHECK(handle != 0);
	return handle;
}

uint64_t
rig_rule_default(struct rig *rig, unsigned int port, enum vcx3_rule_type type, uint32_t qpn)
{
	struct vcx3_rule rule = { .type = type, .port = port, .qpn = qpn };
	uint64_t handle = 0;

	CHECK_EQUAL(vcx3_rule_attach(rig->core, &rule, &handle), VCX3_OK);
	return handle;
}

uint32_t
rig_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}
