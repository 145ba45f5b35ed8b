/* SPDX-License-Identifier: BSD-3-Clause */

/* See wires.h. */

#include "wires.h"

#include <stdio.h>

int
vcx3_options_wires(const struct vcx3_options *options, struct vcx3_wire_plan *plan,
		   char *reason, size_t size)
{
	char text[2 * VCX3_WIRE_PATH_SIZE + 128];
	unsigned int port;
	int ret;

	vcx3_wire_plan_init(plan, options->ports);
	for (port = 0; port < options->ports; port++) {
		if (options->wire[port] == NULL)
			continue;
		snprintf(text, sizeof(text), "%u=%s", port + 1, options->wire[port]);
		ret = vcx3_wire_plan_add(plan, text, reason, size);
		if (ret < 0)
			return ret;
	}
	return vcx3_wire_plan_finish(plan, reason, size);
}
