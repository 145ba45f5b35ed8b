/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What leaves a port: segments, inline data, checksums, LSO, VLAN insertion, padding,
 * loopback, the embedded switch of a VF, a full wire. Checksums are judged by frames.h.
 */
#include "frames.h"

#define SEND 0x0a
#define LSO (0x0e | 0x40)
#define DONE 0x0c
#define IP_CSUM 0x10
#define L4_CSUM 0x20

struct bench {
	struct rig rig;
	struct rig_cq cq;
	struct rig_qp qp;
	struct rig_wqe wqe;
	uint8_t *data;
	uint8_t *frame; /* last one that was sent */
	uint32_t len;
};

static struct bench b;

static void
setup(const struct vcx3_core_config *config)
{
	struct vcx3_core_config own = config != NULL ? *config : (struct vcx3_core_config){ 0 };

	own.strict = true;
	rig_create(&b.rig, &own);
	rig_cq(&b.rig, &b.cq, 1, 8, NULL);
	rig_qp(&b.rig, &b.qp, 0x100, 1, 7, -1, 1, NULL);
	b.data = rig_alloc(&b.rig, 1 << 18);
}

static void
teardown(void)
{
	CHECK_EQUAL(vcx3_strict_total(b.rig.core), 0);
	rig_destroy(&b.rig);
	free(b.frame);
	b.frame = NULL;
}

/* Takes the next frame from the wire. */
static bool
next(void)
{
	free(b.frame);
	b.frame = rig_pop(&b.rig, 1, &b.len);
	return b.frame != NULL;
}

static void
post(uint32_t opcode, uint32_t flags)
{
	struct rig_cqe cqe;

	rig_post_send(&b.qp, &b.wqe, opcode, flags | DONE);
	rig_run(&b.rig);
	CHECK(rig_poll(&b.cq, &cqe));
	CHECK_EQUAL(cqe.opcode, 0x40 | (opcode & 0x1f));
}

static void
send_frame(const struct frame *frame, uint32_t opcode, uint32_t flags)
{
	memcpy(b.data, frame->bytes, frame->len);
	rig_wqe_start(&b.wqe);
	rig_wqe_data(&b.wqe, b.rig.lkey, b.data, frame->len);
	post(opcode, flags);
	CHECK(next());
}

static void
test_segments(void)
{
	struct frame frame;
	uint8_t small[14];

	setup(NULL);
	frame_make(&frame, &(struct frame_spec){ 4, 17, 200 });
	memcpy(b.data, frame.bytes, frame.len);
	rig_wqe_start(&b.wqe);
	rig_wqe_inline(&b.wqe, b.data, 44); /* fills the first line */
	rig_wqe_data(&b.wqe, b.rig.lkey, b.data + 44, 17);
	rig_wqe_inline(&b.wqe, NULL, 0); /* an empty segment (D.1) */
	rig_wqe_data(&b.wqe, b.rig.lkey, b.data + 61, 1);
	rig_wqe_inline(&b.wqe, b.data + 62, 9);
	rig_wqe_data(&b.wqe, b.rig.lkey, b.data + 71, frame.len - 71);
	post(SEND, 0);
	CHECK(next());
	CHECK_EQUAL(b.len, frame.len);
	CHECK(memcmp(b.frame, frame.bytes, frame.len) == 0);
	memset(small, 0x5a, sizeof(small)); /* padded with zeros to 60 */
	rig_wqe_start(&b.wqe);
	rig_wqe_inline(&b.wqe, small, sizeof(small));
	post(SEND, 0);
	CHECK(next());
	CHECK_EQUAL(b.len, 60);
	CHECK(memcmp(b.frame, small, 14) == 0);
	for (int i = 14; i < 60; i++)
		CHECK_EQUAL(b.frame[i], 0);
	rig_wqe_start(&b.wqe);
	post(0, 0); /* NOP */
	CHECK(!next());
	teardown();
}

static uint16_t
sent_l4_sum(const struct frame *frame, int protocol)
{
	return frame_l4_sum(b.frame + frame->l3, b.frame + frame->l4, frame->len - frame->l4,
			    protocol);
}

