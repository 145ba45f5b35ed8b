/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hostile programs of a compiled object: the prover's sentence names program, instruction, file,
 * line and text of the very line that is marked in the source, and the reason. The kernel's
 * verifier, where it is to be had, refuses them, too.
 *
 * usage: hostile_object_test OBJECT SOURCE
 */
#include <errno.h>
#include <string.h>

#include "check.h"
#include "raw.h"

static char sentence[1024];

static void
say(void *arg, enum xdpvm_log_level level, const char *message)
{
	if (level == XDPVM_LOG_ERROR)
		snprintf(sentence, sizeof(sentence), "%s", message);
}

static const struct {
	const char *program;
	const char *reason;	/* the register is the compiler's choice */
} cases[] = {
	{ "value_unchecked", " is a map value or NULL, but must be compared with NULL before" },
	{ "one_too_far", ": accesses a value of map counts at an offset that is not proven to be "
			 "within its 32 bytes" },
	{ "record_used_after", " is read, but was never set, or does not survive a call" },
	{ "packet_moved", " is a packet pointer from before a call that moved the packet, but must "
			  "be a pointer to memory" },
	{ "constant_written", " may not be written by programs" },
	{ "memory_too_short", ": accesses 64 bytes at offset -16 of the stack, which are not within "
			      "its 512 bytes" },
};

/* The number of the line of the source that is marked with the program's name. */
static unsigned int
marked_line(const char *source, const char *program)
{
	FILE *file = fopen(source, "r");
	char line[256], mark[64];
	unsigned int n = 0, found = 0;

	snprintf(mark, sizeof(mark), "/* refused: %s */", program);
	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		n++;
		if (strstr(line, mark) != NULL)
			found = n;
	}
	if (file != NULL)
		fclose(file);
	return found;
}

static int
load(const char *path, enum xdpvm_verify verify, const char *program)
{
	struct xdpvm_options options = { .verify = verify, .program = program, .log = say };
	struct xdpvm_object *object;
	int ret;

	sentence[0] = '\0';
	ret = xdpvm_object_open(path, &options, &object);
	CHECK(ret == 0, "%s: \"%s\"", program, sentence);
	if (ret != 0)
		return ret;
	ret = xdpvm_object_load(object);
	xdpvm_object_close(object);
	return ret;
}

static bool
ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

static void
check_sentence(const char *source, const char *program, const char *reason)
{
	unsigned int line = marked_line(source, program), instruction;
	char start[64], place[64], mark[64];

	snprintf(start, sizeof(start), "program %s, instruction ", program);
	snprintf(place, sizeof(place), "hostile.bpf.c:%u: ", line);
	snprintf(mark, sizeof(mark), "/* refused: %s */): ", program);
	CHECK(line > 0, "%s is not marked", program);
	CHECK(strstr(sentence, start) != NULL &&
	      sscanf(strstr(sentence, start) + strlen(start), "%u (", &instruction) == 1,
	      "%s: \"%s\"", program, sentence);
	CHECK(strstr(sentence, place) != NULL && strstr(sentence, mark) != NULL &&
	      ends_with(sentence, reason), "%s, line %u: \"%s\"", program, line, sentence);
}

int
main(int argc, char **argv)
{
	bool kernel = raw_kernel_available();

	if (argc != 3)
		return 2;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CHECK(load(argv[1], XDPVM_VERIFY_INTERNAL, cases[i].program) == -EACCES);
		printf("%s\n", sentence);
		check_sentence(argv[2], cases[i].program, cases[i].reason);
		CHECK(!kernel || load(argv[1], XDPVM_VERIFY_KERNEL, cases[i].program) == -EACCES,
		      "%s: the kernel: \"%s\"", cases[i].program, sentence);
	}
	return check_status();
}
