/* SPDX-License-Identifier: BSD-3-Clause */

/* See rig.h. */

#include "rig.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "vcx3.h"

#define RIG_TAIL 4096

const uint8_t rig_mac[6] = {0x00, 0x02, 0xc9, 0x00, 0x00, 0x01};

static void
need(const void *made, const char *what)
{
	if (made != NULL)
		return;
	perror(what);
	exit(1);
}

void
rig_open(struct rig *rig, uint32_t nb_slots)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);

	need(devices, "ibv_get_device_list");
	need(devices[0], "no device");
	rig->context = ibv_open_device(devices[0]);
	need(rig->context, "ibv_open_device");
	ibv_free_device_list(devices);
	rig->nb_slots = nb_slots;
	rig->size = (size_t)nb_slots * RIG_FRAME_ROOM;
	/* A page more than what is registered: libmlx4 itself reads headers of bad segments. */
	rig->memory = mmap(NULL, rig->size + RIG_TAIL, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	need(rig->memory == MAP_FAILED ? NULL : rig->memory, "mmap");
	rig->pd = ibv_alloc_pd(rig->context);
	need(rig->pd, "ibv_alloc_pd");
	rig->mr = ibv_reg_mr(rig->pd, rig->memory, rig->size, IBV_ACCESS_LOCAL_WRITE);
	need(rig->mr, "ibv_reg_mr");
}

void
rig_close(struct rig *rig)
{
	if (ibv_dereg_mr(rig->mr) != 0 || ibv_dealloc_pd(rig->pd) != 0 ||
	    ibv_close_device(rig->context) != 0)
		need(NULL, "close");
	munmap(rig->memory, rig->size + RIG_TAIL);
}

static void
modify(struct ibv_qp *qp, enum ibv_qp_state state, int mask)
{
	struct ibv_qp_attr attr = {.qp_state = state, .port_num = 1};

	if (ibv_modify_qp(qp, &attr, mask) != 0)
		need(NULL, "ibv_modify_qp");
}

void
rig_qp_open_on(struct rig *rig, struct rig_qp *qp, struct ibv_cq *cq, uint32_t send_wr,
	       uint32_t recv_wr)
{
	struct ibv_qp_init_attr attr = {
		.cap = {.max_send_wr = send_wr, .max_recv_wr = recv_wr, .max_send_sge = 4,
			.max_recv_sge = 1},
		.qp_type = IBV_QPT_RAW_PACKET,
		.send_cq = cq,
		.recv_cq = cq,
	};

	need(cq, "completion queue");
	qp->cq = cq;
	qp->qp = ibv_create_qp(rig->pd, &attr);
	need(qp->qp, "ibv_create_qp");
	modify(qp->qp, IBV_QPS_INIT, IBV_QP_STATE | IBV_QP_PORT);
	modify(qp->qp, IBV_QPS_RTR, IBV_QP_STATE);
	modify(qp->qp, IBV_QPS_RTS, IBV_QP_STATE);
}

void
rig_qp_open(struct rig *rig, struct rig_qp *qp, uint32_t send_wr, uint32_t recv_wr,
	    struct ibv_comp_channel *channel)
{
	struct ibv_cq *cq = ibv_create_cq(rig->context, send_wr + recv_wr, NULL, channel, 0);

	rig_qp_open_on(rig, qp, cq, send_wr, recv_wr);
}

void
rig_qp_close(struct rig_qp *qp)
{
	if (ibv_destroy_qp(qp->qp) != 0 || ibv_destroy_cq(qp->cq) != 0)
		need(NULL, "destroy QP and CQ");
}

int
rig_send(struct rig *rig, struct rig_qp *qp, uint32_t slot, uint32_t length, uint32_t flags)
{
	struct ibv_sge sge = {.addr = (uintptr_t)rig_slot(rig, slot), .length = length,
			      .lkey = rig->mr->lkey};
	struct ibv_send_wr *bad, wr = {.wr_id = slot, .sg_list = &sge, .num_sge = 1,
				       .opcode = IBV_WR_SEND,
				       .send_flags = IBV_SEND_SIGNALED | flags};

	return ibv_post_send(qp->qp, &wr, &bad);
}

int
rig_receive(struct rig *rig, struct rig_qp *qp, uint32_t slot)
{
	return rig_receive_into(rig, qp, slot, RIG_FRAME_ROOM);
}

int
rig_receive_into(struct rig *rig, struct rig_qp *qp, uint32_t slot, uint32_t room)
{
	struct ibv_sge sge = {.addr = (uintptr_t)rig_slot(rig, slot), .length = room,
			      .lkey = rig->mr->lkey};
	struct ibv_recv_wr *bad, wr = {.wr_id = slot, .sg_list = &sge, .num_sge = 1};

	return ibv_post_recv(qp->qp, &wr, &bad);
}

void
rig_move(void)
{
	vcx3_step(1000);
}

