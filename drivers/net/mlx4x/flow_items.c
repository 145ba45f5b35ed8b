/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Patterns of rte_flow as specs of verbs. A rule of the device compares destination
 * MAC, VLAN id, IPv4 addresses and TCP or UDP ports, each by all of its bits or not at
 * all; whatever else a pattern asks for is refused, with the field that is the reason.
 */

#include <errno.h>
#include <string.h>

#include <rte_common.h>
#include <rte_flow.h>
#include <rte_flow_driver.h>

#include "flow.h"

/* Bytes of a header of rte_flow. refusal is NULL where the device can compare them. */
struct field {
	uint16_t offset;
	uint16_t size;
	const char *refusal;
};

#define FIELD(header, name, refusal) \
	{ offsetof(header, name), sizeof(((header *)NULL)->name), (refusal) }
#define REST(header, from, refusal) \
	{ (from), sizeof(header) - (from), (refusal) }

static const char partial_mask[] =
	"a field is matched by all of its bits or not at all: this mask is partial";
static const char ipv4_rest[] =
	"of an IPv4 header only source and destination address can be matched";
static const char tcp_rest[] =
	"of a TCP header only source and destination port can be matched";
static const char udp_rest[] =
	"of a UDP header only source and destination port can be matched";

static const struct field eth_fields[] = {
	FIELD(struct rte_flow_item_eth, dst, NULL),
	FIELD(struct rte_flow_item_eth, src,
		"the source MAC cannot be matched: the device compares the destination MAC only"),
	FIELD(struct rte_flow_item_eth, type,
		"EtherType cannot be matched; IPv4 can be by an ipv4 item, LACP by destination "
		"MAC 01:80:c2:00:00:02"),
	REST(struct rte_flow_item_eth, sizeof(struct rte_ether_hdr),
		"the presence of a VLAN tag cannot be matched, only a VLAN id"),
};

static const struct field vlan_fields[] = {
	FIELD(struct rte_flow_item_vlan, inner_type, "the type behind a VLAN tag cannot be matched"),
	REST(struct rte_flow_item_vlan, sizeof(struct rte_vlan_hdr),
		"the presence of a second VLAN tag cannot be matched"),
};

static const struct field ipv4_fields[] = {
	{ 0, offsetof(struct rte_flow_item_ipv4, hdr.src_addr), ipv4_rest },
	FIELD(struct rte_flow_item_ipv4, hdr.src_addr, NULL),
	FIELD(struct rte_flow_item_ipv4, hdr.dst_addr, NULL),
};

static const struct field tcp_fields[] = {
	FIELD(struct rte_flow_item_tcp, hdr.src_port, NULL),
	FIELD(struct rte_flow_item_tcp, hdr.dst_port, NULL),
	REST(struct rte_flow_item_tcp, offsetof(struct rte_flow_item_tcp, hdr.sent_seq), tcp_rest),
};

static const struct field udp_fields[] = {
	FIELD(struct rte_flow_item_udp, hdr.src_port, NULL),
	FIELD(struct rte_flow_item_udp, hdr.dst_port, NULL),
	REST(struct rte_flow_item_udp, offsetof(struct rte_flow_item_udp, hdr.dgram_len), udp_rest),
};

/* An item with the mask in force; spec and mask are NULL if it takes any header. */
struct item {
	const struct rte_flow_item *item;
	const void *spec;
	const void *mask;
};

typedef int (*translate_t)(struct mlx4x_flow_match *match, const struct item *item,
	struct rte_flow_error *error);

static int
refuse(struct rte_flow_error *error, enum rte_flow_error_type type, const void *cause,
	const char *sentence)
{
	return rte_flow_error_set(error, ENOTSUP, type, cause, sentence);
}

static int
translate_eth(struct mlx4x_flow_match *match, const struct item *item,
	struct rte_flow_error *error)
{
	static const struct rte_ether_addr zero;
	const struct rte_flow_item_eth *spec = item->spec, *mask = item->mask;

	match->eth.type = IBV_FLOW_SPEC_ETH;
	match->eth.size = sizeof(match->eth);
	match->attr.num_of_specs++;
	match->attr.size += sizeof(match->eth);
	if (mask == NULL || rte_is_same_ether_addr(&mask->dst, &zero)) {
		/*
		 * Any destination. The kernel lets a virtual function name its own MAC or a
		 * group address only, and looks at the value without the mask.
		 */
		match->eth.val.dst_mac[0] = 0xff;
		return 0;
	}
	memcpy(match->eth.val.dst_mac, &spec->dst, sizeof(spec->dst));
	memcpy(match->eth.mask.dst_mac, &mask->dst, sizeof(mask->dst));
	return 0;
}

static int
translate_vlan(struct mlx4x_flow_match *match, const struct item *item,
	struct rte_flow_error *error)
{
	const struct rte_flow_item_vlan *spec = item->spec, *mask = item->mask;

