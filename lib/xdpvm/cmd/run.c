/* SPDX-License-Identifier: BSD-3-Clause */
/* xdpvm run: packets through one engine. */
#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "commands.h"
#include "events.h"
#include "json.h"
#include "mapview.h"

static void
print_packet(const struct options *options, size_t number, const struct frame *frame)
{
	const char *action = engine_action_names[frame->result];

	if (!options->json) {
		printf("%zu %s %u\n", number, action, frame->size - frame->meta);
		return;
	}
	json_open(NULL, '{');
	json_string("action", action);
	json_number("length", frame->size - frame->meta);
	json_close('}');
}

static bool
run_packets(struct engine *engine, const struct options *options, struct capture *capture,
	    uint64_t *actions)
{
	for (size_t i = 0; i < capture->n; i++) {
		struct frame *frame = &capture->frames[i];

		if (!engine_run(engine, frame))
			return false;
		actions[frame->result]++;
		if (!options->json)
			events_print(engine, false);
		if (options->packets)
			print_packet(options, i + 1, frame);
	}
	return true;
}

static void
print_histogram(const struct options *options, const uint64_t *actions, size_t n)
{
	if (options->json)
		json_open("actions", '{');
	else
		printf("%zu packets:", n);
	for (unsigned int i = 0; i <= XDP_REDIRECT; i++) {
		if (options->json)
			json_number(engine_action_names[i], actions[i]);
		else if (actions[i] != 0)
			printf(" %llu %s", (unsigned long long)actions[i], engine_action_names[i]);
	}
	if (options->json)
		json_close('}');
	else
		printf("\n");
}

static void
print_time(const struct options *options, double ns)
{
	if (options->json)
		json_real("ns_per_packet", ns);
	else
		printf("%.2f ns/packet\n", ns);
}

/* The packets as they came are needed twice when they are timed as well. */
static int
run_and_print(struct engine *engine, const struct options *options, const struct capture *original,
	      struct capture *result)
{
	uint64_t actions[XDP_REDIRECT + 1] = { 0 };
	double ns;

	if (options->json && options->packets)
		json_open("packets", '[');
	if (!run_packets(engine, options, result, actions))
		return failed("the kernel does not run program %s by hand",
			      xdpvm_prog_name(engine->prog));
	if (options->json && options->packets)
		json_close(']');
	print_histogram(options, actions, result->n);
	if (options->json)
		events_print(engine, true);
	if (options->repeat > 0 && result->n > 0) {
		if (engine_time(engine, 1, original->frames, original->n, options->repeat,
				&ns) != 0)
			return failed("the packets cannot be timed");
		print_time(options, ns);
	}
	if (options->maps)
		mapview_print(engine, options->json);
	return STATUS_OK;
}

static int
set_maps(struct engine *engine, const struct options *options)
{
	char reason[256];

	for (unsigned int i = 0; i < options->n_sets; i++)
		if (mapview_set(engine, options->sets[i], reason, sizeof(reason)) != 0)
			return failed("%s", reason);
	return STATUS_OK;
}

static int
run_copy(struct engine *engine, const struct options *options, const struct capture *original)
{
	struct capture result = { .n = original->n };
	char reason[256];
	int status;

	result.frames = malloc((original->n + 1) * sizeof(*result.frames));
	if (result.frames == NULL)
		return failed("no memory for %zu packets", original->n);
	if (original->n > 0)
		memcpy(result.frames, original->frames, original->n * sizeof(*result.frames));
	status = run_and_print(engine, options, original, &result);
	if (status == STATUS_OK && options->out != NULL &&
	    capture_write(&result, options->out, reason, sizeof(reason)) != 0)
		status = failed("%s", reason);
	capture_free(&result);
	return status;
}

int
command_run(const struct options *options)
{
	struct capture capture;
	struct engine engine;
	char reason[256];
	int status;

	if (capture_read(&capture, options->pcap, reason, sizeof(reason)) != 0)
		return failed("%s", reason);
	if (engine_open(&engine, options->engine, options->object, &options->load) != 0 ||
	    engine_load(&engine) != 0) {
		engine_close(&engine);
		capture_free(&capture);
		return STATUS_FAILED;
	}
	status = set_maps(&engine, options);
	if (status == STATUS_OK) {
		if (options->json)
			json_open(NULL, '{');
		print_engine(&engine, options);
		status = run_copy(&engine, options, &capture);
		if (options->json) {
			json_close('}');
			printf("\n");
		}
	}
	engine_close(&engine);
	capture_free(&capture);
	return status;
}
