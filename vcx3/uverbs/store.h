/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Decodes the stores that compilers make of a doorbell write: plain moves from a general or
 * vector register or of a constant. Pure, so that it can be tested alone.
 */

#ifndef VCX3_UVERBS_STORE_H
#define VCX3_UVERBS_STORE_H

#include <stdbool.h>
#include <stdint.h>

/* A store instruction. */
struct uv_store {
	uint8_t length; /* of the instruction in bytes */
	uint8_t size; /* bytes stored: 1, 2, 4, 8, 16 or 32 */
	enum uv_store_source {
		UV_STORE_REGISTER,
		UV_STORE_CONSTANT,
		UV_STORE_VECTOR,
	} source;
	uint8_t reg; /* number of the register as in the encoding, 0..15 */
	uint64_t constant; /* sign-extended */
};

/* False when the instruction is no store that is known here. At most 15 bytes are read. */
bool uv_store_decode(const uint8_t *code, struct uv_store *store);

#endif /* VCX3_UVERBS_STORE_H */
