/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program said while it ran: trace lines, ring buffer and perf buffer records. */
#ifndef XDPVM_CMD_EVENTS_H
#define XDPVM_CMD_EVENTS_H

#include "engine.h"

/*
 * Takes and prints all of it; nothing for ENGINE_KERNEL, whose events go to the kernel's readers.
 */
void events_print(const struct engine *engine, bool json);

#endif /* XDPVM_CMD_EVENTS_H */
