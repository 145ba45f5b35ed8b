/* SPDX-License-Identifier: BSD-3-Clause */
/* See events.h. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "events.h"
#include "json.h"
#include "xdpvm_events.h"

struct source {
	const char *map;
	bool json;
};

static int
print_record(void *arg, const void *record, uint32_t size)
{
	const struct source *source = arg;

	if (source->json) {
		json_open(NULL, '{');
		json_string("map", source->map);
		json_hex("data", record, size);
		json_close('}');
		return 0;
	}
	printf("%s:", source->map);
	for (uint32_t i = 0; i < size; i++)
		printf(" %02x", ((const uint8_t *)record)[i]);
	printf("\n");
	return 0;
}

static void
print_records(const struct engine *engine, bool json)
{
	struct xdpvm_map *map = NULL;
	struct xdpvm_map_info info;
	struct source source = { .json = json };
	uint64_t lost = 0;

	while ((map = xdpvm_map_next(engine->object, map)) != NULL) {
		xdpvm_map_info(map, &info);
		source.map = info.name;
		if (info.type == BPF_MAP_TYPE_RINGBUF)
			xdpvm_ringbuf_read(map, print_record, &source, UINT_MAX);
		else if (info.type == BPF_MAP_TYPE_PERF_EVENT_ARRAY)
			for (uint32_t cpu = 0; cpu < XDPVM_MAX_THREADS; cpu++)
				xdpvm_perf_read(map, cpu, print_record, &source, UINT_MAX, &lost);
	}
}

static void
print_trace(bool json)
{
	struct xdpvm_trace_line line;

	while (xdpvm_trace_read(&line) == 1) {
		if (line.lost > 0 && !json)
			printf("trace: %u lines lost\n", line.lost);
		if (json)
			json_string(NULL, line.text);
		else
			printf("trace: %s\n", line.text);
	}
}

void
events_print(const struct engine *engine, bool json)
{
	if (engine->kind == ENGINE_KERNEL)
		return;
	if (json)
		json_open("trace", '[');
	print_trace(json);
	if (json) {
		json_close(']');
		json_open("records", '[');
	}
	print_records(engine, json);
	if (json)
		json_close(']');
}
