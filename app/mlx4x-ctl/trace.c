/* SPDX-License-Identifier: BSD-3-Clause */

/* trace: the events ring of the application, read with a cursor. */

#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "command.h"
#include "hex.h"

#define POLL_MS 200

#define NS_PER_S 1000000000.0

struct trace {
	const char *port;
	bool follow;
	unsigned long count;	/* events at most; 0: no limit */
};

static const struct argp_option options[] = {
	{ "follow", 'F', NULL, 0, "Wait for more events", 0 },
	{ "count", 'c', "N", 0, "End after N events", 0 },
	{ 0 },
};

static error_t
parse_option(int key, char *arg, struct argp_state *state)
{
	struct trace *trace = state->input;

	switch (key) {
	case 'F':
		trace->follow = true;
		return 0;
	case 'c':
		trace->count = option_number(state, "--count", arg, INT32_MAX);
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num != 0)
			argp_error(state, "one port, not also \"%s\"", arg);
		trace->port = arg;
		return 0;
	case ARGP_KEY_END:
		if (state->arg_num == 0)
			argp_error(state, "a port is needed");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const char *
action_name(long long action)
{
	static const char *const names[] = { "aborted", "drop", "pass", "tx", "redirect" };

	return action >= 0 && action < (long long)(sizeof(names) / sizeof(names[0])) ?
		names[action] : "unknown";
}

static void
print_event(const struct ctl *ctl, const json_t *event)
{
	char *bytes;

	if (ctl->json) {
		print_json(event, ctl->pretty);
		return;
	}
	bytes = client_join(json_object_get(event, "bytes"));
	printf("%lld: %.6f s ago, queue %lld, program %lld, %s (%lld), %lld bytes:\n",
		answer_number(event, "number"), (double)answer_number(event, "age_ns") / NS_PER_S,
		answer_number(event, "queue"), answer_number(event, "id"),
		action_name(answer_number(event, "action")), answer_number(event, "action"),
		answer_number(event, "len"));
	if (bytes != NULL)
		hex_print(bytes);
	putchar('\n');
	free(bytes);
}

/* Prints a page of events, at most limit unless 0; how many, or -1 after a sentence. */
static int
print_page(struct ctl *ctl, int port, long long *since, unsigned long limit)
{
	json_t *answer = client_ask(&ctl->client, "/mlx4x/xdp/trace,port=%d,since=%lld", port,
		*since);
	const char *name;
	json_t *event;
	int nb = 0;

	if (answer == NULL)
		return -1;
	if (answer_number(answer, "lost") != 0)
		report("%lld events were lost", answer_number(answer, "lost"));
	json_object_foreach(answer, name, event) {
		if (!json_is_object(event) || (limit != 0 && nb == (int)limit))
			continue;
		print_event(ctl, event);
		nb++;
	}
	fflush(stdout);
	*since = answer_number(answer, "next");
	json_decref(answer);
	return nb;
}

int
command_trace(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp argp = {
		.options = options, .parser = parse_option, .args_doc = "PORT",
		.doc = "Shows frames of a port that ended in XDP_ABORTED or an exception, with their "
			"first bytes.",
	};
	static const struct timespec pause = { .tv_nsec = POLL_MS * 1000000L };
	struct trace trace = { .follow = false };
	unsigned long left;
	long long since = 0;
	int nb, port;

	argp_parse(&argp, argc, argv, 0, NULL, &trace);
	port = find_port(ctl, trace.port);
	if (port < 0)
		return EXIT_FAILURE;
	left = trace.count;
	for (;;) {
		nb = print_page(ctl, port, &since, left);
		if (nb < 0)
			return EXIT_FAILURE;
		if (trace.count != 0 && (left -= nb) == 0)
			return EXIT_SUCCESS;
		if (nb == 0 && !trace.follow)
			return EXIT_SUCCESS;
		if (nb == 0)
			nanosleep(&pause, NULL);
	}
}
