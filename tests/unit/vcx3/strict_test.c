/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each rule of strict mode, broken once on purpose; and clean traffic, which must not
 * break any.
 */
#include "frames.h"

struct bench {
	struct rig rig;
	struct rig_cq cq;
	struct rig_qp qp;
	struct rig_wqe wqe;
	uint8_t *data;
};

static struct bench b;

static void
setup(bool need_doorbell)
{
	struct vcx3_core_config config = { .strict = true };
	struct vcx3_qp_attr attr = { .need_doorbell = need_doorbell };

	rig_create(&b.rig, &config);
	rig_cq(&b.rig, &b.cq, 3, 7, NULL);
	rig_qp(&b.rig, &b.qp, 0x100, 3, 6, 3, 1, &attr);
	b.data = rig_alloc(&b.rig, 65536);
	rig_rule_default(&b.rig, 1, VCX3_RULE_ALL_DEFAULT, 0x100);
}

/* This rule was broken so often, others as often as the mask of rules allows. */
static void
expect(enum vcx3_rule_id rule, uint64_t others)
{
	CHECK_EQUAL(vcx3_strict_count(b.rig.core, rule), 1);
	CHECK_EQUAL(vcx3_strict_total(b.rig.core), 1 + others);
	CHECK(strlen(vcx3_strict_sentence(rule)) > 30);
	if (others == 0) {
		CHECK(strcmp(b.rig.last_violation.rule, vcx3_strict_name(rule)) == 0);
		CHECK(b.rig.last_violation.nb_words > 0);
	}
	rig_destroy(&b.rig);
}

static void
post(uint32_t opcode)
{
	rig_post_send(&b.qp, &b.wqe, opcode, 0x0c);
	rig_run(&b.rig);
}

static void
start(void)
{
	setup(false);
	rig_wqe_start(&b.wqe);
}

static void
push(void)
{
	struct frame frame;

	frame_make(&frame, &(struct frame_spec){ 4, 6, 60 });
	rig_push(&b.rig, 1, frame.bytes, frame.len, 0);
	rig_run(&b.rig);
}

static void
test_send(void)
{
	uint8_t bytes[64] = { 0 };
	uint32_t key;

	start();
	post(0x10);
	expect(VCX3_STRICT_wqe_opcode, 0);
	start();
	rig_wqe_data(&b.wqe, b.rig.lkey, b.data, 60);
	rig_be32(b.wqe.bytes + 16, 0);
	post(0x0a);
	expect(VCX3_STRICT_wqe_zero_length, 0);
	start();
	rig_wqe_inline(&b.wqe, bytes, 45);
	post(0x0a);
	expect(VCX3_STRICT_wqe_inline_line, 0);
	start();
	rig_wqe_inline(&b.wqe, bytes, 20);
	rig_be32(b.wqe.bytes + 16, 0x80000000 | 300);
	post(0x0a);
	expect(VCX3_STRICT_wqe_size, 0);
	start();
	rig_wqe_lso(&b.wqe, 100, bytes, 54); /* not TCP */
	post(0x0e);
	expect(VCX3_STRICT_wqe_lso, 0);
	start();
	rig_wqe_data(&b.wqe, 0x4200, b.data, 60);
	post(0x0a);
	expect(VCX3_STRICT_lkey, 0);
	start();
	rig_wqe_data(&b.wqe, b.rig.lkey, b.data + RIG_ARENA, 60);
	post(0x0a);
	expect(VCX3_STRICT_mr_range, 0);
	start();
	key = __builtin_bswap32(b.rig.lkey);
	rig_wqe_data(&b.wqe, key, b.data, 60); /* little endian */
	post(0x0a);
	expect(VCX3_STRICT_byte_order, 1);
}

static void
test_receive(void)
{
	struct vcx3_mpt_attr attr = { .pd = RIG_PD, .length = 2048 };

	setup(false);
	attr.start = (uintptr_t)b.data;
	attr.object = vcx3_object_flat(b.data);
	CHECK_EQUAL(vcx3_mpt_create(b.rig.core, vcx3_mpt_key(50), &attr), VCX3_OK);
	rig_post_recv(&b.qp, vcx3_mpt_key(50), b.data, 2048);
	push();
	expect(VCX3_STRICT_mr_access, 0);
	setup(false);
	rig_post_recv(&b.qp, b.rig.lkey, b.data, 2048);
	rig_post_recv(&b.qp, b.rig.lkey, b.data + 2048, 2048);
	rig_post_recv(&b.qp, b.rig.lkey, b.data, 2048);
	push();
	expect(VCX3_STRICT_rq_same_buffer, 0);
	setup(false);
	for (int i = 0; i < 9; i++) /* the ring has 8 */
		rig_post_recv(&b.qp, b.rig.lkey, b.data + i * 2048, 2048);
	push();
	expect(VCX3_STRICT_rq_overposted, 0);
	setup(false);
	rig_post_recv(&b.qp, b.rig.lkey, b.data, 2048);
	rig_be32(b.qp.record, 1 << 24); /* little endian: 0 posted in the low 16 bits */
	push();
	push();
	expect(VCX3_STRICT_byte_order, 0);
}

