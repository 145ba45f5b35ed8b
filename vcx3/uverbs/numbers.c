/* SPDX-License-Identifier: BSD-3-Clause */

/* See numbers.h. */

#include "numbers.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

int
uv_numbers_init(struct uv_numbers *numbers, uint32_t first, uint32_t size)
{
	numbers->used = calloc(size / 64, sizeof(uint64_t));
	numbers->first = first;
	numbers->size = size;
	numbers->next = first;
	return numbers->used != NULL ? 0 : -ENOMEM;
}

void
uv_numbers_fini(struct uv_numbers *numbers)
{
	free(numbers->used);
	numbers->used = NULL;
}

static bool
is_free(const struct uv_numbers *numbers, uint32_t from, uint32_t count, uint32_t forbidden_mask)
{
	uint32_t i;

	for (i = from; i < from + count; i++)
		if (i < numbers->first || i & forbidden_mask ||
		    numbers->used[i / 64] >> (i % 64) & 1)
			return false;
	return true;
}

static void
mark(struct uv_numbers *numbers, uint32_t from, uint32_t count, bool used)
{
	uint32_t i;

	for (i = from; i < from + count; i++) {
		uint64_t bit = UINT64_C(1) << (i % 64);

		if (used)
			numbers->used[i / 64] |= bit;
		else
			numbers->used[i / 64] &= ~bit;
	}
}

int64_t
uv_numbers_take(struct uv_numbers *numbers, uint32_t count, uint32_t forbidden_mask)
{
	uint32_t start = (numbers->next + count - 1) / count * count;
	uint32_t tried, at;

	for (tried = 0; tried < numbers->size; tried += count) {
		at = (start + tried) % numbers->size;
		if (at + count > numbers->size || !is_free(numbers, at, count, forbidden_mask))
			continue;
		mark(numbers, at, count, true);
		numbers->next = at + count;
		return at;
	}
	return -ENOMEM;
}

void
uv_numbers_give(struct uv_numbers *numbers, uint32_t number, uint32_t count)
{
	mark(numbers, number, count, false);
}
