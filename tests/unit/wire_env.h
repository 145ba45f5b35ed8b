/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_UNIT_WIRE_ENV_H
#define TESTS_UNIT_WIRE_ENV_H

/* What the wire tests share: a clock, an environment, opening by text. */

#include <string.h>
#include <time.h>

#include "check.h"
#include "wire.h"

static char reason[VCX3_WIRE_REASON_SIZE];

static inline uint64_t
real_now_ns(void *ctx)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static const struct vcx3_wire_env real_env = {
	.now_ns = real_now_ns,
	.mac = {0x02, 0, 0, 0, 0, 1},
};

/* Opens a wire that must open. */
static inline struct vcx3_wire *
must_open(const char *text, const struct vcx3_wire_env *env)
{
	struct vcx3_wire_spec spec;
	struct vcx3_wire *wire = NULL;
	int ret = vcx3_wire_parse(text, &spec, reason, sizeof(reason));

	if (ret == 0)
		ret = vcx3_wire_open(&spec, env, &wire, reason, sizeof(reason));
	CHECK(ret == 0, "%s: %s", text, reason);
	if (wire == NULL)
		exit(check_status());
	return wire;
}

static inline bool
send_frame(struct vcx3_wire *wire, const void *data, uint32_t len)
{
	void *room = vcx3_wire_tx_reserve(wire, len);

	if (room == NULL)
		return false;
	memcpy(room, data, len);
	vcx3_wire_tx_commit(wire, len);
	return true;
}

/* An Internet checksum that shares nothing with the one under test: byte by byte, in host order. */
static inline uint32_t
plain_sum(const uint8_t *bytes, uint32_t count, uint32_t sum)
{
	for (uint32_t i = 0; i < count; i++)
		sum += i % 2 ? bytes[i] : (uint32_t)bytes[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

#endif /* TESTS_UNIT_WIRE_ENV_H */
