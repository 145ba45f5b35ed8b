/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A page pool of a primary process, used by a secondary one: pages cross, counters are
 * shared, mapping stays the primary's, and what a secondary keeps is known as in use.
 */

#include <sys/wait.h>
#include <unistd.h>

#include "page_pool_env.h"

#define NB_PAGES 512u
#define POOL_NAME "shared"

static void
start_shared_eal(const char *type, const char *prefix)
{
	const char *args[] = { "page_pool_test", "--proc-type", type, "--file-prefix", prefix,
		"-m", "32", "--no-pci", "--no-telemetry", "--log-level", "3", "--lcores",
		strcmp(type, "primary") == 0 ? "0@0" : "1@0" };
	char *argv[RTE_DIM(args)];

	memcpy(argv, args, sizeof(argv));
	if (rte_eal_init(RTE_DIM(argv), argv) < 0)
		SKIP("no %s process here, it needs 16 hugepages of 2 MiB: %s", type,
		     rte_strerror(rte_errno));
}

static int
no_map(void *device, struct rte_mempool *mp, void *addr, size_t len)
{
	CHECK(false, "a secondary process mapped");
	return -1;
}

/* Takes and puts pages, keeps seven. */
static int
secondary(const char *prefix)
{
	static const struct page_pool_mapper mapper = { .map = no_map };
	struct rte_mbuf *mbufs[64];
	struct rte_mempool *mp;
	unsigned int i;

	start_shared_eal("secondary", prefix);
	mp = rte_mempool_lookup(POOL_NAME);
	CHECK(mp != NULL);
	if (mp == NULL)
		return check_status();
	for (i = 0; i < 1000; i++) {
		CHECK(rte_pktmbuf_alloc_bulk(mp, mbufs, 64) == 0);
		CHECK(mbufs[i % 64]->buf_addr == rte_mbuf_buf_addr(mbufs[i % 64], mp));
		rte_pktmbuf_free_bulk(mbufs, 64);
	}
	CHECK(rte_pktmbuf_alloc_bulk(mp, mbufs, 7) == 0);
	CHECK(stats_of(mp).in_use >= 7);
	CHECK(page_pool_attach(mp, &mapper, NULL) == -ENOTSUP);
	CHECK(page_pool_trim(mp, 1) == -ENOTSUP);
	return check_status();
}

/* Runs this program as the secondary process, and uses the pool meanwhile. */
static int
run_secondary(const char *program, const char *prefix, struct rte_mempool *mp)
{
	struct rte_mbuf *mbufs[64];
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		execl("/proc/self/exe", program, prefix, NULL);
		_exit(1);
	}
	while (pid > 0 && waitpid(pid, &status, WNOHANG) == 0) {
		CHECK(rte_pktmbuf_alloc_bulk(mp, mbufs, 64) == 0);
		rte_pktmbuf_free_bulk(mbufs, 64);
		usleep(100);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int
main(int argc, char **argv)
{
	struct page_pool_stats stats;
	struct rte_mempool *mp;
	char prefix[32];

	if (argc == 2)
		return secondary(argv[1]);
	snprintf(prefix, sizeof(prefix), "page_pool_%d", (int)getpid());
	start_shared_eal("primary", prefix);
	mp = create_pool(POOL_NAME, NB_PAGES, NULL);
	CHECK(run_secondary(argv[0], prefix, mp) == 0);
	stats = stats_of(mp);
	CHECK(stats.in_use == 7, "in use: %u", (unsigned int)stats.in_use);
	CHECK(stats.taken >= 64007 && stats.recycle_ring == stats.taken - 7);
	CHECK(page_pool_free(mp) == -EBUSY);
	rte_mempool_free(mp);
	rte_eal_cleanup();
	return check_status();
}
