/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames that reach a port: checks, steering, delivery. Decisions are kept by flow id,
 * so that a generator's frame costs one table look-up.
 */
#include "device.h"

#define BURST 32

/* The queue behind the QP of a rule. */
static struct vcx3_target
resolve(const struct vcx3_core *core, uint32_t qpn, const uint8_t *data, uint32_t len,
	const struct vcx3_headers *headers)
{
	struct vcx3_target target = { .qp = vcx3_qp_find(core, qpn) };

	if (target.qp != NULL && target.qp->attr.is_rss) {
		if (target.qp->state == VCX3_QP_RTR || target.qp->state == VCX3_QP_RTS)
			target.qp = vcx3_qp_find(core, vcx3_rss_select(target.qp, data, len, headers,
								       &target.hash));
		else
			target.qp = NULL;
	}
	if (target.qp != NULL && !vcx3_rq_can_receive(target.qp))
		target.qp = NULL;
	return target;
}

static void
decide(const struct vcx3_core *core, const struct vcx3_port *port, const uint8_t *data,
       uint32_t len, struct vcx3_decision *decision)
{
	uint32_t qpns[VCX3_MAX_TARGETS];
	struct vcx3_headers headers;

	vcx3_parse(data, 0, len, &headers);
	decision->nb_targets = vcx3_steer(core, port, data, &headers, qpns);
	if (decision->nb_targets == 0)
		return;
	vcx3_classify(core, data, len, &headers, &decision->meta);
	for (unsigned int i = 0; i < decision->nb_targets; i++)
		decision->targets[i] = resolve(core, qpns[i], data, len, &headers);
}

/* One copy. @return false when it must wait on the wire. */
static bool
deliver(struct vcx3_core *core, struct vcx3_port *port, const struct vcx3_target *target,
	const struct vcx3_meta *meta, const uint8_t *data, uint32_t len, bool may_wait)
{
	if (target->qp == NULL) {
		port->counters.rx_drop_by_rule++;
		return true;
	}
	switch (vcx3_rq_deliver(core, target->qp, data, len, meta, target->hash)) {
	case VCX3_DELIVERED:
		vcx3_port_count_rx(port, data, len);
		break;
	case VCX3_NO_WQE:
		if (may_wait)
			return false;
		port->counters.rx_drop_no_wqe++;
		break;
	case VCX3_DELIVERY_FAILED:
		port->counters.rx_drop_error++;
		break;
	}
	return true;
}

/* What software claims with no rule belongs to the kernel's netdev (E.2). */
static void
give_to_host(struct vcx3_core *core, struct vcx3_port *port, const uint8_t *data, uint32_t len)
{
	const struct vcx3_sink *sink = core->config.sink;

	if (sink != NULL && sink->unclaimed != NULL &&
	    sink->unclaimed(core->config.sink_ctx, port->number, data, len)) {
		port->counters.rx_host++;
		port->counters.rx_host_bytes += len;
	} else {
		port->counters.rx_drop_no_rule++;
	}
}

static bool
deliver_all(struct vcx3_core *core, struct vcx3_port *port, const struct vcx3_decision *decision,
	    const uint8_t *data, uint32_t len, bool may_wait)
{
	if (decision->nb_targets == 0)
		give_to_host(core, port, data, len);
	for (unsigned int i = 0; i < decision->nb_targets; i++)
		if (!deliver(core, port, &decision->targets[i], &decision->meta, data, len,
			     may_wait && decision->nb_targets == 1))
			return false;
	return true;
}

/* Why a frame does not get past the port; NULL = it does. */
static uint64_t *
find_drop(struct vcx3_core *core, struct vcx3_port *port, uint32_t len)
{
	if (!vcx3_port_is_up(port))
		return &port->counters.rx_drop_link_down;
	if (len < VCX3_ETHER_HEADER)
		return &port->counters.rx_drop_runt;
	if (len > port->frame_limit)
		return &port->counters.rx_drop_oversize;
	if (core->nb_faults == 0)
		return NULL;
	if (vcx3_fault_take(core, VCX3_FAULT_RX_DROP, port->number, 0) != NULL)
		return &port->counters.rx_drop_fault;
	if (vcx3_fault_take(core, VCX3_FAULT_BAD_FCS, port->number, 0) != NULL)
		return &port->counters.rx_drop_bad_fcs;
	return NULL;
}

