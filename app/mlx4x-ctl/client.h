/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The telemetry socket of a running DPDK application: one request, one answer.
 */

#ifndef MLX4X_CTL_CLIENT_H
#define MLX4X_CTL_CLIENT_H

#include <jansson.h>

/* Which application: by EAL file prefix, or by the path of its socket if that is not NULL. */
struct client {
	const char *prefix;
	const char *socket_path;
	int fd;			/* -1 until the first request */
	char *answer;		/* of max_answer bytes */
	size_t max_answer;
};

void client_close(struct client *client);

/*
 * Sends "COMMAND[,PARAMETER]..." as printf() makes it. The answer's value, to be
 * released with json_decref(), or NULL after a sentence on stderr: the connection
 * broke, the command does not exist there, or the answer says that it failed.
 */
json_t *client_ask(struct client *client, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * A text or hexadecimal data that came as a string, or as an array of pieces, in one
 * string to be released with free(). NULL when there is none, or no memory.
 */
char *client_join(const json_t *pieces);

#endif /* MLX4X_CTL_CLIENT_H */
