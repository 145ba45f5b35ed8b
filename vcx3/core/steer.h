/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flow steering rules. Order: mirror copies, regular rules by (priority, age), then
 * multicast default, then all default, then drop (connectx3-device.md E.2).
 */
#ifndef VCX3_CORE_STEER_H
#define VCX3_CORE_STEER_H

#include "core.h"

/** Rule types, as in byte 2 of the control segment (connectx3-pci.md B.13). */
enum vcx3_rule_type {
	VCX3_RULE_REGULAR = 0,
	VCX3_RULE_ALL_DEFAULT = 1,
	VCX3_RULE_MC_DEFAULT = 3,
	VCX3_RULE_MIRROR_RX = 4,
	VCX3_RULE_MIRROR_TX = 5,
	VCX3_RULE_UC_SNIFFER = 6,
	VCX3_RULE_MC_SNIFFER = 7,
};

/**
 * A rule. A frame matches when (field & mask) == (value & mask) for every field. All
 * fields are in CPU byte order, MACs in network order. A VLAN mask asks for a tag.
 */
struct vcx3_rule {
	enum vcx3_rule_type type;
	uint16_t priority; /**< smaller first */
	uint8_t port;
	bool dont_trap; /**< a copy goes to the QP and matching goes on */
	uint32_t qpn;
	uint8_t dst_mac[6];
	uint8_t dst_mac_mask[6];
	uint8_t src_mac[6];
	uint8_t src_mac_mask[6];
	uint16_t vlan;
	uint16_t vlan_mask;
	uint16_t ether_type;
	uint16_t ether_type_mask;
	bool match_ipv4; /**< only IPv4 frames */
	uint8_t l4_protocol; /**< only this protocol, not its fragments; 0 = any */
	uint32_t src_ip;
	uint32_t src_ip_mask;
	uint32_t dst_ip;
	uint32_t dst_ip_mask;
	uint16_t src_port;
	uint16_t src_port_mask;
	uint16_t dst_port;
	uint16_t dst_port_mask;
};

/**
 * Adds a rule.
 *
 * @param[out] handle
 *   Never 0.
 * @return VCX3_BAD_PARAM (port, type or QPN out of range), VCX3_EXCEED_LIM.
 */
enum vcx3_status vcx3_rule_attach(struct vcx3_core *core, const struct vcx3_rule *rule,
				  uint64_t *handle);

enum vcx3_status vcx3_rule_detach(struct vcx3_core *core, uint64_t handle);

/** Whether any rule names this port: its wire has a receiver. */
bool vcx3_port_has_receiver(const struct vcx3_core *core, unsigned int port);

#endif
