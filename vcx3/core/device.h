/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The insides of the core: what its files share and nobody else sees.
 */
#ifndef VCX3_CORE_DEVICE_H
#define VCX3_CORE_DEVICE_H

#include "core.h"
#include "counters.h"
#include "cq.h"
#include "fault.h"
#include "layout.h"
#include "mpt.h"
#include "packet.h"
#include "port.h"
#include "qp.h"
#include "srq.h"
#include "steer.h"
#include "strict.h"
#include "toeplitz.h"
#include "wire/wire.h"

#define VCX3_FLOW_CACHE 4096 /* decisions kept by flow id, for each port */
#define VCX3_MAX_TARGETS 8 /* copies of one frame */
#define VCX3_RULE_BUCKETS 1024
#define VCX3_MAX_FAULTS 32
#define VCX3_WQE_MAX (VCX3_SQ_DS * VCX3_SEGMENT)
#define VCX3_LSO_MAX (256 * 1024) /* bytes of one LSO WQE; software is told 128 KiB */

struct vcx3_mpt {
	uint32_t key; /* with the bits that the table's size takes off its index */
	struct vcx3_mpt_attr attr;
	struct vcx3_map map;
};

/* The key that a queue used last: nearly always the next one, too. */
struct vcx3_key_cache {
	uint32_t key;
	uint32_t generation;
	struct vcx3_mpt *mpt;
};

struct vcx3_cq {
	struct vcx3_map buffer;
	uint32_t producer; /* never wrapped; the ring takes the low bits */
	uint32_t consumer; /* set_ci as last read, extended to 32 bits */
	uint32_t count;
	uint8_t log_cqe;
	uint8_t cqe_offset; /* of the meaningful half */
	bool is_dead;
	bool has_timestamps;
	uint32_t cqn;

	bool is_armed;
	uint8_t arm_command; /* enum vcx3_cq_arm */
	uint8_t fired_sn;
	uint32_t arm_ci;
	uint32_t solicited; /* producer behind the last solicited completion */
	uint64_t wait_since_ns; /* of an event that moderation holds back; 0 = none */
	uint64_t stalled_until_ns;

	struct vcx3_map record;
	struct vcx3_cq_attr attr;
	unsigned int users;
	uint64_t arms;
	uint64_t cqes;
};

/* The receive half of a QP. */
struct vcx3_rq {
	uint32_t head; /* WQEs taken; never wrapped */
	uint32_t posted; /* WQEs posted, as last read */
	uint32_t count;
	uint32_t checked; /* strict: posts looked at */
	bool looks_swapped; /* strict: said so already */
	uint8_t log_stride;
	uint32_t offset;
	struct vcx3_key_cache keys;
	uint64_t stalled_until_ns;
};

/* The send half of a QP. */
struct vcx3_sq {
	uint32_t head; /* stride index; never wrapped */
	uint32_t count;
	uint8_t log_stride;
	bool is_kicked;
	uint32_t offset;
	uint32_t lso_done; /* payload bytes of the LSO WQE at head that are on the wire */
	struct vcx3_key_cache keys;
	uint64_t stalled_until_ns;
};

struct vcx3_srq {
	struct vcx3_srq_attr attr;
	struct vcx3_map buffer;
	struct vcx3_map record;
	uint32_t srqn;
	uint32_t taken;
	uint32_t posted;
	uint32_t next; /* WQE index at the head of the list */
	unsigned int users;
	struct vcx3_key_cache keys;
};

struct vcx3_qp {
	uint32_t qpn;
	enum vcx3_qp_state state;
	uint32_t pd;
	bool deliver_fcs;
	bool strip_vlan;
	struct vcx3_cq *recv_cq;
	struct vcx3_cq *send_cq;
	struct vcx3_map buffer;
	struct vcx3_map record;
	struct vcx3_rq rq;
	struct vcx3_sq sq;
	struct vcx3_srq *srq;
	struct vcx3_port *port;
	struct vcx3_toeplitz *toeplitz; /* RSS QPs */
	struct vcx3_qp_attr attr;
	uint64_t doorbells;
	uint64_t rx_frames;
	uint64_t tx_frames;
	struct vcx3_qp *next; /* of the live QPs */
	struct vcx3_qp **link; /* that points here */
};

/* What a receive CQE says about a frame, beside its length. */
struct vcx3_meta {
	uint32_t vlan_flags;
	uint32_t hash;
	uint32_t status;
	uint16_t tci;
	uint16_t checksum;
};

/* Where a frame goes. */
struct vcx3_target {
	struct vcx3_qp *qp; /* NULL: the rule's QP does not receive */
	uint32_t hash;
};

struct vcx3_decision {
	struct vcx3_meta meta;
	unsigned int nb_targets; /* copies included; 0 = no rule */
	struct vcx3_target targets[VCX3_MAX_TARGETS];
};

