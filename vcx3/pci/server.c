/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `vcx3 pci`: serves one virtual ConnectX-3 over vfio-user until it is told to end. One
 * thread answers the VM and the control socket, the runner's moves frames.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "card.h"
#include "server.h"
#include "vfio_user.h"

#define STATUS_USAGE 2
#define STATUS_VIOLATION 3

struct server {
	struct vcx3_card card;
	struct vcx3_vfu vfu;
	const char *socket;
	int listener;
	int control; /* -1: none */
	int signals;
};

static int
refuse(const char *sentence)
{
	fprintf(stderr, "vcx3: %s\n", sentence);
	return STATUS_USAGE;
}

/* Takes --socket out of the words; the others are those of every front end. */
static int
take_socket(int nb, char **words, const char **socket)
{
	int i, kept = 0;

	for (i = 0; i < nb; i++) {
		if (strcmp(words[i], "--socket") == 0 && i + 1 < nb)
			*socket = words[++i];
		else if (strncmp(words[i], "--socket=", strlen("--socket=")) == 0)
			*socket = words[i] + strlen("--socket=");
		else
			words[kept++] = words[i];
	}
	return kept;
}

static const char *
find_nonsense(const struct vcx3_options *options)
{
	if (options->mount || options->netdev != VCX3_NETDEV_VIRTUAL)
		return "--mount and --netdev belong to programs; the VM's kernel has real netdevs";
	if (options->step)
		return "--step belongs to programs; the device of a VM runs by itself";
	if (options->identity == VCX3_IDENTITY_VF)
		return "--device vf cannot stand alone: a VF asks its PF for every command";
	if (options->infiniband_port_mask != 0)
		return "--infiniband: the PCI device has Ethernet ports only";
	return NULL;
}

static int
open_sockets(struct server *server, char *reason, size_t size)
{
	const char *control = server->card.options.control;

	server->control = -1;
	server->listener = vcx3_vfu_listen(server->socket, reason, size);
	if (server->listener < 0 || control == NULL)
		return server->listener < 0 ? server->listener : 0;
	server->control = vcx3_vfu_listen(control, reason, size);
	if (server->control >= 0)
		return 0;
	close(server->listener);
	unlink(server->socket);
	return server->control;
}

/* Signals come as data, so that none interrupts a message; the engine blocks them too. */
static void
catch_signals(struct server *server)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	server->signals = signalfd(-1, &signals, SFD_CLOEXEC);
}

static void
loop(struct server *server)
{
	struct vcx3_vfu *vfu = &server->vfu;

	for (;;) {
		struct pollfd fds[] = {
			{ .fd = server->signals, .events = POLLIN },
			{ .fd = vfu->fd >= 0 ? vfu->fd : server->listener, .events = POLLIN },
			{ .fd = server->control, .events = POLLIN },
		};

		if (poll(fds, 3, -1) < 0 && errno != EINTR)
			return;
		if (fds[0].revents != 0)
			return;
		if (fds[2].revents != 0)
			vcx3_card_control(&server->card, server->control);
		if (fds[1].revents == 0)
			continue;
		if (vfu->fd < 0)
			vcx3_vfu_accept(vfu, server->listener);
		else if (vcx3_vfu_serve(vfu) < 0)
			vcx3_vfu_disconnect(vfu);
	}
}

static void
write_counters(struct vcx3_card *card)
{
	const char *path = card->options.counters;
	char *text = vcx3_card_counters(card);
	FILE *out = text != NULL ? fopen(path, "we") : NULL;

	if (out == NULL || fputs(text, out) < 0)
		fprintf(stderr, "vcx3: cannot write %s: %s\n", path, strerror(errno));
	if (out != NULL && fclose(out) != 0)
		fprintf(stderr, "vcx3: cannot write %s: %s\n", path, strerror(errno));
	free(text);
}

static int
serve(struct server *server)
{
	uint64_t violations;

	server->vfu.pci = &server->card.pci;
	server->vfu.runner = server->card.runner;
	server->vfu.fd = -1;
	loop(server);
	vcx3_vfu_disconnect(&server->vfu);
	vcx3_runner_lock(server->card.runner);
	if (server->card.options.counters != NULL)
		write_counters(&server->card);
	violations = server->card.pci.counters.violations;
	vcx3_runner_unlock(server->card.runner);
	if (violations != 0)
		fprintf(stderr, "vcx3: %llu violations of rules\n", (unsigned long long)violations);
	return violations != 0 ? STATUS_VIOLATION : 0;
}

static int
run(struct server *server)
{
	char reason[1024];
	int status;

	catch_signals(server);
	if (vcx3_card_create(&server->card, reason, sizeof(reason)) < 0)
		return refuse(reason);
	if (open_sockets(server, reason, sizeof(reason)) < 0) {
		vcx3_card_destroy(&server->card);
		return refuse(reason);
	}
	status = serve(server);
	close(server->listener);
	unlink(server->socket);
	if (server->control >= 0) {
		close(server->control);
		unlink(server->card.options.control);
	}
	close(server->signals);
	vcx3_card_destroy(&server->card);
	return status;
}

int
vcx3_pci_server(int nb, char **words)
{
	struct server *server = calloc(1, sizeof(*server));
	char reason[1024];
	const char *nonsense;
	int status, taken;

	if (server == NULL)
		return refuse("no memory");
	nb = take_socket(nb, words, &server->socket);
	taken = vcx3_options_parse(&server->card.options, nb, words, reason, sizeof(reason));
	nonsense = find_nonsense(&server->card.options);
	if (taken < 0)
		status = refuse(reason);
	else if (taken < nb || server->socket == NULL)
		status = refuse("usage: vcx3 pci --socket PATH [options]");
	else if (nonsense != NULL)
		status = refuse(nonsense);
	else
		status = run(server);
	free(server);
	return status;
}
