/* SPDX-License-Identifier: BSD-3-Clause */

/* The command line as one table: parsing and --help are made from it. */

#ifndef MLX4X_PERF_OPTIONS_H
#define MLX4X_PERF_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PERF_LIST_MAX 16
#define PERF_BURST_MAX 64u
#define PERF_FRAME_MAX 9014	/* an MTU of 9000 */
#define PERF_QUEUES_MAX 8

/* What a measurement is made at; each of these can be swept. */
enum perf_axis {
	PERF_FRAME,	/* bytes without CRC */
	PERF_BURST,	/* packets asked for by one call */
	PERF_RING,	/* descriptors of a receive ring and of a send ring */
	PERF_QUEUES,	/* receive and send queues, all polled by one lcore */
	PERF_FLOWS,	/* of the generator */
	PERF_LAYOUT,	/* enum perf_layout */
	PERF_CQE,	/* bytes of a completion queue entry */
	PERF_NB_AXES,
};

enum perf_layout {
	PERF_LAYOUT_MBUF,	/* the default mempool handler */
	PERF_LAYOUT_PAGE,	/* page_pool: one buffer a page */
	PERF_LAYOUT_PACKED,	/* page_pool_packed */
	PERF_NB_LAYOUTS,
};

extern const char *const perf_axis_name[PERF_NB_AXES];
extern const char *const perf_layout_name[PERF_NB_LAYOUTS];

struct perf_point {
	uint32_t at[PERF_NB_AXES];
};

struct perf_list {
	unsigned int nb;
	uint32_t value[PERF_LIST_MAX];
};

/* Strings point into the words that were parsed. */
struct perf_options {
	struct perf_list axis[PERF_NB_AXES];
	bool given[PERF_NB_AXES];
	const char *scenarios;	/* names with commas between; NULL: all */
	const char *driver;	/* of run and worker: "stock" or a library */
	const char *ours;	/* the library that compare takes for ours, NULL: look for it */
	const char *launcher;	/* vcx3, NULL: look for it */
	const char *device;	/* PCI address */
	const char *json;
	const char *count_file;	/* not a word: where a worker's callgrind writes, see count.c */
	unsigned int rounds;
	unsigned int packets;	/* of a round */
	int cpu;		/* -1: the last one allowed */
	unsigned int cores;	/* that poll: 1, or 2 on the processor before cpu too */
	bool serial;
	bool sweep;
	bool cold;
	bool cold_data;
	bool thread;
	bool no_huge;
	bool soft_queue;
	bool help;
};

/* 0, or a negative errno with a sentence in reason. */
int perf_options_parse(struct perf_options *options, int nb, char **words, char *reason,
	size_t size);
void perf_options_help(FILE *out);

/* True if the scenario was asked for. */
bool perf_options_wants(const struct perf_options *options, const char *scenario);

/*
 * The i-th point to measure at: the product of all lists, or with --sweep one list after
 * the other, while the rest stay at their first values. False after the last.
 */
bool perf_options_point(const struct perf_options *options, unsigned int i,
	struct perf_point *point);

#endif /* MLX4X_PERF_OPTIONS_H */
