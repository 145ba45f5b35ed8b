/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fault injection. A fault is text, so that the command line and the control socket
 * share one grammar: KIND[:NAME=VALUE[,NAME=VALUE]...].
 *
 *   rx_error   port= qpn= skip= count= syndrome= msb=   next receive ends in an error CQE
 *   tx_error   port= qpn= skip= count= syndrome=        next send ends in an error CQE
 *   command    name= nth= count= errno=                 the n-th command of this name fails
 *   stall      object=sq|rq|cq number= ms=              the queue stands still (ms 0: until clear)
 *   drop       port= dir=rx|tx skip= count=             frames vanish
 *   bad_fcs    port= skip= count=                       received frames have a wrong FCS
 *   delay      port= us=                                received frames wait
 *
 * port and qpn 0 (default) mean any; count 0 means for ever, the default is 1; skip
 * frames pass first.
 */
#ifndef VCX3_CORE_FAULT_H
#define VCX3_CORE_FAULT_H

#include <stddef.h>

#include "core.h"

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

/** Checks the text of a fault without a device. @return 0 or -EINVAL. */
int vcx3_fault_check(const char *text, char *reason, size_t size);

/**
 * Asked by a front end before each command.
 *
 * @param name
 *   "REG_MR", "CREATE_CQ" ... as the verbs protocol names commands.
 * @return 0, or the positive errno that the command must fail with.
 */
int vcx3_fault_command(struct vcx3_core *core, const char *name);

#endif
