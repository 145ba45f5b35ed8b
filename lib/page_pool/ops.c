/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The mempool handler: where objects are placed when memory is added, and how pages
 * are taken and put back. Called by rte_mempool only.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "page_pool_private.h"

RTE_LOG_REGISTER_DEFAULT(page_pool_logtype, NOTICE);

/* The pktmbuf private data of a pool; NULL when its objects are no mbufs with a buffer. */
static struct rte_pktmbuf_pool_private *
pktmbuf_private(struct rte_mempool *mp)
{
	struct rte_pktmbuf_pool_private *priv = rte_mempool_get_priv(mp);

	if (mp->private_data_size < sizeof(*priv) || priv->mbuf_data_room_size == 0)
		return NULL;
	if (RTE_ALIGN_CEIL(sizeof(struct rte_mbuf) + priv->mbuf_priv_size +
			   priv->mbuf_data_room_size, sizeof(uint64_t)) != mp->elt_size)
		return NULL;
	return priv;
}

/* Bytes of a stride that an object has wherever it starts. */
static uint32_t
usable_size(const struct page_pool_layout *layout)
{
	return layout->stride - (layout->nb_colours - 1) * RTE_CACHE_LINE_SIZE;
}

/* Gives the rest of the stride to the buffer, as far as the 16 bits of buf_len reach. */
static void
extend_data_room(struct rte_mempool *mp, struct page_pool *pool,
		 struct rte_pktmbuf_pool_private *priv)
{
	uint32_t head = sizeof(struct rte_mbuf) + priv->mbuf_priv_size;
	uint32_t usable = usable_size(&pool->layout);
	uint32_t elt_size = usable - mp->header_size;
	struct rte_mempool_objsz sz;
	uint32_t total;

	total = rte_mempool_calc_obj_size(elt_size, mp->flags | RTE_MEMPOOL_F_NO_SPREAD, &sz);
	if (total > usable) /* a trailer is needed: mempool debug */
		elt_size -= total - usable;
	elt_size = RTE_MIN(elt_size, head + UINT16_MAX / 8 * 8);
	if (elt_size > mp->elt_size) {
		mp->elt_size = elt_size;
		priv->mbuf_data_room_size = elt_size - head;
	}
	pool->buf_offset = mp->header_size + head;
	pool->buf_size = priv->mbuf_data_room_size;
}

static int
check_config(const struct rte_mempool *mp, const struct page_pool_config *config,
	     uint32_t obj_size, struct page_pool_layout *layout)
{
	if (page_pool_layout_compute(obj_size, config->block_size, layout) < 0) {
		PAGE_POOL_LOG(ERR, "%s: no layout for objects of %u bytes in blocks of %u bytes: "
			"a block is a power of two from %u to %u bytes and holds an object\n",
			mp->name, obj_size, config->block_size, PAGE_POOL_PAGE_SIZE,
			PAGE_POOL_BLOCK_SIZE_MAX);
		return -EINVAL;
	}
	if (config->map_unit != 0 && (!rte_is_power_of_2(config->map_unit) ||
				      config->map_unit < layout->block_size)) {
		PAGE_POOL_LOG(ERR, "%s: a map unit of %u bytes is not a power of two of at least "
			"one block of %u bytes\n", mp->name, config->map_unit,
			layout->block_size);
		return -EINVAL;
	}
	return 0;
}

static int
pool_alloc(struct rte_mempool *mp, const struct page_pool_config *config)
{
	struct rte_pktmbuf_pool_private *priv = pktmbuf_private(mp);
	struct page_pool_layout layout;
	struct rte_mempool_objsz sz;
	struct page_pool *pool;
	int ret;

	/* The padding that spreads objects over memory channels has no use here. */
	rte_mempool_calc_obj_size(mp->elt_size, mp->flags | RTE_MEMPOOL_F_NO_SPREAD, &sz);
	ret = check_config(mp, config, sz.total_size, &layout);
	if (ret == 0)
		ret = page_pool_watch_destroy();
	if (ret < 0)
		return ret;
	pool = rte_zmalloc_socket("page_pool", sizeof(*pool) + mp->size * sizeof(pool->objs[0]),
				  RTE_CACHE_LINE_SIZE, mp->socket_id);
	if (pool == NULL) {
		PAGE_POOL_LOG(ERR, "%s: no memory on socket %d for a ring of %u pages\n",
			mp->name, mp->socket_id, mp->size);
		return -ENOMEM;
	}
	pool->size = mp->size;
	pool->layout = layout;
	pool->map_unit = config->map_unit;
	pool->header_size = mp->header_size;
	pool->get_fault = page_pool_fault_armed(PAGE_POOL_FAULT_GET);
	page_pool_set_floor(pool);
	if (priv != NULL)
		extend_data_room(mp, pool, priv);
	mp->trailer_size = layout.stride - mp->header_size - mp->elt_size;
	pool->min_block = rte_align32pow2(RTE_MAX(layout.stride, PAGE_POOL_PAGE_SIZE));
	mp->pool_data = pool;
	return 0;
}

