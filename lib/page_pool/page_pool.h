/* SPDX-License-Identifier: BSD-3-Clause */

/**
 * @file
 * Page pool: a mempool handler with the semantics of the Linux page_pool.
 *
 * The handler is chosen by name, so no application changes: EAL option
 * --mbuf-pool-ops-name, rte_pktmbuf_pool_create_by_ops(), or
 * rte_mbuf_set_platform_mempool_ops(). Two names are registered:
 *
 * - "page_pool": one object per 4 KiB page (an object that is larger than a
 *   page owns the next power of two of pages). Mempool header, mbuf, private
 *   area, headroom and data lie in one page; no page is shared or straddled.
 * - "page_pool_packed": as many objects as fit in each 32 KiB block.
 *
 * The rest of a page belongs to the buffer that lives there: the data room of
 * a pktmbuf pool is raised to what is really there, before its mbufs are
 * built. So a pool with the usual 2176 bytes of data room holds frames of 3136
 * bytes with the full headroom of an XDP program; one that asks for 3904 gets
 * frames of 3648 bytes, and has its mbufs in fewer sets of the caches (see
 * page_pool_layout.nb_colours).
 *
 * Memory is mapped for a device when the device is attached or when memory
 * enters the pool, whichever comes last, and unmapped when it leaves. Getting
 * and putting a page never maps, allocates, logs or makes a system call.
 *
 * A page of this library is one object: a mempool element and its header.
 */

#ifndef PAGE_POOL_H
#define PAGE_POOL_H

#include <stddef.h>
#include <stdint.h>

#include <rte_mempool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Name of the handler with one object per page. */
#define PAGE_POOL_OPS "page_pool"
/** Name of the handler with several objects per 32 KiB block. */
#define PAGE_POOL_OPS_PACKED "page_pool_packed"

/** Bytes of a page: the smallest block. */
#define PAGE_POOL_PAGE_SIZE 4096u
/** Bytes of a block of the packed handler (order 3 of the kernel). */
#define PAGE_POOL_PACKED_BLOCK_SIZE 32768u
/**
 * An object that has a block for itself starts at one of up to so many places more than
 * one, a cache line apart, for each page of the block. An L2 cache of 16 ways and 2 MiB
 * has 512 lines for what all pages have at the same offset: no more than a receive ring.
 */
#define PAGE_POOL_COLOURS_PER_PAGE 8u
/** Largest block: a hugepage of 2 MiB. */
#define PAGE_POOL_BLOCK_SIZE_MAX (2u << 20)
/** Bytes in front of a frame that an XDP program may use (XDP_PACKET_HEADROOM of Linux). */
#define PAGE_POOL_XDP_HEADROOM 256u

/** Placement of objects in blocks, computed by page_pool_layout_compute(). */
struct page_pool_layout {
	/** Bytes of a block, a power of two; blocks are aligned to their size. */
	uint32_t block_size;
	/** Objects in a block. */
	uint32_t objs_per_block;
	/** Bytes from one object to the next, a multiple of a cache line. */
	uint32_t stride;
	/**
	 * Places where an object that has a block for itself may start: the object of
	 * block n (address / block_size) lies n % nb_colours cache lines behind the first
	 * place. Odd, so that blocks which a cache maps to the same sets, a power of two
	 * apart, differ in colour. 1 where blocks are shared.
	 */
	uint32_t nb_colours;
};

/**
 * Compute the placement of objects in blocks.
 *
 * The number of objects is what fits; the stride is then the largest multiple of
 * a cache line with which that number still fits. Examples for 32 KiB: 9536 bytes
 * (an mbuf for a 9000-byte MTU) give 3 objects with stride 10880; 1536, 1600 and
 * 1920 bytes give 21, 20 and 17 objects at just that stride. Colours take what a
 * single object leaves of its block: at most 1 + PAGE_POOL_COLOURS_PER_PAGE for each page.
 *
 * @param obj_size
 *   Bytes of an object with everything that belongs to it, at least 1.
 * @param block_size
 *   Bytes of a block, a power of two from 4096 to 2 MiB; 0 for one object per
 *   page, or per power of two of pages when it is larger than a page.
 * @param[out] layout
 *   The placement.
 * @return
 *   0, or -EINVAL when the block size is not allowed or the object exceeds it.
 */
int page_pool_layout_compute(uint32_t obj_size, uint32_t block_size,
			     struct page_pool_layout *layout);

/**
 * Bytes of blocks that hold a number of objects.
 *
 * 32768 objects of a 9000-byte MTU at 3 per 32 KiB: 10923 blocks, 341.3 MiB.
 */
static inline uint64_t
page_pool_layout_bytes(const struct page_pool_layout *layout, uint32_t nb_objs)
{
	uint64_t nb_blocks = ((uint64_t)nb_objs + layout->objs_per_block - 1) /
			     layout->objs_per_block;

	return nb_blocks * layout->block_size;
}

/**
 * Parameters of a pool, given as pool_config to rte_mempool_set_ops_byname() or
 * to page_pool_create(). Read while the first memory is added, not kept.
 */
