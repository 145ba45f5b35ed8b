/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a receive completion says, and where the bytes go: status for each kind of
 * packet, checksums, VLAN, tunnels, RSS, scatter, FCS, strip, drops by reason.
 */
#include "frames.h"

#define IPV4 (1u << 22)
#define IPV4_FRAGMENT (1u << 23)
#define IPV6 (1u << 24)
#define IPV4_OPTIONS (1u << 25)
#define TCP (1u << 26)
#define UDP (1u << 27)
#define IP_OK (1u << 28)
#define IPV6_FRAGMENT (1u << 12)
#define L4_OK (1u << 2)

struct bench {
	struct rig rig;
	struct rig_cq cq;
	struct rig_qp qp;
	uint8_t *buffer;
	struct rig_cqe cqe;
};

static struct bench b;

static void
setup(enum vcx3_device device, const struct vcx3_qp_attr *extra, const struct vcx3_cq_attr *cq)
{
	struct vcx3_core_config config = { .device = device, .strict = true };

	rig_create(&b.rig, &config);
	rig_cq(&b.rig, &b.cq, 1, 6, cq);
	rig_qp(&b.rig, &b.qp, 0x80, 1, -1, 4, 1, extra);
	b.buffer = rig_alloc(&b.rig, 4096);
	rig_rule_default(&b.rig, 1, VCX3_RULE_ALL_DEFAULT, 0x80);
}

static void
teardown(void)
{
	CHECK_EQUAL(vcx3_strict_total(b.rig.core), 0);
	rig_destroy(&b.rig);
}

static void
receive(const struct frame *frame)
{
	memset(b.buffer, 0xee, 4096);
	rig_post_recv(&b.qp, b.rig.lkey, b.buffer, 4096);
	rig_push(&b.rig, 1, frame->bytes, frame->len, 0);
	rig_run(&b.rig);
	CHECK(rig_poll(&b.cq, &b.cqe));
	CHECK_EQUAL(b.cqe.opcode, 1);
}

static void
expect(const struct frame_spec *spec, uint32_t status)
{
	struct frame frame;

	frame_make(&frame, spec);
	receive(&frame);
	CHECK_EQUAL(b.cqe.status, status);
	CHECK_EQUAL(b.cqe.byte_count, frame.len);
	CHECK(memcmp(b.buffer, frame.bytes, frame.len) == 0);
	CHECK_EQUAL(b.buffer[frame.len], 0xee);
	if (status & L4_OK)
		CHECK_EQUAL(b.cqe.checksum, 0xffff);
}

static void
test_status(void)
{
	setup(VCX3_CX3, NULL, NULL);
	expect(&(struct frame_spec){ .payload = 50 }, 0);
	expect(&(struct frame_spec){ 4, 6, 30 }, IPV4 | TCP | IP_OK | L4_OK);
	expect(&(struct frame_spec){ 4, 17, 31 }, IPV4 | UDP | IP_OK | L4_OK);
	expect(&(struct frame_spec){ 4, 1, 30 }, IPV4 | IP_OK);
	expect(&(struct frame_spec){ 6, 6, 33 }, IPV6 | TCP | IP_OK | L4_OK);
	expect(&(struct frame_spec){ 6, 17, 1 }, IPV6 | UDP | IP_OK | L4_OK);
	expect(&(struct frame_spec){ 6, 58, 30 }, IPV6 | IP_OK);
	expect(&(struct frame_spec){ .version = 4, .protocol = 6, .payload = 9, .options = 8 },
	       IPV4 | IPV4_OPTIONS | TCP | IP_OK | L4_OK);
	expect(&(struct frame_spec){ .version = 4, .protocol = 17, .payload = 9, .fragment = true },
	       IPV4 | IPV4_FRAGMENT | IP_OK);
	expect(&(struct frame_spec){ .version = 6, .protocol = 17, .payload = 9, .fragment = true },
	       IPV6 | IPV6_FRAGMENT | IP_OK);
	expect(&(struct frame_spec){ .version = 6, .protocol = 6, .payload = 9, .hop_by_hop = true },
	       IPV6 | TCP | IP_OK | L4_OK);
	expect(&(struct frame_spec){ .version = 4, .protocol = 17, .payload = 9,
				     .no_checksum = true }, IPV4 | UDP | IP_OK | L4_OK);
	expect(&(struct frame_spec){ .version = 6, .protocol = 17, .payload = 9,
				     .no_checksum = true }, IPV6 | UDP | IP_OK);
	teardown();
}

