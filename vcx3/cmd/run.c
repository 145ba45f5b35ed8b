/* SPDX-License-Identifier: BSD-3-Clause */

/* See run.h. */

#include "run.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../uverbs/state.h"
#include "tree.h"
#include "wire.h"

#define STATUS_NOT_STARTED 127

void
vcx3_leftovers_remove(const struct vcx3_leftovers *leftovers)
{
	if (leftovers->control != NULL)
		unlink(leftovers->control);
	if (leftovers->wires != NULL)
		vcx3_wire_plan_cleanup(leftovers->wires);
	vcx3_tree_remove(leftovers->dir);
}

/* It keeps nothing of the launcher's open: no terminal, no TAP interface. */
static void
janitor(int fd, const struct vcx3_leftovers *leftovers)
{
	sigset_t all;
	char byte;

	dup2(fd, 0);
	close_range(1, ~0u, 0);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	/* The launcher never writes: this returns when it is gone. */
	while (read(0, &byte, 1) < 0 && errno == EINTR)
		;
	if (access(leftovers->dir, F_OK) == 0)
		vcx3_leftovers_remove(leftovers);
	_exit(0);
}

int
vcx3_janitor_start(const struct vcx3_leftovers *leftovers)
{
	int ends[2];
	pid_t pid;

	if (pipe(ends) != 0)
		return -errno;
	/* Two generations: the launcher must not have to wait for the janitor. */
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		if (fork() == 0)
			janitor(ends[0], leftovers);
		_exit(0);
	}
	close(ends[0]);
	if (pid < 0) {
		close(ends[1]);
		return -EAGAIN;
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return ends[1];
}

static void
set_environment(const char *dir, const char *preload)
{
	const char *others = getenv("LD_PRELOAD");
	char text[1024];

	setenv(VCX3_DIR_VARIABLE, dir, 1);
	snprintf(text, sizeof(text), "%s/" VCX3_DIR_SYSFS, dir);
	setenv("SYSFS_PATH", text, 1);
	snprintf(text, sizeof(text), "%s/" VCX3_DIR_PCI, dir);
	setenv("SYSFS_PCI_DEVICES", text, 1);
	/* A sanitizer's runtime wants to stay first. */
	snprintf(text, sizeof(text), "%s%s%s", others != NULL ? others : "",
		 others != NULL ? ":" : "", preload);
	setenv("LD_PRELOAD", text, 1);
}

static void
start_child(const char *dir, const char *preload, char **words, const sigset_t *mask)
{
	sigprocmask(SIG_SETMASK, mask, NULL);
	/* Without its launcher the card is gone. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	set_environment(dir, preload);
	execvp(words[0], words);
	fprintf(stderr, "vcx3: cannot start %s: %s\n", words[0], strerror(errno));
	_exit(STATUS_NOT_STARTED);
}

/* Passes signals on; those from the terminal have reached the program already. */
static void
forward(pid_t child, const siginfo_t *info)
{
	bool from_terminal = info->si_code == SI_KERNEL;

	if (!from_terminal || info->si_signo == SIGTERM)
		kill(child, info->si_signo);
}

/* Reaps what has ended; false when no descendant is left. */
static bool
reap(pid_t child, int *status)
{
	int one;
	pid_t pid;

	while ((pid = waitpid(-1, &one, WNOHANG)) > 0)
		if (pid == child)
			*status = WIFEXITED(one) ? WEXITSTATUS(one) : 128 + WTERMSIG(one);
	return pid == 0;
}

int
vcx3_run(const char *dir, const char *preload, char **words)
{
	int status = STATUS_NOT_STARTED;
	sigset_t waited, before;
	siginfo_t info;
	pid_t child;

	sigemptyset(&waited);
	sigaddset(&waited, SIGCHLD);
	sigaddset(&waited, SIGTERM);
	sigaddset(&waited, SIGINT);
	sigaddset(&waited, SIGQUIT);
	sigaddset(&waited, SIGHUP);
	sigprocmask(SIG_BLOCK, &waited, &before);
	/* Daemons of the program become ours, so that the card stays as long as they run. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	/* The program copies TAP descriptors out of the launcher. */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	child = fork();
	if (child == 0)
		start_child(dir, preload, words, &before);
	if (child < 0) {
		fprintf(stderr, "vcx3: cannot fork: %s\n", strerror(errno));
		return STATUS_NOT_STARTED;
	}
	do {
		if (sigwaitinfo(&waited, &info) > 0 && info.si_signo != SIGCHLD)
			forward(child, &info);
	} while (reap(child, &status));
	return status;
}