static void
test_queues(void)
{
	struct rig_cqe cqe;
	uint8_t *slots;

	setup(true); /* posted, never rung */
	rig_wqe_start(&b.wqe);
	rig_wqe_data(&b.wqe, b.rig.lkey, b.data, 60);
	post(0x0a);
	CHECK(!rig_poll(&b.cq, &cqe));
	CHECK_EQUAL(vcx3_qp_modify(b.rig.core, 0x100, VCX3_QP_RESET, 0), VCX3_OK);
	expect(VCX3_STRICT_sq_doorbell, 0);
	start();
	vcx3_qp_kick(b.rig.core, 0x777);
	expect(VCX3_STRICT_sq_doorbell_unknown, 0);
	start();
	vcx3_cq_arm(b.rig.core, 99, VCX3_ARM_NEXT, 0, 1);
	expect(VCX3_STRICT_cq_arm_unknown, 0);
	start();
	rig_be32(b.cq.record + 4, 1u << 28 | VCX3_ARM_NEXT << 24);
	vcx3_cq_arm(b.rig.core, 3, VCX3_ARM_NEXT, 0, 1);
	vcx3_cq_arm(b.rig.core, 3, VCX3_ARM_NEXT, 0, 2); /* the record is of the one before */
	expect(VCX3_STRICT_cq_arm_record, 0);
	start();
	rig_be32(b.cq.record, 5); /* nothing has completed yet */
	rig_run(&b.rig);
	expect(VCX3_STRICT_cq_consumer_index, 0);
	start(); /* a slot ahead that looks handed over */
	slots = b.qp.sq;
	rig_be32(slots + 9 * 64, 0x0a);
	vcx3_qp_kick(b.rig.core, 0x100);
	expect(VCX3_STRICT_sq_stamp, 0);
	setup(true); /* a WQE of size 0 with a doorbell */
	rig_be32(b.qp.sq, 0x0a);
	rig_be32(b.qp.sq + 4, 0);
	vcx3_qp_kick(b.rig.core, 0x100);
	rig_run(&b.rig);
	expect(VCX3_STRICT_wqe_size, 0);
}

static void
test_overrun(void)
{
	struct rig_cq cq;
	struct rig_qp qp;

	setup(false);
	rig_cq(&b.rig, &cq, 4, 2, NULL);
	rig_qp(&b.rig, &qp, 0x101, 4, 6, -1, 1, NULL);
	for (int i = 0; i < 5; i++) {
		rig_wqe_start(&b.wqe);
		rig_wqe_data(&b.wqe, b.rig.lkey, b.data, 60);
		rig_post_send(&qp, &b.wqe, 0x0a, 0x0c);
	}
	rig_run(&b.rig);
	expect(VCX3_STRICT_cq_overrun, 0);
}

static void
test_pattern(void)
{
	struct vcx3_qp_attr attr;

	setup(false);
	CHECK_EQUAL(vcx3_qp_query(b.rig.core, 0x100, &attr), VCX3_OK);
	vcx3_qp_modify(b.rig.core, 0x100, VCX3_QP_RESET, 0);
	memset(b.qp.sq, 0, 64 << 6); /* mlx4_en: zeros, and a doorbell for each WQE */
	CHECK_EQUAL(vcx3_qp_init(b.rig.core, 0x100, &attr), VCX3_OK);
	vcx3_qp_modify(b.rig.core, 0x100, VCX3_QP_RESET, 0);
	CHECK_EQUAL(vcx3_strict_total(b.rig.core), 0);
	b.qp.sq[20 * 64 + 7] = 4;
	CHECK_EQUAL(vcx3_qp_init(b.rig.core, 0x100, &attr), VCX3_OK);
	expect(VCX3_STRICT_sq_initial_pattern, 0);
}

/* With doorbells: nothing moves before one, one is enough for many, idle ones count. */
static void
test_doorbells(void)
{
	struct rig_cqe cqe;

	setup(true);
	for (int round = 0; round < 100; round++) {
		for (int i = 0; i < 5; i++) {
			rig_wqe_start(&b.wqe);
			rig_wqe_data(&b.wqe, b.rig.lkey, b.data, 60);
			post(0x0a);
		}
		CHECK(!rig_poll(&b.cq, &cqe));
		vcx3_qp_kick(b.rig.core, 0x100);
		rig_run(&b.rig);
		for (int i = 0; i < 5; i++)
			CHECK(rig_poll(&b.cq, &cqe));
		rig_stamp(&b.qp, b.qp.sq_head - 5, 5);
	}
	vcx3_qp_kick(b.rig.core, 0x100);
	CHECK_EQUAL(vcx3_counters_get(b.rig.core)->doorbells, 101);
	CHECK_EQUAL(vcx3_counters_get(b.rig.core)->doorbells_idle, 1);
	CHECK_EQUAL(vcx3_strict_total(b.rig.core), 0);
	rig_destroy(&b.rig);
}

/* Queues that end give their buffers back: no false "same buffer". */
static void
test_repost(void)
{
	struct vcx3_qp_attr attr;

	setup(false);
	CHECK_EQUAL(vcx3_qp_query(b.rig.core, 0x100, &attr), VCX3_OK);
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 8; i++)
			rig_post_recv(&b.qp, b.rig.lkey, b.data + i * 2048, 2048);
		push();
		vcx3_qp_modify(b.rig.core, 0x100, VCX3_QP_RESET, 0);
		b.qp.rq_posted = 0;
		CHECK_EQUAL(vcx3_qp_init(b.rig.core, 0x100, &attr), VCX3_OK);
		vcx3_qp_modify(b.rig.core, 0x100, VCX3_QP_RTR, 0);
	}
	CHECK_EQUAL(vcx3_strict_total(b.rig.core), 0);
	rig_destroy(&b.rig);
}

int
main(void)
{
	test_send();
	test_receive();
	test_queues();
	test_overrun();
	test_pattern();
	test_doorbells();
	test_repost();
	return 0;
}
