/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_UNIT_PAGE_POOL_ENV_H
#define TESTS_UNIT_PAGE_POOL_ENV_H

/* What the tests of the page pool share: an EAL of their own, counters, a captured log. */

#include <string.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "check.h"
#include "page_pool.h"
#include "page_pool_cache.h"

static inline void
start_eal(const char *lcores)
{
	const char *args[] = { "page_pool_test", "--no-shconf", "--no-huge", "-m", "256", "--no-pci",
		"--no-telemetry", "--log-level", "5",
		"--lcores", lcores };
	char *argv[RTE_DIM(args)];

	memcpy(argv, args, sizeof(argv));
	if (rte_eal_init(RTE_DIM(argv), argv) < 0) {
		fprintf(stderr, "EAL does not start: %s\n", rte_strerror(rte_errno));
		exit(1);
	}
}

/* A pool without per-lcore caches, so that the handler sees each page. */
static inline struct rte_mempool *
create_pool(const char *name, unsigned int n, const struct page_pool_config *config)
{
	struct rte_mempool *mp = page_pool_create(name, n, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
		SOCKET_ID_ANY, config);

	if (mp == NULL) {
		fprintf(stderr, "no pool %s: %s\n", name, rte_strerror(rte_errno));
		exit(1);
	}
	return mp;
}

/* Counters; checks what holds at any time: each page is in exactly one place. */
static inline struct page_pool_stats
stats_of(const struct rte_mempool *mp)
{
	struct page_pool_stats stats;

	CHECK(page_pool_stats_get(mp, &stats) == 0);
	CHECK(stats.hold - stats.release == stats.inflight);
	CHECK(stats.inflight == stats.in_ring + stats.in_mempool_cache + stats.in_use);
	return stats;
}

static char *log_text;
static size_t log_len;
static FILE *log_stream;

static inline void
log_capture(void)
{
	log_stream = open_memstream(&log_text, &log_len);
	rte_openlog_stream(log_stream);
}

/* Ends the capture; whether the log held these words. */
static inline bool
log_had(const char *words)
{
	bool had;

	rte_openlog_stream(NULL);
	fclose(log_stream);
	had = strstr(log_text, words) != NULL;
	if (!had)
		fprintf(stderr, "the log was: %s", log_text);
	free(log_text);
	return had;
}

#endif /* TESTS_UNIT_PAGE_POOL_ENV_H */
