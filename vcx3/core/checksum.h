/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Internet checksum (RFC 1071) and Ethernet CRC. Sums are kept in memory byte order:
 * a folded sum is stored as it is.
 */
#ifndef VCX3_CORE_CHECKSUM_H
#define VCX3_CORE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/** Adds bytes to a sum. Only the last piece may have an odd length. */
uint64_t vcx3_sum(const void *data, size_t len, uint64_t sum);

/** Folds to 16 bits; 0xffff when a right checksum was part of the data. */
uint16_t vcx3_sum_fold(uint64_t sum);

/** The pseudo header of RFC 768, 793 and 8200. @p ip is the IPv4 or IPv6 header. */
uint64_t vcx3_sum_pseudo(const uint8_t *ip, unsigned int version, uint32_t l4_len,
			 uint8_t protocol);

/** The FCS of a frame as a number; it travels in little-endian order (IEEE 802.3 3.2.9). */
uint32_t vcx3_crc32(const void *data, size_t len);

#endif