	if (mask == NULL || mask->tci == 0)
		return refuse(error, RTE_FLOW_ERROR_TYPE_ITEM, item->item,
			"frames with any VLAN tag cannot be told from those without: a vlan item needs "
			"a VLAN id");
	if (mask->tci != RTE_BE16(RTE_VLAN_ID_MASK))
		return refuse(error, RTE_FLOW_ERROR_TYPE_ITEM_MASK, item->item->mask,
			"of a VLAN tag only the whole id can be matched, mask 0x0fff");
	match->eth.val.vlan_tag = spec->tci & mask->tci;
	match->eth.mask.vlan_tag = mask->tci;
	return 0;
}

static int
translate_ipv4(struct mlx4x_flow_match *match, const struct item *item,
	struct rte_flow_error *error)
{
	const struct rte_flow_item_ipv4 *spec = item->spec, *mask = item->mask;

	match->ipv4.type = IBV_FLOW_SPEC_IPV4;
	match->ipv4.size = sizeof(match->ipv4);
	match->attr.num_of_specs++;
	match->attr.size += sizeof(match->ipv4);
	if (mask == NULL)
		return 0;
	match->ipv4.val.src_ip = spec->hdr.src_addr & mask->hdr.src_addr;
	match->ipv4.val.dst_ip = spec->hdr.dst_addr & mask->hdr.dst_addr;
	match->ipv4.mask.src_ip = mask->hdr.src_addr;
	match->ipv4.mask.dst_ip = mask->hdr.dst_addr;
	return 0;
}

/* The headers of both protocols begin with the ports. */
static void
translate_ports(struct mlx4x_flow_match *match, enum ibv_flow_spec_type type,
	const struct item *item)
{
	const struct rte_udp_hdr *spec = item->spec, *mask = item->mask;

	match->l4.type = type;
	match->l4.size = sizeof(match->l4);
	match->attr.num_of_specs++;
	match->attr.size += sizeof(match->l4);
	if (mask == NULL)
		return;
	match->l4.val.src_port = spec->src_port & mask->src_port;
	match->l4.val.dst_port = spec->dst_port & mask->dst_port;
	match->l4.mask.src_port = mask->src_port;
	match->l4.mask.dst_port = mask->dst_port;
}

static int
translate_tcp(struct mlx4x_flow_match *match, const struct item *item,
	struct rte_flow_error *error)
{
	translate_ports(match, IBV_FLOW_SPEC_TCP, item);
	return 0;
}

static int
translate_udp(struct mlx4x_flow_match *match, const struct item *item,
	struct rte_flow_error *error)
{
	translate_ports(match, IBV_FLOW_SPEC_UDP, item);
	/* conventions.md 2.1: some firmware ignores the priority of these. */
	if (match->l4.mask.dst_port != 0 && match->attr.priority != 0)
		return refuse(error, RTE_FLOW_ERROR_TYPE_ATTR_PRIORITY, item->item,
			"a rule that matches a UDP destination port is possible at priority 0 only: "
			"the device ignores its priority");
	return 0;
}

/* Layers in the order of a frame; what may follow what. */
enum layer {
	LAYER_START = 1 << 0,
	LAYER_ETH = 1 << 1,
	LAYER_VLAN = 1 << 2,
	LAYER_IPV4 = 1 << 3,
	LAYER_L4 = 1 << 4,
};

static const struct header {
	enum rte_flow_item_type type;
	enum layer layer;
	unsigned int follows;		/* layers */
	const char *misplaced;
	const void *default_mask;
	size_t size;
	const struct field *fields;
	unsigned int nb_fields;
	translate_t translate;
} headers[] = {
	{
		RTE_FLOW_ITEM_TYPE_ETH, LAYER_ETH, LAYER_START,
		"eth comes first in a pattern, and once",
		&rte_flow_item_eth_mask, sizeof(rte_flow_item_eth_mask),
		eth_fields, RTE_DIM(eth_fields), translate_eth,
	}, {
		RTE_FLOW_ITEM_TYPE_VLAN, LAYER_VLAN, LAYER_ETH,
		"vlan follows eth, once: the device sees one VLAN tag",
		&rte_flow_item_vlan_mask, sizeof(rte_flow_item_vlan_mask),
		vlan_fields, RTE_DIM(vlan_fields), translate_vlan,
	}, {
		RTE_FLOW_ITEM_TYPE_IPV4, LAYER_IPV4, LAYER_ETH | LAYER_VLAN,
		"ipv4 follows eth or vlan: tunnels cannot be matched",
		&rte_flow_item_ipv4_mask, sizeof(rte_flow_item_ipv4_mask),
		ipv4_fields, RTE_DIM(ipv4_fields), translate_ipv4,
	}, {
		RTE_FLOW_ITEM_TYPE_TCP, LAYER_L4, LAYER_IPV4, "tcp follows ipv4",
		&rte_flow_item_tcp_mask, sizeof(rte_flow_item_tcp_mask),
		tcp_fields, RTE_DIM(tcp_fields), translate_tcp,
	}, {
		RTE_FLOW_ITEM_TYPE_UDP, LAYER_L4, LAYER_IPV4, "udp follows ipv4",
		&rte_flow_item_udp_mask, sizeof(rte_flow_item_udp_mask),
		udp_fields, RTE_DIM(udp_fields), translate_udp,
	},
};