/* A decision for all frames of a flow, as long as nothing that it rests on changes. */
struct vcx3_flow {
	uint32_t flow_id;
	uint32_t generation;
	uint32_t len;
	struct vcx3_meta meta;
	struct vcx3_target target;
};

struct vcx3_rule_entry {
	struct vcx3_rule rule;
	uint64_t handle;
	uint64_t order; /* priority, then age */
	struct vcx3_rule_entry *next; /* in its list, by order */
};

/* The rules of one port: each list is sorted by order. */
struct vcx3_rule_table {
	struct vcx3_rule_entry *by_mac[VCX3_RULE_BUCKETS]; /* regular with a full dst MAC */
	struct vcx3_rule_entry *wild; /* other regular ones */
	struct vcx3_rule_entry *mc_default;
	struct vcx3_rule_entry *all_default;
	struct vcx3_rule_entry *mirror_rx; /* also sniffers */
	struct vcx3_rule_entry *mirror_tx;
	unsigned int count;
};

struct vcx3_port {
	unsigned int number;
	struct vcx3_wire *wire;
	bool admin_up;
	bool carrier;
	bool was_up; /* as last told to the sink */
	bool holds; /* a frame without a receive WQE waits on the wire */
	uint32_t frame_limit;
	uint32_t mtu;
	uint32_t speed_mbps;
	uint8_t mac[6];
	uint64_t head_seen_ns; /* fault delay: when the first frame in line was seen */
	struct vcx3_port_counters counters;
	struct vcx3_rule_table rules;
	struct vcx3_flow *flows;
};

enum vcx3_fault_kind {
#define X(upper, lower, names, what) VCX3_FAULT_##upper,
	VCX3_FAULT_KINDS(X)
#undef X
	VCX3_FAULT_TX_DROP, /* drop with dir=tx */
};

struct vcx3_fault {
	enum vcx3_fault_kind kind;
	uint32_t port; /* 0 = any */
	uint32_t qpn; /* 0 = any */
	uint64_t skip;
	uint64_t count; /* 0 = for ever */
	uint32_t value; /* syndrome, errno, or microseconds */
	bool msb; /* rx_error: bit 31 of byte_cnt */
	char name[32]; /* command, or object of a stall */
};

/* A receive buffer that software has posted and the device not taken. */
struct vcx3_posted {
	uint64_t address; /* 0 = free slot */
	uint32_t qpn;
};

/* A send WQE, contiguous, its control segment decoded. */
struct vcx3_wqe {
	const uint8_t *data;
	uint32_t size; /* bytes, control segment included */
	uint32_t strides;
	uint32_t owner_opcode;
	uint32_t vlan_ds;
	uint32_t flags;
	uint32_t payload; /* offset of the first data segment */
	uint32_t len; /* bytes of data */
	uint8_t opcode;
};

/* A frame that is being built. */
struct vcx3_tx_frame {
	uint8_t *start; /* of the finished frame */
	uint8_t *data; /* where its bytes go, behind room for a tag */
	uint8_t *room; /* reserved on the wire; NULL = does not go there */
	uint64_t *drop; /* counts it instead of sending it */
	uint32_t len;
	uint16_t tag; /* EtherType of the VLAN tag to insert, 0 = none */
};

struct vcx3_lso_headers {
	uint32_t l3;
	uint32_t l4;
	uint8_t version;
	uint8_t protocol;
};

struct vcx3_lso {
	const uint8_t *header;
	uint32_t header_len;
	uint32_t mss;
	bool has_tunnel;
	struct vcx3_lso_headers outer; /* of a tunnel */
	struct vcx3_lso_headers tcp;
};

struct vcx3_core {
	struct vcx3_core_config config;
	struct vcx3_memory memory;
	uint64_t now_ns; /* of this slice */
	uint64_t service_ns; /* of the wires' last housekeeping */
	bool is_dead;
	bool has_clflushopt;

	uint32_t nb_qps, nb_cqs, nb_srqs, nb_mpts; /* table sizes, powers of two */
	struct vcx3_qp **qps;
	struct vcx3_cq **cqs;
	struct vcx3_srq **srqs;
	struct vcx3_mpt **mpts;
	struct vcx3_qp *live_qps;
	struct vcx3_cq **live_cqs; /* dense, counters.live_cqs of them */
	uint32_t mpt_generation; /* changes when a key is voided */
	uint32_t steer_generation; /* changes when decisions may differ */
	uint64_t rule_age;

	struct vcx3_port ports[VCX3_MAX_PORTS];
	struct vcx3_counters counters;
	uint64_t violations[VCX3_NB_RULES];
	struct vcx3_posted *posted; /* strict: the posted receive buffers (strict.c) */
	uint32_t nb_posted;

