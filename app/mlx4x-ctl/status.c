/* SPDX-License-Identifier: BSD-3-Clause */

/* status and features. */

#include <stdio.h>

#include "command.h"

static error_t
parse_port(int key, char *arg, struct argp_state *state)
{
	const char **port = state->input;

	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	if (state->arg_num != 0)
		argp_error(state, "one port, not also \"%s\"", arg);
	*port = arg;
	return 0;
}

/* A program of a port, or of one queue of it. */
static void
print_program(const json_t *port, const json_t *program)
{
	const json_t *queue = json_object_get(program, "queue");
	char queues[24];

	if (queue != NULL)
		snprintf(queues, sizeof(queues), "%lld", (long long)json_integer_value(queue));
	else
		snprintf(queues, sizeof(queues), "all %lld", answer_number(port, "queues"));
	printf("%-22s %-7s %-17s %-7s %-4lld %-17s %-9s %s\n", answer_text(port, "name"), queues,
		answer_text(program, "name"), answer_text(program, "mode"),
		answer_number(program, "id"), answer_text(program, "tag"),
		answer_text(program, "verify"), answer_text(program, "engine"));
}

/* The programs of a chain, in the order in which they run. */
static void
print_chain(json_t *program)
{
	const char *name;
	json_t *link;

	json_object_foreach(program, name, link) {
		if (!json_is_object(link))
			continue;
		printf(" =>  prio %-12lld %-7s %-17s %-7s %-4lld %-17s %-9s %s\n",
			answer_number(link, "prio"), "", answer_text(link, "name"), "",
			answer_number(link, "id"), answer_text(link, "tag"),
			answer_text(link, "verify"), answer_text(link, "actions"));
	}
}

static void
print_port(json_t *port)
{
	const char *name;
	json_t *program;
	unsigned int nb = 0;

	json_object_foreach(port, name, program) {
		if (!json_is_object(program))
			continue;
		print_program(port, program);
		print_chain(program);
		nb++;
	}
	if (nb == 0)
		printf("%-22s <No XDP program loaded!>\n", answer_text(port, "name"));
}

/* What the application says of its ports, with their programs; NULL after a sentence. */
static json_t *
ask_status(struct ctl *ctl, const char *word)
{
	json_t *ports = ask_ports(ctl, word);
	json_t *all = ports != NULL ? json_array() : NULL;
	json_t *port;
	size_t i;

	json_array_foreach(ports, i, port) {
		json_t *answer = client_ask(&ctl->client, "/mlx4x/xdp/status,port=%lld",
			answer_number(port, "port"));

		if (answer == NULL) {
			json_decref(all);
			all = NULL;
			break;
		}
		json_array_append_new(all, answer);
	}
	json_decref(ports);
	return all;
}

int
command_status(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse_port, .args_doc = "[PORT]", .doc = "Shows which programs run.",
	};
	const char *word = NULL;
	json_t *ports, *port;
	size_t i;

	argp_parse(&argp, argc, argv, 0, NULL, &word);
	ports = ask_status(ctl, word);
	if (ports != NULL && !ctl->json) {
		printf("%-22s %-7s %-17s %-7s %-4s %-17s %-9s %s\n", "Interface", "Queues",
			"Program name", "Mode", "ID", "Tag", "Verify", "Engine");
		json_array_foreach(ports, i, port)
			print_port(port);
	}
	return finish_answer(ctl, ports);
}

int
command_features(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse_port, .args_doc = "PORT", .doc = "Shows what a port can do.",
	};
	const char *word = NULL, *name;
	json_t *features, *value;
	int port;

	argp_parse(&argp, argc, argv, 0, NULL, &word);
	if (word == NULL) {
		report("features takes a port");
		return EXIT_USAGE;
	}
	port = find_port(ctl, word);
	if (port < 0)
		return EXIT_FAILURE;
	features = client_ask(&ctl->client, "/mlx4x/xdp/features,port=%d", port);
	json_object_foreach(features, name, value) {
		if (!ctl->json)
			printf("%-26s %lld\n", name, (long long)json_integer_value(value));
	}
	return finish_answer(ctl, features);
}
