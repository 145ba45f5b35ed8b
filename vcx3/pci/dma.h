/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The guest's memory as the device reaches it: the DMA regions that the VM has mapped.
 * A pointer is valid until the lock of the device is released, since an unmap is a
 * barrier (connectx3-pci.md A.2).
 */
#ifndef VCX3_PCI_DMA_H
#define VCX3_PCI_DMA_H

#include <stdbool.h>
#include <stdint.h>

#define VCX3_DMA_REGIONS 64
#define VCX3_DMA_PAGE 4096

struct vcx3_dma_region {
	uint64_t iova;
	uint64_t size;
	uint8_t *host; /* NULL: mapped without memory, every access is dropped */
	bool read;
	bool write;
};

struct vcx3_dma {
	struct vcx3_dma_region regions[VCX3_DMA_REGIONS];
	unsigned int nb;
};

/**
 * Adds a region; from then on it belongs to the table, which unmaps its memory.
 *
 * @return 0, -EINVAL (not whole pages, wraps), -EEXIST (overlaps), -ENOSPC.
 */
int vcx3_dma_add(struct vcx3_dma *dma, const struct vcx3_dma_region *region);

/** Removes the region of exactly this place. @return 0 or -ENOENT. */
int vcx3_dma_remove(struct vcx3_dma *dma, uint64_t iova, uint64_t size);

void vcx3_dma_remove_all(struct vcx3_dma *dma);

/** Where a range lies in this process; NULL unless one region allows all of it. */
uint8_t *vcx3_dma_at(const struct vcx3_dma *dma, uint64_t iova, uint64_t length, bool write);

#endif
