/* SPDX-License-Identifier: BSD-3-Clause */

/* Ports by number or name, and small things that every command needs. */

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

const char *
answer_text(const json_t *answer, const char *name)
{
	const char *text = json_string_value(json_object_get(answer, name));

	return text != NULL ? text : "";
}

long long
answer_number(const json_t *answer, const char *name)
{
	return json_integer_value(json_object_get(answer, name));
}

int
finish_answer(const struct ctl *ctl, json_t *answer)
{
	if (answer == NULL)
		return EXIT_FAILURE;
	if (ctl->json)
		print_json(answer, ctl->pretty);
	json_decref(answer);
	return EXIT_SUCCESS;
}

unsigned long
option_number(const struct argp_state *state, const char *name, const char *text,
	unsigned long max)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 0);
	if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno != 0 || value > max)
		argp_error(state, "%s takes a number from 0 to %lu, not \"%s\"", name, max, text);
	return value;
}

bool
port_is(const json_t *port, const char *word)
{
	char number[24];

	snprintf(number, sizeof(number), "%lld", answer_number(port, "port"));
	return strcmp(number, word) == 0 || strcmp(answer_text(port, "name"), word) == 0;
}

json_t *
ask_ports(struct ctl *ctl, const char *word)
{
	json_t *answer = client_ask(&ctl->client, "/mlx4x/xdp/status");
	json_t *ports, *port;
	const char *name;

	if (answer == NULL)
		return NULL;
	ports = json_array();
	json_object_foreach(answer, name, port) {
		if (word == NULL || port_is(port, word))
			json_array_append(ports, port);
	}
	if (json_array_size(ports) == 0) {
		report("the application has no port%s%s of net_mlx4x; it has %zu", word != NULL ?
			" " : "", word != NULL ? word : "", json_object_size(answer));
		json_decref(ports);
		ports = NULL;
	}
	json_decref(answer);
	return ports;
}

int
find_port(struct ctl *ctl, const char *word)
{
	json_t *ports = ask_ports(ctl, word);
	int number = ports != NULL ? (int)answer_number(json_array_get(ports, 0), "port") : -1;

	json_decref(ports);
	return number;
}
