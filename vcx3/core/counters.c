/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters as JSON text.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "device.h"

struct text {
	char *buffer;
	size_t size;
	size_t len; /* needed so far */
};

static void __attribute__((format(printf, 2, 3)))
append(struct text *text, const char *format, ...)
{
	size_t room = text->len < text->size ? text->size - text->len : 0;
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(room > 0 ? text->buffer + text->len : NULL, room, format, args);
	va_end(args);
	if (len > 0)
		text->len += len;
}

static void
append_wire(struct text *text, const struct vcx3_wire *wire)
{
	append(text, ", \"wire\": {\"carrier\": %s",
	       vcx3_wire_carrier(wire) ? "true" : "false");
#define X(name, what) append(text, ", \"" #name "\": %" PRIu64, wire->stats.name);
	VCX3_WIRE_COUNTERS(X)
#undef X
	append(text, "}");
}

static void
append_ports(struct text *text, const struct vcx3_core *core)
{
	for (unsigned int i = 0; i < core->config.ports; i++) {
		const struct vcx3_port *port = &core->ports[i];

		append(text, "%s{\"port\": %u", i > 0 ? ", " : "", port->number);
#define X(name, what) append(text, ", \"" #name "\": %" PRIu64, port->counters.name);
		VCX3_PORT_COUNTERS(X)
#undef X
		if (port->wire != NULL)
			append_wire(text, port->wire);
		append(text, "}");
	}
}

static void
append_queues(struct text *text, const struct vcx3_core *core)
{
	const char *comma = "";

	append(text, "], \"qps\": [");
	for (const struct vcx3_qp *qp = core->live_qps; qp != NULL; qp = qp->next, comma = ", ")
		append(text, "%s{\"qpn\": %" PRIu32 ", \"state\": %d, \"doorbells\": %" PRIu64
		       ", \"rx_frames\": %" PRIu64 ", \"tx_frames\": %" PRIu64 "}", comma, qp->qpn,
		       (int)qp->state, qp->doorbells, qp->rx_frames, qp->tx_frames);
	append(text, "], \"cqs\": [");
	for (uint64_t i = 0; i < core->counters.live_cqs; i++)
		append(text, "%s{\"cqn\": %" PRIu32 ", \"arms\": %" PRIu64 ", \"cqes\": %" PRIu64 "}",
		       i > 0 ? ", " : "", core->live_cqs[i]->cqn, core->live_cqs[i]->arms,
		       core->live_cqs[i]->cqes);
}

const struct vcx3_counters *
vcx3_counters_get(const struct vcx3_core *core)
{
	return &core->counters;
}

size_t
vcx3_counters_json(const struct vcx3_core *core, char *buffer, size_t size)
{
	struct text text = { buffer, size, 0 };

	append(&text, "{\"device\": {\"dead\": %s", core->is_dead ? "true" : "false");
#define X(name, what) append(&text, ", \"" #name "\": %" PRIu64, core->counters.name);
	VCX3_COUNTERS(X)
#undef X
	append(&text, "}, \"ports\": [");
	append_ports(&text, core);
	append_queues(&text, core);
	append(&text, "], \"violations\": {\"total\": %" PRIu64, vcx3_strict_total(core));
	for (unsigned int i = 0; i < VCX3_NB_RULES; i++)
		append(&text, ", \"%s\": %" PRIu64, vcx3_strict_name(i), core->violations[i]);
	append(&text, "}}\n");
	return text.len;
}
