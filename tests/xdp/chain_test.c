/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chains: what objects say about themselves is read as libxdp reads it (where it is installed), the
 * order is libxdp's, and every combination of actions runs the programs that its rules say, through
 * all programs in the kernel one by one and through a chain here.
 *
 * usage: chain_test OBJECT
 */
#include <errno.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#ifdef HAVE_LIBXDP
#include <xdp/libxdp.h>
#endif

#include "check.h"
#include "frame.h"
#include "xdpvm_chain.h"

#define PROGRAMS 4	/* that have a valid configuration */

struct packet {		/* progs/chain.bpf.c */
	uint8_t actions[8];
	uint8_t count;
	char letters[16];
};

static const char *path;
static struct xdpvm_object *object;
static char last_message[512];
static const char *const names[PROGRAMS] = { "letter_a", "letter_b", "letter_c", "letter_d" };

static void
say(void *arg, enum xdpvm_log_level level, const char *message)
{
	snprintf(last_message, sizeof(last_message), "%s", message);
}

static struct xdpvm_chain *
chain_of(const char *letters)
{
	struct xdpvm_chain_link links[PROGRAMS] = { { NULL } };
	struct xdpvm_chain *chain = NULL;
	unsigned int n = 0;

	for (; letters[n] != '\0'; n++)
		links[n].prog = xdpvm_prog_find(object, names[letters[n] - 'a']);
	CHECK(xdpvm_chain_create(links, n, &chain) == 0, "%s", letters);
	return chain;
}

static void
test_config(void)
{
	static const struct xdpvm_run_config expected[PROGRAMS] = {
		{ 30, 1 << XDP_PASS },
		{ 10, 1 << XDP_DROP | 1 << XDP_TX },
		{ 50, 1 << XDP_PASS },
		{ 50, 1 << XDP_PASS | 1 << XDP_ABORTED | 1 << XDP_REDIRECT },
	};
	struct xdpvm_run_config config;

	for (unsigned int i = 0; i < PROGRAMS; i++) {
		CHECK(xdpvm_prog_run_config(xdpvm_prog_find(object, names[i]), &config) == 0);
		CHECK(config.priority == expected[i].priority &&
		      config.chain_call_actions == expected[i].chain_call_actions,
		      "%s: %u, 0x%x", names[i], config.priority, config.chain_call_actions);
	}
	CHECK(xdpvm_prog_run_config(xdpvm_prog_find(object, "letter_bad"), &config) == -EINVAL);
	CHECK(strstr(last_message, "letter_bad") != NULL && strstr(last_message, "unknown") != NULL,
	      "\"%s\"", last_message);
}

#ifdef HAVE_LIBXDP
static int
no_print(enum libxdp_print_level level, const char *format, va_list args)
{
	return 0;
}

static void
test_libxdp(void)
{
	struct xdpvm_run_config config;
	struct xdp_program *program;
	LIBBPF_OPTS(bpf_object_open_opts, opts);
	DECLARE_LIBXDP_OPTS(xdp_program_opts, program_opts, .open_filename = path, .opts = &opts);

	libbpf_set_print(NULL);
	libxdp_set_print(no_print);
	for (unsigned int i = 0; i < PROGRAMS; i++) {
		program_opts.prog_name = names[i];
		program = xdp_program__create(&program_opts);
		CHECK(libxdp_get_error(program) == 0);
		xdpvm_prog_run_config(xdpvm_prog_find(object, names[i]), &config);
		CHECK(xdp_program__run_prio(program) == config.priority);
		for (unsigned int action = 0; action <= XDP_REDIRECT; action++)
			CHECK(xdp_program__chain_call_enabled(program, action) ==
			      ((config.chain_call_actions >> action & 1) != 0));
		xdp_program__close(program);
	}
}
#endif

