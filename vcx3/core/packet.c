/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Header parser. Every offset that a frame names is checked against its length.
 */
#include <stddef.h>

#include "checksum.h"
#include "layout.h"
#include "packet.h"

#define ETHER_IPV4 0x0800
#define ETHER_IPV6 0x86dd
#define IPV4_HEADER 20
#define IPV6_HEADER 40
#define MAX_EXTENSIONS 8

enum {
	EXT_HOP_BY_HOP = 0,
	EXT_ROUTING = 43,
	EXT_FRAGMENT = 44,
	EXT_DESTINATION = 60,
};

static void
parse_l4(struct vcx3_headers *headers)
{
	uint32_t room = headers->end - headers->l4;

	if (headers->is_fragment)
		return;
	headers->is_l4 = (headers->protocol == VCX3_PROTO_TCP && room >= 20) ||
			 (headers->protocol == VCX3_PROTO_UDP && room >= 8);
}

static void
parse_ipv4(const uint8_t *data, uint32_t l3, uint32_t len, struct vcx3_headers *headers)
{
	const uint8_t *ip = data + l3;
	uint32_t header, total;

	if (len - l3 < IPV4_HEADER || ip[0] >> 4 != 4)
		return;
	header = (ip[0] & 15) * 4;
	total = vcx3_load_be16(ip + 2);
	if (header < IPV4_HEADER || total < header || total > len - l3)
		return;
	headers->version = 4;
	headers->l3 = l3;
	headers->l4 = l3 + header;
	headers->end = l3 + total;
	headers->protocol = ip[9];
	headers->has_options = header > IPV4_HEADER;
	headers->is_fragment = (vcx3_load_be16(ip + 6) & 0x3fff) != 0;
	parse_l4(headers);
}

/* Skips extension headers; leaves l4 at the first that is none. */
static void
parse_extensions(const uint8_t *data, struct vcx3_headers *headers)
{
	for (unsigned int i = 0; i < MAX_EXTENSIONS; i++) {
		const uint8_t *ext = data + headers->l4;
		uint32_t room = headers->end - headers->l4;
		uint32_t size;

		switch (headers->protocol) {
		case EXT_HOP_BY_HOP:
		case EXT_ROUTING:
		case EXT_DESTINATION:
			if (room < 8)
				return;
			size = 8 + ext[1] * 8;
			break;
		case EXT_FRAGMENT:
			if (room < 8)
				return;
			size = 8;
			headers->is_fragment = true;
			break;
		default:
			return;
		}
		if (size > room)
			return;
		headers->protocol = ext[0];
		headers->l4 += size;
	}
}

static void
parse_ipv6(const uint8_t *data, uint32_t l3, uint32_t len, struct vcx3_headers *headers)
{
	const uint8_t *ip = data + l3;
	uint32_t payload;

	if (len - l3 < IPV6_HEADER || ip[0] >> 4 != 6)
		return;
	payload = vcx3_load_be16(ip + 4);
	if (payload > len - l3 - IPV6_HEADER)
		return;
	headers->version = 6;
	headers->l3 = l3;
	headers->l4 = l3 + IPV6_HEADER;
	headers->end = headers->l4 + payload;
	headers->protocol = ip[6];
	parse_extensions(data, headers);
	parse_l4(headers);
}

static bool
is_tag(uint16_t ether_type)
{
	return ether_type == VCX3_ETHER_CVLAN || ether_type == VCX3_ETHER_SVLAN;
}

void
vcx3_parse(const uint8_t *data, uint32_t offset, uint32_t len, struct vcx3_headers *headers)
{
	uint32_t l3 = offset + VCX3_ETHER_HEADER;

	*headers = (struct vcx3_headers){ 0 };
	if (len < l3)
		return;
	headers->ether_type = vcx3_load_be16(data + l3 - 2);
	for (int tags = 0; tags < 2 && is_tag(headers->ether_type); tags++) {
		if (len - l3 < VCX3_VLAN_TAG)
			return;
		if (tags == 0) {
			headers->vlan_type = headers->ether_type;
			headers->tci = vcx3_load_be16(data + l3);
		}
		headers->ether_type = vcx3_load_be16(data + l3 + 2);
		l3 += VCX3_VLAN_TAG;
	}
	if (headers->ether_type == ETHER_IPV4)
		parse_ipv4(data, l3, len, headers);
	else if (headers->ether_type == ETHER_IPV6)
		parse_ipv6(data, l3, len, headers);
}

uint32_t
vcx3_parse_vxlan(const uint8_t *data, const struct vcx3_headers *outer)
{
	if (!outer->is_l4 || outer->protocol != VCX3_PROTO_UDP ||
	    vcx3_load_be16(data + outer->l4 + 2) != VCX3_VXLAN_PORT ||
	    outer->end - outer->l4 < VCX3_VXLAN_HEADER + VCX3_ETHER_HEADER)
		return 0;
	return outer->l4 + VCX3_VXLAN_HEADER;
}

uint16_t
vcx3_l4_sum(const uint8_t *data, const struct vcx3_headers *headers)
{
	uint32_t len = headers->end - headers->l4;

	return vcx3_sum_fold(vcx3_sum(data + headers->l4, len,
				      vcx3_sum_pseudo(data + headers->l3, headers->version, len,
						      headers->protocol)));
}
