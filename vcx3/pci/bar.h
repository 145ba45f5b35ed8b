/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places in BAR0 that QUERY_FW tells software, and the command register.
 */
#ifndef VCX3_PCI_BAR_H
#define VCX3_PCI_BAR_H

#define VCX3_REG_CATAS 0x10000 /* error buffer */
#define VCX3_REG_CLOCK 0x20000 /* device clock: high word, low word */
#define VCX3_REG_COMM 0x60000 /* multi-function channel, not there */
#define VCX3_REG_HCR 0x80680
#define VCX3_REG_CLEAR_INT 0xf00d8

#endif
