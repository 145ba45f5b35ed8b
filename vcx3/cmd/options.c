/* SPDX-License-Identifier: BSD-3-Clause */

/* The option table and what is made from it; see options.h. */

#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../core/fault.h"
#include "../core/port.h"

/* One option: its name without dashes, the name of its value (NULL: a switch), what it does. */
struct option_entry {
	const char *name;
	const char *value;
	const char *help;
	int (*set)(struct vcx3_options *options, const char *text, char *reason, size_t size);
};

static int
refuse(char *reason, size_t size, const char *option, const char *text, const char *choices)
{
	snprintf(reason, size, "--%s: \"%s\" is not %s", option, text, choices);
	return -EINVAL;
}

/* The index of text among nb choices, or negative. */
static int
choice(const char *text, const char *const *choices, int nb)
{
	int i;

	for (i = 0; i < nb; i++)
		if (strcmp(text, choices[i]) == 0)
			return i;
	return -1;
}

/* A whole decimal number within [min, max]; false when text is anything else. */
static bool
number(const char *text, unsigned long min, unsigned long max, unsigned long *value)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoul(text, &end, 10);
	return errno == 0 && *end == '\0' && *value >= min && *value <= max;
}

static int
set_ports(struct vcx3_options *options, const char *text, char *reason, size_t size)
{
	unsigned long value;

	if (!number(text, 1, VCX3_MAX_PORTS, &value))
		return refuse(reason, size, "ports", text, "1 or 2");
	options->ports = value;
	return 0;
}

static int
set_wire(struct vcx3_options *options, const char *text, char *reason, size_t size)
{
	if ((text[0] != '1' && text[0] != '2') || text[1] != '=' || text[2] == '\0')
		return refuse(reason, size, "wire", text, "PORT=SPEC with port 1 or 2");
	if (options->wire[text[0] - '1'] != NULL) {
		snprintf(reason, size, "--wire: port %c has two wires, \"%s\" and \"%s\"",
			 text[0], options->wire[text[0] - '1'], text + 2);
		return -EINVAL;
	}
	options->wire[text[0] - '1'] = text + 2;
	return 0;
}

static int
set_device(struct vcx3_options *options, const char *text, char *reason, size_t size)
{
	static const char *const names[] = {"cx3", "cx3pro", "vf"};
	int index = choice(text, names, 3);

	if (index < 0)
		return refuse(reason, size, "device", text, "cx3, cx3pro or vf");
	options->identity = index;
	return 0;
}

static int
set_speed(struct vcx3_options *options, const char *text, char *reason, size_t size)
{
	static const char *const names[] = {"1000", "10000", "20000", "40000", "56000"};

	if (choice(text, names, 5) < 0)
		return refuse(reason, size, "speed", text,
			      "a speed in Mb/s of this card: 1000, 10000, 20000, 40000 or 56000");
	options->speed_mbps = strtoul(text, NULL, 10);
	return 0;
}

static int
set_mtu(struct vcx3_options *options, const char *text, char *reason, size_t size)
{
	unsigned long value;
	char wanted[64];

	if (!number(text, VCX3_NETDEV_MIN_MTU, VCX3_MAX_MTU, &value)) {
		snprintf(wanted, sizeof(wanted), "a number from %d to %d", VCX3_NETDEV_MIN_MTU,
			 VCX3_MAX_MTU);
		return refuse(reason, size, "mtu", text, wanted);
	}
	options->mtu = value;
	return 0;
}

static int
set_cqe_size(struct vcx3_options *options, const char *text, char *reason, size_t size)
{
	static const char *const names[] = {"32", "64"};
	int index = choice(text, names, 2);

	if (index < 0)
		return refuse(reason, size, "cqe-size", text, "32 or 64");
	options->cqe_size = index == 0 ? 32 : 64;
	return 0;
}

