/* SPDX-License-Identifier: BSD-3-Clause */

/* The verbs of mlx4x-perf. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "count.h"
#include "options.h"
#include "scale.h"
#include "seeds.h"
#include "work.h"
#include "worker.h"

static int
list_main(const struct perf_options *options)
{
	const struct perf_scenario *scenario;

	for (scenario = perf_scenarios; scenario->name != NULL; scenario++)
		printf("%-17s %s\n", scenario->name, scenario->what);
	return EXIT_SUCCESS;
}

static const struct verb {
	const char *name;
	const char *help;
	int (*main)(const struct perf_options *options);
} verbs[] = {
	{ "compare", "our driver and the stock one, interleaved, on virtual cards",
	  perf_compare_main },
	{ "count", "the same below callgrind: instructions per packet", perf_count_main },
	{ "run", "one driver in this process: below vcx3, or on a real card", perf_run_main },
	{ "seeds", "what recycling gains, next to the kernel's own figures", perf_seeds_main },
	{ "scale", "two queues on two cores, at once and one after the other", perf_scale_main },
	{ "list", "the scenarios", list_main },
	{ "worker", "what compare starts: answers requests on its standard input",
	  perf_worker_main },
};

static int
usage(FILE *out)
{
	size_t i;

	fprintf(out, "mlx4x-perf measures cycles per packet of an Ethernet driver.\n\n"
		"usage: mlx4x-perf VERB [options]\n\n");
	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		fprintf(out, "  %-9s %s\n", verbs[i].name, verbs[i].help);
	fputc('\n', out);
	perf_options_help(out);
	return out == stdout ? EXIT_SUCCESS : 2;
}

int
main(int argc, char **argv)
{
	struct perf_options options;
	char reason[512];
	size_t i;

	if (argc < 2)
		return usage(stderr);
	if (strcmp(argv[1], "--help") == 0)
		return usage(stdout);
	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (strcmp(argv[1], verbs[i].name) != 0)
			continue;
		if (perf_options_parse(&options, argc - 2, argv + 2, reason, sizeof(reason)) == 0)
			return options.help ? usage(stdout) : verbs[i].main(&options);
		fprintf(stderr, "mlx4x-perf: %s\n", reason);
		return 2;
	}
	fprintf(stderr, "mlx4x-perf: unknown verb \"%s\"; mlx4x-perf --help lists them\n", argv[1]);
	return 2;
}
