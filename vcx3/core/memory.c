/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The slow half of memory access: filling a map's translation cache.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

#define MAX_SLOTS 64

int
vcx3_map_init(struct vcx3_map *map, const struct vcx3_memory *memory,
	      const struct vcx3_object *object, uint64_t size, bool write)
{
	uint64_t pages = ((object->base + size - 1) >> object->log_page) -
			 (object->base >> object->log_page) + 1;
	uint32_t slots = 1;

	while (slots < pages && slots < MAX_SLOTS)
		slots <<= 1;
	*map = (struct vcx3_map){
		.object = *object,
		.page_mask = (UINT64_C(1) << object->log_page) - 1,
		.slot_mask = slots - 1,
		.generation = memory->generation,
		.write = write,
		.slots = calloc(slots, sizeof(*map->slots)),
	};
	return map->slots != NULL ? 0 : -ENOMEM;
}

void
vcx3_map_fini(struct vcx3_map *map)
{
	free(map->slots);
	map->slots = NULL;
}

uint8_t *
vcx3_map_fill(struct vcx3_map *map, const struct vcx3_memory *memory, uint64_t position)
{
	uint64_t page = (position >> map->object.log_page) + 1;
	struct vcx3_map_slot *slot = &map->slots[page & map->slot_mask];
	uint64_t start = position & ~map->page_mask;
	uintptr_t host = start;

	if (map->generation != memory->generation) {
		memset(map->slots, 0, (map->slot_mask + 1) * sizeof(*map->slots));
		map->generation = memory->generation;
	}
	if (memory->ops != NULL)
		host = (uintptr_t)memory->ops->page(memory->ctx, &map->object, start, map->write);
	if (host == 0 && memory->ops != NULL)
		return NULL;
	*slot = (struct vcx3_map_slot){ .page = page, .host = host };
	return (uint8_t *)(host + (position & map->page_mask));
}
