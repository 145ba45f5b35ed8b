/* SPDX-License-Identifier: BSD-3-Clause */

/* See control.h. The verbs are those of cmd/verbs.h, which the client has checked. */

#include "control.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../cmd/line.h"
#include "../cmd/verbs.h"
#include "../core/fault.h"
#include "../core/port.h"
#include "../core/strict.h"
#include "real.h"

/* One request: the words of the line, the answer; text is what follows "ok" or "error". */
struct request {
	struct uv_card *card;
	unsigned int nb;
	char *words[VCX3_LINE_WORDS];
	char sentence[1024];
	char *text; /* longer than a sentence; freed after sending */
};

int
uv_control_listen(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = uv_real()->socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int error;

	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	/* The owner's lock is ours: a socket that is there belongs to an owner that has ended. */
	unlink(path);
	if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	    listen(fd, 8) == 0)
		return fd;
	error = errno;
	uv_say("--control: cannot listen at %s: %s", path, strerror(error));
	if (fd >= 0)
		uv_real()->close(fd);
	return -error;
}

static int
wrong_words(struct request *request, const char *wanted)
{
	snprintf(request->sentence, sizeof(request->sentence), "usage: %s %s\n", request->words[0],
		 wanted);
	return -EINVAL;
}

static int
takes_no_words(struct request *request)
{
	snprintf(request->sentence, sizeof(request->sentence), "%s takes no words, not \"%s\"\n",
		 request->words[0], request->words[1]);
	return -EINVAL;
}

static int
do_link(struct request *request, const char *usage)
{
	unsigned int ports = request->card->options.ports;
	unsigned long port;
	bool up = request->nb == 3 && strcmp(request->words[2], "up") == 0;

	if (request->nb != 3 || (!up && strcmp(request->words[2], "down") != 0))
		return wrong_words(request, usage);
	if (!vcx3_line_number(request->words[1], 1, ports, &port)) {
		snprintf(request->sentence, sizeof(request->sentence),
			 "link: \"%s\" is no port of the card, which has %u; usage: link %s\n",
			 request->words[1], ports, usage);
		return -EINVAL;
	}
	vcx3_port_set_carrier(request->card->core, port, up);
	return 0;
}

static int
do_unplug(struct request *request, const char *usage)
{
	if (request->card->shared->removed) {
		snprintf(request->sentence, sizeof(request->sentence), "it is unplugged already\n");
		return -ENODEV;
	}
	uv_card_unplug(request->card);
	return 0;
}

static int
do_replug(struct request *request, const char *usage)
{
	int ret = uv_card_replug(request->card);

	if (ret < 0)
		snprintf(request->sentence, sizeof(request->sentence), "it is plugged in\n");
	return ret;
}

static int
add_fault(struct request *request, const char *fault)
{
	char *sentence = request->sentence;
	int ret = vcx3_fault_add(request->card->core, fault, sentence,
				 sizeof(request->sentence) - 1);

	if (ret < 0)
		strcat(sentence, "\n");
	return ret;
}

static int
do_inject(struct request *request, const char *usage)
{
	return request->nb == 2 ? add_fault(request, request->words[1]) :
				  wrong_words(request, usage);
}

static int
do_fail(struct request *request, const char *usage)
{
	char fault[256];

	if (request->nb < 3 || request->nb > 4)
		return wrong_words(request, usage);
	snprintf(fault, sizeof(fault), "command:name=%s,nth=%s%s%s", request->words[1],
		 request->words[2], request->nb == 4 ? ",errno=" : "",
		 request->nb == 4 ? request->words[3] : "");
	return add_fault(request, fault);
}

static int
do_stall(struct request *request, const char *usage)
{
	char fault[256];

	if (request->nb != 3)
		return wrong_words(request, usage);
	snprintf(fault, sizeof(fault), "stall:object=%s,number=%s", request->words[1],
		 request->words[2]);
	return add_fault(request, fault);
}

