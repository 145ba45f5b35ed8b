/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Flow rules of verbs as rules of the core: what the kernel's mlx4_ib accepts, ignores and
 * refuses (connectx3-device.md E.1, E.2).
 */

#include <endian.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <rdma/ib_user_verbs.h>

#include "command.h"

#define SPEC_ETH 0x20
#define SPEC_IPV4 0x30
#define SPEC_TCP 0x40
#define SPEC_UDP 0x41
#define MAX_SPECS 10
#define MAX_PRIORITY 0xfff
/* Rules of verbs come before those of ethtool, RFS and the netdev, whose numbers are higher. */
#define DOMAIN_UVERBS 0x0000
#define DOMAIN_NIC 0x5000

/* One filter of a spec: value, then mask, each of this many bytes. */
struct filter {
	const uint8_t *value;
	const uint8_t *mask;
	size_t size;
};

static uint16_t
be16_at(const uint8_t *bytes)
{
	return bytes[0] << 8 | bytes[1];
}

static uint32_t
be32_at(const uint8_t *bytes)
{
	return (uint32_t)be16_at(bytes) << 16 | be16_at(bytes + 2);
}

static bool
any_set(const uint8_t *bytes, size_t from, size_t to)
{
	for (; from < to; from++)
		if (bytes[from] != 0)
			return true;
	return false;
}

/* Source MAC and ether type are ignored, as the kernel does. */
static int
add_eth(struct vcx3_rule *rule, const struct filter *filter)
{
	if (filter->size < sizeof(struct ib_uverbs_flow_eth_filter))
		return -EINVAL;
	memcpy(rule->dst_mac, filter->value, 6);
	memcpy(rule->dst_mac_mask, filter->mask, 6);
	rule->vlan = be16_at(filter->value + 14);
	rule->vlan_mask = be16_at(filter->mask + 14);
	return 0;
}

/* 8 bytes (two addresses) or the 12 of IPV4_EXT (V.2-1); only the addresses can match. */
static int
add_ipv4(struct vcx3_rule *rule, const struct filter *filter)
{
	if (filter->size < 8)
		return -EINVAL;
	if (any_set(filter->mask, 8, filter->size))
		return -EOPNOTSUPP;
	rule->match_ipv4 = true;
	rule->src_ip = be32_at(filter->value);
	rule->src_ip_mask = be32_at(filter->mask);
	rule->dst_ip = be32_at(filter->value + 4);
	rule->dst_ip_mask = be32_at(filter->mask + 4);
	return 0;
}

static int
add_ports(struct vcx3_rule *rule, const struct filter *filter, uint8_t protocol)
{
	if (filter->size < 4)
		return -EINVAL;
	rule->l4_protocol = protocol;
	rule->dst_port = be16_at(filter->value);
	rule->dst_port_mask = be16_at(filter->mask);
	rule->src_port = be16_at(filter->value + 2);
	rule->src_port_mask = be16_at(filter->mask + 2);
	return 0;
}

static int
add_spec(struct vcx3_rule *rule, uint32_t type, const struct filter *filter)
{
	switch (type) {
	case SPEC_ETH:
		return add_eth(rule, filter);
	case SPEC_IPV4:
		return add_ipv4(rule, filter);
	case SPEC_TCP:
		return add_ports(rule, filter, IPPROTO_TCP);
	case SPEC_UDP:
		return add_ports(rule, filter, IPPROTO_UDP);
	default:
		return -EINVAL;
	}
}

static int
parse_specs(const struct ib_uverbs_flow_attr *attr, const uint8_t *at, size_t room,
	    struct vcx3_rule *rule)
{
	size_t left = attr->size;
	unsigned int i;
	int ret;

	if (left > room || attr->num_of_specs > MAX_SPECS)
		return -EINVAL;
	for (i = 0; i < attr->num_of_specs; i++) {
		struct ib_uverbs_flow_spec_hdr header;
		struct filter filter;

		if (left < sizeof(header))
			return -EINVAL;
		memcpy(&header, at, sizeof(header));
		if (header.size < sizeof(header) || header.size > left || header.reserved != 0)
			return -EINVAL;
		filter.size = (header.size - sizeof(header)) / 2;
		filter.value = at + sizeof(header);
		filter.mask = filter.value + filter.size;
		ret = add_spec(rule, header.type, &filter);
		if (ret < 0)
			return ret;
		at += header.size;
		left -= header.size;
	}
	return left == 0 ? 0 : -EINVAL;
}

static int
check_attr(const struct uv_card *card, const struct ib_uverbs_flow_attr *attr)
{
	if (attr->priority > MAX_PRIORITY || attr->port < 1 || attr->port > card->options.ports ||
	    attr->type > IBV_FLOW_ATTR_SNIFFER)
		return -EINVAL;
	if (attr->flags & ~(uint32_t)IBV_FLOW_ATTR_FLAGS_DONT_TRAP)
		return -EOPNOTSUPP;
	if (attr->flags & IBV_FLOW_ATTR_FLAGS_DONT_TRAP && attr->type != IBV_FLOW_ATTR_NORMAL)
		return -EOPNOTSUPP;
	return 0;
}

