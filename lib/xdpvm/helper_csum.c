/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bpf_csum_diff(): the Internet checksum's difference (RFC 1624) between two pieces of memory, as
 * Linux 6.18 has it: any size (older ones want multiples of four), folded to 16 bits.
 */
#include "helper.h"

static uint32_t
fold_64(uint64_t sum)
{
	sum = (sum & UINT32_MAX) + (sum >> 32);
	return (uint32_t)(sum + (sum >> 32));
}

/* One's complement sum of 32-bit words, the last one filled up with zeros. */
static uint32_t
sum_words(const uint8_t *at, uint32_t size, uint32_t seed)
{
	uint64_t sum = seed;
	uint32_t word;

	for (; size >= sizeof(word); size -= sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		sum += word;
		at += sizeof(word);
	}
	word = 0;
	memcpy(&word, at, size);
	return fold_64(sum + word);
}

static uint32_t
fold_32(uint32_t sum)
{
	sum += sum >> 16 | sum << 16;
	return sum >> 16;
}

XDPVM_HELPER(csum_diff)
{
	uint32_t from_size = r2;
	uint32_t to_size = r4;
	uint32_t sum = r5;

	if (from_size != 0 && to_size != 0)
		sum = fold_64((uint64_t)sum_words(xdpvm_arg_pointer(r3), to_size, sum) +
			      (uint32_t)~sum_words(xdpvm_arg_pointer(r1), from_size, 0));
	else if (to_size != 0)
		sum = sum_words(xdpvm_arg_pointer(r3), to_size, sum);
	else if (from_size != 0)
		sum = ~sum_words(xdpvm_arg_pointer(r1), from_size, ~sum);
	return fold_32(sum);
}
