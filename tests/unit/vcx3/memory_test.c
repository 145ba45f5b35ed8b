/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The same traffic with translated memory: every 4 KiB page of rings and buffers lies
 * elsewhere, translations change while traffic flows, and holes end in errors instead
 * of touching anything.
 */
#include "frames.h"

#define PAGE 4096u
#define PAGES 4096u

struct world {
	struct rig rig;
	uint8_t *host; /* scattered pages */
	uint32_t where[PAGES]; /* device page -> host page; PAGES = hole */
	uint64_t lookups;
	struct rig_cq cq;
	struct rig_qp qp;
};

static struct world w;

static uint8_t *
translate(void *ctx, const struct vcx3_object *object, uint64_t offset, bool write)
{
	uint64_t page = offset / PAGE + object->table;

	w.lookups++;
	CHECK_EQUAL(offset % PAGE, 0);
	if (page >= PAGES || w.where[page] == PAGES)
		return NULL;
	return w.host + (size_t)w.where[page] * PAGE;
}

static const struct vcx3_memory_ops ops = { .page = translate };

static uint8_t *
at(uint64_t address)
{
	return w.host + (size_t)w.where[address / PAGE] * PAGE + address % PAGE;
}

/* Copies between the test and device memory, byte by byte. */
static void
put(uint64_t address, const void *data, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		*at(address + i) = ((const uint8_t *)data)[i];
}

static void
shuffle(uint64_t seed)
{
	for (uint32_t i = PAGES - 1; i > 0; i--) {
		uint32_t other = rig_random(&seed) % (i + 1), page = w.where[i];

		w.where[i] = w.where[other];
		w.where[other] = page;
	}
}

/* Moves all pages, with their content. */
static void
migrate(uint64_t seed)
{
	static uint32_t before[PAGES];
	uint8_t *old = malloc(PAGES * PAGE);

	CHECK(old != NULL);
	memcpy(old, w.host, PAGES * PAGE);
	memcpy(before, w.where, sizeof(before));
	shuffle(seed);
	for (uint32_t i = 0; i < PAGES; i++)
		memcpy(w.host + (size_t)w.where[i] * PAGE, old + (size_t)before[i] * PAGE, PAGE);
	free(old);
	vcx3_core_memory_changed(w.rig.core);
}

#define CQ_BASE 0x10000ull
#define CQ_RECORD 0x1ff8ull
#define QP_BASE 0x20000ull
#define QP_RECORD 0x2ffcull
#define DATA_BASE 0x100000ull
#define LOG_RING 8
#define RQ_OFFSET (64u << LOG_RING)

static struct vcx3_object
object(uint64_t base)
{
	return (struct vcx3_object){ .base = base, .log_page = 12 };
}

static void
setup(void)
{
	struct vcx3_core_config config = { .memory_ops = &ops, .strict = true };
	struct vcx3_cq_attr cq = { .log_size = LOG_RING + 1, .cqe_size = 64, .device_init = true,
				   .buffer = object(CQ_BASE), .record = object(CQ_RECORD) };
	struct vcx3_qp_attr qp = { .pd = RIG_PD, .port = 1, .send_cqn = 1, .recv_cqn = 1,
				   .buffer = object(QP_BASE), .record = object(QP_RECORD),
				   .sq = { true, LOG_RING, 6, 0 },
				   .rq = { true, LOG_RING, 5, RQ_OFFSET } };
	struct vcx3_mpt_attr mpt = { .pd = RIG_PD, .access = VCX3_ACCESS_LOCAL_WRITE,
				     .start = 0x7000000123ull, .length = 8 << 20,
				     .object = object(DATA_BASE + 0x123) };

	memset(&w, 0, sizeof(w));
	w.host = calloc(PAGES, PAGE);
	CHECK(w.host != NULL);
	for (uint32_t i = 0; i < PAGES; i++)
		w.where[i] = i;
	shuffle(5);
	rig_create(&w.rig, &config); /* its own key is not used here */
	for (uint32_t i = 0; i < 1u << LOG_RING; i++)
		*at(QP_BASE + i * 64) = 0xff;
	CHECK_EQUAL(vcx3_cq_create(w.rig.core, 1, &cq), VCX3_OK);
	CHECK_EQUAL(vcx3_qp_init(w.rig.core, 0x100, &qp), VCX3_OK);
	vcx3_qp_modify(w.rig.core, 0x100, VCX3_QP_RTR, 0);
	vcx3_qp_modify(w.rig.core, 0x100, VCX3_QP_RTS, 0);
	CHECK_EQUAL(vcx3_mpt_create(w.rig.core, 0x4200, &mpt), VCX3_OK);
	rig_rule_default(&w.rig, 1, VCX3_RULE_ALL_DEFAULT, 0x100);
}

static void
put_segment(uint64_t address, uint32_t len, uint32_t key, uint64_t data)
{
	uint8_t segment[16];

	rig_be32(segment, len);
	rig_be32(segment + 4, key);
	rig_be64(segment + 8, data);
	put(address, segment, 16);
}

