/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion queues: the ring, its doorbell record, events and moderation.
 */
#include <stdlib.h>
#include <string.h>

#include "device.h"

#define INDEX_MASK 0xffffffu /* consumer indices have 24 bits (C.3) */
#define MAX_LOG_SIZE 22 /* max_cqe 4194303 (B.4) */

static struct vcx3_cq *
find_cq(const struct vcx3_core *core, uint32_t cqn)
{
	return cqn < core->nb_cqs ? core->cqs[cqn] : NULL;
}

static inline uint8_t *
entry(const struct vcx3_core *core, struct vcx3_cq *cq, uint32_t index)
{
	uint64_t offset = (uint64_t)(index & (cq->count - 1)) << cq->log_cqe;
	uint8_t *cqe = vcx3_map_at(&cq->buffer, &core->memory, offset);

	return cqe != NULL ? cqe + cq->cqe_offset : NULL;
}

/* Makes every entry from the producer on look as not yet written. */
static bool
init_entries(const struct vcx3_core *core, struct vcx3_cq *cq)
{
	for (uint32_t i = 0; i < cq->count; i++) {
		uint32_t index = cq->producer + i;
		uint8_t *cqe = entry(core, cq, index);

		if (cqe == NULL)
			return false;
		memset(cqe - cq->cqe_offset, VCX3_CQE_INIT, (size_t)1 << cq->log_cqe);
		if (index & cq->count)
			cqe[VCX3_CQE_SIZE - 1] &= ~VCX3_CQE_OWNER;
	}
	return true;
}

static bool
is_shape_good(const struct vcx3_cq_attr *attr)
{
	return attr->log_size <= MAX_LOG_SIZE && (attr->cqe_size == 32 || attr->cqe_size == 64) &&
	       attr->buffer.base % VCX3_CQE_SIZE == 0 && attr->record.base % 8 == 0;
}

static void
set_ring(struct vcx3_cq *cq, const struct vcx3_cq_attr *attr)
{
	cq->attr = *attr;
	cq->count = 1u << attr->log_size;
	cq->log_cqe = attr->cqe_size == 64 ? 6 : 5;
	cq->cqe_offset = attr->cqe_size - VCX3_CQE_SIZE;
	cq->has_timestamps = attr->timestamps;
}

static struct vcx3_cq *
new_cq(const struct vcx3_core *core, uint32_t cqn, const struct vcx3_cq_attr *attr)
{
	struct vcx3_cq *cq = calloc(1, sizeof(*cq));

	if (cq == NULL)
		return NULL;
	cq->cqn = cqn;
	set_ring(cq, attr);
	if (vcx3_map_init(&cq->buffer, &core->memory, &attr->buffer,
			  (uint64_t)cq->count << cq->log_cqe, true) == 0 &&
	    vcx3_map_init(&cq->record, &core->memory, &attr->record, 8, false) == 0)
		return cq;
	vcx3_map_fini(&cq->buffer);
	free(cq);
	return NULL;
}

enum vcx3_status
vcx3_cq_create(struct vcx3_core *core, uint32_t cqn, const struct vcx3_cq_attr *attr)
{
	struct vcx3_cq *cq;

	if (cqn >= core->nb_cqs || core->cqs[cqn] != NULL)
		return VCX3_BAD_INDEX;
	if (!is_shape_good(attr))
		return VCX3_BAD_PARAM;
	cq = new_cq(core, cqn, attr);
	if (cq == NULL)
		return VCX3_EXCEED_LIM;
	if (attr->device_init && !init_entries(core, cq)) {
		vcx3_map_fini(&cq->record);
		vcx3_map_fini(&cq->buffer);
		free(cq);
		return VCX3_BAD_PARAM;
	}
	core->cqs[cqn] = cq;
	core->live_cqs[core->counters.live_cqs++] = cq;
	return VCX3_OK;
}