/* Each flag alone and together; what was not asked for stays byte for byte. */
static void
check_flags(const struct frame_spec *spec)
{
	uint32_t field, ip_field;
	struct frame frame;

	for (uint32_t flags = 0; flags <= 0x30; flags += 0x10) {
		bool has_l4 = spec->version && !spec->fragment &&
			      (spec->protocol == 6 || spec->protocol == 17);

		frame_make(&frame, spec);
		ip_field = frame.l3 + 10;
		field = frame.l4 + (spec->protocol == 6 ? 16 : 6);
		if (spec->version == 4)
			rig_be16(frame.bytes + ip_field, 0xdead);
		if (has_l4)
			rig_be16(frame.bytes + field, 0xbeef);
		send_frame(&frame, SEND, flags);
		if (spec->version == 4 && flags & IP_CSUM)
			CHECK(frame_ip_is_good(b.frame + frame.l3));
		if (has_l4 && flags & L4_CSUM)
			CHECK_EQUAL(sent_l4_sum(&frame, spec->protocol), 0xffff);
		if (spec->version == 4 && flags & IP_CSUM)
			memcpy(b.frame + ip_field, frame.bytes + ip_field, 2);
		if (has_l4 && flags & L4_CSUM)
			memcpy(b.frame + field, frame.bytes + field, 2);
		CHECK(memcmp(b.frame, frame.bytes, frame.len) == 0);
	}
}

static void
test_checksums(void)
{
	setup(NULL);
	for (int payload = 20; payload < 24; payload++) {
		check_flags(&(struct frame_spec){ 4, 6, payload });
		check_flags(&(struct frame_spec){ 4, 17, payload });
		check_flags(&(struct frame_spec){ 6, 6, payload });
		check_flags(&(struct frame_spec){ 6, 17, payload });
		check_flags(&(struct frame_spec){ 4, 1, payload });
		check_flags(&(struct frame_spec){ .payload = 60 + payload });
		check_flags(&(struct frame_spec){ 4, 6, payload, .options = 12 });
		check_flags(&(struct frame_spec){ 4, 17, payload, .tags = 1, .tci = 5 });
		check_flags(&(struct frame_spec){ 6, 6, payload, .hop_by_hop = true });
		check_flags(&(struct frame_spec){ 4, 17, payload, .fragment = true });
	}
	teardown();
}

/* A UDP sum that comes out 0 goes as 0xffff. */
static void
test_zero_sum(void)
{
	struct frame frame;
	uint16_t sum;

	setup(NULL);
	frame_make(&frame, &(struct frame_spec){ 4, 17, 20, .no_checksum = true });
	rig_be16(frame.bytes + frame.l4 + 8, 0);
	sum = ~frame_l4_sum(frame.bytes + frame.l3, frame.bytes + frame.l4,
			    frame.len - frame.l4, 17);
	rig_be16(frame.bytes + frame.l4 + 8, sum);
	send_frame(&frame, SEND, L4_CSUM);
	CHECK_EQUAL(rig_get16(b.frame + frame.l4 + 6), 0xffff);
	teardown();
}

struct lso_case {
	struct frame_spec spec;
	uint32_t payload, mss;
	int tunnel; /* version of the outer header, 0 = none */
};

/* One frame of a cut, field by field. */
static void
check_cut(const struct lso_case *test, const struct frame *big, uint32_t header, uint32_t at,
	  uint32_t inner_l3, uint32_t inner_l4)
{
	uint32_t left = test->payload - at, part = left < test->mss ? left : test->mss;
	uint32_t len = header + part, padded = len < 60 ? 60 : len;
	const uint8_t *ip = b.frame + inner_l3, *tcp = b.frame + inner_l4;
	uint8_t flags = big->bytes[inner_l4 + 13];

	CHECK_EQUAL(b.len, padded);
	CHECK(memcmp(b.frame + header, big->bytes + header + at, part) == 0);
	if (test->spec.version == 4) {
		CHECK_EQUAL(rig_get16(ip + 2), len - inner_l3);
		CHECK_EQUAL(rig_get16(ip + 4), 0x1234 + at / test->mss);
		CHECK(frame_ip_is_good(ip));
	} else {
		CHECK_EQUAL(rig_get16(ip + 4), len - inner_l3 - 40);
	}
	CHECK_EQUAL(rig_get32(tcp + 4), rig_get32(big->bytes + inner_l4 + 4) + at);
	if (at > 0)
		flags &= ~0x80;
	if (left > test->mss)
		flags &= ~0x09;
	CHECK_EQUAL(tcp[13], flags);
	CHECK_EQUAL(frame_l4_sum(ip, tcp, len - inner_l4, 6), 0xffff);
	if (test->tunnel == 0)
		return;
	CHECK(frame_ip_is_good(b.frame + big->l3));
	CHECK_EQUAL(rig_get16(b.frame + big->l4 + 4), len - big->l4);
	if (test->tunnel == 4)
		CHECK_EQUAL(rig_get16(b.frame + big->l3 + 2), len - big->l3);
}

