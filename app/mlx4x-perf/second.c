/* SPDX-License-Identifier: BSD-3-Clause */

/* The second core; see second.h. */

#include "second.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_pause.h>

#include "clock.h"

struct perf_second {
	struct perf_work work;
	unsigned int lcore;
	uint32_t (*timed)(struct perf_work *work);	/* NULL ends the loop */
	uint64_t cycles;
	uint32_t packets;
	uint32_t asked;		/* runs asked for; written by the first core */
	uint32_t done;		/* written by the second */
};

static int
loop(void *arg)
{
	struct perf_second *second = arg;

	for (;;) {
		uint64_t start;

		while (__atomic_load_n(&second->asked, __ATOMIC_ACQUIRE) == second->done)
			rte_pause();
		if (second->timed == NULL)
			return 0;
		start = perf_clock();
		second->packets = second->timed(&second->work);
		second->cycles = perf_clock() - start;
		__atomic_store_n(&second->done, second->done + 1, __ATOMIC_RELEASE);
	}
}

int
perf_second_begin(struct perf_work *work, char *reason, size_t size)
{
	unsigned int lcore = rte_get_next_lcore(-1, 1, 0);
	struct perf_second *second = calloc(1, sizeof(*second));
	int ret = lcore >= RTE_MAX_LCORE || work->ports.nb_queues < 2 ? -EINVAL : 0;

	if (ret == 0 && second == NULL)
		ret = -ENOMEM;
	if (ret == 0) {
		work->nb_polled = work->ports.nb_queues / 2;
		second->work = *work;
		second->work.first_queue = work->nb_polled;
		second->work.queue = work->nb_polled;
		second->lcore = lcore;
		ret = rte_eal_remote_launch(loop, second, lcore);
	}
	if (ret == 0) {
		work->second = second;
		return 0;
	}
	free(second);
	snprintf(reason, size, "a second core needs another processor and two queues");
	return ret;
}

void
perf_second_end(struct perf_work *work)
{
	if (work->second == NULL)
		return;
	perf_second_start(work, NULL);
	rte_eal_wait_lcore(work->second->lcore);
	free(work->second);
	work->second = NULL;
}

void
perf_second_start(struct perf_work *work, uint32_t (*timed)(struct perf_work *work))
{
	struct perf_second *second = work->second;

	second->work.burst = work->burst;
	second->work.calls = work->calls;
	second->timed = timed;
	__atomic_store_n(&second->asked, second->asked + 1, __ATOMIC_RELEASE);
}

uint64_t
perf_second_wait(struct perf_work *work, uint32_t *packets)
{
	const struct perf_second *second = work->second;

	while (__atomic_load_n(&second->done, __ATOMIC_ACQUIRE) != second->asked)
		rte_pause();
	*packets += second->packets;
	return second->cycles;
}