static int
set_mac(struct vcx3_options *options, const char *text, char *reason, size_t size)
{
	uint8_t *mac = options->mac;
	int taken = 0;

	if (sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &mac[0], &mac[1], &mac[2],
		   &mac[3], &mac[4], &mac[5], &taken) != 6 || text[taken] != '\0' || mac[0] & 1)
		return refuse(reason, size, "mac", text, "a unicast address like 00:02:c9:00:00:01");
	return 0;
}

static int
set_infiniband(struct vcx3_options *options, const char *text, char *reason, size_t size)
{
	unsigned long value;

	if (!number(text, 1, VCX3_MAX_PORTS, &value))
		return refuse(reason, size, "infiniband", text, "port 1 or 2");
	options->infiniband_port_mask |= 1u << (value - 1);
	return 0;
}

static int
set_step(struct vcx3_options *options, const char *text, char *reason, size_t size)
{
	options->step = true;
	return 0;
}

static int
set_strict(struct vcx3_options *options, const char *text, char *reason, size_t size)
{
	options->strict = true;
	return 0;
}

static int
set_mount(struct vcx3_options *options, const char *text, char *reason, size_t size)
{
	options->mount = true;
	return 0;
}

static int
set_netdev(struct vcx3_options *options, const char *text, char *reason, size_t size)
{
	static const char *const names[] = {"virtual", "tap"};
	int index = choice(text, names, 2);

	if (index < 0)
		return refuse(reason, size, "netdev", text, "tap or virtual");
	options->netdev = index;
	return 0;
}

static int
set_control(struct vcx3_options *options, const char *text, char *reason, size_t size)
{
	/* sun_path holds 108 bytes with the final zero. */
	if (text[0] == '\0' || strlen(text) > 107)
		return refuse(reason, size, "control", text, "a path of 1 to 107 characters");
	options->control = text;
	return 0;
}

static int
set_counters(struct vcx3_options *options, const char *text, char *reason, size_t size)
{
	if (text[0] == '\0')
		return refuse(reason, size, "counters", text, "a file name");
	options->counters = text;
	return 0;
}

static int
set_fault(struct vcx3_options *options, const char *text, char *reason, size_t size)
{
	if (options->nb_faults == VCX3_MAX_FAULTS) {
		snprintf(reason, size, "--fault: more than %d faults", VCX3_MAX_FAULTS);
		return -ENOSPC;
	}
	options->fault[options->nb_faults++] = text;
	return 0;
}

static int
set_vlan_insert(struct vcx3_options *options, const char *text, char *reason, size_t size)
{
	static const char *const names[] = {"off", "on"};
	int index = choice(text, names, 2);

	if (index < 0)
		return refuse(reason, size, "vlan-insert", text, "on or off");
	options->vlan_insert = index;
	return 0;
}

static int
set_cold(struct vcx3_options *options, const char *text, char *reason, size_t size)
{
	options->cold = true;
	return 0;
}

static int
set_cold_data(struct vcx3_options *options, const char *text, char *reason, size_t size)
{
	options->cold = true;
	options->cold_data = true;
	return 0;
}

static int
set_engine_cpu(struct vcx3_options *options, const char *text, char *reason, size_t size)
{
	unsigned long value;

	if (!number(text, 0, 1023, &value))
		return refuse(reason, size, "engine-cpu", text, "a processor number");
	options->engine_cpu = value;
	return 0;
}

static int
set_help(struct vcx3_options *options, const char *text, char *reason, size_t size)
{
	options->help = true;
	return 0;
}

