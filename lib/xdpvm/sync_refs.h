/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PROG_ARRAY and ARRAY_OF_MAPS in step with the kernel's. There a slot is written with a descriptor
 * and read as an id; here it points to a program or map of the same object. A program or map that
 * the object has not cannot be taken over: that counts as refused, and the slot stays as it was.
 * One thread at a time.
 */
#ifndef XDPVM_SYNC_REFS_H
#define XDPVM_SYNC_REFS_H

#include "map.h"
#include "xdpvm_sync.h"

struct xdpvm_sync_refs {
	struct xdpvm_map *map;
	uint32_t *kernel;	/* by slot: the id that was seen last, 0 for none */
	const void **own;	/* the pointer that was seen last */
};

/* The kernel's id of a program, 0 for NULL or when it has none; and the other way, or NULL. */
uint32_t xdpvm_sync_prog_id(const struct xdpvm_prog *prog);
struct xdpvm_prog *xdpvm_sync_prog_of(const struct xdpvm_object *object, uint32_t id);

bool xdpvm_sync_refs_wanted(const struct xdpvm_map *map);

/* 0 or -ENOMEM; to be ended with fini in either case. */
int xdpvm_sync_refs_init(struct xdpvm_sync_refs *refs, struct xdpvm_map *map);
void xdpvm_sync_refs_fini(struct xdpvm_sync_refs *refs);

void xdpvm_sync_refs_round(struct xdpvm_sync_refs *refs, struct xdpvm_sync_stats *stats);

#endif /* XDPVM_SYNC_REFS_H */