	struct vcx3_fault faults[VCX3_MAX_FAULTS];
	unsigned int nb_faults;
	struct vcx3_fault used_fault; /* the one that struck last */

	uint64_t lost; /* frames of a QP without a port */
	uint8_t *frame; /* scratch: a frame that does not go straight to the wire */
	uint8_t *payload; /* scratch: the data of an LSO WQE */
	uint8_t wqe[VCX3_WQE_MAX]; /* scratch: a WQE that wraps */
};

/* mpt.c */
enum vcx3_access_result {
	VCX3_ACCESS_OK,
	VCX3_ACCESS_BAD_KEY,
	VCX3_ACCESS_BAD_RANGE,
	VCX3_ACCESS_NOT_WRITABLE,
	VCX3_ACCESS_NO_MEMORY,
};

/* A run of bytes behind a key: checked as a whole, reached piece by piece. */
struct vcx3_span {
	struct vcx3_mpt *mpt;
	uint64_t offset;
};

struct vcx3_mpt *vcx3_mpt_lookup(const struct vcx3_core *core, uint32_t key,
				 struct vcx3_key_cache *cache);

static inline struct vcx3_mpt *
vcx3_mpt_find(const struct vcx3_core *core, uint32_t key, struct vcx3_key_cache *cache)
{
	if (cache->mpt != NULL && cache->key == key && cache->generation == core->mpt_generation)
		return cache->mpt;
	return vcx3_mpt_lookup(core, key, cache);
}

static inline enum vcx3_access_result
vcx3_span_open(const struct vcx3_core *core, struct vcx3_key_cache *cache, uint32_t pd,
	       uint32_t key, uint64_t address, uint64_t len, bool write, struct vcx3_span *span)
{
	struct vcx3_mpt *mpt = vcx3_mpt_find(core, key, cache);
	uint64_t offset;

	if (mpt == NULL || mpt->attr.pd != pd)
		return VCX3_ACCESS_BAD_KEY;
	offset = address - mpt->attr.start;
	if (len > mpt->attr.length || offset > mpt->attr.length - len)
		return VCX3_ACCESS_BAD_RANGE;
	if (write && !(mpt->attr.access & VCX3_ACCESS_LOCAL_WRITE))
		return VCX3_ACCESS_NOT_WRITABLE;
	*span = (struct vcx3_span){ mpt, offset };
	return VCX3_ACCESS_OK;
}

bool vcx3_span_read(const struct vcx3_core *core, struct vcx3_span *span, void *to, uint64_t len);
bool vcx3_span_write(const struct vcx3_core *core, struct vcx3_span *span, const void *from,
		     uint64_t len);

/* cq.c */
void vcx3_cq_release(struct vcx3_core *core, struct vcx3_cq *cq);
uint8_t *vcx3_cq_next(struct vcx3_core *core, struct vcx3_cq *cq);
void vcx3_cq_publish(struct vcx3_core *core, struct vcx3_cq *cq, uint8_t *cqe, uint8_t opcode);
void vcx3_cq_write_error(struct vcx3_core *core, struct vcx3_cq *cq, uint32_t qpn,
			 uint16_t wqe_index, uint8_t syndrome, uint32_t byte_count,
			 uint8_t opcode_flags);
unsigned int vcx3_cq_run(struct vcx3_core *core, struct vcx3_cq *cq);

/* qp.c */
void vcx3_qp_release(struct vcx3_core *core, struct vcx3_qp *qp);
void vcx3_qp_fail(struct vcx3_core *core, struct vcx3_qp *qp, enum vcx3_event event);
static inline struct vcx3_qp *
vcx3_qp_find(const struct vcx3_core *core, uint32_t qpn)
{
	return qpn < core->nb_qps ? core->qps[qpn] : NULL;
}

/* sq.c */
unsigned int vcx3_sq_run(struct vcx3_core *core, struct vcx3_qp *qp);
unsigned int vcx3_sq_flush(struct vcx3_core *core, struct vcx3_qp *qp);
bool vcx3_sq_has_work(struct vcx3_core *core, struct vcx3_qp *qp);

/* rq.c */
enum vcx3_delivery {
	VCX3_DELIVERED,
	VCX3_NO_WQE,
	VCX3_DELIVERY_FAILED,
};
bool vcx3_rq_can_receive(const struct vcx3_qp *qp);
bool vcx3_rq_has_wqe(struct vcx3_core *core, struct vcx3_qp *qp);
enum vcx3_delivery vcx3_rq_deliver(struct vcx3_core *core, struct vcx3_qp *qp,
				   const uint8_t *data, uint32_t len,
				   const struct vcx3_meta *meta, uint32_t hash);
unsigned int vcx3_rq_flush(struct vcx3_core *core, struct vcx3_qp *qp);

