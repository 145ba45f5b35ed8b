/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A raw packet QP: frames come back byte for byte, through all wraps of rings and of the 16-bit
 * indices; checksum verdicts; rules and their order; error completions and flushes.
 */

#include <errno.h>
#include <string.h>

#include "../../unit/check.h"
#include "rig.h"

#define SLOTS 8192

static struct rig rig;

static struct rig_frame
plain(void)
{
	struct rig_frame frame = {.src_ip = 0x0a000001, .dst_ip = 0x0a000002, .src_port = 1000,
				  .dst_port = 2000, .payload = 100};

	memcpy(frame.dst, rig_mac, 6);
	return frame;
}

/* Sends nb frames of different sizes through rings of this depth, in bursts. */
static void
run_ring(uint32_t depth, uint32_t nb)
{
	uint32_t sent = 0, burst = depth / 2, i;
	struct ibv_wc wcs[SLOTS];
	struct rig_frame frame = plain();
	struct rig_qp qp;
	struct ibv_flow *flow;

	rig_qp_open(&rig, &qp, depth, depth, NULL);
	flow = rig_flow_all(qp.qp);
	CHECK(flow != NULL, "%s", strerror(errno));
	while (sent < nb) {
		uint32_t lengths[SLOTS], received = 0;
		int got;

		for (i = 0; i < burst; i++) {
			frame.payload = (sent + i) * 13 % 1400;
			frame.src_port = sent + i;
			lengths[i] = rig_frame_make(&frame, rig_slot(&rig, i));
			CHECK(rig_receive(&rig, &qp, burst + i) == 0, "frame %u", sent + i);
			CHECK(rig_send(&rig, &qp, i, lengths[i], 0) == 0, "frame %u", sent + i);
		}
		got = rig_poll(qp.cq, wcs, 2 * burst);
		CHECK(got == (int)(2 * burst), "%d of %u completions at %u", got, 2 * burst, sent);
		if (got != (int)(2 * burst))
			break;
		for (i = 0; i < 2 * burst; i++) {
			const struct ibv_wc *wc = &wcs[i];

			CHECK(wc->status == IBV_WC_SUCCESS && wc->qp_num == qp.qp->qp_num,
			      "status %d", wc->status);
			if (wc->opcode != IBV_WC_RECV)
				continue;
			CHECK(wc->wr_id == burst + received && wc->byte_len == lengths[received] &&
			      memcmp(rig_slot(&rig, wc->wr_id), rig_slot(&rig, received),
				     lengths[received]) == 0, "frame %u", sent + received);
			received++;
		}
		CHECK(received == burst, "%u received", received);
		sent += burst;
	}
	CHECK(ibv_destroy_flow(flow) == 0, "flow");
	rig_qp_close(&qp);
}

static void
test_rings(void)
{
	uint32_t depth;

	/* More than 2^17 completions each, so that all indices of 16 bits wrap twice. */
	for (depth = 64; depth <= 4096; depth *= 4)
		run_ring(depth, 70000);
}

/* What a frame is reported as: 1 IP_CSUM_OK, 0 not, -1 not received. */
static int
verdict(struct rig_qp *qp, const struct rig_frame *frame)
{
	uint32_t length = rig_frame_make(frame, rig_slot(&rig, 0));
	struct ibv_wc wcs[2];
	int i, nb, result = -1;

	rig_receive(&rig, qp, 1);
	rig_send(&rig, qp, 0, length, 0);
	nb = rig_poll(qp->cq, wcs, 2);
	for (i = 0; i < nb; i++)
		if (wcs[i].opcode == IBV_WC_RECV && wcs[i].status == IBV_WC_SUCCESS)
			result = !!(wcs[i].wc_flags & IBV_WC_IP_CSUM_OK);
	return result;
}

