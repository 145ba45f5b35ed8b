/* SPDX-License-Identifier: BSD-3-Clause */

/* What a host leaves to its card: open checksums, VLAN tags, super-frames. */

#include <errno.h>

#include "headers.h"
#include "vnet.h"
#include "wire_env.h"

#define HEADROOM 16
#define SUPER_MAX 65536

static uint8_t memory[HEADROOM + SUPER_MAX];
static uint8_t *frame = memory + HEADROOM;
static uint8_t out[SUPER_MAX];

static bool
l4_is_right(const uint8_t *ip, const uint8_t *l4, uint32_t len, uint8_t proto)
{
	bool six = ip[0] >> 4 == 6;
	uint32_t sum = plain_sum(six ? ip + 8 : ip + 12, six ? 32 : 8, proto + len);

	return plain_sum(l4, len, sum) == 0xffff;
}

/* A frame as a host makes it: headers, pseudo-header sum in the checksum field. */
static uint32_t
make_super(struct virtio_net_hdr *header, bool six, uint8_t proto, uint32_t payload)
{
	uint32_t l4 = 14 + (six ? 40 : 20);
	uint32_t l4_len = (proto == PROTO_TCP ? 32 : 8) + payload;
	uint8_t *ip = frame + 14;
	uint32_t field = l4 + (proto == PROTO_TCP ? 16 : 6);

	memset(memory, 0, sizeof(memory));
	vcx3_put16(frame + 12, six ? 0x86dd : 0x0800);
	for (uint32_t i = 0; i < 32; i++)
		ip[(six ? 8 : 12) + i] = (uint8_t)(i * 37 + 1);
	ip[0] = six ? 0x60 : 0x45;
	ip[six ? 6 : 9] = proto;
	vcx3_put16(ip + (six ? 4 : 2), (six ? 0 : 20) + l4_len);
	if (!six)
		vcx3_put16(ip + 4, 0xfffe);
	memset(frame + l4, 0, 32);
	vcx3_put32(frame + l4, 0x12345678);
	if (proto == PROTO_TCP) {
		vcx3_put32(frame + l4 + 4, 0xfffffff0);
		frame[l4 + 12] = 8 << 4;
		frame[l4 + 13] = 0x80 | 0x10 | 0x08 | 0x01;
	} else {
		vcx3_put16(frame + l4 + 4, l4_len);
	}
	for (uint32_t i = 0; i < payload; i++)
		frame[l4 + l4_len - payload + i] = (uint8_t)(i ^ i >> 8);
	vcx3_put16(frame + field, plain_sum(six ? ip + 8 : ip + 12, six ? 32 : 8, proto + l4_len));
	*header = (struct virtio_net_hdr){
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.csum_start = (uint16_t)l4,
		.csum_offset = (uint16_t)(field - l4),
	};
	return l4 + l4_len;
}

static void
test_complete(void)
{
	static const uint32_t payloads[] = {0, 1, 2, 3, 1459, 1460};
	struct virtio_net_hdr header;

	for (uint32_t i = 0; i < 24; i++) {
		bool six = i & 1;
		uint8_t proto = i & 2 ? PROTO_TCP : PROTO_UDP;
		uint32_t len = make_super(&header, six, proto, payloads[i / 4]);
		uint32_t l4 = header.csum_start;

		CHECK(vcx3_vnet_complete(&header, frame, len) == 0);
		CHECK(l4_is_right(frame + 14, frame + l4, len - l4, proto), "case %u", i);
	}
}

/* A UDP checksum that comes out as 0 is sent as 0xffff. */
static void
test_udp_zero(void)
{
	struct virtio_net_hdr header;
	uint32_t len = make_super(&header, false, PROTO_UDP, 2);
	uint32_t l4 = header.csum_start;
	uint32_t sum;

	vcx3_put16(frame + l4 + 8, 0);
	sum = plain_sum(frame + l4, len - l4, 0);
	vcx3_put16(frame + l4 + 8, 0xffff - sum);
	CHECK(vcx3_vnet_complete(&header, frame, len) == 0);
	CHECK(vcx3_get16(frame + l4 + 6) == 0xffff, "%04x", vcx3_get16(frame + l4 + 6));
}

static void
test_bad_complete(void)
{
	struct virtio_net_hdr header;
	uint32_t len = make_super(&header, false, PROTO_UDP, 10);

	header.csum_start = (uint16_t)(len - 7);
	CHECK(vcx3_vnet_complete(&header, frame, len) == -EINVAL);
	header.csum_start = (uint16_t)(len - 8);
	CHECK(vcx3_vnet_complete(&header, frame, len) == 0);
	header.csum_start = 0xffff;
	header.csum_offset = 0xffff;
	CHECK(vcx3_vnet_complete(&header, frame, len) == -EINVAL);
	header.csum_start = 34;
	header.csum_offset = 8;	/* SCTP */
	CHECK(vcx3_vnet_complete(&header, frame, len) == -EINVAL);
	header.flags = 0;
	CHECK(vcx3_vnet_complete(&header, frame, len) == 0);
}

