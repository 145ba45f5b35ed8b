/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fault injection: reads the text of a fault, and answers whether one applies now.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "device.h"
#include "fault.h"

#define TEXT_MAX 256

static const struct {
	const char *kind;
	const char *names; /* of settings, each between spaces */
	enum vcx3_fault_kind id;
} kinds[] = {
#define X(upper, lower, names, what) { #lower, " " names " ", VCX3_FAULT_##upper },
	VCX3_FAULT_KINDS(X)
#undef X
};

static const char *
set_text(struct vcx3_fault *fault, const char *name, const char *value)
{
	if (strcmp(name, "dir") == 0) {
		if (strcmp(value, "tx") == 0)
			fault->kind = VCX3_FAULT_TX_DROP;
		else if (strcmp(value, "rx") != 0)
			return "rx or tx";
		return NULL;
	}
	if (strcmp(name, "object") == 0 && strcmp(value, "sq") != 0 && strcmp(value, "rq") != 0 &&
	    strcmp(value, "cq") != 0)
		return "sq, rq or cq";
	if (strlen(value) >= sizeof(fault->name) || value[0] == '\0')
		return "1 to 31 characters";
	strcpy(fault->name, value);
	return NULL;
}

/* The number of an error like "ENOMEM"; 0 = there is none of that name. */
static uint32_t
errno_by_name(const char *text)
{
	const char *name;
	int error;

	for (error = 1; error <= EHWPOISON; error++) {
		name = strerrorname_np(error);
		if (name != NULL && strcasecmp(name, text) == 0)
			return error;
	}
	return 0;
}

/* Settings whose numbers have other limits than 0 to UINT32_MAX. */
static const struct limits {
	const char *name;
	uint32_t min;
	uint32_t max;
	const char *wanted;
} number_limits[] = {
	{ "port", 0, VCX3_MAX_PORTS, "a port: 1 or 2, or 0 for any" },
	{ "nth", 1, UINT32_MAX, "a number from 1 to 4294967295" },
	{ "errno", 1, EHWPOISON, "an error of errno.h, by name or number" },
	{ "syndrome", 0, UINT8_MAX, "a number from 0 to 255" },
	{ "msb", 0, 1, "0 or 1" },
};

static const struct limits *
limits_of(const char *name)
{
	static const struct limits others = { "", 0, UINT32_MAX, "a number from 0 to 4294967295" };
	size_t i;

	for (i = 0; i < sizeof(number_limits) / sizeof(number_limits[0]); i++)
		if (strcmp(number_limits[i].name, name) == 0)
			return &number_limits[i];
	return &others;
}

/* The number of a text, or an error by its name. */
static bool
read_number(const char *name, const char *value, uint64_t *number)
{
	char *end;

	if (strcmp(name, "errno") == 0 && (value[0] < '0' || value[0] > '9')) {
		*number = errno_by_name(value);
		return *number != 0;
	}
	*number = strtoull(value, &end, 0);
	return value[0] >= '0' && value[0] <= '9' && *end == '\0';
}

static const char *
set_number(struct vcx3_fault *fault, const char *name, const char *value)
{
	const struct limits *limits = limits_of(name);
	uint64_t number;

	if (!read_number(name, value, &number) || number < limits->min || number > limits->max)
		return limits->wanted;
	if (strcmp(name, "port") == 0)
		fault->port = number;
	else if (strcmp(name, "qpn") == 0 || strcmp(name, "number") == 0)
		fault->qpn = number;
	else if (strcmp(name, "skip") == 0)
		fault->skip = number;
	else if (strcmp(name, "nth") == 0)
		fault->skip = number - 1;
	else if (strcmp(name, "count") == 0)
		fault->count = number;
	else if (strcmp(name, "msb") == 0)
		fault->msb = number != 0;
	else /* syndrome, errno, ms, us */
		fault->value = number;
	return NULL;
}

static bool
is_known(const char *names, const char *name)
{
	char word[TEXT_MAX + 2];

	snprintf(word, sizeof(word), " %s ", name);
	return name[0] != '\0' && strchr(name, ' ') == NULL && strstr(names, word) != NULL;
}

