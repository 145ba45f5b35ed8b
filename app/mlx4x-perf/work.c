/* SPDX-License-Identifier: BSD-3-Clause */

/* A round: feeding the port, running regions, leaving out what was interrupted. */

#include "work.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "clock.h"
#include "program.h"
#include "second.h"
#include "vcx3.h"

#define IDLE_SECONDS 3		/* without a packet before a round is given up */
#define STEPS_MAX 64		/* turns of the card before a region */

/*
 * A region that takes ten times the median of its round was interrupted: the longest that
 * a burst does by itself (a refill, a free of a batch) is within three times.
 */
#define INTERRUPTED 10

/* One region. */
struct record {
	uint64_t cycles;
	uint32_t packets;
};

static int
by_cycles(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	return x->cycles < y->cycles ? -1 : x->cycles > y->cycles;
}

/*
 * Moves the card until a region finds what it wants to take. The hash does not spread the
 * next packets evenly over queues: for two cores as much as the rings hold is moved.
 */
static void
feed(struct perf_work *work, const struct perf_scenario *scenario)
{
	int64_t wanted = !scenario->receives ? 1 : work->second != NULL ? INT64_MAX :
		(int64_t)work->burst * work->calls * work->ports.nb_queues;
	unsigned int i;

	if (!work->step)
		return;
	if (!scenario->receives)
		work->pending = 0;
	for (i = 0; i < STEPS_MAX; i++) {
		uint64_t moved = vcx3_step(1);

		work->pending += moved;
		if (moved == 0 || work->pending >= wanted)
			break;
	}
}

/* True if a region counts: not one that found the ring empty halfway. */
static bool
is_full(const struct perf_work *work, const struct record *region)
{
	uint32_t wanted = (uint32_t)work->burst * work->calls;

	return work->step ? 2 * region->packets >= wanted : region->packets != 0;
}

static void
account(struct perf_work *work, const struct perf_scenario *scenario,
	const struct record *region)
{
	/* The card also counts what it sends of the packets that were taken. */
	uint64_t moved = (uint64_t)region->packets * (scenario->sends ? 2 : 1);
	bool all = region->packets >= (uint32_t)work->burst * work->calls;

	work->pending = all ? work->pending - moved : 0;
}

static bool
has_program(const struct perf_work *work, const struct perf_scenario *scenario)
{
	return scenario->program != NULL && work->runs_programs;
}

/*
 * The timed function. What a program takes does not come out of a burst: a region is then
 * supposed to have been full, and count_judged() puts it right for all of them.
 */
static uint64_t
run_timed(struct perf_work *work, const struct perf_scenario *scenario, struct record *region)
{
	uint32_t (*timed)(struct perf_work *work) = scenario->plain == NULL ||
		has_program(work, scenario) ? scenario->timed : scenario->plain;
	uint64_t start, cycles;

	if (work->second != NULL && !work->serial)
		perf_second_start(work, timed);
	start = perf_clock();
	region->packets = timed(work);
	cycles = perf_clock() - start;
	if (work->second != NULL && work->serial) {
		perf_second_start(work, timed);
		cycles += perf_second_wait(work, &region->packets);
	} else if (work->second != NULL) {
		cycles = (cycles + perf_second_wait(work, &region->packets)) / 2;
	}
	if (has_program(work, scenario) && region->packets == 0)
		region->packets = (uint32_t)work->burst * work->calls;
	return cycles;
}

static struct record
run_region(struct perf_work *work, const struct perf_scenario *scenario)
{
	struct record region;

	feed(work, scenario);
	if (scenario->prepare != NULL)
		scenario->prepare(work);
	region.cycles = run_timed(work, scenario, &region);
	region.cycles -= RTE_MIN(region.cycles, work->clock_cost);
	if (scenario->tidy != NULL)
		scenario->tidy(work, region.packets);
	account(work, scenario, &region);
	return region;
}