void
vcx3_cq_release(struct vcx3_core *core, struct vcx3_cq *cq)
{
	uint64_t i = 0;

	while (core->live_cqs[i] != cq)
		i++;
	core->live_cqs[i] = core->live_cqs[--core->counters.live_cqs];
	core->cqs[cq->cqn] = NULL;
	vcx3_map_fini(&cq->buffer);
	vcx3_map_fini(&cq->record);
	free(cq);
}

enum vcx3_status
vcx3_cq_destroy(struct vcx3_core *core, uint32_t cqn)
{
	struct vcx3_cq *cq = find_cq(core, cqn);

	if (cq == NULL)
		return VCX3_BAD_INDEX;
	if (cq->users > 0)
		return VCX3_RESOURCE_BUSY;
	vcx3_cq_release(core, cq);
	return VCX3_OK;
}

enum vcx3_status
vcx3_cq_moderate(struct vcx3_core *core, uint32_t cqn, uint16_t count, uint16_t us)
{
	struct vcx3_cq *cq = find_cq(core, cqn);

	if (cq == NULL)
		return VCX3_BAD_INDEX;
	cq->attr.moderation_count = count;
	cq->attr.moderation_us = us;
	return VCX3_OK;
}

enum vcx3_status
vcx3_cq_query(const struct vcx3_core *core, uint32_t cqn, struct vcx3_cq_attr *attr)
{
	const struct vcx3_cq *cq = find_cq(core, cqn);

	if (cq == NULL)
		return VCX3_BAD_INDEX;
	*attr = cq->attr;
	return VCX3_OK;
}

/* Strict: what set_ci may not say. */
static void
check_consumer(struct vcx3_core *core, const struct vcx3_cq *cq, uint32_t ci)
{
	uint32_t unread = (cq->producer - ci) & INDEX_MASK;
	uint32_t swapped = (cq->producer - __builtin_bswap32(ci)) & INDEX_MASK;
	uint32_t words[] = { ci, cq->producer & INDEX_MASK, cq->consumer & INDEX_MASK };

	if (unread <= cq->producer - cq->consumer)
		return;
	vcx3_violate(core, VCX3_STRICT_cq_consumer_index, "cq", cq->cqn, words, 3);
	if (ci > INDEX_MASK && swapped <= cq->producer - cq->consumer)
		vcx3_violate(core, VCX3_STRICT_byte_order, "cq", cq->cqn, words, 1);
}

static void
read_consumer(struct vcx3_core *core, struct vcx3_cq *cq)
{
	const uint8_t *record = vcx3_map_at(&cq->record, &core->memory, 0);
	uint32_t ci;

	if (record == NULL)
		return;
	ci = vcx3_load_published_be32(record);
	if (core->config.strict)
		check_consumer(core, cq, ci);
	cq->consumer = cq->producer - ((cq->producer - ci) & INDEX_MASK);
}

static void
kill_cq(struct vcx3_core *core, struct vcx3_cq *cq, uint8_t syndrome)
{
	cq->is_dead = true;
	vcx3_raise(core, VCX3_EVENT_CQ_ERROR, cq->cqn, syndrome);
}

static void
overrun(struct vcx3_core *core, struct vcx3_cq *cq)
{
	uint32_t words[] = { cq->producer, cq->consumer, cq->count };

	if (core->config.strict)
		vcx3_violate(core, VCX3_STRICT_cq_overrun, "cq", cq->cqn, words, 3);
	kill_cq(core, cq, 1);
}

static inline bool
is_full(struct vcx3_core *core, struct vcx3_cq *cq)
{
	if (cq->producer - cq->consumer < cq->count)
		return false;
	read_consumer(core, cq);
	return cq->producer - cq->consumer >= cq->count;
}

/* Where the next CQE goes; NULL when the CQ is dead, or dies of it. */
uint8_t *
vcx3_cq_next(struct vcx3_core *core, struct vcx3_cq *cq)
{
	uint8_t *cqe;

	if (cq->is_dead)
		return NULL;
	if (is_full(core, cq) && !cq->attr.ignore_overrun) {
		overrun(core, cq);
		return NULL;
	}
	cqe = entry(core, cq, cq->producer);
	if (cqe == NULL)
		kill_cq(core, cq, 2);
	return cqe;
}

