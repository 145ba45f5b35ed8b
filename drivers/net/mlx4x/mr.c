/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Memory regions. Memory is registered when it enters use and unregistered when it
 * leaves, never in between:
 *
 * - every mempool that may hold packets, when a port of the device first starts or
 *   when the pool is populated later; one region for each contiguous part of it;
 * - what the application maps with rte_dev_dma_map();
 * - DPDK's own memory (buffers attached from rte_malloc()), when a send queue first
 *   meets it: recovery.c asks for that. External memory is not registered that way,
 *   because DPDK does not tell when it goes.
 *
 * A region goes when its pool is destroyed, when it is unmapped, or when DPDK gives
 * its pages back. If DPDK gives back a part only, frames on their way may lie in the
 * rest: its key stays, and only the part is not found any more. What the data path
 * reads is the table in struct mlx4x_dev, which other processes see too; it is guarded
 * by a sequence count.
 *
 * Callbacks of DPDK's memory hotplug come with its lock held and take mr_lock;
 * therefore no function of DPDK's memory is called while mr_lock is held.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_memory.h>

#include <page_pool.h>

#include "mlx4x.h"

/* Parts of a pool that are closer than this share a page, or touch. */
#define MERGE_GAP 4096

/* A key of the device, and how many pieces of its region are in use. */
struct mr_key {
	struct ibv_mr *ibv;
	unsigned int nb_pieces;
};

/* A piece of a region: all of it, unless DPDK gave pages in the middle back. */
struct mlx4x_mr {
	TAILQ_ENTRY(mlx4x_mr) next;
	struct mr_key *key;
	uintptr_t start;
	size_t len;
	const void *owner;	/* mempool, &dma_mapped, or NULL: found by a send queue */
};

static const char dma_mapped;

struct range {
	uintptr_t start;
	uintptr_t end;
};

struct range_list {
	struct range *range;
	unsigned int nb;
};

/* True if a piece continues what the table says of the same region. */
static bool
continues(const struct mlx4x_mr *mr, const struct mlx4x_mr_range *last)
{
	return last->lkey == rte_cpu_to_be_32(mr->key->ibv->lkey) &&
		last->start + last->len == mr->start;
}

/* Writes the table anew. mr_lock is held. */
static void
publish(struct mlx4x_dev *dev)
{
	struct mlx4x_mr_table *table = &dev->mr_table;
	const struct mlx4x_mr *mr;
	uint32_t nb = 0;

	mlx4x_store_relaxed(&table->seq, table->seq + 1);
	rte_smp_wmb();
	TAILQ_FOREACH(mr, &dev->mrs, next) {
		if (nb != 0 && continues(mr, &table->range[nb - 1])) {
			table->range[nb - 1].len += mr->len;
			continue;
		}
		if (nb == MLX4X_MR_MAX_RANGES)
			break;
		table->range[nb].start = mr->start;
		table->range[nb].len = mr->len;
		table->range[nb].lkey = rte_cpu_to_be_32(mr->key->ibv->lkey);
		nb++;
	}
	table->nb_ranges = nb;
	mlx4x_store_release(&table->seq, table->seq + 1);
}

static struct mlx4x_mr *
find_mr(struct mlx4x_dev *dev, const void *owner, uintptr_t start, size_t len)
{
	struct mlx4x_mr *mr;

	TAILQ_FOREACH(mr, &dev->mrs, next) {
		if (mr->owner == owner && mr->start == start && mr->len == len)
			return mr;
	}
	return NULL;
}

/* Adds a piece of a region. mr_lock is held. */
static int
add_piece(struct mlx4x_dev *dev, struct mr_key *key, uintptr_t start, size_t len,
	const void *owner)
{
	struct mlx4x_mr *mr = calloc(1, sizeof(*mr));

	if (mr == NULL)
		return -ENOMEM;
	mr->key = key;
	mr->start = start;
	mr->len = len;
	mr->owner = owner;
	key->nb_pieces++;
	TAILQ_INSERT_TAIL(&dev->mrs, mr, next);
	return 0;
}

static void
drop_key(struct mr_key *key)
{
	if (key->nb_pieces != 0)
		return;
	ibv_dereg_mr(key->ibv);
	free(key);
}

static struct mr_key *
create_key(struct mlx4x_dev *dev, uintptr_t start, size_t len)
{
	struct mr_key *key = calloc(1, sizeof(*key));

	if (key == NULL) {
		errno = ENOMEM;
		return NULL;
	}
	key->ibv = ibv_reg_mr(dev->pd, (void *)start, len, IBV_ACCESS_LOCAL_WRITE);
	if (key->ibv != NULL)
		return key;
	free(key);
	return NULL;
}