static int
page_alloc(struct rte_mempool *mp)
{
	static const struct page_pool_config page_per_object;

	return pool_alloc(mp, mp->pool_config != NULL ? mp->pool_config : &page_per_object);
}

static int
packed_alloc(struct rte_mempool *mp)
{
	static const struct page_pool_config packed = { .block_size = PAGE_POOL_PACKED_BLOCK_SIZE };

	return pool_alloc(mp, mp->pool_config != NULL ? mp->pool_config : &packed);
}

static void
pool_free(struct rte_mempool *mp)
{
	struct page_pool *pool = mp->pool_data;

	if (pool == NULL)
		return;
	page_pool_memory_forget(pool);
	rte_free(pool);
	mp->pool_data = NULL;
}

static unsigned int
get_count(const struct rte_mempool *mp)
{
	const struct page_pool *pool = mp->pool_data;

	return __atomic_load_n(&pool->nb_ring, __ATOMIC_RELAXED);
}

static int
put_pages(struct rte_mempool *mp, void *const *objs, unsigned int n)
{
	struct page_pool *pool = mp->pool_data;

	page_pool_lock(pool);
	if (unlikely((uint64_t)pool->nb_ring + n > pool->nb_pages)) {
		pool->recycle_ring_full += n;
		page_pool_unlock(pool);
		return -ENOBUFS;
	}
	memcpy(&pool->objs[pool->nb_ring], objs, n * sizeof(objs[0]));
	pool->nb_ring += n;
	pool->recycle_ring += n;
	page_pool_unlock(pool);
	return 0;
}

static inline void
pop_pages(struct page_pool *pool, void **objs, unsigned int n)
{
	void *const *top = &pool->objs[pool->nb_ring];
	unsigned int i;

	for (i = 0; i < n; i++)
		objs[i] = *--top;
	pool->nb_ring -= n;
	pool->taken += n;
}

/* A get that needs fresh pages, finds too few, or has a fault armed. */
static int
get_pages_slow(struct page_pool *pool, void **objs, unsigned int n)
{
	if (page_pool_fault_hit(PAGE_POOL_FAULT_GET)) {
		pool->rq_alloc_err++;
		return -ENOBUFS;
	}
	if (pool->nb_ring == pool->nb_fresh)
		pool->alloc_empty++;
	if (n > pool->nb_ring) {
		pool->rq_alloc_err++;
		return -ENOBUFS;
	}
	if (pool->nb_ring > pool->nb_fresh)
		pool->alloc_refill++;
	pop_pages(pool, objs, n);
	if (pool->nb_ring < pool->nb_fresh) {
		pool->alloc_slow += pool->nb_fresh - pool->nb_ring;
		pool->nb_fresh = pool->nb_ring;
		page_pool_set_floor(pool);
	}
	return 0;
}

static int
get_pages(struct rte_mempool *mp, void **objs, unsigned int n)
{
	struct page_pool *pool = mp->pool_data;
	int ret = 0;

	page_pool_lock(pool);
	if (likely((uint64_t)n + pool->floor <= pool->nb_ring)) {
		pop_pages(pool, objs, n);
		pool->alloc_refill++;
	} else {
		ret = get_pages_slow(pool, objs, n);
	}
	page_pool_unlock(pool);
	return ret;
}

void
page_pool_insert_fresh(struct page_pool *pool, void *const *objs, unsigned int n)
{
	memmove(&pool->objs[n], &pool->objs[0], pool->nb_ring * sizeof(objs[0]));
	memcpy(&pool->objs[0], objs, n * sizeof(objs[0]));
	pool->nb_ring += n;
	pool->nb_fresh += n;
	pool->nb_pages += n;
	pool->hold += n;
	page_pool_set_floor(pool);
}

static ssize_t
calc_mem_size(const struct rte_mempool *mp, uint32_t nb_objs, uint32_t pg_shift,
	      size_t *min_chunk_size, size_t *align)
{
	const struct page_pool *pool = mp->pool_data;

	*min_chunk_size = pool->min_block;
	*align = pool->layout.block_size;
	/* Anonymous memory does not heed the alignment: it starts at any page. */
	return page_pool_layout_bytes(&pool->layout, nb_objs) +
	       pool->layout.block_size - PAGE_POOL_PAGE_SIZE;
}

/*
 * The next block at or after *at: of full size, else the largest smaller one that
 * still holds an object. Returns its size and moves *at to it; 0 when none fits.
 */
