/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs to be chained: each writes its letter behind those of the programs before it and returns
 * the action that the packet holds for it.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#define XDP_RUN_CONFIG(program) _##program SEC(".xdp_run_config")
#define LETTERS 16

struct packet {
	__u8 actions[8];	/* by program: a 0, b 1, ... */
	__u8 count;
	char letters[LETTERS];
};

struct {
	__uint(priority, 30);
	__uint(XDP_PASS, 1);
} XDP_RUN_CONFIG(letter_a);

struct {
	__uint(priority, 10);
	__uint(XDP_PASS, 0);
	__uint(XDP_DROP, 1);
	__uint(XDP_TX, 1);
} XDP_RUN_CONFIG(letter_b);

/* letter_c has none: priority 50, XDP_PASS. */

struct {
	__uint(priority, 50);
	__uint(XDP_ABORTED, 1);
	__uint(XDP_REDIRECT, 1);
} XDP_RUN_CONFIG(letter_d);

struct {
	__uint(priority, 20);
	__uint(unknown, 1);
} XDP_RUN_CONFIG(letter_bad);

static __always_inline int write_letter(struct xdp_md *ctx, __u32 number, char letter)
{
	struct packet *packet = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	char *place;

	if ((void *)(packet + 1) > end)
		return XDP_ABORTED;
	place = packet->letters + packet->count % LETTERS;
	if ((void *)(place + 1) > end)
		return XDP_ABORTED;
	*place = letter;
	packet->count++;
	return packet->actions[number];
}

#define LETTER(program, number, letter) \
	SEC("xdp") \
	int program(struct xdp_md *ctx) \
	{ \
		return write_letter(ctx, number, letter); \
	}

LETTER(letter_d, 3, 'd')
LETTER(letter_a, 0, 'a')
LETTER(letter_b, 1, 'b')
LETTER(letter_c, 2, 'c')
LETTER(letter_bad, 4, 'x')

char _license[] SEC("license") = "Dual BSD/GPL";
