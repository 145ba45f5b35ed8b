/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The text of a wire and the plan of a card. One table describes every option;
 * parsing, error sentences and help come from it. Nothing here touches the system.
 */

#include <errno.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "kinds.h"

#define REFUSE(text, reason, size, format, ...) \
	vcx3_wire_refuse(reason, size, EINVAL, "wire \"%s\": " format, text, ##__VA_ARGS__)

enum option_type {
	OPTION_U64,
	OPTION_U32,
	OPTION_SWITCH,
	OPTION_PROTO,
	OPTION_FILE,
};

struct option {
	enum vcx3_wire_kind kind;
	const char *name;
	enum option_type type;
	size_t offset;
	uint64_t min;
	uint64_t max;
	const char *what;
};

#define FIELD(name) offsetof(struct vcx3_wire_spec, name)

/* A rate above 1 GHz has no meaning in nanoseconds. */
#define RATE_MAX 1000000000

static const struct option options[] = {
	{VCX3_WIRE_PCAP, "rx", OPTION_FILE, FIELD(rx_file), 0, 0, "capture to play"},
	{VCX3_WIRE_PCAP, "tx", OPTION_FILE, FIELD(tx_file), 0, 0, "capture to write"},
	{VCX3_WIRE_PCAP, "loop", OPTION_U64, FIELD(loop), 0, UINT64_MAX,
		"times to play rx, 0 = without end (default 1)"},
	{VCX3_WIRE_PCAP, "hold", OPTION_SWITCH, FIELD(hold), 0, 1, "wait for go (default 0)"},
	{VCX3_WIRE_GEN, "size", OPTION_U32, FIELD(size), VCX3_WIRE_FRAME_MIN, VCX3_WIRE_FRAME_MAX,
		"bytes of a frame without FCS, never below its headers (default 60)"},
	{VCX3_WIRE_GEN, "flows", OPTION_U32, FIELD(flows), 1, VCX3_WIRE_FLOWS_MAX,
		"different flows, sent in turn (default 16)"},
	{VCX3_WIRE_GEN, "count", OPTION_U64, FIELD(count), 0, UINT64_MAX,
		"frames to make, 0 = without end (default)"},
	{VCX3_WIRE_GEN, "rate", OPTION_U64, FIELD(rate_pps), 0, RATE_MAX,
		"frames per second, 0 = as fast as they are taken (default)"},
	{VCX3_WIRE_GEN, "proto", OPTION_PROTO, FIELD(proto), 0, 0,
		"udp4, tcp4, udp6, tcp6 or mix (default udp4)"},
	{VCX3_WIRE_GEN, "seed", OPTION_U64, FIELD(seed), 0, UINT64_MAX,
		"chooses addresses and ports (default 1)"},
	{VCX3_WIRE_GEN, "hold", OPTION_SWITCH, FIELD(hold), 0, 1, "wait for go (default 0)"},
};

#define OPTION_COUNT (sizeof(options) / sizeof(options[0]))

static const char *const protos[] = {"udp4", "tcp4", "udp6", "tcp6", "mix"};

struct kind {
	const char *name;
	const char *what;
};

static const struct kind kinds[] = {
#define KIND_ROW(upper, text, sentence) [VCX3_WIRE_##upper] = {.name = text, .what = sentence},
	VCX3_WIRE_KINDS(KIND_ROW)
#undef KIND_ROW
};

/* What follows the colon of the kinds that take a name instead of options. */
static const char *
argument_name(enum vcx3_wire_kind kind, size_t *max)
{
	*max = kind == VCX3_WIRE_UNIX ? sizeof(((struct sockaddr_un *)0)->sun_path) - 1 :
		IFNAMSIZ - 1;
	switch (kind) {
	case VCX3_WIRE_PACKET:
		return "IFNAME";
	case VCX3_WIRE_TAP:
		return "NAME";
	case VCX3_WIRE_UNIX:
		return "PATH";
	default:
		return NULL;
	}
}

const char *
vcx3_wire_kind_name(enum vcx3_wire_kind kind)
{
	return kinds[kind].name;
}

__attribute__((format(printf, 3, 4)))
static size_t
append(char *text, size_t size, const char *format, ...)
{
	size_t used = strnlen(text, size);
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(text + used, size - used, format, args);
	va_end(args);
	return length < 0 ? 0 : (size_t)length;
}

static bool
has_options(enum vcx3_wire_kind kind)
{
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (options[i].kind == kind)
			return true;
	return false;
}

static void
list_options(enum vcx3_wire_kind kind, char *list, size_t size)
{
	list[0] = '\0';
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (options[i].kind == kind)
			append(list, size, "%s%s", list[0] ? ", " : "", options[i].name);
}

static int
parse_number(const char *text, const struct option *option, const char *value, uint64_t *number,
	char *reason, size_t size)
{
	char *end;

	errno = 0;
	*number = strtoull(value, &end, 0);
	if (value[0] < '0' || value[0] > '9' || *end != '\0' || errno != 0 ||
	    *number < option->min || *number > option->max)
		return REFUSE(text, reason, size,
			"%s=%s is not a number from %llu to %llu", option->name, value,
			(unsigned long long)option->min, (unsigned long long)option->max);
	return 0;
}

static int
parse_proto(const char *text, const char *value, enum vcx3_wire_proto *proto,
	char *reason, size_t size)
{
	for (size_t i = 0; i < sizeof(protos) / sizeof(protos[0]); i++) {
		if (strcmp(value, protos[i]) == 0) {
			*proto = (enum vcx3_wire_proto)i;
			return 0;
		}
	}
	return REFUSE(text, reason, size,
		"no protocol \"%s\"; the protocols are udp4, tcp4, udp6, tcp6, mix", value);
}

static int
parse_file(const char *text, const struct option *option, const char *value, char *file,
	char *reason, size_t size)
{
	if (value[0] == '\0')
		return REFUSE(text, reason, size, "%s= needs a file name", option->name);
	if (strlen(value) >= VCX3_WIRE_PATH_SIZE)
		return REFUSE(text, reason, size,
			"the file name of %s= is longer than %d bytes", option->name,
			VCX3_WIRE_PATH_SIZE - 1);
	strcpy(file, value);
	return 0;
}

static int
parse_value(const char *text, const struct option *option, const char *value,
	struct vcx3_wire_spec *spec, char *reason, size_t size)
{
	void *field = (char *)spec + option->offset;
	uint64_t number = 0;
	int ret;

	if (option->type == OPTION_PROTO)
		return parse_proto(text, value, field, reason, size);
	if (option->type == OPTION_FILE)
		return parse_file(text, option, value, field, reason, size);
	ret = parse_number(text, option, value, &number, reason, size);
	if (ret != 0)
		return ret;
	if (option->type == OPTION_U64)
		*(uint64_t *)field = number;
	else if (option->type == OPTION_U32)
		*(uint32_t *)field = (uint32_t)number;
	else
		*(bool *)field = number != 0;
	return 0;
}

/* Reads one NAME=VALUE; seen has a bit for each row of the table. */
static int
parse_option(const char *text, char *item, struct vcx3_wire_spec *spec, uint32_t *seen,
	char *reason, size_t size)
{
	const char *kind = kinds[spec->kind].name;
	char *value = strchr(item, '=');
	char list[128];

	if (value == NULL)
		return REFUSE(text, reason, size, "\"%s\" is not NAME=VALUE", item);
	*value++ = '\0';
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		if (options[i].kind != spec->kind || strcmp(options[i].name, item) != 0)
			continue;
		if (*seen & 1u << i)
			return REFUSE(text, reason, size, "%s is given twice", item);
		*seen |= 1u << i;
		return parse_value(text, &options[i], value, spec, reason, size);
	}
	list_options(spec->kind, list, sizeof(list));
	return REFUSE(text, reason, size, "%s has no option \"%s\"; its options are %s",
		kind, item, list);
}