/* Registers one range. mr_lock is held. */
static int
register_range(struct mlx4x_dev *dev, uintptr_t start, size_t len, const void *owner)
{
	struct mr_key *key;
	int ret;

	if (find_mr(dev, owner, start, len) != NULL)
		return 0;
	if (dev->mr_table.nb_ranges == MLX4X_MR_MAX_RANGES) {
		MLX4X_INIT_LOG(ERR, "%s: more than %u memory regions", dev->pci->name,
			MLX4X_MR_MAX_RANGES);
		return -ENOSPC;
	}
	key = create_key(dev, start, len);
	if (key == NULL) {
		ret = errno != 0 ? -errno : -EIO;
		MLX4X_INIT_LOG(ERR, "%s: cannot register %zu bytes at %p: %s", dev->pci->name, len,
			(void *)start, strerror(-ret));
		return ret;
	}
	ret = add_piece(dev, key, start, len, owner);
	if (ret != 0)
		drop_key(key);
	else
		publish(dev);
	return ret;
}

/* Takes a piece out of the table, then, with its last piece, the region. mr_lock is held. */
static void
unregister(struct mlx4x_dev *dev, struct mlx4x_mr *mr)
{
	TAILQ_REMOVE(&dev->mrs, mr, next);
	publish(dev);
	mr->key->nb_pieces--;
	drop_key(mr->key);
	free(mr);
}

static void
unregister_owner(struct mlx4x_dev *dev, const void *owner)
{
	struct mlx4x_mr *mr, *next;

	pthread_mutex_lock(&dev->mr_lock);
	for (mr = TAILQ_FIRST(&dev->mrs); mr != NULL; mr = next) {
		next = TAILQ_NEXT(mr, next);
		if (mr->owner == owner)
			unregister(dev, mr);
	}
	pthread_mutex_unlock(&dev->mr_lock);
}

static int
compare_ranges(const void *a, const void *b)
{
	const struct range *left = a, *right = b;

	return left->start < right->start ? -1 : left->start > right->start;
}

/* Called for each memory chunk of a pool. */
static void
collect_chunk(struct rte_mempool *mp, void *opaque, struct rte_mempool_memhdr *chunk,
	unsigned int idx)
{
	struct range_list *list = opaque;

	list->range[list->nb].start = (uintptr_t)chunk->addr;
	list->range[list->nb].end = (uintptr_t)chunk->addr + chunk->len;
	list->nb++;
}

static void
merge_ranges(struct range_list *list)
{
	unsigned int in, out = 0;

	if (list->nb == 0)
		return;
	qsort(list->range, list->nb, sizeof(list->range[0]), compare_ranges);
	for (in = 1; in < list->nb; in++) {
		if (list->range[in].start - list->range[out].end < MERGE_GAP)
			list->range[out].end = list->range[in].end;
		else
			list->range[++out] = list->range[in];
	}
	list->nb = out + 1;
}

/* The pieces of a pool, those that follow each other as one; to be freed. */
static int
collect_ranges(struct rte_mempool *mp, struct range_list *list)
{
	list->nb = 0;
	list->range = calloc(mp->nb_mem_chunks, sizeof(list->range[0]));
	if (list->range == NULL)
		return -ENOMEM;
	rte_mempool_mem_iter(mp, collect_chunk, list);
	merge_ranges(list);
	return 0;
}

static int
register_chunks(struct mlx4x_dev *dev, struct rte_mempool *mp)
{
	struct range_list list;
	int ret = collect_ranges(mp, &list);
	unsigned int i;

	if (ret != 0)
		return ret;
	pthread_mutex_lock(&dev->mr_lock);
	for (i = 0; i < list.nb && ret == 0; i++)
		ret = register_range(dev, list.range[i].start,
			list.range[i].end - list.range[i].start, mp);
	pthread_mutex_unlock(&dev->mr_lock);
	free(list.range);
	return ret;
}

struct pinned_walk {
	struct mlx4x_dev *dev;
	int ret;
};

/* Called for each mbuf of a pool whose buffers are external. */
static void
register_pinned(struct rte_mempool *mp, void *opaque, void *obj, unsigned int idx)
{
	struct pinned_walk *walk = opaque;
	const struct rte_mbuf *mbuf = obj;
	struct mlx4x_mr_range range;
	uint32_t seq;

	if (walk->ret == 0 && !mlx4x_mr_find(&walk->dev->mr_table, (uintptr_t)mbuf->buf_addr,
			mbuf->buf_len, &range, &seq))
		walk->ret = mlx4x_mr_add_memseg(walk->dev, (uintptr_t)mbuf->buf_addr);
}

