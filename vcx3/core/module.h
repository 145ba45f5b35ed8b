/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is plugged into each port: a QSFP+ module with a passive copper cable (SFF-8636).
 */
#ifndef VCX3_CORE_MODULE_H
#define VCX3_CORE_MODULE_H

#include <stdbool.h>
#include <stdint.h>

/** Bytes of its memory: the lower page and upper page 0. */
#define VCX3_MODULE_SIZE 256

/** Copies bytes of the module's memory. @return false, and nothing copied, beyond its end. */
bool vcx3_module_read(uint32_t offset, uint8_t *to, uint32_t length);

#endif
