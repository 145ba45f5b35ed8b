/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Queues of other kinds: RSS over four WQs against a Toeplitz of this file's own, completion
 * channels and the handshake of destroying, timestamps, resizing, WQ states, all objects gone.
 */

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "../../unit/check.h"
#include "rig.h"
#include "vcx3.h"

#define WQS 4
#define WQ_DEPTH 64

static struct rig rig;

static const uint8_t key[40] = {
	0x2c, 0xc6, 0x81, 0xd1, 0x5b, 0xdb, 0xf4, 0xf7, 0xfc, 0xa2, 0x83, 0x19, 0xdb, 0x1a,
	0x3e, 0x94, 0x6b, 0x9e, 0x38, 0xd9, 0x2c, 0x9c, 0x03, 0xd1, 0xad, 0x99, 0x44, 0xa7,
	0xd9, 0x56, 0x3d, 0x59, 0x06, 0x3c, 0x25, 0xf3, 0xfc, 0x1f, 0xdc, 0x2a,
};

/* Microsoft's definition, a bit at a time: the key shifts left past each input bit. */
static uint32_t
toeplitz(const uint8_t *input, uint32_t length)
{
	uint32_t window = (uint32_t)key[0] << 24 | key[1] << 16 | key[2] << 8 | key[3];
	uint32_t hash = 0, i;

	for (i = 0; i < 8 * length; i++) {
		uint32_t next = i + 32;

		if (input[i / 8] >> (7 - i % 8) & 1)
			hash ^= window;
		window = window << 1 | (next / 8 < sizeof(key) ? key[next / 8] >> (7 - next % 8) & 1 : 0);
	}
	return hash;
}

/* The input of a frame as it lies in memory: addresses, and ports when it has them. */
static uint32_t
hash_of(const uint8_t *frame, bool is_ipv6)
{
	uint8_t input[36];
	uint32_t addresses = is_ipv6 ? 32 : 8;

	memcpy(input, frame + 14 + (is_ipv6 ? 8 : 12), addresses);
	memcpy(input + addresses, frame + 14 + (is_ipv6 ? 40 : 20), 4);
	return toeplitz(input, addresses + 4);
}

struct group {
	struct ibv_cq *cq[WQS];
	struct ibv_wq *wq[WQS];
	struct ibv_rwq_ind_table *table;
	struct ibv_qp *qp;
	struct mlx4dv_cq ring[WQS];
	uint32_t consumed[WQS];
	uint32_t posted[WQS];
};

static void
open_wqs(struct group *group)
{
	uint32_t i;

	CHECK(mlx4dv_set_context_attr(rig.context, MLX4DV_SET_CTX_ATTR_LOG_WQS_RANGE_SZ,
				      &(uint8_t){2}) == 0, "range");
	for (i = 0; i < WQS; i++) {
		struct ibv_wq_init_attr attr = {.wq_type = IBV_WQT_RQ, .max_wr = WQ_DEPTH,
						.max_sge = 1, .pd = rig.pd};
		struct ibv_wq_attr ready = {.attr_mask = IBV_WQ_ATTR_STATE,
					    .wq_state = IBV_WQS_RDY};
		struct mlx4dv_obj obj;

		group->cq[i] = ibv_create_cq(rig.context, WQ_DEPTH, NULL, NULL, 0);
		attr.cq = group->cq[i];
		group->wq[i] = ibv_create_wq(rig.context, &attr);
		CHECK(group->wq[i] != NULL, "WQ %u: %s", i, strerror(errno));
		CHECK(group->wq[i]->wq_num == group->wq[0]->wq_num + i, "numbers go up by one");
		CHECK(ibv_modify_wq(group->wq[i], &ready) == 0, "RDY");
		obj.cq.in = group->cq[i];
		obj.cq.out = &group->ring[i];
		CHECK(mlx4dv_init_obj(&obj, MLX4DV_OBJ_CQ) == 0, "dv");
	}
}

static void
open_rss(struct group *group)
{
	struct ibv_rwq_ind_table_init_attr table = {.log_ind_tbl_size = 2,
						    .ind_tbl = group->wq};
	struct ibv_qp_init_attr_ex attr = {
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_RX_HASH |
			     IBV_QP_INIT_ATTR_IND_TABLE,
		.qp_type = IBV_QPT_RAW_PACKET,
		.pd = rig.pd,
		.rx_hash_conf = {.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
				 .rx_hash_key_len = sizeof(key), .rx_hash_key = (uint8_t *)key,
				 .rx_hash_fields_mask = 0xff},
	};
	struct ibv_qp_attr state = {.qp_state = IBV_QPS_INIT, .port_num = 1};

	group->table = ibv_create_rwq_ind_table(rig.context, &table);
	CHECK(group->table != NULL, "table: %s", strerror(errno));
	attr.rwq_ind_tbl = group->table;
	group->qp = ibv_create_qp_ex(rig.context, &attr);
	CHECK(group->qp != NULL, "RSS QP: %s", strerror(errno));
	CHECK(ibv_modify_qp(group->qp, &state, IBV_QP_STATE | IBV_QP_PORT) == 0, "INIT");
	state.qp_state = IBV_QPS_RTR;
	CHECK(ibv_modify_qp(group->qp, &state, IBV_QP_STATE) == 0, "RTR");
}

