/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Four lcores take and put pages of one pool at random while the main lcore trims it
 * and reads its counters: no page is with two owners, none is lost, each count is exact.
 */

#include <unistd.h>

#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_random.h>

#include "page_pool_env.h"

#define NB_PAGES 2048u
#define NB_ROUNDS 20000u
#define MAX_HELD 256u

/* The owner of a page, in the first bytes of its buffer: 0 while it is free. */
static uint32_t *
owner_of(struct rte_mbuf *mbuf)
{
	return mbuf->buf_addr;
}

struct worker {
	struct rte_mempool *mp;
	uint64_t nb_taken;
	uint64_t nb_shared; /* pages that had an owner when they were handed out */
	unsigned int nb_held;
	struct rte_mbuf *held[MAX_HELD];
};

static struct worker workers[RTE_MAX_LCORE];

static void
take(struct worker *worker, unsigned int n)
{
	unsigned int i;

	if (worker->nb_held + n > MAX_HELD ||
	    rte_mempool_get_bulk(worker->mp, (void **)&worker->held[worker->nb_held], n) != 0)
		return;
	for (i = 0; i < n; i++)
		if (__atomic_exchange_n(owner_of(worker->held[worker->nb_held + i]),
					rte_lcore_id(), __ATOMIC_RELAXED) != 0)
			worker->nb_shared++;
	worker->nb_held += n;
	worker->nb_taken += n;
}

static void
put(struct worker *worker, unsigned int n)
{
	unsigned int i;

	n = RTE_MIN(n, worker->nb_held);
	worker->nb_held -= n;
	for (i = 0; i < n; i++)
		__atomic_store_n(owner_of(worker->held[worker->nb_held + i]), 0, __ATOMIC_RELAXED);
	rte_mempool_put_bulk(worker->mp, (void **)&worker->held[worker->nb_held], n);
}

static int
work(void *arg)
{
	struct worker *worker = &workers[rte_lcore_id()];
	unsigned int round;

	worker->mp = arg;
	for (round = 0; round < NB_ROUNDS; round++) {
		if (rte_rand_max(2) == 0)
			take(worker, 1 + rte_rand_max(64));
		else
			put(worker, 1 + rte_rand_max(64));
	}
	return 0;
}

static bool
workers_run(void)
{
	unsigned int lcore;

	RTE_LCORE_FOREACH_WORKER(lcore)
		if (rte_eal_get_lcore_state(lcore) == RUNNING)
			return true;
	return false;
}

/* What the workers hold is what the pool says is in use; all of it comes back. */
static void
check_books(struct rte_mempool *mp, bool handler_sees_all)
{
	uint64_t held = 0, taken = 0, shared = 0;
	struct page_pool_stats stats;
	unsigned int lcore;

	RTE_LCORE_FOREACH_WORKER(lcore) {
		held += workers[lcore].nb_held;
		taken += workers[lcore].nb_taken;
		shared += workers[lcore].nb_shared;
	}
	stats = stats_of(mp);
	CHECK(shared == 0);
	CHECK(taken > NB_ROUNDS);
	CHECK(stats.in_use == held);
	CHECK(stats.recycle_ring_full == 0);
	if (handler_sees_all) {
		CHECK(stats.taken == taken && stats.recycle_ring == taken - held);
		CHECK(stats.alloc_slow <= stats.hold);
	}
	RTE_LCORE_FOREACH_WORKER(lcore) {
		while (workers[lcore].nb_held != 0)
			put(&workers[lcore], MAX_HELD);
		memset(&workers[lcore], 0, sizeof(workers[lcore]));
	}
	CHECK(stats_of(mp).in_use == 0);
}

static void
test_stress(unsigned int cache_size, const struct page_pool_config *config)
{
	struct rte_mempool *mp = page_pool_create("stress", NB_PAGES, cache_size, 0, 1856,
		SOCKET_ID_ANY, config);

	CHECK(mp != NULL && rte_lcore_count() == 5);
	rte_eal_mp_remote_launch(work, mp, SKIP_MAIN);
	while (workers_run()) {
		CHECK(page_pool_trim(mp, 64) >= 0);
		/* With a mempool's own caches the sum is exact only at rest. */
		if (cache_size == 0)
			stats_of(mp);
		CHECK(page_pool_untrim(mp, 64) >= 0);
		rte_delay_us_sleep(500);
	}
	rte_eal_mp_wait_lcore();
	CHECK(page_pool_untrim(mp, NB_PAGES) >= 0);
	check_books(mp, cache_size == 0);
	CHECK(rte_mempool_avail_count(mp) == NB_PAGES);
	CHECK(page_pool_free(mp) == 0);
}

int
main(void)
{
	static const struct page_pool_config by_page = { .map_unit = 4096 };
	static const struct page_pool_config by_half = { .block_size = 4096, .map_unit = 32768 };

	/* Five lcores on two processors: they run at once, and are preempted anywhere. */
	start_eal(sysconf(_SC_NPROCESSORS_ONLN) > 1 ? "(0-4)@(0-1)" : "(0-4)@0");
	test_stress(0, &by_page);
	test_stress(0, &by_half);
	test_stress(128, &by_page);
	rte_eal_cleanup();
	return check_status();
}