/* One damaged byte at a time. */
static void
test_damage(void)
{
	static const struct frame_spec specs[] = {
		{ 4, 6, 40 }, { 4, 17, 41 }, { 6, 6, 40 }, { 6, 17, 41 },
	};
	struct frame frame;

	setup(VCX3_CX3, NULL, NULL);
	for (int i = 0; i < 4; i++) {
		frame_make(&frame, &specs[i]);
		frame.bytes[frame.len - 1] ^= 0x40;
		receive(&frame);
		CHECK(!(b.cqe.status & L4_OK) && b.cqe.status & IP_OK);
		CHECK(b.cqe.checksum != 0xffff);
		CHECK(b.cqe.status & (TCP | UDP));
	}
	frame_make(&frame, &specs[0]);
	frame.bytes[frame.l3 + 8]--; /* TTL without a new sum */
	receive(&frame);
	CHECK_EQUAL(b.cqe.status, IPV4 | TCP | L4_OK);
	frame_make(&frame, &specs[0]);
	rig_be16(frame.bytes + frame.l3 + 2, 2000); /* longer than the frame */
	receive(&frame);
	CHECK_EQUAL(b.cqe.status, 0);
	teardown();
}

static void
test_vlan(void)
{
	setup(VCX3_CX3, NULL, NULL);
	expect(&(struct frame_spec){ .version = 4, .protocol = 6, .payload = 9, .tags = 1,
				     .tci = 0xa123 }, IPV4 | TCP | IP_OK | L4_OK);
	CHECK_EQUAL(b.cqe.flags, 1u << 29);
	CHECK_EQUAL(b.cqe.tci, 0xa123);
	expect(&(struct frame_spec){ .version = 4, .protocol = 6, .payload = 9, .tags = 2,
				     .tag_type = 0x88a8, .tci = 0x64 },
	       IPV4 | TCP | IP_OK | L4_OK);
	CHECK_EQUAL(b.cqe.flags, 1u << 30);
	CHECK_EQUAL(b.cqe.tci, 0x64);
	teardown();
}

static void
test_strip_and_fcs(void)
{
	struct vcx3_qp_attr attr = { .strip_vlan = true, .deliver_fcs = true };
	struct frame_spec spec = { .version = 4, .protocol = 17, .payload = 5, .tags = 1,
				   .tci = 77 };
	struct frame frame;
	uint32_t crc = 0xffffffff;

	setup(VCX3_CX3, &attr, NULL);
	frame_make(&frame, &spec);
	receive(&frame);
	CHECK_EQUAL(b.cqe.tci, 77);
	CHECK_EQUAL(b.cqe.byte_count, frame.len);
	CHECK(memcmp(b.buffer, frame.bytes, 12) == 0);
	CHECK(memcmp(b.buffer + 12, frame.bytes + 16, frame.len - 16) == 0);
	for (uint32_t i = 0; i < frame.len; i++) {
		crc ^= frame.bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
	}
	crc = ~crc;
	CHECK(memcmp(b.buffer + frame.len - 4, &crc, 4) == 0);
	teardown();
}

static void
test_tunnel(void)
{
	struct frame_spec inner = { .version = 4, .protocol = 6, .payload = 30, .offset = 50 };
	struct frame frame;

	setup(VCX3_CX3_PRO, NULL, NULL);
	frame_make(&frame, &inner);
	frame_wrap_vxlan(&frame, 4, true);
	receive(&frame);
	CHECK_EQUAL(b.cqe.status, IPV4 | TCP | IP_OK | L4_OK);
	CHECK_EQUAL(b.cqe.flags, 1u << 31 | 1u << 27 | 1u << 26 | 1u << 25);
	inner.offset = 70;
	inner.protocol = 17;
	frame_make(&frame, &inner);
	frame.bytes[frame.len - 1] ^= 1;
	frame_wrap_vxlan(&frame, 6, true);
	receive(&frame);
	CHECK_EQUAL(b.cqe.status, IPV4 | UDP | IP_OK);
	CHECK_EQUAL(b.cqe.flags, 1u << 31 | 1u << 27);
	teardown();
	setup(VCX3_CX3, NULL, NULL); /* only the Pro looks inside */
	receive(&frame);
	CHECK_EQUAL(b.cqe.status, IPV6 | UDP | IP_OK | L4_OK);
	CHECK_EQUAL(b.cqe.flags, 0);
	teardown();
}

