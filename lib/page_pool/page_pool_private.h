/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The state of a pool, for the files of this library. It lies in shared memory and
 * holds no pointer to code and none to process-private memory, so that secondary
 * processes get and put pages as the primary does.
 *
 * ops.c      the mempool handler: placement, get, put
 * memory.c   memory that enters and leaves: chunks, mappers, trim
 * pool.c     create, free, geometry, counters
 * layout.c   arithmetic of placement
 * fault.c    fault injection
 */

#ifndef PAGE_POOL_PRIVATE_H
#define PAGE_POOL_PRIVATE_H

#include <stdbool.h>

#include <rte_log.h>
#include <rte_pause.h>

#include "page_pool.h"

extern int page_pool_logtype;
#define PAGE_POOL_LOG(level, ...) \
	rte_log(RTE_LOG_ ## level, page_pool_logtype, "page_pool: " __VA_ARGS__)

struct page_pool_chunk;

/*
 * The ring is a stack, so that the page that came back last, still warm, leaves
 * first. Pages that were never handed out lie at its bottom.
 *
 *   objs:  [ fresh | recycled |  free slots  | trimmed ]
 *          0     nb_fresh   nb_ring   size - nb_trimmed   size
 */
struct page_pool {
	/* Every get and put; one cache line. */
	uint32_t lock;
	uint32_t nb_ring;
	uint32_t floor; /* a get that leaves this many is served in a hurry: nb_fresh or no limit */
	uint32_t nb_pages; /* hold - release */
	uint64_t taken;
	uint64_t recycle_ring;
	uint64_t alloc_refill;

	/* Fresh pages, errors and control. */
	uint32_t nb_fresh __rte_cache_aligned;
	uint32_t nb_trimmed;
	uint32_t size; /* slots of objs */
	uint32_t min_block; /* smallest block that a fall-back uses */
	uint32_t map_unit;
	uint32_t header_size;
	uint32_t buf_offset;
	uint32_t buf_size;
	struct page_pool_layout layout;
	bool get_fault; /* floor is no limit: every get asks for its fault */
	uint64_t alloc_slow;
	uint64_t alloc_empty;
	uint64_t alloc_waive;
	uint64_t recycle_ring_full;
	uint64_t hold;
	uint64_t release;
	uint64_t held_bytes;
	uint64_t dma_map_calls;
	uint64_t dma_unmap_calls;
	uint64_t dma_mapped_bytes;
	uint64_t dma_map_error;
	uint64_t cache_alloc_err;
	uint64_t rq_alloc_err;
	struct page_pool_chunk **chunks; /* by address */
	uint32_t nb_chunks;

	void *objs[] __rte_cache_aligned;
};

_Static_assert(offsetof(struct page_pool, nb_fresh) == RTE_CACHE_LINE_SIZE,
	       "what each get and put touches is one cache line");

/*
 * A lock that is released by a plain store: rte_spinlock pays a second locked
 * instruction on x86, and with it a get costs more than that of a ring.
 */
static inline void
page_pool_lock(struct page_pool *pool)
{
	while (unlikely(__atomic_exchange_n(&pool->lock, 1, __ATOMIC_ACQUIRE) != 0))
		while (__atomic_load_n(&pool->lock, __ATOMIC_RELAXED) != 0)
			rte_pause();
}

static inline void
page_pool_unlock(struct page_pool *pool)
{
	__atomic_store_n(&pool->lock, 0, __ATOMIC_RELEASE);
}

/* To be called with the lock held whenever what the floor depends on changes. */
static inline void
page_pool_set_floor(struct page_pool *pool)
{
	pool->floor = pool->get_fault ? UINT32_MAX : pool->nb_fresh;
}

/* The state of a mempool, NULL when it has another handler or no memory yet. */
struct page_pool *page_pool_of(const struct rte_mempool *mp);

/* Put pages that were not in the pool at the bottom of the ring; lock held. */
void page_pool_insert_fresh(struct page_pool *pool, void *const *objs, unsigned int n);

/* Records and maps the memory of objects that are about to enter: [begin, end). */
int page_pool_memory_enter(struct rte_mempool *mp, void *const *objs, unsigned int n,
			   uintptr_t begin, uintptr_t end);

/* Unmaps the memory of a pool that is about to be freed, for every device. */
void page_pool_memory_unmap_all(struct rte_mempool *mp);

/* Frees the records of a pool's memory. */
void page_pool_memory_forget(struct page_pool *pool);

/* Has the destruction of pools in this process reported; 0 or a negative errno. */
int page_pool_watch_destroy(void);

/* Whether a step is to fail now. */
bool page_pool_fault_hit(enum page_pool_fault_site site);
/* Whether a fault is armed at all. */
bool page_pool_fault_armed(enum page_pool_fault_site site);

#endif /* PAGE_POOL_PRIVATE_H */
