/* SPDX-License-Identifier: BSD-3-Clause */

/* The life of a pool and what it tells: create, free, geometry, counters, leaks. */

#include <errno.h>
#include <inttypes.h>

#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_spinlock.h>

#include "page_pool_private.h"

/* Pages that leave no trace in the ring: with per-lcore caches of the mempool. */
static uint64_t
mempool_cached(const struct rte_mempool *mp)
{
	uint64_t cached = 0;
	unsigned int lcore;

	for (lcore = 0; mp->cache_size != 0 && lcore < RTE_MAX_LCORE; lcore++)
		cached += mp->local_cache[lcore].len;
	return cached;
}

static void
snapshot(struct page_pool *pool, struct page_pool_stats *stats)
{
	bool high_order = pool->layout.block_size > PAGE_POOL_PAGE_SIZE;

	page_pool_lock(pool);
	*stats = (struct page_pool_stats) {
		.alloc_slow = high_order ? 0 : pool->alloc_slow,
		.alloc_slow_ho = high_order ? pool->alloc_slow : 0,
		.alloc_empty = pool->alloc_empty,
		.alloc_refill = pool->alloc_refill,
		.alloc_waive = pool->alloc_waive,
		.recycle_ring = pool->recycle_ring,
		.recycle_ring_full = pool->recycle_ring_full,
		.inflight = pool->hold - pool->release,
		.inflight_bytes = pool->held_bytes,
		.hold = pool->hold,
		.release = pool->release,
		.taken = pool->taken,
		.in_ring = pool->nb_ring,
		.dma_map_calls = pool->dma_map_calls,
		.dma_unmap_calls = pool->dma_unmap_calls,
		.dma_mapped_bytes = pool->dma_mapped_bytes,
		.dma_map_error = pool->dma_map_error,
		.cache_alloc_err = pool->cache_alloc_err,
		.rq_alloc_err = pool->rq_alloc_err,
	};
	page_pool_unlock(pool);
}

int
page_pool_stats_get(const struct rte_mempool *mp, struct page_pool_stats *stats)
{
	struct page_pool *pool = page_pool_of(mp);
	uint64_t out;

	if (pool == NULL)
		return -EINVAL;
	snapshot(pool, stats);
	out = stats->taken - stats->recycle_ring;
	/* An lcore may move pages between the two reads. */
	stats->in_mempool_cache = RTE_MIN(mempool_cached(mp), out);
	stats->in_use = out - stats->in_mempool_cache;
	return 0;
}

const char *
page_pool_stats_name(unsigned int index)
{
#define NAME(field, meaning) #field,
	static const char *const names[] = { PAGE_POOL_STATS(NAME) };
#undef NAME

	return index < RTE_DIM(names) ? names[index] : NULL;
}

int
page_pool_geometry_get(const struct rte_mempool *mp, struct page_pool_geometry *geometry)
{
	const struct page_pool *pool = page_pool_of(mp);

	if (pool == NULL)
		return -EINVAL;
	*geometry = (struct page_pool_geometry) {
		.layout = pool->layout,
		.obj_offset = pool->header_size,
		.buf_offset = pool->buf_offset,
		.buf_size = pool->buf_size,
		.map_unit = pool->map_unit,
	};
	return 0;
}

/* A pool is about to be freed: its memory leaves, whoever still holds pages of it. */
static void
on_mempool_event(enum rte_mempool_event event, struct rte_mempool *mp, void *arg)
{
	struct page_pool_stats stats;

	if (event != RTE_MEMPOOL_EVENT_DESTROY || page_pool_stats_get(mp, &stats) < 0)
		return;
	/* A failed populate has drained the ring: then nothing is with the application. */
	if (stats.in_use != 0 && mp->populated_size != 0)
		PAGE_POOL_LOG(WARNING, "%s: freed with %" PRIu64 " pages in flight\n", mp->name,
			stats.in_use);
	page_pool_memory_unmap_all(mp);
	page_pool_stats_get(mp, &stats);
	if (stats.dma_map_calls != stats.dma_unmap_calls)
		PAGE_POOL_LOG(WARNING, "%s: freed with %" PRIu64 " bytes still mapped\n", mp->name,
			stats.dma_mapped_bytes);
}

int
page_pool_watch_destroy(void)
{
	static rte_spinlock_t lock = RTE_SPINLOCK_INITIALIZER;
	static bool watching;
	int ret = 0;

	rte_spinlock_lock(&lock);
	if (!watching) {
		ret = rte_mempool_event_callback_register(on_mempool_event, NULL);
		watching = ret == 0;
	}
	rte_spinlock_unlock(&lock);
	return ret < 0 ? -rte_errno : 0;
}

int
page_pool_free(struct rte_mempool *mp)
{
	struct page_pool_stats stats;

	if (page_pool_stats_get(mp, &stats) < 0)
		return -EINVAL;
	if (stats.in_use != 0) {
		PAGE_POOL_LOG(WARNING, "%s: not freed, %" PRIu64 " pages are in flight\n",
			mp->name, stats.in_use);
		return -EBUSY;
	}
	rte_mempool_free(mp);
	return 0;
}

static int
pktmbuf_populate(struct rte_mempool *mp, uint16_t priv_size, uint16_t data_room_size,
		 const struct page_pool_config *config)
{
	struct rte_pktmbuf_pool_private priv = {
		.mbuf_data_room_size = data_room_size,
		.mbuf_priv_size = priv_size,
	};
	int ret;

	ret = rte_mempool_set_ops_byname(mp, PAGE_POOL_OPS, (void *)(uintptr_t)config);
	if (ret < 0)
		return ret;
	rte_pktmbuf_pool_init(mp, &priv);
	ret = rte_mempool_populate_default(mp);
	mp->pool_config = NULL;
	return ret;
}

struct rte_mempool *
page_pool_create(const char *name, unsigned int n, unsigned int cache_size, uint16_t priv_size,
		 uint16_t data_room_size, int socket_id, const struct page_pool_config *config)
{
	struct rte_mempool *mp;
	int ret;

	if (priv_size % RTE_MBUF_PRIV_ALIGN != 0) {
		PAGE_POOL_LOG(ERR, "%s: a private area of %u bytes is not a multiple of %u\n", name,
			priv_size, RTE_MBUF_PRIV_ALIGN);
		rte_errno = EINVAL;
		return NULL;
	}
	mp = rte_mempool_create_empty(name, n, sizeof(struct rte_mbuf) + priv_size + data_room_size,
		cache_size, sizeof(struct rte_pktmbuf_pool_private), socket_id, 0);
	if (mp == NULL)
		return NULL;
	ret = pktmbuf_populate(mp, priv_size, data_room_size, config);
	if (ret < 0) {
		rte_mempool_free(mp);
		rte_errno = -ret;
		return NULL;
	}
	rte_mempool_obj_iter(mp, rte_pktmbuf_init, NULL);
	return mp;
}
