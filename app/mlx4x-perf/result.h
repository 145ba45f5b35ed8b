/* SPDX-License-Identifier: BSD-3-Clause */

/* Results: statistics over rounds, and the JSON file. */

#ifndef MLX4X_PERF_RESULT_H
#define MLX4X_PERF_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"

struct perf_scenario;

struct perf_result {
	struct perf_point point;
	const struct perf_scenario *scenario;
	bool cold;		/* completions, see struct perf_options */
	bool cold_data;
	bool no_huge;
	double ours_cycles;	/* per packet, median of rounds */
	double stock_cycles;	/* 0: not measured */
	double twin_cycles;	/* of the native hook with the same logic; 0: none */
	double twin_ratio;	/* ours / twin, as ratio */
	double ours_instructions;	/* per packet, see count.c; 0: not counted */
	double stock_instructions;
	double ratio;		/* stock / ours, median over pairs of rounds; 0: not measured */
	double spread;		/* of the ratio, or of the cycles of one driver; see perf_spread() */
	double fill;		/* packets of a burst, average; the smaller one of both drivers */
	uint32_t regions;
	uint32_t interrupted;
};

struct perf_results {
	struct perf_result *list;
	unsigned int nb;
};

/* A result without numbers, of a scenario at a point as the options have it measured. */
struct perf_result perf_result_at(const struct perf_options *options,
	const struct perf_scenario *scenario, const struct perf_point *point);

double perf_median(const double *values, unsigned int nb);

/* Distance of the quartiles over the median. */
double perf_spread(const double *values, unsigned int nb);

/* 0, or a negative errno after a sentence on the standard error output. */
int perf_results_add(struct perf_results *results, const struct perf_result *result);
int perf_results_write(const struct perf_results *results, const char *path);
void perf_results_free(struct perf_results *results);

#endif /* MLX4X_PERF_RESULT_H */
