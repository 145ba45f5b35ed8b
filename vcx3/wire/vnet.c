/* SPDX-License-Identifier: BSD-3-Clause */

/* See vnet.h. Segments look as the kernel's software segmentation makes them. */

#include "vnet.h"

#include <errno.h>

#include "headers.h"

/* UDP segmentation, since Linux 6.2 (linux/virtio_net.h). */
#ifndef VIRTIO_NET_HDR_GSO_UDP_L4
#define VIRTIO_NET_HDR_GSO_UDP_L4 5
#endif

/* Where SCTP keeps its CRC32c, which is no RFC 1071 checksum. */
#define SCTP_CSUM 8

void
vcx3_vnet_push_vlan(struct virtio_net_hdr *header, uint8_t *frame, uint16_t tpid, uint16_t tci)
{
	memmove(frame - VLAN_LEN, frame, ETHER_TYPE);
	vcx3_put16(frame - VLAN_LEN + ETHER_TYPE, tpid);
	vcx3_put16(frame - VLAN_LEN + ETHER_TYPE + 2, tci);
	header->csum_start += VLAN_LEN;
}

int
vcx3_vnet_complete(const struct virtio_net_hdr *header, uint8_t *frame, uint32_t len)
{
	uint32_t field = (uint32_t)header->csum_start + header->csum_offset;
	uint64_t sum;

	if (!(header->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM))
		return 0;
	if (field + 2 > len || header->csum_offset == SCTP_CSUM)
		return -EINVAL;
	/* The field holds the sum of the pseudo header. */
	sum = vcx3_csum_add(0, frame + header->csum_start, len - header->csum_start);
	if (header->csum_offset == UDP_CSUM)
		vcx3_csum_store_udp(sum, frame + field);
	else
		vcx3_csum_store(sum, frame + field);
	return 0;
}

/* Offset of the IP header, or 0. */
static uint32_t
find_ip(const uint8_t *frame, uint32_t len)
{
	uint32_t offset = ETHER_TYPE;
	uint32_t type;

	for (;;) {
		if (offset + 2 > len)
			return 0;
		type = vcx3_get16(frame + offset);
		if (type != ETHER_TYPE_VLAN && type != ETHER_TYPE_QINQ)
			break;
		offset += VLAN_LEN;
	}
	return type == ETHER_TYPE_IPV4 || type == ETHER_TYPE_IPV6 ? offset + 2 : 0;
}

/* Whether the IP header at cut->l3 is whole and ends at or before cut->l4. */
static bool
ip_is_sound(const struct vcx3_vnet_cut *cut, uint8_t version)
{
	const uint8_t *ip = cut->frame + cut->l3;
	uint32_t len;

	if (cut->l3 == 0 || cut->l3 >= cut->l4 || (version != 4 && version != 6))
		return false;
	len = version == 4 ? (ip[0] & 0xf) * 4u : IPV6_LEN;
	return ip[0] >> 4 == version && len >= IPV4_LEN && cut->l3 + len <= cut->l4;
}

/* Protocol and IP version of the segmentation; version 0: not known here. */
static uint8_t
gso_version(const struct vcx3_vnet_cut *cut, uint8_t type, uint8_t *proto)
{
	*proto = PROTO_TCP;
	switch (type & ~VIRTIO_NET_HDR_GSO_ECN) {
	case VIRTIO_NET_HDR_GSO_TCPV4:
		return 4;
	case VIRTIO_NET_HDR_GSO_TCPV6:
		return 6;
	case VIRTIO_NET_HDR_GSO_UDP_L4:
		*proto = PROTO_UDP;
		return cut->l3 != 0 ? cut->frame[cut->l3] >> 4 : 0;
	default:
		return 0;
	}
}

/* 0: not sound. */
static uint32_t
l4_header_len(const struct vcx3_vnet_cut *cut)
{
	uint32_t len;

	if (cut->proto == PROTO_UDP)
		return UDP_LEN;
	if (cut->l4 + TCP_LEN > cut->len)
		return 0;
	len = (cut->frame[cut->l4 + TCP_OFFSET] >> 4) * 4u;
	return len >= TCP_LEN ? len : 0;
}

int
vcx3_vnet_cut_start(struct vcx3_vnet_cut *cut, const struct virtio_net_hdr *header,
	const uint8_t *frame, uint32_t len)
{
	uint8_t version;

	*cut = (struct vcx3_vnet_cut){
		.frame = frame,
		.len = len,
		.l4 = header->csum_start,
		.payload = header->gso_size,
	};
	if (!(header->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) || cut->payload == 0 ||
	    cut->l4 + UDP_LEN > len)
		return -EINVAL;
	cut->l3 = find_ip(frame, cut->l4);
	version = gso_version(cut, header->gso_type, &cut->proto);
	if (version == 0)
		return -ENOTSUP;
	cut->headers = cut->l4 + l4_header_len(cut);
	if (!ip_is_sound(cut, version) || cut->headers == cut->l4 || cut->headers >= len)
		return -EINVAL;
	return 0;
}

uint32_t
vcx3_vnet_cut_len(const struct vcx3_vnet_cut *cut)
{
	uint32_t left = cut->len - cut->headers - cut->done;

	if (left == 0)
		return 0;
	return cut->headers + (left < cut->payload ? left : cut->payload);
}

static void
fix_ip(const struct vcx3_vnet_cut *cut, uint8_t *ip, uint32_t len)
{
	if (ip[0] >> 4 == 6) {
		vcx3_put16(ip + IPV6_PAYLOAD, len - IPV6_LEN);
		return;
	}
	vcx3_put16(ip + IPV4_TOTAL, len);
	vcx3_put16(ip + IPV4_ID, vcx3_get16(ip + IPV4_ID) + cut->number);
	vcx3_ipv4_csum(ip);
}

static void
fix_tcp(const struct vcx3_vnet_cut *cut, uint8_t *tcp, bool last)
{
	vcx3_put32(tcp + TCP_SEQ, vcx3_get32(tcp + TCP_SEQ) + cut->done);
	if (!last)
		tcp[TCP_FLAGS] &= (uint8_t)~(TCP_FLAG_FIN | TCP_FLAG_PSH);
	/* Congestion is answered once (RFC 3168 6.1.2). */
	if (cut->number != 0)
		tcp[TCP_FLAGS] &= (uint8_t)~TCP_FLAG_CWR;
}

void
vcx3_vnet_cut_next(struct vcx3_vnet_cut *cut, uint8_t *out)
{
	uint32_t len = vcx3_vnet_cut_len(cut);
	uint32_t payload = len - cut->headers;
	bool last = cut->headers + cut->done + payload == cut->len;

	memcpy(out, cut->frame, cut->headers);
	memcpy(out + cut->headers, cut->frame + cut->headers + cut->done, payload);
	fix_ip(cut, out + cut->l3, len - cut->l3);
	if (cut->proto == PROTO_TCP)
		fix_tcp(cut, out + cut->l4, last);
	else
		vcx3_put16(out + cut->l4 + UDP_LENGTH, len - cut->l4);
	vcx3_l4_csum(out + cut->l3, out + cut->l4, len - cut->l4, cut->proto);
	cut->done += payload;
	cut->number++;
}
