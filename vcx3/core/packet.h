/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the headers of a frame are: Ethernet, up to two VLAN tags, IPv4, IPv6 with
 * extension headers, TCP, UDP, and VXLAN for the ConnectX-3 Pro.
 */
#ifndef VCX3_CORE_PACKET_H
#define VCX3_CORE_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#define VCX3_MIN_FRAME 60 /* without FCS; a shorter one is padded on the wire */
#define VCX3_ETHER_HEADER 14
#define VCX3_VLAN_TAG 4
#define VCX3_ETHER_CVLAN 0x8100
#define VCX3_ETHER_SVLAN 0x88a8
#define VCX3_PROTO_TCP 6
#define VCX3_PROTO_UDP 17
#define VCX3_VXLAN_PORT 4789
#define VCX3_VXLAN_HEADER 16 /* UDP and VXLAN */

struct vcx3_headers {
	uint32_t l3; /**< offset of the IP header; 0 = not IP, or malformed */
	uint32_t l4; /**< offset of what follows IP and extension headers; 0 = none */
	uint32_t end; /**< offset behind the IP packet; what follows is padding */
	uint16_t ether_type;
	uint16_t vlan_type; /**< of the outer tag; 0 = none */
	uint16_t tci; /**< of the outer tag */
	uint8_t version; /**< 4, 6, or 0 */
	uint8_t protocol; /**< that follows the IP header, extension headers skipped */
	bool is_fragment;
	bool has_options; /**< IPv4 header longer than 20 bytes */
	bool is_l4; /**< a whole TCP or UDP header of an unfragmented packet */
};

/** Parses an Ethernet frame that starts at an offset (0, or the inner frame of a tunnel). */
void vcx3_parse(const uint8_t *data, uint32_t offset, uint32_t len,
		struct vcx3_headers *headers);

/** Offset of the inner frame of a VXLAN packet; 0 = none. */
uint32_t vcx3_parse_vxlan(const uint8_t *data, const struct vcx3_headers *outer);

static inline bool
vcx3_is_multicast(const uint8_t *data)
{
	return data[0] & 1;
}

static inline bool
vcx3_is_broadcast(const uint8_t *data)
{
	return (data[0] & data[1] & data[2] & data[3] & data[4] & data[5]) == 0xff;
}

/** Sum over pseudo header and the IP payload: 0xffff when its checksum is right. */
uint16_t vcx3_l4_sum(const uint8_t *data, const struct vcx3_headers *headers);

#endif