static void
test_checksums(void)
{
	struct rig_frame frame = plain();
	struct ibv_flow *flow;
	struct rig_qp qp;

	rig_qp_open(&rig, &qp, 64, 64, NULL);
	flow = rig_flow_all(qp.qp);
	CHECK(verdict(&qp, &frame) == 1, "good UDP");
	frame.bad_l4_checksum = true;
	CHECK(verdict(&qp, &frame) == 0, "bad UDP");
	frame.bad_l4_checksum = false;
	frame.bad_ip_checksum = true;
	CHECK(verdict(&qp, &frame) == 0, "bad IP");
	frame.bad_ip_checksum = false;
	frame.is_tcp = true;
	CHECK(verdict(&qp, &frame) == 1, "good TCP");
	frame.bad_l4_checksum = true;
	CHECK(verdict(&qp, &frame) == 0, "bad TCP");
	frame.bad_l4_checksum = false;
	frame.vlan = 5;
	CHECK(verdict(&qp, &frame) == 1, "good TCP behind a VLAN tag");
	frame.is_ipv6 = true;
	CHECK(verdict(&qp, &frame) == 0, "libmlx4 reports the flag for IPv4 only");
	ibv_destroy_flow(flow);
	rig_qp_close(&qp);
}

/* A frame is sent by a; tells whether it came to b. Receives are posted by the caller. */
static bool
arrives(struct rig_qp *a, struct rig_qp *b, const struct rig_frame *frame)
{
	uint32_t length = rig_frame_make(frame, rig_slot(&rig, 0));
	struct ibv_wc wc;
	bool came = false;

	/* What came while another was looked at does not count. */
	while (ibv_poll_cq(b->cq, 1, &wc) == 1)
		;
	rig_send(&rig, a, 0, length, 0);
	while (rig_poll(b->cq, &wc, 1) == 1)
		came |= wc.opcode == IBV_WC_RECV && wc.status == IBV_WC_SUCCESS;
	while (rig_poll(a->cq, &wc, 1) == 1)
		;
	return came;
}

static void
test_rules(void)
{
	static const uint8_t group[6] = {0x01, 0x00, 0x5e, 0, 0, 5}, other[6] = {2, 0, 0, 0, 0, 7};
	struct rig_frame frame = plain();
	struct ibv_flow *low, *high, *group_default, *all;
	struct rig_qp a, b, c;
	uint32_t i;

	rig_qp_open(&rig, &a, 64, 64, NULL);
	rig_qp_open(&rig, &b, 64, 64, NULL);
	rig_qp_open(&rig, &c, 64, 64, NULL);
	for (i = 0; i < 32; i++) {
		rig_receive(&rig, &b, 100 + i);
		rig_receive(&rig, &c, 200 + i);
	}
	CHECK(!arrives(&a, &b, &frame), "no rule, no frame");
	low = rig_flow_mac(b.qp, rig_mac, 0, 0x100);
	CHECK(low != NULL && arrives(&a, &b, &frame), "rule for the MAC");
	high = rig_flow_mac(c.qp, rig_mac, 0, 0x0ff);
	CHECK(high != NULL && arrives(&a, &c, &frame), "the smaller priority wins");
	CHECK(!arrives(&a, &b, &frame), "and the other gets nothing");
	CHECK(ibv_destroy_flow(high) == 0 && arrives(&a, &b, &frame), "the first again");
	high = rig_flow_mac(c.qp, rig_mac, 7, 0x0ff);
	CHECK(!arrives(&a, &c, &frame), "a VLAN rule takes no untagged frame");
	frame.vlan = 7;
	CHECK(arrives(&a, &c, &frame), "but one of its VLAN");
	frame.vlan = 8;
	CHECK(!arrives(&a, &c, &frame) && arrives(&a, &b, &frame), "not one of another");
	frame.vlan = 0;
	memcpy(frame.dst, group, 6);
	CHECK(!arrives(&a, &b, &frame), "multicast without a rule");
	group_default = rig_flow_type(b.qp, IBV_FLOW_ATTR_MC_DEFAULT);
	CHECK(group_default != NULL && arrives(&a, &b, &frame), "multicast default");
	memcpy(frame.dst, other, 6);
	CHECK(!arrives(&a, &b, &frame), "which takes no unicast");
	all = rig_flow_all(c.qp);
	CHECK(all != NULL && arrives(&a, &c, &frame), "all default takes the rest");
	memcpy(frame.dst, rig_mac, 6);
	CHECK(arrives(&a, &b, &frame), "normal rules come before defaults");
	errno = 0;
	CHECK(rig_flow_mac(b.qp, rig_mac, 0, 0x1000) == NULL && errno == EINVAL,
	      "priority beyond 0xfff: %s", strerror(errno));
	ibv_destroy_flow(low);
	ibv_destroy_flow(high);
	ibv_destroy_flow(group_default);
	ibv_destroy_flow(all);
	rig_qp_close(&a);
	rig_qp_close(&b);
	rig_qp_close(&c);
}

