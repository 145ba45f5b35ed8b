/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared receive queues. A WQE starts with a next segment of 16 bytes whose bytes 2-3
 * hold the index of the WQE that follows in the list, then data segments.
 */
#include <stdlib.h>

#include "device.h"

#define MAX_LOG_COUNT 16
#define MIN_LOG_STRIDE 5
#define MAX_LOG_STRIDE 10

static struct vcx3_srq *
find_srq(const struct vcx3_core *core, uint32_t srqn)
{
	return srqn < core->nb_srqs ? core->srqs[srqn] : NULL;
}

enum vcx3_status
vcx3_srq_create(struct vcx3_core *core, uint32_t srqn, const struct vcx3_srq_attr *attr)
{
	struct vcx3_srq *srq;

	if (srqn >= core->nb_srqs || core->srqs[srqn] != NULL)
		return VCX3_BAD_INDEX;
	if (attr->log_count > MAX_LOG_COUNT || attr->log_stride < MIN_LOG_STRIDE ||
	    attr->log_stride > MAX_LOG_STRIDE || attr->buffer.base % VCX3_SEGMENT != 0 ||
	    attr->record.base % 4 != 0)
		return VCX3_BAD_PARAM;
	srq = calloc(1, sizeof(*srq));
	if (srq == NULL)
		return VCX3_EXCEED_LIM;
	srq->attr = *attr;
	srq->srqn = srqn;
	if (vcx3_map_init(&srq->buffer, &core->memory, &attr->buffer,
			  UINT64_C(1) << (attr->log_count + attr->log_stride), false) != 0 ||
	    vcx3_map_init(&srq->record, &core->memory, &attr->record, 4, false) != 0) {
		vcx3_map_fini(&srq->buffer);
		free(srq);
		return VCX3_EXCEED_LIM;
	}
	core->srqs[srqn] = srq;
	core->counters.live_srqs++;
	return VCX3_OK;
}

void
vcx3_srq_release(struct vcx3_core *core, struct vcx3_srq *srq)
{
	core->srqs[srq->srqn] = NULL;
	core->counters.live_srqs--;
	vcx3_map_fini(&srq->buffer);
	vcx3_map_fini(&srq->record);
	free(srq);
}

enum vcx3_status
vcx3_srq_destroy(struct vcx3_core *core, uint32_t srqn)
{
	struct vcx3_srq *srq = find_srq(core, srqn);

	if (srq == NULL)
		return VCX3_BAD_INDEX;
	if (srq->users > 0)
		return VCX3_RESOURCE_BUSY;
	vcx3_srq_release(core, srq);
	return VCX3_OK;
}

enum vcx3_status
vcx3_srq_arm(struct vcx3_core *core, uint32_t srqn, uint16_t limit)
{
	struct vcx3_srq *srq = find_srq(core, srqn);

	if (srq == NULL)
		return VCX3_BAD_INDEX;
	srq->attr.limit = limit;
	return VCX3_OK;
}

enum vcx3_status
vcx3_srq_query(const struct vcx3_core *core, uint32_t srqn, struct vcx3_srq_attr *attr)
{
	const struct vcx3_srq *srq = find_srq(core, srqn);

	if (srq == NULL)
		return VCX3_BAD_INDEX;
	*attr = srq->attr;
	return VCX3_OK;
}

static uint16_t
read_available(struct vcx3_core *core, struct vcx3_srq *srq)
{
	const uint8_t *record = vcx3_map_at(&srq->record, &core->memory, 0);

	if (record != NULL)
		srq->posted = vcx3_load_published_be32(record);
	return (uint16_t)(srq->posted - srq->taken);
}

/* The WQE at the head of the list, or NULL. */
const uint8_t *
vcx3_srq_wqe(struct vcx3_core *core, struct vcx3_srq *srq)
{
	if ((uint16_t)(srq->posted - srq->taken) == 0 && read_available(core, srq) == 0)
		return NULL;
	return vcx3_map_at(&srq->buffer, &core->memory, (uint64_t)srq->next << srq->attr.log_stride);
}

void
vcx3_srq_take(struct vcx3_core *core, struct vcx3_srq *srq, const uint8_t *wqe)
{
	srq->next = vcx3_load_be16(wqe + 2) & ((1u << srq->attr.log_count) - 1);
	srq->taken++;
	if (srq->attr.limit == 0 || read_available(core, srq) >= srq->attr.limit)
		return;
	srq->attr.limit = 0;
	vcx3_raise(core, VCX3_EVENT_SRQ_LIMIT, srq->srqn, 0);
}