/* Reads one NAME=VALUE. */
static int
parse_setting(struct vcx3_fault *fault, const char *kind, const char *names, char *setting,
	      char *reason, size_t size)
{
	char *value = strchr(setting, '=');
	const char *wanted;
	bool is_text;

	if (value != NULL)
		*value++ = '\0';
	if (value == NULL || !is_known(names, setting)) {
		snprintf(reason, size, "fault %s: \"%s\" is not one of its settings:%sand each "
			 "needs =VALUE", kind, setting, names);
		return -EINVAL;
	}
	is_text = strcmp(setting, "name") == 0 || strcmp(setting, "dir") == 0 ||
		  strcmp(setting, "object") == 0;
	wanted = is_text ? set_text(fault, setting, value) : set_number(fault, setting, value);
	if (wanted == NULL)
		return 0;
	snprintf(reason, size, "fault %s: %s must be %s, not \"%s\"", kind, setting, wanted, value);
	return -EINVAL;
}

static void
set_defaults(struct vcx3_fault *fault, enum vcx3_fault_kind kind)
{
	*fault = (struct vcx3_fault){ .kind = kind, .count = 1, .msb = true };
	if (kind == VCX3_FAULT_RX_ERROR || kind == VCX3_FAULT_TX_ERROR)
		fault->value = VCX3_SYNDROME_QP_OPERATION;
	else if (kind == VCX3_FAULT_COMMAND)
		fault->value = EIO;
	if (kind == VCX3_FAULT_DELAY || kind == VCX3_FAULT_STALL)
		fault->count = 0;
}

static int
check_command(const char *name, const char *const *commands, char *reason, size_t size)
{
	size_t used, i;

	for (i = 0; commands != NULL && commands[i] != NULL; i++)
		if (strcasecmp(commands[i], name) == 0)
			return 0;
	if (commands == NULL)
		return 0;
	used = snprintf(reason, size, "fault command: \"%s\" is not one of", name);
	for (i = 0; commands[i] != NULL && used < size; i++)
		used += snprintf(reason + used, size - used, " %s", commands[i]);
	return -EINVAL;
}

static int
check_whole(const struct vcx3_fault *fault, const char *const *commands, char *reason, size_t size)
{
	bool needs_name = fault->kind == VCX3_FAULT_COMMAND || fault->kind == VCX3_FAULT_STALL;

	if (fault->kind == VCX3_FAULT_COMMAND && fault->name[0] != '\0')
		return check_command(fault->name, commands, reason, size);
	if (!needs_name || fault->name[0] != '\0')
		return 0;
	snprintf(reason, size, "fault %s needs %s=",
		 fault->kind == VCX3_FAULT_COMMAND ? "command" : "stall",
		 fault->kind == VCX3_FAULT_COMMAND ? "name" : "object");
	return -EINVAL;
}

static int
refuse_kind(const char *kind, char *reason, size_t size)
{
	size_t used = snprintf(reason, size, "fault \"%s\" is not one of", kind), i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && used < size; i++)
		used += snprintf(reason + used, size - used, " %s", kinds[i].kind);
	return -EINVAL;
}

static int
parse(const char *text, const char *const *commands, struct vcx3_fault *fault, char *reason,
      size_t size)
{
	char copy[TEXT_MAX], *settings, *rest;
	size_t i = 0;
	int result;

	if (strlen(text) >= sizeof(copy)) {
		snprintf(reason, size, "a fault has at most %d characters", TEXT_MAX - 1);
		return -EINVAL;
	}
	strcpy(copy, text);
	settings = strchr(copy, ':');
	if (settings != NULL)
		*settings++ = '\0';
	while (i < sizeof(kinds) / sizeof(kinds[0]) && strcmp(kinds[i].kind, copy) != 0)
		i++;
	if (i == sizeof(kinds) / sizeof(kinds[0]))
		return refuse_kind(copy, reason, size);
	set_defaults(fault, kinds[i].id);
	for (char *one = settings; one != NULL; one = rest) {
		rest = strchr(one, ',');
		if (rest != NULL)
			*rest++ = '\0';
		result = parse_setting(fault, copy, kinds[i].names, one, reason, size);
		if (result != 0)
			return result;
	}
	return check_whole(fault, commands, reason, size);
}

int
vcx3_fault_check(const char *text, const char *const *commands, char *reason, size_t size)
{
	struct vcx3_fault fault;

	return parse(text, commands, &fault, reason, size);
}

