/* SPDX-License-Identifier: BSD-3-Clause */
/* A verdict for each frame by the byte behind its header: a test knows what must become of it. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#define HEADER 14	/* Ethernet */
#define ADDRESS 6

struct addresses {
	__u8 destination[ADDRESS];
	__u8 source[ADDRESS];
};

SEC("xdp")
int xdp_verdicts(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct addresses old, *now = data;
	__u8 *kind = data + HEADER;

	if (data + HEADER + 1 > end)
		return XDP_ABORTED;
	switch (*kind & 3) {
	case XDP_DROP: /* 1 */
		return XDP_DROP;
	case XDP_PASS:
		return XDP_PASS;
	case XDP_TX:
		old = *now;
		__builtin_memcpy(now->destination, old.source, ADDRESS);
		__builtin_memcpy(now->source, old.destination, ADDRESS);
		return XDP_TX;
	default:
		return XDP_ABORTED;
	}
}

char _license[] SEC("license") = "Dual BSD/GPL";
