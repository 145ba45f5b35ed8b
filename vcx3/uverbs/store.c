/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * See store.h. Encodings: Intel SDM volume 2, MOV, MOVNTI, MOVBE, MOVUPS/MOVAPS/MOVDQ*, MOVD/Q
 * and their VEX forms. The address is not decoded: the fault tells it.
 */

#include "store.h"

#include <string.h>

#define PREFIX_OPERAND 0x66
#define MODRM_REGISTER 3 /* mod field: the operand is no memory */

struct prefixes {
	bool operand16;
	uint8_t repeat; /* 0xf2, 0xf3 or 0 */
	bool rex_w;
	uint8_t rex_r; /* 0 or 8 */
};

/* Bytes of ModRM, SIB and displacement; 0 when it is a register operand. */
static unsigned int
operand_length(const uint8_t *modrm)
{
	unsigned int mod = *modrm >> 6, rm = *modrm & 7, length = 1;

	if (mod == MODRM_REGISTER)
		return 0;
	if (rm == 4) {
		length++;
		if (mod == 0 && (modrm[1] & 7) == 5)
			return length + 4;
	} else if (mod == 0 && rm == 5) {
		return length + 4;
	}
	return length + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

static const uint8_t *
take_prefixes(const uint8_t *at, struct prefixes *prefixes)
{
	for (;; at++) {
		if (*at == PREFIX_OPERAND)
			prefixes->operand16 = true;
		else if (*at == 0xf2 || *at == 0xf3)
			prefixes->repeat = *at;
		else if (*at != 0x2e && *at != 0x36 && *at != 0x3e && *at != 0x26 && *at != 0x64 &&
			 *at != 0x65)
			break;
	}
	if ((*at & 0xf0) == 0x40) {
		prefixes->rex_w = *at >> 3 & 1;
		prefixes->rex_r = (*at >> 2 & 1) << 3;
		at++;
	}
	return at;
}

static uint8_t
integer_size(const struct prefixes *prefixes)
{
	return prefixes->rex_w ? 8 : prefixes->operand16 ? 2 : 4;
}

/* One-byte opcodes: 88, 89 from a register; C6, C7 of a constant. Returns bytes after ModRM. */
static int
decode_plain(uint8_t opcode, const struct prefixes *prefixes, const uint8_t *modrm,
	     unsigned int operand, struct uv_store *store)
{
	const uint8_t *constant = modrm + operand;
	int32_t value32;

	store->size = opcode & 1 ? integer_size(prefixes) : 1;
	if (opcode == 0x88 || opcode == 0x89) {
		store->source = UV_STORE_REGISTER;
		return 0;
	}
	if ((opcode != 0xc6 && opcode != 0xc7) || (*modrm >> 3 & 7) != 0)
		return -1;
	store->source = UV_STORE_CONSTANT;
	if (store->size <= 2) {
		store->constant = store->size == 1 ? constant[0] : constant[0] | constant[1] << 8;
		return store->size;
	}
	memcpy(&value32, constant, sizeof(value32));
	store->constant = (uint64_t)(int64_t)value32;
	return sizeof(value32);
}

/* Bytes that a vector store of this opcode of map 0F writes; 0 = none of them. */
static uint8_t
vector_size(uint8_t opcode, const struct prefixes *prefixes, bool is_256)
{
	switch (opcode) {
	case 0x11: /* movups, movupd, movss, movsd */
		if (prefixes->repeat != 0)
			return prefixes->repeat == 0xf3 ? 4 : 8;
		return is_256 ? 32 : 16;
	case 0x29: /* movaps, movapd */
	case 0x2b: /* movntps, movntpd */
	case 0xe7: /* movntdq */
		return is_256 ? 32 : 16;
	case 0x7f: /* movdqa, movdqu; without prefix an MMX register */
		return prefixes->operand16 || prefixes->repeat == 0xf3 ? is_256 ? 32 : 16 : 0;
	case 0x7e: /* movd, movq to memory */
		return prefixes->operand16 ? prefixes->rex_w ? 8 : 4 : 0;
	case 0xd6: /* movq */
	case 0x13: /* movlps, movlpd */
		return 8;
	default:
		return 0;
	}
}

static bool
decode_map_0f(uint8_t opcode, const struct prefixes *prefixes, bool is_256,
	      struct uv_store *store)
{
	if (opcode == 0xc3) { /* movnti */
		store->source = UV_STORE_REGISTER;
		store->size = prefixes->rex_w ? 8 : 4;
		return true;
	}
	store->source = UV_STORE_VECTOR;
	store->size = vector_size(opcode, prefixes, is_256);
	return store->size != 0;
}

/* C5: one byte of fields. C4: two, with W and the map. */
static const uint8_t *
take_vex(const uint8_t *at, struct prefixes *prefixes, bool *is_256)
{
	const uint8_t *fields = at + 1;
	uint8_t last;

	prefixes->rex_r = (fields[0] >> 7 ^ 1) << 3;
	if (*at == 0xc4) {
		if ((fields[0] & 0x1f) != 1)
			return NULL;
		prefixes->rex_w = fields[1] >> 7;
		last = fields[1];
		at += 3;
	} else {
		last = fields[0];
		at += 2;
	}
	*is_256 = last >> 2 & 1;
	prefixes->operand16 = (last & 3) == 1;
	prefixes->repeat = (last & 3) == 2 ? 0xf3 : (last & 3) == 3 ? 0xf2 : 0;
	return at;
}

bool
uv_store_decode(const uint8_t *code, struct uv_store *store)
{
	struct prefixes prefixes = {0};
	const uint8_t *at = take_prefixes(code, &prefixes);
	bool is_256 = false;
	unsigned int operand;
	int more = 0;
	uint8_t opcode;

	memset(store, 0, sizeof(*store));
	if (*at == 0xc4 || *at == 0xc5) {
		at = take_vex(at, &prefixes, &is_256);
		if (at == NULL)
			return false;
		opcode = *at++;
		if (!decode_map_0f(opcode, &prefixes, is_256, store))
			return false;
	} else if (*at == 0x0f) {
		opcode = at[1];
		at += 2;
		if (!decode_map_0f(opcode, &prefixes, false, store))
			return false;
	} else {
		opcode = *at++;
		more = decode_plain(opcode, &prefixes, at, operand_length(at), store);
		if (more < 0)
			return false;
	}
	operand = operand_length(at);
	if (operand == 0)
		return false;
	store->reg = (*at >> 3 & 7) | prefixes.rex_r;
	store->length = at + operand + more - code;
	return true;
}
