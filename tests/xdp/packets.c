/* SPDX-License-Identifier: BSD-3-Clause */
/* See packets.h. */
#include <string.h>

#include <arpa/inet.h>
#include <net/ethernet.h>
#include <netinet/in.h>

#include "packets.h"

#define POOL 16	/* addresses of each kind */

static uint32_t state = 1;

uint32_t
packets_random(void)
{
	state = state * 1664525 + 1013904223;
	return state >> 8;
}

static bool
one_in(uint32_t n)
{
	return packets_random() % n == 0;
}

static void
noise(uint8_t *to, size_t size)
{
	for (size_t i = 0; i < size; i++)
		to[i] = packets_random();
}

static void
put16(uint8_t *to, uint16_t value)
{
	value = htons(value);
	memcpy(to, &value, sizeof(value));
}

static void
put_mac(uint8_t *to)
{
	static const uint8_t first[5] = { 0x02, 0x00, 0x00, 0x00, 0x00 };

	memcpy(to, first, sizeof(first));
	to[5] = packets_random() % POOL;
}

static void
put_ipv4(uint8_t *to)
{
	memcpy(to, "\x0a\x00\x00", 3);
	to[3] = packets_random() % POOL;
}

static void
put_ipv6(uint8_t *to)
{
	memset(to, 0, 16);
	memcpy(to, "\x20\x01\x0d\xb8", 4);
	to[15] = packets_random() % POOL;
}

static uint16_t
port(void)
{
	static const uint16_t ports[] = { 9, 53, 80, 443, 3784, 5353, 8080, 50000 };

	return ports[packets_random() % 8];
}

static uint16_t
checksum(const uint8_t *header, size_t size)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < size; i += 2)
		sum += header[i] << 8 | header[i + 1];
	sum = (sum >> 16) + (sum & 0xffff);
	return ~(sum + (sum >> 16));
}

/* Transport headers; the rest of the packet is noise already. */
static void
put_transport(uint8_t *to, uint8_t protocol, size_t left)
{
	if (protocol != IPPROTO_TCP && protocol != IPPROTO_UDP)
		return;
	put16(to, port());
	put16(to + 2, port());
	if (protocol == IPPROTO_UDP) {
		put16(to + 4, left);
	} else {
		to[12] = one_in(4) ? 0x80 : 0x50;
		to[13] = 1u << packets_random() % 6;
	}
}

static uint8_t
protocol4(void)
{
	static const uint8_t protocols[] = {
		IPPROTO_TCP, IPPROTO_TCP, IPPROTO_UDP, IPPROTO_UDP, IPPROTO_ICMP, IPPROTO_IPIP,
		IPPROTO_GRE, IPPROTO_IPV6,
	};

	return protocols[packets_random() % 8];
}

static void
put_packet4(uint8_t *to, size_t left)
{
	size_t header = one_in(6) ? 24 : 20;

	to[0] = 0x40 | header / 4;
	to[1] = 0;
	put16(to + 2, left);
	put16(to + 6, one_in(8) ? 0x2000 : one_in(8) ? 0x00b9 : one_in(2) ? 0x4000 : 0);
	to[8] = one_in(8) ? 1 : 64;
	to[9] = protocol4();
	memset(to + 10, 0, 2);
	put_ipv4(to + 12);
	put_ipv4(to + 16);
	if (header == 24)
		memcpy(to + 20, "\x01\x01\x01\x00", 4);
	put16(to + 10, one_in(16) ? 0x1234 : checksum(to, header));
	put_transport(to + header, to[9], left - header);
}

static void
put_packet6(uint8_t *to, size_t left)
{
	static const uint8_t protocols[] = {
		IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMPV6, IPPROTO_IPIP, IPPROTO_IPV6, IPPROTO_HOPOPTS,
	};
	uint8_t protocol = protocols[packets_random() % 6], *next = to + 6;
	size_t header = 40;

	memcpy(to, "\x60\x00\x00\x00", 4);
	put16(to + 4, left - header);
	to[7] = one_in(8) ? 1 : 64;
	put_ipv6(to + 8);
	put_ipv6(to + 24);
	if (one_in(6)) {
		*next = IPPROTO_FRAGMENT;
		next = to + header;
		memset(next, 0, 8);
		put16(next + 2, one_in(2) ? 1 : 0x05c8);
		header += 8;
	}
	*next = protocol;
	put_transport(to + header, protocol, left - header);
}

static uint32_t
random_size(void)
{
	uint32_t jumbo = FRAME_PACKET_MAX - 32;

	if (one_in(16))
		return one_in(2) ? FRAME_PACKET_MAX : jumbo + packets_random() % 32;
	if (one_in(8))
		return 1500 + packets_random() % 2000;
	return one_in(2) ? 80 + packets_random() % 80 : 80 + packets_random() % 1420;
}

/* Returns where the network header starts. */
static size_t
put_ethernet(uint8_t *packet, uint16_t type)
{
	unsigned int tags = one_in(4) ? 1 + one_in(3) : 0;
	size_t at = 12;

	put_mac(packet);
	put_mac(packet + 6);
	for (; tags > 0; tags--, at += 4) {
		put16(packet + at, tags == 2 ? 0x88a8 : ETHERTYPE_VLAN);
		put16(packet + at + 2, one_in(2) ? packets_random() % 8 : 4011);
	}
	put16(packet + at, type);
	return at + 2;
}

static void
put_packet(uint8_t *packet, uint32_t size)
{
	uint32_t kind = packets_random() % 32;
	size_t at;

	if (kind < 2)
		return;		/* noise */
	at = put_ethernet(packet, kind < 4 ? ETHERTYPE_ARP : kind < 20 ? ETHERTYPE_IP :
			  ETHERTYPE_IPV6);
	if (kind >= 20)
		put_packet6(packet + at, size - at);
	else if (kind >= 4)
		put_packet4(packet + at, size - at);
}

void
packets_next(struct frame *frame)
{
	uint32_t size = random_size();

	frame->meta = one_in(16) ? packets_random() % 8 * 4 : 0;
	noise(frame->bytes, frame->meta + size);
	put_packet(frame->bytes + frame->meta, size);
	if (one_in(6))
		size = FRAME_PACKET_MIN + packets_random() % 66;
	frame->size = frame->meta + size;
	frame->result = 0;
}

static void
put_address(uint8_t *to, uint32_t size)
{
	if (size == 4)
		put_ipv4(to);
	else if (size == 6)
		put_mac(to);
	else if (size >= 16)
		put_ipv6(to);
}

void
packets_key(void *key, uint32_t size, bool prefix, uint32_t max_entries)
{
	uint8_t *to = key;
	uint32_t number = packets_random() % (max_entries < 64 ? max_entries : 64);

	memset(key, 0, size);
	if (prefix) {
		uint32_t bits = (size - 4) * 8;

		number = one_in(2) ? bits : packets_random() % (bits + 1);
		memcpy(to, &number, sizeof(number));
		put_address(to + 4, size - 4);
	} else if (size == 2) {
		put16(to, port());
	} else if (size == 4 && one_in(2)) {
		memcpy(to, &number, sizeof(number));
	} else {
		put_address(to, size);
	}
}
