/* SPDX-License-Identifier: BSD-3-Clause */

/* Texts of wires: what is taken keeps the limits of wire.h, what is refused has a sentence. */

#include <errno.h>
#include <string.h>

#include "wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_spec(const struct vcx3_wire_spec *spec)
{
	if (spec->kind >= VCX3_WIRE_KIND_COUNT || spec->size < VCX3_WIRE_FRAME_MIN ||
	    spec->size > VCX3_WIRE_FRAME_MAX || spec->flows < 1 ||
	    spec->flows > VCX3_WIRE_FLOWS_MAX || spec->proto > VCX3_WIRE_MIX ||
	    memchr(spec->name, 0, sizeof(spec->name)) == NULL ||
	    memchr(spec->rx_file, 0, sizeof(spec->rx_file)) == NULL)
		__builtin_trap();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vcx3_wire_plan plan;
	char reason[VCX3_WIRE_REASON_SIZE] = "";
	char text[2048];
	int ret;

	if (size >= sizeof(text))
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	vcx3_wire_plan_init(&plan, 2);
	ret = vcx3_wire_plan_add(&plan, text, reason, sizeof(reason));
	if (ret == 0)
		check_spec(&plan.spec[plan.given[1]]);
	else if (ret != -EINVAL || reason[0] == '\0')
		__builtin_trap();
	if (ret == 0)
		vcx3_wire_plan_finish(&plan, reason, sizeof(reason));
	return 0;
}
