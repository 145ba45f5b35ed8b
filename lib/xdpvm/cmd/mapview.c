/* SPDX-License-Identifier: BSD-3-Clause */
/* See mapview.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "mapview.h"

/* How the entries of a type can be looked at. */
enum access {
	ACCESS_NONE,	/* records and references, no values */
	ACCESS_KEYS,
	ACCESS_QUEUE,
};

struct view {
	struct xdpvm_map *map;
	struct xdpvm_map_info info;
	uint32_t copies;
	uint32_t stride;
	uint8_t *key;
	uint8_t *next;
	uint8_t *value;
	uint8_t *other;
};

static enum access
access_of(enum bpf_map_type type)
{
	switch (type) {
	case BPF_MAP_TYPE_ARRAY:
	case BPF_MAP_TYPE_PERCPU_ARRAY:
	case BPF_MAP_TYPE_HASH:
	case BPF_MAP_TYPE_PERCPU_HASH:
	case BPF_MAP_TYPE_LRU_HASH:
	case BPF_MAP_TYPE_LRU_PERCPU_HASH:
	case BPF_MAP_TYPE_LPM_TRIE:
	case BPF_MAP_TYPE_DEVMAP:
	case BPF_MAP_TYPE_DEVMAP_HASH:
	case BPF_MAP_TYPE_CPUMAP:
		return ACCESS_KEYS;
	case BPF_MAP_TYPE_QUEUE:
	case BPF_MAP_TYPE_STACK:
		return ACCESS_QUEUE;
	default:
		return ACCESS_NONE;
	}
}

static bool
is_array(enum bpf_map_type type)
{
	return type == BPF_MAP_TYPE_ARRAY || type == BPF_MAP_TYPE_PERCPU_ARRAY;
}

static void
view_close(struct view *view)
{
	free(view->key);
	free(view->next);
	free(view->value);
	free(view->other);
}

static bool
view_open(struct view *view, struct xdpvm_map *map)
{
	size_t bytes;

	memset(view, 0, sizeof(*view));
	view->map = map;
	xdpvm_map_info(map, &view->info);
	view->copies = engine_copies(map);
	view->stride = engine_stride(map);
	bytes = (size_t)view->copies * view->stride;
	view->key = calloc(1, view->info.key_size + 1);
	view->next = calloc(1, view->info.key_size + 1);
	view->value = calloc(1, bytes + 1);
	view->other = calloc(1, bytes + 1);
	if (view->key != NULL && view->next != NULL && view->value != NULL && view->other != NULL)
		return true;
	view_close(view);
	return false;
}

/* Moves to the next key; false at the end. */
static bool
view_next(const struct engine *engine, struct view *view, bool first)
{
	uint8_t *swap = view->key;

	if (engine_map_next_key(engine, view->map, first ? NULL : view->key, view->next) != 0)
		return false;
	view->key = view->next;
	view->next = swap;
	return true;
}

/* ---- Showing -------------------------------------------------------------------------------- */

static bool
is_zero(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i] != 0)
			return false;
	return true;
}

static void
print_bytes(const char *title, const uint8_t *bytes, uint32_t size)
{
	printf("%s", title);
	for (uint32_t i = 0; i < size; i++)
		printf(" %02x", bytes[i]);
}

static void
print_copies_json(const struct view *view)
{
	char cpu[16];

	if (view->copies == 1) {
		json_hex("value", view->value, view->info.value_size);
		return;
	}
	json_open("values", '{');
	for (uint32_t i = 0; i < view->copies; i++) {
		if (is_zero(view->value + (size_t)i * view->stride, view->info.value_size))
			continue;
		snprintf(cpu, sizeof(cpu), "%u", i);
		json_hex(cpu, view->value + (size_t)i * view->stride, view->info.value_size);
	}
	json_close('}');
}

static void
print_entry_json(const struct view *view)
{
	json_open(NULL, '{');
	if (view->info.key_size > 0)
		json_hex("key", view->key, view->info.key_size);
	print_copies_json(view);
	json_close('}');
}

static void
print_entry(const struct view *view)
{
	if (view->info.key_size > 0)
		print_bytes("  key", view->key, view->info.key_size);
	if (view->copies == 1)
		print_bytes("  value", view->value, view->info.value_size);
	for (uint32_t i = 0; i < view->copies && view->copies > 1; i++) {
		if (is_zero(view->value + (size_t)i * view->stride, view->info.value_size))
			continue;
		printf("  cpu %u", i);
		print_bytes(":", view->value + (size_t)i * view->stride, view->info.value_size);
	}
	printf("\n");
}