static void
run_lso(const struct lso_case *test)
{
	static struct frame big;
	uint32_t inner_l3, inner_l4, header, at = 0;
	struct frame_spec spec = test->spec;

	spec.payload = test->payload;
	spec.offset = test->tunnel == 4 ? 50 : test->tunnel == 6 ? 70 : 0;
	frame_make(&big, &spec);
	inner_l3 = big.l3;
	inner_l4 = big.l4;
	big.bytes[inner_l4 + 13] = 0x80 | 0x10 | 0x08 | 0x01; /* CWR ACK PSH FIN */
	rig_be32(big.bytes + inner_l4 + 4, 0xfffff000); /* the sequence number wraps */
	header = inner_l4 + 20;
	if (test->tunnel != 0)
		frame_wrap_vxlan(&big, test->tunnel, false);
	memcpy(b.data, big.bytes, big.len);
	rig_wqe_start(&b.wqe);
	rig_wqe_lso(&b.wqe, test->mss, big.bytes, header);
	if (test->payload > 10) {
		rig_wqe_data(&b.wqe, b.rig.lkey, b.data + header, 7);
		rig_wqe_data(&b.wqe, b.rig.lkey, b.data + header + 7, test->payload - 7);
	} else {
		rig_wqe_data(&b.wqe, b.rig.lkey, b.data + header, test->payload);
	}
	post(LSO, 0); /* LSO implies the checksums */
	for (; next(); at += test->mss)
		check_cut(test, &big, header, at, inner_l3, inner_l4);
	CHECK(at >= test->payload && at - test->payload < test->mss);
}

static void
test_lso(void)
{
	static const struct lso_case cases[] = {
		{ { 4, 6, 0 }, 3000, 500, 0 },
		{ { 4, 6, 0 }, 3000, 1460, 0 },
		{ { 4, 6, 0 }, 1000, 1460, 0 },
		{ { 4, 6, 0 }, 1460, 1460, 0 },
		{ { 4, 6, 0 }, 5, 1, 0 },
		{ { 6, 6, 0 }, 2801, 1400, 0 },
		{ { 4, 6, 0, .options = 4 }, 3001, 700, 0 },
		{ { 4, 6, 0, .tags = 1, .tci = 3 }, 3001, 700, 0 },
		{ { 4, 6, 0 }, 3001, 1000, 4 },
		{ { 6, 6, 0 }, 3001, 1000, 4 },
		{ { 4, 6, 0 }, 3001, 1000, 6 },
	};

	setup(&(struct vcx3_core_config){ .device = VCX3_CX3_PRO });
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		run_lso(&cases[i]);
	CHECK(vcx3_counters_get(b.rig.core)->tx_segments > 20);
	teardown();
}

/* The wire takes 3 frames at a time: all arrive once, in order, then one completion. */
static void
test_full_wire(void)
{
	struct frame big;
	struct rig_cqe cqe;
	uint32_t seen = 0;

	setup(NULL);
	frame_make(&big, &(struct frame_spec){ 4, 6, 1000 });
	memcpy(b.data, big.bytes, big.len);
	rig_wqe_start(&b.wqe);
	rig_wqe_lso(&b.wqe, 100, big.bytes, big.l4 + 20);
	rig_wqe_data(&b.wqe, b.rig.lkey, b.data + big.l4 + 20, 1000);
	rig_post_send(&b.qp, &b.wqe, LSO, DONE | IP_CSUM | L4_CSUM);
	rig_wqe_start(&b.wqe);
	rig_wqe_data(&b.wqe, b.rig.lkey, b.data, 80);
	rig_post_send(&b.qp, &b.wqe, SEND, DONE);
	for (int turn = 0; turn < 4; turn++) {
		CHECK(!rig_poll(&b.cq, &cqe) || turn == 3);
		b.rig.wires[0].tx_room = 3;
		rig_run(&b.rig);
		for (; next(); seen++)
			if (seen < 10)
				CHECK_EQUAL(rig_get32(b.frame + big.l4 + 4),
					    rig_get32(big.bytes + big.l4 + 4) + seen * 100);
	}
	CHECK_EQUAL(seen, 11);
	CHECK(rig_poll(&b.cq, &cqe) && cqe.opcode == 0x4e);
	CHECK(rig_poll(&b.cq, &cqe) && cqe.opcode == 0x4a);
	teardown();
}

