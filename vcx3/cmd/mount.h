/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef VCX3_CMD_MOUNT_H
#define VCX3_CMD_MOUNT_H

#include <stddef.h>

/*
 * Moves the caller into a private mount namespace in which the trees of the state folder lie
 * over /sys/bus/pci, /sys/class/infiniband and /sys/class/infiniband_verbs.
 * A negative errno with a sentence when that cannot be done.
 */
int vcx3_mount(const char *dir, char *reason, size_t size);

#endif /* VCX3_CMD_MOUNT_H */
