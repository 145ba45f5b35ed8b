/* SPDX-License-Identifier: BSD-3-Clause */

/* The option table and what is made from it; see options.h. */

#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 78
#define FRAME_MIN 60

const char *const perf_axis_name[PERF_NB_AXES] = {
	"frame", "burst", "ring", "queues", "flows", "layout", "cqe-size",
};
const char *const perf_layout_name[PERF_NB_LAYOUTS] = { "mbuf", "page", "packed" };

/* How a word becomes a value. */
enum kind {
	KIND_LIST,	/* target: index of the axis */
	KIND_TEXT,
	KIND_NUMBER,
	KIND_SWITCH,
};

struct option_entry {
	const char *name;
	enum kind kind;
	const char *value;	/* its name in help */
	size_t target;		/* offset in struct perf_options, or axis */
	unsigned long min, max;
	const char *help;
};

#define AT(field) offsetof(struct perf_options, field)

static const struct option_entry table[] = {
	{ "scenario", KIND_TEXT, "NAME,...", AT(scenarios), 0, 0,
	  "What to measure; all that the driver can do unless told. `mlx4x-perf list` prints "
	  "their names." },
	{ "frame", KIND_LIST, "N,...", PERF_FRAME, FRAME_MIN, PERF_FRAME_MAX,
	  "Bytes of a frame without CRC, 60 to 9014." },
	{ "burst", KIND_LIST, "N,...", PERF_BURST, 1, PERF_BURST_MAX,
	  "Packets that one call asks for, 1 to 64." },
	{ "ring", KIND_LIST, "N,...", PERF_RING, 64, 8192,
	  "Descriptors of each ring, 64 to 8192." },
	{ "queues", KIND_LIST, "N,...", PERF_QUEUES, 1, PERF_QUEUES_MAX,
	  "Queue pairs, all polled by one lcore: 1, 2, 4 or 8." },
	{ "flows", KIND_LIST, "N,...", PERF_FLOWS, 1, 65536, "Flows of the generator." },
	{ "layout", KIND_LIST, "mbuf|page|packed,...", PERF_LAYOUT, 0, 0,
	  "Where buffers lie: the default mempool handler, page_pool (one a page), "
	  "page_pool_packed (32 KiB blocks)." },
	{ "cqe-size", KIND_LIST, "32|64,...", PERF_CQE, 32, 64,
	  "Bytes of a completion queue entry of the virtual card." },
	{ "sweep", KIND_SWITCH, NULL, AT(sweep), 0, 0,
	  "Vary one list after the other while the rest stay at their first values; lists that "
	  "were not given cover their whole range. Without it every combination is measured." },
	{ "rounds", KIND_NUMBER, "N", AT(rounds), 1, 1001,
	  "Interleaved rounds of each driver, 15 unless told." },
	{ "packets", KIND_NUMBER, "N", AT(packets), 64, 1 << 24,
	  "Packets of a round, 32768 unless told." },
	{ "cold", KIND_SWITCH, NULL, AT(cold), 0, 0,
	  "The virtual card flushes the completions that it writes." },
	{ "cold-data", KIND_SWITCH, NULL, AT(cold_data), 0, 0, "And the packets." },
	{ "thread", KIND_SWITCH, NULL, AT(thread), 0, 0,
	  "The virtual card runs in a thread of its own: measures where the host puts the "
	  "processors, so compare nothing by it." },
	{ "cpu", KIND_NUMBER, "N", AT(cpu), 0, 1023, "Processor, the last allowed one unless told." },
	{ "cores", KIND_NUMBER, "N", AT(cores), 1, 2,
	  "For run: cores that poll, 1 or 2; the second is the processor before --cpu and takes "
	  "half of the queues." },
	{ "serial", KIND_SWITCH, NULL, AT(serial), 0, 0,
	  "For run, with --cores 2: one core after the other, not both at once." },
	{ "soft-queue", KIND_SWITCH, NULL, AT(soft_queue), 0, 0,
	  "For run with our driver: one receive queue of software more "
	  "(xdp_cpumap_queues=1), which scenario object-cpumap needs." },
	{ "no-huge", KIND_SWITCH, NULL, AT(no_huge), 0, 0, "Memory in 4 KiB pages." },
	{ "driver", KIND_TEXT, "stock|FILE", AT(driver), 0, 0,
	  "For run: the driver that DPDK loads by itself, or a library in front of it." },
	{ "device", KIND_TEXT, "PCI", AT(device), 0, 0,
	  "PCI address, 0000:03:00.0 (the virtual card) unless told." },
	{ "ours", KIND_TEXT, "FILE", AT(ours), 0, 0,
	  "For compare and seeds: our driver's library, looked for near the program unless told." },
	{ "launcher", KIND_TEXT, "FILE", AT(launcher), 0, 0,
	  "For compare and seeds: vcx3, looked for near the program unless told." },
	{ "json", KIND_TEXT, "FILE", AT(json), 0, 0,
	  "For compare, count, run and seeds: also write the results as JSON." },
	{ "help", KIND_SWITCH, NULL, AT(help), 0, 0, "Print this text." },
};

