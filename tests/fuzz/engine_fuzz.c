/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Software that writes anything: the input is a list of actions, each a byte that names
 * it and bytes that it takes. The device's memory is one block of the heap that keys
 * and rings cover exactly, so that the sanitizer sees each step outside.
 */

#include <stdlib.h>
#include <string.h>

#include "core/counters.h"
#include "core/cq.h"
#include "core/mpt.h"
#include "core/port.h"
#include "core/qp.h"
#include "core/srq.h"
#include "core/steer.h"
#include "core/strict.h"
#include "input.h"
#include "one_frame.h"

#define ARENA 65536
#define PD 1
#define QPN 0x40
#define RSS_QPN 0x50
#define SRQ_QPN 0x41
#define LOG_RING 4

/* Where things are in the arena. */
enum {
	CQ_AT = 0,
	QP_AT = 4096,
	SRQ_AT = 8192,
	RECORDS_AT = 12288,
	DATA_AT = 16384,
};

struct world {
	struct vcx3_core *core;
	struct one_frame_wire cable;
	uint8_t *arena;
	uint32_t sq_index;
	uint64_t handle;
};

static struct world w;

static void
take_bytes(struct input *input, void *to, size_t len)
{
	for (size_t i = 0; i < len; i++)
		((uint8_t *)to)[i] = take(input);
}

static void
make_queues(bool need_doorbell)
{
	struct vcx3_cq_attr cq = { .log_size = LOG_RING, .cqe_size = 64, .device_init = true,
				   .arm_by_record = true,
				   .buffer = vcx3_object_flat(w.arena + CQ_AT),
				   .record = vcx3_object_flat(w.arena + RECORDS_AT) };
	struct vcx3_qp_attr qp = { .pd = PD, .port = 1, .need_doorbell = need_doorbell,
				   .buffer = vcx3_object_flat(w.arena + QP_AT),
				   .record = vcx3_object_flat(w.arena + RECORDS_AT + 8),
				   .sq = { true, LOG_RING, 6, 0 },
				   .rq = { true, LOG_RING, 5, 64 << LOG_RING } };
	struct vcx3_srq_attr srq = { .pd = PD, .log_count = LOG_RING, .log_stride = 5, .limit = 3,
				     .buffer = vcx3_object_flat(w.arena + SRQ_AT),
				     .record = vcx3_object_flat(w.arena + RECORDS_AT + 16) };
	struct vcx3_qp_attr rss = { .is_rss = true, .port = 1,
				    .rss = { QPN, QPN, 1, 0x3f, true, { 1, 2, 3 } } };

	vcx3_cq_create(w.core, 1, &cq);
	vcx3_srq_create(w.core, 1, &srq);
	qp.send_cqn = qp.recv_cqn = 1;
	memset(w.arena + QP_AT, 0xff, 64 << LOG_RING);
	vcx3_qp_init(w.core, QPN, &qp);
	qp.use_srq = true;
	qp.srqn = 1;
	qp.sq.present = qp.rq.present = false;
	vcx3_qp_init(w.core, SRQ_QPN, &qp);
	vcx3_qp_init(w.core, RSS_QPN, &rss);
	vcx3_qp_modify(w.core, QPN, VCX3_QP_RTR, 0);
	vcx3_qp_modify(w.core, QPN, VCX3_QP_RTS, 0);
	vcx3_qp_modify(w.core, SRQ_QPN, VCX3_QP_RTR, 0);
	vcx3_qp_modify(w.core, RSS_QPN, VCX3_QP_RTR, 0);
	w.sq_index = 0;
}

static void
create(uint8_t flags)
{
	struct vcx3_core_config config = { .device = flags % 3, .ports = 1, .mtu = 9000,
					   .log_max_qp = 8, .log_max_cq = 4, .log_max_srq = 4,
					   .log_max_mpt = 8, .strict = flags & 4,
					   .vlan_insert = flags & 8 };
	struct vcx3_mpt_attr mpt = { .pd = PD, .access = VCX3_ACCESS_LOCAL_WRITE, .length = ARENA };
	struct vcx3_rule rule = { .type = VCX3_RULE_ALL_DEFAULT, .port = 1, .qpn = RSS_QPN };

	w.arena = aligned_alloc(64, ARENA);
	memset(w.arena, 0, ARENA);
	vcx3_core_create(&config, &w.core);
	one_frame_init(&w.cable);
	vcx3_port_attach_wire(w.core, 1, &w.cable.wire);
	vcx3_port_set_admin(w.core, 1, true);
	mpt.start = (uintptr_t)w.arena;
	mpt.object = vcx3_object_flat(w.arena);
	vcx3_mpt_create(w.core, vcx3_mpt_key(2), &mpt);
	vcx3_rule_attach(w.core, &rule, &w.handle);
	make_queues(flags & 16);
}

