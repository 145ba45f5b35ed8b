/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MAD_IFC: the subnet management attributes that the drivers read of an Ethernet port
 * (connectx3-pci.md B.14), and the memory of its module.
 */
#include <string.h>

#include "../core/module.h"
#include "../core/port.h"
#include "be.h"
#include "cmd.h"

#define MAD_STATUS 0x04
#define MAD_ATTRIBUTE 0x10
#define MAD_DATA 0x40

#define ATTRIBUTE_NODE_DESCRIPTION 0x0010
#define ATTRIBUTE_NODE_INFO 0x0011
#define ATTRIBUTE_PORT_INFO 0x0015
#define ATTRIBUTE_P_KEY_TABLE 0x0016
#define ATTRIBUTE_MODULE 0xff60

/* Of the module's data: where to read, then the bytes. */
#define MODULE_I2C_ADDRESS 0x00
#define MODULE_PAGE 0x01
#define MODULE_OFFSET 0x02
#define MODULE_LENGTH 0x06
#define MODULE_BYTES 0x10
#define MODULE_BYTES_MAX 48
#define I2C_ADDRESS 0x50

/* Status of a read of the module. */
#define MODULE_NO_PAGE 0x0500
#define MODULE_NO_PLACE 0x0600
#define MODULE_NO_I2C_ADDRESS 0x0700

#define VENDOR_MELLANOX 0x0002c9

static uint64_t
node_guid(const struct vcx3_pci *pci)
{
	struct vcx3_port_info info = { .mac = { 0 } };
	const uint8_t *mac = info.mac;

	vcx3_port_get(pci->core, 1, &info);
	return (uint64_t)mac[0] << 56 | (uint64_t)mac[1] << 48 | (uint64_t)mac[2] << 40 |
	       UINT64_C(0x0300) << 24 | (uint64_t)mac[3] << 16 | (uint64_t)mac[4] << 8 | mac[5];
}

static void
fill_node_info(const struct vcx3_pci *pci, uint8_t *data)
{
	uint64_t guid = node_guid(pci);

	data[0x00] = 1; /* base and class version */
	data[0x01] = 1;
	data[0x02] = 1; /* channel adapter */
	data[0x03] = (uint8_t)pci->ports;
	put_be64(data, 0x04, guid);
	put_be64(data, 0x0c, guid);
	put_be64(data, 0x14, guid);
	put_be16(data, 0x1c, 128); /* partitions */
	put_be16(data, 0x1e, 0x1003);
	put_be32(data, 0x20, 1); /* revision */
	put_be32(data, 0x24, VENDOR_MELLANOX);
}

/* Answers with what was asked and the bytes. @return the status of the answer. */
static uint16_t
read_module(const uint8_t *asked, uint8_t *data)
{
	uint16_t length = be16_at(asked, MODULE_LENGTH);

	memcpy(data, asked, MODULE_BYTES);
	if (asked[MODULE_I2C_ADDRESS] != I2C_ADDRESS)
		return MODULE_NO_I2C_ADDRESS;
	if (asked[MODULE_PAGE] != 0)
		return MODULE_NO_PAGE;
	if (length > MODULE_BYTES_MAX ||
	    !vcx3_module_read(be16_at(asked, MODULE_OFFSET), data + MODULE_BYTES, length))
		return MODULE_NO_PLACE;
	return 0;
}

enum vcx3_status
vcx3_cmd_mad_ifc(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	static const char description[64] = "vcx3 virtual ConnectX-3";
	uint8_t *data = cmd->out + MAD_DATA;

	memcpy(cmd->out, cmd->in, cmd->out_size);
	put_be16(cmd->out, MAD_STATUS, 0);
	memset(data, 0, 64);
	switch (be16_at(cmd->in, MAD_ATTRIBUTE)) {
	case ATTRIBUTE_NODE_DESCRIPTION:
		memcpy(data, description, sizeof(description));
		break;
	case ATTRIBUTE_NODE_INFO:
		fill_node_info(pci, data);
		break;
	case ATTRIBUTE_P_KEY_TABLE:
		put_be16(data, 0, 0xffff);
		break;
	case ATTRIBUTE_MODULE:
		put_be16(cmd->out, MAD_STATUS, read_module(cmd->in + MAD_DATA, data));
		break;
	case ATTRIBUTE_PORT_INFO: /* zeros: nothing of it is for Ethernet */
	default:
		break;
	}
	return VCX3_OK;
}
