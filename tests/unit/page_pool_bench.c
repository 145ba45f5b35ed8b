/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Cycles of a bulk get and put, page pool against the handlers of DPDK, in one run:
 * alternating, best of several, without per-lcore caches. Run by meson benchmark.
 */

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include "page_pool_env.h"

#define NB_POOLS 3u
#define NB_TURNS 20u
#define NB_CYCLES 5000u
#define MAX_BULK 256u

static struct rte_mempool *pools[NB_POOLS];
static bool contend;

/* Another lcore that uses the same pool, when the machine has two. */
static int
disturb(void *arg)
{
	void *objs[32];

	while (__atomic_load_n(&contend, __ATOMIC_RELAXED))
		if (rte_mempool_get_bulk(arg, objs, 32) == 0)
			rte_mempool_put_bulk(arg, objs, 32);
	return 0;
}

static uint64_t
turn(struct rte_mempool *mp, unsigned int n)
{
	void *objs[MAX_BULK];
	uint64_t start = rte_rdtsc();
	unsigned int i;

	for (i = 0; i < NB_CYCLES; i++) {
		if (rte_mempool_get_bulk(mp, objs, n) != 0)
			return UINT64_MAX;
		rte_mempool_put_bulk(mp, objs, n);
	}
	return rte_rdtsc() - start;
}

static void
measure(unsigned int n, unsigned int other_lcore)
{
	uint64_t best[NB_POOLS] = { UINT64_MAX, UINT64_MAX, UINT64_MAX };
	unsigned int i, k;

	for (k = 0; k < NB_TURNS; k++) {
		for (i = 0; i < NB_POOLS; i++) {
			contend = other_lcore != RTE_MAX_LCORE;
			if (contend)
				rte_eal_remote_launch(disturb, pools[i], other_lcore);
			best[i] = RTE_MIN(best[i], turn(pools[i], n));
			__atomic_store_n(&contend, false, __ATOMIC_RELAXED);
			rte_eal_mp_wait_lcore();
		}
	}
	printf("%-9s bulk %3u: page_pool %6.1f, ring_mp_mc %6.1f, stack %6.1f cycles; "
	       "page_pool / ring %.2f\n", other_lcore == RTE_MAX_LCORE ? "alone" : "contended", n,
	       (double)best[0] / NB_CYCLES, (double)best[1] / NB_CYCLES,
	       (double)best[2] / NB_CYCLES, (double)best[0] / best[1]);
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