static int
parse_options(const char *text, const char *rest, struct vcx3_wire_spec *spec,
	char *reason, size_t size)
{
	uint32_t seen = 0;
	char *copy = strdup(rest);
	char *next = copy;
	char *item;
	int ret = 0;

	if (copy == NULL)
		return vcx3_wire_refuse(reason, size, ENOMEM, "no memory for the text of a wire");
	while (ret == 0 && (item = strsep(&next, ",")) != NULL)
		ret = parse_option(text, item, spec, &seen, reason, size);
	free(copy);
	return ret;
}

static int
parse_name(const char *text, const char *rest, struct vcx3_wire_spec *spec,
	char *reason, size_t size)
{
	size_t max;
	const char *what = argument_name(spec->kind, &max);
	const char *kind = kinds[spec->kind].name;

	if (rest[0] == '\0')
		return REFUSE(text, reason, size, "write %s:%s", kind, what);
	if (strlen(rest) > max)
		return REFUSE(text, reason, size, "%s of %s is longer than %zu bytes",
			what, kind, max);
	if (spec->kind != VCX3_WIRE_UNIX && (strpbrk(rest, "/: \t\n%") != NULL ||
	    strcmp(rest, ".") == 0 || strcmp(rest, "..") == 0))
		return REFUSE(text, reason, size, "\"%s\" cannot be an interface name", rest);
	strcpy(spec->name, rest);
	return 0;
}

