/* SPDX-License-Identifier: BSD-3-Clause */
/* xdpvm compare: the same packets through all engines, each with maps of its own. */
#include <string.h>

#include "capture.h"
#include "commands.h"
#include "json.h"
#include "mapview.h"

struct comparison {
	const struct options *options;
	struct engine engines[ENGINES];
	unsigned int n_engines;		/* without the kernel: 2 */
	struct capture capture;
	char difference[1024];		/* empty: none so far */
	bool by_hand;			/* the kernel runs the current program by hand */
};

static void
close_engines(struct comparison *comparison)
{
	while (comparison->n_engines > 0)
		engine_close(&comparison->engines[--comparison->n_engines]);
}

static int
prepare_engine(struct comparison *comparison, enum engine_kind kind)
{
	const struct options *options = comparison->options;
	struct engine *engine = &comparison->engines[kind];
	char reason[256];

	if (engine_open(engine, kind, options->object, &options->load) != 0)
		return STATUS_FAILED;
	comparison->n_engines++;
	if (engine_load(engine) != 0)
		return STATUS_FAILED;
	for (unsigned int i = 0; i < options->n_sets; i++)
		if (mapview_set(engine, options->sets[i], reason, sizeof(reason)) != 0)
			return failed("%s", reason);
	return STATUS_OK;
}

static int
open_engines(struct comparison *comparison)
{
	int status = prepare_engine(comparison, ENGINE_JIT);

	if (status == STATUS_OK)
		status = prepare_engine(comparison, ENGINE_INTERP);
	if (status == STATUS_OK && xdpvm_object_verify(comparison->engines[ENGINE_JIT].object) ==
				   XDPVM_VERIFY_KERNEL)
		status = prepare_engine(comparison, ENGINE_KERNEL);
	return status;
}

static unsigned int
n_running(const struct comparison *comparison)
{
	return comparison->by_hand ? comparison->n_engines : ENGINE_KERNEL;
}

/* One packet everywhere; every engine must do what native code did. */
static void
compare_packet(struct comparison *comparison, size_t number)
{
	struct frame frames[ENGINES];
	char text[512];

	for (unsigned int e = 0; e < n_running(comparison); e++) {
		frames[e] = comparison->capture.frames[number];
		if (!engine_run(&comparison->engines[e], &frames[e]))
			comparison->by_hand = false;
	}
	for (unsigned int e = 1; e < n_running(comparison); e++) {
		if (frame_equal(&frames[0], &frames[e]))
			continue;
		frame_difference(&frames[0], &frames[e], text, sizeof(text));
		snprintf(comparison->difference, sizeof(comparison->difference),
			 "program %s, packet %zu, %s against %s: %s",
			 xdpvm_prog_name(comparison->engines[0].prog), number + 1,
			 engine_names[0], engine_names[e], text);
		return;
	}
}

static void
compare_maps(struct comparison *comparison)
{
	char text[640];

	if (!mapview_equal(comparison->engines, n_running(comparison), text, sizeof(text)))
		snprintf(comparison->difference, sizeof(comparison->difference),
			 "after program %s, %s", xdpvm_prog_name(comparison->engines[0].prog),
			 text);
}

static void
print_times(struct comparison *comparison)
{
	bool json = comparison->options->json;
	const struct capture *capture = &comparison->capture;
	double ns[ENGINES];

	if (engine_time(comparison->engines, n_running(comparison), capture->frames, capture->n,
			comparison->options->repeat, ns) != 0)
		return;
	if (json)
		json_open("ns_per_packet", '{');
	for (unsigned int e = 0; e < n_running(comparison); e++) {
		if (json)
			json_real(engine_names[e], ns[e]);
		else
			printf("  %-6s %8.2f ns/packet\n", engine_names[e], ns[e]);
	}
	if (json)
		json_close('}');
}

static void
print_program(struct comparison *comparison)
{
	const char *name = xdpvm_prog_name(comparison->engines[0].prog);
	bool equal = comparison->difference[0] == '\0', json = comparison->options->json;

	if (json) {
		json_open(NULL, '{');
		json_string("program", name);
		json_bool("equal", equal);
		json_bool("kernel", n_running(comparison) == ENGINES);
		if (!equal)
			json_string("difference", comparison->difference);
	} else if (equal) {
		printf("program %s: %zu packets, equal in jit, interp%s\n", name,
		       comparison->capture.n,
		       n_running(comparison) == ENGINES ? ", kernel" :
		       " (the kernel was not asked: it runs no such program by hand, or this "
		       "process may not load it)");
	} else {
		printf("%s\n", comparison->difference);
	}
	if (equal && comparison->options->repeat > 0 &&
	    comparison->capture.n > 0)
		print_times(comparison);
	if (json)
		json_close('}');
}

static void
compare_program(struct comparison *comparison)
{
	comparison->by_hand = comparison->n_engines == ENGINES;
	for (size_t i = 0; i < comparison->capture.n && comparison->difference[0] == '\0'; i++)
		compare_packet(comparison, i);
	if (comparison->difference[0] == '\0')
		compare_maps(comparison);
	print_program(comparison);
}

/* Every program, or the named one, until the first difference. */
static void
compare_programs(struct comparison *comparison)
{
	struct engine *engines = comparison->engines;
	const char *wanted = comparison->options->load.program;
	struct xdpvm_prog *prog = NULL;

	while (comparison->difference[0] == '\0' &&
	       (prog = xdpvm_prog_next(engines[0].object, prog)) != NULL) {
		if (wanted != NULL && strcmp(wanted, xdpvm_prog_name(prog)) != 0)
			continue;
		for (unsigned int e = 0; e < comparison->n_engines; e++)
			engines[e].prog = xdpvm_prog_find(engines[e].object, xdpvm_prog_name(prog));
		compare_program(comparison);
	}
}

int
command_compare(const struct options *options)
{
	struct comparison comparison = { .options = options };
	char reason[256];
	int status;

	if (capture_read(&comparison.capture, options->pcap, reason, sizeof(reason)) != 0)
		return failed("%s", reason);
	status = open_engines(&comparison);
	if (status == STATUS_OK) {
		if (options->json)
			json_open(NULL, '[');
		compare_programs(&comparison);
		if (options->json) {
			json_close(']');
			printf("\n");
		}
		status = comparison.difference[0] == '\0' ? STATUS_OK : STATUS_NO;
	}
	close_engines(&comparison);
	capture_free(&comparison.capture);
	return status;
}
