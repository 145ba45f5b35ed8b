/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The free elements of a hash map, by number, first in, first out: an element rests as long as
 * possible before it is used again, for readers that still look at it.
 */
#ifndef XDPVM_HASH_POOL_H
#define XDPVM_HASH_POOL_H

#include <stdbool.h>
#include <stdint.h>

struct xdpvm_hash_pool {
	uint32_t lock;
	uint32_t head;		/* of the ring: free for longest */
	uint32_t count;
	uint32_t size;		/* numbers are below it */
	uint32_t *ring;
};

/* All numbers free. 0 or -ENOMEM. */
int xdpvm_hash_pool_init(struct xdpvm_hash_pool *pool, uint32_t size);
void xdpvm_hash_pool_fini(struct xdpvm_hash_pool *pool);

/* False when none is free. */
bool xdpvm_hash_pool_get(struct xdpvm_hash_pool *pool, uint32_t *index);
void xdpvm_hash_pool_put(struct xdpvm_hash_pool *pool, uint32_t index);

#endif /* XDPVM_HASH_POOL_H */