static void
test_vlan(void)
{
	struct frame frame;

	for (int on = 0; on < 2; on++) {
		setup(&(struct vcx3_core_config){ .vlan_insert = on });
		for (int kind = 0; kind < 2; kind++) {
			frame_make(&frame, &(struct frame_spec){ 4, 17, 60 });
			rig_be16(frame.bytes + frame.l4 + 6, 0);
			memcpy(b.data, frame.bytes, frame.len);
			rig_wqe_start(&b.wqe);
			rig_wqe_data(&b.wqe, b.rig.lkey, b.data, frame.len);
			rig_be16(b.wqe.bytes + 4, 0x2064);
			b.wqe.bytes[6] = kind ? 0x80 : 0x40;
			post(SEND, IP_CSUM | L4_CSUM);
			CHECK(next());
			CHECK_EQUAL(b.len, frame.len + 4 * on);
			CHECK(memcmp(b.frame, frame.bytes, 12) == 0);
			if (on) {
				CHECK_EQUAL(rig_get32(b.frame + 12),
					    (kind ? 0x88a8u : 0x8100u) << 16 | 0x2064);
				memmove(b.frame + 12, b.frame + 16, b.len - 16);
			}
			CHECK_EQUAL(sent_l4_sum(&frame, 17), 0xffff);
		}
		teardown();
	}
}

/* Dword 2 bit 0 sends to the own port; a VF's switch to whoever has the address. */
static void
test_loopback(void)
{
	static const uint8_t own[6] = { 2, 0, 0, 0, 0, 1 };
	struct frame frame;
	struct rig_qp receiver;
	struct rig_cqe cqe;

	for (int vf = 0; vf < 2; vf++) {
		setup(&(struct vcx3_core_config){ .device = vf ? VCX3_VF : VCX3_CX3 });
		rig_qp(&b.rig, &receiver, 0x101, 1, -1, 3, 1, NULL);
		rig_rule_mac(&b.rig, 1, own, 0x101, 0);
		for (int i = 0; i < 4; i++)
			rig_post_recv(&receiver, b.rig.lkey, b.data + 4096 + i * 2048, 2048);
		frame_make(&frame, &(struct frame_spec){ 4, 17, 60 });
		memcpy(b.data, frame.bytes, frame.len);
		for (int forced = 0; forced < 2; forced++) {
			rig_wqe_start(&b.wqe);
			rig_wqe_data(&b.wqe, b.rig.lkey, b.data, frame.len);
			memcpy(b.wqe.bytes + 8, frame.bytes, 2);
			memcpy(b.wqe.bytes + 12, frame.bytes + 2, 4);
			rig_post_send(&b.qp, &b.wqe, SEND, forced);
			rig_run(&b.rig);
			CHECK_EQUAL(rig_poll(&b.cq, &cqe), forced || vf);
			CHECK_EQUAL(next(), !forced && !vf);
			if (forced || vf)
				CHECK(memcmp(b.data + 4096 + (forced && vf) * 2048, frame.bytes,
					     frame.len) == 0);
		}
		teardown();
	}
}

static void
test_drops(void)
{
	struct vcx3_port_counters counters;

	setup(NULL);
	rig_wqe_start(&b.wqe);
	rig_wqe_data(&b.wqe, b.rig.lkey, b.data, 1523);
	post(SEND, 0);
	CHECK(!next());
	vcx3_port_set_mtu(b.rig.core, 1, 9000);
	rig_wqe_start(&b.wqe);
	rig_wqe_data(&b.wqe, b.rig.lkey, b.data, 9022);
	post(SEND, 0);
	CHECK(next());
	CHECK_EQUAL(b.len, 9022);
	vcx3_port_set_admin(b.rig.core, 1, false);
	post(SEND, 0);
	CHECK(!next());
	vcx3_port_counters(b.rig.core, 1, &counters);
	CHECK_EQUAL(counters.tx_drop_oversize, 1);
	CHECK_EQUAL(counters.tx_drop_link_down, 1);
	CHECK_EQUAL(counters.tx_frames, 1);
	CHECK_EQUAL(counters.tx_bytes, 9022);
	teardown();
}

int
main(void)
{
	test_segments();
	test_checksums();
	test_zero_sum();
	test_lso();
	test_full_wire();
	test_vlan();
	test_loopback();
	test_drops();
	return 0;
}
