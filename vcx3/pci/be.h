/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Big endian fields of the structures that the firmware interface shares with drivers,
 * by byte offset as the reference gives them. No alignment is assumed.
 */
#ifndef VCX3_PCI_BE_H
#define VCX3_PCI_BE_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t
be16_at(const uint8_t *data, uint32_t offset)
{
	return (uint16_t)(data[offset] << 8 | data[offset + 1]);
}

static inline uint32_t
be32_at(const uint8_t *data, uint32_t offset)
{
	uint32_t value;

	memcpy(&value, data + offset, sizeof(value));
	return be32toh(value);
}

static inline uint64_t
be64_at(const uint8_t *data, uint32_t offset)
{
	uint64_t value;

	memcpy(&value, data + offset, sizeof(value));
	return be64toh(value);
}

static inline void
put_be16(uint8_t *data, uint32_t offset, uint16_t value)
{
	data[offset] = (uint8_t)(value >> 8);
	data[offset + 1] = (uint8_t)value;
}

static inline void
put_be32(uint8_t *data, uint32_t offset, uint32_t value)
{
	value = htobe32(value);
	memcpy(data + offset, &value, sizeof(value));
}

static inline void
put_be64(uint8_t *data, uint32_t offset, uint64_t value)
{
	value = htobe64(value);
	memcpy(data + offset, &value, sizeof(value));
}

#endif