/* Toeplitz, bit by bit. */
static uint32_t
slow_toeplitz(const uint8_t *key, const uint8_t *input, uint32_t len)
{
	uint32_t hash = 0, window = rig_get32(key);

	for (uint32_t bit = 0; bit < len * 8; bit++) {
		if (input[bit / 8] & 0x80 >> bit % 8)
			hash ^= window;
		window = window << 1 | (key[(bit + 32) / 8] >> (7 - bit % 8) & 1);
	}
	return hash;
}

static void
check_rss(const struct frame *frame, struct rig_cq *cqs, const uint8_t *key, int ports,
	  int version)
{
	uint8_t input[36];
	uint32_t size = version == 4 ? 8 : 32, hash, queue;

	memcpy(input, frame->bytes + frame->l3 + (version == 4 ? 12 : 8), size);
	memcpy(input + size, frame->bytes + frame->l4, 4);
	hash = version == 0 ? 0 : slow_toeplitz(key, input, size + (ports ? 4 : 0));
	queue = hash & 3;
	rig_push(&b.rig, 1, frame->bytes, frame->len, 0);
	rig_run(&b.rig);
	for (uint32_t q = 0; q < 4; q++)
		CHECK_EQUAL(rig_poll(&cqs[q], &b.cqe), q == queue);
	CHECK(rig_count_events(&b.rig, 'a', 0, 0) == 0);
}

static void
test_rss(void)
{
	struct vcx3_qp_attr attr = { .is_rss = true, .port = 1 };
	struct rig_cq cqs[4];
	struct rig_qp qps[4];
	struct frame frame;
	uint8_t key[41] = { 0 };
	uint64_t seed = 11;

	setup(VCX3_CX3, NULL, NULL);
	for (uint32_t q = 0; q < 4; q++) {
		rig_cq(&b.rig, &cqs[q], 0x10 + q, 10, NULL);
		rig_qp(&b.rig, &qps[q], 0x204 + q, 0x10 + q, -1, 9, 1, NULL);
		for (int i = 0; i < 500; i++)
			rig_post_recv(&qps[q], b.rig.lkey, rig_alloc(&b.rig, 512), 512);
	}
	for (int i = 0; i < 40; i++)
		key[i] = rig_random(&seed);
	attr.rss = (struct vcx3_rss_attr){ 0x204, 0x204, 2, 0x20 | 0x10 | 0x08 | 0x01, true, { 0 } };
	memcpy(attr.rss.key, key, 40);
	CHECK_EQUAL(vcx3_qp_init(b.rig.core, 0x300, &attr), VCX3_OK);
	CHECK_EQUAL(vcx3_qp_modify(b.rig.core, 0x300, VCX3_QP_RTR, 0), VCX3_OK);
	/* The verbs driver stays here, the netdev driver goes on: both receive. */
	CHECK_EQUAL(vcx3_qp_modify(b.rig.core, 0x300, VCX3_QP_RTS, 0), VCX3_OK);
	rig_rule_mac(&b.rig, 1, (const uint8_t[]){ 2, 0, 0, 0, 0, 1 }, 0x300, 1);
	for (int i = 0; i < 100; i++) {
		frame_make(&frame, &(struct frame_spec){ 4, 6, 30, .salt = i });
		check_rss(&frame, cqs, key, 1, 4);
		frame_make(&frame, &(struct frame_spec){ 4, 17, 30, .salt = i });
		check_rss(&frame, cqs, key, 0, 4); /* UDP over IPv4 is off */
		frame_make(&frame, &(struct frame_spec){ 6, 17, 30, .salt = i });
		check_rss(&frame, cqs, key, 1, 6);
		frame_make(&frame, &(struct frame_spec){ 6, 6, 30, .salt = i });
		check_rss(&frame, cqs, key, 0, 6);
		frame_make(&frame, &(struct frame_spec){ .version = 4, .protocol = 6, .payload = 30,
							 .salt = i, .fragment = true });
		check_rss(&frame, cqs, key, 0, 4);
	}
	frame_make(&frame, &(struct frame_spec){ .payload = 60 });
	check_rss(&frame, cqs, key, 0, 0);
	CHECK_EQUAL(b.cqe.hash, 0);
	teardown();
}

