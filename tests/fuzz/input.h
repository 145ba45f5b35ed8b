/* SPDX-License-Identifier: BSD-3-Clause */

/* A fuzzer's input as a stream of bytes; zeros behind its end. */

#ifndef TESTS_FUZZ_INPUT_H
#define TESTS_FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>

struct input {
	const uint8_t *data;
	size_t len;
};

static inline uint8_t
take(struct input *input)
{
	if (input->len == 0)
		return 0;
	input->len--;
	return *input->data++;
}

#endif /* TESTS_FUZZ_INPUT_H */
