/* SPDX-License-Identifier: BSD-3-Clause */
/* Passes everything: what a program costs when it has no opinion. */
#include "parse.h"

SEC("xdp")
int xdp_pass(struct xdp_md *ctx)
{
	return XDP_PASS;
}

char _license[] SEC("license") = "Dual BSD/GPL";
