/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands about ports: link, frame limit, MAC table and statistics
 * (connectx3-pci.md B.7).
 */
#include <string.h>

#include "../core/port.h"
#include "be.h"
#include "cmd.h"

#define FRAME_EXTRA 26 /* what SET_PORT counts beside the MTU: header, two tags, FCS */
#define SET_PORT_ETH 1 /* operation modifier */

/* What an Ethernet SET_PORT sets, bits 15:8 of its modifier. */
enum set_port {
	SET_GENERAL = 0,
	SET_RQP_CALC = 1,
	SET_MAC_TABLE = 2,
	SET_VLAN_TABLE = 3,
	SET_PRIORITY_MAP = 4,
	SET_GID_TABLE = 5,
	SET_PRIO2TC = 8,
	SET_SCHEDULER = 9,
};

#define GENERAL_MTU 0x01

static bool
is_port(const struct vcx3_pci *pci, uint32_t port)
{
	return port >= 1 && port <= pci->ports;
}

/* Byte 5 of QUERY_PORT. */
static uint8_t
speed_code(uint32_t mbps)
{
	switch (mbps) {
	case 100:
		return 0x04;
	case 1000:
		return 0x02;
	case 20000:
		return 0x08;
	case 40000:
		return 0x40;
	case 56000:
		return 0x20;
	default:
		return 0x01; /* 10 Gb/s */
	}
}

enum vcx3_status
vcx3_cmd_query_port(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	struct vcx3_port_info info;
	uint8_t *out = cmd->out;

	if (!is_port(pci, cmd->modifier) ||
	    vcx3_port_get(pci->core, cmd->modifier, &info) != VCX3_OK)
		return VCX3_BAD_INDEX;
	out[0x00] = info.up ? 0x82 : 0x02; /* link; Ethernet is the only type */
	out[0x01] = 0x85; /* negotiation done; IB MTU 4096 */
	put_be16(out, 0x02, VCX3_MAX_MTU);
	out[0x05] = speed_code(info.speed_mbps);
	out[0x06] = 0x02; /* four lanes */
	out[0x07] = 0x77; /* 128 GIDs and P_Keys */
	out[0x0a] = 0x77; /* 128 VLANs and MACs */
	out[0x0b] = 0x88; /* traffic classes, lanes */
	memcpy(out + 0x12, info.mac, sizeof(info.mac));
	return VCX3_OK;
}

enum vcx3_status
vcx3_cmd_init_port(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	return vcx3_port_set_admin(pci->core, cmd->modifier, true);
}

enum vcx3_status
vcx3_cmd_close_port(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	return vcx3_port_set_admin(pci->core, cmd->modifier, false);
}

static enum vcx3_status
set_general(struct vcx3_pci *pci, uint32_t port, const uint8_t *in)
{
	uint16_t mtu = be16_at(in, 0x06);

	if ((in[0x03] & GENERAL_MTU) == 0)
		return VCX3_OK;
	if (mtu <= FRAME_EXTRA || mtu - FRAME_EXTRA > VCX3_MAX_MTU)
		return VCX3_BAD_PARAM;
	return vcx3_port_set_mtu(pci->core, port, mtu - FRAME_EXTRA);
}

static enum vcx3_status
set_rqp_calc(struct vcx3_pci *pci, uint32_t port, const uint8_t *in)
{
	struct vcx3_pci_port *state = &pci->port[port - 1];

	state->a0_given = true;
	state->a0_base_qpn = be32_at(in, 0x00) & 0xffffff;
	state->a0_promisc = be32_at(in, 0x14);
	state->a0_multicast = be32_at(in, 0x18);
	return vcx3_a0_update(pci, port);
}

static enum vcx3_status
set_mac_table(struct vcx3_pci *pci, uint32_t port, const uint8_t *in)
{
	memcpy(pci->port[port - 1].mac_table, in, sizeof(pci->port[port - 1].mac_table));
	return vcx3_a0_update(pci, port);
}

enum vcx3_status
vcx3_cmd_set_port(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	uint32_t port = cmd->modifier & 0xff;

	if (cmd->opmod != SET_PORT_ETH)
		return VCX3_BAD_PARAM;
	if (!is_port(pci, port))
		return VCX3_BAD_INDEX;
	switch (cmd->modifier >> 8 & 0xff) {
	case SET_GENERAL:
		return set_general(pci, port, cmd->in);
	case SET_RQP_CALC:
		return set_rqp_calc(pci, port, cmd->in);
	case SET_MAC_TABLE:
		return set_mac_table(pci, port, cmd->in);
	case SET_VLAN_TABLE:
	case SET_PRIORITY_MAP:
	case SET_GID_TABLE:
	case SET_PRIO2TC:
	case SET_SCHEDULER:
		return VCX3_OK;
	default:
		return VCX3_BAD_PARAM;
	}
}

/* The slot for frames without a VLAN priority in a group of nine counters, 18h bytes each. */
#define NO_PRIORITY (8 * 0x18)

enum vcx3_status
vcx3_cmd_dump_eth_stats(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	uint32_t port = cmd->modifier & 0xff;
	struct vcx3_port_counters counters;
	uint8_t *out = cmd->out;

	if (!is_port(pci, port))
		return VCX3_BAD_INDEX;
	vcx3_port_counters(pci->core, port, &counters);
	put_be64(out, 0x3b8 + NO_PRIORITY, counters.rx_bytes);
	put_be64(out, 0x480 + NO_PRIORITY, counters.rx_frames);
	put_be64(out, 0x2d0 + NO_PRIORITY / 3, counters.rx_broadcast);
	put_be64(out, 0x318 + NO_PRIORITY / 3, counters.rx_multicast);
	put_be64(out, 0x9b8 + NO_PRIORITY, counters.tx_bytes);
	put_be64(out, 0xa98 + NO_PRIORITY, counters.tx_frames);
	put_be64(out, 0x578, counters.rx_drop_runt);
	put_be64(out, 0x580, counters.rx_drop_oversize);
	put_be32(out, 0xb8c, (uint32_t)counters.rx_drop_bad_fcs);
	put_be32(out, 0xb90, (uint32_t)counters.rx_drop_runt);
	put_be32(out, 0xb98, (uint32_t)(counters.rx_drop_no_wqe + counters.rx_drop_error));
	put_be32(out, 0xba8, (uint32_t)(counters.tx_drop_link_down + counters.tx_drop_oversize +
					counters.tx_drop_wire + counters.tx_drop_fault));
	if ((cmd->modifier >> 8 & 1) != 0)
		vcx3_port_reset_counters(pci->core, port);
	return VCX3_OK;
}
