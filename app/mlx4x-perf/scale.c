/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Our driver with two queues on two cores, which work at once or one after the other. The
 * virtual card moves in the first core's thread, so the second finds everything in the cache
 * of the first and takes longer, in both ways of working. So what both take at once is the
 * mean of their times, and the gain is 2 if they do not get in each other's way.
 */

#include "scale.h"

#include <signal.h>
#include <stdlib.h>

#include <rte_common.h>

#include "child.h"
#include "result.h"

#define NB_SIDES 2

static int
start_workers(struct perf_child child[NB_SIDES], const struct perf_options *options,
	char *reason, size_t size)
{
	unsigned int side;
	int ret = 0;

	for (side = 0; ret == 0 && side < NB_SIDES; side++) {
		struct perf_options here = *options;
		struct perf_point point;

		perf_options_point(options, 0, &point);
		point.at[PERF_QUEUES] = 2;
		here.cores = 2;
		here.serial = side == 0;
		ret = perf_child_start(&child[side], &here, perf_ours(options), &point, reason,
			size);
	}
	return ret;
}

static int
measure(struct perf_child child[NB_SIDES], const struct perf_options *options,
	const struct perf_scenario *scenario, char *reason, size_t size)
{
	double cycles[NB_SIDES][options->rounds], gain[options->rounds];
	unsigned int i, side;

	for (i = 0; i < options->rounds; i++) {
		for (side = 0; side < NB_SIDES; side++) {
			struct perf_round round;
			int ret = perf_child_round(&child[side], scenario->name,
				options->axis[PERF_BURST].value[0], options->packets, &round,
				reason, size);

			if (ret != 0)
				return ret;
			cycles[side][i] = round.cycles;
		}
		gain[i] = cycles[0][i] / cycles[1][i];
	}
	printf("%-17s one after the other %6.1f at once (mean of both) %6.1f cycles/packet  "
		"%4.2f times as fast  spread %4.1f %%; timed: %s\n", scenario->name,
		perf_median(cycles[0], options->rounds), perf_median(cycles[1], options->rounds),
		perf_median(gain, options->rounds), 100 * perf_spread(gain, options->rounds), scenario->what);
	fflush(stdout);
	return 0;
}

int
perf_scale_main(const struct perf_options *options)
{
	struct perf_child child[NB_SIDES] = { 0 };
	const struct perf_scenario *scenario;
	char reason[1024] = "";
	unsigned int side;
	int ret;

	if (!perf_child_possible(options))
		return EXIT_FAILURE;
	signal(SIGPIPE, SIG_IGN);
	ret = start_workers(child, options, reason, sizeof(reason));
	for (scenario = perf_scenarios; ret == 0 && scenario->name != NULL; scenario++) {
		/* The second core prepares no packets, and polls no queue of software. */
		if (scenario->prepare == NULL && !scenario->soft_queue &&
		    perf_options_wants(options, scenario->name) &&
		    perf_scenario_possible(scenario))
			ret = measure(child, options, scenario, reason, sizeof(reason));
	}
	for (side = 0; side < NB_SIDES; side++)
		perf_child_stop(&child[side]);
	if (ret != 0)
		fprintf(stderr, "mlx4x-perf: %s\n", reason);
	return ret == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