static bool
has_pinned_buffers(struct rte_mempool *mp)
{
	return mp->private_data_size >= sizeof(struct rte_pktmbuf_pool_private) &&
		(rte_pktmbuf_priv_flags(mp) & RTE_PKTMBUF_POOL_F_PINNED_EXT_BUF);
}

/*
 * The part of a pool around a piece of it, as far as it is contiguous: what one region
 * may cover. A pool whose creator has asked for a grain of mapping gets just that.
 */
static struct range
part_of(struct rte_mempool *mp, uintptr_t start, size_t len)
{
	struct range part = { .start = start, .end = start + len };
	struct page_pool_geometry geometry;
	struct range_list list;
	unsigned int i;

	if (page_pool_geometry_get(mp, &geometry) != 0 || geometry.map_unit != 0 ||
	    collect_ranges(mp, &list) != 0)
		return part;
	for (i = 0; i < list.nb; i++) {
		if (list.range[i].start <= start && start + len <= list.range[i].end)
			part = list.range[i];
	}
	free(list.range);
	return part;
}

/* The key of a pool that covers a range, or NULL. mr_lock is held. */
static struct mr_key *
find_key(struct mlx4x_dev *dev, const struct rte_mempool *mp, uintptr_t start, size_t len)
{
	const struct mlx4x_mr *mr;

	TAILQ_FOREACH(mr, &dev->mrs, next) {
		uintptr_t offset = start - (uintptr_t)mr->key->ibv->addr;

		if (mr->owner == mp && offset < mr->key->ibv->length &&
		    len <= mr->key->ibv->length - offset)
			return mr->key;
	}
	return NULL;
}

/*
 * A page pool says itself which pieces of it are to be mapped, and counts them. Pieces
 * that touch share a region.
 */
static int
map_pages(void *device, struct rte_mempool *mp, void *addr, size_t len)
{
	struct range part = part_of(mp, (uintptr_t)addr, len);
	struct mlx4x_dev *dev = device;
	struct mr_key *key;
	int ret = -ENOSPC;

	pthread_mutex_lock(&dev->mr_lock);
	key = find_key(dev, mp, (uintptr_t)addr, len);
	if (key == NULL)
		key = create_key(dev, part.start, part.end - part.start);
	if (key == NULL)
		ret = errno != 0 ? -errno : -EIO;
	else if (dev->mr_table.nb_ranges < MLX4X_MR_MAX_RANGES)
		ret = add_piece(dev, key, (uintptr_t)addr, len, mp);
	if (key != NULL)
		drop_key(key);
	publish(dev);
	pthread_mutex_unlock(&dev->mr_lock);
	if (ret != 0)
		MLX4X_INIT_LOG(ERR, "%s: cannot register %zu bytes of %s: %s", dev->pci->name, len,
			mp->name, strerror(-ret));
	return ret;
}

/* The region is gone already when DPDK has given back its memory. */
static void
unmap_pages(void *device, struct rte_mempool *mp, void *addr, size_t len)
{
	struct mlx4x_dev *dev = device;
	struct mlx4x_mr *mr;

	pthread_mutex_lock(&dev->mr_lock);
	mr = find_mr(dev, mp, (uintptr_t)addr, len);
	if (mr != NULL)
		unregister(dev, mr);
	pthread_mutex_unlock(&dev->mr_lock);
}

static const struct page_pool_mapper page_mapper = { .map = map_pages, .unmap = unmap_pages };

static bool
is_registered(struct mlx4x_dev *dev, const struct rte_mempool *mp)
{
	const struct mlx4x_mr *mr;

	pthread_mutex_lock(&dev->mr_lock);
	TAILQ_FOREACH(mr, &dev->mrs, next) {
		if (mr->owner == mp)
			break;
	}
	pthread_mutex_unlock(&dev->mr_lock);
	return mr != NULL;
}

static void
detach_pool(struct rte_mempool *mp, void *opaque)
{
	page_pool_detach(mp, &page_mapper, opaque);
}

