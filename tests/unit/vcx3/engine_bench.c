/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the engine costs: nanoseconds for each frame that it produces into a receive
 * queue (generator, RSS over 4 queues), and for each that it takes from a send queue
 * (sink). Same thread, hot caches; the driver's part is not counted.
 * Prints a figure, asserts none.
 */
#include <time.h>

#include "rig.h"

#define LOG_RING 9
#define BURST 32
#define ROUNDS 20 /* the best one counts: others share the machine */
#define FRAMES 200000u /* in a round */
#define STRIDE 2368 /* of buffers: as pktmbuf pools space them, odd in cache lines */

static uint64_t
clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
}

static uint64_t
env_now(void *ctx)
{
	return clock_ns();
}

static void
plug(struct rig *rig, const char *text)
{
	struct vcx3_wire_env env = { .now_ns = env_now, .mac = { 2, 0, 0, 0, 0, 1 } };
	struct vcx3_wire_spec spec;
	struct vcx3_wire *wire;
	char reason[VCX3_WIRE_REASON_SIZE];

	CHECK_EQUAL(vcx3_wire_parse(text, &spec, reason, sizeof(reason)), 0);
	CHECK_EQUAL(vcx3_wire_open(&spec, &env, &wire, reason, sizeof(reason)), 0);
	CHECK_EQUAL(vcx3_port_attach_wire(rig->core, 1, wire), VCX3_OK);
}

static void
keep_best(double *best, uint64_t spent, uint32_t count)
{
	if ((double)spent / count < *best)
		*best = (double)spent / count;
}

static void
bench_produce(const char *size)
{
	static const uint8_t key[40] = { 0x2c, 0xc6, 0x81, 0xd1, 0x5b, 0xdb, 0xf4, 0xf7 };
	struct vcx3_qp_attr rss = { .is_rss = true, .port = 1 };
	static struct rig rig;
	struct rig_cq cqs[4];
	struct rig_qp qps[4];
	struct rig_cqe cqe;
	uint64_t spent = 0, start;
	double best = 1e9;
	uint32_t count = 0;
	uint8_t *data;
	char text[64];

	rig_create(&rig, NULL);
	snprintf(text, sizeof(text), "gen:size=%s,flows=16", size);
	plug(&rig, text);
	data = rig_alloc(&rig, STRIDE << LOG_RING);
	for (uint32_t q = 0; q < 4; q++) {
		rig_cq(&rig, &cqs[q], 0x10 + q, LOG_RING, NULL);
		rig_qp(&rig, &qps[q], 0x200 + q, 0x10 + q, -1, LOG_RING, 1, NULL);
		for (uint32_t i = 0; i < 1u << LOG_RING; i++)
			rig_post_recv(&qps[q], rig.lkey, data + i * STRIDE, 2048);
	}
	rss.rss = (struct vcx3_rss_attr){ 0x200, 0x200, 2, 0x3f, true, { 0 } };
	memcpy(rss.rss.key, key, sizeof(key));
	CHECK_EQUAL(vcx3_qp_init(rig.core, 0x300, &rss), VCX3_OK);
	CHECK_EQUAL(vcx3_qp_modify(rig.core, 0x300, VCX3_QP_RTR, 1), VCX3_OK);
	rig_rule_default(&rig, 1, VCX3_RULE_ALL_DEFAULT, 0x300);
	for (int round = 0; round < ROUNDS; round++, keep_best(&best, spent, count)) {
		spent = count = 0;
		while (count < FRAMES) {
			start = clock_ns();
			vcx3_core_run(rig.core);
			spent += clock_ns() - start;
			for (uint32_t q = 0; q < 4; q++)
				for (; rig_poll(&cqs[q], &cqe); count++) {
					qps[q].rq_posted++;
					rig_be32(qps[q].record, qps[q].rq_posted & 0xffff);
				}
		}
	}
	printf("produced frame of %s bytes: %.1f ns\n", size, best);
	vcx3_wire_close(vcx3_port_wire(rig.core, 1));
	rig_destroy(&rig);
}

static void
bench_consume(void)
{
	static struct rig rig;
	struct rig_cq cq;
	struct rig_qp qp;
	struct rig_cqe cqe;
	uint64_t spent = 0, start;
	double best = 1e9;
	uint32_t count = 0;
	uint8_t *data;

	rig_create(&rig, NULL);
	plug(&rig, "sink");
	data = rig_alloc(&rig, STRIDE * BURST);
	rig_cq(&rig, &cq, 0x10, LOG_RING, NULL);
	rig_qp(&rig, &qp, 0x200, 0x10, LOG_RING, -1, 1, NULL);
	for (int round = 0; round < ROUNDS; round++, keep_best(&best, spent, count)) {
		spent = 0;
		for (count = 0; count < FRAMES; count += BURST) {
			for (uint32_t i = 0; i < BURST; i++) {
				struct rig_wqe wqe;

				rig_wqe_start(&wqe);
				rig_wqe_data(&wqe, rig.lkey, data + i * STRIDE, 60);
				rig_post_send(&qp, &wqe, 0x0a, i == BURST - 1 ? 0x0c : 0);
			}
			start = clock_ns();
			vcx3_core_run(rig.core);
			spent += clock_ns() - start;
			CHECK(rig_poll(&cq, &cqe));
			rig_stamp(&qp, qp.sq_head - BURST, BURST);
		}
	}
	printf("consumed frame of 60 bytes: %.1f ns\n", best);
	vcx3_wire_close(vcx3_port_wire(rig.core, 1));
	rig_destroy(&rig);
}

int
main(void)
{
	bench_produce("60");
	bench_produce("1514");
	bench_consume();
	return 0;
}
