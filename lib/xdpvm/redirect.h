/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What maps of redirect targets share: the rule of bpf_redirect_map(), and an array of 64-bit cells
 * that are read and written whole.
 */
#ifndef XDPVM_REDIRECT_H
#define XDPVM_REDIRECT_H

#include "map_array.h"

/*
 * Leaves the target in buff and returns XDP_REDIRECT, or the action in the low bits of flags when
 * there is no target. flags_allowed are the other flags that this type knows.
 */
static inline long
xdpvm_redirect_to(struct xdpvm_map *map, struct xdpvm_buff *buff, uint64_t flags,
		  uint64_t flags_allowed, const struct xdpvm_redirect *target)
{
	const uint64_t actions = XDP_ABORTED | XDP_DROP | XDP_PASS | XDP_TX;
	bool everyone = flags & BPF_F_BROADCAST;

	if (flags & ~(actions | flags_allowed))
		return XDP_ABORTED;
	if (target->value == NULL && !everyone) {
		buff->redirect.kind = XDPVM_REDIRECT_NONE;
		return flags & actions;
	}
	buff->redirect = *target;
	buff->redirect.map = map;
	buff->redirect.flags = everyone ? flags : 0;
	if (everyone)
		buff->redirect.kind = XDPVM_REDIRECT_DEV_ALL;
	return XDP_REDIRECT;
}

/*
 * Second programs of entries: in a value that comes in, bpf_prog.fd is the kernel's descriptor or
 * xdpvm_prog_ref() of a program of the same object. What is kept, and goes out as bpf_prog.id, is
 * its place in the object, from 1; 0 is none. False when there is no such program.
 */
bool xdpvm_entry_place(const struct xdpvm_map *map, int fd, uint32_t *place);

/* Cells: key_size 4; value_size 4 or, with value_8, 8. A cell of zero is empty. */
int xdpvm_cells_init(struct xdpvm_map *map, bool value_8, uint32_t flags_allowed);
void xdpvm_cells_fini(struct xdpvm_map *map);

/* The cell of a key when it is not empty, else NULL. */
void *xdpvm_cells_lookup(struct xdpvm_map *map, const void *key, struct xdpvm_buff *buff);
int xdpvm_cells_copy_out(struct xdpvm_map *map, const void *key, void *value);
int xdpvm_cells_remove(struct xdpvm_map *map, const void *key);

static inline uint64_t *
xdpvm_cell(const struct xdpvm_map *map, uint32_t index)
{
	return (uint64_t *)(void *)map->base + index;
}

#endif /* XDPVM_REDIRECT_H */
