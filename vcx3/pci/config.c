/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PCI configuration space: identity, two BARs, power management, PCI Express and MSI-X
 * capabilities. The VM sizes and places the BARs itself.
 */
#include <string.h>

#include "config.h"
#include "irq.h"

#define CAP_PM 0x40
#define CAP_PCIE 0x60
#define CAP_MSIX 0x9c

/* Little endian 16 and 32 bit words of configuration space. */
static void
put16(uint8_t *config, uint32_t offset, uint16_t value)
{
	config[offset] = (uint8_t)value;
	config[offset + 1] = (uint8_t)(value >> 8);
}

static void
put32(uint8_t *config, uint32_t offset, uint32_t value)
{
	put16(config, offset, (uint16_t)value);
	put16(config, offset + 2, (uint16_t)(value >> 16));
}

static void
put_capability(uint8_t *config, uint8_t offset, uint8_t id, uint8_t next)
{
	config[offset] = id;
	config[offset + 1] = next;
}

void
vcx3_config_init(uint8_t *config, uint16_t device_id)
{
	memset(config, 0, VCX3_CONFIG_SIZE);
	put16(config, 0x00, 0x15b3);
	put16(config, 0x02, device_id);
	put16(config, 0x06, 0x0010); /* status: capability list */
	put32(config, 0x08, 0x02000000); /* Ethernet controller, revision 0 */
	put32(config, 0x10, 0x4); /* BAR0: memory, 64 bits */
	put32(config, 0x18, 0xc); /* BAR2: memory, 64 bits, prefetchable */
	put16(config, 0x2c, 0x15b3);
	put16(config, 0x2e, 0x0055);
	config[0x34] = CAP_PM;
	config[0x3d] = 1; /* INTA */
	put_capability(config, CAP_PM, 0x01, CAP_PCIE);
	put16(config, CAP_PM + 2, 0x0003);
	put_capability(config, CAP_PCIE, 0x10, CAP_MSIX);
	put16(config, CAP_PCIE + 2, 0x0002); /* version 2, endpoint */
	put32(config, CAP_PCIE + 4, 0x10008002); /* function level reset, 512 byte payload */
	put32(config, CAP_PCIE + 0xc, 0x00000083); /* 8.0 GT/s, 8 lanes */
	put16(config, CAP_PCIE + 0x12, 0x0083);
	put32(config, CAP_PCIE + 0x2c, 0x0000000e); /* speeds */
	put_capability(config, CAP_MSIX, 0x11, 0);
	put16(config, CAP_MSIX + 2, VCX3_MSIX_VECTORS - 1);
	put32(config, CAP_MSIX + 4, VCX3_MSIX_TABLE); /* BAR0 */
	put32(config, CAP_MSIX + 8, VCX3_MSIX_PBA);
}

/* Bits of each byte that a write changes; the VM keeps BARs and MSI-X control itself. */
static uint8_t
writable(uint32_t offset)
{
	switch (offset) {
	case 0x04:
		return 0x47; /* I/O, memory, bus master, parity */
	case 0x05:
		return 0x05; /* SERR, INTx disable */
	case 0x0c: /* cache line size */
	case 0x3c: /* interrupt line */
	case CAP_PCIE + 8: /* device control */
		return 0xff;
	case CAP_PCIE + 9:
		return 0x7f;
	case CAP_PM + 4:
		return 0x03; /* power state */
	default:
		return 0;
	}
}

void
vcx3_config_write(uint8_t *config, uint32_t offset, const uint8_t *data, uint32_t length)
{
	uint32_t i;

	for (i = 0; i < length; i++) {
		uint8_t mask = writable(offset + i);

		config[offset + i] = (uint8_t)((config[offset + i] & ~mask) | (data[i] & mask));
	}
}
