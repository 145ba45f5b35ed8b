/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Toeplitz hash: input bit i, counted from the most significant of the first byte,
 * adds (xor) the 32 key bits from bit i on.
 */
#include "layout.h"
#include "toeplitz.h"

/* The 32 key bits that start at a bit. */
static uint32_t
key_window(const uint8_t *key, unsigned int bit)
{
	uint64_t bits = (uint64_t)vcx3_load_be32(key + bit / 8) << 8 | key[bit / 8 + 4];

	return bits >> (8 - bit % 8);
}

void
vcx3_toeplitz_init(struct vcx3_toeplitz *tables, const uint8_t key[40])
{
	for (unsigned int i = 0; i < 2 * VCX3_TOEPLITZ_MAX_INPUT; i++) {
		for (unsigned int value = 0; value < 16; value++) {
			uint32_t hash = 0;

			for (unsigned int bit = 0; bit < 4; bit++)
				if (value & 8 >> bit)
					hash ^= key_window(key, 4 * i + bit);
			tables->nibble[i][value] = hash;
		}
	}
}

uint32_t
vcx3_toeplitz_hash(const struct vcx3_toeplitz *tables, const uint8_t *input, size_t len)
{
	uint32_t hash = 0;

	for (size_t i = 0; i < len; i++)
		hash ^= tables->nibble[2 * i][input[i] >> 4] ^
			tables->nibble[2 * i + 1][input[i] & 15];
	return hash;
}
