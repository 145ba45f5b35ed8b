/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCX3_WIRE_CSUM_H
#define VCX3_WIRE_CSUM_H

/*
 * The Internet checksum (RFC 1071) and 16-bit and 32-bit fields in network order
 * at any alignment.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t
vcx3_get16(const uint8_t *field)
{
	return (uint32_t)field[0] << 8 | field[1];
}

static inline void
vcx3_put16(uint8_t *field, uint32_t value)
{
	field[0] = (uint8_t)(value >> 8);
	field[1] = (uint8_t)value;
}

static inline uint32_t
vcx3_get32(const uint8_t *field)
{
	return vcx3_get16(field) << 16 | vcx3_get16(field + 2);
}

static inline void
vcx3_put32(uint8_t *field, uint32_t value)
{
	vcx3_put16(field, value >> 16);
	vcx3_put16(field + 2, value);
}

/*
 * Adds bytes to a running sum. Words are added in memory order, which RFC 1071
 * section 2(B) allows as long as the result is stored in memory order too.
 */
static inline uint64_t
vcx3_csum_add(uint64_t sum, const uint8_t *bytes, uint32_t count)
{
	uint32_t word;
	uint16_t half;

	for (; count >= sizeof(word); count -= sizeof(word), bytes += sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		sum += word;
	}
	if (count >= sizeof(half)) {
		memcpy(&half, bytes, sizeof(half));
		sum += half;
		bytes += sizeof(half);
		count -= sizeof(half);
	}
	half = 0;
	memcpy(&half, bytes, count);
	return sum + half;
}

/* Adds a number as a 32-bit field in network order would be added. */
static inline uint64_t
vcx3_csum_add_number(uint64_t sum, uint32_t number)
{
	uint8_t field[4];

	vcx3_put32(field, number);
	return vcx3_csum_add(sum, field, sizeof(field));
}

/* Folds a sum, inverts it and stores it. */
static inline void
vcx3_csum_store(uint64_t sum, uint8_t *field)
{
	uint16_t result;

	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	result = (uint16_t)~sum;
	memcpy(field, &result, sizeof(result));
}

/* For UDP, whose 0 says "no checksum" (RFC 768): 0 becomes its other form. */
static inline void
vcx3_csum_store_udp(uint64_t sum, uint8_t *field)
{
	vcx3_csum_store(sum, field);
	if (field[0] == 0 && field[1] == 0)
		field[0] = field[1] = 0xff;
}

#endif /* VCX3_WIRE_CSUM_H */
