/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Toeplitz hash (Microsoft RSS) by tables: one for each half byte of the input.
 */
#ifndef VCX3_CORE_TOEPLITZ_H
#define VCX3_CORE_TOEPLITZ_H

#include <stddef.h>
#include <stdint.h>

#define VCX3_TOEPLITZ_MAX_INPUT 36 /* two IPv6 addresses and two ports */

struct vcx3_toeplitz {
	uint32_t nibble[2 * VCX3_TOEPLITZ_MAX_INPUT][16];
};

/** Expands a key of 40 bytes. */
void vcx3_toeplitz_init(struct vcx3_toeplitz *tables, const uint8_t key[40]);

/** Hash of up to VCX3_TOEPLITZ_MAX_INPUT bytes. */
uint32_t vcx3_toeplitz_hash(const struct vcx3_toeplitz *tables, const uint8_t *input,
			    size_t len);

#endif
