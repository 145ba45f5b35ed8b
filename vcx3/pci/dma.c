/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of DMA regions and the translation of an address through it.
 */
#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#include "dma.h"

static bool
overlaps(const struct vcx3_dma_region *a, const struct vcx3_dma_region *b)
{
	return a->iova < b->iova + b->size && b->iova < a->iova + a->size;
}

int
vcx3_dma_add(struct vcx3_dma *dma, const struct vcx3_dma_region *region)
{
	unsigned int i;

	if (region->size == 0 || (region->iova | region->size) % VCX3_DMA_PAGE != 0 ||
	    region->iova + region->size < region->iova)
		return -EINVAL;
	for (i = 0; i < dma->nb; i++)
		if (overlaps(&dma->regions[i], region))
			return -EEXIST;
	if (dma->nb == VCX3_DMA_REGIONS)
		return -ENOSPC;
	dma->regions[dma->nb++] = *region;
	return 0;
}

static void
forget(struct vcx3_dma *dma, unsigned int i)
{
	if (dma->regions[i].host != NULL)
		munmap(dma->regions[i].host, dma->regions[i].size);
	dma->regions[i] = dma->regions[--dma->nb];
}

int
vcx3_dma_remove(struct vcx3_dma *dma, uint64_t iova, uint64_t size)
{
	unsigned int i;

	for (i = 0; i < dma->nb; i++) {
		if (dma->regions[i].iova != iova || dma->regions[i].size != size)
			continue;
		forget(dma, i);
		return 0;
	}
	return -ENOENT;
}

void
vcx3_dma_remove_all(struct vcx3_dma *dma)
{
	while (dma->nb > 0)
		forget(dma, dma->nb - 1);
}

uint8_t *
vcx3_dma_at(const struct vcx3_dma *dma, uint64_t iova, uint64_t length, bool write)
{
	unsigned int i;

	for (i = 0; i < dma->nb; i++) {
		const struct vcx3_dma_region *region = &dma->regions[i];

		if (iova < region->iova || iova - region->iova >= region->size)
			continue;
		if (length > region->size - (iova - region->iova) || region->host == NULL ||
		    (write ? !region->write : !region->read))
			return NULL;
		return region->host + (iova - region->iova);
	}
	return NULL;
}
