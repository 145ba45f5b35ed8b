/* SPDX-License-Identifier: BSD-3-Clause */
/* Clocks. Each is read in user space (vDSO). */
#include <time.h>

#include "helper.h"

#define NS_PER_SECOND 1000000000ull
#define JIFFIES_AT_BOOT_SECONDS 300	/* Linux: INITIAL_JIFFIES, a 32-bit counter about to wrap */

static uint64_t
clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

XDPVM_HELPER(ktime_get_ns)
{
	return clock_ns(CLOCK_MONOTONIC);
}

XDPVM_HELPER(ktime_get_boot_ns)
{
	return clock_ns(CLOCK_BOOTTIME);
}

XDPVM_HELPER(ktime_get_coarse_ns)
{
	return clock_ns(CLOCK_MONOTONIC_COARSE);
}

XDPVM_HELPER(ktime_get_tai_ns)
{
	return clock_ns(CLOCK_TAI);
}

/*
 * The coarse clock's resolution is the length of a jiffy. The absolute value may be ahead of the
 * kernel's by some ticks, because its counter starts later than its clock; differences are right.
 */
XDPVM_HELPER(jiffies64)
{
	struct timespec tick;
	uint64_t hz;

	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	hz = NS_PER_SECOND / (uint64_t)tick.tv_nsec;
	return (uint32_t)-(JIFFIES_AT_BOOT_SECONDS * hz) +
	       clock_ns(CLOCK_MONOTONIC_COARSE) / (uint64_t)tick.tv_nsec;
}
