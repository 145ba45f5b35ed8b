/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rings of every size, far past each wrap: content, order, indices, owner bits, with
 * both CQE sizes, through a send queue, a wire and a receive queue.
 */
#include "rig.h"

#define MAX_FRAME 256

struct pair {
	struct rig rig;
	struct rig_cq send_cq, recv_cq;
	struct rig_qp sender, receiver;
	uint8_t *tx_data, *rx_data;
	uint32_t sent, received, posted;
};

static void
setup(struct pair *pair, unsigned int log, unsigned int cqe_size)
{
	struct vcx3_cq_attr attr = { .cqe_size = cqe_size };
	struct vcx3_core_config config = { .strict = true, .cold_cqe = log % 2,
					   .cold_data = log % 4 == 1 };

	rig_create(&pair->rig, &config);
	rig_cq(&pair->rig, &pair->send_cq, 0x41, log, &attr);
	rig_cq(&pair->rig, &pair->recv_cq, 0x42, log, &attr);
	rig_qp(&pair->rig, &pair->sender, 0x100, 0x41, log, -1, 1, NULL);
	rig_qp(&pair->rig, &pair->receiver, 0x101, 0x42, -1, log, 1, NULL);
	pair->tx_data = rig_alloc(&pair->rig, MAX_FRAME << log);
	pair->rx_data = rig_alloc(&pair->rig, MAX_FRAME << log);
	pair->sent = pair->received = pair->posted = 0;
	rig_rule_default(&pair->rig, 1, VCX3_RULE_ALL_DEFAULT, 0x101);
}

/* The bytes of frame i: its number, then a pattern of it. */
static uint32_t
fill(uint8_t *frame, uint32_t i)
{
	uint32_t len = 60 + i * 7 % 150;

	for (uint32_t at = 0; at < len; at++)
		frame[at] = at * 3 + i;
	frame[0] = 0; /* unicast */
	rig_be32(frame + 20, i);
	return len;
}

static void
send_one(struct pair *pair, unsigned int segments)
{
	uint32_t slot = pair->sent & (pair->sender.sq_count - 1);
	uint8_t *frame = pair->tx_data + slot * MAX_FRAME;
	uint32_t len = fill(frame, pair->sent), part = len / segments;
	struct rig_wqe wqe;

	rig_wqe_start(&wqe);
	for (unsigned int i = 0; i < segments - 1; i++)
		rig_wqe_data(&wqe, pair->rig.lkey, frame + i * part, part);
	rig_wqe_data(&wqe, pair->rig.lkey, frame + (segments - 1) * part,
		     len - (segments - 1) * part);
	rig_post_send(&pair->sender, &wqe, 0x0a, 0x0c);
	pair->sent++;
}

/* Plugs the output of the port into its input. */
static void
carry(struct pair *pair)
{
	uint32_t len;
	uint8_t *data;

	while ((data = rig_pop(&pair->rig, 1, &len)) != NULL) {
		rig_push(&pair->rig, 1, data, len, 0);
		free(data);
	}
}

static void
check_received(struct pair *pair)
{
	uint8_t wanted[MAX_FRAME];
	struct rig_cqe cqe;

	while (rig_poll(&pair->recv_cq, &cqe)) {
		uint32_t slot = pair->received & (pair->receiver.rq_count - 1);
		uint32_t len = fill(wanted, pair->received);

		CHECK_EQUAL(cqe.opcode, 0x01);
		CHECK_EQUAL(cqe.qpn, 0x101);
		CHECK_EQUAL(cqe.byte_count, len);
		CHECK_EQUAL(cqe.wqe_index, pair->received & 0xffff);
		CHECK(memcmp(pair->rx_data + slot * MAX_FRAME, wanted, len) == 0);
		pair->received++;
	}
}

static void
refill(struct pair *pair)
{
	while (pair->posted - pair->received < pair->receiver.rq_count) {
		uint32_t slot = pair->posted & (pair->receiver.rq_count - 1);

		rig_post_recv(&pair->receiver, pair->rig.lkey, pair->rx_data + slot * MAX_FRAME,
			      MAX_FRAME);
		pair->posted++;
	}
}

/* Sends and receives until this many have gone round. */
static void
run_ring(unsigned int log, unsigned int cqe_size, uint32_t total, uint64_t seed)
{
	static struct pair pair;
	uint32_t done = 0, index = 0;
	struct rig_cqe cqe;

	setup(&pair, log, cqe_size);
	while (pair.received < total) {
		uint32_t burst = rig_random(&seed) % (pair.sender.sq_count / 4) + 1;

		refill(&pair);
		while (burst-- > 0 && pair.sender.sq_head - index <= pair.sender.sq_count - 36)
			send_one(&pair, 1 + rig_random(&seed) % 6);
		rig_run(&pair.rig);
		for (; rig_poll(&pair.send_cq, &cqe); done++) {
			uint32_t strides;

			CHECK_EQUAL(cqe.opcode, 0x4a);
			CHECK_EQUAL(cqe.wqe_index, index & 0xffff);
			strides = (pair.sender.sq[((index & (pair.sender.sq_count - 1)) << 6) + 7] *
				   16 + 63) / 64;
			rig_stamp(&pair.sender, index, strides);
			index += strides;
		}
		CHECK_EQUAL(done, pair.sent);
		carry(&pair);
		rig_run(&pair.rig);
		check_received(&pair);
		CHECK_EQUAL(pair.received, pair.sent);
		vcx3_qp_kick(pair.rig.core, 0x100); /* checks the stamps */
	}
	CHECK_EQUAL(vcx3_strict_total(pair.rig.core), 0);
	CHECK_EQUAL(vcx3_counters_get(pair.rig.core)->error_cqes, 0);
	rig_destroy(&pair.rig);
}

int
main(void)
{
	for (unsigned int log = 6; log <= 12; log++)
		for (unsigned int cqe_size = 32; cqe_size <= 64; cqe_size += 32)
			run_ring(log, cqe_size, 3u << log, log);
	run_ring(6, 64, (1u << 17) + 1000, 99); /* past 16- and 17-bit counters */
	run_ring(9, 32, (1u << 17) + 1000, 98);
	return 0;
}
