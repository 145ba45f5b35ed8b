/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel's own map is the oracle: a random sequence of operations is applied to a kernel map
 * and to ours; every result, errno and value must be the same, and from time to time all contents.
 * The argument names the type.
 */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "map_pair.h"

#define OPERATIONS 20000

struct subject {
	const char *name;
	enum bpf_map_type type;
	uint32_t key_size;
	uint32_t value_size;
	uint32_t max_entries;
	uint32_t flags;
	uint32_t keys;		/* different keys in use */
};

static const struct subject subjects[] = {
	{ "hash", BPF_MAP_TYPE_HASH, 6, 12, 70, 0, 150 },
	{ "hash_no_prealloc", BPF_MAP_TYPE_HASH, 20, 8, 40, BPF_F_NO_PREALLOC, 100 },
	{ "percpu_hash", BPF_MAP_TYPE_PERCPU_HASH, 16, 12, 70, 0, 150 },
	{ "array", BPF_MAP_TYPE_ARRAY, 4, 12, 50, 0, 60 },
	{ "percpu_array", BPF_MAP_TYPE_PERCPU_ARRAY, 4, 20, 50, 0, 60 },
	/* Fewer keys than entries and than one of the kernel's batches: nobody evicts. */
	{ "lru_hash", BPF_MAP_TYPE_LRU_HASH, 4, 8, 1000, 0, 60 },
	{ "lru_percpu_hash", BPF_MAP_TYPE_LRU_PERCPU_HASH, 8, 8, 1000, 0, 60 },
	{ "lpm_v4", BPF_MAP_TYPE_LPM_TRIE, 8, 12, 300, BPF_F_NO_PREALLOC, 500 },
	{ "lpm_v6", BPF_MAP_TYPE_LPM_TRIE, 20, 4, 100, BPF_F_NO_PREALLOC, 150 },
	{ "lpm_odd", BPF_MAP_TYPE_LPM_TRIE, 7, 3, 60, BPF_F_NO_PREALLOC, 80 },
	{ "queue", BPF_MAP_TYPE_QUEUE, 0, 12, 40, 0, 1 },
	{ "stack", BPF_MAP_TYPE_STACK, 0, 12, 40, 0, 1 },
	/* Values are ifindexes and queue sizes here: small_value(). */
	{ "devmap", BPF_MAP_TYPE_DEVMAP, 4, 8, 50, 0, 60 },
	{ "devmap_hash", BPF_MAP_TYPE_DEVMAP_HASH, 4, 4, 40, 0, 60 },
	{ "cpumap", BPF_MAP_TYPE_CPUMAP, 4, 8, 2, 0, 4 },
};

/* Few different bits, so that prefixes lie inside each other; sometimes longer than allowed. */
static void
random_prefix(const struct subject *subject, uint8_t *key)
{
	uint32_t bits = (subject->key_size - sizeof(bits)) * 8;
	uint32_t prefix = random() % 50 == 0 ? bits + 1 : random() % (bits + 1);

	memset(key, 0, subject->key_size);
	memcpy(key, &prefix, sizeof(prefix));
	for (uint32_t i = sizeof(prefix); i < subject->key_size; i++)
		key[i] = random() % 4 == 0 ? 0x80 >> random() % 8 : 0xa5;
}

static void
random_key(const struct subject *subject, uint8_t *key)
{
	uint32_t number = random() % subject->keys;

	if (subject->type == BPF_MAP_TYPE_LPM_TRIE) {
		random_prefix(subject, key);
		return;
	}
	if (subject->key_size == 0)
		return;

	memset(key, 0, subject->key_size);
	memcpy(key, &number, sizeof(number));
	if (subject->key_size >= 8)	/* something in the last bytes, too */
		memcpy(key + subject->key_size - sizeof(number), &number, sizeof(number));
}