static int
do_resume(struct request *request, const char *usage)
{
	vcx3_fault_clear(request->card->core);
	return 0;
}

static int
do_go(struct request *request, const char *usage)
{
	unsigned int i, started = 0;

	for (i = 0; i < request->card->options.ports; i++)
		started += vcx3_wire_go(request->card->wire[i]) == 0;
	if (started == 0) {
		snprintf(request->sentence, sizeof(request->sentence),
			 "no port has a source (pcap or gen)\n");
		return -ENOTSUP;
	}
	return 0;
}

/* The only verb that runs without the lock, which stepping takes itself. */
static int
do_step(struct request *request, const char *usage)
{
	unsigned long nb = 1;

	if (request->nb > 2 || (request->nb == 2 &&
	    !vcx3_line_number(request->words[1], 1, ULONG_MAX, &nb)))
		return wrong_words(request, usage);
	if (!request->card->options.step) {
		snprintf(request->sentence, sizeof(request->sentence), "not in step mode\n");
		return -EINVAL;
	}
	uv_unlock(request->card);
	snprintf(request->sentence, sizeof(request->sentence), "%llu\n",
		 (unsigned long long)vcx3_runner_step(request->card->runner, nb));
	uv_lock(request->card);
	return 0;
}

static int
do_counters(struct request *request, const char *usage)
{
	request->text = uv_card_counters(request->card);
	return request->text != NULL ? 0 : -ENOMEM;
}

static int
do_census(struct request *request, const char *usage)
{
	request->text = uv_card_census(request->card);
	return request->text != NULL ? 0 : -ENOMEM;
}

static int
do_violations(struct request *request, const char *usage)
{
	char *sentence = request->sentence;
	size_t size = sizeof(request->sentence), used;
	int rule;

	used = snprintf(sentence, size, "%llu\n",
			(unsigned long long)vcx3_strict_total(request->card->core));
	for (rule = 0; rule < VCX3_NB_RULES && used < size; rule++) {
		uint64_t nb = vcx3_strict_count(request->card->core, rule);

		if (nb != 0)
			used += snprintf(sentence + used, size - used, "%s %llu\n",
					 vcx3_strict_name(rule), (unsigned long long)nb);
	}
	return 0;
}

static int
do_help(struct request *request, const char *usage)
{
	size_t used = 0;

#define HELP_LINE(name, words, what) \
	used += snprintf(request->sentence + used, sizeof(request->sentence) - used, \
			 #name " " words "\n");
	VCX3_CONTROL_VERBS(HELP_LINE)
#undef HELP_LINE
	return 0;
}

static int
run(struct request *request)
{
	if (request->nb == 0)
		return -EINVAL;
#define TRY(name, words_wanted, what) \
	if (strcmp(request->words[0], #name) == 0) \
		return words_wanted[0] == '\0' && request->nb > 1 ? \
			       takes_no_words(request) : do_##name(request, words_wanted);
	VCX3_CONTROL_VERBS(TRY)
#undef TRY
	snprintf(request->sentence, sizeof(request->sentence), "unknown verb \"%s\"\n",
		 request->words[0]);
	return -EINVAL;
}

void
uv_control_serve(struct uv_card *card, int listen_fd)
{
	struct request request = {.card = card};
	int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
	char line[1024];
	int ret;

	if (fd < 0)
		return;
	if (vcx3_line_read(fd, line, sizeof(line))) {
		request.nb = vcx3_line_split(line, request.words);
		uv_lock(card);
		ret = run(&request);
		uv_unlock(card);
		vcx3_line_reply(fd, ret == 0 ? "ok\n" : "error\n");
		if (ret < 0 && request.sentence[0] == '\0')
			snprintf(request.sentence, sizeof(request.sentence), "%s\n", strerror(-ret));
		vcx3_line_reply(fd, request.text != NULL ? request.text : request.sentence);
		if (request.text != NULL)
			vcx3_line_reply(fd, "\n");
	}
	free(request.text);
	uv_real()->close(fd);
}