/* srq.c */
void vcx3_srq_release(struct vcx3_core *core, struct vcx3_srq *srq);
const uint8_t *vcx3_srq_wqe(struct vcx3_core *core, struct vcx3_srq *srq);
void vcx3_srq_take(struct vcx3_core *core, struct vcx3_srq *srq, const uint8_t *wqe);

/* classify.c */
void vcx3_classify(const struct vcx3_core *core, const uint8_t *data, uint32_t len,
		   const struct vcx3_headers *headers, struct vcx3_meta *meta);

/* rss.c */
uint32_t vcx3_rss_select(const struct vcx3_qp *rss_qp, const uint8_t *data, uint32_t len,
			 const struct vcx3_headers *headers, uint32_t *hash);

/* steer.c */
void vcx3_rules_release(struct vcx3_core *core);
unsigned int vcx3_steer(const struct vcx3_core *core, const struct vcx3_port *port,
			const uint8_t *data, const struct vcx3_headers *headers,
			uint32_t qpns[VCX3_MAX_TARGETS]);
bool vcx3_steer_is_local(const struct vcx3_core *core, const struct vcx3_port *port,
			 const uint8_t *data, uint32_t len);

/* rx.c */
unsigned int vcx3_port_receive(struct vcx3_core *core, struct vcx3_port *port);
void vcx3_port_loopback(struct vcx3_core *core, struct vcx3_port *port, const uint8_t *data,
			uint32_t len);
void vcx3_port_mirror_tx(struct vcx3_core *core, struct vcx3_port *port, const uint8_t *data,
			 uint32_t len);

/* port.c */
static inline bool
vcx3_port_is_up(const struct vcx3_port *port)
{
	return port->admin_up && port->carrier &&
	       (port->wire == NULL || vcx3_wire_carrier(port->wire));
}
void vcx3_port_watch_link(struct vcx3_core *core, struct vcx3_port *port);

static inline void
vcx3_port_count_rx(struct vcx3_port *port, const uint8_t *data, uint32_t len)
{
	struct vcx3_port_counters *counters = &port->counters;

	counters->rx_frames++;
	counters->rx_bytes += len;
	if (!vcx3_is_multicast(data))
		counters->rx_unicast++;
	else if (vcx3_is_broadcast(data))
		counters->rx_broadcast++;
	else
		counters->rx_multicast++;
}

static inline void
vcx3_port_count_tx(struct vcx3_port *port, const uint8_t *data, uint32_t len)
{
	struct vcx3_port_counters *counters = &port->counters;

	counters->tx_frames++;
	counters->tx_bytes += len;
	if (!vcx3_is_multicast(data))
		counters->tx_unicast++;
	else if (vcx3_is_broadcast(data))
		counters->tx_broadcast++;
	else
		counters->tx_multicast++;
}

/* offload.c */
void vcx3_offload_checksums(const struct vcx3_core *core, uint8_t *frame, uint32_t len,
			    uint32_t owner_opcode, uint32_t flags);
bool vcx3_lso_parse(struct vcx3_lso *lso);
void vcx3_lso_build(const struct vcx3_lso *lso, const uint8_t *payload, uint32_t offset,
		    uint32_t part, bool is_last, uint8_t *frame);

/* tx.c */
bool vcx3_tx_open(struct vcx3_core *core, struct vcx3_qp *qp, const struct vcx3_wqe *wqe,
		  uint32_t len, struct vcx3_tx_frame *frame);
void vcx3_tx_close(struct vcx3_core *core, struct vcx3_qp *qp, const struct vcx3_wqe *wqe,
		   struct vcx3_tx_frame *frame);

/* strict.c */
void vcx3_violate(struct vcx3_core *core, enum vcx3_rule_id rule, const char *object,
		  uint32_t number, const uint32_t *words, uint32_t nb_words);
void vcx3_strict_buffer_posted(struct vcx3_core *core, uint32_t qpn, uint64_t address);
void vcx3_strict_buffer_taken(struct vcx3_core *core, uint64_t address);
void vcx3_strict_queue_ended(struct vcx3_core *core, const struct vcx3_qp *qp);
void vcx3_strict_check_stamps(struct vcx3_core *core, struct vcx3_qp *qp); /* sq.c */
int vcx3_strict_create(struct vcx3_core *core);

/* fault.c */
const struct vcx3_fault *vcx3_fault_take(struct vcx3_core *core, enum vcx3_fault_kind kind,
					 unsigned int port, uint32_t qpn);
const struct vcx3_fault *vcx3_fault_find(const struct vcx3_core *core, enum vcx3_fault_kind kind,
					 unsigned int port);

/* Tells the front end, if it wants to know. */
void vcx3_raise(struct vcx3_core *core, enum vcx3_event event, uint32_t number,
		uint8_t syndrome);

/* Writes dirty lines back to memory, as a DMA write would have left them. */
void vcx3_make_cold(const struct vcx3_core *core, const void *address, uint64_t len);

#endif