static const struct header *
find_header(enum rte_flow_item_type type)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(headers); i++) {
		if (headers[i].type == type)
			return &headers[i];
	}
	return NULL;
}

/* All bits of a field, none, or some. */
enum coverage { COVER_NONE, COVER_ALL, COVER_SOME };

static enum coverage
coverage(const uint8_t *bytes, size_t size)
{
	uint8_t all = 0xff, any = 0;
	size_t i;

	for (i = 0; i < size; i++) {
		all &= bytes[i];
		any |= bytes[i];
	}
	return any == 0 ? COVER_NONE : all == 0xff ? COVER_ALL : COVER_SOME;
}

static int
check_fields(const struct header *header, const struct item *item, struct rte_flow_error *error)
{
	const uint8_t *mask = item->mask;
	unsigned int i;

	for (i = 0; i < header->nb_fields && mask != NULL; i++) {
		const struct field *field = &header->fields[i];
		enum coverage covered = coverage(mask + field->offset, field->size);

		if (covered != COVER_NONE && field->refusal != NULL)
			return refuse(error, RTE_FLOW_ERROR_TYPE_ITEM_MASK, item->item->mask,
				field->refusal);
		if (covered == COVER_SOME)
			return refuse(error, RTE_FLOW_ERROR_TYPE_ITEM_MASK, item->item->mask,
				partial_mask);
	}
	return 0;
}

/* A range of values is accepted only if it is one value. */
static int
check_last(const struct header *header, const struct item *item, struct rte_flow_error *error)
{
	const uint8_t *last = item->item->last, *spec = item->spec, *mask = item->mask;
	size_t i;

	if (last == NULL)
		return 0;
	for (i = 0; i < header->size; i++) {
		if ((last[i] ^ spec[i]) & mask[i])
			return refuse(error, RTE_FLOW_ERROR_TYPE_ITEM_LAST, last,
				"ranges of values cannot be matched");
	}
	return 0;
}

static int
add_item(struct mlx4x_flow_match *match, const struct header *header,
	const struct rte_flow_item *from, struct rte_flow_error *error)
{
	struct item item = { .item = from, .spec = from->spec };
	int ret;

	if (from->spec == NULL && (from->mask != NULL || from->last != NULL))
		return rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM_SPEC, from,
			"an item without spec has neither mask nor last");
	if (from->spec != NULL)
		item.mask = from->mask != NULL ? from->mask : header->default_mask;
	ret = check_fields(header, &item, error);
	if (ret == 0)
		ret = check_last(header, &item, error);
	return ret == 0 ? header->translate(match, &item, error) : ret;
}

static int
check_attr(const struct rte_flow_attr *attr, struct rte_flow_error *error)
{
	if (attr->egress)
		return refuse(error, RTE_FLOW_ERROR_TYPE_ATTR_EGRESS, attr,
			"the device has no rules for frames that leave: egress is not possible");
	if (attr->transfer)
		return refuse(error, RTE_FLOW_ERROR_TYPE_ATTR_TRANSFER, attr,
			"the device has no rules between its functions: transfer is not possible");
	if (!attr->ingress)
		return rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ATTR_INGRESS, attr,
			"a rule needs the attribute ingress");
	if (attr->group != 0)
		return refuse(error, RTE_FLOW_ERROR_TYPE_ATTR_GROUP, attr,
			"the device has one table of rules: group 0 is the only one");
	if (attr->priority > MLX4X_FLOW_MAX_PRIORITY)
		return refuse(error, RTE_FLOW_ERROR_TYPE_ATTR_PRIORITY, attr,
			"priorities go from 0 to 4094; the rules of the MAC table have 4095");
	return 0;
}

/* match is what the device shall compare; its attr.port remains to be set. */
int
mlx4x_flow_match_parse(struct mlx4x_flow_match *match, const struct rte_flow_attr *attr,
	const struct rte_flow_item *pattern, struct rte_flow_error *error)
{
	enum layer layer = LAYER_START;
	int ret = check_attr(attr, error);

	if (ret != 0)
		return ret;
	memset(match, 0, sizeof(*match));
	match->attr.type = IBV_FLOW_ATTR_NORMAL;
	match->attr.size = sizeof(match->attr);
	match->attr.priority = attr->priority;
	for (; pattern->type != RTE_FLOW_ITEM_TYPE_END; pattern++) {
		const struct header *header = find_header(pattern->type);

		if (pattern->type == RTE_FLOW_ITEM_TYPE_VOID)
			continue;
		if (header == NULL)
			return refuse(error, RTE_FLOW_ERROR_TYPE_ITEM, pattern,
				"this item cannot be matched: the device knows eth, vlan, ipv4, tcp "
				"and udp");
		if (!(header->follows & layer))
			return refuse(error, RTE_FLOW_ERROR_TYPE_ITEM, pattern, header->misplaced);
		ret = add_item(match, header, pattern, error);
		if (ret != 0)
			return ret;
		layer = header->layer;
	}
	if (layer == LAYER_START)
		return refuse(error, RTE_FLOW_ERROR_TYPE_ITEM, pattern,
			"a pattern begins with eth, which may be empty");
	return 0;
}