static bool
is_redirect(enum bpf_map_type type)
{
	return type == BPF_MAP_TYPE_DEVMAP || type == BPF_MAP_TYPE_DEVMAP_HASH ||
	       type == BPF_MAP_TYPE_CPUMAP;
}

/* The loopback interface is the one that is there; 16385 is too much for a queue. */
static void
small_value(const struct map_pair *pair, uint8_t *value)
{
	static const uint32_t queue_sizes[] = { 0, 1, 192, 16384, 16385 };
	uint32_t number = random() % 2;

	if (pair->map.type == BPF_MAP_TYPE_CPUMAP)
		number = queue_sizes[random() % 5];
	memset(value, 0, pair->map.value_size);
	memcpy(value, &number, sizeof(number));
}

static void
random_value(const struct map_pair *pair, uint8_t *value)
{
	if (is_redirect(pair->map.type)) {
		small_value(pair, value);
		return;
	}
	for (size_t i = 0; i < map_pair_value_bytes(pair); i++)
		value[i] = random();
}

static bool
can_take(enum bpf_map_type type)
{
	return type != BPF_MAP_TYPE_ARRAY && type != BPF_MAP_TYPE_PERCPU_ARRAY &&
	       type != BPF_MAP_TYPE_LPM_TRIE && !is_redirect(type);
}

static void
random_operation(struct map_pair *pair, const struct subject *subject)
{
	static const uint64_t flags[] = {
		BPF_ANY, BPF_ANY, BPF_ANY, BPF_ANY, BPF_NOEXIST, BPF_EXIST, 3, 8, 1ull << 40,
	};
	uint8_t room[64], value[4096];
	uint8_t *key = subject->key_size != 0 ? room : NULL;

	random_key(subject, key);
	switch (random() % 8) {
	case 0: case 1: case 2: case 3:
		random_value(pair, value);
		map_pair_update(pair, key, value,
				flags[random() % (sizeof(flags) / sizeof(flags[0]))]);
		break;
	case 4: case 5:
		map_pair_lookup(pair, key);
		break;
	case 6:
		map_pair_delete(pair, key);
		break;
	case 7:
		if (can_take(subject->type))
			map_pair_take(pair, key);
		break;
	}
}

/* Empties maps that have no keys to walk over; returns how many values there were. */
static uint32_t
drain(struct map_pair *pair)
{
	uint32_t n = 0;

	while (map_pair_take(pair, NULL) == 0)
		n++;
	return n;
}

static void
run(const struct subject *subject)
{
	struct map_pair pair = { .map = {
		.type = subject->type, .key_size = subject->key_size,
		.value_size = subject->value_size, .max_entries = subject->max_entries,
		.flags = subject->flags,
	} };
	uint32_t operations, most = 0;
	int kernel, own;

	snprintf(pair.map.name, sizeof(pair.map.name), "%.14s", subject->name);
	map_pair_create(&pair, &kernel, &own);
	CHECK(kernel == 0 && own == 0);
	/* A kernel CPUMAP starts a thread with every update. */
	operations = subject->type == BPF_MAP_TYPE_CPUMAP ? 300 : OPERATIONS;
	for (unsigned int i = 0; i < operations; i++) {
		random_operation(&pair, subject);
		if (i % (operations / 20) == 0) {
			uint32_t n = subject->key_size == 0 ? drain(&pair) :
				     map_pair_compare(&pair);

			most = n > most ? n : most;
		}
	}
	printf("%s: %u operations, up to %u of %u keys\n", subject->name, operations, most,
	       subject->max_entries);
	CHECK(most > subject->max_entries / 30);
	map_pair_destroy(&pair);
}

int
main(int argc, char **argv)
{
	map_pair_need_kernel();
	srandom(1);
	for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++) {
		if (argc == 2 && strcmp(argv[1], subjects[i].name) == 0) {
			run(&subjects[i]);
			return check_status();
		}
	}
	fprintf(stderr, "usage: map_kernel_test TYPE\n");
	return 2;
}
