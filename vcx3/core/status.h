/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a device command answers: the status byte of the command register
 * (reference/connectx3-pci.md B.3). Front end 1 maps it to an errno, front end 2
 * puts it into the register as it is.
 */
#ifndef VCX3_CORE_STATUS_H
#define VCX3_CORE_STATUS_H

enum vcx3_status {
	VCX3_OK = 0x00,
	VCX3_INTERNAL_ERR = 0x01,
	VCX3_BAD_OP = 0x02,
	VCX3_BAD_PARAM = 0x03,
	VCX3_BAD_SYS_STATE = 0x04,
	VCX3_BAD_RESOURCE = 0x05,
	VCX3_RESOURCE_BUSY = 0x06,
	VCX3_EXCEED_LIM = 0x08,
	VCX3_BAD_RES_STATE = 0x09,
	VCX3_BAD_INDEX = 0x0a,
	VCX3_ICM_ERROR = 0x0c,
	VCX3_BAD_QP_STATE = 0x10,
	VCX3_REG_BOUND = 0x21,
	VCX3_BAD_SIZE = 0x40,
};

/** The name of a status, for messages. */
const char *vcx3_status_name(enum vcx3_status status);

/** The negative errno that the Linux driver makes of a status. */
int vcx3_status_errno(enum vcx3_status status);

#endif
