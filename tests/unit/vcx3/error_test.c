/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors: syndromes, flush, state machine, keys, injected faults, JSON.
 */
#include <errno.h>

#include "frames.h"

struct bench {
	struct rig rig;
	struct rig_cq cq;
	struct rig_qp qp;
	uint8_t *data;
	struct rig_cqe cqe;
};

static struct bench b;

static void
setup(void)
{
	rig_create(&b.rig, NULL);
	rig_cq(&b.rig, &b.cq, 3, 7, NULL);
	rig_qp(&b.rig, &b.qp, 0x100, 3, 6, 4, 1, NULL);
	b.data = rig_alloc(&b.rig, 65536);
}

static void
expect(uint8_t opcode, uint8_t syndrome, uint16_t index)
{
	CHECK(rig_poll(&b.cq, &b.cqe));
	CHECK_EQUAL(b.cqe.opcode, opcode);
	CHECK_EQUAL(b.cqe.qpn, 0x100);
	if ((opcode & 0x1f) == 0x1e)
		CHECK_EQUAL(b.cqe.syndrome, syndrome);
	CHECK_EQUAL(b.cqe.wqe_index, index);
}

static void
good(uint32_t flags)
{
	struct rig_wqe wqe;

	rig_wqe_start(&wqe);
	rig_wqe_data(&wqe, b.rig.lkey, b.data, 60);
	rig_post_send(&b.qp, &wqe, 0x0a, flags);
}

/* A good WQE, a bad one, a good one that did not ask for a completion. */
static void
run_bad(struct rig_wqe *bad, uint32_t opcode, uint8_t syndrome, uint32_t event)
{
	uint32_t len;

	setup();
	good(0x0c);
	rig_post_send(&b.qp, bad, opcode, 0);
	good(0);
	for (int i = 0; i < 3; i++)
		rig_post_recv(&b.qp, b.rig.lkey, b.data + i * 2048, 2048);
	rig_run(&b.rig);
	expect(0x4a, 0, 0);
	expect(0x5e, syndrome, 1);
	for (int i = 0; i < 3; i++) {
		expect(0x1e, 5, i);
		CHECK_EQUAL(b.cqe.byte_count, 0x80000000);
	}
	expect(0x5e, 5, b.qp.sq_head - 1);
	CHECK(!rig_poll(&b.cq, &b.cqe));
	CHECK_EQUAL(vcx3_qp_state(b.rig.core, 0x100), VCX3_QP_ERROR);
	CHECK_EQUAL(rig_count_events(&b.rig, 'a', event, 0x100), 1);
	free(rig_pop(&b.rig, 1, &len)); /* the first frame, and no other */
	CHECK(rig_pop(&b.rig, 1, &len) == NULL);
	good(0); /* posted later: flushed, too */
	rig_run(&b.rig);
	expect(0x5e, 5, b.qp.sq_head - 1);
	rig_destroy(&b.rig);
}

static void
test_send_errors(void)
{
	static const uint8_t header[54];
	uint64_t inside, lkey;
	struct rig_wqe wqe;

	setup();
	lkey = b.rig.lkey;
	inside = (uintptr_t)b.data;
	rig_destroy(&b.rig);
	rig_wqe_start(&wqe);
	rig_wqe_data(&wqe, lkey + 0x100, (void *)(uintptr_t)inside, 60);
	run_bad(&wqe, 0x0a, 4, VCX3_EVENT_ACCESS_ERROR);
	rig_wqe_start(&wqe);
	rig_wqe_data(&wqe, lkey, (void *)(uintptr_t)16, 60);
	run_bad(&wqe, 0x0a, 4, VCX3_EVENT_ACCESS_ERROR);
	rig_wqe_start(&wqe);
	rig_wqe_data(&wqe, lkey, (void *)(uintptr_t)inside, 0); /* 2^31 bytes */
	run_bad(&wqe, 0x0a, 1, VCX3_EVENT_INVALID_REQUEST);
	rig_wqe_start(&wqe);
	rig_wqe_data(&wqe, lkey, (void *)(uintptr_t)inside, 13);
	run_bad(&wqe, 0x0a, 1, VCX3_EVENT_INVALID_REQUEST);
	rig_wqe_start(&wqe);
	run_bad(&wqe, 0x08, 2, VCX3_EVENT_INVALID_REQUEST); /* RDMA write */
	rig_wqe_start(&wqe);
	rig_wqe_inline(&wqe, &inside, 8);
	rig_be32(wqe.bytes + 16, 0x80000000 | 500); /* beyond the WQE */
	run_bad(&wqe, 0x0a, 1, VCX3_EVENT_INVALID_REQUEST);
	rig_wqe_start(&wqe);
	rig_wqe_lso(&wqe, 0, header, sizeof(header));
	run_bad(&wqe, 0x4e, 2, VCX3_EVENT_INVALID_REQUEST);
}