static void
close_rss(struct group *group)
{
	CHECK(ibv_destroy_qp(group->qp) == 0, "RSS QP");
	CHECK(ibv_destroy_rwq_ind_table(group->table) == 0, "table");
}

static void
fill(struct group *group, uint32_t queue)
{
	while (group->posted[queue] - group->consumed[queue] < WQ_DEPTH / 2) {
		uint32_t slot = 64 + queue * WQ_DEPTH + group->posted[queue] % WQ_DEPTH;
		struct ibv_sge sge = {.addr = (uintptr_t)rig_slot(&rig, slot),
				      .length = RIG_FRAME_ROOM, .lkey = rig.mr->lkey};
		struct ibv_recv_wr *bad, wr = {.sg_list = &sge, .num_sge = 1};

		CHECK(ibv_post_wq_recv(group->wq[queue], &wr, &bad) == 0, "post");
		group->posted[queue]++;
	}
}

/* The next completion as it lies in the ring, or NULL. */
static const struct mlx4_cqe *
next_cqe(struct group *group, uint32_t queue)
{
	const struct mlx4dv_cq *ring = &group->ring[queue];
	uint32_t index = group->consumed[queue];
	const uint8_t *at = (const uint8_t *)ring->buf.buf +
		(index & (ring->cqe_cnt - 1)) * ring->cqe_size + (ring->cqe_size == 64 ? 32 : 0);
	const struct mlx4_cqe *cqe = (const struct mlx4_cqe *)at;

	if (!!(cqe->owner_sr_opcode & MLX4_CQE_OWNER_MASK) != !!(index & ring->cqe_cnt))
		return NULL;
	return cqe;
}

/* One frame in; the queue that got it, or -1. Consumes it through libmlx4's own poll. */
static int
deliver(struct group *group, struct rig_qp *sender, const struct rig_frame *frame)
{
	uint32_t length = rig_frame_make(frame, rig_slot(&rig, 0));
	uint32_t wanted = hash_of(rig_slot(&rig, 0), frame->is_ipv6), i;
	struct ibv_wc wc;
	int queue = -1;

	for (i = 0; i < WQS; i++)
		fill(group, i);
	CHECK(rig_send(&rig, sender, 0, length, 0) == 0, "send");
	rig_poll(sender->cq, &wc, 1);
	for (i = 0; i < WQS; i++) {
		const struct mlx4_cqe *cqe = next_cqe(group, i);

		if (cqe == NULL)
			continue;
		CHECK(be32toh(cqe->immed_rss_invalid) == wanted, "hash %08x, want %08x",
		      be32toh(cqe->immed_rss_invalid), wanted);
		CHECK(i == (wanted & (WQS - 1)), "queue %u of hash %08x", i, wanted);
		CHECK(ibv_poll_cq(group->cq[i], 1, &wc) == 1 && wc.byte_len == length, "poll");
		group->consumed[i]++;
		queue = i;
	}
	return queue;
}

static void
test_rss(void)
{
	uint32_t hits[WQS] = {0}, i;
	struct group group = {0};
	struct rig_qp sender;
	struct ibv_flow *flow;

	rig_qp_open(&rig, &sender, 64, 1, NULL);
	open_wqs(&group);
	open_rss(&group);
	flow = rig_flow_all(group.qp);
	CHECK(flow != NULL, "%s", strerror(errno));
	for (i = 0; i < 1000; i++) {
		struct rig_frame frame = {.is_ipv6 = i & 1, .is_tcp = i >> 1 & 1,
					  .src_ip = 0x0a000000 + i * 7919,
					  .dst_ip = 0xc0a80000 + i * 104729,
					  .src_port = i * 31, .dst_port = 443, .payload = 40};
		int queue;

		if (i == 500) {
			/* Ring positions survive the RSS QP (the stock driver depends on it). */
			CHECK(ibv_destroy_flow(flow) == 0, "flow");
			close_rss(&group);
			open_rss(&group);
			flow = rig_flow_all(group.qp);
		}
		queue = deliver(&group, &sender, &frame);
		CHECK(queue >= 0, "frame %u came to no queue", i);
		if (queue >= 0)
			hits[queue]++;
	}
	for (i = 0; i < WQS; i++)
		CHECK(hits[i] > 150, "queue %u: %u of 1000", i, hits[i]);
	CHECK(ibv_destroy_wq(group.wq[0]) == EBUSY, "a WQ in use is not destroyed");
	ibv_destroy_flow(flow);
	close_rss(&group);
	for (i = 0; i < WQS; i++) {
		CHECK(ibv_destroy_wq(group.wq[i]) == 0, "WQ");
		CHECK(ibv_destroy_cq(group.cq[i]) == 0, "CQ");
	}
	rig_qp_close(&sender);
}