static uint32_t
next_block(struct page_pool *pool, uintptr_t *at, uintptr_t end)
{
	uint32_t size = pool->layout.block_size;
	bool deny = size > pool->min_block && page_pool_fault_hit(PAGE_POOL_FAULT_BLOCK);

	for (; size >= pool->min_block; size /= 2) {
		uintptr_t block = RTE_ALIGN_CEIL(*at, (uintptr_t)size);

		if (!deny && block < end && end - block >= size) {
			if (size < pool->layout.block_size)
				pool->cache_alloc_err++;
			*at = block;
			return size;
		}
		deny = false;
	}
	return 0;
}

/* Offset of the first object in the block at an address. */
static uint32_t
first_offset(const struct page_pool *pool, uintptr_t block)
{
	const struct page_pool_layout *layout = &pool->layout;
	uint32_t colour = block / layout->block_size % layout->nb_colours;

	return pool->header_size + colour * RTE_CACHE_LINE_SIZE;
}

/* Places up to max objects in [*begin, *end) and narrows that to the blocks used. */
static unsigned int
place_objects(struct page_pool *pool, uintptr_t *begin, uintptr_t *end, unsigned int max,
	      void **objs)
{
	uintptr_t at = *begin;
	unsigned int n = 0;

	while (n < max) {
		uint32_t size = next_block(pool, &at, *end);
		uint32_t offset;

		if (size == 0)
			break;
		if (n == 0)
			*begin = at;
		for (offset = 0; offset + pool->layout.stride <= size && n < max;
		     offset += pool->layout.stride)
			objs[n++] = (void *)(at + offset + first_offset(pool, at));
		at += size;
	}
	*end = at;
	return n;
}

static void
count_waived(const struct rte_mempool *mp, struct page_pool *pool, const void *addr,
	     unsigned int n)
{
	const struct rte_memseg_list *msl = rte_mem_virt2memseg_list(addr);

	if (msl != NULL && mp->socket_id != SOCKET_ID_ANY && msl->socket_id != mp->socket_id)
		pool->alloc_waive += n;
}

static int
populate(struct rte_mempool *mp, unsigned int max_objs, void *vaddr, rte_iova_t iova, size_t len,
	 rte_mempool_populate_obj_cb_t *obj_cb, void *obj_cb_arg)
{
	struct page_pool *pool = mp->pool_data;
	uintptr_t begin = (uintptr_t)vaddr;
	uintptr_t end = begin + len;
	unsigned int n, i;
	void **objs;
	int ret;

	objs = malloc(max_objs * sizeof(objs[0]));
	if (objs == NULL)
		return -ENOMEM;
	n = place_objects(pool, &begin, &end, max_objs, objs);
	ret = n == 0 ? 0 : page_pool_memory_enter(mp, objs, n, begin, end);
	if (n == 0 || ret < 0)
		goto out;
	for (i = 0; i < n; i++)
		obj_cb(mp, obj_cb_arg, objs[i], iova == RTE_BAD_IOVA ? RTE_BAD_IOVA :
		       iova + RTE_PTR_DIFF(objs[i], vaddr));
	page_pool_lock(pool);
	page_pool_insert_fresh(pool, objs, n);
	pool->held_bytes += end - begin;
	count_waived(mp, pool, vaddr, n);
	page_pool_unlock(pool);
	ret = n;
out:
	free(objs);
	return ret;
}

static const struct rte_mempool_ops handlers[] = {
	{
		.name = PAGE_POOL_OPS,
		.alloc = page_alloc,
		.free = pool_free,
		.enqueue = put_pages,
		.dequeue = get_pages,
		.get_count = get_count,
		.calc_mem_size = calc_mem_size,
		.populate = populate,
	},
	{
		.name = PAGE_POOL_OPS_PACKED,
		.alloc = packed_alloc,
		.free = pool_free,
		.enqueue = put_pages,
		.dequeue = get_pages,
		.get_count = get_count,
		.calc_mem_size = calc_mem_size,
		.populate = populate,
	},
};

static bool
is_registered(const char *name)
{
	unsigned int i;

	for (i = 0; i < rte_mempool_ops_table.num_ops; i++)
		if (strcmp(rte_mempool_ops_table.ops[i].name, name) == 0)
			return true;
	return false;
}

/*
 * A process may load this library twice, as a plugin (-d) and by a driver that links
 * another copy of it: the first one registers.
 */
RTE_INIT(page_pool_register)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(handlers); i++)
		if (!is_registered(handlers[i].name))
			rte_mempool_register_ops(&handlers[i]);
}

struct page_pool *
page_pool_of(const struct rte_mempool *mp)
{
	const char *name = rte_mempool_get_ops(mp->ops_index)->name;

	if (strcmp(name, PAGE_POOL_OPS) != 0 && strcmp(name, PAGE_POOL_OPS_PACKED) != 0)
		return NULL;
	return mp->pool_data;
}