static int
check_pcap(const char *text, const struct vcx3_wire_spec *spec, char *reason, size_t size)
{
	if (spec->rx_file[0] == '\0' && spec->tx_file[0] == '\0')
		return REFUSE(text, reason, size, "pcap needs rx=FILE, tx=FILE or both");
	if (strcmp(spec->rx_file, spec->tx_file) == 0)
		return REFUSE(text, reason, size,
			"rx and tx are the same file; it would be lost");
	return 0;
}

static int
parse_kind(const char *text, struct vcx3_wire_spec *spec, char *reason, size_t size)
{
	size_t length = strcspn(text, ":");
	char list[128] = "";

	for (size_t i = 0; i < VCX3_WIRE_KIND_COUNT; i++) {
		if (strlen(kinds[i].name) == length && strncmp(text, kinds[i].name, length) == 0) {
			spec->kind = (enum vcx3_wire_kind)i;
			return 0;
		}
		append(list, sizeof(list), "%s%s", i ? ", " : "", kinds[i].name);
	}
	return REFUSE(text, reason, size, "no kind of wire \"%.*s\"; the kinds are %s",
		(int)length, text, list);
}

static void
set_defaults(struct vcx3_wire_spec *spec)
{
	*spec = (struct vcx3_wire_spec){
		.loop = 1,
		.seed = 1,
		.size = VCX3_WIRE_FRAME_MIN,
		.flows = 16,
		.proto = VCX3_WIRE_UDP4,
	};
}

int
vcx3_wire_parse(const char *text, struct vcx3_wire_spec *spec, char *reason, size_t size)
{
	const char *rest = strchr(text, ':');
	size_t unused;
	int ret;

	set_defaults(spec);
	ret = parse_kind(text, spec, reason, size);
	if (ret != 0)
		return ret;
	if (argument_name(spec->kind, &unused) != NULL)
		return parse_name(text, rest != NULL ? rest + 1 : "", spec, reason, size);
	if (rest != NULL && !has_options(spec->kind))
		return REFUSE(text, reason, size, "%s takes nothing after it",
			kinds[spec->kind].name);
	if (rest != NULL)
		ret = parse_options(text, rest + 1, spec, reason, size);
	if (ret == 0 && spec->kind == VCX3_WIRE_PCAP)
		ret = check_pcap(text, spec, reason, size);
	return ret;
}

/* Appends the line of one kind and those of its options; returns their length. */
static size_t
help_kind(enum vcx3_wire_kind kind, char *text, size_t size)
{
	size_t unused;
	const char *argument = argument_name(kind, &unused);
	char head[64];
	size_t length;

	snprintf(head, sizeof(head), "%s%s%s", kinds[kind].name,
		argument || has_options(kind) ? ":" : "",
		argument ? argument : has_options(kind) ? "OPTION=VALUE,..." : "");
	length = append(text, size, "  %-22s %s\n", head, kinds[kind].what);
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (options[i].kind == kind)
			length += append(text, size, "    %-20s %s\n", options[i].name,
				options[i].what);
	return length;
}