#define NB_OPTIONS (sizeof(table) / sizeof(table[0]))

static const struct perf_list base[PERF_NB_AXES] = {
	{ 1, { 60 } }, { 1, { 32 } }, { 1, { 512 } }, { 1, { 1 } }, { 1, { 16 } },
	{ 1, { PERF_LAYOUT_MBUF } }, { 1, { 64 } },
};

/* First the base value, then the rest of the range. */
static const struct perf_list whole[PERF_NB_AXES] = {
	{ 8, { 60, 128, 256, 512, 1024, 1280, 1514, 9000 } },
	{ 7, { 32, 1, 2, 4, 8, 16, 64 } },
	{ 8, { 512, 64, 128, 256, 1024, 2048, 4096, 8192 } },
	{ 4, { 1, 2, 4, 8 } },
	{ 5, { 16, 1, 256, 4096, 65536 } },
	{ 3, { PERF_LAYOUT_MBUF, PERF_LAYOUT_PAGE, PERF_LAYOUT_PACKED } },
	{ 2, { 64, 32 } },
};

static bool
parse_number(const char *text, size_t length, unsigned long min, unsigned long max,
	unsigned long *value)
{
	char *end;

	if (length == 0 || *text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoul(text, &end, 10);
	return errno == 0 && end == text + length && *value >= min && *value <= max;
}

static bool
parse_layout(const char *text, size_t length, unsigned long *value)
{
	for (*value = 0; *value < PERF_NB_LAYOUTS; ++*value) {
		if (strlen(perf_layout_name[*value]) == length &&
		    strncmp(perf_layout_name[*value], text, length) == 0)
			return true;
	}
	return false;
}

static bool
parse_element(const struct option_entry *entry, const char *text, size_t length,
	unsigned long *value)
{
	if (entry->target == PERF_LAYOUT)
		return parse_layout(text, length, value);
	if (!parse_number(text, length, entry->min, entry->max, value))
		return false;
	if (entry->target == PERF_QUEUES)
		return (*value & (*value - 1)) == 0;
	return entry->target != PERF_CQE || *value == 32 || *value == 64;
}

static int
parse_list(struct perf_options *options, const struct option_entry *entry, const char *text,
	char *reason, size_t size)
{
	struct perf_list *list = &options->axis[entry->target];

	list->nb = 0;
	options->given[entry->target] = true;
	for (;;) {
		size_t length = strcspn(text, ",");
		unsigned long value;

		if (!parse_element(entry, text, length, &value)) {
			snprintf(reason, size, "--%s: \"%.*s\" is not allowed: %s", entry->name,
				(int)length, text, entry->help);
			return -EINVAL;
		}
		if (list->nb == PERF_LIST_MAX) {
			snprintf(reason, size, "--%s: more than %d values", entry->name,
				PERF_LIST_MAX);
			return -E2BIG;
		}
		list->value[list->nb++] = value;
		if (text[length] == '\0')
			return 0;
		text += length + 1;
	}
}

static int
set_value(struct perf_options *options, const struct option_entry *entry, const char *text,
	char *reason, size_t size)
{
	char *field = (char *)options + entry->target;
	unsigned long value;

	if (entry->kind == KIND_LIST)
		return parse_list(options, entry, text, reason, size);
	if (entry->kind == KIND_TEXT) {
		*(const char **)field = text;
		return 0;
	}
	if (!parse_number(text, strlen(text), entry->min, entry->max, &value)) {
		snprintf(reason, size, "--%s: \"%s\" is not a number from %lu to %lu",
			entry->name, text, entry->min, entry->max);
		return -EINVAL;
	}
	*(unsigned int *)field = value;
	return 0;
}

static const struct option_entry *
find_option(const char *word)
{
	size_t length = strcspn(word, "="), i;

	for (i = 0; i < NB_OPTIONS; i++) {
		if (strlen(table[i].name) == length && strncmp(table[i].name, word, length) == 0)
			return &table[i];
	}
	return NULL;
}

/* One option at words[0]: --name value, --name=value or --switch. Words taken. */
static int
parse_one(struct perf_options *options, int nb, char **words, char *reason, size_t size)
{
	const struct option_entry *entry =
		strncmp(words[0], "--", 2) == 0 ? find_option(words[0] + 2) : NULL;
	const char *value = strchr(words[0], '=');
	int ret;

	if (entry == NULL) {
		snprintf(reason, size, "unknown word \"%s\"; mlx4x-perf --help lists the options",
			words[0]);
		return -EINVAL;
	}
	if (entry->kind == KIND_SWITCH && value == NULL) {
		*(bool *)((char *)options + entry->target) = true;
		return 1;
	}
	if (entry->kind == KIND_SWITCH || (value == NULL && nb < 2)) {
		snprintf(reason, size, "--%s %s", entry->name,
			entry->kind == KIND_SWITCH ? "takes no value" : "needs a value");
		return -EINVAL;
	}
	ret = set_value(options, entry, value != NULL ? value + 1 : words[1], reason, size);
	return ret < 0 ? ret : value != NULL ? 1 : 2;
}

int
perf_options_parse(struct perf_options *options, int nb, char **words, char *reason, size_t size)
{
	unsigned int axis;
	int taken, at;

	*options = (struct perf_options){
		.driver = "stock",
		.device = "0000:03:00.0",
		.rounds = 15,
		.packets = 32768,
		.cpu = -1,
		.cores = 1,
	};
	for (at = 0; at < nb; at += taken) {
		taken = parse_one(options, nb - at, words + at, reason, size);
		if (taken < 0)
			return taken;
	}
	for (axis = 0; axis < PERF_NB_AXES; axis++) {
		if (!options->given[axis])
			options->axis[axis] = options->sweep ? whole[axis] : base[axis];
	}
	return 0;
}

bool
perf_options_wants(const struct perf_options *options, const char *scenario)
{
	const char *text = options->scenarios;
	size_t length = strlen(scenario);

	while (text != NULL && *text != '\0') {
		size_t piece = strcspn(text, ",");

		if (piece == length && strncmp(text, scenario, length) == 0)
			return true;
		text += piece + (text[piece] == ',');
	}
	return options->scenarios == NULL;
}

static bool
sweep_point(const struct perf_options *options, unsigned int i, struct perf_point *point)
{
	unsigned int axis;

	/* The base is measured once. */
	if (i-- == 0)
		return true;
	for (axis = 0; axis < PERF_NB_AXES; axis++) {
		unsigned int nb = options->axis[axis].nb - 1;

		if (i < nb) {
			point->at[axis] = options->axis[axis].value[1 + i];
			return true;
		}
		i -= nb;
	}
	return false;
}

bool
perf_options_point(const struct perf_options *options, unsigned int i, struct perf_point *point)
{
	unsigned int axis;

	for (axis = 0; axis < PERF_NB_AXES; axis++)
		point->at[axis] = options->axis[axis].value[0];
	if (options->sweep)
		return sweep_point(options, i, point);
	/* The burst turns fastest after the last axes: both drivers are restarted least. */
	for (axis = PERF_NB_AXES; axis-- > 0;) {
		const struct perf_list *list = &options->axis[axis];

		point->at[axis] = list->value[i % list->nb];
		i /= list->nb;
	}
	return i == 0;
}

static void
print_wrapped(FILE *out, const char *text, int indent)
{
	int column = 0;

	while (*text != '\0') {
		int length = strcspn(text, " ");

		if (column != 0 && column + 1 + length > COLUMNS) {
			fputc('\n', out);
			column = 0;
		}
		column += column == 0 ? fprintf(out, "%*s%.*s", indent, "", length, text) :
			fprintf(out, " %.*s", length, text);
		text += length;
		text += *text == ' ';
	}
	fputc('\n', out);
}

void
perf_options_help(FILE *out)
{
	size_t i;

	for (i = 0; i < NB_OPTIONS; i++) {
		fprintf(out, "  --%s%s%s\n", table[i].name, table[i].value != NULL ? " " : "",
			table[i].value != NULL ? table[i].value : "");
		print_wrapped(out, table[i].help, 8);
	}
}
