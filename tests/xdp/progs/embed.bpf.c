/* SPDX-License-Identifier: BSD-3-Clause */
/* What an embedder gives to programs: globals by name, routes, MTUs. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

const volatile __u32 constant = 42;
__u32 setting = 7;		/* .data */
__u64 counter;			/* .bss */

struct results {
	__s64 values[3];
};

static __always_inline struct results *results_of(struct xdp_md *ctx)
{
	struct results *results = (void *)(long)ctx->data;

	return (void *)(results + 1) <= (void *)(long)ctx->data_end ? results : NULL;
}

SEC("xdp")
int globals(struct xdp_md *ctx)
{
	struct results *results = results_of(ctx);

	if (!results)
		return XDP_ABORTED;
	counter += setting;
	results->values[0] = constant;
	results->values[1] = setting;
	results->values[2] = counter;
	return XDP_PASS;
}

/* The flags are in the packet: values[0]. */
SEC("xdp")
int route(struct xdp_md *ctx)
{
	struct results *results = results_of(ctx);
	struct bpf_fib_lookup params = { .family = 2, .ipv4_dst = 0x0a000001,
					 .ifindex = ctx->ingress_ifindex };

	if (!results)
		return XDP_ABORTED;
	results->values[0] = bpf_fib_lookup(ctx, &params, sizeof(params), results->values[0]);
	results->values[1] = params.ifindex;
	results->values[2] = params.dmac[5];
	return XDP_PASS;
}

/* values[0] is the interface, values[1] what is added to the length. */
SEC("xdp")
int mtu(struct xdp_md *ctx)
{
	struct results *results = results_of(ctx);
	__u32 length = 0;

	if (!results)
		return XDP_ABORTED;
	results->values[0] = bpf_check_mtu(ctx, results->values[0], &length, results->values[1],
					   0);
	results->values[1] = length;
	return XDP_PASS;
}

char _license[] SEC("license") = "Dual BSD/GPL";
