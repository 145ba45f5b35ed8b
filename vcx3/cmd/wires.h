/* SPDX-License-Identifier: BSD-3-Clause */

/* From the words of --wire to a plan of wires. */

#ifndef VCX3_CMD_WIRES_H
#define VCX3_CMD_WIRES_H

#include <stddef.h>

#include "../wire/wire.h"
#include "options.h"

/* Fills the plan; a negative errno with a sentence when a text is refused. */
int vcx3_options_wires(const struct vcx3_options *options, struct vcx3_wire_plan *plan,
		       char *reason, size_t size);

#endif /* VCX3_CMD_WIRES_H */
