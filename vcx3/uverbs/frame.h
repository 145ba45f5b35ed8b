/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Framing of uverbs commands, legacy and extended (connectx3-device.md B.1): from the bytes
 * that were written to four ranges, with the checks and the errno of the kernel. Pure: no
 * descriptor, no object, so that it can be fuzzed alone.
 */

#ifndef VCX3_UVERBS_FRAME_H
#define VCX3_UVERBS_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UV_COMMANDS 64
/* Largest responses: EX_QUERY_DEVICE with what newer libraries ask for. */
#define UV_MAX_CORE_OUT 512
#define UV_MAX_PROVIDER_OUT 128

/* A command and where its answer goes. */
struct uv_frame {
	uint32_t number;
	bool extended;
	const uint8_t *core; /* the core request, from the response pointer on when legacy */
	size_t core_size;
	const uint8_t *provider;
	size_t provider_size;
	uint64_t response; /* address, 0 = none */
	size_t core_room; /* bytes of the core response; the provider's follow them */
	size_t provider_room;
};

/* What a command needs, in bytes without the header; see the table in dispatch.c. */
struct uv_shape {
	uint16_t core_in;
	uint16_t core_out;
	uint16_t provider_in;
	uint16_t provider_out;
};

/* Reads the number of the command. Negative errno when there is no whole header. */
int uv_frame_number(const uint8_t *bytes, size_t length, uint32_t *number, bool *extended);

/* Splits the whole command. Returns 0 or the negative errno that the kernel gives. */
int uv_frame_parse(const uint8_t *bytes, size_t length, const struct uv_shape *shape,
		   struct uv_frame *frame);

#endif /* VCX3_UVERBS_FRAME_H */
