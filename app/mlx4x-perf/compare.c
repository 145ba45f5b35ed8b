/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Ours and the stock driver in one invocation: a worker of each, on the same processor,
 * that take turns round by round. What the machine does meanwhile (its frequency, its other
 * guests) hits both alike, so the ratio holds where the cycles do not.
 */

#include "compare.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "child.h"
#include "result.h"

/* What takes turns: the drivers, and with our driver the native twin of a program. */
enum side {
	OURS,
	STOCK,
	TWIN,
	NB_SIDES,
};

#define NB_DRIVERS 2

struct pair {
	struct perf_child child[NB_DRIVERS];
	struct perf_point point;
	bool soft_queue;
	bool running;
};

/* Workers stay while only the burst changes: it is a word of each request. */
static bool
fits(const struct pair *pair, const struct perf_point *point, bool soft_queue)
{
	struct perf_point at = *point;

	at.at[PERF_BURST] = pair->point.at[PERF_BURST];
	return pair->running && soft_queue == pair->soft_queue &&
		memcmp(&at, &pair->point, sizeof(at)) == 0;
}

static void
stop_pair(struct pair *pair)
{
	unsigned int side;

	for (side = 0; pair->running && side < NB_DRIVERS; side++)
		perf_child_stop(&pair->child[side]);
	pair->running = false;
}

/* A ratio of a driver to itself would look like a result. */
static int
check_drivers(const struct pair *pair, char *reason, size_t size)
{
	if (strcmp(pair->child[OURS].driver, pair->child[STOCK].driver) != 0)
		return 0;
	snprintf(reason, size, "both workers run %s: nothing to compare", pair->child[OURS].driver);
	return -EINVAL;
}

static int
start_pair(struct pair *pair, const struct perf_options *options, const struct perf_point *point,
	char *reason, size_t size)
{
	int ret;

	if (fits(pair, point, options->soft_queue))
		return 0;
	stop_pair(pair);
	pair->point = *point;
	pair->soft_queue = options->soft_queue;
	ret = perf_child_start(&pair->child[OURS], options, perf_ours(options), point,
		reason, size);
	if (ret != 0)
		return ret;
	ret = perf_child_start(&pair->child[STOCK], options, "stock", point, reason, size);
	if (ret != 0) {
		perf_child_stop(&pair->child[OURS]);
		return ret;
	}
	pair->running = true;
	return check_drivers(pair, reason, size);
}

/* One round of each, the order turned round by round. */
static int
run_rounds(struct pair *pair, const struct perf_options *options,
	const struct perf_scenario *scenario, const struct perf_point *point, unsigned int i,
	struct perf_round round[NB_SIDES], char *reason, size_t size)
{
	unsigned int nb_sides = scenario->twin != NULL ? NB_SIDES : TWIN, turn;

	round[TWIN] = (struct perf_round){ 0 };
	for (turn = 0; turn < nb_sides; turn++) {
		unsigned int side = (i + turn) % nb_sides;
		int ret = perf_child_round(&pair->child[side == STOCK ? STOCK : OURS],
			side == TWIN ? scenario->twin : scenario->name, point->at[PERF_BURST],
			options->packets, &round[side], reason, size);

		if (ret != 0)
			return ret;
	}
	return 0;
}

static void
add_round(struct perf_result *result, const struct perf_round round[NB_SIDES])
{
	result->fill = RTE_MIN(result->fill, round[OURS].fill);
	result->fill = RTE_MIN(result->fill, round[STOCK].fill);
	result->regions += round[OURS].regions + round[STOCK].regions;
	result->interrupted += round[OURS].interrupted + round[STOCK].interrupted;
}

static int
measure(struct pair *pair, const struct perf_options *options,
	const struct perf_scenario *scenario, const struct perf_point *point,
	struct perf_result *result, char *reason, size_t size)
{
	double cycles[NB_SIDES][options->rounds], ratio[options->rounds], twin[options->rounds];
	unsigned int i, side;