/*
 * Another PD's key, the edges of a region, a key that is gone, and one whose entry is in
 * use again under a key that differs above the size of the table.
 */
static void
test_keys(void)
{
	struct vcx3_mpt_attr attr = { .pd = RIG_PD + 1, .length = 128 };
	uint32_t key = vcx3_mpt_key(99), len;
	struct rig_wqe wqe;

	for (int turn = 0; turn < 7; turn++) {
		uint32_t live = turn < 5 ? key : vcx3_mpt_key(99 | 1u << 24);
		bool is_good = turn == 1 || turn == 6;

		setup();
		attr.pd = RIG_PD + (turn == 0);
		attr.start = (uintptr_t)b.data;
		attr.object = vcx3_object_flat(b.data);
		CHECK_EQUAL(vcx3_mpt_create(b.rig.core, live, &attr), VCX3_OK);
		CHECK_EQUAL(vcx3_mpt_create(b.rig.core, live, &attr), VCX3_BAD_INDEX);
		CHECK_EQUAL(vcx3_counters_get(b.rig.core)->registered_bytes, RIG_ARENA + 128);
		rig_wqe_start(&wqe);
		rig_wqe_data(&wqe, turn == 6 ? live : key,
			     b.data + 128 - 60 + (turn == 2) - (turn == 3) * 69, 60);
		if (turn == 4) { /* used once, then voided */
			rig_post_send(&b.qp, &wqe, 0x0a, 0x0c);
			rig_run(&b.rig);
			expect(0x4a, 0, 0);
			CHECK_EQUAL(vcx3_mpt_destroy(b.rig.core, key), VCX3_OK);
			CHECK_EQUAL(vcx3_mpt_destroy(b.rig.core, key), VCX3_BAD_INDEX);
			/* may get the memory of the one that is gone */
			CHECK_EQUAL(vcx3_mpt_create(b.rig.core, vcx3_mpt_key(98), &attr), VCX3_OK);
		}
		rig_post_send(&b.qp, &wqe, 0x0a, 0x0c);
		rig_run(&b.rig);
		expect(is_good ? 0x4a : 0x5e, 4, turn == 4);
		free(rig_pop(&b.rig, 1, &len));
		rig_destroy(&b.rig);
	}
	attr.length = 0;
	setup();
	CHECK_EQUAL(vcx3_mpt_create(b.rig.core, key, &attr), VCX3_BAD_PARAM);
	attr.length = UINT64_MAX - 1;
	CHECK_EQUAL(vcx3_mpt_create(b.rig.core, key, &attr), VCX3_BAD_PARAM);
	rig_destroy(&b.rig);
}

/* A buffer without LOCAL_WRITE, and one with a bad key, end a receive queue. */
static void
test_receive_errors(void)
{
	struct vcx3_mpt_attr attr = { .pd = RIG_PD, .length = 2048 };
	struct frame frame;

	for (int turn = 0; turn < 2; turn++) {
		setup();
		attr.start = (uintptr_t)b.data;
		attr.object = vcx3_object_flat(b.data);
		CHECK_EQUAL(vcx3_mpt_create(b.rig.core, vcx3_mpt_key(50), &attr), VCX3_OK);
		rig_post_recv(&b.qp, vcx3_mpt_key(turn ? 50 : 51), b.data, 2048);
		rig_post_recv(&b.qp, b.rig.lkey, b.data + 2048, 2048);
		rig_rule_default(&b.rig, 1, VCX3_RULE_ALL_DEFAULT, 0x100);
		frame_make(&frame, &(struct frame_spec){ 4, 6, 60 });
		rig_push(&b.rig, 1, frame.bytes, frame.len, 0);
		rig_run(&b.rig);
		expect(0x1e, 4, 0);
		expect(0x1e, 5, 1);
		CHECK_EQUAL(b.data[0], 0);
		CHECK_EQUAL(vcx3_qp_state(b.rig.core, 0x100), VCX3_QP_ERROR);
		rig_destroy(&b.rig);
	}
}