static const struct option_entry table[] = {
	{"ports", "1|2", "Number of ports, 2 unless told.", set_ports},
	{"wire", "PORT=SPEC", "What a port is connected to; once a port. SPEC is one of the wires "
	 "below. Sources (pcap, gen) start when the port has a receiver, with hold=1 not before "
	 "`vcx3 ctl SOCKET go`. Without this option a port is connected to peer when there are "
	 "two, else to sink.", set_wire},
	{"device", "cx3|cx3pro|vf", "Identity: ConnectX-3 (PCI id 1003), ConnectX-3 Pro (1007) or "
	 "a virtual function (1004). cx3 unless told.", set_device},
	{"speed", "MBIT", "Speed of each port in Mb/s, 40000 unless told. It is what the port "
	 "reports; frames are not slowed down.", set_speed},
	{"mtu", "N", "MTU of each port at start, 1500 unless told.", set_mtu},
	{"cqe-size", "32|64", "Bytes of a completion queue entry, 64 unless told.", set_cqe_size},
	{"mac", "ADDRESS", "MAC address of port 1, 00:02:c9:00:00:01 unless told; port 2 has the "
	 "next one.", set_mac},
	{"infiniband", "PORT", "This port is in InfiniBand mode: it has no netdev and carries no "
	 "frames.", set_infiniband},
	{"step", NULL, "Nothing moves until the program calls vcx3_step() or until "
	 "`vcx3 ctl SOCKET step N`. Without it a thread of the program polls.", set_step},
	{"strict", NULL, "Check what silicon needs of software, trap the doorbell page, print each "
	 "rule that is violated; exit status 3 when one was.", set_strict},
	{"mount", NULL, "In a private mount namespace the card appears at /sys/bus/pci, "
	 "/sys/class/infiniband and /sys/class/infiniband_verbs, so that lspci and "
	 "dpdk-devbind.py list it (root only).", set_mount},
	{"netdev", "tap|virtual", "Kernel siblings of the ports: tap makes real interfaces that "
	 "receive the frames no rule takes, and send (root only); virtual answers only inside the "
	 "program. "
	 "virtual unless told.", set_netdev},
	{"control", "SOCKET", "Listen here for `vcx3 ctl`.", set_control},
	{"counters", "FILE.json", "Write all counters to this file when the program ends.",
	 set_counters},
	{"fault", "SPEC", "Something goes wrong: KIND:SETTING=VALUE,... with one of the faults "
	 "below. May be given more than once.", set_fault},
	{"vlan-insert", "on|off", "Obey ins_vlan of send descriptors; off unless told, because the "
	 "stock driver leaves stale bits there.", set_vlan_insert},
	{"cold", NULL, "Flush the completion lines that the engine writes, to imitate DMA into a "
	 "cold cache.", set_cold},
	{"cold-data", NULL, "As --cold, and flush the packet lines too.", set_cold_data},
	{"engine-cpu", "N", "Run the engine thread on this processor.", set_engine_cpu},
	{"help", NULL, "Print this text.", set_help},
};

#define NB_OPTIONS (sizeof(table) / sizeof(table[0]))

static void
set_defaults(struct vcx3_options *options)
{
	static const uint8_t mac[6] = {0x00, 0x02, 0xc9, 0x00, 0x00, 0x01};

	memset(options, 0, sizeof(*options));
	memcpy(options->mac, mac, sizeof(mac));
	options->ports = 2;
	options->speed_mbps = 40000;
	options->mtu = 1500;
	options->cqe_size = 64;
	options->engine_cpu = -1;
}

static const struct option_entry *
find_option(const char *word, size_t length)
{
	size_t i;

	for (i = 0; i < NB_OPTIONS; i++)
		if (strlen(table[i].name) == length && strncmp(table[i].name, word, length) == 0)
			return &table[i];
	return NULL;
}

static int
refuse_unknown(const char *word, char *reason, size_t size)
{
	size_t used, i;

	used = snprintf(reason, size, "unknown option \"%s\"; the options are", word);
	for (i = 0; i < NB_OPTIONS && used < size; i++)
		used += snprintf(reason + used, size - used, " --%s", table[i].name);
	return -EINVAL;
}