/* Many small segments, an empty one between, the end of the list. */
static void
test_scatter(void)
{
	struct frame frame;
	struct rig_qp qp;
	uint8_t *parts, *wqe;
	uint32_t at = 0;

	setup(VCX3_CX3, NULL, NULL);
	rig_qp(&b.rig, &qp, 0x81, 1, -1, 2, 8, NULL);
	rig_rule_mac(&b.rig, 1, (const uint8_t[]){ 2, 0, 0, 0, 0, 1 }, 0x81, 1);
	parts = rig_alloc(&b.rig, 1024);
	memset(parts, 0xee, 1024);
	rig_post_recv(&qp, b.rig.lkey, parts, 33);
	wqe = qp.rq;
	for (int i = 1; i < 5; i++) {
		rig_be32(wqe + 16 * i, i == 2 ? 0 : 40);
		rig_be32(wqe + 16 * i + 4, b.rig.lkey);
		rig_be64(wqe + 16 * i + 8, (uintptr_t)parts + 128 * i);
	}
	frame_make(&frame, &(struct frame_spec){ 4, 17, 100 }); /* 142 bytes: 33 + 3 * 40 fit */
	rig_push(&b.rig, 1, frame.bytes, frame.len, 0);
	rig_run(&b.rig);
	CHECK(rig_poll(&b.cq, &b.cqe));
	CHECK_EQUAL(b.cqe.byte_count, 142);
	for (int i = 0; i < 5; i++) {
		uint32_t part = i == 0 ? 33 : i == 2 ? 0 : i == 4 ? 142 - 113 : 40;

		CHECK(memcmp(parts + 128 * i, frame.bytes + at, part) == 0);
		CHECK_EQUAL(parts[128 * i + part], 0xee);
		at += part;
	}
	/* too long: an error completion, and the queue lives (D.8) */
	rig_post_recv(&qp, b.rig.lkey, parts, 33);
	rig_push(&b.rig, 1, frame.bytes, frame.len, 0);
	rig_run(&b.rig);
	CHECK(rig_poll(&b.cq, &b.cqe));
	CHECK_EQUAL(b.cqe.opcode, 0x1e);
	CHECK_EQUAL(b.cqe.syndrome, 1);
	CHECK_EQUAL(b.cqe.byte_count, 0x80000000);
	CHECK_EQUAL(parts[33], 0xee);
	CHECK_EQUAL(vcx3_qp_state(b.rig.core, 0x81), VCX3_QP_RTS);
	teardown();
}

static uint64_t
drops(unsigned int which)
{
	struct vcx3_port_counters counters;

	CHECK_EQUAL(vcx3_port_counters(b.rig.core, 1, &counters), VCX3_OK);
	return ((uint64_t *)&counters)[which];
}
#define DROPS(name) drops(offsetof(struct vcx3_port_counters, name) / sizeof(uint64_t))

static void
test_drops(void)
{
	struct frame frame, big;

	setup(VCX3_CX3, NULL, NULL);
	frame_make(&frame, &(struct frame_spec){ 4, 17, 100 });
	frame_make(&big, &(struct frame_spec){ 4, 17, 1600 });
	rig_push(&b.rig, 1, frame.bytes, frame.len, 0); /* nothing posted */
	big.len = 1523;
	rig_push(&b.rig, 1, big.bytes, big.len, 0);
	rig_push(&b.rig, 1, frame.bytes, 13, 0);
	rig_push(&b.rig, 2, frame.bytes, frame.len, 0);
	rig_run(&b.rig);
	CHECK_EQUAL(DROPS(rx_drop_no_wqe), 1);
	CHECK_EQUAL(DROPS(rx_drop_oversize), 1);
	CHECK_EQUAL(DROPS(rx_drop_runt), 1);
	big.len = 1522;
	receive(&big);
	vcx3_port_set_carrier(b.rig.core, 1, false);
	CHECK_EQUAL(rig_count_events(&b.rig, 'p', 0, 1), 1);
	rig_push(&b.rig, 1, frame.bytes, frame.len, 0);
	rig_run(&b.rig);
	CHECK_EQUAL(DROPS(rx_drop_link_down), 1);
	vcx3_port_set_carrier(b.rig.core, 1, true);
	CHECK_EQUAL(rig_count_events(&b.rig, 'p', 1, 1), 1);
	rig_rule_mac(&b.rig, 1, frame.bytes, 0x999, 0); /* a QP in reset: a drop rule */
	rig_push(&b.rig, 1, frame.bytes, frame.len, 0);
	rig_run(&b.rig);
	CHECK_EQUAL(DROPS(rx_drop_by_rule), 1);
	CHECK_EQUAL(DROPS(rx_frames), 1);
	CHECK_EQUAL(DROPS(rx_bytes), 1522);
	CHECK_EQUAL(DROPS(rx_unicast), 1);
	vcx3_port_set_hold(b.rig.core, 1, true); /* waits for a WQE now */
	vcx3_core_reset(b.rig.core);
	rig_push(&b.rig, 1, frame.bytes, frame.len, 0);
	rig_run(&b.rig);
	CHECK_EQUAL(b.rig.wires[0].rx_tail - b.rig.wires[0].rx_head, 1);
	CHECK_EQUAL(DROPS(rx_drop_no_rule), 0);
	vcx3_port_set_hold(b.rig.core, 1, false);
	rig_run(&b.rig);
	CHECK_EQUAL(DROPS(rx_drop_no_rule), 1);
	teardown();
}

