/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCX3_WIRE_HEADERS_H
#define VCX3_WIRE_HEADERS_H

/*
 * Lengths of frame headers and offsets of their fields, in bytes (IEEE 802.3,
 * 802.1Q, RFC 791, 8200, 768, 9293), and the checksums over them.
 */

#include "csum.h"

#define ETHER_LEN 14
#define ETHER_TYPE 12
#define ETHER_TYPE_IPV4 0x0800
#define ETHER_TYPE_IPV6 0x86dd
#define ETHER_TYPE_VLAN 0x8100
#define ETHER_TYPE_QINQ 0x88a8
#define VLAN_LEN 4

#define IPV4_LEN 20
#define IPV4_TOTAL 2
#define IPV4_ID 4
#define IPV4_TTL 8
#define IPV4_PROTO 9
#define IPV4_CSUM 10
#define IPV4_SRC 12
#define IPV4_DST 16

#define IPV6_LEN 40
#define IPV6_PAYLOAD 4
#define IPV6_NEXT 6
#define IPV6_HOPS 7
#define IPV6_SRC 8
#define IPV6_DST 24

#define PROTO_TCP 6
#define PROTO_UDP 17

#define L4_SRC_PORT 0
#define L4_DST_PORT 2

#define UDP_LEN 8
#define UDP_LENGTH 4
#define UDP_CSUM 6

#define TCP_LEN 20
#define TCP_SEQ 4
#define TCP_OFFSET 12
#define TCP_FLAGS 13
#define TCP_WINDOW 14
#define TCP_CSUM 16
#define TCP_FLAG_FIN 0x01
#define TCP_FLAG_PSH 0x08
#define TCP_FLAG_ACK 0x10
#define TCP_FLAG_CWR 0x80

static inline void
vcx3_ipv4_csum(uint8_t *ip)
{
	uint32_t len = (ip[0] & 0xf) * 4u;

	vcx3_put16(ip + IPV4_CSUM, 0);
	vcx3_csum_store(vcx3_csum_add(0, ip, len), ip + IPV4_CSUM);
}

/* Checksum of a whole TCP or UDP datagram at l4 of count bytes, below the IP header at ip. */
static inline void
vcx3_l4_csum(const uint8_t *ip, uint8_t *l4, uint32_t count, uint8_t proto)
{
	uint8_t *field = l4 + (proto == PROTO_TCP ? TCP_CSUM : UDP_CSUM);
	uint64_t sum;

	if (ip[0] >> 4 == 4)
		sum = vcx3_csum_add(0, ip + IPV4_SRC, 8);
	else
		sum = vcx3_csum_add(0, ip + IPV6_SRC, 32);
	sum = vcx3_csum_add_number(sum, count);
	sum = vcx3_csum_add_number(sum, proto);
	vcx3_put16(field, 0);
	sum = vcx3_csum_add(sum, l4, count);
	if (proto == PROTO_TCP)
		vcx3_csum_store(sum, field);
	else
		vcx3_csum_store_udp(sum, field);
}

#endif /* VCX3_WIRE_HEADERS_H */