static void
print_keys(const struct engine *engine, struct view *view, bool json)
{
	size_t bytes = (size_t)view->copies * view->stride;

	for (bool first = true; view_next(engine, view, first); first = false) {
		if (engine_map_lookup(engine, view->map, view->key, view->value) != 0 ||
		    (is_array(view->info.type) && is_zero(view->value, bytes)))
			continue;
		if (json)
			print_entry_json(view);
		else
			print_entry(view);
	}
}

static void
print_map(const struct engine *engine, struct view *view, bool json)
{
	if (json) {
		json_open(NULL, '{');
		json_string("name", view->info.name);
		json_number("type", view->info.type);
		json_open("entries", '[');
	} else {
		printf("map %s (type %u, key %u bytes, value %u bytes, %u entries)\n",
		       view->info.name, view->info.type, view->info.key_size,
		       view->info.value_size, view->info.max_entries);
	}
	print_keys(engine, view, json);
	if (json) {
		json_close(']');
		json_close('}');
	}
}

void
mapview_print(const struct engine *engine, bool json)
{
	struct xdpvm_map *map = NULL;
	struct view view;

	if (json)
		json_open("maps", '[');
	while ((map = xdpvm_map_next(engine->object, map)) != NULL) {
		if (!view_open(&view, map))
			continue;
		if (access_of(view.info.type) == ACCESS_KEYS &&
		    !(view.info.flags & BPF_F_RDONLY_PROG))
			print_map(engine, &view, json);
		view_close(&view);
	}
	if (json)
		json_close(']');
}

/* ---- Comparing ------------------------------------------------------------------------------ */

static size_t
describe(char *text, size_t size, const char *title, const uint8_t *bytes, uint32_t n)
{
	size_t at = snprintf(text, size, "%s", title);

	for (uint32_t i = 0; i < n && at < size; i++)
		at += snprintf(text + at, size - at, "%02x", bytes[i]);
	return at < size ? at : size;
}

static void
describe_entry(const struct view *view, uint32_t copy, char *text, size_t size)
{
	size_t offset = (size_t)copy * view->stride;
	size_t at = snprintf(text, size, "map %s", view->info.name);

	at += describe(text + at, size - at, ", key ", view->key, view->info.key_size);
	if (view->copies > 1 && at < size)
		at += snprintf(text + at, size - at, ", CPU %u", copy);
	if (at < size)
		at += describe(text + at, size - at, ": ", view->value + offset,
			       view->info.value_size);
	if (at < size)
		describe(text + at, size - at, " against ", view->other + offset,
			 view->info.value_size);
}

static bool
values_equal(const struct view *view, char *reason, size_t size)
{
	for (uint32_t i = 0; i < view->copies; i++) {
		size_t offset = (size_t)i * view->stride;

		if (memcmp(view->value + offset, view->other + offset, view->info.value_size) == 0)
			continue;
		describe_entry(view, i, reason, size);
		return false;
	}
	return true;
}

static uint32_t
count_keys(const struct engine *engine, struct view *view)
{
	uint32_t n = 0;

	for (bool first = true; view_next(engine, view, first); first = false)
		n++;
	return n;
}

static bool
keys_equal(const struct engine *a, const struct engine *b, struct view *view, struct view *other,
	   char *reason, size_t size)
{
	uint32_t n = 0, n_other;
	int ret, ret_other;

	for (bool first = true; view_next(a, view, first); first = false, n++) {
		ret = engine_map_lookup(a, view->map, view->key, view->value);
		ret_other = engine_map_lookup(b, other->map, view->key, view->other);
		if (ret != ret_other) {
			describe(reason, size, "an entry is missing: key ", view->key,
				 view->info.key_size);
			return false;
		}
		if (ret == 0 && !values_equal(view, reason, size))
			return false;
	}
	n_other = count_keys(b, other);
	if (n != n_other)
		snprintf(reason, size, "map %s: %u entries against %u", view->info.name, n,
			 n_other);
	return n == n_other;
}