static int
run_regions(struct perf_work *work, const struct perf_scenario *scenario, uint32_t packets,
	struct record *records, uint32_t *nb, struct perf_round *round)
{
	uint64_t limit = IDLE_SECONDS * rte_get_tsc_hz(), last = rte_rdtsc();
	uint32_t done = 0;

	for (*nb = 0; done < packets;) {
		struct record region = run_region(work, scenario);

		round->all_packets += region.packets;
		if (is_full(work, &region)) {
			done += region.packets;
			records[(*nb)++] = region;
			last = rte_rdtsc();
		} else if (rte_rdtsc() - last > limit) {
			return -ETIMEDOUT;
		}
	}
	return 0;
}

static void
summarise(const struct perf_work *work, struct record *records, uint32_t nb,
	struct perf_round *round)
{
	uint64_t cycles = 0, limit;
	uint32_t i;

	qsort(records, nb, sizeof(*records), by_cycles);
	limit = RTE_MAX(INTERRUPTED * records[nb / 2].cycles, 1u);
	for (i = 0; i < nb && records[i].cycles <= limit; i++) {
		cycles += records[i].cycles;
		round->packets += records[i].packets;
	}
	round->regions = nb;
	round->interrupted = nb - i;
	round->cycles = (double)cycles / round->packets;
	round->fill = (double)round->packets / i / work->calls;
}

int
perf_work_begin(struct perf_work *work, const struct perf_scenario *scenario, char *reason,
	size_t size)
{
	if (scenario->soft_queue && work->runs_programs && work->ports.nb_soft_queues == 0) {
		snprintf(reason, size, "scenario %s needs --soft-queue", scenario->name);
		return -EINVAL;
	}
	if (scenario->program != NULL && work->runs_programs)
		return perf_program_attach(work, scenario->program, reason, size);
	return scenario->begin != NULL ? scenario->begin(work, reason, size) : 0;
}

void
perf_work_end(struct perf_work *work, const struct perf_scenario *scenario)
{
	if (scenario->program != NULL && work->runs_programs)
		perf_program_detach(work);
	if (scenario->end != NULL)
		scenario->end(work);
}

/*
 * Puts packets right where programs judged them. Reading the counters is too much work to
 * be done between regions, where it would throw out of the cache what they need.
 */
static void
count_judged(const struct perf_work *work, const struct perf_scenario *scenario,
	uint64_t judged_before, struct perf_round *round)
{
	double share;

	if (!has_program(work, scenario))
		return;
	share = (double)(perf_program_judged(work) - judged_before) / round->all_packets;
	round->all_packets *= share;
	round->packets *= share;
	round->fill *= share;
	round->cycles /= share;
}

int
perf_work_round(struct perf_work *work, const struct perf_scenario *scenario, uint16_t burst,
	uint32_t packets, struct perf_round *round, char *reason, size_t size)
{
	/* A region that is recorded holds a packet or more. */
	struct record *records = calloc(packets, sizeof(*records));
	uint64_t judged = has_program(work, scenario) ? perf_program_judged(work) : 0;
	uint32_t nb;
	int ret;

	*round = (struct perf_round){ 0 };
	if (records == NULL) {
		snprintf(reason, size, "no memory for %u records", packets);
		return -ENOMEM;
	}
	work->burst = burst;
	work->calls = RTE_MAX(PERF_REGION_PACKETS / burst, 1u);
	work->clock_cost = perf_clock_cost();
	/* A first tenth warms caches and predictors and is not counted. */
	ret = run_regions(work, scenario, RTE_MAX(packets / 10, 1u), records, &nb, round);
	if (ret == 0)
		ret = run_regions(work, scenario, packets, records, &nb, round);
	if (ret == 0) {
		summarise(work, records, nb, round);
		count_judged(work, scenario, judged, round);
		ret = round->packets == 0 ? -ETIMEDOUT : 0;
	}
	if (ret != 0)
		snprintf(reason, size, "%s: no packet moved for %d seconds", scenario->name,
			IDLE_SECONDS);
	free(records);
	return ret;
}
