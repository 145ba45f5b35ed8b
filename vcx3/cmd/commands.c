/* SPDX-License-Identifier: BSD-3-Clause */

/* See commands.h. */

#include "commands.h"

#include <stddef.h>

const char *const vcx3_uverbs_commands[] = {
#define VCX3_COMMAND_NAME(name) #name,
	VCX3_UVERBS_COMMANDS(VCX3_COMMAND_NAME)
#undef VCX3_COMMAND_NAME
	NULL,
};
