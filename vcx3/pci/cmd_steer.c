/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steering: device managed flow rules decoded into the core's (connectx3-pci.md B.13),
 * and the rules that A0 steering means, made of the MAC table.
 */
#include <string.h>

#include "../core/steer.h"
#include "be.h"
#include "cmd.h"

#define CTRL_SIZE 16
#define SPEC_HEADER 4
#define QPN_MASK 0xffffff

enum spec_id {
	SPEC_ETH = 0xe001,
	SPEC_IPV4 = 0xe002,
	SPEC_TCP = 0xe004,
	SPEC_UDP = 0xe006,
};

#define IPPROTO_TCP_NUMBER 6
#define IPPROTO_UDP_NUMBER 17

static enum vcx3_status
decode_eth(struct vcx3_rule *rule, const uint8_t *spec)
{
	memcpy(rule->dst_mac, spec + 0x0a, 6);
	memcpy(rule->dst_mac_mask, spec + 0x12, 6);
	memcpy(rule->src_mac, spec + 0x1a, 6);
	memcpy(rule->src_mac_mask, spec + 0x22, 6);
	if (spec[0x29] != 0) {
		rule->ether_type = be16_at(spec, 0x2a);
		rule->ether_type_mask = 0xffff;
	}
	rule->vlan_mask = be16_at(spec, 0x2c);
	rule->vlan = be16_at(spec, 0x2e);
	return VCX3_OK;
}

static enum vcx3_status
decode_ipv4(struct vcx3_rule *rule, const uint8_t *spec)
{
	rule->match_ipv4 = true;
	rule->dst_ip = be32_at(spec, 0x08);
	rule->dst_ip_mask = be32_at(spec, 0x0c);
	rule->src_ip = be32_at(spec, 0x10);
	rule->src_ip_mask = be32_at(spec, 0x14);
	return VCX3_OK;
}

static enum vcx3_status
decode_ports(struct vcx3_rule *rule, const uint8_t *spec, uint8_t protocol)
{
	rule->l4_protocol = protocol;
	rule->dst_port = be16_at(spec, 0x0a);
	rule->dst_port_mask = be16_at(spec, 0x0e);
	rule->src_port = be16_at(spec, 0x12);
	rule->src_port_mask = be16_at(spec, 0x16);
	return VCX3_OK;
}

static enum vcx3_status
decode_spec(struct vcx3_rule *rule, const uint8_t *spec, uint32_t size)
{
	switch (be16_at(spec, 2)) {
	case SPEC_ETH:
		return size < 48 ? VCX3_BAD_SIZE : decode_eth(rule, spec);
	case SPEC_IPV4:
		return size < 24 ? VCX3_BAD_SIZE : decode_ipv4(rule, spec);
	case SPEC_TCP:
		return size < 24 ? VCX3_BAD_SIZE : decode_ports(rule, spec, IPPROTO_TCP_NUMBER);
	case SPEC_UDP:
		return size < 24 ? VCX3_BAD_SIZE : decode_ports(rule, spec, IPPROTO_UDP_NUMBER);
	default: /* InfiniBand headers, tunnels */
		return VCX3_BAD_PARAM;
	}
}

static enum vcx3_status
decode_rule(struct vcx3_rule *rule, const uint8_t *in, uint32_t length)
{
	uint32_t at = CTRL_SIZE;

	*rule = (struct vcx3_rule){
		.priority = be16_at(in, 0x00),
		.type = in[0x02],
		.port = in[0x07],
		.qpn = be32_at(in, 0x08) & QPN_MASK,
	};
	while (at + SPEC_HEADER <= length) {
		uint32_t size = in[at] * 4U;
		enum vcx3_status status;

		if (size < SPEC_HEADER || size > length - at)
			return VCX3_BAD_SIZE;
		status = decode_spec(rule, in + at, size);
		if (status != VCX3_OK)
			return status;
		at += size;
	}
	return at == length ? VCX3_OK : VCX3_BAD_SIZE;
}

enum vcx3_status
vcx3_cmd_flow_attach(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	struct vcx3_rule rule;
	enum vcx3_status status;

	if (!pci->dmfs)
		return VCX3_BAD_SYS_STATE;
	if (cmd->modifier < CTRL_SIZE / 4 || cmd->modifier > sizeof(pci->in) / 4)
		return VCX3_BAD_SIZE;
	status = decode_rule(&rule, cmd->in, cmd->modifier * 4);
	if (status == VCX3_OK)
		status = vcx3_rule_attach(pci->core, &rule, &cmd->out_param);
	return status;
}

enum vcx3_status
vcx3_cmd_flow_detach(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	return vcx3_rule_detach(pci->core, cmd->in_param);
}

static enum vcx3_status
add_a0_rule(struct vcx3_pci *pci, struct vcx3_pci_port *port, const struct vcx3_rule *rule)
{
	enum vcx3_status status = vcx3_rule_attach(pci->core, rule,
						   &port->a0_rules[port->nb_a0_rules]);

	if (status == VCX3_OK)
		port->nb_a0_rules++;
	return status;
}

/* Frames for MAC i go to the i-th QP from the base. */
static enum vcx3_status
add_mac_rules(struct vcx3_pci *pci, unsigned int number)
{
	struct vcx3_pci_port *port = &pci->port[number - 1];
	enum vcx3_status status = VCX3_OK;
	unsigned int i;

	for (i = 0; i < 128 && status == VCX3_OK; i++) {
		const uint8_t *entry = port->mac_table[i];
		struct vcx3_rule rule = {
			.type = VCX3_RULE_REGULAR,
			.port = (uint8_t)number,
			.qpn = (port->a0_base_qpn + i) & QPN_MASK,
		};

		if ((entry[0] & 0x80) == 0)
			continue;
		memcpy(rule.dst_mac, entry + 2, 6);
		memset(rule.dst_mac_mask, 0xff, 6);
		status = add_a0_rule(pci, port, &rule);
	}
	return status;
}

enum vcx3_status
vcx3_a0_update(struct vcx3_pci *pci, unsigned int number)
{
	struct vcx3_pci_port *port = &pci->port[number - 1];
	struct vcx3_rule rule = { .port = (uint8_t)number };
	enum vcx3_status status;

	while (port->nb_a0_rules > 0)
		vcx3_rule_detach(pci->core, port->a0_rules[--port->nb_a0_rules]);
	if (pci->dmfs || !port->a0_given)
		return VCX3_OK;
	status = add_mac_rules(pci, number);
	if (status == VCX3_OK && port->a0_multicast >> 30 != 0) {
		rule.type = VCX3_RULE_MC_DEFAULT;
		rule.qpn = port->a0_multicast & QPN_MASK;
		status = add_a0_rule(pci, port, &rule);
	}
	if (status == VCX3_OK && port->a0_promisc >> 31 != 0) {
		rule.type = VCX3_RULE_ALL_DEFAULT;
		rule.qpn = port->a0_promisc & QPN_MASK;
		status = add_a0_rule(pci, port, &rule);
	}
	return status;
}