static void
test_states(void)
{
	/* from INIT: which targets are allowed by the state machine */
	static const uint8_t path[] = { VCX3_QP_INIT, VCX3_QP_RTR, VCX3_QP_RTS,
					VCX3_QP_SQ_DRAINED, VCX3_QP_ERROR };
	static const uint8_t allowed[] = { 0x47, 0x49, 0x69, 0x69, 0x41 };
	struct vcx3_qp_attr attr;

	for (size_t i = 0; i < sizeof(path); i++) {
		for (uint8_t to = 0; to <= VCX3_QP_ERROR; to++) {
			setup();
			CHECK_EQUAL(vcx3_qp_query(b.rig.core, 0x100, &attr), VCX3_OK);
			vcx3_qp_modify(b.rig.core, 0x100, VCX3_QP_RESET, 0);
			CHECK_EQUAL(vcx3_qp_modify(b.rig.core, 0x100, VCX3_QP_INIT, 0),
				    VCX3_BAD_QP_STATE);
			CHECK_EQUAL(vcx3_qp_init(b.rig.core, 0x100, &attr), VCX3_OK);
			CHECK_EQUAL(vcx3_qp_init(b.rig.core, 0x100, &attr), VCX3_BAD_QP_STATE);
			for (size_t step = 1; step <= i; step++)
				vcx3_qp_modify(b.rig.core, 0x100, path[step], 1);
			CHECK_EQUAL(vcx3_qp_state(b.rig.core, 0x100), path[i]);
			CHECK_EQUAL(vcx3_qp_modify(b.rig.core, 0x100, to, 0) == VCX3_OK,
				    allowed[i] >> to & 1);
			rig_destroy(&b.rig);
		}
	}
}

static void
test_faults(void)
{
	char reason[256];
	struct frame frame;
	uint32_t len;

	setup();
	CHECK_EQUAL(vcx3_fault_add(b.rig.core, "tx_error:skip=2,syndrome=6,qpn=0x100", reason, 256), 0);
	for (int i = 0; i < 3; i++)
		good(0x0c);
	rig_run(&b.rig);
	expect(0x4a, 0, 0);
	expect(0x4a, 0, 1);
	expect(0x5e, 6, 2);
	rig_destroy(&b.rig);

	setup();
	rig_rule_default(&b.rig, 1, VCX3_RULE_ALL_DEFAULT, 0x100);
	for (int i = 0; i < 8; i++)
		rig_post_recv(&b.qp, b.rig.lkey, b.data + i * 2048, 2048);
	frame_make(&frame, &(struct frame_spec){ 4, 6, 60 });
	CHECK_EQUAL(vcx3_fault_add(b.rig.core, "drop:port=1", reason, 256), 0);
	CHECK_EQUAL(vcx3_fault_add(b.rig.core, "bad_fcs:skip=1", reason, 256), 0);
	CHECK_EQUAL(vcx3_fault_add(b.rig.core, "rx_error:skip=1,count=2,msb=0", reason, 256), 0);
	for (int i = 0; i < 6; i++)
		rig_push(&b.rig, 1, frame.bytes, frame.len, 4);
	rig_run(&b.rig);
	/* frame 0 dropped, 1 seen (skip), 2 bad FCS; receives: good, error, error, good */
	expect(0x01, 0, 0);
	expect(0x1e, 2, 1);
	CHECK_EQUAL(b.cqe.byte_count, 0);
	expect(0x1e, 2, 2);
	expect(0x01, 0, 3);
	CHECK(!rig_poll(&b.cq, &b.cqe));
	CHECK_EQUAL(vcx3_fault_add(b.rig.core, "delay:us=100", reason, 256), 0);
	rig_push(&b.rig, 1, frame.bytes, frame.len, 4);
	rig_run(&b.rig);
	CHECK(!rig_poll(&b.cq, &b.cqe));
	b.rig.now_ns += 100000;
	rig_run(&b.rig);
	expect(0x01, 0, 4);
	vcx3_fault_clear(b.rig.core);
	CHECK_EQUAL(vcx3_fault_add(b.rig.core, "stall:object=sq,number=256,ms=1", reason, 256), 0);
	CHECK_EQUAL(vcx3_fault_add(b.rig.core, "stall:object=cq,number=77", reason, 256), -EINVAL);
	good(0x0c);
	rig_run(&b.rig);
	CHECK(!rig_poll(&b.cq, &b.cqe));
	b.rig.now_ns += 1000000;
	rig_run(&b.rig);
	expect(0x4a, 0, 0);
	free(rig_pop(&b.rig, 1, &len));
	rig_destroy(&b.rig);
}

