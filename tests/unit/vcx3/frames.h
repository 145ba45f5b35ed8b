/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames for tests and a plain checker of their checksums, written from the RFCs and
 * sharing nothing with the core.
 */
#ifndef VCX3_TEST_FRAMES_H
#define VCX3_TEST_FRAMES_H

#include "rig.h"

struct frame {
	uint8_t bytes[4096];
	uint32_t len;
	uint32_t l3, l4; /* offsets */
};

struct frame_spec {
	int version; /* 4, 6; 0 = not IP */
	int protocol; /* 6, 17, else other */
	int payload;
	int tags; /* VLAN tags */
	uint16_t tag_type, tci;
	int options; /* bytes, IPv4 */
	bool hop_by_hop; /* IPv6 */
	bool fragment;
	bool no_checksum; /* UDP: leave 0 */
	uint8_t salt; /* varies addresses and ports */
	uint32_t offset; /* where the frame starts: inner frames */
};

static inline uint32_t
frame_add(const uint8_t *data, uint32_t len, uint32_t sum)
{
	for (uint32_t i = 0; i < len; i++)
		sum += i % 2 == 0 ? data[i] << 8 : data[i];
	return sum;
}

static inline uint16_t
frame_fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* Sum of pseudo header and L4: 0xffff = right. */
static inline uint16_t
frame_l4_sum(const uint8_t *ip, const uint8_t *l4, uint32_t len, uint8_t protocol)
{
	uint32_t sum = len + protocol;

	sum = ip[0] >> 4 == 4 ? frame_add(ip + 12, 8, sum) : frame_add(ip + 8, 32, sum);
	return frame_fold(frame_add(l4, len, sum));
}

static inline uint32_t
frame_put_tags(uint8_t *at, const struct frame_spec *spec)
{
	for (int i = 0; i < spec->tags; i++) {
		rig_be16(at + 4 * i, i == 0 && spec->tag_type ? spec->tag_type : 0x8100);
		rig_be16(at + 4 * i + 2, spec->tci + i);
	}
	return 4 * spec->tags;
}

static inline void
frame_put_ipv4(struct frame *frame, const struct frame_spec *spec, uint32_t l4_len)
{
	uint8_t *ip = frame->bytes + frame->l3;
	uint32_t header = 20 + spec->options;

	memset(ip, 1, header); /* options: no operation */
	ip[0] = 0x40 | header / 4;
	ip[1] = 0;
	rig_be16(ip + 2, header + l4_len);
	rig_be16(ip + 4, 0x1234);
	rig_be16(ip + 6, spec->fragment ? 0x2000 : 0x4000);
	ip[8] = 64;
	ip[9] = spec->protocol;
	rig_be16(ip + 10, 0);
	rig_be32(ip + 12, 0x0a000001 + spec->salt);
	rig_be32(ip + 16, 0x0a000100 + spec->salt * 3);
	rig_be16(ip + 10, ~frame_fold(frame_add(ip, header, 0)));
	frame->l4 = frame->l3 + header;
}

static inline void
frame_put_ipv6(struct frame *frame, const struct frame_spec *spec, uint32_t l4_len)
{
	uint8_t *ip = frame->bytes + frame->l3;
	uint32_t extension = spec->hop_by_hop || spec->fragment ? 8 : 0;

	memset(ip, 0, 40 + extension);
	ip[0] = 0x60;
	rig_be16(ip + 4, extension + l4_len);
	ip[6] = spec->fragment ? 44 : spec->hop_by_hop ? 0 : spec->protocol;
	ip[7] = 64;
	rig_be32(ip + 8, 0x20010db8);
	rig_be32(ip + 20, 1 + spec->salt);
	rig_be32(ip + 24, 0x20010db8);
	rig_be32(ip + 36, 0x100 + spec->salt * 3);
	if (extension) {
		ip[40] = spec->protocol;
		if (spec->fragment)
			rig_be16(ip + 42, 1); /* more fragments */
	}
	frame->l4 = frame->l3 + 40 + extension;
}

static inline void
frame_put_l4(struct frame *frame, const struct frame_spec *spec, uint32_t len)
{
	uint8_t *l4 = frame->bytes + frame->l4;
	uint32_t field = spec->protocol == 6 ? 16 : 6;
	uint16_t sum;

	for (uint32_t i = 0; i < len; i++)
		l4[i] = i * 5 + spec->salt;
	if (spec->protocol != 6 && spec->protocol != 17)
		return;
	rig_be16(l4, 1000 + spec->salt);
	rig_be16(l4 + 2, 2000 + spec->salt * 7);
	if (spec->protocol == 6) {
		l4[12] = 0x50;
		l4[13] = 0x10;
	} else {
		rig_be16(l4 + 4, len);
	}
	rig_be16(l4 + field, 0);
	sum = ~frame_l4_sum(frame->bytes + frame->l3, l4, len, spec->protocol);
	if (!spec->no_checksum)
		rig_be16(l4 + field, sum == 0 ? 0xffff : sum);
}

static inline void
frame_make(struct frame *frame, const struct frame_spec *spec)
{
	static const uint8_t macs[12] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2 };
	uint32_t header = spec->protocol == 6 ? 20 : spec->protocol == 17 ? 8 : 0;
	uint32_t l4_len = header + spec->payload, at = spec->offset;
	uint16_t type = spec->version == 4 ? 0x0800 : spec->version == 6 ? 0x86dd : 0x88b5;

	memcpy(frame->bytes + at, macs, sizeof(macs));
	at += 12 + frame_put_tags(frame->bytes + at + 12, spec);
	rig_be16(frame->bytes + at, type);
	frame->l3 = frame->l4 = at + 2;
	if (spec->version == 4)
		frame_put_ipv4(frame, spec, l4_len);
	else if (spec->version == 6)
		frame_put_ipv6(frame, spec, l4_len);
	frame_put_l4(frame, spec, l4_len);
	frame->len = frame->l4 + l4_len;
}

/* Wraps the frame that starts at offset 50 (or 70) into VXLAN over UDP. */
static inline void
frame_wrap_vxlan(struct frame *frame, int version, bool checksum)
{
	struct frame_spec spec = { .version = version, .protocol = 17, .no_checksum = true };
	uint32_t len = frame->len;
	struct frame outer;
	uint16_t sum;

	frame_make(&outer, &spec);
	spec.payload = len - outer.l4 - 8;
	frame_make(&outer, &spec);
	memcpy(frame->bytes, outer.bytes, outer.l4 + 8);
	rig_be16(frame->bytes + outer.l4 + 2, 4789);
	memset(frame->bytes + outer.l4 + 8, 0, 8);
	frame->bytes[outer.l4 + 8] = 8;
	frame->l3 = outer.l3;
	frame->l4 = outer.l4;
	sum = ~frame_l4_sum(frame->bytes + outer.l3, frame->bytes + outer.l4, len - outer.l4, 17);
	if (checksum)
		rig_be16(frame->bytes + outer.l4 + 6, sum);
}

/* Whether the checksums of a frame are right, as this header's author reads the RFCs. */
static inline bool
frame_ip_is_good(const uint8_t *ip)
{
	return ip[0] >> 4 == 6 || frame_fold(frame_add(ip, (ip[0] & 15) * 4, 0)) == 0xffff;
}

#endif
