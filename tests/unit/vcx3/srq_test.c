/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A shared receive queue under two QPs: list order, wrap of its counter, limit event,
 * no WQE, flush leaves it alone.
 */
#include "frames.h"

#define LOG_COUNT 4
#define COUNT 16
#define BUFFER 2048

struct bench {
	struct rig rig;
	struct rig_cq cq;
	struct rig_qp qps[2];
	uint8_t *wqes, *record, *data;
	uint32_t posted;
	uint32_t tail; /* WQE that ends the list */
};

static struct bench b;

/* Links a free WQE behind the list, as libmlx4 keeps it: one WQE is always spare. */
static void
post(uint32_t index)
{
	uint8_t *wqe = b.wqes + index * 64;

	rig_be32(wqe + 16, 100);
	rig_be32(wqe + 20, b.rig.lkey);
	rig_be64(wqe + 24, (uintptr_t)b.data + index * BUFFER);
	rig_be32(wqe + 32, BUFFER - 100);
	rig_be32(wqe + 36, b.rig.lkey);
	rig_be64(wqe + 40, (uintptr_t)b.data + index * BUFFER + 100);
	rig_be32(wqe + 52, VCX3_INVALID_LKEY);
	if (b.posted > 0)
		rig_be16(b.wqes + b.tail * 64 + 2, index);
	b.tail = index;
	b.posted++;
	rig_be32(b.record, b.posted & 0xffff);
}

static void
setup(uint16_t limit)
{
	static const uint8_t macs[2][6] = { { 2, 0, 0, 0, 0, 1 }, { 2, 0, 0, 0, 0, 9 } };
	struct vcx3_srq_attr attr = { .pd = RIG_PD, .log_count = LOG_COUNT, .log_stride = 6,
				      .limit = limit };
	struct vcx3_qp_attr qp = { .use_srq = true, .srqn = 5 };

	rig_create(&b.rig, NULL);
	b.wqes = rig_alloc(&b.rig, COUNT * 64);
	b.record = rig_alloc(&b.rig, 4);
	b.data = rig_alloc(&b.rig, COUNT * BUFFER);
	b.posted = b.tail = 0;
	attr.buffer = vcx3_object_flat(b.wqes);
	attr.record = vcx3_object_flat(b.record);
	CHECK_EQUAL(vcx3_srq_create(b.rig.core, 5, &attr), VCX3_OK);
	CHECK_EQUAL(vcx3_srq_create(b.rig.core, 5, &attr), VCX3_BAD_INDEX);
	rig_cq(&b.rig, &b.cq, 1, 8, NULL);
	for (uint32_t i = 0; i < 2; i++) {
		rig_qp(&b.rig, &b.qps[i], 0x100 + i, 1, -1, -1, 1, &qp);
		rig_rule_mac(&b.rig, 1, macs[i], 0x100 + i, 0);
	}
	CHECK_EQUAL(vcx3_srq_destroy(b.rig.core, 5), VCX3_RESOURCE_BUSY);
}

/* A frame for one of the QPs. @return the WQE that took it, COUNT if none did. */
static uint32_t
receive(uint32_t which, uint8_t salt)
{
	struct frame frame;
	struct rig_cqe cqe;

	frame_make(&frame, &(struct frame_spec){ 4, 17, 300, .salt = salt });
	frame.bytes[5] = which ? 9 : 1;
	rig_push(&b.rig, 1, frame.bytes, frame.len, 0);
	rig_run(&b.rig);
	if (!rig_poll(&b.cq, &cqe))
		return COUNT;
	CHECK_EQUAL(cqe.opcode, 1);
	CHECK_EQUAL(cqe.qpn, 0x100 + which);
	CHECK(cqe.wqe_index < COUNT);
	CHECK(memcmp(b.data + cqe.wqe_index * BUFFER, frame.bytes, frame.len) == 0);
	return cqe.wqe_index;
}

/* WQEs come back in any order: the list, not the ring, says which is next. */
static void
test_list(void)
{
	uint32_t order[COUNT], taken, next = 0, free_wqe[COUNT], nb_free = 0;
	uint64_t seed = 2;

	setup(0);
	for (uint32_t i = 0; i < COUNT - 1; i++) {
		order[i] = i;
		post(i);
	}
	for (uint32_t i = COUNT - 1; i < COUNT; i++)
		free_wqe[nb_free++] = i;
	for (uint32_t i = 0; i < 70000; i++) {
		uint32_t pick;

		taken = receive(rig_random(&seed) & 1, i);
		CHECK_EQUAL(taken, order[next]);
		free_wqe[nb_free++] = taken;
		pick = rig_random(&seed) % nb_free;
		order[next] = free_wqe[pick];
		post(free_wqe[pick]);
		free_wqe[pick] = free_wqe[--nb_free];
		next = (next + 1) % (COUNT - 1);
	}
	rig_destroy(&b.rig);
}

static void
test_limit(void)
{
	setup(3);
	for (uint32_t i = 0; i < 5; i++)
		post(i);
	CHECK_EQUAL(receive(0, 0), 0);
	CHECK_EQUAL(receive(1, 0), 1);
	CHECK_EQUAL(rig_count_events(&b.rig, 'a', VCX3_EVENT_SRQ_LIMIT, 5), 0);
	CHECK_EQUAL(receive(0, 0), 2); /* 2 left */
	CHECK_EQUAL(receive(0, 0), 3);
	CHECK_EQUAL(rig_count_events(&b.rig, 'a', VCX3_EVENT_SRQ_LIMIT, 5), 1);
	CHECK_EQUAL(vcx3_srq_arm(b.rig.core, 5, 1), VCX3_OK);
	vcx3_qp_modify(b.rig.core, 0x101, VCX3_QP_ERROR, 0);
	rig_run(&b.rig);
	CHECK_EQUAL(receive(0, 0), 4); /* not flushed by the other QP */
	CHECK_EQUAL(rig_count_events(&b.rig, 'a', VCX3_EVENT_SRQ_LIMIT, 5), 2);
	CHECK_EQUAL(receive(0, 0), COUNT); /* empty */
	vcx3_qp_modify(b.rig.core, 0x100, VCX3_QP_RESET, 0);
	vcx3_qp_modify(b.rig.core, 0x101, VCX3_QP_RESET, 0);
	CHECK_EQUAL(vcx3_srq_destroy(b.rig.core, 5), VCX3_OK);
	CHECK_EQUAL(vcx3_counters_get(b.rig.core)->live_srqs, 0);
	rig_destroy(&b.rig);
}

int
main(void)
{
	test_list();
	test_limit();
	return 0;
}
