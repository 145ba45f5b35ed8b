/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rules of strict mode: what silicon needs and a lenient model would forgive.
 * Each sentence names the section of reference/connectx3-device.md it rests on.
 */
#ifndef VCX3_CORE_STRICT_H
#define VCX3_CORE_STRICT_H

#include "core.h"

#define VCX3_RULES(X) \
	X(sq_stamp, "a send slot ahead of the last posted WQE must carry the invalid owner " \
		"bit, since the device prefetches (D.2)") \
	X(sq_initial_pattern, "every send slot must have owner 1 before RESET->INIT (B.5, D.2)") \
	X(sq_doorbell, "send work needs a doorbell: it was still waiting without one when the " \
		"queue was destroyed (C.2)") \
	X(sq_doorbell_unknown, "a send doorbell must name a QP in RTS (C.2)") \
	X(wqe_size, "a WQE holds 1 to 63 units of 16 bytes and all of its segments (D.1, E.7)") \
	X(wqe_opcode, "a raw packet QP executes NOP, SEND and LSO only (D.1)") \
	X(wqe_zero_length, "byte_count 0 means 2^31 bytes in a data segment (D.1)") \
	X(wqe_inline_line, "an inline segment must not cross a 64-byte line (D.1)") \
	X(wqe_lso, "LSO needs an MSS, a header of Ethernet, IP and TCP, and a TCP frame (D.1)") \
	X(byte_order, "fields that the device shares with software are big endian (D)") \
	X(lkey, "a key must name a live MR of the QP's PD (E.7)") \
	X(mr_range, "a segment must lie inside the MR of its key (E.7)") \
	X(mr_access, "receive buffers need LOCAL_WRITE (E.7)") \
	X(rq_overposted, "a receive record may be at most the ring size ahead of what the " \
		"device has taken (C.3)") \
	X(rq_same_buffer, "a receive buffer that is posted must not be posted again (D.8)") \
	X(cq_consumer_index, "set_ci must lie between the last set_ci and the producer (C.3)") \
	X(cq_overrun, "a CQ must be larger than what may complete into it (C.3)") \
	X(cq_arm_unknown, "an arm doorbell must name a CQ (C.4)") \
	X(cq_arm_record, "the arm record must say what the arm doorbell says, before it (C.4)")

enum vcx3_rule_id {
#define X(name, sentence) VCX3_STRICT_##name,
	VCX3_RULES(X)
#undef X
	VCX3_NB_RULES
};

const char *vcx3_strict_name(enum vcx3_rule_id rule);
const char *vcx3_strict_sentence(enum vcx3_rule_id rule);

/** How often a rule has been broken. */
uint64_t vcx3_strict_count(const struct vcx3_core *core, enum vcx3_rule_id rule);

/** All violations so far. */
uint64_t vcx3_strict_total(const struct vcx3_core *core);

#endif
