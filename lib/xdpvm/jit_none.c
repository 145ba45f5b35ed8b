/* SPDX-License-Identifier: BSD-3-Clause */
/* Machines without a compiler: programs are interpreted. */
#include "program.h"

bool
xdpvm_jit_available(void)
{
	return false;
}

int
xdpvm_jit(struct xdpvm_prog *prog)
{
	return xdpvm_fail(prog->object, -ENOTSUP,
			  "program %s: there is no native code for this machine", prog->name);
}

void
xdpvm_jit_free(struct xdpvm_prog *prog)
{
}
