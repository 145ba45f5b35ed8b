/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * See line.h. recv() and send() instead of read() and write(): the preload library covers
 * the latter.
 */

#include "line.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* A client that says nothing is not waited for for long. */
#define CLIENT_TIMEOUT_MS 1000

bool
vcx3_line_read(int fd, char *line, size_t size)
{
	struct pollfd waited = {.fd = fd, .events = POLLIN};
	size_t used = 0;

	while (used < size - 1 && poll(&waited, 1, CLIENT_TIMEOUT_MS) > 0) {
		ssize_t got = recv(fd, line + used, size - 1 - used, 0);

		if (got <= 0)
			return false;
		used += got;
		line[used] = '\0';
		if (strchr(line, '\n') != NULL)
			return true;
	}
	return false;
}

unsigned int
vcx3_line_split(char *line, char **words)
{
	unsigned int nb = 0;
	char *word;

	while (nb < VCX3_LINE_WORDS && (word = strsep(&line, " \n")) != NULL)
		if (*word != '\0')
			words[nb++] = word;
	return nb;
}

bool
vcx3_line_number(const char *word, unsigned long min, unsigned long max, unsigned long *number)
{
	char *end;

	if (word[0] < '0' || word[0] > '9')
		return false;
	errno = 0;
	*number = strtoul(word, &end, 10);
	return errno == 0 && *end == '\0' && *number >= min && *number <= max;
}

void
vcx3_line_reply(int fd, const char *text)
{
	size_t length = strlen(text);

	while (length > 0) {
		ssize_t sent = send(fd, text, length, MSG_NOSIGNAL);

		if (sent <= 0)
			return;
		text += sent;
		length -= sent;
	}
}
