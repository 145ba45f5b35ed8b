/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queue pairs as the hardware knows them: raw packet QPs with a send queue, a receive
 * queue or both (a verbs WQ is one with a receive queue only), and RSS QPs.
 * A QP exists from RST2INIT until it is reset; one that is in reset is unknown, and a
 * steering rule may still name it (its frames are dropped).
 */
#ifndef VCX3_CORE_QP_H
#define VCX3_CORE_QP_H

#include "core.h"

/** States, as in bits 31:28 of the QP context. */
enum vcx3_qp_state {
	VCX3_QP_RESET = 0,
	VCX3_QP_INIT = 1,
	VCX3_QP_RTR = 2, /**< receives */
	VCX3_QP_RTS = 3, /**< receives and sends */
	VCX3_QP_SQ_ERROR = 4,
	VCX3_QP_SQ_DRAINED = 5, /**< receives */
	VCX3_QP_ERROR = 6, /**< flushes */
};

/** A work queue in the QP's buffer. */
struct vcx3_wq_attr {
	bool present;
	uint8_t log_count; /**< of the number of strides */
	uint8_t log_stride; /**< 4 (16 bytes) or more */
	uint32_t offset; /**< in the buffer */
};

/** Hash inputs, as in byte 0x47 of the QP context. */
#define VCX3_RSS_UDP_IPV6 0x01
#define VCX3_RSS_UDP_IPV4 0x02
#define VCX3_RSS_TCP_IPV6 0x04
#define VCX3_RSS_IPV6 0x08
#define VCX3_RSS_TCP_IPV4 0x10
#define VCX3_RSS_IPV4 0x20
#define VCX3_RSS_INNER 0xc0 /**< inner headers of a tunnel, ConnectX-3 Pro */

#define VCX3_RSS_KEY_SIZE 40

struct vcx3_rss_attr {
	uint32_t base_qpn; /**< a multiple of the table size */
	uint32_t default_qpn; /**< for frames without a hash */
	uint8_t log_size;
	uint8_t flags; /**< VCX3_RSS_* */
	bool toeplitz; /**< else XOR, which gives no spread worth modelling: refused */
	uint8_t key[VCX3_RSS_KEY_SIZE];
};

struct vcx3_qp_attr {
	uint32_t pd;
	uint8_t port; /**< 0 = comes with a later transition */
	bool is_rss;
	bool use_srq;
	bool deliver_fcs; /**< data and byte_cnt include the CRC */
	bool strip_vlan;
	bool need_doorbell; /**< take send work only after vcx3_qp_kick() */
	uint32_t send_cqn;
	uint32_t recv_cqn;
	uint32_t srqn;
	struct vcx3_object buffer;
	struct vcx3_object record; /**< receive doorbell record, 4 bytes */
	struct vcx3_wq_attr sq;
	struct vcx3_wq_attr rq;
	struct vcx3_rss_attr rss;
};

/**
 * RST2INIT: makes a QP of this number. All but the port is taken here only.
 *
 * @return VCX3_BAD_INDEX, VCX3_BAD_QP_STATE (exists), VCX3_BAD_RESOURCE (no such CQ or
 *         SRQ), VCX3_BAD_PARAM (shape).
 */
enum vcx3_status vcx3_qp_init(struct vcx3_core *core, uint32_t qpn,
			      const struct vcx3_qp_attr *attr);

/**
 * Any transition but RST2INIT; to VCX3_QP_RESET destroys.
 *
 * @param port
 *   1, 2, or 0 = as it is.
 * @return VCX3_BAD_QP_STATE when the state machine has no such transition.
 */
enum vcx3_status vcx3_qp_modify(struct vcx3_core *core, uint32_t qpn, enum vcx3_qp_state to,
				uint8_t port);

/** The state of a QP; VCX3_QP_RESET for a number that does not exist. */
enum vcx3_qp_state vcx3_qp_state(const struct vcx3_core *core, uint32_t qpn);

/** What a QP was made of. */
enum vcx3_status vcx3_qp_query(const struct vcx3_core *core, uint32_t qpn,
			       struct vcx3_qp_attr *attr);

/** The send doorbell was written: a 32-bit store to UAR + 0x14. */
void vcx3_qp_kick(struct vcx3_core *core, uint32_t qpn);

#endif
