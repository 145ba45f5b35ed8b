/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Context memory (ICM): the device's own address space, whose pages the driver gives.
 * The driver writes address translation entries (MTT) straight into it, so it is the
 * one part of the device's memory that this model reads; all contexts live in the core.
 * (connectx3-pci.md B.4, B.9)
 */
#ifndef VCX3_PCI_ICM_H
#define VCX3_PCI_ICM_H

#include <stdint.h>

#include "../core/memory.h"
#include "../core/status.h"
#include "dma.h"

struct vcx3_icm_chunk {
	uint64_t virt;
	uint64_t dma;
	uint64_t size;
};

struct vcx3_icm {
	struct vcx3_icm_chunk *chunks; /* sorted by virt, no overlap */
	uint32_t nb;
	uint32_t room;
	uint64_t mtt_base;
	const struct vcx3_dma *regions;
};

/** Adds pages at a place of the context memory. */
enum vcx3_status vcx3_icm_map(struct vcx3_icm *icm, uint64_t virt, uint64_t dma, uint64_t size);

/** Takes pages away; a chunk goes as a whole or not at all. */
enum vcx3_status vcx3_icm_unmap(struct vcx3_icm *icm, uint64_t virt, uint64_t size);

void vcx3_icm_clear(struct vcx3_icm *icm);

/** An object whose pages stand in the MTT from this address on. */
struct vcx3_object vcx3_icm_object(uint64_t mtt_address, uint8_t log_page, uint64_t offset);

/** An object that is named by its DMA address. */
struct vcx3_object vcx3_dma_object(uint64_t iova);

/** Translation for the core and the event queues; the context is a struct vcx3_icm. */
extern const struct vcx3_memory_ops vcx3_icm_memory_ops;

#endif
