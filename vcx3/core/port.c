/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports: link state, limits, counters.
 */
#include <string.h>

#include "device.h"

static struct vcx3_port *
find_port(const struct vcx3_core *core, unsigned int port)
{
	if (port < 1 || port > core->config.ports)
		return NULL;
	return (struct vcx3_port *)&core->ports[port - 1];
}

/* Tells the front end and the far end when the link has changed. */
void
vcx3_port_watch_link(struct vcx3_core *core, struct vcx3_port *port)
{
	bool is_up = vcx3_port_is_up(port);

	if (is_up == port->was_up)
		return;
	port->was_up = is_up;
	if (core->config.sink != NULL && core->config.sink->port_change != NULL)
		core->config.sink->port_change(core->config.sink_ctx, port->number, is_up);
}

static void
show_link(struct vcx3_core *core, struct vcx3_port *port)
{
	if (port->wire != NULL)
		vcx3_wire_set_link(port->wire, port->admin_up && port->carrier);
	vcx3_port_watch_link(core, port);
}

enum vcx3_status
vcx3_port_attach_wire(struct vcx3_core *core, unsigned int number, struct vcx3_wire *wire)
{
	struct vcx3_port *port = find_port(core, number);

	if (port == NULL)
		return VCX3_BAD_INDEX;
	port->wire = wire;
	port->holds = wire != NULL && (wire->kind == VCX3_WIRE_PCAP || wire->kind == VCX3_WIRE_GEN);
	core->steer_generation++; /* flow ids are the wire's */
	show_link(core, port);
	return VCX3_OK;
}

struct vcx3_wire *
vcx3_port_wire(const struct vcx3_core *core, unsigned int number)
{
	const struct vcx3_port *port = find_port(core, number);

	return port != NULL ? port->wire : NULL;
}

enum vcx3_status
vcx3_port_set_hold(struct vcx3_core *core, unsigned int number, bool holds)
{
	struct vcx3_port *port = find_port(core, number);

	if (port == NULL)
		return VCX3_BAD_INDEX;
	port->holds = holds;
	return VCX3_OK;
}

enum vcx3_status
vcx3_port_set_admin(struct vcx3_core *core, unsigned int number, bool up)
{
	struct vcx3_port *port = find_port(core, number);

	if (port == NULL)
		return VCX3_BAD_INDEX;
	port->admin_up = up;
	show_link(core, port);
	return VCX3_OK;
}

enum vcx3_status
vcx3_port_set_carrier(struct vcx3_core *core, unsigned int number, bool up)
{
	struct vcx3_port *port = find_port(core, number);

	if (port == NULL)
		return VCX3_BAD_INDEX;
	port->carrier = up;
	show_link(core, port);
	return VCX3_OK;
}

enum vcx3_status
vcx3_port_set_mtu(struct vcx3_core *core, unsigned int number, uint32_t mtu)
{
	struct vcx3_port *port = find_port(core, number);

	if (port == NULL)
		return VCX3_BAD_INDEX;
	if (mtu < VCX3_MIN_MTU || mtu > VCX3_MAX_MTU)
		return VCX3_BAD_PARAM;
	port->mtu = mtu;
	port->frame_limit = mtu + VCX3_FRAME_OVERHEAD;
	return VCX3_OK;
}

enum vcx3_status
vcx3_port_set_mac(struct vcx3_core *core, unsigned int number, const uint8_t mac[6])
{
	struct vcx3_port *port = find_port(core, number);

	if (port == NULL)
		return VCX3_BAD_INDEX;
	memcpy(port->mac, mac, sizeof(port->mac));
	return VCX3_OK;
}

bool
vcx3_port_send_host(struct vcx3_core *core, unsigned int number, const uint8_t *data, uint32_t len)
{
	struct vcx3_port *port = find_port(core, number);
	uint32_t room = len < VCX3_MIN_FRAME ? VCX3_MIN_FRAME : len;
	uint8_t *to;

	if (port == NULL || port->wire == NULL || !vcx3_port_is_up(port) ||
	    len > port->frame_limit)
		return true; /* as a netdev drops it */
	to = vcx3_wire_tx_reserve(port->wire, room);
	if (to == NULL)
		return false;
	memcpy(to, data, len);
	memset(to + len, 0, room - len);
	vcx3_wire_tx_commit(port->wire, room);
	port->counters.tx_host++;
	port->counters.tx_host_bytes += room;
	return true;
}

enum vcx3_status
vcx3_port_get(const struct vcx3_core *core, unsigned int number, struct vcx3_port_info *info)
{
	const struct vcx3_port *port = find_port(core, number);

	if (port == NULL)
		return VCX3_BAD_INDEX;
	*info = (struct vcx3_port_info){
		.admin_up = port->admin_up,
		.carrier = port->carrier &&
			   (port->wire == NULL || vcx3_wire_carrier(port->wire)),
		.up = vcx3_port_is_up(port),
		.speed_mbps = port->speed_mbps,
		.mtu = port->mtu,
	};
	memcpy(info->mac, port->mac, sizeof(info->mac));
	return VCX3_OK;
}

enum vcx3_status
vcx3_port_counters(const struct vcx3_core *core, unsigned int number,
		   struct vcx3_port_counters *counters)
{
	const struct vcx3_port *port = find_port(core, number);

	if (port == NULL)
		return VCX3_BAD_INDEX;
	*counters = port->counters;
	return VCX3_OK;
}

enum vcx3_status
vcx3_port_reset_counters(struct vcx3_core *core, unsigned int number)
{
	struct vcx3_port *port = find_port(core, number);

	if (port == NULL)
		return VCX3_BAD_INDEX;
	memset(&port->counters, 0, sizeof(port->counters));
	return VCX3_OK;
}
