/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The same comparison in instructions, which repeat exactly where cycles do not: each
 * worker runs below callgrind, which counts only inside the timed function of the scenario.
 */

#include "count.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "result.h"

/* What callgrind collected: the line "summary: N" or, without one, "totals: N". */
static int
read_instructions(const char *path, uint64_t *instructions, char *reason, size_t size)
{
	FILE *file = fopen(path, "r");
	char line[512];
	int found = 0;

	while (file != NULL && found == 0 && fgets(line, sizeof(line), file) != NULL)
		found = sscanf(line, "summary: %lu", instructions) == 1 ||
			sscanf(line, "totals: %lu", instructions) == 1;
	if (file != NULL)
		fclose(file);
	if (found != 0)
		return 0;
	snprintf(reason, size, "callgrind left no sum in %s", path);
	return -ENODATA;
}

/* Instructions per packet of one driver, with a worker of its own. */
static int
count_driver(const struct perf_options *options, const char *driver,
	const struct perf_scenario *scenario, const struct perf_point *point, double *result,
	char *reason, size_t size)
{
	struct perf_options here = *options;
	struct perf_child child;
	struct perf_round round;
	uint64_t instructions;
	int ret;

	here.soft_queue = scenario->soft_queue;
	ret = perf_child_start(&child, &here, driver, point, reason, size);
	if (ret != 0)
		return ret;
	ret = perf_child_round(&child, scenario->name, point->at[PERF_BURST], options->packets,
		&round, reason, size);
	perf_child_stop(&child);
	if (ret == 0)
		ret = read_instructions(options->count_file, &instructions, reason, size);
	if (ret == 0)
		*result = (double)instructions / round.all_packets;
	unlink(options->count_file);
	return ret;
}

static int
count_scenario(const struct perf_options *options, const struct perf_scenario *scenario,
	const struct perf_point *point, struct perf_results *results, char *reason, size_t size)
{
	struct perf_result result = perf_result_at(options, scenario, point);
	int ret = count_driver(options, perf_ours(options), scenario, point,
		&result.ours_instructions, reason, size);

	if (ret == 0)
		ret = count_driver(options, "stock", scenario, point, &result.stock_instructions,
			reason, size);
	if (ret != 0)
		return ret;
	result.ratio = result.stock_instructions / result.ours_instructions;
	printf("%-17s ours %7.1f stock %7.1f instructions/packet  ratio %5.2f; frame %u, burst %u, "
		"ring %u; counted: %s\n", scenario->name, result.ours_instructions,
		result.stock_instructions, result.ratio, point->at[PERF_FRAME],
		point->at[PERF_BURST], point->at[PERF_RING], scenario->what);
	fflush(stdout);
	return perf_results_add(results, &result);
}

static int
count_all(const struct perf_options *options, struct perf_results *results, char *reason,
	size_t size)
{
	const struct perf_scenario *scenario;
	struct perf_point point;
	unsigned int i;
	int ret = 0;

	for (i = 0; perf_options_point(options, i, &point); i++) {
		for (scenario = perf_scenarios; ret == 0 && scenario->name != NULL; scenario++) {
			if (perf_options_wants(options, scenario->name) &&
			    perf_scenario_possible(scenario))
				ret = count_scenario(options, scenario, &point, results, reason,
					size);
		}
	}
	return ret;
}

int
perf_count_main(const struct perf_options *options)
{
	struct perf_options with_file = *options;
	struct perf_results results = { 0 };
	char path[] = "/tmp/mlx4x-perf-XXXXXX", reason[1024] = "";
	int fd, ret;

	if (!perf_child_possible(options))
		return EXIT_FAILURE;
	fd = mkstemp(path);
	if (fd < 0) {
		fprintf(stderr, "mlx4x-perf: %s: %s\n", path, strerror(errno));
		return EXIT_FAILURE;
	}
	close(fd);
	with_file.count_file = path;
	/* valgrind has no place for pages that it does not know. */
	with_file.no_huge = true;
	ret = count_all(&with_file, &results, reason, sizeof(reason));
	unlink(path);
	if (ret != 0)
		fprintf(stderr, "mlx4x-perf: %s\n", reason);
	else if (options->json != NULL)
		ret = perf_results_write(&results, options->json);
	perf_results_free(&results);
	return ret == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
