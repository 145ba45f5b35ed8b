/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Send offloads: checksums, and cutting large TCP sends into frames
 * (connectx3-device.md D.1).
 */
#include <string.h>

#include "checksum.h"
#include "device.h"

#define TCP_FIN 0x01
#define TCP_PSH 0x08
#define TCP_CWR 0x80

static void
put_sum(uint8_t *at, uint64_t sum)
{
	uint16_t value = ~vcx3_sum_fold(sum);

	memcpy(at, &value, sizeof(value));
}

static void
fill_ip(uint8_t *frame, const struct vcx3_headers *headers)
{
	uint8_t *ip = frame + headers->l3;

	if (headers->version != 4)
		return;
	vcx3_store_be16(ip + 10, 0);
	put_sum(ip + 10, vcx3_sum(ip, (ip[0] & 15) * 4, 0));
}

static void
fill_l4(uint8_t *frame, const struct vcx3_headers *headers)
{
	uint8_t *field = frame + headers->l4 + (headers->protocol == VCX3_PROTO_TCP ? 16 : 6);
	uint16_t value;

	if (!headers->is_l4)
		return;
	vcx3_store_be16(field, 0);
	value = ~vcx3_l4_sum(frame, headers);
	if (value == 0 && headers->protocol == VCX3_PROTO_UDP)
		value = UINT16_MAX; /* 0 would mean none (RFC 768) */
	memcpy(field, &value, sizeof(value));
}

/* Inner sums first: an outer UDP checksum covers them. */
void
vcx3_offload_checksums(const struct vcx3_core *core, uint8_t *frame, uint32_t len,
		       uint32_t owner_opcode, uint32_t flags)
{
	struct vcx3_headers outer, inner;
	uint32_t offset;

	vcx3_parse(frame, 0, len, &outer);
	offset = core->config.device == VCX3_CX3_PRO ? vcx3_parse_vxlan(frame, &outer) : 0;
	if (offset != 0) {
		vcx3_parse(frame, offset, len, &inner);
		if (owner_opcode & VCX3_SQ_INNER_IP_CSUM)
			fill_ip(frame, &inner);
		if (owner_opcode & VCX3_SQ_INNER_L4_CSUM)
			fill_l4(frame, &inner);
	}
	if (flags & VCX3_SQ_L4_CSUM)
		fill_l4(frame, &outer);
	if (flags & VCX3_SQ_IP_CSUM)
		fill_ip(frame, &outer);
}

/* Where the L3 and L4 headers of an Ethernet header stack begin; lengths inside are not trusted. */
static bool
find_headers(const struct vcx3_lso *lso, uint32_t at, struct vcx3_lso_headers *found)
{
	const uint8_t *header = lso->header;
	uint32_t l3 = at + VCX3_ETHER_HEADER;

	while (l3 + VCX3_VLAN_TAG <= lso->header_len &&
	       (vcx3_load_be16(header + l3 - 2) == VCX3_ETHER_CVLAN ||
		vcx3_load_be16(header + l3 - 2) == VCX3_ETHER_SVLAN))
		l3 += VCX3_VLAN_TAG;
	if (l3 + 20 > lso->header_len)
		return false;
	found->l3 = l3;
	found->version = header[l3] >> 4;
	if (found->version == 4) {
		found->protocol = header[l3 + 9];
		found->l4 = l3 + (header[l3] & 15) * 4;
	} else if (found->version == 6 && l3 + 40 <= lso->header_len) {
		found->protocol = header[l3 + 6];
		found->l4 = l3 + 40;
	} else {
		return false;
	}
	return found->l4 + 8 <= lso->header_len;
}

/* Checks that the header ends with TCP, maybe in a VXLAN tunnel. */
bool
vcx3_lso_parse(struct vcx3_lso *lso)
{
	lso->has_tunnel = false;
	if (!find_headers(lso, 0, &lso->tcp))
		return false;
	if (lso->tcp.protocol == VCX3_PROTO_UDP) {
		if (vcx3_load_be16(lso->header + lso->tcp.l4 + 2) != VCX3_VXLAN_PORT)
			return false;
		lso->has_tunnel = true;
		lso->outer = lso->tcp;
		if (!find_headers(lso, lso->outer.l4 + VCX3_VXLAN_HEADER, &lso->tcp))
			return false;
	}
	return lso->tcp.protocol == VCX3_PROTO_TCP && lso->tcp.l4 + 20 <= lso->header_len &&
	       lso->tcp.l4 + (lso->header[lso->tcp.l4 + 12] >> 4) * 4 == lso->header_len;
}

static void
patch_ip(uint8_t *frame, uint32_t len, const struct vcx3_lso_headers *headers, uint32_t number)
{
	uint8_t *ip = frame + headers->l3;

	if (headers->version == 6) {
		vcx3_store_be16(ip + 4, len - headers->l3 - 40);
		return;
	}
	vcx3_store_be16(ip + 2, len - headers->l3);
	vcx3_store_be16(ip + 4, vcx3_load_be16(ip + 4) + number);
}

static void
patch_tcp(uint8_t *tcp, uint32_t offset, bool is_last)
{
	vcx3_store_be32(tcp + 4, vcx3_load_be32(tcp + 4) + offset);
	if (!is_last)
		tcp[13] &= ~(TCP_FIN | TCP_PSH);
	if (offset > 0)
		tcp[13] &= ~TCP_CWR;
}

/* Writes the frame that carries payload bytes offset to offset + part. */
void
vcx3_lso_build(const struct vcx3_lso *lso, const uint8_t *payload, uint32_t offset, uint32_t part,
	       bool is_last, uint8_t *frame)
{
	uint32_t len = lso->header_len + part;
	uint32_t number = offset / lso->mss;

	memcpy(frame, lso->header, lso->header_len);
	memcpy(frame + lso->header_len, payload + offset, part);
	patch_ip(frame, len, &lso->tcp, number);
	patch_tcp(frame + lso->tcp.l4, offset, is_last);
	if (!lso->has_tunnel)
		return;
	patch_ip(frame, len, &lso->outer, number);
	vcx3_store_be16(frame + lso->outer.l4 + 4, len - lso->outer.l4);
}
