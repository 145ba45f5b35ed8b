/* SPDX-License-Identifier: BSD-3-Clause */
/* Who runs where, random numbers, strings. */
#include "helper.h"

XDPVM_HELPER(get_smp_processor_id)
{
	return buff->thread->cpu;
}

XDPVM_HELPER(get_numa_node_id)
{
	return buff->thread->numa_node;
}

/* xorshift128, G. Marsaglia, Journal of Statistical Software 8(14), 2003. */
XDPVM_HELPER(get_prandom_u32)
{
	uint32_t *state = buff->thread->random_state;
	uint32_t x = state[3];

	x ^= x << 11;
	x ^= x >> 8;
	state[3] = state[2];
	state[2] = state[1];
	state[1] = state[0];
	state[0] ^= state[0] >> 19 ^ x;
	return state[0];
}

XDPVM_HELPER(strncmp)
{
	const uint8_t *a = xdpvm_arg_pointer(r1);
	const uint8_t *b = xdpvm_arg_pointer(r3);

	for (uint32_t size = r2; size > 0; size--, a++, b++) {
		if (*a != *b)
			return (uint64_t)(*a < *b ? -1 : 1);
		if (*a == 0)
			return 0;
	}
	return 0;
}
