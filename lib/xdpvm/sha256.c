/* SPDX-License-Identifier: BSD-3-Clause */
/* SHA-256 of a message in one piece. Names are those of FIPS 180-4. */
#include <string.h>

#include "sha256.h"

#define BLOCK 64	/* bytes */
#define LENGTH_BYTES 8

/* First 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t round_constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
	0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t
rotate_right(uint32_t value, unsigned int bits)
{
	return value >> bits | value << (32 - bits);
}

static void
schedule(uint32_t w[64], const uint8_t *block)
{
	for (unsigned int t = 0; t < 16; t++, block += 4)
		w[t] = (uint32_t)block[0] << 24 | block[1] << 16 | block[2] << 8 | block[3];
	for (unsigned int t = 16; t < 64; t++) {
		uint32_t s0 = rotate_right(w[t - 15], 7) ^ rotate_right(w[t - 15], 18) ^
			      w[t - 15] >> 3;
		uint32_t s1 = rotate_right(w[t - 2], 17) ^ rotate_right(w[t - 2], 19) ^
			      w[t - 2] >> 10;

		w[t] = s1 + w[t - 7] + s0 + w[t - 16];
	}
}

static void
compress(uint32_t hash[8], const uint8_t *block)
{
	uint32_t w[64], v[8], t1, t2;

	schedule(w, block);
	memcpy(v, hash, sizeof(v));
	for (unsigned int t = 0; t < 64; t++) {
		t1 = v[7] + (rotate_right(v[4], 6) ^ rotate_right(v[4], 11) ^
			     rotate_right(v[4], 25)) +
		     ((v[4] & v[5]) ^ (~v[4] & v[6])) + round_constants[t] + w[t];
		t2 = (rotate_right(v[0], 2) ^ rotate_right(v[0], 13) ^ rotate_right(v[0], 22)) +
		     ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
		memmove(&v[1], &v[0], 7 * sizeof(v[0]));
		v[4] += t1;
		v[0] = t1 + t2;
	}
	for (unsigned int i = 0; i < 8; i++)
		hash[i] += v[i];
}

void
xdpvm_sha256(const void *message, size_t size, uint8_t digest[XDPVM_SHA256_BYTES])
{
	/* First 32 bits of the fractional parts of the square roots of the first 8 primes. */
	uint32_t hash[8] = {
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
		0x1f83d9ab, 0x5be0cd19,
	};
	uint8_t tail[2 * BLOCK] = { 0 };
	size_t rest = size % BLOCK, tail_size = rest + 1 + LENGTH_BYTES <= BLOCK ? BLOCK : 2 * BLOCK;
	const uint8_t *at = message;

	for (size_t done = 0; done + BLOCK <= size; done += BLOCK, at += BLOCK)
		compress(hash, at);
	memcpy(tail, at, rest);
	tail[rest] = 0x80;
	for (unsigned int i = 0; i < LENGTH_BYTES; i++)
		tail[tail_size - 1 - i] = (uint64_t)size * 8 >> (8 * i);
	for (size_t done = 0; done < tail_size; done += BLOCK)
		compress(hash, tail + done);
	for (unsigned int i = 0; i < XDPVM_SHA256_BYTES; i++)
		digest[i] = hash[i / 4] >> (24 - 8 * (i % 4));
}
