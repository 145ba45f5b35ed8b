/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The map of the context memory and the way from an object to the guest's memory:
 * MTT entry -> page's DMA address -> region.
 */
#include <stdlib.h>
#include <string.h>

#include "be.h"
#include "icm.h"

#define MAX_CHUNKS 65536
#define MTT_OBJECT (UINT64_C(1) << 63) /* tells an MTT at address 0 from no MTT */
#define MTT_ADDRESS_MASK ((UINT64_C(1) << 40) - 1)
#define MTT_PRESENT 1
#define MTT_FLAGS 7
#define LOG_PAGE_MAX 31

/* The first chunk that ends behind an address. */
static uint32_t
find(const struct vcx3_icm *icm, uint64_t virt)
{
	uint32_t low = 0, high = icm->nb;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (icm->chunks[middle].virt + icm->chunks[middle].size <= virt)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static enum vcx3_status
make_room(struct vcx3_icm *icm)
{
	uint32_t room = icm->room != 0 ? icm->room * 2 : 128;
	struct vcx3_icm_chunk *chunks;

	if (icm->nb < icm->room)
		return VCX3_OK;
	if (room > MAX_CHUNKS)
		return VCX3_EXCEED_LIM;
	chunks = realloc(icm->chunks, room * sizeof(*chunks));
	if (chunks == NULL)
		return VCX3_EXCEED_LIM;
	icm->chunks = chunks;
	icm->room = room;
	return VCX3_OK;
}

enum vcx3_status
vcx3_icm_map(struct vcx3_icm *icm, uint64_t virt, uint64_t dma, uint64_t size)
{
	uint32_t at;
	enum vcx3_status status;

	if (size == 0 || (virt | dma | size) % VCX3_DMA_PAGE != 0 || virt + size < virt)
		return VCX3_BAD_PARAM;
	at = find(icm, virt);
	if (at < icm->nb && icm->chunks[at].virt < virt + size)
		return VCX3_BAD_PARAM;
	status = make_room(icm);
	if (status != VCX3_OK)
		return status;
	memmove(&icm->chunks[at + 1], &icm->chunks[at], (icm->nb - at) * sizeof(*icm->chunks));
	icm->chunks[at] = (struct vcx3_icm_chunk){ .virt = virt, .dma = dma, .size = size };
	icm->nb++;
	return VCX3_OK;
}

enum vcx3_status
vcx3_icm_unmap(struct vcx3_icm *icm, uint64_t virt, uint64_t size)
{
	uint32_t first = find(icm, virt), last = first;

	if (virt + size < virt)
		return VCX3_BAD_PARAM;
	while (last < icm->nb && icm->chunks[last].virt < virt + size) {
		if (icm->chunks[last].virt < virt ||
		    icm->chunks[last].virt + icm->chunks[last].size > virt + size)
			return VCX3_BAD_PARAM;
		last++;
	}
	if (last == first)
		return VCX3_OK;
	memmove(&icm->chunks[first], &icm->chunks[last], (icm->nb - last) * sizeof(*icm->chunks));
	icm->nb -= last - first;
	return VCX3_OK;
}

void
vcx3_icm_clear(struct vcx3_icm *icm)
{
	free(icm->chunks);
	icm->chunks = NULL;
	icm->nb = 0;
	icm->room = 0;
	icm->mtt_base = 0;
}

struct vcx3_object
vcx3_icm_object(uint64_t mtt_address, uint8_t log_page, uint64_t offset)
{
	return (struct vcx3_object){
		.base = offset,
		.table = MTT_OBJECT | (mtt_address & MTT_ADDRESS_MASK),
		.log_page = log_page,
	};
}

struct vcx3_object
vcx3_dma_object(uint64_t iova)
{
	return (struct vcx3_object){ .base = iova, .log_page = 12 };
}

/* One translation entry; 0 when it cannot be read or is not present. */
static uint64_t
read_mtt(const struct vcx3_icm *icm, uint64_t virt)
{
	uint32_t at = find(icm, virt);
	const uint8_t *entry;
	uint64_t value;

	if (at == icm->nb || icm->chunks[at].virt > virt)
		return 0;
	entry = vcx3_dma_at(icm->regions, icm->chunks[at].dma + (virt - icm->chunks[at].virt),
			    sizeof(value), false);
	if (entry == NULL)
		return 0;
	value = be64toh(__atomic_load_n((const uint64_t *)entry, __ATOMIC_RELAXED));
	return (value & MTT_PRESENT) != 0 ? value : 0;
}

static uint8_t *
find_page(void *ctx, const struct vcx3_object *object, uint64_t offset, bool write)
{
	const struct vcx3_icm *icm = ctx;
	uint64_t index = offset >> object->log_page, entry;
	uint64_t size = UINT64_C(1) << object->log_page;

	if (object->table == 0)
		return vcx3_dma_at(icm->regions, offset, size, write);
	if (object->log_page > LOG_PAGE_MAX || index >= MTT_ADDRESS_MASK / 8)
		return NULL;
	entry = read_mtt(icm, icm->mtt_base + ((object->table & MTT_ADDRESS_MASK & ~UINT64_C(7)) +
					       index * 8));
	if (entry == 0)
		return NULL;
	return vcx3_dma_at(icm->regions, entry & ~(size - 1) & ~(uint64_t)MTT_FLAGS, size, write);
}

const struct vcx3_memory_ops vcx3_icm_memory_ops = { .page = find_page };
