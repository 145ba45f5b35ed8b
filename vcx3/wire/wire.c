/* SPDX-License-Identifier: BSD-3-Clause */

/* Opening and closing of wires of every kind, and what the kinds share. */

#include "wire.h"

#include <errno.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "kinds.h"

struct kind_functions {
	int (*check)(const struct vcx3_wire_spec *spec, char *reason, size_t size);
	int (*open)(const struct vcx3_wire_spec *spec, const struct vcx3_wire_env *env,
		struct vcx3_wire **out, char *reason, size_t size);
};

static const struct kind_functions functions[VCX3_WIRE_KIND_COUNT] = {
	[VCX3_WIRE_SELF] = {.open = vcx3_self_open},
	[VCX3_WIRE_SINK] = {.open = vcx3_sink_open},
	[VCX3_WIRE_PCAP] = {vcx3_pcap_check, vcx3_pcap_open},
	[VCX3_WIRE_GEN] = {vcx3_gen_check, vcx3_gen_open},
	[VCX3_WIRE_PACKET] = {vcx3_packet_check, vcx3_packet_open},
	[VCX3_WIRE_TAP] = {vcx3_tap_check, vcx3_tap_open},
	[VCX3_WIRE_UNIX] = {vcx3_unix_check, vcx3_unix_open},
};

int
vcx3_wire_refuse(char *reason, size_t size, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(reason, size, format, args);
	va_end(args);
	return -error;
}

void
vcx3_wire_log(const struct vcx3_wire *wire, const char *format, ...)
{
	char sentence[VCX3_WIRE_REASON_SIZE];
	va_list args;

	if (wire->env.log == NULL)
		return;
	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	wire->env.log(wire->env.ctx, sentence);
}

void *
vcx3_wire_alloc(size_t bytes, enum vcx3_wire_kind kind, const struct vcx3_wire_ops *ops,
	const struct vcx3_wire_env *env)
{
	struct vcx3_wire *wire = calloc(1, bytes);

	if (wire == NULL)
		return NULL;
	wire->ops = ops;
	wire->kind = kind;
	wire->env = *env;
	wire->carrier = true;
	return wire;
}

uint32_t
vcx3_interface_flags(int fd, const char *name)
{
	struct ifreq request = {0};

	strncpy(request.ifr_name, name, IFNAMSIZ - 1);
	if (ioctl(fd, SIOCGIFFLAGS, &request) != 0)
		return 0;
	return (uint16_t)request.ifr_flags;
}

int
vcx3_write_all(int fd, const void *bytes, size_t count)
{
	const uint8_t *next = bytes;

	while (count > 0) {
		ssize_t written = write(fd, next, count);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		next += written;
		count -= (size_t)written;
	}
	return 0;
}

int
vcx3_wire_check(const struct vcx3_wire_spec *spec, char *reason, size_t size)
{
	const struct kind_functions *kind = &functions[spec->kind];

	return kind->check ? kind->check(spec, reason, size) : 0;
}

int
vcx3_wire_open(const struct vcx3_wire_spec *spec, const struct vcx3_wire_env *env,
	struct vcx3_wire **out, char *reason, size_t size)
{
	if (functions[spec->kind].open == NULL)
		return vcx3_wire_refuse(reason, size, EINVAL,
			"wire %s joins two ports and cannot be opened for one",
			vcx3_wire_kind_name(spec->kind));
	return functions[spec->kind].open(spec, env, out, reason, size);
}

int
vcx3_wire_plan_check(const struct vcx3_wire_plan *plan, char *reason, size_t size)
{
	int ret = 0;

	for (uint32_t i = 0; ret == 0 && i < plan->ports; i++)
		ret = vcx3_wire_check(&plan->spec[i], reason, size);
	return ret;
}

void
vcx3_wire_plan_cleanup(const struct vcx3_wire_plan *plan)
{
	for (uint32_t i = 0; i < plan->ports; i++)
		if (plan->spec[i].kind == VCX3_WIRE_UNIX)
			vcx3_unix_cleanup(plan->spec[i].name);
}

int
vcx3_wire_plan_open(const struct vcx3_wire_plan *plan, const struct vcx3_wire_env *env,
	struct vcx3_wire **wires, char *reason, size_t size)
{
	uint32_t opened = 0;
	int ret = 0;

	if (plan->spec[0].kind == VCX3_WIRE_PEER)
		return vcx3_peer_open(env, wires, reason, size);
	while (opened < plan->ports) {
		ret = vcx3_wire_open(&plan->spec[opened], &env[opened], &wires[opened],
			reason, size);
		if (ret != 0)
			break;
		opened++;
	}
	while (ret != 0 && opened > 0)
		vcx3_wire_close(wires[--opened]);
	return ret;
}

void
vcx3_wire_close(struct vcx3_wire *wire)
{
	if (wire == NULL)
		return;
	vcx3_wire_flush(wire);
	wire->ops->close(wire);
}

int
vcx3_wire_go(struct vcx3_wire *wire)
{
	return wire->ops->go ? wire->ops->go(wire) : -ENOTSUP;
}
