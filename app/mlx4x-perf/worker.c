/* SPDX-License-Identifier: BSD-3-Clause */

/* One driver in this process: for compare (see worker.h), or by itself. */

#include "worker.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "program.h"
#include "result.h"
#include "second.h"
#include "vcx3.h"
#include "work.h"

static int
start(struct perf_work *work, const struct perf_options *options, const struct perf_point *point,
	char *reason, size_t size)
{
	*work = (struct perf_work){
		.frame = point->at[PERF_FRAME],
		.step = vcx3_present() && !options->thread,
		.serial = options->serial,
	};
	int ret = perf_ports_start(&work->ports, options, point, reason, size);

	work->runs_programs = ret == 0 && perf_program_possible(options);
	work->nb_polled = work->ports.nb_queues;
	if (ret == 0 && options->cores > 1)
		ret = perf_second_begin(work, reason, size);
	return ret;
}

/* The scenario that is prepared now; another one is ended first. */
static int
change_scenario(struct perf_work *work, const struct perf_scenario **now,
	const struct perf_scenario *scenario, char *reason, size_t size)
{
	int ret = 0;

	if (*now == scenario)
		return 0;
	if (*now != NULL)
		perf_work_end(work, *now);
	*now = NULL;
	if (scenario != NULL)
		ret = perf_work_begin(work, scenario, reason, size);
	if (ret == 0)
		*now = scenario;
	return ret;
}

static int
answer(struct perf_work *work, const struct perf_scenario **now, const char *line, FILE *out)
{
	char name[32], reason[256] = "a line that is no request";
	const struct perf_scenario *scenario = NULL;
	unsigned int burst, packets;
	struct perf_round round;
	int ret = -1;

	if (sscanf(line, "%31s %u %u", name, &burst, &packets) == 3)
		scenario = perf_scenario_find(name);
	if (scenario != NULL)
		ret = change_scenario(work, now, scenario, reason, sizeof(reason));
	if (ret == 0)
		ret = perf_work_round(work, scenario, burst, packets, &round, reason,
			sizeof(reason));
	if (ret == 0)
		fprintf(out, "ok %.3f %lu %lu %.2f %u %u\n", round.cycles, round.packets,
			round.all_packets, round.fill, round.regions, round.interrupted);
	else
		fprintf(out, "error %s\n", reason);
	return fflush(out);
}

int
perf_worker_main(const struct perf_options *options)
{
	/* Libraries print to the standard output: the answers keep it for themselves. */
	FILE *out = fdopen(dup(STDOUT_FILENO), "w");
	const struct perf_scenario *now = NULL;
	char line[128], reason[256] = "";
	static struct perf_work work;	/* at the same offset in a page each time */
	struct perf_point point;

	if (out == NULL || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return EXIT_FAILURE;
	perf_options_point(options, 0, &point);
	if (start(&work, options, &point, reason, sizeof(reason)) != 0) {
		fprintf(out, "error %s\n", reason);
		fclose(out);
		return EXIT_FAILURE;
	}
	fprintf(out, "ready %s %lu\n", work.ports.driver, rte_get_tsc_hz());
	fflush(out);
	while (fgets(line, sizeof(line), stdin) != NULL && answer(&work, &now, line, out) == 0)
		;
	change_scenario(&work, &now, NULL, reason, sizeof(reason));
	perf_second_end(&work);
	perf_ports_stop(&work.ports);
	fclose(out);
	return EXIT_SUCCESS;
}

static int
run_scenario(struct perf_work *work, const struct perf_options *options,
	const struct perf_scenario *scenario, const struct perf_point *point,
	struct perf_results *results)
{
	double cycles[options->rounds];
	struct perf_result result = perf_result_at(options, scenario, point);
	struct perf_round round;
	char reason[256] = "";
	unsigned int i;
	int ret = perf_work_begin(work, scenario, reason, sizeof(reason));

	result.fill = point->at[PERF_BURST];
	for (i = 0; ret == 0 && i < options->rounds; i++) {
		ret = perf_work_round(work, scenario, point->at[PERF_BURST], options->packets,
			&round, reason, sizeof(reason));
		cycles[i] = round.cycles;
		result.fill = RTE_MIN(result.fill, round.fill);
		result.interrupted += round.interrupted;
		result.regions += round.regions;
	}
	perf_work_end(work, scenario);
	if (ret != 0) {
		fprintf(stderr, "mlx4x-perf: %s\n", reason);
		return ret;
	}
	result.ours_cycles = perf_median(cycles, options->rounds);
	result.spread = perf_spread(cycles, options->rounds);
	printf("%-17s %8.1f cycles/packet, %6.2f Mpps at %.2f GHz, spread %.1f %%; frame %u, "
		"burst %u; timed: %s\n", scenario->name, result.ours_cycles,
		rte_get_tsc_hz() / result.ours_cycles / 1e6, rte_get_tsc_hz() / 1e9,
		100 * result.spread, point->at[PERF_FRAME], point->at[PERF_BURST],
		scenario->what);
	return perf_results_add(results, &result);
}

int
perf_run_main(const struct perf_options *options)
{
	const struct perf_scenario *scenario;
	struct perf_results results = { 0 };
	static struct perf_work work;	/* as above */
	struct perf_point point;
	char reason[256] = "";
	int ret;

	perf_options_point(options, 0, &point);
	ret = start(&work, options, &point, reason, sizeof(reason));
	if (ret != 0) {
		fprintf(stderr, "mlx4x-perf: %s\n", reason);
		return EXIT_FAILURE;
	}
	printf("driver %s, %s, ring %u, %u queues, layout %s\n", work.ports.driver,
		work.step ? "card stepped in this thread" : "card not stepped",
		point.at[PERF_RING], point.at[PERF_QUEUES],
		perf_layout_name[point.at[PERF_LAYOUT]]);
	for (scenario = perf_scenarios; ret == 0 && scenario->name != NULL; scenario++) {
		if (perf_options_wants(options, scenario->name) &&
		    scenario->soft_queue <= options->soft_queue &&
		    perf_scenario_possible(scenario))
			ret = run_scenario(&work, options, scenario, &point, &results);
	}
	perf_second_end(&work);
	perf_ports_stop(&work.ports);
	if (ret == 0 && options->json != NULL)
		ret = perf_results_write(&results, options->json);
	perf_results_free(&results);
	return ret == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