/* The kernel and libmlx4 add 1 to the high part when the low one is 0 (style.md 1.2 I). */
static void
write_timestamp(const struct vcx3_core *core, uint8_t *cqe, uint8_t tail[4])
{
	uint64_t ticks = vcx3_core_clock(core);
	uint16_t low = ticks;

	vcx3_store_be32(cqe + 12, (uint32_t)(ticks >> 16) - (low == 0));
	tail[1] = low >> 8;
	tail[2] = low;
}

/* Ends a CQE whose first 28 bytes are written: the owner bit comes last. */
void
vcx3_cq_publish(struct vcx3_core *core, struct vcx3_cq *cq, uint8_t *cqe, uint8_t opcode)
{
	uint8_t tail[4] = { 0 };
	uint32_t word;

	tail[3] = opcode | (cq->producer & cq->count ? VCX3_CQE_OWNER : 0);
	if (cq->has_timestamps)
		write_timestamp(core, cqe, tail);
	memcpy(&word, tail, sizeof(word));
	__atomic_store_n((uint32_t *)(cqe + 28), word, __ATOMIC_RELEASE);
	if (core->config.cold_cqe)
		vcx3_make_cold(core, cqe, VCX3_CQE_SIZE);
	cq->producer++;
	cq->cqes++;
	core->counters.cqes++;
}

void
vcx3_cq_write_error(struct vcx3_core *core, struct vcx3_cq *cq, uint32_t qpn,
		    uint16_t wqe_index, uint8_t syndrome, uint32_t byte_count,
		    uint8_t opcode_flags)
{
	uint8_t *cqe = vcx3_cq_next(core, cq);

	if (cqe == NULL)
		return;
	memset(cqe, 0, VCX3_CQE_SIZE - sizeof(uint32_t));
	vcx3_store_be32(cqe, qpn);
	vcx3_store_be32(cqe + 20, byte_count);
	vcx3_store_be16(cqe + 24, wqe_index);
	cqe[27] = syndrome;
	vcx3_cq_publish(core, cq, cqe, VCX3_CQE_ERROR | opcode_flags);
	cq->solicited = cq->producer;
	core->counters.error_cqes++;
}

enum vcx3_status
vcx3_cq_resize(struct vcx3_core *core, uint32_t cqn, const struct vcx3_object *buffer,
	       uint8_t log_size, bool device_init)
{
	struct vcx3_cq *cq = find_cq(core, cqn);
	struct vcx3_cq_attr attr;
	struct vcx3_map map;
	uint8_t *cqe;

	if (cq == NULL)
		return VCX3_BAD_INDEX;
	attr = cq->attr;
	attr.buffer = *buffer;
	attr.log_size = log_size;
	if (!is_shape_good(&attr))
		return VCX3_BAD_PARAM;
	read_consumer(core, cq);
	if (cq->is_dead || is_full(core, cq) || cq->producer - cq->consumer >= 1u << log_size)
		return VCX3_BAD_SIZE;
	if (vcx3_map_init(&map, &core->memory, buffer, (uint64_t)attr.cqe_size << log_size,
			  true) != 0)
		return VCX3_EXCEED_LIM;
	cqe = vcx3_cq_next(core, cq);
	if (cqe != NULL) {
		memset(cqe, 0, VCX3_CQE_SIZE - sizeof(uint32_t));
		vcx3_cq_publish(core, cq, cqe, VCX3_CQE_RESIZE);
	}
	vcx3_map_fini(&cq->buffer);
	cq->buffer = map;
	set_ring(cq, &attr);
	return device_init && !init_entries(core, cq) ? VCX3_BAD_PARAM : VCX3_OK;
}

static void
fire(struct vcx3_core *core, struct vcx3_cq *cq)
{
	cq->is_armed = false;
	cq->wait_since_ns = 0;
	core->counters.completion_events++;
	if (core->config.sink != NULL && core->config.sink->completion != NULL)
		core->config.sink->completion(core->config.sink_ctx, cq->cqn, cq->attr.event_queue);
}

