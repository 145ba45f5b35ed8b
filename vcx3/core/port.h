/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ethernet ports: link, address, frame limit, counters, and the wire behind.
 */
#ifndef VCX3_CORE_PORT_H
#define VCX3_CORE_PORT_H

#include "core.h"

struct vcx3_wire;

/** A frame may have this many bytes more than the MTU: header, two VLAN tags. */
#define VCX3_FRAME_OVERHEAD 22
#define VCX3_MIN_MTU 46
#define VCX3_MAX_MTU 9900

/*
 * Counters of a port. The order is the order of reports.
 */
#define VCX3_PORT_COUNTERS(X) \
	X(rx_frames, "frames delivered to a queue") \
	X(rx_bytes, "their bytes without FCS") \
	X(rx_unicast, "of these, unicast") \
	X(rx_multicast, "of these, multicast") \
	X(rx_broadcast, "of these, broadcast") \
	X(tx_frames, "frames sent") \
	X(tx_bytes, "their bytes without FCS") \
	X(tx_unicast, "of these, unicast") \
	X(tx_multicast, "of these, multicast") \
	X(tx_broadcast, "of these, broadcast") \
	X(rx_drop_link_down, "arrived while the port was down") \
	X(rx_drop_oversize, "longer than MTU + 22") \
	X(rx_drop_runt, "shorter than an Ethernet header") \
	X(rx_drop_bad_fcs, "check sequence wrong") \
	X(rx_drop_no_rule, "no steering rule") \
	X(rx_host, "no steering rule: taken by the kernel's netdev") \
	X(rx_host_bytes, "their bytes without FCS") \
	X(rx_drop_by_rule, "a rule led to a QP that does not receive") \
	X(rx_drop_no_wqe, "no receive buffer posted") \
	X(rx_drop_error, "ended in an error completion") \
	X(rx_drop_fault, "dropped by fault injection") \
	X(tx_drop_link_down, "sent while the port was down") \
	X(tx_drop_oversize, "longer than MTU + 22") \
	X(tx_drop_wire, "the wire refused it") \
	X(tx_drop_fault, "dropped by fault injection") \
	X(tx_host, "sent by the kernel's netdev; not in tx_frames") \
	X(tx_host_bytes, "their bytes without FCS") \
	X(tx_loopback, "frames that came back to this port by loopback")

struct vcx3_port_counters {
#define X(name, text) uint64_t name;
	VCX3_PORT_COUNTERS(X)
#undef X
};

struct vcx3_port_info {
	bool admin_up; /**< software wants it (IFF_UP) */
	bool carrier; /**< set by vcx3_port_set_carrier(), and the wire has a peer */
	bool up; /**< both */
	uint32_t speed_mbps;
	uint32_t mtu;
	uint8_t mac[6];
};

/** Ports are numbered from 1; all functions return VCX3_BAD_INDEX for another number. */
enum vcx3_status vcx3_port_attach_wire(struct vcx3_core *core, unsigned int port,
				       struct vcx3_wire *wire);
/** The wire of a port, or NULL. */
struct vcx3_wire *vcx3_port_wire(const struct vcx3_core *core, unsigned int port);

/**
 * Whether a frame without a receive WQE, a rule or a link waits on the wire (as with flow
 * control) instead of being dropped. Set for sources (pcap, gen) by attaching the wire.
 */
enum vcx3_status vcx3_port_set_hold(struct vcx3_core *core, unsigned int port, bool holds);
enum vcx3_status vcx3_port_set_admin(struct vcx3_core *core, unsigned int port, bool up);
enum vcx3_status vcx3_port_set_carrier(struct vcx3_core *core, unsigned int port, bool up);
enum vcx3_status vcx3_port_set_mtu(struct vcx3_core *core, unsigned int port, uint32_t mtu);
enum vcx3_status vcx3_port_set_mac(struct vcx3_core *core, unsigned int port,
				   const uint8_t mac[6]);
/** Sends a frame of the kernel's netdev. @return false when the wire has no room now. */
bool vcx3_port_send_host(struct vcx3_core *core, unsigned int port, const uint8_t *data,
			 uint32_t len);
enum vcx3_status vcx3_port_get(const struct vcx3_core *core, unsigned int port,
			       struct vcx3_port_info *info);
enum vcx3_status vcx3_port_counters(const struct vcx3_core *core, unsigned int port,
				    struct vcx3_port_counters *counters);
enum vcx3_status vcx3_port_reset_counters(struct vcx3_core *core, unsigned int port);

#endif
