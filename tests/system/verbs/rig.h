/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_SYSTEM_VERBS_RIG_H
#define TESTS_SYSTEM_VERBS_RIG_H

/*
 * A client of libibverbs and mlx4dv.h for tests: one open card, one raw packet QP that sends and
 * receives, frames made and checked by code of its own. It runs below `vcx3 --step --ports 1
 * --wire 1=self`: what the QP sends comes back to the port.
 */

#include <infiniband/mlx4dv.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#define RIG_FRAME_ROOM 2048

struct rig {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	uint8_t *memory; /* of the MR */
	size_t size;
	uint32_t nb_slots; /* of RIG_FRAME_ROOM bytes */
};

struct rig_qp {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
};

/* Ends the program with a sentence when the card cannot be opened. */
void rig_open(struct rig *rig, uint32_t nb_slots);
void rig_close(struct rig *rig);

static inline uint8_t *
rig_slot(const struct rig *rig, uint32_t slot)
{
	return rig->memory + (size_t)slot * RIG_FRAME_ROOM;
}

/* A raw packet QP in RTS on port 1 with a CQ for both directions. */
void rig_qp_open(struct rig *rig, struct rig_qp *qp, uint32_t send_wr, uint32_t recv_wr,
		 struct ibv_comp_channel *channel);
/* The same on a CQ that the caller made; closing destroys it too. */
void rig_qp_open_on(struct rig *rig, struct rig_qp *qp, struct ibv_cq *cq, uint32_t send_wr,
		    uint32_t recv_wr);
void rig_qp_close(struct rig_qp *qp);

int rig_send(struct rig *rig, struct rig_qp *qp, uint32_t slot, uint32_t length, uint32_t flags);
int rig_receive(struct rig *rig, struct rig_qp *qp, uint32_t slot);
int rig_receive_into(struct rig *rig, struct rig_qp *qp, uint32_t slot, uint32_t room);

/* Lets the card move until nothing is left to do. */
void rig_move(void);

/* Polls until nb completions are there or nothing moves; the number got. */
int rig_poll(struct ibv_cq *cq, struct ibv_wc *wcs, int nb);

/* A rule that steers to qp: all frames, those of a MAC, those of a MAC and a VLAN. */
struct ibv_flow *rig_flow_all(struct ibv_qp *qp);
struct ibv_flow *rig_flow_mac(struct ibv_qp *qp, const uint8_t mac[6], uint16_t vlan,
			      uint16_t priority);
struct ibv_flow *rig_flow_type(struct ibv_qp *qp, enum ibv_flow_attr_type type);

/* What to make a frame of. */
struct rig_frame {
	uint8_t dst[6];
	uint16_t vlan; /* 0 = no tag */
	bool is_ipv6;
	bool is_tcp;
	uint32_t src_ip; /* IPv6: the last four bytes of 2001:db8::/96 */
	uint32_t dst_ip;
	uint16_t src_port;
	uint16_t dst_port;
	uint16_t payload;
	bool bad_ip_checksum;
	bool bad_l4_checksum;
};

extern const uint8_t rig_mac[6]; /* of port 1 */

/* Writes the frame, with right checksums unless told; its length, at least 60. */
uint32_t rig_frame_make(const struct rig_frame *frame, uint8_t *to);

#endif /* TESTS_SYSTEM_VERBS_RIG_H */
