/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers that call back into the program, and the lock that a program may hold. */
#include "helper.h"
#include "map.h"
#include "spin.h"

#define MAX_LOOPS (8u << 20)	/* Linux: BPF_MAX_LOOPS */

XDPVM_HELPER(loop)
{
	uint32_t n = r1, i;

	if (r4 != 0)
		return -EINVAL;
	if (n > MAX_LOOPS)
		return -E2BIG;
	for (i = 0; i < n; i++)
		if (xdpvm_callback(buff, r2, i, r3, 0, 0, 0) != 0)
			return i + 1;
	return i;
}

XDPVM_HELPER(for_each_map_elem)
{
	return xdpvm_map_for_each(xdpvm_arg_pointer(r1), r2, r3, r4, buff);
}

XDPVM_HELPER(spin_lock)
{
	xdpvm_spin_lock(xdpvm_arg_pointer(r1));
	return 0;
}

XDPVM_HELPER(spin_unlock)
{
	xdpvm_spin_unlock(xdpvm_arg_pointer(r1));
	return 0;
}