/* Where the end of a stall is written; NULL when the object does not exist. */
static uint64_t *
find_stall(struct vcx3_core *core, const struct vcx3_fault *fault)
{
	struct vcx3_qp *qp = vcx3_qp_find(core, fault->qpn);

	if (strcmp(fault->name, "cq") == 0)
		return fault->qpn < core->nb_cqs && core->cqs[fault->qpn] != NULL ?
			       &core->cqs[fault->qpn]->stalled_until_ns : NULL;
	if (qp == NULL)
		return NULL;
	return fault->name[0] == 's' ? &qp->sq.stalled_until_ns : &qp->rq.stalled_until_ns;
}

static int
stall(struct vcx3_core *core, const struct vcx3_fault *fault, char *reason, size_t size)
{
	uint64_t *until = find_stall(core, fault);

	if (until == NULL) {
		snprintf(reason, size, "fault stall: there is no %s %" PRIu32 " now", fault->name,
			 fault->qpn);
		return -EINVAL;
	}
	*until = fault->value == 0 ? UINT64_MAX :
				     vcx3_core_now_ns(core) + fault->value * UINT64_C(1000000);
	return 0;
}

int
vcx3_fault_add(struct vcx3_core *core, const char *text, char *reason, size_t size)
{
	struct vcx3_fault fault;
	int result = parse(text, core->config.commands, &fault, reason, size);

	if (result != 0)
		return result;
	if (fault.port > core->config.ports) {
		snprintf(reason, size, "there is no port %" PRIu32 ": the card has one", fault.port);
		return -EINVAL;
	}
	if (fault.kind == VCX3_FAULT_STALL)
		return stall(core, &fault, reason, size);
	if (core->nb_faults == VCX3_MAX_FAULTS) {
		snprintf(reason, size, "at most %d faults at a time", VCX3_MAX_FAULTS);
		return -ENOSPC;
	}
	core->faults[core->nb_faults++] = fault;
	return 0;
}

void
vcx3_fault_clear(struct vcx3_core *core)
{
	core->nb_faults = 0;
	for (uint64_t i = 0; i < core->counters.live_cqs; i++)
		core->live_cqs[i]->stalled_until_ns = 0;
	for (struct vcx3_qp *qp = core->live_qps; qp != NULL; qp = qp->next)
		qp->sq.stalled_until_ns = qp->rq.stalled_until_ns = 0;
}

/* Counts one use; true when the fault applies to it. */
static bool
use(struct vcx3_core *core, struct vcx3_fault *fault)
{
	if (fault->skip > 0) {
		fault->skip--;
		return false;
	}
	if (fault->count == 0 || --fault->count > 0)
		return true;
	*fault = core->faults[--core->nb_faults];
	return true;
}

const struct vcx3_fault *
vcx3_fault_find(const struct vcx3_core *core, enum vcx3_fault_kind kind, unsigned int port)
{
	for (unsigned int i = 0; i < core->nb_faults; i++)
		if (core->faults[i].kind == kind &&
		    (core->faults[i].port == 0 || core->faults[i].port == port))
			return &core->faults[i];
	return NULL;
}

/* The fault that strikes now, already counted; valid until the next call. */
const struct vcx3_fault *
vcx3_fault_take(struct vcx3_core *core, enum vcx3_fault_kind kind, unsigned int port, uint32_t qpn)
{
	for (unsigned int i = 0; i < core->nb_faults; i++) {
		struct vcx3_fault *fault = &core->faults[i];

		if (fault->kind != kind || (fault->port != 0 && fault->port != port) ||
		    (fault->qpn != 0 && fault->qpn != qpn))
			continue;
		core->used_fault = *fault;
		if (use(core, fault))
			return &core->used_fault;
	}
	return NULL;
}

int
vcx3_fault_command(struct vcx3_core *core, const char *name)
{
	for (unsigned int i = 0; i < core->nb_faults; i++) {
		struct vcx3_fault *fault = &core->faults[i];
		uint32_t error = fault->value;

		if (fault->kind == VCX3_FAULT_COMMAND && strcasecmp(fault->name, name) == 0 &&
		    use(core, fault))
			return error;
	}
	return 0;
}
