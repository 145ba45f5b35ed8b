/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control socket: one line of words in, "ok" or "error" and text out, as
 * `vcx3 ctl` speaks it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../cmd/line.h"
#include "../core/fault.h"
#include "../core/port.h"
#include "../core/strict.h"
#include "card.h"

struct request {
	struct vcx3_card *card;
	unsigned int nb;
	char *words[VCX3_LINE_WORDS];
	char sentence[1024];
	char *text; /* longer than a sentence; freed after sending */
};

static int
do_link(struct request *request)
{
	unsigned int ports = request->card->options.ports;
	bool up = strcmp(request->words[2], "up") == 0;
	unsigned long port;

	if (!vcx3_line_number(request->words[1], 1, ports, &port) ||
	    (!up && strcmp(request->words[2], "down") != 0)) {
		snprintf(request->sentence, sizeof(request->sentence),
			 "usage: link PORT up|down, with ports from 1 to %u\n", ports);
		return -EINVAL;
	}
	vcx3_port_set_carrier(request->card->core, (unsigned int)port, up);
	return 0;
}

/* The driver polls the error buffer, resets the device and takes it into use again. */
static int
do_unplug(struct request *request)
{
	vcx3_core_die(request->card->core, "asked for by the control socket");
	return 0;
}

static int
do_inject(struct request *request)
{
	int ret = vcx3_fault_add(request->card->core, request->words[1], request->sentence,
				 sizeof(request->sentence) - 1);

	if (ret < 0)
		strcat(request->sentence, "\n");
	return ret;
}

static int
do_resume(struct request *request)
{
	vcx3_fault_clear(request->card->core);
	return 0;
}

static int
do_go(struct request *request)
{
	unsigned int i, started = 0;

	for (i = 0; i < request->card->options.ports; i++)
		started += vcx3_wire_go(request->card->wires[i]) == 0;
	if (started != 0)
		return 0;
	snprintf(request->sentence, sizeof(request->sentence),
		 "no port has a source (pcap or gen)\n");
	return -ENOTSUP;
}

static int
do_counters(struct request *request)
{
	request->text = vcx3_card_counters(request->card);
	return request->text != NULL ? 0 : -ENOMEM;
}

static int
do_census(struct request *request)
{
	request->text = vcx3_card_census(request->card);
	return request->text != NULL ? 0 : -ENOMEM;
}

static int
do_violations(struct request *request)
{
	snprintf(request->sentence, sizeof(request->sentence), "%llu\n",
		 (unsigned long long)vcx3_strict_total(request->card->core));
	return 0;
}

static const struct {
	const char *name;
	const char *usage;
	unsigned int nb_words;
	int (*run)(struct request *request);
} verbs[] = {
	{ "link", "PORT up|down", 3, do_link },
	{ "unplug", "without more words", 1, do_unplug },
	{ "inject", "FAULT", 2, do_inject },
	{ "resume", "without more words", 1, do_resume },
	{ "go", "without more words", 1, do_go },
	{ "counters", "without more words", 1, do_counters },
	{ "census", "without more words", 1, do_census },
	{ "violations", "without more words", 1, do_violations },
};

static int
run(struct request *request)
{
	unsigned int i;

	for (i = 0; request->nb > 0 && i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (strcmp(request->words[0], verbs[i].name) != 0)
			continue;
		if (request->nb == verbs[i].nb_words)
			return verbs[i].run(request);
		snprintf(request->sentence, sizeof(request->sentence), "usage: %s %s\n",
			 verbs[i].name, verbs[i].usage);
		return -EINVAL;
	}
	snprintf(request->sentence, sizeof(request->sentence),
		 "the PCI device knows link, unplug, inject, resume, go, counters, census, "
		 "violations\n");
	return -EINVAL;
}

void
vcx3_card_control(struct vcx3_card *card, int listener)
{
	struct request request = { .card = card };
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC), ret;
	char line[1024];

	if (fd < 0)
		return;
	if (vcx3_line_read(fd, line, sizeof(line))) {
		request.nb = vcx3_line_split(line, request.words);
		vcx3_runner_lock(card->runner);
		ret = run(&request);
		vcx3_runner_unlock(card->runner);
		vcx3_runner_kick(card->runner);
		vcx3_line_reply(fd, ret == 0 ? "ok\n" : "error\n");
		vcx3_line_reply(fd, request.text != NULL ? request.text : request.sentence);
	}
	free(request.text);
	close(fd);
}
