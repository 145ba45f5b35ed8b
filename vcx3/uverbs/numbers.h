/* SPDX-License-Identifier: BSD-3-Clause */

/* Numbers of objects (QPN, CQN, MR index, PD): what the kernel's mlx4_core hands out. */

#ifndef VCX3_UVERBS_NUMBERS_H
#define VCX3_UVERBS_NUMBERS_H

#include <stdint.h>

struct uv_numbers {
	uint64_t *used; /* a bit each */
	uint32_t first; /* smallest that is given */
	uint32_t size; /* all are below */
	uint32_t next; /* search starts here, so that a number rests before it is used again */
};

/* size is a multiple of 64. Returns 0 or -ENOMEM. */
int uv_numbers_init(struct uv_numbers *numbers, uint32_t first, uint32_t size);
void uv_numbers_fini(struct uv_numbers *numbers);

/*
 * Takes count consecutive numbers, the first a multiple of count (a power of two), none with a
 * bit of forbidden_mask. Returns the first, or a negative errno.
 */
int64_t uv_numbers_take(struct uv_numbers *numbers, uint32_t count, uint32_t forbidden_mask);
void uv_numbers_give(struct uv_numbers *numbers, uint32_t number, uint32_t count);

#endif /* VCX3_UVERBS_NUMBERS_H */
