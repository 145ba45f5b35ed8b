/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a byte without asking whether the frame has it: no verifier lets that through. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

SEC("xdp")
int xdp_unsafe(struct xdp_md *ctx)
{
	const __u8 *data = (void *)(long)ctx->data;

	return data[40] == 6 ? XDP_DROP : XDP_PASS;
}

char _license[] SEC("license") = "Dual BSD/GPL";
