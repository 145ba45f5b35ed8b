/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What cannot be honoured is refused with a sentence that names the program, the source line and
 * the thing; without the kernel, so that the sentence is ours.
 *
 * usage: refused_test OBJECT
 */
#include <errno.h>
#include <string.h>

#include "check.h"
#include "xdpvm.h"

static char sentence[1024];

static void
say(void *arg, enum xdpvm_log_level level, const char *message)
{
	if (level == XDPVM_LOG_ERROR)
		snprintf(sentence, sizeof(sentence), "%s", message);
}

static const struct {
	const char *program;
	const char *thing;	/* what the sentence must name */
} cases[] = {
	{ "needs_kfunc", "bpf_xdp_metadata_rx_hash" },
	{ "needs_kernel_variable", "bpf_prog_active" },
	{ "needs_timer", "timer_init" },
	{ "needs_dynptr", "dynptr_from_mem" },
	{ "needs_kernel_memory", "probe_read_kernel" },
	{ "needs_socket", "sk_lookup_tcp" },
	{ "needs_bloom", "bloom_filter" },
};

static void
check_case(const char *path, enum xdpvm_verify verify, const char *program, const char *thing)
{
	struct xdpvm_options options = { .verify = verify, .program = program, .log = say };
	struct xdpvm_object *object;
	int ret;

	sentence[0] = '\0';
	CHECK(xdpvm_object_open(path, &options, &object) == 0, "%s: %s", program, sentence);
	ret = xdpvm_object_load(object);
	CHECK(ret == -ENOTSUP, "%s: %d", program, ret);
	CHECK(strstr(sentence, program) != NULL && strstr(sentence, thing) != NULL &&
	      strstr(sentence, "refused.bpf.c:") != NULL && strstr(sentence, "instruction") != NULL,
	      "%s: \"%s\"", program, sentence);
	xdpvm_object_close(object);
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		check_case(argv[1], XDPVM_VERIFY_INTERNAL, cases[i].program, cases[i].thing);
		check_case(argv[1], XDPVM_VERIFY_NONE, cases[i].program, cases[i].thing);
		printf("%s\n", sentence);
	}
	return check_status();
}
