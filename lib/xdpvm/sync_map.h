/* SPDX-License-Identifier: BSD-3-Clause */
/* The three-way merge of one map with the kernel's. One thread at a time. */
#ifndef XDPVM_SYNC_MAP_H
#define XDPVM_SYNC_MAP_H

#include "map.h"
#include "shadow.h"
#include "xdpvm_sync.h"

struct xdpvm_sync_map {
	struct xdpvm_map *map;
	struct xdpvm_shadow shadow;
	uint32_t copies;	/* of a value in the kernel */
	uint32_t step;		/* bytes from one copy to the next */
	uint32_t batch;		/* entries that keys and values have room for */
	uint32_t limit;		/* thread numbers below it have what tools wrote */
	uint8_t *keys;
	uint8_t *values;
	uint8_t *token;		/* where a walk through the kernel's map is, and the next place */
	uint8_t *value;		/* one value in the kernel's layout, and a second one */
	uint8_t *own;		/* one value with the copies of all threads */
	int error;		/* of the last round */
	bool inserted;		/* something was put into the kernel's map since it was read */
};

/* Whether a map of this type is compared at all. */
bool xdpvm_sync_map_wanted(const struct xdpvm_map *map);

/* 0 or -ENOMEM; to be ended with fini in either case. */
int xdpvm_sync_map_init(struct xdpvm_sync_map *sync, struct xdpvm_map *map);
void xdpvm_sync_map_fini(struct xdpvm_sync_map *sync);

/* One round. 0, or the error with which the kernel's map could not be read. */
int xdpvm_sync_map_round(struct xdpvm_sync_map *sync, struct xdpvm_sync_stats *stats);

#endif /* XDPVM_SYNC_MAP_H */