/* Registers a pool, if it is not yet. */
int
mlx4x_mr_add_pool(struct mlx4x_dev *dev, struct rte_mempool *mp)
{
	struct pinned_walk walk = { .dev = dev };
	struct page_pool_geometry geometry;
	int ret;

	if (page_pool_geometry_get(mp, &geometry) == 0)
		return is_registered(dev, mp) ? 0 : page_pool_attach(mp, &page_mapper, dev);
	ret = register_chunks(dev, mp);

	if (ret != 0 || !has_pinned_buffers(mp))
		return ret;
	rte_mempool_obj_iter(mp, register_pinned, &walk);
	if (walk.ret != 0)
		MLX4X_INIT_LOG(ERR, "%s: the external buffers of mempool %s are not registered; "
			"use rte_dev_dma_map()", dev->pci->name, mp->name);
	return walk.ret;
}

/* 1 and the range if all buffers of a registered pool lie in one region, else 0. */
int
mlx4x_mr_pool_is_one_range(struct mlx4x_dev *dev, struct rte_mempool *mp,
	struct mlx4x_mr_range *range)
{
	const struct mr_key *key = NULL;
	const struct mlx4x_mr *mr;
	uintptr_t end = 0;
	bool one = true;

	if (has_pinned_buffers(mp))
		return 0;
	range->start = UINTPTR_MAX;
	pthread_mutex_lock(&dev->mr_lock);
	TAILQ_FOREACH(mr, &dev->mrs, next) {
		if (mr->owner != mp)
			continue;
		one &= key == NULL || key == mr->key;
		key = mr->key;
		range->start = RTE_MIN(range->start, mr->start);
		end = RTE_MAX(end, mr->start + mr->len);
		range->lkey = rte_cpu_to_be_32(key->ibv->lkey);
	}
	pthread_mutex_unlock(&dev->mr_lock);
	one &= key != NULL;
	range->len = one ? end - range->start : 0;	/* several have no key in common */
	return one;
}

struct memseg_walk {
	struct mlx4x_dev *dev;
	uintptr_t addr;
	int ret;
};

/*
 * Called for each contiguous run of memory, under DPDK's lock for it: the run cannot
 * be given back before it is registered.
 */
static int
register_run(const struct rte_memseg_list *msl, const struct rte_memseg *ms, size_t len,
	void *opaque)
{
	struct memseg_walk *walk = opaque;
	uintptr_t start = (uintptr_t)ms->addr;

	if (walk->addr < start || walk->addr - start >= len)
		return 0;
	if (msl->external)
		return 1;
	pthread_mutex_lock(&walk->dev->mr_lock);
	walk->ret = register_range(walk->dev, start, len, NULL);
	pthread_mutex_unlock(&walk->dev->mr_lock);
	return 1;
}

/* Registers the contiguous run of DPDK's own memory that holds an address. */
int
mlx4x_mr_add_memseg(struct mlx4x_dev *dev, uintptr_t addr)
{
	struct memseg_walk walk = { .dev = dev, .addr = addr, .ret = -EFAULT };

	rte_memseg_contig_walk(register_run, &walk);
	return walk.ret;
}

/*
 * The region that holds all of a buffer, without a lock. False if there is none, or
 * while the table is being changed; *seq is then worthless.
 */
bool
mlx4x_mr_find(const struct mlx4x_mr_table *table, uintptr_t addr, size_t len,
	struct mlx4x_mr_range *range, uint32_t *seq)
{
	uint32_t i, nb;

	*seq = mlx4x_load_acquire(&table->seq);
	nb = RTE_MIN(table->nb_ranges, MLX4X_MR_MAX_RANGES);
	for (i = 0; i < nb; i++) {
		*range = table->range[i];
		if (addr - range->start < range->len && len <= range->len - (addr - range->start)) {
			rte_smp_rmb();
			return !(*seq & 1) && mlx4x_load_relaxed(&table->seq) == *seq;
		}
	}
	return false;
}

static void
walk_pool(struct rte_mempool *mp, void *opaque)
{
	struct mlx4x_dev *dev = opaque;

	if (!(mp->flags & RTE_MEMPOOL_F_NON_IO) && mp->populated_size == mp->size &&
	    mlx4x_mr_add_pool(dev, mp) != 0)
		MLX4X_INIT_LOG(WARNING, "%s: frames of mempool %s cannot be sent", dev->pci->name,
			mp->name);
}

static void
pool_event(enum rte_mempool_event event, struct rte_mempool *mp, void *opaque)
{
	if (event == RTE_MEMPOOL_EVENT_READY)
		walk_pool(mp, opaque);
	else
		unregister_owner(opaque, mp);
}

