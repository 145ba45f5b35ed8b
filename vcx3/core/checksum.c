/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Internet checksum and CRC-32, both table- or word-wise but plain.
 */
#include <string.h>

#include "checksum.h"
#include "layout.h"

uint64_t
vcx3_sum(const void *data, size_t len, uint64_t sum)
{
	const uint8_t *byte = data;
	uint64_t pair[2];
	uint32_t word;

	for (; len >= sizeof(pair); len -= sizeof(pair), byte += sizeof(pair)) {
		memcpy(pair, byte, sizeof(pair));
		sum += (pair[0] & UINT32_MAX) + (pair[0] >> 32) + (pair[1] & UINT32_MAX) +
		       (pair[1] >> 32);
	}
	for (; len >= sizeof(word); len -= sizeof(word), byte += sizeof(word)) {
		memcpy(&word, byte, sizeof(word));
		sum += word;
	}
	if (len > 0) {
		word = 0;
		memcpy(&word, byte, len);
		sum += word;
	}
	return sum;
}

uint16_t
vcx3_sum_fold(uint64_t sum)
{
	sum = (sum & UINT32_MAX) + (sum >> 32);
	sum = (sum & UINT32_MAX) + (sum >> 32);
	sum = (sum & UINT16_MAX) + (sum >> 16);
	sum = (sum & UINT16_MAX) + (sum >> 16);
	return (sum & UINT16_MAX) + (sum >> 16);
}

uint64_t
vcx3_sum_pseudo(const uint8_t *ip, unsigned int version, uint32_t l4_len, uint8_t protocol)
{
	uint8_t tail[8] = { 0 };

	vcx3_store_be32(tail, l4_len);
	tail[7] = protocol;
	if (version == 4)
		return vcx3_sum(ip + 12, 8, vcx3_sum(tail, sizeof(tail), 0));
	return vcx3_sum(ip + 8, 32, vcx3_sum(tail, sizeof(tail), 0));
}

/* The reflected polynomial of IEEE 802.3, by half bytes. */
static const uint32_t crc_table[16] = {
	0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158,
	0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4,
	0xa00ae278, 0xbdbdf21c,
};

uint32_t
vcx3_crc32(const void *data, size_t len)
{
	const uint8_t *byte = data;
	uint32_t crc = UINT32_MAX;

	for (; len > 0; len--, byte++) {
		crc ^= *byte;
		crc = crc >> 4 ^ crc_table[crc & 15];
		crc = crc >> 4 ^ crc_table[crc & 15];
	}
	return ~crc;
}