static void
post(uint32_t index, uint64_t to, uint32_t len)
{
	uint64_t wqe = QP_BASE + RQ_OFFSET + (index & ((1 << LOG_RING) - 1)) * 32;
	uint8_t record[4] = { 0 };

	put_segment(wqe, len / 2, 0x4200, to);
	put_segment(wqe + 16, len - len / 2, 0x4200, to + len / 2);
	rig_be32(record, (index + 1) & 0xffff);
	put(QP_RECORD, record, 4);
}

/* A WQE of several strides: 5 segments make 96 bytes. @return the next index. */
static uint32_t
send(uint32_t index, uint64_t from, uint32_t len)
{
	uint8_t control[16] = { 0 };
	uint64_t mask = (1 << LOG_RING) - 1;
	uint32_t part = len / 5;

	for (uint32_t i = 0; i < 5; i++) {
		uint32_t offset = 16 + i * 16;

		put_segment(QP_BASE + (((uint64_t)index + offset / 64) & mask) * 64 + offset % 64,
			    i < 4 ? part : len - 4 * part, 0x4200, from + i * part);
	}
	control[7] = 6;
	control[11] = 0x0c;
	put(QP_BASE + (index & mask) * 64 + 4, control + 4, 12);
	rig_be32(control, (index >> LOG_RING & 1) << 31 | 0x0a);
	put(QP_BASE + (index & mask) * 64, control, 4);
	return index + 2;
}

static bool
poll(uint32_t *ci, uint8_t *cqe)
{
	uint64_t address = CQ_BASE + (*ci & ((2 << LOG_RING) - 1)) * 64 + 32;
	uint8_t record[4];

	if (*at(address + 31) >> 7 != (*ci >> (LOG_RING + 1) & 1))
		return false;
	for (int i = 0; i < 32; i++)
		cqe[i] = *at(address + i);
	++*ci;
	rig_be32(record, *ci & 0xffffff);
	put(CQ_RECORD, record, 4);
	return true;
}

static void
test_traffic(void)
{
	const uint64_t va = 0x7000000123ull;
	uint32_t head = 0, ci = 0, len;
	uint64_t seed = 1;
	uint8_t cqe[32], *sent;
	struct frame frame;

	setup();
	for (uint32_t i = 0; i < 3000; i++) {
		uint64_t from = rig_random(&seed) % 20000, to = 100000 + rig_random(&seed) % 20000;

		frame_make(&frame, &(struct frame_spec){ 4, 17, 60 + rig_random(&seed) % 1400,
							 .salt = i });
		put(DATA_BASE + 0x123 + from, frame.bytes, frame.len);
		if (i % 100 == 99)
			migrate(i);
		head = send(head, va + from, frame.len);
		rig_run(&w.rig);
		CHECK(poll(&ci, cqe) && cqe[31] % 0x80 == 0x4a);
		sent = rig_pop(&w.rig, 1, &len);
		CHECK(sent != NULL && len == frame.len);
		CHECK(memcmp(sent, frame.bytes, len) == 0);
		free(sent);
		post(i, va + to, 2048);
		rig_push(&w.rig, 1, frame.bytes, frame.len, 0);
		rig_run(&w.rig);
		CHECK(poll(&ci, cqe) && cqe[31] % 0x80 == 0x01);
		CHECK_EQUAL(rig_get32(cqe + 20), frame.len);
		for (uint32_t j = 0; j < frame.len; j++)
			CHECK_EQUAL(*at(DATA_BASE + 0x123 + to + j), frame.bytes[j]);
	}
	CHECK(w.lookups < 3000); /* the cache works */
	CHECK_EQUAL(vcx3_strict_total(w.rig.core), 0);
	rig_destroy(&w.rig);
	free(w.host);
}

/* Pages vanish: of the data, of the ring, of the records. */
static void
test_holes(void)
{
	static const uint64_t holes[] = { DATA_BASE + 0x123 + 5000, CQ_BASE, QP_BASE, CQ_RECORD,
					  QP_RECORD };
	const uint64_t va = 0x7000000123ull;
	struct frame frame;
	uint8_t *sent;
	uint32_t len;

	for (size_t i = 0; i < sizeof(holes) / sizeof(holes[0]); i++) {
		setup();
		send(0, va + 4900, 200);
		post(0, va + 4900, 2048);
		w.where[holes[i] / PAGE] = PAGES;
		vcx3_core_memory_changed(w.rig.core);
		frame_make(&frame, &(struct frame_spec){ 4, 17, 600 });
		rig_push(&w.rig, 1, frame.bytes, frame.len, 0);
		rig_run(&w.rig);
		if (i == 0)
			CHECK_EQUAL(vcx3_qp_state(w.rig.core, 0x100), VCX3_QP_ERROR);
		if (i == 1)
			CHECK_EQUAL(rig_count_events(&w.rig, 'a', VCX3_EVENT_CQ_ERROR, 1), 1);
		while ((sent = rig_pop(&w.rig, 1, &len)) != NULL)
			free(sent);
		rig_destroy(&w.rig);
		free(w.host);
	}
}

int
main(void)
{
	test_traffic();
	test_holes();
	return 0;
}