/* A sniffer is two rules: what is received, what is sent. */
static uint32_t
rule_types(uint32_t verbs_type, enum vcx3_rule_type types[2])
{
	switch (verbs_type) {
	case IBV_FLOW_ATTR_ALL_DEFAULT:
		types[0] = VCX3_RULE_ALL_DEFAULT;
		return 1;
	case IBV_FLOW_ATTR_MC_DEFAULT:
		types[0] = VCX3_RULE_MC_DEFAULT;
		return 1;
	case IBV_FLOW_ATTR_SNIFFER:
		types[0] = VCX3_RULE_MIRROR_RX;
		types[1] = VCX3_RULE_MIRROR_TX;
		return 2;
	default:
		types[0] = VCX3_RULE_REGULAR;
		return 1;
	}
}

static int
attach(struct uv_command *command, struct uv_object *qp, struct vcx3_rule *rule,
       uint32_t verbs_type, struct uv_object **made)
{
	struct uv_card *card = command->card;
	struct uv_object *flow = uv_object_new(card, command->context, UV_FLOW);
	enum vcx3_rule_type types[2];
	uint32_t nb = rule_types(verbs_type, types);
	int ret = 0;

	if (flow == NULL)
		return -ENOMEM;
	flow->flow.qp = qp;
	qp->users++;
	while (ret == 0 && flow->flow.nb_rules < nb) {
		rule->type = types[flow->flow.nb_rules];
		ret = vcx3_status_errno(vcx3_rule_attach(card->core, rule,
							 &flow->flow.rule[flow->flow.nb_rules]));
		flow->flow.nb_rules += ret == 0;
	}
	if (ret < 0) {
		uv_object_destroy(card, flow);
		return ret;
	}
	*made = flow;
	return 0;
}

int
uv_cmd_ex_create_flow(struct uv_command *command)
{
	struct ib_uverbs_create_flow request;
	struct ib_uverbs_create_flow_resp response = {0};
	struct vcx3_rule rule = {0};
	struct uv_object *qp, *flow;
	int ret;

	UV_CORE(command, request);
	if (request.comp_mask != 0)
		return -EINVAL;
	ret = check_attr(command->card, &request.flow_attr);
	if (ret == 0)
		ret = parse_specs(&request.flow_attr, command->frame.core + sizeof(request),
				  command->frame.core_size - sizeof(request), &rule);
	qp = uv_object_get(command->card, command->context, UV_QP, request.qp_handle);
	if (ret < 0 || qp == NULL)
		return ret < 0 ? ret : -EINVAL;
	rule.priority = DOMAIN_UVERBS | request.flow_attr.priority;
	rule.port = request.flow_attr.port;
	rule.dont_trap = request.flow_attr.flags & IBV_FLOW_ATTR_FLAGS_DONT_TRAP;
	rule.qpn = qp->qp.number;
	ret = attach(command, qp, &rule, request.flow_attr.type, &flow);
	if (ret < 0)
		return ret;
	response.flow_handle = flow->handle;
	UV_ANSWER(command, response);
	return 0;
}

int
uv_cmd_ex_destroy_flow(struct uv_command *command)
{
	struct ib_uverbs_destroy_flow request;
	struct uv_object *flow;

	UV_CORE(command, request);
	flow = uv_object_get(command->card, command->context, UV_FLOW, request.flow_handle);
	if (flow == NULL || request.comp_mask != 0)
		return -EINVAL;
	return uv_object_destroy(command->card, flow);
}

/* The MAC stands in the last six bytes of the GID; the rule is the netdev domain's. */
int
uv_cmd_attach_mcast(struct uv_command *command)
{
	struct ib_uverbs_attach_mcast request;
	struct vcx3_rule rule = {0};
	struct uv_object *qp, *flow;
	int ret;

	UV_CORE(command, request);
	qp = uv_object_get(command->card, command->context, UV_QP, request.qp_handle);
	if (qp == NULL || qp->qp.attr.port == 0)
		return -EINVAL;
	memcpy(rule.dst_mac, request.gid + 10, 6);
	memset(rule.dst_mac_mask, 0xff, 6);
	rule.priority = DOMAIN_NIC;
	rule.port = qp->qp.attr.port;
	rule.qpn = qp->qp.number;
	ret = attach(command, qp, &rule, IBV_FLOW_ATTR_NORMAL, &flow);
	if (ret == 0)
		memcpy(flow->flow.mac, rule.dst_mac, sizeof(flow->flow.mac));
	return ret;
}

int
uv_cmd_detach_mcast(struct uv_command *command)
{
	struct uv_card *card = command->card;
	struct ib_uverbs_detach_mcast request;
	uint32_t i;

	UV_CORE(command, request);
	for (i = 0; i < card->nb_objects; i++) {
		struct uv_object *flow = card->objects[i];

		if (flow == NULL || flow->type != UV_FLOW || flow->context != command->context ||
		    flow->flow.qp->handle != request.qp_handle ||
		    memcmp(flow->flow.mac, request.gid + 10, 6) != 0)
			continue;
		return uv_object_destroy(card, flow);
	}
	return -EINVAL;
}
