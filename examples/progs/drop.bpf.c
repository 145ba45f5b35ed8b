/* SPDX-License-Identifier: BSD-3-Clause */
/* Drops everything: the shortest program, and the floor of what a drop costs. */
#include "parse.h"

SEC("xdp")
int xdp_drop(struct xdp_md *ctx)
{
	return XDP_DROP;
}

char _license[] SEC("license") = "Dual BSD/GPL";