struct page_pool_config {
	/** Bytes of a block, see page_pool_layout_compute(); 0 for one object per page. */
	uint32_t block_size;
	/**
	 * Bytes that one call of a mapper covers, a power of two of at least one
	 * block; 0 to map each contiguous piece of memory with one call. It is also
	 * the grain of page_pool_trim().
	 */
	uint32_t map_unit;
};

/**
 * Create a pktmbuf pool whose layout differs from those that have a name.
 *
 * Parameters and errors as rte_pktmbuf_pool_create_by_ops(), but config.
 *
 * @param config
 *   Layout; NULL for one object per page. Two objects per page:
 *   block_size 4096 and a data room of at most 1856 bytes.
 * @return
 *   The pool, or NULL with rte_errno set.
 */
struct rte_mempool *page_pool_create(const char *name, unsigned int n, unsigned int cache_size,
				     uint16_t priv_size, uint16_t data_room_size, int socket_id,
				     const struct page_pool_config *config);

/**
 * Free a pool unless the application still holds pages of it.
 *
 * rte_mempool_free() is allowed too; it cannot refuse, so it warns with the
 * number in flight and takes the memory away.
 *
 * @return
 *   0, -EBUSY when pages are in flight (a warning names their number; call
 *   again after they came back), -EINVAL when mp is not a page pool.
 */
int page_pool_free(struct rte_mempool *mp);

/** Where things are in a pool, from page_pool_geometry_get(). */
struct page_pool_geometry {
	/** Blocks, objects per block and stride. */
	struct page_pool_layout layout;
	/** Offset of the mempool element (the mbuf) of the first colour in its stride. */
	uint32_t obj_offset;
	/**
	 * Offset of the buffer (buf_addr) of the first colour in its stride, so in its
	 * page when there is one object per page: 192 + private area. A buffer of such a
	 * pool is this number + 64 * colour modulo 4096; a frame behind full headroom 256
	 * more. It cannot be 0: an mbuf finds its buffer right behind itself, so a
	 * buffer that starts a page would leave its mbuf in the page before.
	 */
	uint32_t buf_offset;
	/** Bytes from buf_addr to the end of the buffer; 0 when the objects are not mbufs. */
	uint32_t buf_size;
	/** Bytes of one mapping, 0 for a whole contiguous piece. */
	uint32_t map_unit;
};

/**
 * Tell the geometry of a pool.
 *
 * @return
 *   0, or -EINVAL when the mempool has another handler or no memory was added yet.
 */
int page_pool_geometry_get(const struct rte_mempool *mp, struct page_pool_geometry *geometry);

/** Longest frame that fits behind a headroom, 0 when none does. */
static inline uint32_t
page_pool_frame_max(const struct page_pool_geometry *geometry, uint32_t headroom)
{
	return geometry->buf_size > headroom ? geometry->buf_size - headroom : 0;
}

/**
 * Counters of a pool: X(field, meaning). The first eleven are the kernel's
 * (Documentation/networking/page_pool.rst). A page_pool_cache, the counterpart of
 * the kernel's per-queue cache, counts alloc_fast, recycle_cached,
 * recycle_cache_full and released_ref; page_pool_cache_stats_add() adds them.
 *
 * The handler sees what crosses it. A mempool with per-lcore caches (cache_size
 * above 0) serves most gets and puts there, unseen; such pages are told by
 * in_mempool_cache.
 */
#define PAGE_POOL_STATS(X) \
	X(alloc_fast, "pages taken from a page_pool_cache") \
	X(alloc_slow, "pages handed out for the first time since they entered the pool") \
	X(alloc_slow_ho, "the same, of blocks larger than 4 KiB (not in alloc_slow)") \
	X(alloc_empty, "gets that found no recycled page in the ring") \
	X(alloc_refill, "gets that recycled pages of the ring served, at least in part") \
	X(alloc_waive, "pages that entered from memory of another NUMA node than the pool's") \
	X(recycle_cached, "pages put into a page_pool_cache") \
	X(recycle_cache_full, "pages that a full page_pool_cache refused") \
	X(recycle_ring, "pages put back into the ring") \
	X(recycle_ring_full, "pages refused by the ring: more came back than are out") \
	X(released_ref, "pages not recycled because somebody else holds a reference") \
	X(inflight, "pages that entered less those that left: hold - release") \
	X(inflight_bytes, "bytes of blocks behind inflight") \
	X(hold, "pages that entered the pool") \
	X(release, "pages that left the pool") \
	X(taken, "pages that left the ring by a get") \
	X(in_ring, "pages in the ring now") \
	X(in_mempool_cache, "pages in the mempool's per-lcore caches now") \
	X(in_use, "pages with the application and drivers now") \
	X(dma_map_calls, "mappings made") \
	X(dma_unmap_calls, "mappings removed") \
	X(dma_mapped_bytes, "bytes mapped now, summed over devices") \
	X(dma_map_error, "mappings that failed") \
	X(cache_alloc_err, "blocks that could not be had at full size: a smaller one was used") \
	X(rq_alloc_err, "gets refused for want of pages")

