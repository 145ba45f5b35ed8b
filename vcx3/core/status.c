/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names and errnos of command statuses (connectx3-pci.md B.3).
 */
#include <errno.h>
#include <stddef.h>

#include "status.h"

static const struct {
	enum vcx3_status status;
	int error;
	const char *name;
} statuses[] = {
	{ VCX3_OK, 0, "ok" },
	{ VCX3_INTERNAL_ERR, EIO, "internal error" },
	{ VCX3_BAD_OP, EPERM, "bad operation" },
	{ VCX3_BAD_PARAM, EINVAL, "bad parameter" },
	{ VCX3_BAD_SYS_STATE, ENXIO, "bad system state" },
	{ VCX3_BAD_RESOURCE, EBADF, "bad resource" },
	{ VCX3_RESOURCE_BUSY, EBUSY, "resource busy" },
	{ VCX3_EXCEED_LIM, ENOMEM, "limit exceeded" },
	{ VCX3_BAD_RES_STATE, EBADF, "bad resource state" },
	{ VCX3_BAD_INDEX, EBADF, "bad index" },
	{ VCX3_ICM_ERROR, ENFILE, "context memory error" },
	{ VCX3_BAD_QP_STATE, EINVAL, "bad QP state" },
	{ VCX3_REG_BOUND, EBUSY, "region is bound" },
	{ VCX3_BAD_SIZE, ENOMEM, "bad size" },
};

const char *
vcx3_status_name(enum vcx3_status status)
{
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
		if (statuses[i].status == status)
			return statuses[i].name;
	return "unknown status";
}

int
vcx3_status_errno(enum vcx3_status status)
{
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
		if (statuses[i].status == status)
			return -statuses[i].error;
	return -EIO;
}