/* A send WQE of raw bytes; keys and addresses are made good as often as not. */
static void
post_send(struct input *input)
{
	uint8_t *ring = w.arena + QP_AT;
	uint32_t slot = w.sq_index & 15, segments = take(input) % 12;
	uint8_t opcode = take(input);

	for (uint32_t i = 0; i < segments; i++) {
		uint8_t *segment = ring + (slot * 64 + 16 + i * 16) % (64 << LOG_RING);
		uint64_t address = (uintptr_t)w.arena + DATA_AT + take(input) * 100;

		take_bytes(input, segment, 4);
		if (segment[0] & 1) {
			segment[0] &= 0x80;
			segment[1] = 0;
		}
		memcpy(segment + 4, (uint8_t[]){ 0, 0, 2, 0 }, 4);
		for (int byte = 0; byte < 8; byte++)
			segment[8 + byte] = address >> (56 - 8 * byte);
		if (take(input) % 4 == 0)
			take_bytes(input, segment + 4, 12);
	}
	take_bytes(input, ring + slot * 64 + 4, 12);
	if (ring[slot * 64 + 7] & 1)
		ring[slot * 64 + 7] = segments + 1;
	take_bytes(input, ring + slot * 64 + 1, 3);
	ring[slot * 64 + 3] = opcode & 3 ? 0x0a + (opcode & 4) : opcode;
	ring[slot * 64] = (w.sq_index & 16 ? 0x80 : 0) | (opcode & 0x18);
	w.sq_index += (segments + 4) / 4;
	vcx3_qp_kick(w.core, QPN);
}

static void
push_frame(struct input *input)
{
	static uint8_t bytes[VCX3_WIRE_FRAME_MAX];
	uint32_t len = take(input) * (take(input) % 64 + 1);

	if (len > input->len)
		len = input->len;
	w.cable.frame.data = malloc(len > 0 ? len : 1); /* an exact block: reading past it shows */
	memcpy(bytes, input->data, len);
	memcpy((void *)w.cable.frame.data, bytes, len);
	w.cable.frame.len = len;
	w.cable.frame.flow_id = 0;
	input->data += len;
	input->len -= len;
}

static void
change_rule(struct input *input)
{
	struct vcx3_rule rule = { 0 };

	take_bytes(input, rule.dst_mac, 6);
	memset(rule.dst_mac_mask, take(input) & 1 ? 0xff : 0, 6);
	rule.type = take(input) % 8;
	rule.qpn = take(input);
	rule.port = 1;
	rule.priority = take(input);
	rule.dont_trap = take(input) & 1;
	rule.match_ipv4 = take(input) & 1;
	rule.l4_protocol = take(input) % 18;
	rule.dst_port_mask = take(input);
	rule.vlan_mask = take(input) & 1;
	vcx3_rule_attach(w.core, &rule, &w.handle);
}

static void
act(struct input *input)
{
	const uint8_t *frame = NULL;

	switch (take(input) % 8) {
	case 0:
		post_send(input);
		break;
	case 1:
		push_frame(input);
		frame = w.cable.frame.data;
		break;
	case 2: /* receive WQEs */
		take_bytes(input, w.arena + QP_AT + (64 << LOG_RING) + take(input) % 16 * 32, 32);
		break;
	case 3: /* WQEs of the SRQ */
		take_bytes(input, w.arena + SRQ_AT + take(input) % 16 * 32, 32);
		break;
	case 4:
		take_bytes(input, w.arena + RECORDS_AT + take(input) % 5 * 4, 4);
		break;
	case 5:
		change_rule(input);
		break;
	case 6:
		vcx3_rule_detach(w.core, take(input));
		vcx3_qp_modify(w.core, QPN + take(input) % 2, take(input) % 7, take(input) % 3);
		break;
	case 7:
		vcx3_cq_arm(w.core, take(input) % 2, take(input) % 4, take(input), 0);
		break;
	}
	for (int i = 0; i < 4 && vcx3_core_run(w.core) > 0; i++)
		;
	w.cable.frame.data = NULL;
	free((void *)frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct input input = { data, len };

	create(take(&input));
	while (input.len > 0)
		act(&input);
	vcx3_core_destroy(w.core);
	free(w.arena);
	return 0;
}