/* Takes [start, end) out of a piece. mr_lock is held. */
static void
cut(struct mlx4x_dev *dev, struct mlx4x_mr *mr, uintptr_t start, uintptr_t end)
{
	uintptr_t mr_end = mr->start + mr->len;

	/* Without memory for the pieces that stay, the whole region goes. */
	if (mr->start < start)
		add_piece(dev, mr->key, mr->start, start - mr->start, mr->owner);
	if (end < mr_end)
		add_piece(dev, mr->key, end, mr_end - end, mr->owner);
	unregister(dev, mr);
}

/* DPDK takes pages back: nothing in them may be found any more. */
static void
memory_event(enum rte_mem_event event, const void *addr, size_t len, void *opaque)
{
	uintptr_t start = (uintptr_t)addr;
	struct mlx4x_dev *dev = opaque;
	struct mlx4x_mr *mr, *next;

	if (event != RTE_MEM_EVENT_FREE)
		return;
	pthread_mutex_lock(&dev->mr_lock);
	for (mr = TAILQ_FIRST(&dev->mrs); mr != NULL; mr = next) {
		next = TAILQ_NEXT(mr, next);
		if (mr->start < start + len && start < mr->start + mr->len)
			cut(dev, mr, start, start + len);
	}
	pthread_mutex_unlock(&dev->mr_lock);
}

/* Memory hotplug is absent with --no-huge or --legacy-mem: then nothing is freed. */
static int
watch_memory(struct mlx4x_dev *dev, bool on)
{
	char name[RTE_MEM_EVENT_CALLBACK_NAME_LEN];
	int ret;

	snprintf(name, sizeof(name), "mlx4x:%s", dev->pci->name);
	if (on)
		ret = rte_mem_event_callback_register(name, memory_event, dev);
	else
		ret = rte_mem_event_callback_unregister(name, dev);
	return ret != 0 && rte_errno != ENOTSUP ? -rte_errno : 0;
}

/* A port of the device starts: from now on pools are registered as they come. */
int
mlx4x_mr_activate(struct mlx4x_dev *dev)
{
	if (dev->mr_active)
		return 0;
	if (rte_mempool_event_callback_register(pool_event, dev) != 0) {
		MLX4X_INIT_LOG(ERR, "%s: cannot watch mempools: %s", dev->pci->name,
			rte_strerror(rte_errno));
		return -rte_errno;
	}
	dev->mr_active = true;
	rte_mempool_walk(walk_pool, dev);
	return 0;
}

int
mlx4x_mr_init(struct mlx4x_dev *dev)
{
	int ret = watch_memory(dev, true);

	if (ret != 0)
		MLX4X_INIT_LOG(ERR, "%s: cannot watch memory hotplug: %s", dev->pci->name,
			strerror(-ret));
	return ret;
}

void
mlx4x_mr_fini(struct mlx4x_dev *dev)
{
	struct mlx4x_mr *mr;

	if (dev->mr_active)
		rte_mempool_event_callback_unregister(pool_event, dev);
	dev->mr_active = false;
	rte_mempool_walk(detach_pool, dev);
	watch_memory(dev, false);
	pthread_mutex_lock(&dev->mr_lock);
	while ((mr = TAILQ_FIRST(&dev->mrs)) != NULL)
		unregister(dev, mr);
	pthread_mutex_unlock(&dev->mr_lock);
}

/* rte_dev_dma_map(): memory of the application's own. */
int
mlx4x_dma_map(struct rte_pci_device *pci, void *addr, uint64_t iova, size_t len)
{
	struct mlx4x_dev *dev = mlx4x_device_of(pci);
	int ret = -ENODEV;

	if (dev != NULL) {
		pthread_mutex_lock(&dev->mr_lock);
		ret = register_range(dev, (uintptr_t)addr, len, &dma_mapped);
		pthread_mutex_unlock(&dev->mr_lock);
	}
	rte_errno = -ret;
	return ret == 0 ? 0 : -1;
}

int
mlx4x_dma_unmap(struct rte_pci_device *pci, void *addr, uint64_t iova, size_t len)
{
	struct mlx4x_dev *dev = mlx4x_device_of(pci);
	struct mlx4x_mr *mr = NULL;

	if (dev != NULL) {
		pthread_mutex_lock(&dev->mr_lock);
		mr = find_mr(dev, &dma_mapped, (uintptr_t)addr, len);
		if (mr != NULL)
			unregister(dev, mr);
		pthread_mutex_unlock(&dev->mr_lock);
	}
	if (mr != NULL)
		return 0;
	rte_errno = dev == NULL ? ENODEV : ENOENT;
	return -1;
}