/* What the first takes, the others must take; all are empty in the end. */
static bool
queues_equal(const struct engine *engines, unsigned int n, struct view *views, unsigned int *other,
	     char *reason, size_t size)
{
	int ret, ret_other;

	do {
		ret = engine_map_take(&engines[0], views[0].map, views[0].value);
		for (*other = 1; *other < n; ++*other) {
			ret_other = engine_map_take(&engines[*other], views[*other].map,
						    views[0].other);
			if (ret != ret_other) {
				snprintf(reason, size, "map %s: one is empty before the other",
					 views[0].info.name);
				return false;
			}
			if (ret == 0 && !values_equal(&views[0], reason, size))
				return false;
		}
	} while (ret == 0);
	return true;
}

static bool
maps_equal(const struct engine *engines, unsigned int n, struct view *views, unsigned int *other,
	   char *reason, size_t size)
{
	switch (access_of(views[0].info.type)) {
	case ACCESS_KEYS:
		for (*other = 1; *other < n; ++*other)
			if (!keys_equal(&engines[0], &engines[*other], &views[0], &views[*other],
					reason, size))
				return false;
		return true;
	case ACCESS_QUEUE:
		return queues_equal(engines, n, views, other, reason, size);
	default:
		return true;
	}
}

/* The next map of each; they opened the same object, so maps come in the same order. */
static bool
views_next(const struct engine *engines, unsigned int n, struct xdpvm_map **maps,
	   struct view *views)
{
	for (unsigned int e = 0; e < n; e++) {
		maps[e] = xdpvm_map_next(engines[e].object, maps[e]);
		if (maps[e] != NULL && view_open(&views[e], maps[e]))
			continue;
		while (e-- > 0)
			view_close(&views[e]);
		return false;
	}
	return true;
}

bool
mapview_equal(const struct engine *engines, unsigned int n, char *reason, size_t size)
{
	struct xdpvm_map *maps[MAPVIEW_ENGINES_MAX] = { NULL };
	struct view views[MAPVIEW_ENGINES_MAX];
	bool equal = true;
	unsigned int other = 0;

	while (equal && views_next(engines, n, maps, views)) {
		char text[512];

		equal = maps_equal(engines, n, views, &other, text, sizeof(text));
		if (!equal)
			snprintf(reason, size, "%s against %s: %s", engine_names[engines[0].kind],
				 engine_names[engines[other].kind], text);
		for (unsigned int e = 0; e < n; e++)
			view_close(&views[e]);
	}
	return equal;
}

/* ---- Setting -------------------------------------------------------------------------------- */

/* Exactly n bytes of hex up to the end of text or to the character end. */
static const char *
parse_hex(const char *text, uint8_t *bytes, uint32_t n, char end)
{
	for (uint32_t i = 0; i < n; i++, text += 2)
		if (sscanf(text, "%2hhx", &bytes[i]) != 1 || text[1] == '\0')
			return NULL;
	return *text == end ? text : NULL;
}

static int
set_entry(const struct engine *engine, struct view *view, const char *text, char *reason,
	  size_t size)
{
	const char *at = parse_hex(text, view->key, view->info.key_size, '=');
	int ret;

	if (at == NULL || parse_hex(at + 1, view->value, view->info.value_size, '\0') == NULL) {
		snprintf(reason, size, "\"%s\": map %s wants %u bytes of key, =, %u bytes of value,"
			 " in hex", text, view->info.name, view->info.key_size,
			 view->info.value_size);
		return -EINVAL;
	}
	for (uint32_t i = 1; i < view->copies; i++)
		memcpy(view->value + (size_t)i * view->stride, view->value, view->info.value_size);
	ret = engine_map_update(engine, view->map, view->key, view->value);
	if (ret != 0)
		snprintf(reason, size, "map %s does not take %s: %s", view->info.name, text,
			 strerror(-ret));
	return ret;
}

int
mapview_set(const struct engine *engine, const char *text, char *reason, size_t size)
{
	const char *colon = strchr(text, ':');
	struct xdpvm_map *map = NULL;
	struct view view;
	char name[64];
	int ret;

	if (colon != NULL && colon - text < (int)sizeof(name)) {
		snprintf(name, sizeof(name), "%.*s", (int)(colon - text), text);
		map = xdpvm_map_find(engine->object, name);
	}
	if (map == NULL) {
		snprintf(reason, size, "\"%s\" names no map of the object (MAP:KEY=VALUE)", text);
		return -ENOENT;
	}
	if (!view_open(&view, map)) {
		snprintf(reason, size, "no memory");
		return -ENOMEM;
	}
	ret = set_entry(engine, &view, colon + 1, reason, size);
	view_close(&view);
	return ret;
}
