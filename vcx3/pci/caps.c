/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * QUERY_DEV_CAP: what the device says it can do, as one table (connectx3-pci.md B.6).
 * What is not listed is 0 = absent; no command that is absent here has a handler.
 */
#include "be.h"
#include "cmd.h"

#define FLAG(bit) (UINT64_C(1) << (bit))

/* Bits of the 64-bit word at 40. */
#define FLAGS ( \
	FLAG(0) | FLAG(1) | FLAG(2) |	/* RC, UC, UD */ \
	FLAG(6) |			/* SRQ */ \
	FLAG(7) |			/* checksums */ \
	FLAG(8) | FLAG(9) |		/* bad key counters */ \
	FLAG(15) |			/* LSO with big headers: the kernel's TSO needs it */ \
	FLAG(16) | FLAG(17) | FLAG(18) | /* memory windows, APM, atomics */ \
	FLAG(20) | FLAG(21) |		/* raw multicast, unicast */ \
	FLAG(30) |			/* RoCE */ \
	FLAG(34) |			/* FCS delivered on request: verbs WQs need it */ \
	FLAG(40) |			/* RSS by UDP ports */ \
	FLAG(61) | FLAG(62))		/* 64-byte EQE and CQE */

static const struct {
	uint8_t offset;
	uint8_t value;
} bytes[] = {
	{ 0x10, 0x0e }, { 0x11, 0x0e }, /* log SRQ and QP WRs */
	{ 0x12, 0x06 }, { 0x13, 0x13 }, /* log reserved and all QPs */
	{ 0x14, 0x60 }, { 0x15, 0x10 }, /* SRQs */
	{ 0x19, 0x16 }, { 0x1a, 0x07 }, { 0x1b, 0x10 }, /* CQ size, reserved and all CQs */
	{ 0x1d, 0x13 }, /* MPTs */
	{ 0x1e, 0x03 }, { 0x1f, VCX3_LOG_EQS }, /* EQs */
	{ 0x20, 0x60 }, { 0x21, 0x50 }, { 0x22, 0x07 }, { 0x23, 0x16 }, /* MRWs, MTTs */
	{ 0x29, 0x07 }, { 0x2b, 0x04 }, { 0x2d, 0x11 }, /* reads; LSO of 128 KB */
	{ 0x2e, 0x17 }, /* RSS: Toeplitz, tables of 128 */
	{ 0x2f, 0x15 },
	{ 0x35, 0x0f }, { 0x36, 0x52 }, /* ack delay, maximum MTU and width */
	{ 0x38, 0x1e }, { 0x3b, 0x07 }, { 0x3e, 0x80 }, { 0x3f, 0x07 }, /* 3e: timestamps */
	{ 0x48, 0x20 }, { 0x49, 0x03 }, /* UARs: 8 MB */
	{ 0x4b, 0x0c }, /* page size */
	{ 0x51, 0x3e }, { 0x52, 0x03 }, { 0x53, 0xf0 }, /* send segments, bytes of a WQE */
	{ 0x55, 0x20 }, { 0x56, 0x02 }, { 0x57, 0x00 }, /* receive */
	{ 0x61, 0x08 }, { 0x63, 0x11 }, /* multicast groups */
	{ 0x64, 0x10 }, { 0x65, 0x0f }, { 0x66, 0x10 }, { 0x67, 0x10 }, /* PDs, XRCDs */
	{ 0x76, 0x80 }, { 0x77, 0x08 }, /* device managed flow steering */
	{ 0x81, 0x20 }, { 0x82, 0x01 }, { 0x85, 0x40 }, { 0x87, 0x40 }, /* context sizes */
	{ 0x89, 0x40 }, { 0x8b, 0x40 }, { 0x8d, 0x40 }, { 0x8f, 0x40 }, { 0x91, 0x08 },
	{ 0x93, 0x40 },
};

enum vcx3_status
vcx3_cmd_query_dev_cap(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	unsigned int i;

	for (i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++)
		cmd->out[bytes[i].offset] = bytes[i].value;
	cmd->out[0x37] = (uint8_t)(0x80 | pci->ports);
	put_be64(cmd->out, 0x40, pci->cqe_64 ? FLAGS : FLAGS & ~(FLAG(61) | FLAG(62)));
	put_be64(cmd->out, 0xa0, UINT64_C(1) << 40); /* context memory */
	return VCX3_OK;
}