size_t
vcx3_wire_help(char *text, size_t size)
{
	size_t length = 0;

	text[0] = '\0';
	for (int kind = 0; kind < VCX3_WIRE_KIND_COUNT; kind++)
		length += help_kind((enum vcx3_wire_kind)kind, text, size);
	return length;
}

void
vcx3_wire_plan_init(struct vcx3_wire_plan *plan, uint32_t ports)
{
	memset(plan, 0, sizeof(*plan));
	plan->ports = ports;
}

int
vcx3_wire_plan_add(struct vcx3_wire_plan *plan, const char *text, char *reason, size_t size)
{
	uint32_t port = (uint32_t)(text[0] - '0');

	if (text[0] < '0' || text[0] > '9' || text[1] != '=')
		return REFUSE(text, reason, size, "write PORT=SPEC, as in 1=sink");
	if (port < 1 || port > plan->ports)
		return REFUSE(text, reason, size, "no port %u; the card has %s", port,
			plan->ports == 1 ? "port 1 only" : "ports 1 and 2");
	if (plan->given[port - 1])
		return REFUSE(text, reason, size, "port %u has a wire already", port);
	plan->given[port - 1] = true;
	return vcx3_wire_parse(text + 2, &plan->spec[port - 1], reason, size);
}

static int
check_pair(const struct vcx3_wire_plan *plan, char *reason, size_t size)
{
	for (uint32_t i = 0; i < plan->ports; i++) {
		uint32_t other = 1 - i;

		if (plan->spec[i].kind != VCX3_WIRE_PEER)
			continue;
		if (plan->ports == 1)
			return vcx3_wire_refuse(reason, size, EINVAL,
				"wire of port 1: peer needs two ports, and the card has one");
		if (plan->spec[other].kind != VCX3_WIRE_PEER)
			return vcx3_wire_refuse(reason, size, EINVAL,
				"wire of port %u: peer is the other port, but port %u is plugged"
				" into %s; give peer to both or to none", i + 1, other + 1,
				kinds[plan->spec[other].kind].name);
	}
	return 0;
}

/* A file, interface or socket that two wires of one card would fight for. */
static int
check_shared(const struct vcx3_wire_plan *plan, char *reason, size_t size)
{
	const struct vcx3_wire_spec *one = &plan->spec[0];
	const struct vcx3_wire_spec *two = &plan->spec[1];

	if (plan->ports == 1)
		return 0;
	if (one->kind == two->kind && one->name[0] != '\0' && one->kind != VCX3_WIRE_UNIX &&
	    strcmp(one->name, two->name) == 0)
		return vcx3_wire_refuse(reason, size, EINVAL,
			"ports 1 and 2 are both plugged into %s:%s", kinds[one->kind].name,
			one->name);
	if (one->tx_file[0] != '\0' && (strcmp(one->tx_file, two->tx_file) == 0 ||
	    strcmp(one->tx_file, two->rx_file) == 0))
		return vcx3_wire_refuse(reason, size, EINVAL,
			"port 1 writes %s, and port 2 uses it too", one->tx_file);
	if (two->tx_file[0] != '\0' && strcmp(two->tx_file, one->rx_file) == 0)
		return vcx3_wire_refuse(reason, size, EINVAL,
			"port 2 writes %s, and port 1 plays it", two->tx_file);
	return 0;
}

int
vcx3_wire_plan_finish(struct vcx3_wire_plan *plan, char *reason, size_t size)
{
	bool none = plan->ports == 2 && !plan->given[0] && !plan->given[1];
	int ret;

	for (uint32_t i = 0; i < plan->ports; i++) {
		if (plan->given[i])
			continue;
		set_defaults(&plan->spec[i]);
		plan->spec[i].kind = none ? VCX3_WIRE_PEER : VCX3_WIRE_SINK;
	}
	ret = check_pair(plan, reason, size);
	return ret != 0 ? ret : check_shared(plan, reason, size);
}
