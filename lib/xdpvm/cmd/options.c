/* SPDX-License-Identifier: BSD-3-Clause */
/* See options.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

#define REPEAT_MAX 1000000

/* Which commands know an option. */
#define RUN (1 << COMMAND_RUN)
#define COMPARE (1 << COMMAND_COMPARE)
#define CHECK (1 << COMMAND_CHECK)
#define DUMP (1 << COMMAND_DUMP)
#define ALL (RUN | COMPARE | CHECK | DUMP)

struct command_entry {
	const char *name;
	const char *help;
};

static const struct command_entry commands[COMMANDS] = {
	[COMMAND_RUN] = { "run", "run the packets of a capture and print what became of them" },
	[COMMAND_COMPARE] = { "compare", "run them in native code, interpreter and kernel, each "
			      "with maps of its own, and report the first difference" },
	[COMMAND_CHECK] = { "check", "say of each program whether it would load, and why not" },
	[COMMAND_DUMP] = { "dump", "show instructions as linked and as rewritten, and native code" },
};

struct option_entry {
	char letter;		/* 0: no short form */
	uint8_t commands;
	const char *name;
	const char *value;	/* NULL: a switch */
	const char *help;
	int (*set)(struct options *options, const char *text, char *reason, size_t size);
};

static int
refuse(char *reason, size_t size, const char *option, const char *text, const char *choices)
{
	snprintf(reason, size, "--%s: \"%s\" is not %s", option, text, choices);
	return -EINVAL;
}

static int
choice(const char *text, const char *const *choices, int n)
{
	for (int i = 0; i < n; i++)
		if (strcmp(text, choices[i]) == 0)
			return i;
	return -1;
}

static int
set_engine(struct options *options, const char *text, char *reason, size_t size)
{
	int kind = choice(text, engine_names, ENGINES);

	if (kind < 0)
		return refuse(reason, size, "engine", text, "jit, interp or kernel");
	options->engine = kind;
	return 0;
}

static int
set_verify(struct options *options, const char *text, char *reason, size_t size)
{
	static const char *const modes[] = {
		[XDPVM_VERIFY_AUTO] = "auto", [XDPVM_VERIFY_KERNEL] = "kernel",
		[XDPVM_VERIFY_INTERNAL] = "internal", [XDPVM_VERIFY_CACHED] = "cached",
		[XDPVM_VERIFY_NONE] = "none",
	};
	int mode = choice(text, modes, sizeof(modes) / sizeof(modes[0]));

	if (mode < 0)
		return refuse(reason, size, "verify", text,
			      "auto, kernel, internal, cached or none");
	options->load.verify = mode;
	return 0;
}

static int
set_repeat(struct options *options, const char *text, char *reason, size_t size)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end != '\0' || n < 1 || n > REPEAT_MAX)
		return refuse(reason, size, "repeat", text, "a number from 1 to 1000000");
	options->repeat = n;
	return 0;
}

static int
add_set(struct options *options, const char *text, char *reason, size_t size)
{
	if (options->n_sets == OPTIONS_MAX_SETS)
		return refuse(reason, size, "set", text, "taken: 64 are the most");
	options->sets[options->n_sets++] = text;
	return 0;
}

#define SETTER(name, member, result) \
	static int \
	set_##name(struct options *options, const char *text, char *reason, size_t size) \
	{ \
		options->member = result; \
		return 0; \
	}
SETTER(program, load.program, text)
SETTER(section, load.section, text)
SETTER(pin, load.pin_dir, text)
SETTER(cache, load.cache_dir, text)
SETTER(pcap, pcap, text)
SETTER(out, out, text)
SETTER(code, code, text)
SETTER(json, json, true)
SETTER(packets, packets, true)
SETTER(maps, maps, true)
SETTER(verbose, verbose, true)
SETTER(help, help, true)

