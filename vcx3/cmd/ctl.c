/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The client of the control socket. A request is one line of words; the answer is "ok" or
 * "error" on the first line and text after it, until the server closes.
 */

#include "ctl.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "verbs.h"

#define STATUS_REFUSED 2

static const struct {
	const char *name;
	const char *words;
	const char *text;
} verbs[] = {
#define VERB_ROW(name, words, text) {#name, words, text},
	VCX3_CONTROL_VERBS(VERB_ROW)
#undef VERB_ROW
};

#define NB_VERBS (sizeof(verbs) / sizeof(verbs[0]))

void
vcx3_ctl_help(FILE *out)
{
	char usage[64];
	size_t i;

	for (i = 0; i < NB_VERBS; i++) {
		snprintf(usage, sizeof(usage), "%s %s", verbs[i].name, verbs[i].words);
		fprintf(out, "  %-24s %s\n", usage, verbs[i].text);
	}
}

static bool
known(const char *verb)
{
	size_t i;

	for (i = 0; i < NB_VERBS; i++)
		if (strcmp(verbs[i].name, verb) == 0)
			return true;
	return false;
}

static int
connect_to(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd;

	if (strlen(path) >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
		int saved = errno;

		close(fd);
		errno = saved;
		return -1;
	}
	return fd;
}

static int
send_request(int fd, int nb, char **words)
{
	char line[1024];
	size_t used = 0;
	int i;

	for (i = 0; i < nb && used < sizeof(line); i++)
		used += snprintf(line + used, sizeof(line) - used, "%s%s", i == 0 ? "" : " ",
				 words[i]);
	if (used + 1 >= sizeof(line))
		return -E2BIG;
	line[used++] = '\n';
	return send(fd, line, used, MSG_NOSIGNAL) == (ssize_t)used ? 0 : -errno;
}

/* Copies the answer: what follows "ok" to the output, what follows "error" to the errors. */
static int
print_answer(int fd)
{
	char first[16], buffer[4096];
	FILE *in = fdopen(fd, "r");
	bool good;
	size_t got;

	if (in == NULL || fgets(first, sizeof(first), in) == NULL) {
		fprintf(stderr, "vcx3 ctl: the program ended before it answered\n");
		if (in != NULL)
			fclose(in);
		return STATUS_REFUSED;
	}
	good = strcmp(first, "ok\n") == 0;
	if (!good)
		fprintf(stderr, "vcx3 ctl: ");
	while ((got = fread(buffer, 1, sizeof(buffer), in)) > 0)
		fwrite(buffer, 1, got, good ? stdout : stderr);
	fclose(in);
	return good ? 0 : STATUS_REFUSED;
}

int
vcx3_ctl(int nb, char **words)
{
	int fd, ret;

	if (nb < 2 || !known(words[1])) {
		if (nb >= 2)
			fprintf(stderr, "vcx3 ctl: unknown verb \"%s\"; the verbs are\n", words[1]);
		else
			fprintf(stderr, "usage: vcx3 ctl SOCKET VERB..., with the verbs\n");
		vcx3_ctl_help(stderr);
		return STATUS_REFUSED;
	}
	if (strcmp(words[1], "help") == 0) {
		vcx3_ctl_help(stdout);
		return 0;
	}
	fd = connect_to(words[0]);
	if (fd < 0) {
		fprintf(stderr, "vcx3 ctl: nobody listens at %s: %s; the socket appears when a "
			"program below vcx3 --control has opened the card\n", words[0],
			strerror(errno));
		return STATUS_REFUSED;
	}
	ret = send_request(fd, nb - 1, words + 1);
	if (ret < 0) {
		fprintf(stderr, "vcx3 ctl: cannot send: %s\n", strerror(-ret));
		close(fd);
		return STATUS_REFUSED;
	}
	return print_answer(fd);
}
