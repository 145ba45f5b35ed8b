/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A frame on its way out of a port: where it is built, VLAN insertion, checksums,
 * padding, loopback and mirrors (connectx3-device.md E.6).
 */
#include <string.h>

#include "device.h"

/* Bits 31:16 of dword 2 and dword 3 name a destination for the embedded switch. */
static bool
wants_switch(const struct vcx3_core *core, const struct vcx3_wqe *wqe)
{
	return core->config.device == VCX3_VF &&
	       (wqe->flags >> 16 != 0 || vcx3_load_be32(wqe->data + 12) != 0);
}

static uint16_t
tag_to_insert(const struct vcx3_core *core, const struct vcx3_wqe *wqe)
{
	if (!core->config.vlan_insert)
		return 0;
	if (wqe->vlan_ds & VCX3_SQ_INS_CVLAN)
		return VCX3_ETHER_CVLAN;
	return wqe->vlan_ds & VCX3_SQ_INS_SVLAN ? VCX3_ETHER_SVLAN : 0;
}

/* Why a frame does not leave, as the counter that says so; NULL = it does. */
static uint64_t *
find_drop(struct vcx3_core *core, const struct vcx3_qp *qp, uint32_t len, bool is_inside)
{
	struct vcx3_port *port = qp->port;

	if (port == NULL)
		return &core->lost;
	if (!vcx3_port_is_up(port))
		return &port->counters.tx_drop_link_down;
	if (len > port->frame_limit)
		return &port->counters.tx_drop_oversize;
	if (core->nb_faults > 0 &&
	    vcx3_fault_take(core, VCX3_FAULT_TX_DROP, port->number, qp->qpn) != NULL)
		return &port->counters.tx_drop_fault;
	return port->wire == NULL && !is_inside ? &port->counters.tx_drop_wire : NULL;
}

/* Room for a frame of this length. @return false when the wire is full. */
bool
vcx3_tx_open(struct vcx3_core *core, struct vcx3_qp *qp, const struct vcx3_wqe *wqe,
	     uint32_t len, struct vcx3_tx_frame *frame)
{
	struct vcx3_port *port = qp->port;
	bool is_inside = wqe->flags & VCX3_SQ_FORCE_LOOPBACK;
	uint8_t *start = core->frame;

	frame->tag = tag_to_insert(core, wqe);
	frame->len = len + (frame->tag != 0 ? VCX3_VLAN_TAG : 0);
	frame->room = NULL;
	frame->drop = find_drop(core, qp, frame->len, is_inside);
	if (frame->drop == NULL && !is_inside) {
		frame->room = vcx3_wire_tx_reserve(port->wire, frame->len < VCX3_MIN_FRAME ?
							       VCX3_MIN_FRAME : frame->len);
		if (frame->room == NULL)
			return false;
		if (!wants_switch(core, wqe) && port->rules.mirror_tx == NULL)
			start = frame->room;
	}
	frame->start = start;
	frame->data = start + (frame->tag != 0 ? VCX3_VLAN_TAG : 0);
	return true;
}

static void
insert_tag(const struct vcx3_wqe *wqe, struct vcx3_tx_frame *frame)
{
	memmove(frame->start, frame->data, 2 * 6);
	vcx3_store_be16(frame->start + 12, frame->tag);
	vcx3_store_be16(frame->start + 14, wqe->vlan_ds >> VCX3_SQ_VLAN_SHIFT);
}

static void
finish(const struct vcx3_core *core, const struct vcx3_wqe *wqe, struct vcx3_tx_frame *frame)
{
	if (frame->tag != 0)
		insert_tag(wqe, frame);
	if (wqe->flags & (VCX3_SQ_IP_CSUM | VCX3_SQ_L4_CSUM) ||
	    wqe->owner_opcode & (VCX3_SQ_INNER_IP_CSUM | VCX3_SQ_INNER_L4_CSUM))
		vcx3_offload_checksums(core, frame->start, frame->len, wqe->owner_opcode,
				       wqe->flags);
	if (frame->len < VCX3_MIN_FRAME) {
		memset(frame->start + frame->len, 0, VCX3_MIN_FRAME - frame->len);
		frame->len = VCX3_MIN_FRAME;
	}
}

/* Sends to the wire, to the port's own receiver, or both. */
static void
emit(struct vcx3_core *core, struct vcx3_port *port, const struct vcx3_wqe *wqe,
     const struct vcx3_tx_frame *frame)
{
	bool is_local = frame->room == NULL ||
			(wants_switch(core, wqe) &&
			 vcx3_steer_is_local(core, port, frame->start, frame->len));

	if (port->rules.mirror_tx != NULL)
		vcx3_port_mirror_tx(core, port, frame->start, frame->len);
	if (is_local) {
		port->counters.tx_loopback++;
		vcx3_port_loopback(core, port, frame->start, frame->len);
	}
	if (frame->room == NULL || (is_local && !vcx3_is_multicast(frame->start)))
		return;
	if (frame->start != frame->room)
		memcpy(frame->room, frame->start, frame->len);
	vcx3_wire_tx_commit(port->wire, frame->len);
}

/* Ends a frame whose bytes are at frame->data. */
void
vcx3_tx_close(struct vcx3_core *core, struct vcx3_qp *qp, const struct vcx3_wqe *wqe,
	      struct vcx3_tx_frame *frame)
{
	struct vcx3_port *port = qp->port;

	if (frame->drop != NULL) {
		++*frame->drop;
		return;
	}
	finish(core, wqe, frame);
	vcx3_port_count_tx(port, frame->start, frame->len);
	qp->tx_frames++;
	emit(core, port, wqe, frame);
}
