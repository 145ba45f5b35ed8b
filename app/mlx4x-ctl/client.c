/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * librte_telemetry: a SOCK_SEQPACKET socket named dpdk_telemetry.v2 in the runtime
 * folder of the application. After accept() the server says who it is and how long
 * an answer can be; then each message is a request and its answer (DPDK: howto guide
 * "Telemetry User Guide").
 */

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "client.h"
#include "report.h"

#define SOCKET_NAME "dpdk_telemetry.v2"
#define MAX_GREETING 1024
#define MAX_REQUEST 1024	/* what the server reads at once, with the final zero */
#define MAX_RUNTIME_DIR 64
#define ANSWER_TIMEOUT_S 60	/* the kernel's verifier may take long */

/* EAL's choice: eal_create_runtime_dir(). */
static void
runtime_dir(char *dir, size_t size)
{
	const char *base = getenv("RUNTIME_DIRECTORY");

	if (base == NULL && geteuid() == 0)
		base = "/var/run";
	else if (base == NULL)
		base = getenv("XDG_RUNTIME_DIR");
	snprintf(dir, size, "%s/dpdk", base != NULL ? base : "/tmp");
}

/* Names the applications that do run, when the wanted one does not. */
static void
report_running(const char *dir)
{
	DIR *stream = opendir(dir);
	struct dirent *entry;
	char names[512] = "";
	size_t used = 0;

	while (stream != NULL && (entry = readdir(stream)) != NULL) {
		char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
		int len = snprintf(path, sizeof(path), "%s/%s/" SOCKET_NAME, dir, entry->d_name);

		if (entry->d_name[0] == '.' || len >= (int)sizeof(path) || access(path, F_OK) != 0)
			continue;
		used += snprintf(names + used, sizeof(names) - used, " %s", entry->d_name);
		if (used >= sizeof(names))
			break;
	}
	if (stream != NULL)
		closedir(stream);
	if (names[0] != '\0')
		report("file prefixes that have a telemetry socket in %s:%s", dir, names);
}

static int
connect_to(const char *path)
{
	struct timeval timeout = { .tv_sec = ANSWER_TIMEOUT_S };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(address.sun_path)) {
		report("%s: a socket path has at most %zu characters", path,
			sizeof(address.sun_path) - 1);
		return -1;
	}
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
		report("no DPDK application answers at %s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	return fd;
}

static json_t *
parse(const char *text, size_t len)
{
	json_error_t error;
	json_t *json = json_loadb(text, len, 0, &error);

	if (json == NULL)
		report("the application sent what is not JSON: %s", error.text);
	return json;
}

/* {"version": ..., "pid": ..., "max_output_len": ...} */
static int
greet(struct client *client)
{
	char greeting[MAX_GREETING];
	ssize_t len = recv(client->fd, greeting, sizeof(greeting), 0);
	json_t *json;

	if (len <= 0) {
		report("the application accepts no more telemetry clients");
		return -1;
	}
	json = parse(greeting, len);
	if (json == NULL)
		return -1;
	client->max_answer = json_integer_value(json_object_get(json, "max_output_len"));
	json_decref(json);
	client->answer = malloc(client->max_answer + 1);
	if (client->max_answer == 0 || client->answer == NULL) {
		report("cannot hold answers of %zu bytes", client->max_answer);
		return -1;
	}
	return 0;
}

/* 0, or -1 after a sentence. */
static int
open_once(struct client *client)
{
	char dir[MAX_RUNTIME_DIR], path[PATH_MAX];

	if (client->fd >= 0)
		return 0;
	runtime_dir(dir, sizeof(dir));
	if (client->socket_path != NULL)
		snprintf(path, sizeof(path), "%s", client->socket_path);
	else
		snprintf(path, sizeof(path), "%s/%s/" SOCKET_NAME, dir, client->prefix);
	client->fd = connect_to(path);
	if (client->fd < 0) {
		report_running(dir);
		return -1;
	}
	if (greet(client) != 0) {
		client_close(client);
		return -1;
	}
	return 0;
}

void
client_close(struct client *client)
{
	if (client->fd >= 0)
		close(client->fd);
	free(client->answer);
	client->fd = -1;
	client->answer = NULL;
}

/* {"/command": value}: the value, or NULL after a sentence. */
static json_t *
exchange(struct client *client, const char *request, size_t len)
{
	ssize_t got;
	json_t *json, *value;

	if (send(client->fd, request, len, MSG_NOSIGNAL) < 0) {
		report("the application has gone: %s", strerror(errno));
		return NULL;
	}
	got = recv(client->fd, client->answer, client->max_answer, 0);
	if (got <= 0) {
		report("the application has gone: %s", got == 0 ? "end of file" : strerror(errno));
		return NULL;
	}
	json = parse(client->answer, got);
	if (json == NULL)
		return NULL;
	value = json_incref(json_object_iter_value(json_object_iter(json)));
	json_decref(json);
	if (json_is_null(value)) {
		report("the application does not know \"%.*s\": is net_mlx4x loaded there?",
			(int)strcspn(request, ","), request);
		json_decref(value);
		return NULL;
	}
	return value;
}

json_t *
client_ask(struct client *client, const char *format, ...)
{
	char request[MAX_REQUEST];
	json_t *answer;
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(request, sizeof(request), format, args);
	va_end(args);
	if (len >= (int)sizeof(request)) {
		report("a request of %d bytes is too long: DPDK's telemetry takes %d", len,
			MAX_REQUEST - 1);
		return NULL;
	}
	answer = open_once(client) == 0 ? exchange(client, request, len) : NULL;
	if (json_object_get(answer, "error") != NULL) {
		report_answer(answer);
		json_decref(answer);
		return NULL;
	}
	return answer;
}

char *
client_join(const json_t *pieces)
{
	size_t total = 0, used = 0, i;
	const json_t *piece;
	char *text;

	if (!json_is_array(pieces))
		return json_is_string(pieces) ? strdup(json_string_value(pieces)) : NULL;
	json_array_foreach(pieces, i, piece)
		total += json_string_length(piece);
	text = malloc(total + 1);
	if (text == NULL)
		return NULL;
	json_array_foreach(pieces, i, piece) {
		memcpy(text + used, json_string_value(piece), json_string_length(piece));
		used += json_string_length(piece);
	}
	text[used] = '\0';
	return text;
}
