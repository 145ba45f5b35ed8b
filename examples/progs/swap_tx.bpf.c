/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends every frame back to where it came from. */
#include "parse.h"

SEC("xdp")
int xdp_swap_tx(struct xdp_md *ctx)
{
	struct packet packet = packet_of(ctx);
	struct ethhdr *eth = packet.data;

	if ((void *)(eth + 1) > packet.end)
		return XDP_ABORTED;
	swap_macs(eth);
	return XDP_TX;
}

char _license[] SEC("license") = "Dual BSD/GPL";