static const struct option_entry entries[] = {
	{ 'p', ALL, "program", "NAME", "the program with this function name; without it run "
	  "takes the first one, the others all", set_program },
	{ 0, ALL, "section", "NAME", "the program in this ELF section", set_section },
	{ 0, ALL, "verify", "MODE", "who vouches for the program: kernel, internal, cached, none, "
	  "or auto (default): the kernel where this process may ask it, else internal",
	  set_verify },
	{ 0, ALL, "cache", "DIR", "folder of the hashes of objects that a kernel accepted, for "
	  "--verify cached", set_cache },
	{ 0, RUN, "engine", "ENGINE", "jit (default), interp, or kernel: BPF_PROG_TEST_RUN",
	  set_engine },
	{ 0, RUN | COMPARE, "pcap", "FILE", "the packets: Ethernet frames of 14 to 3520 bytes",
	  set_pcap },
	{ 0, RUN, "out", "FILE", "write packets with PASS, TX or REDIRECT there, as the program "
	  "left them", set_out },
	{ 0, RUN | COMPARE, "set", "MAP:KEY=VALUE", "set a map's entry before the first packet, "
	  "bytes in hex as they lie in memory, on every CPU; may be repeated", add_set },
	{ 0, RUN, "pin", "DIR", "reuse maps that are pinned in this bpffs folder and pin the "
	  "others there", set_pin },
	{ 'n', RUN | COMPARE, "repeat", "N", "then time N packets, evenly taken from the capture, each "
	  "at least 100,000 times in a row, and print the mean ns a packet; compare takes the engines in "
	  "turns", set_repeat },
	{ 0, RUN, "packets", NULL, "a line a packet, not only the histogram", set_packets },
	{ 0, RUN, "maps", NULL, "then print the maps' contents", set_maps },
	{ 0, DUMP, "code", "FILE", "write the native code of the one program there, for objdump "
	  "-D -b binary -m i386:x86-64", set_code },
	{ 'j', ALL, "json", NULL, "print JSON", set_json },
	{ 'v', ALL, "verbose", NULL, "print warnings and the kernel verifier's log as well",
	  set_verbose },
	{ 'h', ALL, "help", NULL, "print this", set_help },
};

#define N_ENTRIES (sizeof(entries) / sizeof(entries[0]))

static const struct option_entry *
find_entry(const char *word)
{
	for (size_t i = 0; i < N_ENTRIES; i++) {
		const struct option_entry *entry = &entries[i];

		if (word[1] == '-' ? strcmp(word + 2, entry->name) == 0
				   : entry->letter != 0 && word[1] == entry->letter &&
				     word[2] == '\0')
			return entry;
	}
	return NULL;
}

/* Takes the option at words[0]; returns the number of words or a negative errno. */
static int
take_option(struct options *options, int nb, char **words, char *reason, size_t size)
{
	const struct option_entry *entry = find_entry(words[0]);
	int ret;

	if (entry == NULL || !(entry->commands & 1 << options->command)) {
		snprintf(reason, size, "%s knows no option %s; see xdpvm --help",
			 commands[options->command].name, words[0]);
		return -EINVAL;
	}
	if (entry->value != NULL && nb < 2) {
		snprintf(reason, size, "%s wants %s", words[0], entry->value);
		return -EINVAL;
	}
	ret = entry->set(options, entry->value != NULL ? words[1] : NULL, reason, size);
	return ret != 0 ? ret : entry->value != NULL ? 2 : 1;
}

static int
check_complete(const struct options *options, char *reason, size_t size)
{
	const char *name = commands[options->command].name;

	if (options->help)
		return 0;
	if (options->object == NULL)
		snprintf(reason, size, "%s wants an object file", name);
	else if (options->pcap == NULL && options->command <= COMMAND_COMPARE)
		snprintf(reason, size, "%s wants packets: --pcap FILE", name);
	else if (options->code != NULL && options->load.program == NULL)
		snprintf(reason, size, "--code wants one program: -p NAME");
	else if (options->load.verify == XDPVM_VERIFY_CACHED && options->load.cache_dir == NULL)
		snprintf(reason, size, "--verify cached wants --cache DIR");
	else if (options->command == COMMAND_RUN && options->engine == ENGINE_KERNEL &&
		 options->load.verify != XDPVM_VERIFY_AUTO &&
		 options->load.verify != XDPVM_VERIFY_KERNEL)
		snprintf(reason, size, "--engine kernel runs what the kernel verified: no other "
			 "--verify");
	else
		return 0;
	return -EINVAL;
}

