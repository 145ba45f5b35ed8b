/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * See mount.h. /sys/class may lack the infiniband folders when the kernel has no RDMA, and
 * nothing can be created in sysfs: so /sys/class is covered by a merged view of both.
 */

#include "mount.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>

#include "../uverbs/state.h"

static int
refuse(char *reason, size_t size, const char *what)
{
	int error = errno;

	snprintf(reason, size, "--mount: cannot %s: %s; it needs root", what, strerror(error));
	return -error;
}

int
vcx3_mount(const char *dir, char *reason, size_t size)
{
	char from[512], layers[1024];

	if (unshare(CLONE_NEWNS) != 0)
		return refuse(reason, size, "make a mount namespace");
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return refuse(reason, size, "make the mounts private");
	snprintf(from, sizeof(from), "%s/" VCX3_DIR_BUS, dir);
	if (mount(from, "/sys/bus/pci", NULL, MS_BIND, NULL) != 0)
		return refuse(reason, size, "cover /sys/bus/pci");
	snprintf(layers, sizeof(layers), "lowerdir=%s/" VCX3_DIR_SYSFS "/class:/sys/class", dir);
	if (mount("vcx3", "/sys/class", "overlay", MS_RDONLY, layers) != 0)
		return refuse(reason, size, "cover /sys/class");
	return 0;
}
