/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The module's memory (SFF-8636 6.2 and 6.3): identifier, connector and a vendor name.
 */
#include <string.h>

#include "module.h"

#define IDENTIFIER_QSFP_PLUS 0x0d
#define STATUS_FLAT 0x04 /* no upper page but 0 */
#define CONNECTOR_NO_SEPARABLE 0x23
#define VENDOR_NAME 148

bool
vcx3_module_read(uint32_t offset, uint8_t *to, uint32_t length)
{
	uint8_t bytes[VCX3_MODULE_SIZE] = { [0] = IDENTIFIER_QSFP_PLUS,
					    [2] = STATUS_FLAT,
					    [128] = IDENTIFIER_QSFP_PLUS,
					    [130] = CONNECTOR_NO_SEPARABLE };

	if (offset > sizeof(bytes) || length > sizeof(bytes) - offset)
		return false;
	memcpy(bytes + VENDOR_NAME, "vcx3            ", 16);
	memcpy(to, bytes + offset, length);
	return true;
}
