/* SPDX-License-Identifier: BSD-3-Clause */

/* Starting a worker and talking with it; see child.h. */

#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "near.h"

#define MAX_WORDS 64
#define TEXT_SIZE 4096

/* The words of a command, whose text is kept here. */
struct words {
	char *word[MAX_WORDS + 1];
	int nb;
	char text[TEXT_SIZE];
	size_t used;
};

__attribute__((format(printf, 2, 3)))
static void
add(struct words *words, const char *format, ...)
{
	char *at = words->text + words->used;
	size_t room = sizeof(words->text) - words->used;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(at, room, format, arguments);
	va_end(arguments);
	if (words->nb == MAX_WORDS || length < 0 || (size_t)length >= room)
		return;
	words->used += length + 1;
	words->word[words->nb++] = at;
}

const char *
perf_ours(const struct perf_options *options)
{
	return options->ours != NULL ? options->ours : perf_find_ours();
}

static const char *
launcher(const struct perf_options *options)
{
	return options->launcher != NULL ? options->launcher : perf_find_launcher();
}

bool
perf_child_possible(const struct perf_options *options)
{
	if (perf_ours(options) != NULL && launcher(options) != NULL)
		return true;
	fprintf(stderr, "mlx4x-perf: our driver and vcx3 are not near this program; --ours and "
		"--launcher name them\n");
	return false;
}

static void
add_launcher(struct words *words, const struct perf_options *options,
	const struct perf_point *point)
{
	add(words, "%s", launcher(options));
	if (!options->thread)
		add(words, "--step");
	if (options->cold || options->cold_data)
		add(words, options->cold_data ? "--cold-data" : "--cold");
	if (point->at[PERF_FRAME] > 1514) {
		add(words, "--mtu");
		add(words, "%u", point->at[PERF_FRAME] - 14);
	}
	add(words, "--cqe-size");
	add(words, "%u", point->at[PERF_CQE]);
	add(words, "--wire");
	add(words, "1=gen:size=%u,flows=%u", point->at[PERF_FRAME], point->at[PERF_FLOWS]);
	add(words, "--wire");
	add(words, "2=sink");
	add(words, "--");
}

static void
add_callgrind(struct words *words, const char *file)
{
	add(words, "/usr/bin/env");
	add(words, "valgrind");
	add(words, "--quiet");
	add(words, "--tool=callgrind");
	add(words, "--toggle-collect=timed_*");
	add(words, "--callgrind-out-file=%s", file);
}

static void
make_command(struct words *words, const struct perf_options *options, const char *driver,
	const struct perf_point *point)
{
	unsigned int axis;

	words->nb = 0;
	words->used = 0;
	add_launcher(words, options, point);
	if (options->count_file != NULL)
		add_callgrind(words, options->count_file);
	add(words, "%s", perf_find_self());
	add(words, "worker");
	add(words, "--driver=%s", driver);
	add(words, "--device=%s", options->device);
	for (axis = 0; axis < PERF_NB_AXES; axis++) {
		if (axis == PERF_LAYOUT)
			add(words, "--layout=%s", perf_layout_name[point->at[axis]]);
		else
			add(words, "--%s=%u", perf_axis_name[axis], point->at[axis]);
	}
	if (options->cpu >= 0)
		add(words, "--cpu=%d", options->cpu);
	add(words, "--cores=%u", options->cores);
	if (options->serial)
		add(words, "--serial");
	if (options->thread)
		add(words, "--thread");
	if (options->no_huge)
		add(words, "--no-huge");
	if (options->soft_queue && strcmp(driver, "stock") != 0)
		add(words, "--soft-queue");
	words->word[words->nb] = NULL;
}

/* A line of the worker without its end. False when it has ended. */
static bool
read_line(struct perf_child *child, char *line, size_t size)
{
	if (fgets(line, size, child->out) == NULL)
		return false;
	line[strcspn(line, "\n")] = '\0';
	return true;
}

/* In the new process: becomes the command, with the two pipes as standard input and output. */
static void
become(struct words *words, int in, int out)
{
	if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0)
		execv(words->word[0], words->word);
	fprintf(stderr, "mlx4x-perf: cannot start %s: %s\n", words->word[0], strerror(errno));
	_exit(127);
}

static int
spawn(struct perf_child *child, struct words *words)
{
	int to[2], from[2];

	if (pipe2(to, O_CLOEXEC) != 0)
		return -errno;
	if (pipe2(from, O_CLOEXEC) != 0) {
		close(to[0]);
		close(to[1]);
		return -errno;
	}
	child->pid = fork();
	if (child->pid == 0)
		become(words, to[0], from[1]);
	close(to[0]);
	close(from[1]);
	child->in = fdopen(to[1], "w");
	child->out = fdopen(from[0], "r");
	return child->pid < 0 || child->in == NULL || child->out == NULL ? -EAGAIN : 0;
}

int
perf_child_start(struct perf_child *child, const struct perf_options *options,
	const char *driver, const struct perf_point *point, char *reason, size_t size)
{
	struct words words;
	char line[512];
	int ret;

	*child = (struct perf_child){ .pid = -1 };
	make_command(&words, options, driver, point);
	ret = spawn(child, &words);
	if (ret == 0 && read_line(child, line, sizeof(line))) {
		if (sscanf(line, "ready %31s %" SCNu64, child->driver, &child->tsc_hz) == 2)
			return 0;
		snprintf(reason, size, "driver %s: %s", driver, line);
		ret = -EIO;
	} else {
		snprintf(reason, size, "driver %s: no worker starts", driver);
		ret = -ECHILD;
	}
	perf_child_stop(child);
	return ret;
}

int
perf_child_round(struct perf_child *child, const char *scenario, uint32_t burst,
	uint32_t packets, struct perf_round *round, char *reason, size_t size)
{
	char line[512];

	*round = (struct perf_round){ 0 };
	fprintf(child->in, "%s %u %u\n", scenario, burst, packets);
	if (fflush(child->in) != 0 || !read_line(child, line, sizeof(line))) {
		snprintf(reason, size, "driver %s: the worker ended", child->driver);
		return -ECHILD;
	}
	if (sscanf(line, "ok %lf %" SCNu64 " %" SCNu64 " %lf %" SCNu32 " %" SCNu32,
		   &round->cycles, &round->packets, &round->all_packets, &round->fill,
		   &round->regions, &round->interrupted) == 6)
		return 0;
	snprintf(reason, size, "driver %s: %s", child->driver, line);
	return -EIO;
}

void
perf_child_stop(struct perf_child *child)
{
	if (child->in != NULL)
		fclose(child->in);
	if (child->out != NULL)
		fclose(child->out);
	if (child->pid > 0)
		waitpid(child->pid, NULL, 0);
	*child = (struct perf_child){ .pid = -1 };
}
