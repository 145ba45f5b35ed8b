/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Memory that enters and leaves a pool: the pieces it consists of, the devices that
 * have them mapped, and trimming. Everything here is control path, under one mutex of
 * the process; the lock of a pool is taken inside it, and not held over a mapper.
 */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_malloc.h>

#include "page_pool_private.h"

/* What one call of a mapper covers. */
struct page_pool_unit {
	void *addr;
	size_t len;
	uint32_t nb_objs;
	uint32_t nb_idle; /* in the ring; valid during a trim */
	enum {
		UNIT_LIVE,
		UNIT_CHOSEN, /* to be trimmed, or to come back, by the running call */
		UNIT_TRIMMED,
	} state;
};

/* One contiguous piece of memory, as it was added to the mempool. */
struct page_pool_chunk {
	uintptr_t begin;
	uintptr_t end;
	uint32_t map_unit;
	uint32_t nb_units;
	struct page_pool_unit units[];
};

/* A device that has a pool mapped, in this process. */
struct attachment {
	TAILQ_ENTRY(attachment) next;
	struct rte_mempool *mp;
	const struct page_pool_mapper *mapper;
	void *device;
	unsigned int nb_users;
};

static TAILQ_HEAD(, attachment) attachments = TAILQ_HEAD_INITIALIZER(attachments);
static pthread_mutex_t memory_mutex = PTHREAD_MUTEX_INITIALIZER;

static uintptr_t
unit_index(const struct page_pool_chunk *chunk, uintptr_t addr)
{
	return chunk->map_unit == 0 ? 0 : addr / chunk->map_unit - chunk->begin / chunk->map_unit;
}