static bool
readable(int fd)
{
	struct pollfd waited = {.fd = fd, .events = POLLIN};

	return poll(&waited, 1, 0) == 1;
}

/* One frame through, so that both directions complete. */
static void
loop_one(struct rig_qp *qp)
{
	struct rig_frame frame = {.src_ip = 1, .dst_ip = 2, .payload = 100};
	uint32_t length = rig_frame_make(&frame, rig_slot(&rig, 0));

	rig_receive(&rig, qp, 1);
	rig_send(&rig, qp, 0, length, 0);
	rig_move();
}

static void
test_channel(void)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(rig.context);
	struct ibv_cq *cq;
	struct ibv_wc wcs[8];
	struct rig_qp qp;
	struct ibv_flow *flow;
	void *user;
	int round;

	CHECK(channel != NULL, "%s", strerror(errno));
	rig_qp_open(&rig, &qp, 64, 64, channel);
	flow = rig_flow_all(qp.qp);
	loop_one(&qp);
	CHECK(!readable(channel->fd), "no event without arming");
	for (round = 0; round < 5; round++) {
		rig_poll(qp.cq, wcs, 8);
		CHECK(ibv_req_notify_cq(qp.cq, 0) == 0, "arm");
		rig_move();
		CHECK(!readable(channel->fd), "no event before a completion");
		loop_one(&qp);
		CHECK(readable(channel->fd), "an event in round %d", round);
		CHECK(ibv_get_cq_event(channel, &cq, &user) == 0 && cq == qp.cq, "get");
		CHECK(!readable(channel->fd), "one event, not two");
		ibv_ack_cq_events(cq, 1);
	}
	/* Arming behind a completion fires at once. */
	CHECK(ibv_req_notify_cq(qp.cq, 0) == 0, "arm");
	rig_move();
	CHECK(readable(channel->fd), "armed late");
	fcntl(channel->fd, F_SETFL, O_NONBLOCK);
	/* The event stays unread: destroying takes it away and does not wait for it. */
	ibv_destroy_flow(flow);
	rig_qp_close(&qp);
	CHECK(!readable(channel->fd), "the unread event is gone");
	CHECK(ibv_get_cq_event(channel, &cq, &user) == -1 && errno == EAGAIN, "would block");
	CHECK(ibv_destroy_comp_channel(channel) == 0, "channel");
}

static uint64_t
card_clock(void)
{
	struct ibv_values_ex values = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK};

	CHECK(ibv_query_rt_values_ex(rig.context, &values) == 0 &&
	      values.comp_mask & IBV_VALUES_MASK_RAW_CLOCK, "query_rt_values_ex");
	/* libmlx4 puts the cycles there (its clock is not in nanoseconds). */
	return values.raw_clock.tv_nsec;
}

/* Every completion carries the time of the card's clock; the CQE holds 48 bits of it (D.4). */
static void
check_stamps(struct ibv_cq_ex *cq, uint64_t before)
{
	uint64_t mask = (UINT64_C(1) << 48) - 1, last = before & mask;
	struct ibv_poll_cq_attr attr = {0};
	int nb = 0;

	if (ibv_start_poll(cq, &attr) != 0) {
		CHECK(false, "no completion");
		return;
	}
	do {
		uint64_t now = ibv_wc_read_completion_ts(cq);

		CHECK(((now - last) & mask) < mask / 2, "time %lu after %lu", now, last);
		last = now;
		nb++;
	} while (ibv_next_poll(cq) == 0);
	ibv_end_poll(cq);
	CHECK(nb == 2, "%d completions", nb);
	/* The clock page is written by a thread: it gets there. */
	for (nb = 0; nb < 5000 && ((card_clock() - last) & mask) > mask / 2; nb++)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	CHECK(nb < 5000, "the clock stands before the completion");
}

