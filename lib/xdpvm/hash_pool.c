/* SPDX-License-Identifier: BSD-3-Clause */
/* The ring of free elements; see hash_pool.h. */
#include <errno.h>
#include <stdlib.h>

#include "hash_pool.h"
#include "spin.h"

int
xdpvm_hash_pool_init(struct xdpvm_hash_pool *pool, uint32_t size)
{
	*pool = (struct xdpvm_hash_pool){ .count = size, .size = size };
	pool->ring = malloc(size * sizeof(*pool->ring));
	if (pool->ring == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < size; i++)
		pool->ring[i] = i;
	return 0;
}

void
xdpvm_hash_pool_fini(struct xdpvm_hash_pool *pool)
{
	free(pool->ring);
}

bool
xdpvm_hash_pool_get(struct xdpvm_hash_pool *pool, uint32_t *index)
{
	bool found;

	xdpvm_spin_lock(&pool->lock);
	found = pool->count > 0;
	if (found) {
		*index = pool->ring[pool->head];
		pool->head = pool->head + 1 < pool->size ? pool->head + 1 : 0;
		pool->count--;
	}
	xdpvm_spin_unlock(&pool->lock);
	return found;
}

void
xdpvm_hash_pool_put(struct xdpvm_hash_pool *pool, uint32_t index)
{
	uint64_t tail;

	xdpvm_spin_lock(&pool->lock);
	tail = (uint64_t)pool->head + pool->count;
	pool->ring[tail < pool->size ? tail : tail - pool->size] = index;
	pool->count++;
	xdpvm_spin_unlock(&pool->lock);
}
