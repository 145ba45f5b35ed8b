/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * vcx3: runs a program with one virtual ConnectX-3. It checks the command line, builds the
 * state folder, starts the program with the preload library, waits, reports, cleans up.
 */

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "../core/fault.h"
#include "../pci/server.h"
#include "commands.h"
#include "ctl.h"
#include "mount.h"
#include "options.h"
#include "run.h"
#include "tree.h"
#include "wires.h"

#define PRELOAD "libvcx3_preload.so"
#define STATUS_USAGE 2
#define STATUS_VIOLATION 3

/* Where an installed preload library lies, seen from the folder of the launcher. */
static const char *const preload_places[] = {".", "../lib/vcx3", "../lib/x86_64-linux-gnu/vcx3"};

static void
print_help(void)
{
	char wires[8192];

	printf("vcx3 runs a program with one virtual ConnectX-3.\n\n"
	       "usage: vcx3 [options] -- COMMAND...\n"
	       "       vcx3 pci --socket PATH [options]    the card as PCI device of a VM\n"
	       "       vcx3 ctl SOCKET VERB...\n\n");
	vcx3_options_help(stdout);
	vcx3_wire_help(wires, sizeof(wires));
	printf("\nWires (SPEC):\n%s\nFaults:\n", wires);
	vcx3_faults_help(stdout);
	printf("\nVerbs of ctl:\n");
	vcx3_ctl_help(stdout);
	printf("\nExit status: that of COMMAND; 2 for a command line that is refused; 3 when a\n"
	       "rule of --strict was violated.\n");
}

static int
refuse(const char *sentence)
{
	fprintf(stderr, "vcx3: %s\n", sentence);
	return STATUS_USAGE;
}

/* Whether a file can be made here. */
static int
check_folder(const char *option, const char *path, char *reason, size_t size)
{
	char copy[PATH_MAX];
	int error;

	snprintf(copy, sizeof(copy), "%s", path);
	if (access(dirname(copy), W_OK) == 0)
		return 0;
	error = errno;
	snprintf(reason, size, "--%s: cannot make %s: %s", option, path, strerror(error));
	return -error;
}

/* A socket that somebody answers on is taken; one that nobody does is a dead one's. */
static int
check_control(const char *path, char *reason, size_t size)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stat status;
	int fd, taken;

	if (path == NULL)
		return 0;
	if (lstat(path, &status) != 0)
		return check_folder("control", path, reason, size);
	if (!S_ISSOCK(status.st_mode)) {
		snprintf(reason, size, "--control: %s exists and is no socket", path);
		return -EEXIST;
	}
	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	taken = fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
	if (fd >= 0)
		close(fd);
	if (taken) {
		snprintf(reason, size, "--control: another vcx3 listens at %s", path);
		return -EADDRINUSE;
	}
	unlink(path);
	return 0;
}

static int
check_faults(const struct vcx3_options *options, char *reason, size_t size)
{
	unsigned int i;
	int ret;

	for (i = 0; i < options->nb_faults; i++) {
		ret = vcx3_fault_check(options->fault[i], vcx3_uverbs_commands, reason, size);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* Everything that can be known to fail before anything is made. */
static int
check(const struct vcx3_options *options, struct vcx3_wire_plan *plan, char *reason, size_t size)
{
	int ret;

	ret = vcx3_options_wires(options, plan, reason, size);
	if (ret == 0)
		ret = vcx3_wire_plan_check(plan, reason, size);
	if (ret == 0)
		ret = check_faults(options, reason, size);
	if (ret == 0)
		ret = check_control(options->control, reason, size);
	if (ret == 0 && options->counters != NULL)
		ret = check_folder("counters", options->counters, reason, size);
	return ret;
}

static int
find_preload(char *path, size_t size)
{
	char self[PATH_MAX], *folder;
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	size_t i;

	if (length < 0)
		return -errno;
	self[length] = '\0';
	folder = dirname(self);
	for (i = 0; i < sizeof(preload_places) / sizeof(preload_places[0]); i++) {
		snprintf(path, size, "%s/%s/" PRELOAD, folder, preload_places[i]);
		if (access(path, R_OK) == 0)
			return 0;
	}
	return -ENOENT;
}

/* The program wrote its counters to the state folder; the file appears whole or not at all. */
static void
publish_counters(const char *dir, const char *to)
{
	static const char none[] = "{}\n";
	char from[512], buffer[65536];
	FILE *in, *out;
	size_t got;

	snprintf(from, sizeof(from), "%s/" VCX3_FILE_COUNTERS, dir);
	in = fopen(from, "re");
	out = fopen(to, "we");
	if (out == NULL) {
		fprintf(stderr, "vcx3: cannot write %s: %s\n", to, strerror(errno));
	} else if (in == NULL) {
		fwrite(none, 1, sizeof(none) - 1, out);
	} else {
		while ((got = fread(buffer, 1, sizeof(buffer), in)) > 0)
			fwrite(buffer, 1, got, out);
	}
	if (in != NULL)
		fclose(in);
	if (out != NULL && fclose(out) != 0)
		fprintf(stderr, "vcx3: cannot write %s: %s\n", to, strerror(errno));
}

/* Runs the program with a finished state folder. */
static int
run(const struct vcx3_options *options, struct vcx3_tree *tree, char **command)
{
	char preload[PATH_MAX + 64], reason[512];
	int status;

	if (find_preload(preload, sizeof(preload)) < 0)
		return refuse(PRELOAD " is missing beside the launcher");
	if (options->mount && vcx3_mount(tree->dir, reason, sizeof(reason)) < 0)
		return refuse(reason);
	status = vcx3_run(tree->dir, preload, command);
	if (options->counters != NULL)
		publish_counters(tree->dir, options->counters);
	if (tree->shared->violations != 0) {
		fprintf(stderr, "vcx3: %u violations of rules\n", tree->shared->violations);
		return STATUS_VIOLATION;
	}
	return status;
}

static int
launch(const struct vcx3_options *options, int nb, char **words, char **command)
{
	struct vcx3_tree tree = {.dir = ""};
	struct vcx3_wire_plan plan;
	struct vcx3_leftovers leftovers = {
		.dir = tree.dir,
		.control = options->control,
		.wires = &plan,
	};
	char reason[1024];
	int guard, status;

	if (check(options, &plan, reason, sizeof(reason)) < 0)
		return refuse(reason);
	status = vcx3_tree_create(&tree, options, nb, words, reason, sizeof(reason));
	if (status == 0) {
		guard = vcx3_janitor_start(&leftovers);
		status = guard < 0 ? refuse("cannot fork") : run(options, &tree, command);
	} else {
		status = refuse(reason);
	}
	vcx3_leftovers_remove(&leftovers);
	return status;
}

int
main(int argc, char **argv)
{
	struct vcx3_options options;
	char reason[1024];
	int taken;

	if (argc > 1 && strcmp(argv[1], "ctl") == 0)
		return vcx3_ctl(argc - 2, argv + 2);
	if (argc > 1 && strcmp(argv[1], "pci") == 0)
		return vcx3_pci_server(argc - 2, argv + 2);
	taken = vcx3_options_parse(&options, argc - 1, argv + 1, reason, sizeof(reason));
	if (taken < 0)
		return refuse(reason);
	if (options.help) {
		print_help();
		return 0;
	}
	if (taken == argc - 1 || strcmp(argv[1 + taken], "--") != 0 || taken + 2 == argc)
		return refuse("no COMMAND; usage: vcx3 [options] -- COMMAND..., see --help");
	return launch(&options, taken, argv + 1, argv + 1 + taken + 1);
}
