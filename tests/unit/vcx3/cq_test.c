/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion queues: arming by record and by doorbell, moderation, solicited events,
 * resize, overrun, life and death.
 */
#include "frames.h"

struct bench {
	struct rig rig;
	struct rig_cq cq;
	struct rig_qp qp;
	uint8_t *data;
};

static struct bench b;

static void
setup(unsigned int log, const struct vcx3_cq_attr *attr)
{
	rig_create(&b.rig, NULL);
	rig_cq(&b.rig, &b.cq, 3, log, attr);
	rig_qp(&b.rig, &b.qp, 0x100, 3, 8, -1, 1, NULL);
	b.data = rig_alloc(&b.rig, 2048);
}

/* Sends frames; each completes. */
static void
complete(unsigned int count)
{
	while (count-- > 0) {
		struct rig_wqe wqe;

		rig_wqe_start(&wqe);
		rig_wqe_data(&wqe, b.rig.lkey, b.data, 60);
		rig_post_send(&b.qp, &wqe, 0x0a, 0x0c);
	}
	rig_run(&b.rig);
}

static unsigned int
events(void)
{
	return rig_count_events(&b.rig, 'c', 9, 3);
}

static void
arm_record(uint32_t sn, uint32_t command)
{
	rig_be32(b.cq.record + 4, sn << 28 | command << 24 | (b.cq.ci & 0xffffff));
	rig_run(&b.rig);
}

static void
drain(unsigned int count)
{
	struct rig_cqe cqe;

	while (count-- > 0)
		CHECK(rig_poll(&b.cq, &cqe));
	CHECK(!rig_poll(&b.cq, &cqe));
}

static void
test_record(void)
{
	setup(7, &(struct vcx3_cq_attr){ .arm_by_record = true, .event_queue = 9 });
	complete(1);
	CHECK_EQUAL(events(), 0); /* not armed */
	arm_record(1, 2);
	CHECK_EQUAL(events(), 1); /* something is there: at once */
	drain(1);
	complete(1);
	CHECK_EQUAL(events(), 1); /* fired: silent until armed again */
	drain(1);
	arm_record(1, 2); /* an old sequence number */
	complete(1);
	CHECK_EQUAL(events(), 1);
	drain(1);
	arm_record(2, 2);
	arm_record(2, 2); /* twice without an event: stays armed */
	CHECK_EQUAL(events(), 1);
	complete(3);
	CHECK_EQUAL(events(), 2);
	CHECK_EQUAL(vcx3_counters_get(b.rig.core)->completion_events, 2);
	CHECK_EQUAL(vcx3_counters_get(b.rig.core)->cq_arms, 2);
	rig_destroy(&b.rig);
}

static void
test_doorbell(void)
{
	setup(7, &(struct vcx3_cq_attr){ .event_queue = 9 });
	complete(2);
	vcx3_cq_arm(b.rig.core, 3, VCX3_ARM_NEXT, 0, 1);
	CHECK_EQUAL(events(), 1);
	vcx3_cq_arm(b.rig.core, 3, VCX3_ARM_NEXT, 2, 2);
	CHECK_EQUAL(events(), 1);
	complete(1);
	CHECK_EQUAL(events(), 2);
	drain(3);
	vcx3_cq_arm(b.rig.core, 3, VCX3_ARM_SOLICITED, 3, 3);
	complete(1);
	CHECK_EQUAL(events(), 2); /* a plain completion is not solicited ... */
	vcx3_qp_modify(b.rig.core, 0x100, VCX3_QP_ERROR, 0);
	complete(1);
	CHECK_EQUAL(events(), 3); /* ... an error is */
	rig_destroy(&b.rig);
}

static void
test_moderation(void)
{
	setup(7, &(struct vcx3_cq_attr){ .event_queue = 9, .moderation_count = 4,
					 .moderation_us = 10 });
	vcx3_cq_arm(b.rig.core, 3, VCX3_ARM_NEXT, 0, 1);
	complete(3);
	CHECK_EQUAL(events(), 0);
	complete(1);
	CHECK_EQUAL(events(), 1);
	vcx3_cq_arm(b.rig.core, 3, VCX3_ARM_NEXT, 4, 2);
	complete(1);
	b.rig.now_ns += 9999;
	rig_run(&b.rig);
	CHECK_EQUAL(events(), 1);
	b.rig.now_ns += 1;
	rig_run(&b.rig);
	CHECK_EQUAL(events(), 2);
	CHECK_EQUAL(vcx3_cq_moderate(b.rig.core, 3, 1, 0), VCX3_OK);
	vcx3_cq_arm(b.rig.core, 3, VCX3_ARM_NEXT, 5, 3);
	complete(1);
	CHECK_EQUAL(events(), 3);
	rig_destroy(&b.rig);
}

/* As libmlx4: copies unread entries one place up, up to the RESIZE entry. */
static void
take_over(struct rig_cq *new)
{
	const uint8_t *old;
	uint32_t i = b.cq.ci;

	for (;; i++) {
		uint8_t *to = new->buffer + ((i + 1) & (new->count - 1)) * new->size;

		old = b.cq.buffer + (i & (b.cq.count - 1)) * b.cq.size;
		if ((old[b.cq.size - 1] & 0x1f) == 0x16)
			break;
		memcpy(to, old, new->size);
		to[new->size - 1] = (to[new->size - 1] & 0x7f) |
				    ((i + 1) & new->count ? 0x80 : 0);
	}
	new->ci = b.cq.ci + 1;
	b.cq = *new;
	rig_be32(b.cq.record, b.cq.ci);
}