#define PAGE_POOL_STATS_FIELD(field, meaning) uint64_t field;
/** Counters of a pool. inflight = in_ring + in_mempool_cache + in_use, exactly. */
struct page_pool_stats {
	PAGE_POOL_STATS(PAGE_POOL_STATS_FIELD)
};
#undef PAGE_POOL_STATS_FIELD

/** Number of counters in page_pool_stats. */
#define PAGE_POOL_NB_STATS (sizeof(struct page_pool_stats) / sizeof(uint64_t))

/**
 * Read the counters of a pool. Those of the handler are one consistent snapshot;
 * in_mempool_cache is exact when no lcore uses the pool meanwhile.
 *
 * Thread-safe, any process.
 *
 * @return
 *   0, or -EINVAL when mp is not a page pool.
 */
int page_pool_stats_get(const struct rte_mempool *mp, struct page_pool_stats *stats);

/** Name of counter index (its place in page_pool_stats), NULL beyond the last. */
const char *page_pool_stats_name(unsigned int index);

/**
 * What maps memory for a device. Called off the data path, under a mutex of this
 * library: it must not add memory to a pool, attach, detach, trim or untrim.
 */
struct page_pool_mapper {
	/**
	 * Map memory for DMA in both directions.
	 *
	 * @return 0, or a negative errno; then nothing is mapped.
	 */
	int (*map)(void *device, struct rte_mempool *mp, void *addr, size_t len);
	/** Unmap what map() mapped, with the same addr and len. */
	void (*unmap)(void *device, struct rte_mempool *mp, void *addr, size_t len);
};

/**
 * Map all memory of a pool for a device, now and whenever memory enters later.
 * Attaching a device again counts one more user and maps nothing.
 *
 * Thread-safe; not for the data path. Primary process only: mappers are functions
 * of one process.
 *
 * @param mp
 *   A page pool with memory.
 * @param mapper
 *   Functions, valid until the device is detached or the pool is freed.
 * @param device
 *   Identifies the device; first argument of the functions.
 * @return
 *   0; -EINVAL when mp is not a page pool; -ENOTSUP in a secondary process;
 *   -ENOMEM; or what map() returned, with all that it mapped unmapped again.
 */
int page_pool_attach(struct rte_mempool *mp, const struct page_pool_mapper *mapper, void *device);

/**
 * Undo one page_pool_attach(); the last one unmaps the memory, also that of pages
 * that the application still holds: no device may use them any more.
 *
 * @return
 *   0, or -ENOENT when the device is not attached (any more: freeing the pool
 *   detaches all).
 */
int page_pool_detach(struct rte_mempool *mp, const struct page_pool_mapper *mapper, void *device);

/**
 * Under memory pressure, unmap idle pages and keep them back. They count as
 * released until page_pool_untrim(). Coldest first, whole map units only, so with
 * map_unit 0 only a wholly idle piece of memory can go.
 *
 * What is given back is the mapping (pinned memory, translation entries). The
 * memory itself stays: a mempool threads its object list through it.
 *
 * Thread-safe; not for the data path: gets and puts of the pool wait while
 * the ring is searched once (in proportion to the pages in it).
 *
 * @return
 *   Pages unmapped: at most nb_pages; or -EINVAL or -ENOMEM.
 */
int page_pool_trim(struct rte_mempool *mp, unsigned int nb_pages);

/**
 * Map trimmed pages again and make them available: at most nb_pages, whole units.
 *
 * @return
 *   Pages that came back; or -EINVAL, or what map() returned if none came back.
 */
int page_pool_untrim(struct rte_mempool *mp, unsigned int nb_pages);

/** Steps that can be made to fail, for tests. */
enum page_pool_fault_site {
	PAGE_POOL_FAULT_BLOCK, /**< A block of full size: falls back to a smaller one. */
	PAGE_POOL_FAULT_METADATA, /**< Allocation of the records of entering memory. */
	PAGE_POOL_FAULT_MAP, /**< A call of a mapper: -EIO. */
	PAGE_POOL_FAULT_GET, /**< A get of pages from the handler. */
	PAGE_POOL_NB_FAULTS,
};

/** When a step fails, in the manner of the kernel's fault injection. */
struct page_pool_fault {
	uint32_t percent; /**< Probability; 0 disarms. */
	uint32_t interval; /**< Only every interval-th try may fail; 0 and 1: each. */
	uint32_t times; /**< Failures left; UINT32_MAX: no limit. */
};

/**
 * Arm or disarm a fault for all pools of this process. While none is armed, the
 * data path has no trace of it.
 *
 * @return
 *   0, or -EINVAL for an unknown site or more than 100 percent.
 */
int page_pool_fault_set(enum page_pool_fault_site site, const struct page_pool_fault *fault);

#ifdef __cplusplus
}
#endif

#endif /* PAGE_POOL_H */
