/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A map of the library beside a kernel map of the same definition, for tests that do the same to
 * both and expect the same.
 */
#ifndef MAP_PAIR_H
#define MAP_PAIR_H

#include "map.h"

struct map_pair {
	struct xdpvm_map map;
	int fd;		/* the kernel's */
	uint32_t cpus;	/* copies that a kernel's per-CPU value has */
};

/* The kernel's errno for creating it (negative) and the library's; both 0 when both exist. */
void map_pair_create(struct map_pair *pair, int *kernel, int *own);
void map_pair_destroy(struct map_pair *pair);

/* Ends the test with 77 when this process may not use bpf(2). */
void map_pair_need_kernel(void);

/* Bytes of what the kernel moves for one key. */
size_t map_pair_value_bytes(const struct map_pair *pair);

/*
 * Each does the same to both maps; ends the test when errno or values differ; returns the common
 * result, 0 or a negative errno. Values are as the kernel has them: cpus copies for per-CPU types.
 */
int map_pair_update(struct map_pair *pair, const void *key, const void *value, uint64_t flags);
int map_pair_lookup(struct map_pair *pair, const void *key);
int map_pair_delete(struct map_pair *pair, const void *key);
int map_pair_take(struct map_pair *pair, const void *key);

/* Both maps hold the same keys with the same values; returns how many. */
uint32_t map_pair_compare(struct map_pair *pair);

#endif /* MAP_PAIR_H */
