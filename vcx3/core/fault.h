/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fault injection. A fault is text, so that the command line and the control socket
 * share one grammar: KIND[:NAME=VALUE[,NAME=VALUE]...].
 *
 * port and qpn 0 (default) mean any; count 0 means for ever, the default is 1; skip
 * frames pass first. Names of commands and of errors are taken in any letter case.
 */
#ifndef VCX3_CORE_FAULT_H
#define VCX3_CORE_FAULT_H

#include <stddef.h>

#include "core.h"

/** Kinds: identifier, name, settings, what happens. */
#define VCX3_FAULT_KINDS(X) \
	X(RX_ERROR, rx_error, "port qpn skip count syndrome msb", \
	  "the next frame received ends in an error completion") \
	X(TX_ERROR, tx_error, "port qpn skip count syndrome", \
	  "the next frame sent ends in an error completion") \
	X(COMMAND, command, "name nth count errno", "the nth command of this name fails") \
	X(STALL, stall, "object number ms", \
	  "an sq, rq or cq stands still; ms=0: until the faults are cleared") \
	X(RX_DROP, drop, "port dir skip count", "frames vanish, with dir=rx or dir=tx") \
	X(BAD_FCS, bad_fcs, "port skip count", "frames arrive with a wrong check sequence") \
	X(DELAY, delay, "port us", "frames received wait")

/**
 * Adds a fault.
 *
 * @param[out] reason
 *   A sentence when the text is refused.
 * @return 0, -EINVAL or -ENOSPC (32 faults at a time).
 */
int vcx3_fault_add(struct vcx3_core *core, const char *text, char *reason, size_t size);

/** Removes all faults. */
void vcx3_fault_clear(struct vcx3_core *core);

/**
 * Checks the text of a fault without a device.
 *
 * @param commands
 *   Names of the front end's commands, ended by NULL; NULL: any name.
 * @return 0 or -EINVAL.
 */
int vcx3_fault_check(const char *text, const char *const *commands, char *reason, size_t size);

/**
 * Asked by a front end before each command.
 *
 * @param name
 *   "REG_MR", "CREATE_CQ" ... as the verbs protocol names commands.
 * @return 0, or the positive errno that the command must fail with.
 */
int vcx3_fault_command(struct vcx3_core *core, const char *name);

#endif
