/* SPDX-License-Identifier: BSD-3-Clause */

/* load and unload: words as of xdp-loader. */

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

/* What fits a request, roughly; the client says so when it does not. */
#define MAX_WORDS 1024

struct load {
	const char *port;
	const char *object;
	const char *section;
	const char *program;
	const char *verify;
	const char *pin_dir;
	int queue;		/* -1: all */
	bool replace;
	bool append;
	unsigned long priority;	/* 0: what the object says */
};

static const struct argp_option load_options[] = {
	{ "mode", 'm', "MODE", 0, "native, which is the only one", 0 },
	{ "section", 's', "SECTION", 0, "ELF section of the program", 0 },
	{ "prog-name", 'n', "NAME", 0, "Function name of the program; the only one unless told", 0 },
	{ "pin-path", 'p', "DIR", 0, "bpffs folder in which maps are pinned and found", 0 },
	{ "verify", 'v', "MODE", 0, "auto, kernel, internal, cached or none; auto unless told", 0 },
	{ "queue", 'q', "N", 0, "Only on this receive queue", 0 },
	{ "replace", 'R', NULL, 0, "Take the place of a program that is attached", 0 },
	{ "append", 'a', NULL, 0, "Run with the programs that are attached, as a chain", 0 },
	{ "prio", 'P', "PRIO", 0, "Place in a chain, lower ones earlier; what the object says, or 50", 0 },
	{ 0 },
};

/* Never a silent fallback: what the driver does is native mode. */
static void
check_mode(const struct argp_state *state, const char *mode)
{
	if (strcmp(mode, "native") != 0 && strcmp(mode, "unspecified") != 0)
		argp_error(state, "mode \"%s\" is not supported: programs run in the driver (native)",
			mode);
}

static error_t
parse_load(int key, char *arg, struct argp_state *state)
{
	struct load *load = state->input;

	switch (key) {
	case 'm':
		check_mode(state, arg);
		return 0;
	case 's':
		load->section = arg;
		return 0;
	case 'n':
		load->program = arg;
		return 0;
	case 'p':
		load->pin_dir = arg;
		return 0;
	case 'v':
		load->verify = arg;
		return 0;
	case 'q':
		load->queue = (int)option_number(state, "--queue", arg, UINT16_MAX);
		return 0;
	case 'R':
		load->replace = true;
		return 0;
	case 'a':
		load->append = true;
		return 0;
	case 'P':
		load->priority = option_number(state, "--prio", arg, INT32_MAX);
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num == 0)
			load->port = arg;
		else if (state->arg_num == 1)
			load->object = arg;
		else
			argp_error(state, "one port and one object, not also \"%s\"", arg);
		return 0;
	case ARGP_KEY_END:
		if (state->arg_num < 2)
			argp_error(state, "a port and an object file are needed");
		if (load->append && load->replace)
			argp_error(state, "either --append or --replace");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* ",key=value" or nothing. */
static int
append(char *text, size_t size, const char *key, const char *value)
{
	size_t used = strlen(text);

	if (value == NULL)
		return 0;
	if (strchr(value, ',') != NULL) {
		report("%s: DPDK's telemetry cannot carry a comma", value);
		return -1;
	}
	if (snprintf(text + used, size - used, ",%s=%s", key, value) >= (int)(size - used)) {
		report("%s: the request gets too long", value);
		return -1;
	}
	return 0;
}

static int
describe_load(const struct load *load, char *text, size_t size)
{
	char queue[16], priority[24];

	snprintf(queue, sizeof(queue), "%d", load->queue);
	snprintf(priority, sizeof(priority), "%lu", load->priority);
	if (append(text, size, "sec", load->section) != 0 ||
	    append(text, size, "func", load->program) != 0 ||
	    append(text, size, "verify", load->verify) != 0 ||
	    append(text, size, "pin", load->pin_dir) != 0 ||
	    append(text, size, "queue", load->queue >= 0 ? queue : NULL) != 0 ||
	    append(text, size, "prio", load->priority != 0 ? priority : NULL) != 0 ||
	    append(text, size, "append", load->append ? "1" : NULL) != 0)
		return -1;
	return append(text, size, "replace", load->replace ? "1" : NULL);
}

/* The application opens the file, so it must know where it is. */
static int
load_object(struct ctl *ctl, const struct load *load, int port)
{
	char path[PATH_MAX], words[MAX_WORDS] = "";

	if (realpath(load->object, path) == NULL) {
		report("%s: %s", load->object, strerror(errno));
		return EXIT_FAILURE;
	}
	if (append(words, sizeof(words), "path", path) != 0 ||
	    describe_load(load, words, sizeof(words)) != 0)
		return EXIT_FAILURE;
	return finish_answer(ctl, client_ask(&ctl->client, "/mlx4x/xdp/load,port=%d%s", port,
		words));
}

int
command_load(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp argp = {
		.options = load_options, .parser = parse_load, .args_doc = "PORT OBJECT",
		.doc = "Attaches an XDP program of an ELF object to a port.",
	};
	struct load load = { .queue = -1 };
	int port;

	argp_parse(&argp, argc, argv, 0, NULL, &load);
	port = find_port(ctl, load.port);
	return port < 0 ? EXIT_FAILURE : load_object(ctl, &load, port);
}

struct unload {
	const char *port;
	unsigned long id;
	int queue;
	bool all;
};

static const struct argp_option unload_options[] = {
	{ "id", 'i', "ID", 0, "Only if this is the program", 0 },
	{ "all", 'a', NULL, 0, "Whatever the program is", 0 },
	{ "queue", 'q', "N", 0, "Only from this receive queue", 0 },
	{ 0 },
};

static error_t
parse_unload(int key, char *arg, struct argp_state *state)
{
	struct unload *unload = state->input;

	switch (key) {
	case 'i':
		unload->id = option_number(state, "--id", arg, UINT32_MAX);
		return 0;
	case 'a':
		unload->all = true;
		return 0;
	case 'q':
		unload->queue = (int)option_number(state, "--queue", arg, UINT16_MAX);
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num != 0)
			argp_error(state, "one port, not also \"%s\"", arg);
		unload->port = arg;
		return 0;
	case ARGP_KEY_END:
		if (state->arg_num == 0)
			argp_error(state, "a port is needed");
		if (unload->all == (unload->id != 0))
			argp_error(state, "either --id or --all is needed");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int
command_unload(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp argp = {
		.options = unload_options, .parser = parse_unload, .args_doc = "PORT",
		.doc = "Detaches the program of a port.",
	};
	struct unload unload = { .queue = -1 };
	char queue[32] = "", id[32] = "";
	int port;

	argp_parse(&argp, argc, argv, 0, NULL, &unload);
	port = find_port(ctl, unload.port);
	if (port < 0)
		return EXIT_FAILURE;
	if (unload.queue >= 0)
		snprintf(queue, sizeof(queue), ",queue=%d", unload.queue);
	if (unload.id != 0)
		snprintf(id, sizeof(id), ",id=%lu", unload.id);
	return finish_answer(ctl, client_ask(&ctl->client, "/mlx4x/xdp/unload,port=%d%s%s", port,
		queue, id));
}
