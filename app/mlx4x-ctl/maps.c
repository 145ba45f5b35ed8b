/* SPDX-License-Identifier: BSD-3-Clause */

/* maps: words as of "bpftool map". */

#include <stdio.h>
#include <string.h>

#include "command.h"
#include "hex.h"
#include "value.h"

struct maps {
	const char *verb;
	const char *port;
	const char *map;
	char key[MAX_HEX];
	struct value value;
	const char *flags;
};

static const char doc[] =
	"Maps of the program that is attached to a port.\v"
	"  maps list PORT\n"
	"  maps dump PORT MAP\n"
	"  maps lookup PORT MAP key DATA\n"
	"  maps update PORT MAP key DATA value VALUE [prog NAME] [any|noexist|exist]\n"
	"  maps delete PORT MAP key DATA\n"
	"\n"
	"MAP is a name, in a chain of the first program that has it; PROGRAM:NAME is its own.\n"
	"DATA is bytes: 10 0x0a ..., or \"hex\" and two digits each: hex 0a 00 ...\n"
	"A value for a per-CPU map is one copy, which all CPUs get.\n"
	"\n"
	"VALUE is DATA, or for a PROG_ARRAY or a map of maps \"name NAME\", a program or map\n"
	"of the object; for a DEVMAP \"dev PORT\", see targets; for a CPUMAP \"qsize N\".\n"
	"\"prog\" names the second program of a DEVMAP's or CPUMAP's entry.";

/* The words behind VERB PORT MAP. 0, or -1 after a sentence. */
static int
parse_data(struct maps *maps, char **words, int nb_words)
{
	int i = 0, used;

	while (i < nb_words) {
		char **rest = &words[i + 1];
		int nb_rest = nb_words - i - 1;

		if (strcmp(words[i], "key") == 0 || strcmp(words[i], "value") == 0) {
			used = words[i][0] == 'k' ?
				hex_from_words(rest, nb_rest, maps->key, sizeof(maps->key)) :
				value_from_words(&maps->value, rest, nb_rest);
			if (used < 0)
				return -1;
			i += 1 + used;
		} else if (strcmp(words[i], "prog") == 0 && nb_rest > 0) {
			maps->value.prog = rest[0];
			i += 2;
		} else if (strcmp(words[i], "any") == 0 || strcmp(words[i], "noexist") == 0 ||
				strcmp(words[i], "exist") == 0) {
			maps->flags = words[i++];
		} else {
			report("\"%s\" is none of key, value, prog, any, noexist, exist or a byte", words[i]);
			return -1;
		}
	}
	return 0;
}

