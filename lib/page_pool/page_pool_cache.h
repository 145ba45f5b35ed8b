/* SPDX-License-Identifier: BSD-3-Clause */

/**
 * @file
 * The recycle cache of one receive queue: 128 mbufs, last in first out, no lock.
 *
 * It is what the kernel's page_pool keeps per queue (PP_ALLOC_CACHE_SIZE, twice
 * the budget of a poll): pages that a transmit completion or a drop gave back, still mapped
 * and warm. One thread at a time may use a cache. Pages in a cache count as in
 * use for their pool.
 */

#ifndef PAGE_POOL_CACHE_H
#define PAGE_POOL_CACHE_H

#include <stdbool.h>
#include <string.h>

#include <rte_mbuf.h>

#include "page_pool.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Pages that a cache holds. */
#define PAGE_POOL_CACHE_SIZE 128u

/** A cache; all zeros is an empty one. */
struct page_pool_cache {
	uint32_t count; /**< Pages in the cache. */
	uint64_t alloc_fast; /**< Pages taken. */
	uint64_t recycle_cached; /**< Pages put. */
	uint64_t recycle_cache_full; /**< Pages refused. */
	uint64_t released_ref; /**< Pages that somebody else still refers to. */
	struct rte_mbuf *pages[PAGE_POOL_CACHE_SIZE] __rte_cache_aligned; /**< Oldest first. */
};

/** Make a cache empty and its counters 0. */
static inline void
page_pool_cache_init(struct page_pool_cache *cache)
{
	memset(cache, 0, sizeof(*cache));
}

/**
 * Put one page.
 *
 * @return
 *   Whether the cache took it; if not (full), it is still the caller's.
 */
static inline bool
page_pool_cache_push(struct page_pool_cache *cache, struct rte_mbuf *page)
{
	if (unlikely(cache->count == PAGE_POOL_CACHE_SIZE)) {
		cache->recycle_cache_full++;
		return false;
	}
	cache->pages[cache->count++] = page;
	cache->recycle_cached++;
	return true;
}

/** Take the page that was put last; NULL when the cache is empty. */
static inline struct rte_mbuf *
page_pool_cache_pop(struct page_pool_cache *cache)
{
	if (unlikely(cache->count == 0))
		return NULL;
	cache->alloc_fast++;
	return cache->pages[--cache->count];
}

/**
 * Put several pages, the first n of the array that fit.
 *
 * @return
 *   Pages taken over; the rest is still the caller's.
 */
static inline unsigned int
page_pool_cache_push_bulk(struct page_pool_cache *cache, struct rte_mbuf *const *pages,
			  unsigned int n)
{
	unsigned int taken = RTE_MIN(n, PAGE_POOL_CACHE_SIZE - cache->count);

	memcpy(&cache->pages[cache->count], pages, taken * sizeof(pages[0]));
	cache->count += taken;
	cache->recycle_cached += taken;
	cache->recycle_cache_full += n - taken;
	return taken;
}

/**
 * Take up to n pages, the one put last first.
 *
 * @return
 *   Pages in the array.
 */
static inline unsigned int
page_pool_cache_pop_bulk(struct page_pool_cache *cache, struct rte_mbuf **pages, unsigned int n)
{
	unsigned int taken = RTE_MIN(n, cache->count);
	unsigned int i;

	for (i = 0; i < taken; i++)
		pages[i] = cache->pages[--cache->count];
	cache->alloc_fast += taken;
	return taken;
}

/**
 * Give up a page: into the cache, over it into its mempool, or, while somebody
 * else refers to it, just drop this reference (the last holder returns it).
 *
 * @param page
 *   An unsegmented mbuf (nb_segs 1, no next) with its own buffer.
 */
static inline void
page_pool_cache_recycle(struct page_pool_cache *cache, struct rte_mbuf *page)
{
	if (unlikely(rte_mbuf_refcnt_read(page) != 1)) {
		cache->released_ref++;
		rte_pktmbuf_free_seg(page);
	} else if (unlikely(!page_pool_cache_push(cache, page))) {
		rte_mbuf_raw_free(page);
	}
}

/** Put all pages back into the mempool that they came from. */
static inline void
page_pool_cache_flush(struct page_pool_cache *cache, struct rte_mempool *mp)
{
	rte_mempool_put_bulk(mp, (void **)cache->pages, cache->count);
	cache->count = 0;
}

/** Add the counters of a cache to those of its pool. */
static inline void
page_pool_cache_stats_add(const struct page_pool_cache *cache, struct page_pool_stats *stats)
{
	stats->alloc_fast += cache->alloc_fast;
	stats->recycle_cached += cache->recycle_cached;
	stats->recycle_cache_full += cache->recycle_cache_full;
	stats->released_ref += cache->released_ref;
}

#ifdef __cplusplus
}
#endif

#endif /* PAGE_POOL_CACHE_H */