/* The statuses of the next completions, an error and then flushes. */
static void
expect_error(struct rig_qp *qp, enum ibv_wc_status first, const char *what)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;
	struct ibv_wc wcs[4] = {0};
	int i, nb = rig_poll(qp->cq, wcs, 4);

	CHECK(nb == 4, "%s: %d completions", what, nb);
	CHECK(nb > 0 && wcs[0].status == first, "%s: status %d", what, (int)wcs[0].status);
	for (i = 1; i < nb; i++)
		CHECK(wcs[i].status == IBV_WC_WR_FLUSH_ERR, "%s: status %d", what, wcs[i].status);
	CHECK(ibv_query_qp(qp->qp, &attr, IBV_QP_STATE, &init) == 0 &&
	      attr.qp_state == IBV_QPS_ERR, "%s: state %d", what, attr.qp_state);
}

static void
test_errors(void)
{
	struct rig_frame frame = plain();
	uint32_t length = rig_frame_make(&frame, rig_slot(&rig, 0));
	struct ibv_sge sge = {.addr = (uintptr_t)rig_slot(&rig, 0), .length = length};
	struct ibv_send_wr *bad, wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
				       .send_flags = IBV_SEND_SIGNALED};
	const struct {
		uint32_t lkey;
		uint64_t offset;
		const char *what;
	} cases[] = {
		{rig.mr->lkey ^ 0x400, 0, "unknown lkey"},
		{rig.mr->lkey, rig.size, "beyond the region"},
		{rig.mr->lkey, rig.size - 10, "across its end"},
	};
	struct rig_qp qp;
	uint32_t i, k;

	for (i = 0; i < 3; i++) {
		rig_qp_open(&rig, &qp, 64, 64, NULL);
		/* One send fails, the next one and two receives are flushed. */
		for (k = 0; k < 2; k++)
			CHECK(rig_receive(&rig, &qp, 1 + k) == 0, "receive");
		sge.lkey = cases[i].lkey;
		sge.addr = (uintptr_t)rig.memory + cases[i].offset;
		CHECK(ibv_post_send(qp.qp, &wr, &bad) == 0, "post");
		CHECK(rig_send(&rig, &qp, 0, length, 0) == 0, "send");
		expect_error(&qp, IBV_WC_LOC_PROT_ERR, cases[i].what);
		rig_qp_close(&qp);
	}
}

/* A frame that is longer than the buffer in line: its completion tells, the queue lives. */
static void
test_short_buffer(void)
{
	struct rig_frame frame = plain();
	uint32_t length = rig_frame_make(&frame, rig_slot(&rig, 0)), i;
	struct ibv_flow *flow;
	struct ibv_wc wcs[4];
	struct rig_qp qp;

	rig_qp_open(&rig, &qp, 64, 64, NULL);
	flow = rig_flow_all(qp.qp);
	CHECK(rig_receive_into(&rig, &qp, 1, length - 1) == 0, "receive");
	CHECK(rig_receive_into(&rig, &qp, 2, length) == 0, "receive");
	memset(rig_slot(&rig, 1), 0xaa, RIG_FRAME_ROOM);
	for (i = 0; i < 2; i++)
		CHECK(rig_send(&rig, &qp, 0, length, 0) == 0, "send");
	CHECK(rig_poll(qp.cq, wcs, 4) == 4, "completions");
	for (i = 0; i < 4; i++) {
		if (wcs[i].wr_id == 1)
			CHECK(wcs[i].status == IBV_WC_LOC_LEN_ERR, "status %d", wcs[i].status);
		else
			CHECK(wcs[i].status == IBV_WC_SUCCESS, "status %d", wcs[i].status);
	}
	CHECK(rig_slot(&rig, 1)[length - 1] == 0xaa, "nothing is written behind the buffer");
	CHECK(memcmp(rig_slot(&rig, 2), rig_slot(&rig, 0), length) == 0, "the next frame");
	ibv_destroy_flow(flow);
	rig_qp_close(&qp);
}

int
main(int argc, char **argv)
{
	/* Strict mode is for software that makes no errors. */
	bool with_errors = argc < 2 || strcmp(argv[1], "--no-errors") != 0;

	rig_open(&rig, SLOTS);
	test_rings();
	test_checksums();
	test_rules();
	if (with_errors)
		test_errors();
	test_short_buffer();
	rig_close(&rig);
	return check_status();
}