static void
test_order(void)
{
	static const char *const given[] = { "abcd", "dcba", "cadb", "bdac" };
	const struct xdpvm_run_config first = { 1, 1 << XDP_PASS };
	struct xdpvm_chain_link links[XDPVM_CHAIN_MAX + 1];
	struct xdpvm_chain *chain;
	struct xdpvm_prog *prog;

	/* 10, 30, then 50 twice by name. */
	for (unsigned int i = 0; i < 4; i++) {
		chain = chain_of(given[i]);
		for (unsigned int n = 0; n < PROGRAMS; n++)
			CHECK(strcmp(xdpvm_prog_name(xdpvm_chain_prog(chain, n)),
				     names["bacd"[n] - 'a']) == 0);
		CHECK(xdpvm_chain_prog(chain, PROGRAMS) == NULL);
		xdpvm_chain_free(chain);
	}
	prog = xdpvm_prog_find(object, "letter_d");
	for (unsigned int i = 0; i <= XDPVM_CHAIN_MAX; i++)
		links[i] = (struct xdpvm_chain_link){ prog, NULL };
	CHECK(xdpvm_chain_create(links, 0, &chain) == -EINVAL);
	CHECK(xdpvm_chain_create(links, XDPVM_CHAIN_MAX + 1, &chain) == -E2BIG);
	CHECK(strstr(last_message, "11") != NULL && strstr(last_message, "10") != NULL);
	links[0].prog = xdpvm_prog_find(object, "letter_b");
	links[1].config = &first;
	CHECK(xdpvm_chain_create(links, XDPVM_CHAIN_MAX, &chain) == 0);
	CHECK(xdpvm_chain_prog(chain, 0) == prog && xdpvm_chain_prog(chain, 1) == links[0].prog);
	xdpvm_chain_free(chain);
	links[0].prog = xdpvm_prog_find(object, "letter_bad");
	CHECK(xdpvm_chain_create(links, 2, &chain) == -EINVAL);
}

/* The rules, with each program run by the kernel. */
static uint32_t
run_kernel(const char *order, struct frame *frame)
{
	static const uint32_t actions[PROGRAMS] = {	/* by letter, as test_config() has them */
		1 << XDP_PASS, 1 << XDP_DROP | 1 << XDP_TX, 1 << XDP_PASS,
		1 << XDP_PASS | 1 << XDP_ABORTED | 1 << XDP_REDIRECT,
	};

	for (; *order != '\0'; order++) {
		unsigned int i = *order - 'a';

		CHECK(frame_run_kernel(xdpvm_prog_fd(xdpvm_prog_find(object, names[i])), frame));
		if (frame->result > XDP_REDIRECT)
			frame->result = XDP_ABORTED;
		if (!(actions[i] >> frame->result & 1))
			return frame->result;
	}
	return XDP_PASS;
}

static void
frame_make(struct frame *frame, unsigned int combination)
{
	struct packet packet = { { 0 } };

	memset(frame, 0, sizeof(*frame));
	for (unsigned int i = 0; i < PROGRAMS; i++, combination /= 6)
		packet.actions[i] = combination % 6;	/* 5 is no action */
	memcpy(frame->bytes, &packet, sizeof(packet));
	frame->size = 60;
}

static void
test_rules(void)
{
	struct xdpvm_chain *chain = chain_of("dcba");
	struct xdpvm_packet packet = { NULL };
	static struct frame kernel, own;
	unsigned int ends[XDP_REDIRECT + 1] = { 0 };
	struct xdpvm_buff buff;

	xdpvm_buff_init(&buff, 1, 0);
	CHECK(xdpvm_buff_bind(&buff) == 0);
	for (unsigned int combination = 0; combination < 6 * 6 * 6 * 6; combination++) {
		frame_make(&kernel, combination);
		kernel.result = run_kernel("bacd", &kernel);
		frame_make(&own, combination);
		frame_to_buff(&own, &buff);
		own.result = xdpvm_chain_run(chain, &buff);
		frame_from_buff(&own, &buff);
		CHECK(frame_equal(&kernel, &own), "combination %u: kernel %u, own %u", combination,
		      (uint32_t)kernel.result, (uint32_t)own.result);
		ends[own.result]++;

		frame_make(&own, combination);
		frame_to_buff(&own, &buff);
		packet = (struct xdpvm_packet){ .data = buff.data, .data_end = buff.data_end,
			.data_meta = buff.data_meta, .hard_start = buff.hard_start,
			.frame_end = buff.frame_end };
		xdpvm_chain_run_burst(chain, &buff, &packet, 1);
		own.result = packet.action;
		frame_from_buff(&own, &buff);
		CHECK(frame_equal(&kernel, &own), "combination %u, as a burst", combination);
	}
	for (unsigned int action = 0; action <= XDP_REDIRECT; action++)
		CHECK(ends[action] > 0);
	xdpvm_chain_free(chain);
}

int
main(int argc, char **argv)
{
	struct xdpvm_options options = { .verify = XDPVM_VERIFY_KERNEL, .log = say };

	if (libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_XDP, NULL) <= 0)
		SKIP("this process may not load XDP programs into the kernel");
	if (argc != 2)
		return 2;
	path = argv[1];
	CHECK(xdpvm_thread_register(0) == 0);
	CHECK(xdpvm_object_open(path, &options, &object) == 0 &&
	      xdpvm_object_load(object) == 0, "%s", last_message);
	if (check_failures != 0)
		return check_status();
	test_config();
#ifdef HAVE_LIBXDP
	test_libxdp();
#endif
	test_order();
	test_rules();
	xdpvm_object_close(object);
	return check_status();
}