/* The decision of a flow must not outlive what it rests on. */
static void
test_flow_cache(void)
{
	struct frame frame;
	uint64_t handle;

	setup(VCX3_CX3, NULL, NULL);
	frame_make(&frame, &(struct frame_spec){ 4, 17, 100 });
	for (int i = 0; i < 3; i++) {
		rig_post_recv(&b.qp, b.rig.lkey, b.buffer, 4096);
		rig_push(&b.rig, 1, frame.bytes, frame.len, 17);
		rig_run(&b.rig);
		CHECK(rig_poll(&b.cq, &b.cqe));
		CHECK_EQUAL(b.cqe.status, IPV4 | UDP | IP_OK | L4_OK);
	}
	handle = rig_rule_mac(&b.rig, 1, frame.bytes, 0x999, 0);
	rig_push(&b.rig, 1, frame.bytes, frame.len, 17);
	rig_run(&b.rig);
	CHECK_EQUAL(DROPS(rx_drop_by_rule), 1);
	CHECK_EQUAL(vcx3_rule_detach(b.rig.core, handle), VCX3_OK);
	CHECK_EQUAL(vcx3_qp_modify(b.rig.core, 0x80, VCX3_QP_RESET, 0), VCX3_OK);
	rig_push(&b.rig, 1, frame.bytes, frame.len, 17);
	rig_run(&b.rig);
	CHECK_EQUAL(DROPS(rx_drop_by_rule), 2);
	teardown();
}

static void
test_timestamp(void)
{
	struct vcx3_cq_attr attr = { .timestamps = true };
	struct frame frame;

	setup(VCX3_CX3, NULL, &attr);
	frame_make(&frame, &(struct frame_spec){ 4, 17, 100 });
	b.rig.now_ns = 123456789012;
	for (int i = 0; i < 2; i++) {
		receive(&frame);
		CHECK_EQUAL(b.cqe.timestamp, b.rig.now_ns / 1000 * 427 + b.rig.now_ns % 1000 * 427 /
			    1000);
		b.rig.now_ns = UINT64_C(65536) * 1000000; /* ticks whose low half is 0 */
	}
	teardown();
}

/* What software has posted, in order, until it is taken. */
static void
test_posted(void)
{
	uint64_t addresses[4];
	struct frame frame;
	unsigned int i;

	setup(VCX3_CX3, NULL, NULL);
	CHECK_EQUAL(vcx3_core_posted(b.rig.core, addresses, 4), 0);
	for (i = 0; i < 3; i++)
		rig_post_recv(&b.qp, b.rig.lkey, b.buffer + i * 512, 512);
	addresses[2] = 7;
	CHECK_EQUAL(vcx3_core_posted(b.rig.core, addresses, 2), 3);
	CHECK_EQUAL(addresses[2], 7);
	frame_make(&frame, &(struct frame_spec){ .payload = 50 });
	rig_push(&b.rig, 1, frame.bytes, frame.len, 0);
	rig_run(&b.rig);
	CHECK_EQUAL(vcx3_core_posted(b.rig.core, addresses, 4), 2);
	for (i = 0; i < 2; i++)
		CHECK_EQUAL(addresses[i], (uintptr_t)b.buffer + (i + 1) * 512);
	teardown();
}

int
main(void)
{
	test_status();
	test_damage();
	test_vlan();
	test_strip_and_fcs();
	test_tunnel();
	test_rss();
	test_scatter();
	test_drops();
	test_flow_cache();
	test_timestamp();
	test_posted();
	return 0;
}