static void
test_timestamps(void)
{
	struct ibv_cq_init_attr_ex init = {.cqe = 16,
					   .wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(rig.context, &init);
	struct ibv_device_attr_ex device;
	struct ibv_flow *flow;
	struct rig_qp qp;
	uint64_t before;
	int i;

	if (cq == NULL) {
		CHECK(false, "%s", strerror(errno));
		return;
	}
	CHECK(ibv_query_device_ex(rig.context, NULL, &device) == 0 &&
	      device.hca_core_clock == 427000, "clock of %lu kHz", device.hca_core_clock);
	rig_qp_open_on(&rig, &qp, ibv_cq_ex_to_cq(cq), 8, 8);
	flow = rig_flow_all(qp.qp);
	for (i = 0; i < 5; i++) {
		before = card_clock();
		loop_one(&qp);
		check_stamps(cq, before);
	}
	ibv_destroy_flow(flow);
	rig_qp_close(&qp);
}

/* The clock at a moment when it has just been written, and that moment. */
static uint64_t
fresh_clock(double *now_ns)
{
	uint64_t first = card_clock(), clock;
	struct timespec now;

	do {
		clock = card_clock();
	} while (clock == first);
	clock_gettime(CLOCK_MONOTONIC, &now);
	*now_ns = now.tv_sec * 1e9 + now.tv_nsec;
	return clock;
}

/* The clock runs at the rate that the card tells; a try in which we lost the processor is over. */
static void
test_clock_rate(void)
{
	double begin_ns, end_ns, rate_khz = 0;
	uint64_t cycles;
	int tries;

	for (tries = 0; tries < 10 && !(rate_khz > 420000 && rate_khz < 434000); tries++) {
		cycles = fresh_clock(&begin_ns);
		nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
		cycles = fresh_clock(&end_ns) - cycles;
		rate_khz = cycles / (end_ns - begin_ns) * 1e6;
	}
	CHECK(tries < 10, "the clock runs at %.0f kHz", rate_khz);
}

static void
test_resize(void)
{
	struct ibv_wc wcs[128];
	struct rig_qp qp;
	struct ibv_flow *flow;
	int i, got = 0, more;

	rig_qp_open(&rig, &qp, 64, 64, NULL);
	flow = rig_flow_all(qp.qp);
	for (i = 0; i < 10; i++)
		loop_one(&qp);
	/* Unread completions move to the new ring. */
	CHECK(ibv_resize_cq(qp.cq, 1000) == 0, "%s", strerror(errno));
	CHECK(qp.cq->cqe >= 1000, "%d entries", qp.cq->cqe);
	for (i = 0; i < 10; i++)
		loop_one(&qp);
	while ((more = ibv_poll_cq(qp.cq, 128, wcs)) > 0)
		got += more;
	CHECK(got == 40, "%d of 40 completions", got);
	ibv_destroy_flow(flow);
	rig_qp_close(&qp);
}

static void
test_wq_states(void)
{
	struct ibv_cq *cq = ibv_create_cq(rig.context, 16, NULL, NULL, 0);
	struct ibv_wq_init_attr init = {.wq_type = IBV_WQT_RQ, .max_wr = 16, .max_sge = 1,
					.pd = rig.pd, .cq = cq};
	struct ibv_wq *wq = ibv_create_wq(rig.context, &init);
	struct ibv_wq_attr attr = {.attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_ERR};

	CHECK(ibv_modify_wq(wq, &attr) == EINVAL, "RESET to ERR");
	attr.wq_state = IBV_WQS_RDY;
	CHECK(ibv_modify_wq(wq, &attr) == 0, "RESET to RDY");
	attr.wq_state = IBV_WQS_RESET;
	CHECK(ibv_modify_wq(wq, &attr) == 0, "RDY to RESET");
	CHECK(ibv_destroy_wq(wq) == 0 && ibv_destroy_cq(cq) == 0, "destroy");
}

/* What the device has left, from its own counters. */
static void
test_nothing_left(void)
{
	char text[65536];

	CHECK(vcx3_counters_text(text, sizeof(text)) > 0, "counters");
	CHECK(strstr(text, "\"live_qps\": 0,") != NULL, "QPs are left");
	CHECK(strstr(text, "\"live_cqs\": 0,") != NULL, "CQs are left");
	CHECK(strstr(text, "\"live_rules\": 0}") != NULL || strstr(text, "\"live_rules\": 0,") != NULL,
	      "rules are left");
}

int
main(void)
{
	rig_open(&rig, 1024);
	test_rss();
	test_channel();
	test_timestamps();
	test_clock_rate();
	test_resize();
	test_wq_states();
	test_nothing_left();
	rig_close(&rig);
	return check_status();
}