/* Completions that an armed CQ may tell about. */
static uint32_t
count_news(const struct vcx3_cq *cq)
{
	uint32_t end = cq->arm_command == VCX3_ARM_SOLICITED ? cq->solicited : cq->producer;
	uint32_t news = (end - cq->arm_ci) & INDEX_MASK;

	return news > INDEX_MASK / 2 ? 0 : news;
}

/* Fires an armed CQ that has enough to tell, or has waited long enough. */
static unsigned int
try_fire(struct vcx3_core *core, struct vcx3_cq *cq)
{
	uint32_t news = cq->is_armed ? count_news(cq) : 0;

	if (news == 0)
		return 0;
	if (news < cq->attr.moderation_count && cq->attr.moderation_us > 0) {
		if (cq->wait_since_ns == 0)
			cq->wait_since_ns = core->now_ns;
		if (core->now_ns - cq->wait_since_ns < cq->attr.moderation_us * UINT64_C(1000))
			return 0;
	}
	fire(core, cq);
	return 1;
}

static void
arm(struct vcx3_core *core, struct vcx3_cq *cq, uint8_t command, uint32_t ci)
{
	cq->is_armed = command != 0;
	cq->arm_command = command;
	cq->arm_ci = ci & INDEX_MASK;
}

static void
count_arm(struct vcx3_core *core, struct vcx3_cq *cq)
{
	cq->arms++;
	core->counters.cq_arms++;
}

/* The device looks at both: software writes the record first. */
static void
check_record(struct vcx3_core *core, struct vcx3_cq *cq, uint32_t wanted)
{
	const uint8_t *record = vcx3_map_at(&cq->record, &core->memory, 0);
	uint32_t words[] = { wanted, 0 };

	if (record == NULL)
		return;
	words[1] = vcx3_load_published_be32(record + 4);
	if (words[1] != wanted)
		vcx3_violate(core, VCX3_STRICT_cq_arm_record, "cq", cq->cqn, words, 2);
}

void
vcx3_cq_arm(struct vcx3_core *core, uint32_t cqn, enum vcx3_cq_arm command, uint32_t ci,
	    uint8_t sn)
{
	struct vcx3_cq *cq = find_cq(core, cqn);
	uint32_t words[] = { cqn | (uint32_t)command << 24 | (uint32_t)sn << 28, ci };

	if (cq == NULL) {
		if (core->config.strict)
			vcx3_violate(core, VCX3_STRICT_cq_arm_unknown, "cq", cqn, words, 2);
		return;
	}
	if (core->config.strict)
		check_record(core, cq, (words[0] & ~INDEX_MASK) | (ci & INDEX_MASK));
	count_arm(core, cq);
	core->now_ns = vcx3_core_now_ns(core);
	arm(core, cq, command, ci);
	try_fire(core, cq);
}

/* Arms by the record: a sequence number that has not fired yet (C.4). */
static void
watch_record(struct vcx3_core *core, struct vcx3_cq *cq)
{
	const uint8_t *record = vcx3_map_at(&cq->record, &core->memory, 0);
	uint32_t word;
	uint8_t sn, command;

	if (record == NULL)
		return;
	word = vcx3_load_published_be32(record + 4);
	sn = word >> 28 & 3;
	command = word >> 24 & 3;
	if (command == 0 || sn == cq->fired_sn)
		return;
	if (!cq->is_armed)
		count_arm(core, cq);
	arm(core, cq, command, word);
	if (try_fire(core, cq))
		cq->fired_sn = sn;
}

unsigned int
vcx3_cq_run(struct vcx3_core *core, struct vcx3_cq *cq)
{
	uint64_t fired = core->counters.completion_events;

	if (core->config.strict)
		read_consumer(core, cq);
	if (cq->attr.arm_by_record)
		watch_record(core, cq);
	else
		try_fire(core, cq);
	return core->counters.completion_events - fired;
}