static error_t
parse_word(int key, char *arg, struct argp_state *state)
{
	struct maps *maps = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (state->arg_num == 0) {
			maps->verb = arg;
		} else if (state->arg_num == 1) {
			maps->port = arg;
		} else if (state->arg_num == 2) {
			maps->map = arg;
		} else {
			if (parse_data(maps, &state->argv[state->next - 1],
					state->argc - state->next + 1) != 0)
				exit(EXIT_USAGE);
			state->next = state->argc;
		}
		return 0;
	case ARGP_KEY_END:
		if (state->arg_num < 2)
			argp_error(state, "what to do and a port are needed");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* A value: bytes, or for a per-CPU map an object of bytes by CPU. */
static void
print_value(const json_t *value)
{
	const char *cpu;
	json_t *copy;
	char *text;

	if (json_is_object(value)) {
		json_object_foreach((json_t *)value, cpu, copy) {
			printf("\nvalue (CPU %s): ", cpu);
			print_value(copy);
		}
		return;
	}
	text = client_join(value);
	if (text != NULL)
		hex_print(text);
	free(text);
}

static void
print_entry(const struct ctl *ctl, const json_t *entry)
{
	if (ctl->json) {
		print_json(entry, ctl->pretty);
		return;
	}
	printf("key: ");
	print_value(json_object_get(entry, "key"));
	if (!json_is_object(json_object_get(entry, "value")))
		printf("  value: ");
	print_value(json_object_get(entry, "value"));
	putchar('\n');
}

static void
print_map(const json_t *map)
{
	printf("%-16s type %lld  key %lldB  value %lldB  max_entries %lld  flags 0x%llx  of %s\n",
		answer_text(map, "name"), answer_number(map, "type"),
		answer_number(map, "key_size"), answer_number(map, "value_size"),
		answer_number(map, "max_entries"), answer_number(map, "flags"),
		answer_text(map, "func"));
}

static int
list_maps(struct ctl *ctl, int port, const struct maps *maps)
{
	json_t *answer = client_ask(&ctl->client, "/mlx4x/xdp/maps/list,port=%d", port);
	const char *name;
	json_t *map;

	json_object_foreach(answer, name, map) {
		if (json_is_object(map) && !ctl->json)
			print_map(map);
	}
	return finish_answer(ctl, answer);
}

/* Prints a page of entries; the key of the next page to free(), NULL at the end. */
static char *
print_page(const struct ctl *ctl, json_t *answer, unsigned long *nb)
{
	const char *name;
	json_t *entry;

	json_object_foreach(answer, name, entry) {
		if (strncmp(name, "entry_", strlen("entry_")) != 0)
			continue;
		print_entry(ctl, entry);
		++*nb;
	}
	return client_join(json_object_get(answer, "next"));
}

/* Entries that come and go meanwhile are seen or not, as with bpftool. */
static int
dump_map(struct ctl *ctl, int port, const struct maps *maps)
{
	char *key = NULL;
	unsigned long nb = 0;

	do {
		json_t *answer = client_ask(&ctl->client, "/mlx4x/xdp/maps/dump,port=%d,map=%s%s%s",
			port, maps->map, key != NULL ? ",key=" : "", key != NULL ? key : "");

		free(key);
		if (answer == NULL)
			return EXIT_FAILURE;
		key = print_page(ctl, answer, &nb);
		json_decref(answer);
	} while (key != NULL);
	if (!ctl->json)
		printf("Found %lu element%s\n", nb, nb == 1 ? "" : "s");
	return EXIT_SUCCESS;
}

static int
look_up(struct ctl *ctl, int port, const struct maps *maps)
{
	json_t *answer = client_ask(&ctl->client, "/mlx4x/xdp/maps/lookup,port=%d,map=%s,key=%s",
		port, maps->map, maps->key);

	if (answer != NULL && !ctl->json)
		print_entry(ctl, answer);
	return finish_answer(ctl, answer);
}

static int
update(struct ctl *ctl, int port, const struct maps *maps)
{
	struct value value = maps->value;
	const char *prog = value.prog;

	if (value_find_dev(ctl, port, &value) != 0)
		return EXIT_FAILURE;
	return finish_answer(ctl, client_ask(&ctl->client,
		"/mlx4x/xdp/maps/update,port=%d,map=%s,key=%s,%s=%s,flags=%s%s%s", port,
		maps->map, maps->key, value.name != NULL ? "name" : "value",
		value.name != NULL ? value.name : value.hex, maps->flags,
		prog != NULL ? ",func=" : "", prog != NULL ? prog : ""));
}

static int
delete_entry(struct ctl *ctl, int port, const struct maps *maps)
{
	return finish_answer(ctl, client_ask(&ctl->client,
		"/mlx4x/xdp/maps/delete,port=%d,map=%s,key=%s", port, maps->map, maps->key));
}

static const struct verb {
	const char *name;
	int (*run)(struct ctl *ctl, int port, const struct maps *maps);
	bool map;
	bool key;
	bool value;
} verbs[] = {
	{ "list", list_maps, false, false, false },
	{ "dump", dump_map, true, false, false },
	{ "lookup", look_up, true, true, false },
	{ "update", update, true, true, true },
	{ "delete", delete_entry, true, true, false },
};

/* The verb if its words are there, and no others; NULL after a sentence. */
static const struct verb *
find_verb(const struct maps *maps)
{
	size_t i;

	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		const struct verb *verb = &verbs[i];

		if (strcmp(verb->name, maps->verb) != 0)
			continue;
		if (verb->map == (maps->map != NULL) && verb->key == (maps->key[0] != '\0') &&
		    verb->value == value_is_given(&maps->value))
			return verb;
		report("maps %s takes a port%s%s%s", verb->name, verb->map ? ", a map" : "",
			verb->key ? ", key DATA" : "", verb->value ? ", value VALUE" : "");
		return NULL;
	}
	report("maps %s: no such verb; list, dump, lookup, update, delete", maps->verb);
	return NULL;
}

int
command_maps(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse_word, .args_doc = "VERB PORT [MAP [key DATA [value VALUE]]]",
		.doc = doc,
	};
	struct maps maps = { .flags = "any" };
	const struct verb *verb;
	int port;

	argp_parse(&argp, argc, argv, 0, NULL, &maps);
	verb = find_verb(&maps);
	if (verb == NULL)
		return EXIT_USAGE;
	port = find_port(ctl, maps.port);
	return port < 0 ? EXIT_FAILURE : verb->run(ctl, port, &maps);
}
