/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Fault injection for tests. The steps that ask here are all off the data path; a
 * get comes here only while its fault is armed, because the pools then let no get
 * take the fast way.
 */

#include <errno.h>

#include <rte_random.h>
#include <rte_spinlock.h>

#include "page_pool_private.h"

static struct {
	struct page_pool_fault spec;
	uint32_t tries;
} faults[PAGE_POOL_NB_FAULTS];

static rte_spinlock_t fault_lock = RTE_SPINLOCK_INITIALIZER;

bool
page_pool_fault_armed(enum page_pool_fault_site site)
{
	return __atomic_load_n(&faults[site].spec.percent, __ATOMIC_RELAXED) != 0;
}

bool
page_pool_fault_hit(enum page_pool_fault_site site)
{
	struct page_pool_fault *spec = &faults[site].spec;
	bool hit;

	if (likely(!page_pool_fault_armed(site)))
		return false;
	rte_spinlock_lock(&fault_lock);
	faults[site].tries++;
	hit = spec->times != 0 && faults[site].tries % RTE_MAX(spec->interval, 1u) == 0 &&
	      rte_rand_max(100) < spec->percent;
	if (hit && spec->times != UINT32_MAX)
		spec->times--;
	rte_spinlock_unlock(&fault_lock);
	return hit;
}

static void
arm_get(struct rte_mempool *mp, void *arg)
{
	struct page_pool *pool = page_pool_of(mp);

	if (pool == NULL)
		return;
	page_pool_lock(pool);
	pool->get_fault = page_pool_fault_armed(PAGE_POOL_FAULT_GET);
	page_pool_set_floor(pool);
	page_pool_unlock(pool);
}

int
page_pool_fault_set(enum page_pool_fault_site site, const struct page_pool_fault *fault)
{
	if (site >= PAGE_POOL_NB_FAULTS || fault->percent > 100)
		return -EINVAL;
	rte_spinlock_lock(&fault_lock);
	faults[site].spec = *fault;
	faults[site].tries = 0;
	rte_spinlock_unlock(&fault_lock);
	if (site == PAGE_POOL_FAULT_GET)
		rte_mempool_walk(arm_get, NULL);
	return 0;
}