static void
test_fault_texts(void)
{
	static const char *const bad[] = {
		"", "nothing", "drop:", "drop:port", "drop:port=", "drop:port=x", "drop:dir=up",
		"drop:syndrome=1", "command", "command:nth=1", "stall:ms=1", "stall:object=eq",
		"rx_error:count=-1", "rx_error:count=99999999999", "drop: port=1", "drop:port=3",
		"command:name=REG_MR,nth=0", "command:name=REG_MR,errno=0",
		"command:name=REG_MR,errno=ENIX", "command:name=REG_MR,errno=4096",
		"rx_error:syndrome=256", "rx_error:msb=2", "rx_error:port=1x",
	};
	static const char *const names[] = { "CREATE_CQ", "REG_MR", NULL };
	char reason[256];

	setup();
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		reason[0] = '\0';
		CHECK_EQUAL(vcx3_fault_check(bad[i], NULL, reason, sizeof(reason)), -EINVAL);
		CHECK(strlen(reason) > 10);
	}
	CHECK_EQUAL(vcx3_fault_check("command:name=NIX", names, reason, sizeof(reason)), -EINVAL);
	CHECK(strstr(reason, "CREATE_CQ") != NULL);
	CHECK_EQUAL(vcx3_fault_check("command:name=reg_mr", names, reason, sizeof(reason)), 0);
	CHECK_EQUAL(vcx3_fault_add(b.rig.core, "command:name=Reg_Mr,nth=2,errno=enomem", reason, 256),
		    0);
	CHECK_EQUAL(vcx3_fault_command(b.rig.core, "REG_MR"), 0);
	CHECK_EQUAL(vcx3_fault_command(b.rig.core, "CREATE_CQ"), 0);
	CHECK_EQUAL(vcx3_fault_command(b.rig.core, "REG_MR"), 12);
	CHECK_EQUAL(vcx3_fault_command(b.rig.core, "REG_MR"), 0);
	for (int i = 0; i < 32; i++)
		CHECK_EQUAL(vcx3_fault_add(b.rig.core, "drop", reason, 256), 0);
	CHECK_EQUAL(vcx3_fault_add(b.rig.core, "drop", reason, 256), -ENOSPC);
	rig_destroy(&b.rig);
}

static void
test_json(void)
{
	char text[16384], small[10];
	size_t len;

	setup();
	good(0x0c);
	rig_run(&b.rig);
	len = vcx3_counters_json(b.rig.core, text, sizeof(text));
	CHECK(len < sizeof(text) && strlen(text) == len);
	CHECK(strstr(text, "\"live_qps\": 1") != NULL);
	CHECK(strstr(text, "{\"port\": 1, \"rx_frames\": 0") != NULL);
	CHECK(strstr(text, "\"tx_frames\": 1, \"tx_bytes\": 60") != NULL);
	CHECK(strstr(text, "{\"qpn\": 256, \"state\": 3, \"doorbells\": 0") != NULL);
	CHECK(strstr(text, "\"violations\": {\"total\": 0") != NULL);
	CHECK_EQUAL(vcx3_counters_json(b.rig.core, small, sizeof(small)), len);
	CHECK_EQUAL(strlen(small), sizeof(small) - 1);
	free(rig_pop(&b.rig, 1, &(uint32_t){ 0 }));
	rig_destroy(&b.rig);
}

static void
test_death(void)
{
	setup();
	good(0x0c);
	vcx3_core_die(b.rig.core, "unplugged");
	vcx3_core_die(b.rig.core, "again");
	rig_run(&b.rig);
	CHECK(!rig_poll(&b.cq, &b.cqe));
	CHECK_EQUAL(rig_count_events(&b.rig, 'f', 0, 0), 1);
	vcx3_core_reset(b.rig.core);
	CHECK(!vcx3_core_is_dead(b.rig.core));
	CHECK_EQUAL(vcx3_counters_get(b.rig.core)->live_qps, 0);
	CHECK_EQUAL(vcx3_counters_get(b.rig.core)->live_cqs, 0);
	CHECK_EQUAL(vcx3_counters_get(b.rig.core)->live_mpts, 0);
	CHECK_EQUAL(vcx3_counters_get(b.rig.core)->registered_bytes, 0);
	rig_destroy(&b.rig);
}

int
main(void)
{
	test_send_errors();
	test_keys();
	test_receive_errors();
	test_states();
	test_faults();
	test_fault_texts();
	test_json();
	test_death();
	return 0;
}
