/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Reading the time stamp counter around a region: what stands in front of it is done when
 * it begins, and it is done when it ends.
 */

#ifndef MLX4X_PERF_CLOCK_H
#define MLX4X_PERF_CLOCK_H

#include <stdint.h>

#include <rte_cycles.h>

static inline uint64_t
perf_clock(void)
{
#ifdef RTE_ARCH_X86_64
	uint64_t now;

	/* lfence waits until all instructions before it have completed (Intel SDM, RDTSC). */
	__builtin_ia32_lfence();
	now = __builtin_ia32_rdtsc();
	__builtin_ia32_lfence();
	return now;
#else
	return rte_rdtsc_precise();
#endif
}

/* Cycles that an empty region takes. */
static inline uint64_t
perf_clock_cost(void)
{
	uint64_t best = UINT64_MAX;
	int i;

	for (i = 0; i < 1000; i++) {
		uint64_t start = perf_clock();
		uint64_t cycles = perf_clock() - start;

		if (cycles < best)
			best = cycles;
	}
	return best;
}

#endif /* MLX4X_PERF_CLOCK_H */
