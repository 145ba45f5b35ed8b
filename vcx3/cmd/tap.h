/* SPDX-License-Identifier: BSD-3-Clause */

/* Real interfaces as the kernel siblings of the ports (--netdev tap). */

#ifndef VCX3_CMD_TAP_H
#define VCX3_CMD_TAP_H

#include <stddef.h>

#include "../uverbs/state.h"

/*
 * Makes a TAP interface with the netdev's MAC and MTU, up; the kernel chooses the number in
 * its name. Fills name, index and tap_fd; it vanishes with the last copy of the descriptor.
 */
int vcx3_tap_create(struct vcx3_netdev *netdev, char *reason, size_t size);

#endif /* VCX3_CMD_TAP_H */