/* The decision for this flow, if it still holds. */
static struct vcx3_flow *
find_flow(const struct vcx3_core *core, const struct vcx3_port *port,
	  const struct vcx3_frame *frame)
{
	struct vcx3_flow *flow = &port->flows[frame->flow_id & (VCX3_FLOW_CACHE - 1)];

	return frame->flow_id != 0 && flow->flow_id == frame->flow_id &&
			       flow->generation == core->steer_generation &&
			       flow->len == frame->len ? flow : NULL;
}

static void
keep_flow(const struct vcx3_core *core, struct vcx3_port *port, const struct vcx3_frame *frame,
	  const struct vcx3_decision *decision)
{
	if (frame->flow_id == 0 || decision->nb_targets != 1)
		return;
	port->flows[frame->flow_id & (VCX3_FLOW_CACHE - 1)] = (struct vcx3_flow){
		.flow_id = frame->flow_id,
		.generation = core->steer_generation,
		.len = frame->len,
		.meta = decision->meta,
		.target = decision->targets[0],
	};
}

/* @return false when the frame must wait on the wire. */
static bool
receive(struct vcx3_core *core, struct vcx3_port *port, const struct vcx3_frame *frame)
{
	uint64_t *drop = find_drop(core, port, frame->len);
	struct vcx3_decision decision;
	struct vcx3_flow *flow;

	if (drop != NULL) {
		++*drop;
		return true;
	}
	flow = find_flow(core, port, frame);
	if (flow != NULL)
		return deliver(core, port, &flow->target, &flow->meta, frame->data, frame->len,
			       port->holds);
	decide(core, port, frame->data, frame->len, &decision);
	keep_flow(core, port, frame, &decision);
	return deliver_all(core, port, &decision, frame->data, frame->len, port->holds);
}

/* Fault "delay": the first frame in line waits. */
static bool
is_delayed(struct vcx3_core *core, struct vcx3_port *port)
{
	const struct vcx3_fault *fault = vcx3_fault_find(core, VCX3_FAULT_DELAY, port->number);

	if (fault == NULL)
		return false;
	if (port->head_seen_ns == 0)
		port->head_seen_ns = core->now_ns;
	if (core->now_ns - port->head_seen_ns < fault->value * UINT64_C(1000))
		return true;
	port->head_seen_ns = 0;
	return false;
}

/* A source waits for a receiver; a live wire loses what nobody takes. */
static bool
may_look(const struct vcx3_port *port)
{
	return port->wire != NULL &&
	       (!port->holds || (port->rules.count > 0 && vcx3_port_is_up(port)));
}

unsigned int
vcx3_port_receive(struct vcx3_core *core, struct vcx3_port *port)
{
	struct vcx3_frame frames[BURST];
	uint32_t count, taken = 0;

	if (!may_look(port))
		return 0;
	count = vcx3_wire_rx_peek(port->wire, frames, BURST);
	if (count == 0 || (core->nb_faults > 0 && is_delayed(core, port)))
		return 0;
	while (taken < count && receive(core, port, &frames[taken]))
		taken++;
	if (taken > 0)
		vcx3_wire_rx_consume(port->wire, taken);
	return taken;
}

void
vcx3_port_loopback(struct vcx3_core *core, struct vcx3_port *port, const uint8_t *data,
		   uint32_t len)
{
	struct vcx3_decision decision;

	decide(core, port, data, len, &decision);
	deliver_all(core, port, &decision, data, len, false);
}

void
vcx3_port_mirror_tx(struct vcx3_core *core, struct vcx3_port *port, const uint8_t *data,
		    uint32_t len)
{
	const struct vcx3_rule_entry *entry;
	struct vcx3_headers headers;
	struct vcx3_meta meta;

	vcx3_parse(data, 0, len, &headers);
	vcx3_classify(core, data, len, &headers, &meta);
	for (entry = port->rules.mirror_tx; entry != NULL; entry = entry->next) {
		struct vcx3_target target = resolve(core, entry->rule.qpn, data, len, &headers);

		if (target.qp != NULL)
			vcx3_rq_deliver(core, target.qp, data, len, &meta, target.hash);
	}
}
