/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one way to reach memory that software owns: an object plus an offset.
 *
 * An object is a range that is contiguous as software sees it. The flat backend (no
 * ops) takes its base as an address of this process; another backend translates page
 * by page and tells by the generation when earlier translations have become void.
 * A pointer that a map gives out is valid until the front end's lock is released.
 */
#ifndef VCX3_CORE_MEMORY_H
#define VCX3_CORE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Page size of objects of the flat backend: one page is everything. */
#define VCX3_LOG_PAGE_FLAT 63

/** Names memory. The core interprets only log_page, and base in the flat backend. */
struct vcx3_object {
	uint64_t base; /**< flat: address; else: offset into the table's first page */
	uint64_t table; /**< for the backend: where its page table is; 0 = base is a DMA address */
	uint8_t log_page; /**< pages of this size are contiguous; VCX3_LOG_PAGE_FLAT if all is */
};

/** A backend that translates. */
struct vcx3_memory_ops {
	/**
	 * Where the page (1 << log_page bytes) that holds this offset lies.
	 *
	 * @param offset
	 *   In object->base units: object->base + offset in the object, rounded down to a page.
	 * @return
	 *   Its address in this process, or NULL when nothing is mapped there, or not for writing.
	 */
	uint8_t *(*page)(void *ctx, const struct vcx3_object *object, uint64_t offset, bool write);
};

struct vcx3_memory {
	const struct vcx3_memory_ops *ops; /**< NULL: flat */
	void *ctx;
	uint32_t generation; /**< the front end adds 1 when translations have become void */
};

/** Names memory by address, flat backend. */
static inline struct vcx3_object
vcx3_object_flat(const void *address)
{
	return (struct vcx3_object){ .base = (uintptr_t)address, .log_page = VCX3_LOG_PAGE_FLAT };
}

/** Cached translation of one object: direct-mapped by page number. */
struct vcx3_map {
	struct vcx3_object object;
	uint64_t page_mask; /* offset in a page */
	uint32_t slot_mask;
	uint32_t generation;
	bool write;
	struct vcx3_map_slot {
		uint64_t page; /* page number + 1, 0 = empty */
		uintptr_t host; /* of the first byte of the page */
	} *slots;
};

/**
 * Prepares the cache of one object.
 *
 * @param size
 *   Bytes that will be used; decides the number of slots (at most 64).
 * @return 0 or -ENOMEM.
 */
int vcx3_map_init(struct vcx3_map *map, const struct vcx3_memory *memory,
		  const struct vcx3_object *object, uint64_t size, bool write);

/** Frees the cache; harmless on a zeroed map. */
void vcx3_map_fini(struct vcx3_map *map);

/** The slow half of vcx3_map_at(). */
uint8_t *vcx3_map_fill(struct vcx3_map *map, const struct vcx3_memory *memory, uint64_t position);

/**
 * The address of one byte of the object.
 *
 * Bytes up to the end of its page follow; vcx3_map_run() tells how many. Rings
 * guarantee that no entry crosses a page.
 *
 * @return NULL when there is no memory.
 */
static inline uint8_t *
vcx3_map_at(struct vcx3_map *map, const struct vcx3_memory *memory, uint64_t offset)
{
	uint64_t position = map->object.base + offset;
	uint64_t page = (position >> map->object.log_page) + 1;
	struct vcx3_map_slot *slot = &map->slots[page & map->slot_mask];

	if (slot->page == page && map->generation == memory->generation)
		return (uint8_t *)(slot->host + (position & map->page_mask));
	return vcx3_map_fill(map, memory, position);
}

/** How many bytes are contiguous at an offset of the object. */
static inline uint64_t
vcx3_map_run(const struct vcx3_map *map, uint64_t offset)
{
	return map->page_mask + 1 - ((map->object.base + offset) & map->page_mask);
}

#endif
