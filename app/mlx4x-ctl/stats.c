/* SPDX-License-Identifier: BSD-3-Clause */

/* stats: totals once, or rates every few seconds until the count is reached. */

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "command.h"

#define NS_PER_S 1000000000LL

struct stats {
	const char *port;
	unsigned long interval_s;	/* 0: totals, once */
	unsigned long count;		/* lines at most; 0: no limit */
};

static const struct argp_option options[] = {
	{ "interval", 'i', "SECONDS", 0, "Rates every so many seconds", 0 },
	{ "count", 'c', "N", 0, "End after N of them", 0 },
	{ 0 },
};

/* Columns of the rates: what is received is the sum of the others. */
static const struct {
	const char *counter;
	const char *title;
} columns[] = {
	{ "rx_xdp_packets", "rx/s" },
	{ "rx_xdp_drop", "drop/s" },
	{ "rx_xdp_pass", "pass/s" },
	{ "rx_xdp_tx", "tx/s" },
	{ "rx_xdp_redirect", "redirect/s" },
	{ "rx_xdp_aborted", "aborted/s" },
};

static error_t
parse_option(int key, char *arg, struct argp_state *state)
{
	struct stats *stats = state->input;

	switch (key) {
	case 'i':
		stats->interval_s = option_number(state, "--interval", arg, 86400);
		return 0;
	case 'c':
		stats->count = option_number(state, "--count", arg, UINT32_MAX);
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num != 0)
			argp_error(state, "one port, not also \"%s\"", arg);
		stats->port = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* {"NAME": counters, ...} or NULL after a sentence. */
static json_t *
read_counters(struct ctl *ctl, const json_t *ports)
{
	json_t *all = json_object();
	const json_t *port;
	size_t i;

	json_array_foreach(ports, i, port) {
		json_t *answer = client_ask(&ctl->client, "/mlx4x/xdp/stats,port=%lld",
			answer_number(port, "port"));

		if (answer == NULL) {
			json_decref(all);
			return NULL;
		}
		json_object_set_new(all, answer_text(port, "name"), answer);
	}
	return all;
}

static void
print_totals(json_t *all)
{
	const char *port, *name;
	json_t *counters, *value;

	json_object_foreach(all, port, counters) {
		printf("%s\n", port);
		json_object_foreach(counters, name, value)
			printf("  %-30s %lld\n", name, (long long)json_integer_value(value));
	}
}

/* Counts per second between two answers, by the clock of the application. */
static long long
rate(const json_t *before, const json_t *after, const char *counter)
{
	long long ns = answer_number(after, "time_ns") - answer_number(before, "time_ns");
	long long count = answer_number(after, counter) - answer_number(before, counter);

	return ns > 0 ? (long long)((double)count * NS_PER_S / ns) : 0;
}

static void
print_rates(const struct ctl *ctl, const json_t *before, json_t *after)
{
	const json_t *old;
	json_t *counters;
	const char *port;
	size_t i;

	json_object_foreach(after, port, counters) {
		json_t *line = json_pack("{s:s}", "name", port);

		old = json_object_get(before, port);
		if (!ctl->json)
			printf("%-20s", port);
		for (i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
			long long value = rate(old, counters, columns[i].counter);

			if (ctl->json)
				json_object_set_new(line, columns[i].title, json_integer(value));
			else
				printf(" %s %-9lld", columns[i].title, value);
		}
		if (ctl->json)
			print_json(line, ctl->pretty);
		else
			putchar('\n');
		json_decref(line);
	}
	fflush(stdout);
}

static int
show_rates(struct ctl *ctl, const struct stats *stats, const json_t *ports)
{
	struct timespec pause = { .tv_sec = stats->interval_s };
	json_t *before = read_counters(ctl, ports);
	unsigned long i;

	for (i = 0; before != NULL && (stats->count == 0 || i < stats->count); i++) {
		json_t *after;

		nanosleep(&pause, NULL);
		after = read_counters(ctl, ports);
		if (after != NULL)
			print_rates(ctl, before, after);
		json_decref(before);
		before = after;
	}
	json_decref(before);
	return before != NULL ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int
show_totals(struct ctl *ctl, const json_t *ports)
{
	json_t *all = read_counters(ctl, ports);

	if (all != NULL && !ctl->json)
		print_totals(all);
	return finish_answer(ctl, all);
}

int
command_stats(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp argp = {
		.options = options, .parser = parse_option, .args_doc = "[PORT]",
		.doc = "Shows the counters of verdicts, or their rates with --interval.",
	};
	struct stats stats = { .port = NULL };
	json_t *ports;
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &stats);
	ports = ask_ports(ctl, stats.port);
	if (ports == NULL)
		return EXIT_FAILURE;
	status = stats.interval_s != 0 ? show_rates(ctl, &stats, ports) : show_totals(ctl, ports);
	json_decref(ports);
	return status;
}