static int
find_command(const char *word)
{
	for (int i = 0; i < COMMANDS; i++)
		if (strcmp(word, commands[i].name) == 0)
			return i;
	return -1;
}

int
options_parse(struct options *options, int nb, char **words, char *reason, size_t size)
{
	int command, taken;

	*options = (struct options){ .repeat = 0 };
	if (nb > 0 && (strcmp(words[0], "--help") == 0 || strcmp(words[0], "-h") == 0)) {
		options->help = true;
		return 0;
	}
	command = nb > 0 ? find_command(words[0]) : -1;
	if (command < 0) {
		snprintf(reason, size, "the first word is run, compare, check or dump; see xdpvm "
			 "--help");
		return -EINVAL;
	}
	options->command = command;
	for (int i = 1; i < nb; i += taken) {
		taken = 1;
		if (words[i][0] == '-' && words[i][1] != '\0') {
			taken = take_option(options, nb - i, &words[i], reason, size);
			if (taken < 0)
				return taken;
		} else if (options->object != NULL) {
			snprintf(reason, size, "two objects: %s and %s", options->object, words[i]);
			return -EINVAL;
		} else {
			options->object = words[i];
		}
	}
	return check_complete(options, reason, size);
}

/* ---- Help ----------------------------------------------------------------------------------- */

/* The text in lines of at most 70 characters behind a margin of 8. */
static void
print_wrapped(FILE *out, const char *text)
{
	while (*text != '\0') {
		size_t length = strlen(text);

		if (length > 70)
			for (length = 70; text[length] != ' '; length--)
				;
		fprintf(out, "        %.*s\n", (int)length, text);
		text += length;
		text += *text == ' ';
	}
}

static void
list_commands(uint8_t mask, char *text, size_t size)
{
	size_t at = 0;

	*text = '\0';
	for (int i = 0; i < COMMANDS && mask != ALL && at < size; i++)
		if (mask & 1 << i)
			at += snprintf(text + at, size - at, "%s%s", at == 0 ? "" : ", ",
				       commands[i].name);
}

void
options_help(FILE *out)
{
	char only[64];

	fprintf(out, "usage: xdpvm run|compare|check|dump OBJECT [options]\n\n");
	for (int i = 0; i < COMMANDS; i++) {
		fprintf(out, "  %s\n", commands[i].name);
		print_wrapped(out, commands[i].help);
	}
	fprintf(out, "\n");
	for (size_t i = 0; i < N_ENTRIES; i++) {
		const struct option_entry *entry = &entries[i];

		list_commands(entry->commands, only, sizeof(only));
		fprintf(out, "  ");
		if (entry->letter != 0)
			fprintf(out, "-%c, ", entry->letter);
		fprintf(out, "--%s%s%s%s%s%s\n", entry->name, entry->value != NULL ? " " : "",
			entry->value != NULL ? entry->value : "", *only != '\0' ? "  (" : "", only,
			*only != '\0' ? ")" : "");
		print_wrapped(out, entry->help);
	}
}

static void
put_roff(FILE *out, const char *text)
{
	for (; *text != '\0'; text++)
		fprintf(out, *text == '-' ? "\\-" : "%c", *text);
}

void
options_roff(FILE *out)
{
	fprintf(out, ".SH COMMANDS\n");
	for (int i = 0; i < COMMANDS; i++) {
		fprintf(out, ".TP\n\\fB%s\\fR\n", commands[i].name);
		put_roff(out, commands[i].help);
		fprintf(out, "\n");
	}
	fprintf(out, ".SH OPTIONS\n");
	for (size_t i = 0; i < N_ENTRIES; i++) {
		const struct option_entry *entry = &entries[i];
		char only[64];

		list_commands(entry->commands, only, sizeof(only));
		fprintf(out, ".TP\n");
		if (entry->letter != 0)
			fprintf(out, "\\fB\\-%c\\fR, ", entry->letter);
		fprintf(out, "\\fB\\-\\-");
		put_roff(out, entry->name);
		fprintf(out, "\\fR");
		if (entry->value != NULL)
			fprintf(out, " \\fI%s\\fR", entry->value);
		if (*only != '\0')
			fprintf(out, " (%s)", only);
		fprintf(out, "\n");
		put_roff(out, entry->help);
		fprintf(out, "\n");
	}
}