static void
test_resize(void)
{
	static const unsigned int sizes[] = { 7, 4, 5, 8, 6 };
	unsigned int total = 0;

	setup(5, NULL);
	for (int round = 0; round < 40; round++) {
		unsigned int log = sizes[round % 5];
		struct rig_cq new = b.cq;
		struct vcx3_object object;

		new.count = 1u << log;
		new.buffer = rig_alloc(&b.rig, new.size << log);
		object = vcx3_object_flat(new.buffer);
		complete(3 + round % 9);
		CHECK_EQUAL(vcx3_cq_resize(b.rig.core, 3, &object, log, true), VCX3_OK);
		complete(2); /* before software moves over */
		take_over(&new);
		drain(3 + round % 9 + 2);
		complete(11); /* and some past a wrap */
		drain(11);
		total += 3 + round % 9 + 2 + 11;
	}
	CHECK_EQUAL(vcx3_counters_get(b.rig.core)->cqes, total + 40);
	complete(20);
	CHECK_EQUAL(vcx3_cq_resize(b.rig.core, 3, &(struct vcx3_object){ .base = 64 }, 4, true),
		    VCX3_BAD_SIZE);
	rig_destroy(&b.rig);
}

static void
test_overrun(void)
{
	struct rig_cqe cqe;

	setup(3, NULL);
	complete(8);
	CHECK_EQUAL(rig_count_events(&b.rig, 'a', VCX3_EVENT_CQ_ERROR, 3), 0);
	complete(1);
	CHECK_EQUAL(rig_count_events(&b.rig, 'a', VCX3_EVENT_CQ_ERROR, 3), 1);
	CHECK_EQUAL(b.rig.events[0].syndrome, 1);
	CHECK_EQUAL(vcx3_qp_state(b.rig.core, 0x100), VCX3_QP_ERROR);
	for (int i = 0; i < 8; i++)
		CHECK(rig_poll(&b.cq, &cqe) && cqe.opcode == 0x4a && cqe.wqe_index == i);
	CHECK(!rig_poll(&b.cq, &cqe));
	complete(3); /* dead for good */
	CHECK(!rig_poll(&b.cq, &cqe));
	rig_destroy(&b.rig);
	setup(3, &(struct vcx3_cq_attr){ .ignore_overrun = true });
	complete(20);
	CHECK_EQUAL(b.rig.nb_events, 0);
	rig_destroy(&b.rig);
}

static void
test_life(void)
{
	struct vcx3_cq_attr attr = { .cqe_size = 64, .log_size = 4 };
	struct vcx3_cq_attr seen;

	setup(4, NULL);
	attr.buffer = vcx3_object_flat(rig_alloc(&b.rig, 64 << 4));
	attr.record = vcx3_object_flat(rig_alloc(&b.rig, 8));
	CHECK_EQUAL(vcx3_cq_create(b.rig.core, 3, &attr), VCX3_BAD_INDEX);
	CHECK_EQUAL(vcx3_cq_create(b.rig.core, 1 << 20, &attr), VCX3_BAD_INDEX);
	attr.cqe_size = 48;
	CHECK_EQUAL(vcx3_cq_create(b.rig.core, 4, &attr), VCX3_BAD_PARAM);
	attr.cqe_size = 32;
	attr.log_size = 23;
	CHECK_EQUAL(vcx3_cq_create(b.rig.core, 4, &attr), VCX3_BAD_PARAM);
	attr.log_size = 4;
	memset((void *)(uintptr_t)attr.buffer.base, 0, 64 << 4);
	CHECK_EQUAL(vcx3_cq_create(b.rig.core, 4, &attr), VCX3_OK);
	CHECK_EQUAL(*(uint8_t *)(uintptr_t)attr.buffer.base, 0); /* no device_init */
	CHECK_EQUAL(vcx3_cq_query(b.rig.core, 4, &seen), VCX3_OK);
	CHECK_EQUAL(seen.log_size, 4);
	CHECK_EQUAL(vcx3_cq_destroy(b.rig.core, 3), VCX3_RESOURCE_BUSY);
	CHECK_EQUAL(vcx3_qp_modify(b.rig.core, 0x100, VCX3_QP_RESET, 0), VCX3_OK);
	CHECK_EQUAL(vcx3_cq_destroy(b.rig.core, 3), VCX3_OK);
	CHECK_EQUAL(vcx3_cq_destroy(b.rig.core, 3), VCX3_BAD_INDEX);
	CHECK_EQUAL(vcx3_cq_destroy(b.rig.core, 4), VCX3_OK);
	CHECK_EQUAL(vcx3_counters_get(b.rig.core)->live_cqs, 0);
	rig_destroy(&b.rig);
}

int
main(void)
{
	test_record();
	test_doorbell();
	test_moderation();
	test_resize();
	test_overrun();
	test_life();
	return 0;
}
