/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Toeplitz against the published vectors ("Verifying the RSS Hash Calculation",
 * Microsoft), CRC-32 and the Internet checksum against plain bit- and byte-wise code.
 */
#include <arpa/inet.h>

#include "core/checksum.h"
#include "core/toeplitz.h"
#include "rig.h"

static const uint8_t key[40] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
	0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
	0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

static const struct {
	const char *dst, *src;
	uint16_t dst_port, src_port;
	uint32_t ip_hash, tcp_hash;
} vectors[] = {
	{ "161.142.100.80", "66.9.149.187", 1766, 2794, 0x323e8fc2, 0x51ccc178 },
	{ "65.69.140.83", "199.92.111.2", 4739, 14230, 0xd718262a, 0xc626b0ea },
	{ "12.22.207.184", "24.19.198.95", 38024, 12898, 0xd2d0a5de, 0x5c2b394a },
	{ "209.142.163.6", "38.27.205.30", 2217, 48228, 0x82989176, 0xafc7327f },
	{ "202.188.127.2", "153.39.163.191", 1303, 44251, 0x5d1809c5, 0x10e828a2 },
	{ "3ffe:2501:200:3::1", "3ffe:2501:200:1fff::7", 1766, 2794, 0x2cc18cd5, 0x40207d3d },
	{ "ff02::1", "3ffe:501:8::260:97ff:fe40:efab", 4739, 14230, 0x0f0c461c, 0xdde51bbf },
	{ "fe80::200:f8ff:fe21:67cf", "3ffe:1900:4545:3:200:f8ff:fe21:67cf", 38024, 44251,
	  0x4b61e985, 0x02d1feef },
};

static void
test_toeplitz(void)
{
	static struct vcx3_toeplitz tables;

	vcx3_toeplitz_init(&tables, key);
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		int family = strchr(vectors[i].dst, ':') != NULL ? AF_INET6 : AF_INET;
		size_t size = family == AF_INET6 ? 16 : 4;
		uint8_t input[36];

		CHECK_EQUAL(inet_pton(family, vectors[i].src, input), 1);
		CHECK_EQUAL(inet_pton(family, vectors[i].dst, input + size), 1);
		rig_be16(input + 2 * size, vectors[i].src_port);
		rig_be16(input + 2 * size + 2, vectors[i].dst_port);
		CHECK_EQUAL(vcx3_toeplitz_hash(&tables, input, 2 * size), vectors[i].ip_hash);
		CHECK_EQUAL(vcx3_toeplitz_hash(&tables, input, 2 * size + 4), vectors[i].tcp_hash);
	}
}

static uint32_t
slow_crc(const uint8_t *data, size_t len)
{
	uint32_t crc = 0xffffffff;

	for (size_t i = 0; i < len; i++) {
		crc ^= data[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
	}
	return ~crc;
}

static uint16_t
slow_sum(const uint8_t *data, size_t len)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < len; i++)
		sum += i % 2 == 0 ? data[i] << 8 : data[i];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

int
main(void)
{
	uint8_t data[1500];
	uint64_t seed = 3;

	test_toeplitz();
	CHECK_EQUAL(vcx3_crc32("123456789", 9), 0xcbf43926); /* the published check value */
	for (int round = 0; round < 200; round++) {
		size_t len = rig_random(&seed) % sizeof(data) + 1;
		uint16_t sum;

		for (size_t i = 0; i < len; i++)
			data[i] = round < 5 ? 0xff : rig_random(&seed);
		CHECK_EQUAL(vcx3_crc32(data, len), slow_crc(data, len));
		sum = vcx3_sum_fold(vcx3_sum(data, len, 0));
		CHECK_EQUAL(rig_get16(&sum), slow_sum(data, len));
	}
	return 0;
}
