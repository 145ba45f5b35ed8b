/* SPDX-License-Identifier: BSD-3-Clause */

/* Results; see result.h. */

#include "result.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "work.h"

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The value below which a share of all lies, between the two neighbours. */
static double
quantile(const double *values, unsigned int nb, double share)
{
	double sorted[nb], at = share * (nb - 1);
	unsigned int below = at;

	memcpy(sorted, values, sizeof(sorted));
	qsort(sorted, nb, sizeof(*sorted), by_value);
	if (below + 1 == nb)
		return sorted[below];
	return sorted[below] + (at - below) * (sorted[below + 1] - sorted[below]);
}

double
perf_median(const double *values, unsigned int nb)
{
	return quantile(values, nb, 0.5);
}

struct perf_result
perf_result_at(const struct perf_options *options, const struct perf_scenario *scenario,
	const struct perf_point *point)
{
	return (struct perf_result){
		.point = *point,
		.scenario = scenario,
		.cold = options->cold || options->cold_data,
		.cold_data = options->cold_data,
		.no_huge = options->no_huge,
	};
}

double
perf_spread(const double *values, unsigned int nb)
{
	return (quantile(values, nb, 0.75) - quantile(values, nb, 0.25)) / perf_median(values, nb);
}

int
perf_results_add(struct perf_results *results, const struct perf_result *result)
{
	struct perf_result *list = realloc(results->list, (results->nb + 1) * sizeof(*list));

	if (list == NULL) {
		fprintf(stderr, "mlx4x-perf: no memory for another result\n");
		return -ENOMEM;
	}
	list[results->nb++] = *result;
	results->list = list;
	return 0;
}

/* What was not measured is null. */
static void
write_number(FILE *file, const char *name, double value)
{
	if (value > 0)
		fprintf(file, ", \"%s\": %.3f", name, value);
	else
		fprintf(file, ", \"%s\": null", name);
}

static void
write_result(FILE *file, const struct perf_result *result)
{
	const uint32_t *at = result->point.at;

	fprintf(file, "\t{\"scenario\": \"%s\", \"frame\": %u, \"burst\": %u, \"ring\": %u, "
		"\"queues\": %u, \"flows\": %u, \"layout\": \"%s\", \"cqe_size\": %u",
		result->scenario->name, at[PERF_FRAME], at[PERF_BURST], at[PERF_RING],
		at[PERF_QUEUES], at[PERF_FLOWS], perf_layout_name[at[PERF_LAYOUT]], at[PERF_CQE]);
	fprintf(file, ", \"caches\": \"%s\", \"pages\": \"%s\"", result->cold_data ?
		"cold completions and packets" : result->cold ? "cold completions" : "hot",
		result->no_huge ? "4 KiB" : "2 MiB");
	write_number(file, "ours_cycles", result->ours_cycles);
	write_number(file, "stock_cycles", result->stock_cycles);
	write_number(file, "twin_cycles", result->twin_cycles);
	write_number(file, "twin_ratio", result->twin_ratio);
	write_number(file, "ours_instructions", result->ours_instructions);
	write_number(file, "stock_instructions", result->stock_instructions);
	write_number(file, "ratio", result->ratio);
	fprintf(file, ", \"spread\": %.4f, \"fill\": %.2f, \"regions\": %u, "
		"\"interrupted\": %u}", result->spread, result->fill, result->regions,
		result->interrupted);
}

int
perf_results_write(const struct perf_results *results, const char *path)
{
	FILE *file = fopen(path, "w");
	unsigned int i;

	if (file == NULL) {
		int error = errno;

		fprintf(stderr, "mlx4x-perf: --json %s: %s\n", path, strerror(error));
		return -error;
	}
	fprintf(file, "[");
	for (i = 0; i < results->nb; i++) {
		fprintf(file, i == 0 ? "\n" : ",\n");
		write_result(file, &results->list[i]);
	}
	fprintf(file, "\n]\n");
	if (fclose(file) != 0) {
		fprintf(stderr, "mlx4x-perf: --json %s: the file is not complete\n", path);
		return -EIO;
	}
	return 0;
}

void
perf_results_free(struct perf_results *results)
{
	free(results->list);
	*results = (struct perf_results){ 0 };
}