/* The number of chunks that begin at or below an address. */
static uint32_t
chunk_rank(const struct page_pool *pool, uintptr_t addr)
{
	uint32_t low = 0, high = pool->nb_chunks;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (pool->chunks[middle]->begin <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The unit of an object of this pool. */
static struct page_pool_unit *
unit_of(const struct page_pool *pool, const void *obj)
{
	struct page_pool_chunk *chunk = pool->chunks[chunk_rank(pool, (uintptr_t)obj) - 1];

	return &chunk->units[unit_index(chunk, (uintptr_t)obj)];
}

static struct page_pool_chunk *
chunk_create(struct rte_mempool *mp, void *const *objs, unsigned int n, uintptr_t begin,
	     uintptr_t end)
{
	struct page_pool *pool = mp->pool_data;
	struct page_pool_chunk probe = { .begin = begin, .map_unit = pool->map_unit };
	uint32_t nb_units = unit_index(&probe, end - 1) + 1;
	struct page_pool_chunk *chunk = NULL;
	uintptr_t addr = begin;
	unsigned int i;

	if (!page_pool_fault_hit(PAGE_POOL_FAULT_METADATA))
		chunk = rte_zmalloc_socket("page_pool_chunk",
			sizeof(*chunk) + nb_units * sizeof(chunk->units[0]), 0, mp->socket_id);
	if (chunk == NULL)
		return NULL;
	*chunk = probe;
	chunk->end = end;
	chunk->nb_units = nb_units;
	for (i = 0; i < nb_units; i++) {
		uintptr_t next = pool->map_unit == 0 ? end :
				 RTE_MIN(end, RTE_ALIGN_CEIL(addr + 1, (uintptr_t)pool->map_unit));

		chunk->units[i].addr = (void *)addr;
		chunk->units[i].len = next - addr;
		addr = next;
	}
	for (i = 0; i < n; i++)
		chunk->units[unit_index(chunk, (uintptr_t)objs[i])].nb_objs++;
	return chunk;
}

/* The unit after one, over all chunks in order; the first after *chunk = 0, unit = NULL. */
static struct page_pool_unit *
unit_next(const struct page_pool *pool, uint32_t *chunk, struct page_pool_unit *unit)
{
	if (unit != NULL && ++unit < &pool->chunks[*chunk]->units[pool->chunks[*chunk]->nb_units])
		return unit;
	if (unit != NULL)
		++*chunk;
	return *chunk < pool->nb_chunks ? pool->chunks[*chunk]->units : NULL;
}

static int
unit_map(const struct attachment *at, const struct page_pool_unit *unit)
{
	struct page_pool *pool = at->mp->pool_data;
	int ret;

	ret = page_pool_fault_hit(PAGE_POOL_FAULT_MAP) ? -EIO :
	      at->mapper->map(at->device, at->mp, unit->addr, unit->len);
	page_pool_lock(pool);
	if (ret < 0) {
		pool->dma_map_error++;
	} else {
		pool->dma_map_calls++;
		pool->dma_mapped_bytes += unit->len;
	}
	page_pool_unlock(pool);
	if (ret < 0)
		PAGE_POOL_LOG(ERR, "%s: mapping %zu bytes at %p failed: %s\n", at->mp->name,
			unit->len, unit->addr, rte_strerror(-ret));
	return ret;
}

static void
unit_unmap(const struct attachment *at, const struct page_pool_unit *unit)
{
	struct page_pool *pool = at->mp->pool_data;

	at->mapper->unmap(at->device, at->mp, unit->addr, unit->len);
	page_pool_lock(pool);
	pool->dma_unmap_calls++;
	pool->dma_mapped_bytes -= unit->len;
	page_pool_unlock(pool);
}

/* Unmaps the mapped ones of the first nb_units units of a chunk. */
static void
chunk_unmap(const struct attachment *at, struct page_pool_chunk *chunk, uint32_t nb_units)
{
	uint32_t i;

	for (i = 0; i < nb_units; i++)
		if (chunk->units[i].state != UNIT_TRIMMED)
			unit_unmap(at, &chunk->units[i]);
}

/* Maps a whole chunk or nothing of it. */
static int
chunk_map(const struct attachment *at, struct page_pool_chunk *chunk)
{
	uint32_t i;
	int ret;

	for (i = 0; i < chunk->nb_units; i++) {
		if (chunk->units[i].state == UNIT_TRIMMED)
			continue;
		ret = unit_map(at, &chunk->units[i]);
		if (ret < 0) {
			chunk_unmap(at, chunk, i);
			return ret;
		}
	}
	return 0;
}

/* Maps all chunks of a pool for a device, or nothing. */
static int
attachment_map(const struct attachment *at)
{
	struct page_pool *pool = at->mp->pool_data;
	uint32_t i;
	int ret;

	for (i = 0; i < pool->nb_chunks; i++) {
		ret = chunk_map(at, pool->chunks[i]);
		if (ret < 0) {
			while (i-- != 0)
				chunk_unmap(at, pool->chunks[i], pool->chunks[i]->nb_units);
			return ret;
		}
	}
	return 0;
}

static void
attachment_remove(struct attachment *at)
{
	struct page_pool *pool = at->mp->pool_data;
	uint32_t i;

	for (i = 0; i < pool->nb_chunks; i++)
		chunk_unmap(at, pool->chunks[i], pool->chunks[i]->nb_units);
	TAILQ_REMOVE(&attachments, at, next);
	free(at);
}

/* The next attachment of a pool after one, the first after NULL. */
static struct attachment *
attachment_next(const struct rte_mempool *mp, struct attachment *at)
{
	at = at == NULL ? TAILQ_FIRST(&attachments) : TAILQ_NEXT(at, next);
	while (at != NULL && at->mp != mp)
		at = TAILQ_NEXT(at, next);
	return at;
}

static struct attachment *
attachment_find(const struct rte_mempool *mp, const struct page_pool_mapper *mapper,
		const void *device)
{
	struct attachment *at = NULL;

	while ((at = attachment_next(mp, at)) != NULL)
		if (at->mapper == mapper && at->device == device)
			return at;
	return NULL;
}

/* Maps a new chunk for every device that has its pool, or for none. */
static int
chunk_map_all(const struct rte_mempool *mp, struct page_pool_chunk *chunk)
{
	struct attachment *at = NULL, *undo = NULL;
	int ret;

	while ((at = attachment_next(mp, at)) != NULL) {
		ret = chunk_map(at, chunk);
		if (ret < 0) {
			while ((undo = attachment_next(mp, undo)) != at)
				chunk_unmap(undo, chunk, chunk->nb_units);
			return ret;
		}
	}
	return 0;
}

/* Makes room for one more chunk in the sorted array of a pool. */
static int
chunks_grow(const struct rte_mempool *mp)
{
	struct page_pool *pool = mp->pool_data;
	struct page_pool_chunk **chunks;

	chunks = rte_realloc_socket(pool->chunks, (pool->nb_chunks + 1) * sizeof(chunks[0]), 0,
				    mp->socket_id);
	if (chunks == NULL)
		return -ENOMEM;
	pool->chunks = chunks;
	return 0;
}

static void
chunks_insert(struct page_pool *pool, struct page_pool_chunk *chunk)
{
	uint32_t rank = chunk_rank(pool, chunk->begin);

	memmove(&pool->chunks[rank + 1], &pool->chunks[rank],
		(pool->nb_chunks - rank) * sizeof(pool->chunks[0]));
	pool->chunks[rank] = chunk;
	pool->nb_chunks++;
}

int
page_pool_memory_enter(struct rte_mempool *mp, void *const *objs, unsigned int n,
		       uintptr_t begin, uintptr_t end)
{
	struct page_pool_chunk *chunk;
	int ret;

	chunk = chunk_create(mp, objs, n, begin, end);
	if (chunk == NULL) {
		PAGE_POOL_LOG(ERR, "%s: no memory for the records of %u pages\n", mp->name, n);
		return -ENOMEM;
	}
	pthread_mutex_lock(&memory_mutex);
	ret = chunks_grow(mp);
	if (ret == 0)
		ret = chunk_map_all(mp, chunk);
	if (ret == 0)
		chunks_insert(mp->pool_data, chunk);
	pthread_mutex_unlock(&memory_mutex);
	if (ret < 0)
		rte_free(chunk);
	return ret;
}

void
page_pool_memory_unmap_all(struct rte_mempool *mp)
{
	struct attachment *at;

	pthread_mutex_lock(&memory_mutex);
	while ((at = attachment_next(mp, NULL)) != NULL)
		attachment_remove(at);
	pthread_mutex_unlock(&memory_mutex);
}

void
page_pool_memory_forget(struct page_pool *pool)
{
	while (pool->nb_chunks != 0)
		rte_free(pool->chunks[--pool->nb_chunks]);
	rte_free(pool->chunks);
	pool->chunks = NULL;
}

/* The pool of mp if this process may map for it, else NULL and the errno. */
static struct page_pool *
mappable_pool(const struct rte_mempool *mp, int *ret)
{
	struct page_pool *pool = page_pool_of(mp);

	*ret = pool == NULL ? -EINVAL : 0;
	if (pool != NULL && rte_eal_process_type() != RTE_PROC_PRIMARY) {
		PAGE_POOL_LOG(ERR, "%s: only the primary process maps and unmaps\n", mp->name);
		*ret = -ENOTSUP;
	}
	return *ret == 0 ? pool : NULL;
}

static int
attachment_add(struct rte_mempool *mp, const struct page_pool_mapper *mapper, void *device)
{
	struct attachment *at;
	int ret;

	ret = page_pool_watch_destroy();
	if (ret < 0)
		return ret;
	at = calloc(1, sizeof(*at));
	if (at == NULL)
		return -ENOMEM;
	at->mp = mp;
	at->mapper = mapper;
	at->device = device;
	at->nb_users = 1;
	ret = attachment_map(at);
	if (ret < 0) {
		free(at);
		return ret;
	}
	TAILQ_INSERT_TAIL(&attachments, at, next);
	return 0;
}

int
page_pool_attach(struct rte_mempool *mp, const struct page_pool_mapper *mapper, void *device)
{
	struct attachment *at;
	int ret;

	if (mappable_pool(mp, &ret) == NULL)
		return ret;
	pthread_mutex_lock(&memory_mutex);
	at = attachment_find(mp, mapper, device);
	if (at != NULL)
		at->nb_users++;
	else
		ret = attachment_add(mp, mapper, device);
	pthread_mutex_unlock(&memory_mutex);
	return ret;
}

int
page_pool_detach(struct rte_mempool *mp, const struct page_pool_mapper *mapper, void *device)
{
	struct attachment *at;

	pthread_mutex_lock(&memory_mutex);
	at = attachment_find(mp, mapper, device);
	if (at != NULL && --at->nb_users == 0)
		attachment_remove(at);
	pthread_mutex_unlock(&memory_mutex);
	return at == NULL ? -ENOENT : 0;
}

/* Chooses wholly idle units, those of the coldest pages first; lock held. */
static unsigned int
choose_idle_units(struct page_pool *pool, unsigned int nb_pages)
{
	struct page_pool_unit *unit = NULL;
	unsigned int chosen = 0;
	uint32_t i, chunk = 0;

	while ((unit = unit_next(pool, &chunk, unit)) != NULL)
		unit->nb_idle = 0;
	for (i = 0; i < pool->nb_ring; i++)
		unit_of(pool, pool->objs[i])->nb_idle++;
	for (i = 0; i < pool->nb_ring && chosen < nb_pages; i++) {
		unit = unit_of(pool, pool->objs[i]);
		if (unit->state == UNIT_LIVE && unit->nb_idle == unit->nb_objs &&
		    unit->nb_objs <= nb_pages - chosen) {
			unit->state = UNIT_CHOSEN;
			chosen += unit->nb_objs;
			pool->held_bytes -= unit->len;
		}
	}
	return chosen;
}

/*
 * Splits an array of objects, in order, into those of units that were not chosen,
 * which stay, and the others. Returns the number of the others.
 */
static unsigned int
split_chosen(struct page_pool *pool, void **objs, unsigned int n, void **others)
{
	unsigned int nb_others = 0;
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (unit_of(pool, objs[i])->state == UNIT_CHOSEN)
			others[nb_others++] = objs[i];
		else
			objs[i - nb_others] = objs[i];
	}
	return nb_others;
}

/* Moves the pages of chosen units from the ring to the trimmed ones; lock held. */
static void
take_chosen_pages(struct page_pool *pool, void **scratch)
{
	unsigned int nb_fresh = split_chosen(pool, pool->objs, pool->nb_fresh, scratch);
	unsigned int nb_recycled = split_chosen(pool, &pool->objs[pool->nb_fresh],
		pool->nb_ring - pool->nb_fresh, &scratch[nb_fresh]);
	unsigned int nb_taken = nb_fresh + nb_recycled;

	memmove(&pool->objs[pool->nb_fresh - nb_fresh], &pool->objs[pool->nb_fresh],
		(pool->nb_ring - pool->nb_fresh - nb_recycled) * sizeof(pool->objs[0]));
	pool->nb_fresh -= nb_fresh;
	pool->nb_ring -= nb_taken;
	pool->nb_pages -= nb_taken;
	pool->nb_trimmed += nb_taken;
	pool->release += nb_taken;
	memcpy(&pool->objs[pool->size - pool->nb_trimmed], scratch, nb_taken * sizeof(scratch[0]));
	page_pool_set_floor(pool);
}

static void
unmap_chosen_units(struct rte_mempool *mp, struct page_pool *pool)
{
	struct page_pool_unit *unit = NULL;
	struct attachment *at;
	uint32_t chunk = 0;

	while ((unit = unit_next(pool, &chunk, unit)) != NULL) {
		if (unit->state != UNIT_CHOSEN)
			continue;
		for (at = NULL; (at = attachment_next(mp, at)) != NULL; )
			unit_unmap(at, unit);
		unit->state = UNIT_TRIMMED;
	}
}

int
page_pool_trim(struct rte_mempool *mp, unsigned int nb_pages)
{
	struct page_pool *pool;
	unsigned int nb_chosen;
	void **scratch;
	int ret;

	pool = mappable_pool(mp, &ret);
	if (pool == NULL)
		return ret;
	nb_pages = RTE_MIN(nb_pages, pool->size);
	scratch = malloc((nb_pages + 1) * sizeof(scratch[0]));
	if (scratch == NULL)
		return -ENOMEM;
	pthread_mutex_lock(&memory_mutex);
	page_pool_lock(pool);
	nb_chosen = choose_idle_units(pool, nb_pages);
	take_chosen_pages(pool, scratch);
	page_pool_unlock(pool);
	unmap_chosen_units(mp, pool);
	pthread_mutex_unlock(&memory_mutex);
	free(scratch);
	return nb_chosen;
}

/* Maps one unit for every device that has the pool, or for none. */
static int
unit_map_all(struct rte_mempool *mp, const struct page_pool_unit *unit)
{
	struct attachment *at = NULL, *undo = NULL;
	int ret;

	while ((at = attachment_next(mp, at)) != NULL) {
		ret = unit_map(at, unit);
		if (ret < 0) {
			while ((undo = attachment_next(mp, undo)) != at)
				unit_unmap(undo, unit);
			return ret;
		}
	}
	return 0;
}

/* Maps trimmed units of at most nb_pages pages and marks them chosen. */
static unsigned int
map_trimmed_units(struct rte_mempool *mp, struct page_pool *pool, unsigned int nb_pages, int *err)
{
	struct page_pool_unit *unit = NULL;
	unsigned int chosen = 0;
	uint32_t chunk = 0;

	while ((unit = unit_next(pool, &chunk, unit)) != NULL) {
		if (unit->state != UNIT_TRIMMED || unit->nb_objs > nb_pages - chosen)
			continue;
		*err = unit_map_all(mp, unit);
		if (*err < 0)
			return chosen;
		unit->state = UNIT_CHOSEN;
		chosen += unit->nb_objs;
	}
	return chosen;
}

/* Moves the pages of chosen units from the trimmed ones to the ring; lock held. */
static void
return_chosen_pages(struct page_pool *pool, void **scratch)
{
	void **trimmed = &pool->objs[pool->size - pool->nb_trimmed];
	unsigned int n = split_chosen(pool, trimmed, pool->nb_trimmed, scratch);
	struct page_pool_unit *unit = NULL;
	uint32_t chunk = 0;

	memmove(&trimmed[n], trimmed, (pool->nb_trimmed - n) * sizeof(trimmed[0]));
	pool->nb_trimmed -= n;
	page_pool_insert_fresh(pool, scratch, n);
	while ((unit = unit_next(pool, &chunk, unit)) != NULL) {
		if (unit->state != UNIT_CHOSEN)
			continue;
		unit->state = UNIT_LIVE;
		pool->held_bytes += unit->len;
	}
}

int
page_pool_untrim(struct rte_mempool *mp, unsigned int nb_pages)
{
	unsigned int nb_chosen;
	struct page_pool *pool;
	void **scratch;
	int ret;

	pool = mappable_pool(mp, &ret);
	if (pool == NULL)
		return ret;
	nb_pages = RTE_MIN(nb_pages, pool->size);
	scratch = malloc((nb_pages + 1) * sizeof(scratch[0]));
	if (scratch == NULL)
		return -ENOMEM;
	pthread_mutex_lock(&memory_mutex);
	nb_chosen = map_trimmed_units(mp, pool, nb_pages, &ret);
	page_pool_lock(pool);
	return_chosen_pages(pool, scratch);
	page_pool_unlock(pool);
	pthread_mutex_unlock(&memory_mutex);
	free(scratch);
	return nb_chosen == 0 ? ret : (int)nb_chosen;
}
