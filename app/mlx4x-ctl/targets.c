/* SPDX-License-Identifier: BSD-3-Clause */

/* targets: where programs of a port may redirect to. */

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

struct targets {
	const char *verb;
	const char *port;
	const char *target;
	unsigned long queue;
};

static const char doc[] =
	"Where programs of a port may redirect to.\v"
	"  targets list PORT\n"
	"  targets set PORT TARGET      a port of another driver, by number or name\n"
	"  targets delete PORT TARGET\n"
	"\n"
	"Frames of receive queue i leave such a port by its send queue N + i, which nobody\n"
	"else may use. Ports of net_mlx4x need not be set.";

static const struct argp_option options[] = {
	{ "txq", 'q', "N", 0, "First send queue; 0 unless told", 0 },
	{ 0 },
};

static error_t
parse(int key, char *arg, struct argp_state *state)
{
	struct targets *targets = state->input;
	const char **words[] = { &targets->verb, &targets->port, &targets->target };

	switch (key) {
	case 'q':
		targets->queue = option_number(state, "--txq", arg, UINT16_MAX);
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num >= sizeof(words) / sizeof(words[0]))
			argp_error(state, "one port and one target, not also \"%s\"", arg);
		*words[state->arg_num] = arg;
		return 0;
	case ARGP_KEY_END:
		if (state->arg_num < 2)
			argp_error(state, "what to do and a port are needed");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int
list(struct ctl *ctl, int port)
{
	json_t *answer = client_ask(&ctl->client, "/mlx4x/xdp/targets/list,port=%d", port);
	const char *name;
	json_t *target;

	if (answer != NULL && !ctl->json)
		printf("%-5s %-24s %-11s %-11s %-10s %-4s %s\n", "Port", "Name", "Ifindex",
			"Number", "Way", "Txq", "State");
	json_object_foreach(answer, name, target) {
		char queue[24] = "-";

		if (!json_is_object(target) || ctl->json)
			continue;
		if (json_object_get(target, "txq") != NULL)
			snprintf(queue, sizeof(queue), "%lld", answer_number(target, "txq"));
		printf("%-5lld %-24s %-11lld %-11lld %-10s %-4s %s\n",
			answer_number(target, "port"), answer_text(target, "name"),
			answer_number(target, "ifindex"), answer_number(target, "number"),
			answer_text(target, "way"), queue,
			answer_number(target, "started") != 0 ? "started" : "stopped");
	}
	return finish_answer(ctl, answer);
}

int
command_targets(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp argp = {
		.options = options, .parser = parse, .args_doc = "VERB PORT [TARGET]", .doc = doc,
	};
	struct targets targets = { 0 };
	bool is_list, is_set;
	int port;

	argp_parse(&argp, argc, argv, 0, NULL, &targets);
	is_list = strcmp(targets.verb, "list") == 0;
	is_set = strcmp(targets.verb, "set") == 0;
	if (!is_list && !is_set && strcmp(targets.verb, "delete") != 0) {
		report("targets %s: no such verb; list, set, delete", targets.verb);
		return EXIT_USAGE;
	}
	if (is_list == (targets.target != NULL)) {
		report("targets %s takes a port%s", targets.verb, is_list ? "" : " and a target");
		return EXIT_USAGE;
	}
	port = find_port(ctl, targets.port);
	if (port < 0)
		return EXIT_FAILURE;
	if (is_list)
		return list(ctl, port);
	if (is_set)
		return finish_answer(ctl, client_ask(&ctl->client, "/mlx4x/xdp/targets/set,port=%d,"
			"target=%s,txq=%lu", port, targets.target, targets.queue));
	return finish_answer(ctl, client_ask(&ctl->client, "/mlx4x/xdp/targets/delete,port=%d,"
		"target=%s", port, targets.target));
}
