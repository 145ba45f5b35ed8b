/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * mlx4x-ctl: XDP programs on the ports of a running DPDK application that uses
 * net_mlx4x. It speaks like xdp-loader and bpftool; the application does the work.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

struct command {
	const char *name;
	int (*run)(struct ctl *ctl, int argc, char **argv);
};

static const struct command commands[] = {
	{ "load", command_load },
	{ "unload", command_unload },
	{ "status", command_status },
	{ "features", command_features },
	{ "stats", command_stats },
	{ "maps", command_maps },
	{ "targets", command_targets },
	{ "trace", command_trace },
};

struct settings {
	struct ctl ctl;
	const struct command *command;
	int first;		/* argv index of the command */
};

static const char doc[] =
	"XDP programs on the ports of a running DPDK application that uses net_mlx4x.\v"
	"Commands:\n"
	"  load PORT OBJECT     attach a program; see load --help\n"
	"  unload PORT          detach it\n"
	"  status [PORT]        which programs run\n"
	"  features PORT        what a port can do\n"
	"  stats [PORT]         counters of verdicts, once or every few seconds\n"
	"  maps list|dump|lookup|update|delete PORT ...\n"
	"                       maps of the attached program\n"
	"  targets list|set|delete PORT ...\n"
	"                       where programs may redirect to\n"
	"  trace PORT           packets that ended in XDP_ABORTED or an exception\n"
	"\n"
	"PORT is a port number of the application or the name of the port.\n"
	"Exit status: 0, 1 when the application refused, 2 for a wrong command line.";

static const struct argp_option options[] = {
	{ "file-prefix", 'f', "PREFIX", 0, "EAL file prefix of the application; rte unless told", 0 },
	{ "socket", 's', "PATH", 0, "Telemetry socket of the application, in place of -f", 0 },
	{ "json", 'j', NULL, 0, "Answer in JSON", 0 },
	{ "pretty", 'p', NULL, 0, "The same, indented", 0 },
	{ 0 },
};

static const struct command *
find_command(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	}
	return NULL;
}

static error_t
parse_option(int key, char *arg, struct argp_state *state)
{
	struct settings *settings = state->input;

	switch (key) {
	case 'f':
		settings->ctl.client.prefix = arg;
		return 0;
	case 's':
		settings->ctl.client.socket_path = arg;
		return 0;
	case 'p':
		settings->ctl.pretty = true;
		/* fall through */
	case 'j':
		settings->ctl.json = true;
		return 0;
	case ARGP_KEY_ARG:
		settings->command = find_command(arg);
		if (settings->command == NULL)
			argp_error(state, "no command \"%s\"", arg);
		settings->first = state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "a command is missing");
		return EINVAL;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int
main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options, .parser = parse_option, .args_doc = "COMMAND...", .doc = doc,
	};
	struct settings settings = { .ctl.client = { .prefix = "rte", .fd = -1 } };
	char name[64];
	int status;

	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &settings);
	snprintf(name, sizeof(name), "mlx4x-ctl %s", settings.command->name);
	argv[settings.first] = name;
	status = settings.command->run(&settings.ctl, argc - settings.first, argv + settings.first);
	client_close(&settings.ctl.client);
	return status;
}