	*result = perf_result_at(options, scenario, point);
	result->fill = PERF_BURST_MAX;
	for (i = 0; i < options->rounds; i++) {
		struct perf_round round[NB_SIDES];
		int ret = run_rounds(pair, options, scenario, point, i, round, reason, size);

		if (ret != 0)
			return ret;
		for (side = 0; side < NB_SIDES; side++)
			cycles[side][i] = round[side].cycles;
		ratio[i] = round[STOCK].cycles / round[OURS].cycles;
		twin[i] = scenario->twin != NULL ? round[OURS].cycles / round[TWIN].cycles : 0;
		add_round(result, round);
	}
	result->ours_cycles = perf_median(cycles[OURS], options->rounds);
	result->stock_cycles = perf_median(cycles[STOCK], options->rounds);
	result->twin_cycles = perf_median(cycles[TWIN], options->rounds);
	result->ratio = perf_median(ratio, options->rounds);
	result->twin_ratio = perf_median(twin, options->rounds);
	result->spread = perf_spread(ratio, options->rounds);
	return 0;
}

static void
print_result(const struct perf_result *result)
{
	const uint32_t *at = result->point.at;

	printf("%-17s ours %7.1f stock %7.1f cycles/packet  ratio %5.2f  spread %4.1f %%",
		result->scenario->name, result->ours_cycles, result->stock_cycles, result->ratio,
		100 * result->spread);
	if (result->scenario->twin != NULL)
		printf("  native hook %6.1f, %4.2f times that", result->twin_cycles,
			result->twin_ratio);
	printf("; frame %u, burst %u, ring %u, queues %u, flows %u, layout %s, CQE %u; timed: %s\n",
		 at[PERF_FRAME], at[PERF_BURST], at[PERF_RING],
		at[PERF_QUEUES], at[PERF_FLOWS], perf_layout_name[at[PERF_LAYOUT]], at[PERF_CQE],
		result->scenario->what);
	fflush(stdout);
}

static int
compare_point(struct pair *pair, const struct perf_options *options,
	const struct perf_point *point, struct perf_results *results, char *reason, size_t size)
{
	const struct perf_scenario *scenario;
	int ret = 0;

	for (scenario = perf_scenarios; ret == 0 && scenario->name != NULL; scenario++) {
		struct perf_options here = *options;
		struct perf_result result;

		if (!perf_options_wants(options, scenario->name) ||
		    !perf_scenario_possible(scenario))
			continue;
		here.soft_queue = scenario->soft_queue;
		ret = start_pair(pair, &here, point, reason, size);
		if (ret == 0)
			ret = measure(pair, &here, scenario, point, &result, reason, size);
		if (ret != 0)
			return ret;
		print_result(&result);
		ret = perf_results_add(results, &result);
	}
	return ret;
}

static void
print_head(const struct perf_options *options)
{
	printf("%s against the stock driver, %u interleaved rounds of %u packets, card %s%s; "
		"median of the rounds, ratio and spread (quartiles over median) of the pairs\n",
		perf_ours(options), options->rounds, options->packets,
		options->thread ? "in a thread of its own" : "stepped between timed regions",
		options->cold_data ? ", cold packets and completions" :
		options->cold ? ", cold completions" : "");
}

int
perf_compare_main(const struct perf_options *options)
{
	struct perf_results results = { 0 };
	struct pair pair = { .running = false };
	struct perf_point point;
	char reason[1024] = "";
	unsigned int i;
	int ret = 0;

	if (!perf_child_possible(options))
		return EXIT_FAILURE;
	signal(SIGPIPE, SIG_IGN);
	print_head(options);
	for (i = 0; ret == 0 && perf_options_point(options, i, &point); i++)
		ret = compare_point(&pair, options, &point, &results, reason, sizeof(reason));
	stop_pair(&pair);
	if (ret != 0)
		fprintf(stderr, "mlx4x-perf: %s\n", reason);
	else if (options->json != NULL)
		ret = perf_results_write(&results, options->json);
	perf_results_free(&results);
	return ret == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