/* One frame of a super-frame against what RFC 9293 and the IP headers demand. */
static void
check_segment(const struct vcx3_vnet_cut *cut, uint32_t len, bool six, uint8_t proto, bool last)
{
	uint32_t number = cut->number - 1;
	uint32_t l4 = cut->l4;
	uint32_t payload = len - cut->headers;
	uint32_t offset = cut->done - payload;
	const uint8_t *ip = out + cut->l3;

	CHECK(memcmp(out + cut->headers, frame + cut->headers + offset, payload) == 0);
	CHECK(l4_is_right(ip, out + l4, len - l4, proto), "segment %u", number);
	CHECK(vcx3_get16(ip + (six ? 4 : 2)) == len - (six ? l4 : cut->l3));
	CHECK(six || plain_sum(ip, 20, 0) == 0xffff);
	CHECK(six || vcx3_get16(ip + 4) == ((0xfffe + number) & 0xffff));
	if (proto == PROTO_UDP) {
		CHECK(vcx3_get16(out + l4 + 4) == len - l4);
		return;
	}
	CHECK(vcx3_get32(out + l4 + 4) == 0xfffffff0 + offset);
	CHECK(out[l4 + 13] == (0x10 | (number == 0 ? 0x80 : 0) | (last ? 0x09 : 0)),
		"segment %u flags %02x", number, out[l4 + 13]);
}

static void
test_cut(void)
{
	static const uint32_t payloads[] = {1, 1448, 1449, 2896, 60000};

	for (uint32_t i = 0; i < 20; i++) {
		bool six = i & 1;
		uint8_t proto = i & 2 ? PROTO_TCP : PROTO_UDP;
		uint32_t payload = payloads[i / 4];
		struct virtio_net_hdr header;
		struct vcx3_vnet_cut cut;
		uint32_t len = make_super(&header, six, proto, payload);
		uint32_t done = 0;

		header.gso_size = 1448;
		header.gso_type = proto == PROTO_UDP ? 5 : six ? VIRTIO_NET_HDR_GSO_TCPV6 :
			VIRTIO_NET_HDR_GSO_TCPV4 | VIRTIO_NET_HDR_GSO_ECN;
		CHECK(vcx3_vnet_cut_start(&cut, &header, frame, len) == 0);
		while ((len = vcx3_vnet_cut_len(&cut)) != 0) {
			vcx3_vnet_cut_next(&cut, out);
			done += len - cut.headers;
			check_segment(&cut, len, six, proto, done == payload);
		}
		CHECK(done == payload && cut.number == (payload + 1447) / 1448);
	}
}

static void
test_vlan(void)
{
	struct virtio_net_hdr header;
	struct vcx3_vnet_cut cut;
	uint32_t len = make_super(&header, false, PROTO_TCP, 3000);

	for (uint32_t i = 0; i < 12; i++)
		frame[i] = (uint8_t)(i + 1);
	header.gso_size = 1448;
	header.gso_type = VIRTIO_NET_HDR_GSO_TCPV4;
	vcx3_vnet_push_vlan(&header, frame, 0x8100, 0x6123);
	frame -= VLAN_LEN;
	CHECK(frame[0] == 1 && frame[11] == 12 && vcx3_get16(frame + 16) == 0x0800);
	CHECK(vcx3_get32(frame + 12) == 0x81006123);
	CHECK(vcx3_vnet_cut_start(&cut, &header, frame, len + VLAN_LEN) == 0 && cut.l3 == 18);
	vcx3_vnet_cut_next(&cut, out);
	check_segment(&cut, 18 + 20 + 32 + 1448, false, PROTO_TCP, false);
	CHECK(vcx3_get32(out + 12) == 0x81006123);
	frame += VLAN_LEN;
}

/* Each row spoils one thing of a sound TCP super-frame. */
static void
test_bad_cut(void)
{
	static const struct {
		uint32_t offset;
		uint8_t value;
		int error;
	} rows[] = {
		{14, 0x65, EINVAL},	/* IP version against the type */
		{14, 0x44, EINVAL},	/* IP header below 20 bytes */
		{14, 0x46, EINVAL},	/* IP header into TCP */
		{34 + 12, 4 << 4, EINVAL},	/* TCP header below 20 bytes */
		{13, 6, EINVAL},	/* ARP */
	};
	struct virtio_net_hdr header;
	struct virtio_net_hdr bad;
	struct vcx3_vnet_cut cut;
	uint32_t len = make_super(&header, false, PROTO_TCP, 100);

	header.gso_size = 10;
	header.gso_type = VIRTIO_NET_HDR_GSO_TCPV4;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t good = frame[rows[i].offset];

		frame[rows[i].offset] = rows[i].value;
		CHECK(vcx3_vnet_cut_start(&cut, &header, frame, len) == -rows[i].error, "%zu", i);
		frame[rows[i].offset] = good;
	}
	for (uint32_t short_len = 0; short_len <= 34 + 32; short_len++)
		CHECK(vcx3_vnet_cut_start(&cut, &header, frame, short_len) < 0, "%u", short_len);
	bad = header;
	bad.gso_size = 0;
	CHECK(vcx3_vnet_cut_start(&cut, &bad, frame, len) == -EINVAL);
	bad = header;
	bad.flags = 0;
	CHECK(vcx3_vnet_cut_start(&cut, &bad, frame, len) == -EINVAL);
	bad = header;
	bad.gso_type = VIRTIO_NET_HDR_GSO_UDP;
	CHECK(vcx3_vnet_cut_start(&cut, &bad, frame, len) == -ENOTSUP);
	CHECK(vcx3_vnet_cut_start(&cut, &header, frame, len) == 0);
	/* UDP segmentation does not tell the IP version: only 4 and 6 are. */
	header.gso_type = 5;
	frame[14] = 0xff;
	CHECK(vcx3_vnet_cut_start(&cut, &header, frame, len) == -EINVAL);
}

int
main(void)
{
	test_complete();
	test_udp_zero();
	test_bad_complete();
	test_cut();
	test_vlan();
	test_bad_cut();
	return check_status();
}
