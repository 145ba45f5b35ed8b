/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Cycles of a bulk get and put, page pool against the handlers of DPDK, in one run:
 * alternating, median of several turns, without per-lcore caches. With contention
 * another lcore does the same; then it is the time over the operations of both.
 * Run by meson benchmark.
 */

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include "page_pool_env.h"

#define NB_POOLS 3u
#define NB_TURNS 21u
#define NB_CYCLES 5000u
#define MAX_BULK 256u

static struct rte_mempool *pools[NB_POOLS];

/* What the other lcore does, and how often it did. */
static struct {
	struct rte_mempool *mp;
	unsigned int n;
	bool stop;
	uint64_t nb_done;
} other __rte_cache_aligned;

static int
contend(void *arg)
{
	void *objs[MAX_BULK];

	while (!__atomic_load_n(&other.stop, __ATOMIC_RELAXED)) {
		if (rte_mempool_get_bulk(other.mp, objs, other.n) != 0)
			continue;
		rte_mempool_put_bulk(other.mp, objs, other.n);
		__atomic_store_n(&other.nb_done, other.nb_done + 1, __ATOMIC_RELAXED);
	}
	return 0;
}

static void
start_other(struct rte_mempool *mp, unsigned int n, unsigned int lcore)
{
	other.mp = mp;
	other.n = n;
	other.stop = false;
	other.nb_done = 0;
	if (lcore == RTE_MAX_LCORE)
		return;
	rte_eal_remote_launch(contend, NULL, lcore);
	while (__atomic_load_n(&other.nb_done, __ATOMIC_RELAXED) == 0)
		rte_pause();
}

/* Cycles of one get and put in one turn, by all that did them. */
static double
turn(struct rte_mempool *mp, unsigned int n)
{
	uint64_t other_start = __atomic_load_n(&other.nb_done, __ATOMIC_RELAXED);
	uint64_t start = rte_rdtsc();
	void *objs[MAX_BULK];
	uint64_t nb_done;
	unsigned int i;

	for (i = 0; i < NB_CYCLES; i++)
		if (rte_mempool_get_bulk(mp, objs, n) == 0)
			rte_mempool_put_bulk(mp, objs, n);
	nb_done = NB_CYCLES + __atomic_load_n(&other.nb_done, __ATOMIC_RELAXED) - other_start;
	return (double)(rte_rdtsc() - start) / nb_done;
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
measure(unsigned int n, unsigned int other_lcore)
{
	double cycles[NB_POOLS][NB_TURNS];
	unsigned int i, k;

	for (k = 0; k < NB_TURNS; k++) {
		for (i = 0; i < NB_POOLS; i++) {
			start_other(pools[i], n, other_lcore);
			cycles[i][k] = turn(pools[i], n);
			__atomic_store_n(&other.stop, true, __ATOMIC_RELAXED);
			rte_eal_mp_wait_lcore();
		}
	}
	for (i = 0; i < NB_POOLS; i++)
		qsort(cycles[i], NB_TURNS, sizeof(double), compare);
	k = NB_TURNS / 2;
	printf("%-9s bulk %3u: page_pool %6.1f, ring_mp_mc %6.1f, stack %6.1f cycles; "
	       "page_pool / ring %.2f\n", other_lcore == RTE_MAX_LCORE ? "alone" : "contended", n,
	       cycles[0][k], cycles[1][k], cycles[2][k], cycles[0][k] / cycles[1][k]);
}

int
main(void)
{
	static const char *const handlers[NB_POOLS] = { NULL, "ring_mp_mc", "stack" };
	unsigned int i, n;

	start_eal("0,1");
	pools[0] = create_pool("page_pool", 4096, NULL);
	for (i = 1; i < NB_POOLS; i++) {
		pools[i] = rte_pktmbuf_pool_create_by_ops(handlers[i], 4096, 0, 0, 2176,
			SOCKET_ID_ANY, handlers[i]);
		CHECK(pools[i] != NULL);
	}
	if (check_status() != 0)
		return 1;
	for (n = 1; n <= MAX_BULK; n *= 4)
		measure(n, RTE_MAX_LCORE);
	for (n = 1; n <= MAX_BULK; n *= 4)
		measure(n, rte_get_next_lcore(-1, 1, 0));
	for (i = 0; i < NB_POOLS; i++)
		rte_mempool_free(pools[i]);
	rte_eal_cleanup();
	return 0;
}