int
rig_poll(struct ibv_cq *cq, struct ibv_wc *wcs, int nb)
{
	int got = 0, more;

	rig_move();
	while (got < nb && (more = ibv_poll_cq(cq, nb - got, wcs + got)) > 0)
		got += more;
	return got;
}

struct ibv_flow *
rig_flow_type(struct ibv_qp *qp, enum ibv_flow_attr_type type)
{
	struct ibv_flow_attr attr = {.type = type, .size = sizeof(attr), .port = 1};

	return ibv_create_flow(qp, &attr);
}

struct ibv_flow *
rig_flow_all(struct ibv_qp *qp)
{
	return rig_flow_type(qp, IBV_FLOW_ATTR_ALL_DEFAULT);
}

struct ibv_flow *
rig_flow_mac(struct ibv_qp *qp, const uint8_t mac[6], uint16_t vlan, uint16_t priority)
{
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
	} rule = {
		.attr = {.type = IBV_FLOW_ATTR_NORMAL, .size = sizeof(rule), .port = 1,
			 .num_of_specs = 1, .priority = priority},
		.eth = {.type = IBV_FLOW_SPEC_ETH, .size = sizeof(rule.eth)},
	};

	memcpy(rule.eth.val.dst_mac, mac, 6);
	memset(rule.eth.mask.dst_mac, 0xff, 6);
	if (vlan != 0) {
		rule.eth.val.vlan_tag = htons(vlan);
		rule.eth.mask.vlan_tag = htons(0x0fff);
	}
	return ibv_create_flow(qp, &rule.attr);
}

static void
put16(uint8_t *to, uint16_t value)
{
	to[0] = value >> 8;
	to[1] = value;
}

static void
put32(uint8_t *to, uint32_t value)
{
	put16(to, value >> 16);
	put16(to + 2, value);
}

/* RFC 1071, one byte at a time. */
static uint32_t
sum(const uint8_t *bytes, uint32_t length, uint32_t start)
{
	uint32_t i;

	for (i = 0; i < length; i++)
		start += i % 2 ? bytes[i] : bytes[i] << 8;
	return start;
}

static uint16_t
fold(uint32_t value)
{
	while (value >> 16)
		value = (value & 0xffff) + (value >> 16);
	return ~value;
}

static uint32_t
make_l3(const struct rig_frame *frame, uint8_t *ip, uint32_t l4_length)
{
	uint8_t protocol = frame->is_tcp ? 6 : 17;

	if (frame->is_ipv6) {
		static const uint8_t network[12] = {0x20, 0x01, 0x0d, 0xb8};

		ip[0] = 0x60;
		put16(ip + 4, l4_length);
		ip[6] = protocol;
		ip[7] = 64;
		memcpy(ip + 8, network, 12);
		put32(ip + 20, frame->src_ip);
		memcpy(ip + 24, network, 12);
		put32(ip + 36, frame->dst_ip);
		return 40;
	}
	ip[0] = 0x45;
	put16(ip + 2, 20 + l4_length);
	ip[8] = 64;
	ip[9] = protocol;
	put32(ip + 12, frame->src_ip);
	put32(ip + 16, frame->dst_ip);
	put16(ip + 10, fold(sum(ip, 20, 0)) ^ (frame->bad_ip_checksum ? 0x5555 : 0));
	return 20;
}

static void
make_l4(const struct rig_frame *frame, const uint8_t *ip, uint8_t *l4, uint32_t length)
{
	uint32_t i, addresses = frame->is_ipv6 ? 32 : 8, header = frame->is_tcp ? 20 : 8;
	uint8_t *checksum = l4 + (frame->is_tcp ? 16 : 6);

	put16(l4, frame->src_port);
	put16(l4 + 2, frame->dst_port);
	if (frame->is_tcp)
		l4[12] = 5 << 4;
	else
		put16(l4 + 4, length);
	for (i = header; i < length; i++)
		l4[i] = i * 7 + frame->src_port;
	put16(checksum, fold(sum(l4, length, sum(ip + (frame->is_ipv6 ? 8 : 12), addresses,
						 length + (frame->is_tcp ? 6 : 17)))) ^
			(frame->bad_l4_checksum ? 0x5555 : 0));
}

uint32_t
rig_frame_make(const struct rig_frame *frame, uint8_t *to)
{
	static const uint8_t source[6] = {0x02, 0, 0, 0, 0, 0x99};
	uint32_t l4_length = (frame->is_tcp ? 20 : 8) + frame->payload, at = 12, length;
	uint8_t *ip;

	memset(to, 0, RIG_FRAME_ROOM);
	memcpy(to, frame->dst, 6);
	memcpy(to + 6, source, 6);
	if (frame->vlan != 0) {
		put16(to + at, 0x8100);
		put16(to + at + 2, frame->vlan);
		at += 4;
	}
	put16(to + at, frame->is_ipv6 ? 0x86dd : 0x0800);
	ip = to + at + 2;
	at += 2 + make_l3(frame, ip, l4_length);
	make_l4(frame, ip, to + at, l4_length);
	length = at + l4_length;
	return length < 60 ? 60 : length;
}