/* One option at words[0]: --name value, --name=value or --switch. Returns words taken. */
static int
parse_one(struct vcx3_options *options, int nb, char **words, char *reason, size_t size)
{
	const char *name = words[0] + 2;
	const char *equals = strchr(name, '=');
	size_t length = equals != NULL ? (size_t)(equals - name) : strlen(name);
	const struct option_entry *entry = find_option(name, length);
	const char *value = NULL;
	int taken = 1, ret;

	if (entry == NULL)
		return refuse_unknown(words[0], reason, size);
	if (entry->value == NULL && equals != NULL)
		return refuse(reason, size, entry->name, equals + 1, "wanted: it takes no value");
	if (entry->value != NULL) {
		bool has_next = nb > 1 && strncmp(words[1], "--", 2) != 0;

		value = equals != NULL ? equals + 1 : has_next ? words[1] : NULL;
		taken = equals != NULL ? 1 : 2;
		if (value == NULL) {
			snprintf(reason, size, "--%s needs a value: %s", entry->name, entry->value);
			return -EINVAL;
		}
	}
	ret = entry->set(options, value, reason, size);
	return ret < 0 ? ret : taken;
}

/* What single options cannot see: values that exclude each other. */
static int
check_together(struct vcx3_options *options, char *reason, size_t size)
{
	unsigned int extra = ~((1u << options->ports) - 1);

	if (options->ports < VCX3_MAX_PORTS &&
	    (options->wire[1] != NULL || options->infiniband_port_mask & extra)) {
		snprintf(reason, size, "port 2 is named, but --ports is 1");
		return -EINVAL;
	}
	return 0;
}

int
vcx3_options_parse(struct vcx3_options *options, int nb, char **words, char *reason, size_t size)
{
	int taken, at = 0;

	set_defaults(options);
	while (at < nb && strncmp(words[at], "--", 2) == 0 && words[at][2] != '\0') {
		taken = parse_one(options, nb - at, words + at, reason, size);
		if (taken < 0)
			return taken;
		at += taken;
	}
	if (at < nb && words[at][0] == '-' && strcmp(words[at], "--") != 0)
		return refuse_unknown(words[at], reason, size);
	taken = check_together(options, reason, size);
	return taken < 0 ? taken : at;
}

/* Prints text in lines of at most 78 columns behind an indent. */
static void
print_wrapped(FILE *out, const char *text, int indent)
{
	int column = 0;

	while (*text != '\0') {
		int length = strcspn(text, " ");

		if (column != 0 && column + 1 + length > 78) {
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
vcx3_options_help(FILE *out)
{
	size_t i;

	for (i = 0; i < NB_OPTIONS; i++) {
		fprintf(out, "  --%s%s%s\n", table[i].name, table[i].value != NULL ? " " : "",
			table[i].value != NULL ? table[i].value : "");
		print_wrapped(out, table[i].help, 8);
	}
}

void
vcx3_faults_help(FILE *out)
{
#define FAULT_LINES(upper, lower, settings, what) \
	fprintf(out, "  %-22s %s\n    %s\n", #lower, what, settings);
	VCX3_FAULT_KINDS(FAULT_LINES)
#undef FAULT_LINES
	fprintf(out, "  port=0, qpn=0 (default): any; skip=N: after N frames; count=0: for ever "
		"(default 1);\n  name is a uverbs command such as REG_MR; errno by name or number\n");
}

/* roff takes a leading dot or quote as a command and a plain hyphen as a dash. */
static void
print_roff(FILE *out, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '-' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
}

void
vcx3_options_roff(FILE *out)
{
	size_t i;

	for (i = 0; i < NB_OPTIONS; i++) {
		fprintf(out, ".TP\n\\fB\\-\\-");
		print_roff(out, table[i].name);
		fprintf(out, "\\fR");
		if (table[i].value != NULL) {
			fprintf(out, " \\fI");
			print_roff(out, table[i].value);
			fprintf(out, "\\fR");
		}
		fputc('\n', out);
		print_roff(out, table[i].help);
		fputc('\n', out);
	}
}
