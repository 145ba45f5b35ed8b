/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PCI configuration space (connectx3-pci.md A.3).
 */
#ifndef VCX3_PCI_CONFIG_H
#define VCX3_PCI_CONFIG_H

#include <stdint.h>

#define VCX3_CONFIG_SIZE 4096
#define VCX3_BAR0_SIZE (1U << 20)
#define VCX3_BAR2_SIZE (8U << 20)
#define VCX3_MSIX_TABLE 0x7c000
#define VCX3_MSIX_PBA 0x7d000

/** Fills the space as it is after power on. */
void vcx3_config_init(uint8_t *config, uint16_t device_id);

/** Stores what software may change of bytes [offset, offset + length). */
void vcx3_config_write(uint8_t *config, uint32_t offset, const uint8_t *data, uint32_t length);

#endif
