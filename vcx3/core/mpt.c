/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory keys: the table, the check of each access, and copies through a key.
 */
#include <stdlib.h>
#include <string.h>

#include "device.h"

enum vcx3_status
vcx3_mpt_create(struct vcx3_core *core, uint32_t key, const struct vcx3_mpt_attr *attr)
{
	uint32_t index = vcx3_mpt_index(key) & (core->nb_mpts - 1);
	struct vcx3_mpt *mpt;

	if (core->mpts[index] != NULL || key == VCX3_INVALID_LKEY)
		return VCX3_BAD_INDEX;
	if (attr->length == 0 || (attr->length != VCX3_MPT_UNLIMITED &&
				  attr->start + attr->length - 1 < attr->start))
		return VCX3_BAD_PARAM;
	mpt = calloc(1, sizeof(*mpt));
	if (mpt == NULL)
		return VCX3_EXCEED_LIM;
	mpt->key = key;
	mpt->attr = *attr;
	if (vcx3_map_init(&mpt->map, &core->memory, &attr->object, attr->length,
			  attr->access & VCX3_ACCESS_LOCAL_WRITE) != 0) {
		free(mpt);
		return VCX3_EXCEED_LIM;
	}
	core->mpts[index] = mpt;
	core->counters.live_mpts++;
	core->counters.registrations++;
	if (attr->length != VCX3_MPT_UNLIMITED)
		core->counters.registered_bytes += attr->length;
	return VCX3_OK;
}

enum vcx3_status
vcx3_mpt_destroy(struct vcx3_core *core, uint32_t key)
{
	uint32_t index = vcx3_mpt_index(key) & (core->nb_mpts - 1);
	struct vcx3_mpt *mpt = core->mpts[index];

	if (mpt == NULL)
		return VCX3_BAD_INDEX;
	core->mpts[index] = NULL;
	core->mpt_generation++;
	core->counters.live_mpts--;
	core->counters.deregistrations++;
	if (mpt->attr.length != VCX3_MPT_UNLIMITED)
		core->counters.registered_bytes -= mpt->attr.length;
	vcx3_map_fini(&mpt->map);
	free(mpt);
	return VCX3_OK;
}

enum vcx3_status
vcx3_mpt_query(const struct vcx3_core *core, uint32_t key, struct vcx3_mpt_attr *attr)
{
	struct vcx3_mpt *mpt = core->mpts[vcx3_mpt_index(key) & (core->nb_mpts - 1)];

	if (mpt == NULL)
		return VCX3_BAD_INDEX;
	*attr = mpt->attr;
	return VCX3_OK;
}

struct vcx3_mpt *
vcx3_mpt_lookup(const struct vcx3_core *core, uint32_t key, struct vcx3_key_cache *cache)
{
	struct vcx3_mpt *mpt = core->mpts[vcx3_mpt_index(key) & (core->nb_mpts - 1)];

	if (mpt == NULL || mpt->key != key)
		return NULL;
	*cache = (struct vcx3_key_cache){ key, core->mpt_generation, mpt };
	return cache->mpt;
}

/* Small frames are the rule in benchmarks: two overlapping moves, no call. */
static inline void
copy(uint8_t *to, const uint8_t *from, uint64_t len)
{
	uint8_t head[32], tail[32];

	if (len < 32 || len > 64) {
		memcpy(to, from, len);
		return;
	}
	memcpy(head, from, 32);
	memcpy(tail, from + len - 32, 32);
	memcpy(to, head, 32);
	memcpy(to + len - 32, tail, 32);
}

bool
vcx3_span_read(const struct vcx3_core *core, struct vcx3_span *span, void *to, uint64_t len)
{
	uint8_t *byte = to;

	while (len > 0) {
		const uint8_t *from = vcx3_map_at(&span->mpt->map, &core->memory, span->offset);
		uint64_t run = vcx3_map_run(&span->mpt->map, span->offset);

		if (from == NULL)
			return false;
		if (run > len)
			run = len;
		copy(byte, from, run);
		byte += run;
		span->offset += run;
		len -= run;
	}
	return true;
}

bool
vcx3_span_write(const struct vcx3_core *core, struct vcx3_span *span, const void *from,
		uint64_t len)
{
	const uint8_t *byte = from;

	while (len > 0) {
		uint8_t *to = vcx3_map_at(&span->mpt->map, &core->memory, span->offset);
		uint64_t run = vcx3_map_run(&span->mpt->map, span->offset);

		if (to == NULL)
			return false;
		if (run > len)
			run = len;
		copy(to, byte, run);
		if (core->config.cold_data)
			vcx3_make_cold(core, to, run);
		byte += run;
		span->offset += run;
		len -= run;
	}
	return true;
}
