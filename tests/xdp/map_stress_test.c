/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Four threads on one map. A key belongs to one thread: only that one writes it, and a model says
 * what every result on it must be, whatever the others do next to it. Other threads' keys are read
 * through the control side, where a value must be whole. Counters must add up in the end.
 *
 * No kernel needed.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "map.h"
#include "ring.h"
#include "xdpvm_events.h"

#define THREADS 4
#define KEYS 100	/* of one thread */
#define OPERATIONS 400000

/* Says which key it belongs to, and a half that was written without the other shows. */
struct value {
	uint64_t version;
	uint64_t key;
	uint64_t check;
};

struct subject {
	const char *name;
	enum bpf_map_type type;
	uint32_t key_size;
	uint32_t max_entries;
	uint32_t flags;
	bool fixed;	/* keys are always there */
	bool evicts;
	bool percpu;
};

static const struct subject subjects[] = {
	{ "hash", BPF_MAP_TYPE_HASH, 4, THREADS * KEYS, .flags = 0 },
	{ "hash_long_key", BPF_MAP_TYPE_HASH, 40, THREADS * KEYS, .flags = BPF_F_NO_PREALLOC },
	{ "percpu_hash", BPF_MAP_TYPE_PERCPU_HASH, 4, THREADS * KEYS, .percpu = true },
	{ "lru_hash", BPF_MAP_TYPE_LRU_HASH, 4, THREADS * KEYS / 4, .evicts = true },
	{ "lru_percpu_hash", BPF_MAP_TYPE_LRU_PERCPU_HASH, 8, THREADS * KEYS / 4, .evicts = true,
	  .percpu = true },
	{ "array", BPF_MAP_TYPE_ARRAY, 4, THREADS * KEYS, .fixed = true },
	{ "percpu_array", BPF_MAP_TYPE_PERCPU_ARRAY, 4, THREADS * KEYS, .fixed = true,
	  .percpu = true },
	{ "lpm", BPF_MAP_TYPE_LPM_TRIE, 8, THREADS * KEYS, .flags = BPF_F_NO_PREALLOC },
};

struct worker {
	const struct subject *subject;
	struct xdpvm_map *map;
	uint32_t number;
	uint64_t random;
	struct xdpvm_buff buff;
	bool present[KEYS];
	struct value values[KEYS];
	uint8_t *room;		/* a value with all copies */
	uint64_t errors;
	uint64_t found;
	uint64_t walks;
};

/* CHECK() counts without a lock: workers count for themselves and the first few speak. */
#define EXPECT(worker, condition) do { \
	if (!(condition) && (worker)->errors++ < 5) \
		fprintf(stderr, "%s, thread %u: line %d: %s\n", (worker)->map->name, \
			(worker)->number, __LINE__, #condition); \
} while (0)

static pthread_barrier_t together;	/* threads start at once, or the first would be done alone */

static uint32_t
draw(struct worker *worker, uint32_t below)
{
	worker->random = worker->random * 6364136223846793005ull + 1442695040888963407ull;
	return (worker->random >> 33) % below;
}

/* Global number of a key to its bytes; prefixes do not lie inside each other. */
static void
key_make(const struct xdpvm_map *map, uint32_t number, uint8_t key[64])
{
	memset(key, 0, 64);
	if (map->type == BPF_MAP_TYPE_LPM_TRIE) {
		uint32_t length = 16 + number % 17;

		memcpy(key, &length, sizeof(length));
		key[4] = number >> 8;
		key[5] = number;
		return;
	}
	memcpy(key, &number, sizeof(number));
	if (map->key_size > 8)
		memcpy(key + map->key_size - 4, &number, sizeof(number));
}

static uint32_t
number_of(const struct xdpvm_map *map, const uint8_t *key)
{
	uint32_t number;

	if (map->type == BPF_MAP_TYPE_LPM_TRIE)
		return key[4] << 8 | key[5];
	memcpy(&number, key, sizeof(number));
	return number;
}

static struct value
value_make(uint32_t number, uint64_t version)
{
	return (struct value){ version, number, version * 31 + number };
}

static bool
is_whole(const struct value *value, uint32_t number)
{
	return value->key == number && value->check == value->version * 31 + number;
}

static void
do_update(struct worker *worker, uint32_t i, const uint8_t *key)
{
	static const uint64_t flags[] = { BPF_ANY, BPF_ANY, BPF_NOEXIST, BPF_EXIST };
	uint64_t flag = flags[draw(worker, 4)];
	struct value value = value_make(worker->number * KEYS + i, worker->values[i].version + 1);
	long ret = worker->map->ops->update(worker->map, key, &value, flag, &worker->buff);
	long want = flag == BPF_NOEXIST && worker->present[i] ? -EEXIST :
		    flag == BPF_EXIST && !worker->present[i] ? -ENOENT : 0;

	/* What a thread put into an LRU map may be gone already. */
	if (worker->subject->evicts && worker->present[i])
		EXPECT(worker, ret == want || ret == (flag == BPF_EXIST ? -ENOENT : 0));
	else
		EXPECT(worker, ret == want);
	if (ret == 0) {
		worker->present[i] = true;
		worker->values[i] = value;
	}
}

static void
do_delete(struct worker *worker, uint32_t i, const uint8_t *key)
{
	long ret = worker->map->ops->delete(worker->map, key);

	if (worker->subject->fixed) {
		EXPECT(worker, ret == -EINVAL);
		return;
	}
	EXPECT(worker, ret == (worker->present[i] ? 0 : -ENOENT) ||
		       (worker->subject->evicts && ret == -ENOENT));
	worker->present[i] = false;
}

static void
do_lookup(struct worker *worker, uint32_t i, const uint8_t *key)
{
	const struct value *value = worker->map->ops->lookup(worker->map, key, &worker->buff);

	if (worker->subject->evicts)
		worker->present[i] = worker->present[i] && value != NULL;
	EXPECT(worker, (value != NULL) == worker->present[i]);
	/* An LRU element may go to another key while we look at it, as in Linux. */
	if (value != NULL && !worker->subject->evicts)
		EXPECT(worker, memcmp(value, &worker->values[i], sizeof(*value)) == 0);
	worker->found += value != NULL;
}

/* Removes it and copies it out in one step. */
static void
do_take(struct worker *worker, uint32_t i, const uint8_t *key)
{
	const struct xdpvm_map *map = worker->map;
	uint32_t copy = worker->subject->percpu ? worker->number : 0;
	int ret;

	if (map->ops->take == NULL)
		return;
	ret = map->ops->take(worker->map, key, worker->room);
	EXPECT(worker, ret == (worker->present[i] ? 0 : -ENOENT) ||
		       (worker->subject->evicts && ret == -ENOENT));
	if (ret == 0)
		EXPECT(worker, memcmp(worker->room + copy * sizeof(struct value),
				      &worker->values[i], sizeof(struct value)) == 0);
	worker->present[i] = false;
}

/* Anybody's key: the value is one that its owner wrote, whole. */
static void
do_read_any(struct worker *worker)
{
	uint32_t number = draw(worker, THREADS * KEYS);
	uint32_t copy = worker->subject->percpu ? number / KEYS : 0;
	const struct value *value;
	uint8_t key[64];

	key_make(worker->map, number, key);
	if (worker->map->ops->copy_out(worker->map, key, worker->room) != 0)
		return;
	value = (const struct value *)(void *)worker->room + copy;
	/* Words of array elements and of per-CPU copies are written one by one, as in Linux. */
	if (!worker->subject->fixed && !worker->subject->percpu)
		EXPECT(worker, is_whole(value, number));
	else
		EXPECT(worker, value->key == number || value->key == 0);
}

/* A walk that reaches its end has met all keys that were there all the time: ours. */
static void
do_walk(struct worker *worker)
{
	bool met[THREADS * KEYS] = { false };
	uint8_t key[64], next[64];
	void *at = NULL;
	int ret = 0;

	for (uint32_t steps = 0; steps < 50 * THREADS * KEYS; steps++) {
		ret = worker->map->ops->next_key(worker->map, at, next);
		if (ret != 0)
			break;
		EXPECT(worker, number_of(worker->map, next) < THREADS * KEYS);
		met[number_of(worker->map, next) % (THREADS * KEYS)] = true;
		memcpy(key, next, sizeof(key));
		at = key;
	}
	if (ret == 0)
		return;
	EXPECT(worker, ret == -ENOENT);
	worker->walks++;
	for (uint32_t i = 0; i < KEYS && !worker->subject->evicts; i++)
		EXPECT(worker, met[worker->number * KEYS + i] == worker->present[i]);
}

static void
worker_init(struct worker *worker, const struct subject *subject, struct xdpvm_map *map,
	    uint32_t number)
{
	memset(worker, 0, sizeof(*worker));
	worker->subject = subject;
	worker->map = map;
	worker->number = number;
	worker->random = number + 1;
	worker->room = calloc(1, xdpvm_map_value_bytes(map));
	for (uint32_t i = 0; i < KEYS; i++)
		worker->present[i] = subject->fixed;
}

/* As a thread that runs programs; all begin together. */
static void
worker_begin(struct worker *worker)
{
	pthread_barrier_wait(&together);
	EXPECT(worker, xdpvm_thread_register(worker->number) == (int)worker->number);
	xdpvm_buff_init(&worker->buff, 1, 0);
	EXPECT(worker, xdpvm_buff_bind(&worker->buff) == 0);
}

static void *
keyed_main(void *arg)
{
	struct worker *worker = arg;
	uint8_t key[64];

	worker_begin(worker);
	for (uint32_t n = 0; n < OPERATIONS; n++) {
		uint32_t i = draw(worker, KEYS);

		key_make(worker->map, worker->number * KEYS + i, key);
		switch (draw(worker, 8)) {
		case 0: case 1: case 2:
			do_update(worker, i, key);
			break;
		case 3:
			do_delete(worker, i, key);
			break;
		case 4:
			do_take(worker, i, key);
			break;
		case 5:
			do_read_any(worker);
			break;
		default:
			do_lookup(worker, i, key);
			break;
		}
		if (n % 512 == 0)
			do_walk(worker);
		xdpvm_thread_quiescent();
	}
	xdpvm_thread_unregister();
	return NULL;
}

static void
map_make(struct xdpvm_map *map, const char *name, enum bpf_map_type type, uint32_t key_size,
	 uint32_t value_size, uint32_t max_entries)
{
	map->type = type;
	map->key_size = key_size;
	map->value_size = value_size;
	map->max_entries = max_entries;
	map->fd = -1;
	snprintf(map->name, sizeof(map->name), "%s", name);
	CHECK(xdpvm_map_init(map) == 0, "%s", name);
}

static uint32_t
count_keys(struct xdpvm_map *map)
{
	uint8_t key[64], next[64];
	uint32_t n = 0;

	for (void *at = NULL; map->ops->next_key(map, at, next) == 0; n++) {
		memcpy(key, next, sizeof(key));
		at = key;
	}
	return n;
}

static void
test_keyed(const struct subject *subject)
{
	static struct worker workers[THREADS];
	struct xdpvm_map map = { .flags = subject->flags };
	pthread_t threads[THREADS];
	uint64_t found = 0, walks = 0;
	uint32_t present = 0;

	map_make(&map, subject->name, subject->type, subject->key_size, sizeof(struct value),
		 subject->max_entries);
	for (uint32_t i = 0; i < THREADS; i++) {
		worker_init(&workers[i], subject, &map, i);
		for (uint32_t k = 0; subject->fixed && k < KEYS; k++)
			memset(&workers[i].values[k], 0, sizeof(struct value));
		CHECK(pthread_create(&threads[i], NULL, keyed_main, &workers[i]) == 0);
	}
	for (uint32_t i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		CHECK(workers[i].errors == 0, "%llu", (unsigned long long)workers[i].errors);
		found += workers[i].found;
		walks += workers[i].walks;
		for (uint32_t k = 0; k < KEYS; k++)
			present += workers[i].present[k];
		free(workers[i].room);
	}
	if (subject->evicts)
		CHECK(count_keys(&map) <= subject->max_entries);
	else
		CHECK(count_keys(&map) == present);
	CHECK(found > OPERATIONS / 4 && walks > 20, "%llu found, %llu walks",
	      (unsigned long long)found, (unsigned long long)walks);
	printf("%s: %llu lookups hit, %llu whole walks, %u keys in the end\n", subject->name,
	       (unsigned long long)found, (unsigned long long)walks, present);
	xdpvm_map_fini(&map);
}

/* ---- Shared counters ------------------------------------------------------------------------ */

#define SHARED 16
#define COUNTS 1000000

static void *
count_main(void *arg)
{
	struct worker *worker = arg;

	worker_begin(worker);
	for (uint32_t n = 0; n < COUNTS; n++) {
		uint32_t key = n % SHARED, other = SHARED + draw(worker, 100);
		uint64_t *counter = worker->map->ops->lookup(worker->map, &key, &worker->buff);

		if (counter == NULL)
			EXPECT(worker, counter != NULL);
		else if (xdpvm_map_is_percpu(worker->map->type))
			++*counter;
		else
			__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
		/* Others come and go between the counters. */
		if (n % 4 == 0)
			worker->map->ops->update(worker->map, &other, &(uint64_t){ n }, BPF_ANY,
						 &worker->buff);
		else if (n % 4 == 2)
			worker->map->ops->delete(worker->map, &other);
		xdpvm_thread_quiescent();
	}
	xdpvm_thread_unregister();
	return NULL;
}

static void
run_workers(struct xdpvm_map *map, void *(*main_function)(void *), struct worker *workers)
{
	static const struct subject none;
	pthread_t threads[THREADS];

	for (uint32_t i = 0; i < THREADS; i++) {
		worker_init(&workers[i], &none, map, i);
		CHECK(pthread_create(&threads[i], NULL, main_function, &workers[i]) == 0);
	}
	for (uint32_t i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		free(workers[i].room);
		CHECK(workers[i].errors == 0, "%llu", (unsigned long long)workers[i].errors);
	}
}

static void
test_counters(enum bpf_map_type type, const char *name)
{
	static struct worker workers[THREADS];
	uint64_t copies[XDPVM_MAX_THREADS], sum = 0;
	struct xdpvm_map map = { 0 };

	map_make(&map, name, type, 4, sizeof(uint64_t), SHARED + 100);
	memset(copies, 0, sizeof(copies));
	for (uint32_t key = 0; key < SHARED; key++)
		CHECK(xdpvm_map_update(&map, &key, copies, BPF_ANY) == 0);
	run_workers(&map, count_main, workers);
	for (uint32_t key = 0; key < SHARED; key++) {
		CHECK(xdpvm_map_lookup(&map, &key, copies) == 0);
		for (uint32_t cpu = 0; cpu < xdpvm_map_value_bytes(&map) / 8; cpu++)
			sum += copies[cpu];
	}
	CHECK(sum == (uint64_t)THREADS * COUNTS, "%s: %llu", name, (unsigned long long)sum);
	printf("%s: %llu counted\n", name, (unsigned long long)sum);
	xdpvm_map_fini(&map);
}

/* ---- Queues --------------------------------------------------------------------------------- */

#define PUSHES 200000

/* What came out, by all threads: number of the thread that pushed and how many it had pushed. */
static uint8_t popped[THREADS][PUSHES];

static void
take_popped(struct worker *worker, const uint32_t value[2])
{
	EXPECT(worker, value[0] < THREADS && value[1] < PUSHES);
	if (value[0] < THREADS && value[1] < PUSHES)
		EXPECT(worker, __atomic_exchange_n(&popped[value[0]][value[1]], 1,
						   __ATOMIC_RELAXED) == 0);
}

static void *
queue_main(void *arg)
{
	struct worker *worker = arg;
	bool queue = worker->map->type == BPF_MAP_TYPE_QUEUE;
	int64_t last[THREADS] = { -1, -1, -1, -1 };
	uint32_t value[2] = { worker->number, 0 }, out[2];

	pthread_barrier_wait(&together);
	while (value[1] < PUSHES) {
		if (draw(worker, 2) == 0) {
			value[1] += worker->map->ops->push(worker->map, value, BPF_ANY) == 0;
			continue;
		}
		if (worker->map->ops->pop(worker->map, out) != 0)
			continue;
		take_popped(worker, out);
		/* First in, first out: of each pusher in order. */
		EXPECT(worker, !queue || out[0] >= THREADS || out[1] > last[out[0]]);
		last[out[0] % THREADS] = out[1];
	}
	return NULL;
}

static void
test_queue(enum bpf_map_type type, const char *name)
{
	static struct worker workers[THREADS];
	struct xdpvm_map map = { 0 };
	uint32_t left = 0, out[2];
	uint64_t total = 0;

	memset(popped, 0, sizeof(popped));
	map_make(&map, name, type, 0, sizeof(out), 50);
	run_workers(&map, queue_main, workers);
	for (; map.ops->pop(&map, out) == 0; left++)
		take_popped(&workers[0], out);
	for (uint32_t i = 0; i < THREADS; i++)
		for (uint32_t n = 0; n < PUSHES; n++)
			total += popped[i][n];
	CHECK(total == (uint64_t)THREADS * PUSHES && left <= 50 && workers[0].errors == 0,
	      "%llu of %u", (unsigned long long)total, THREADS * PUSHES);
	printf("%s: %llu values through it, %u left\n", name, (unsigned long long)total, left);
	xdpvm_map_fini(&map);
}

/* ---- Ring ----------------------------------------------------------------------------------- */

#define RECORDS 200000

struct record {
	uint32_t number;
	uint32_t sequence;
	uint8_t rest[56];
};

struct reading {
	uint32_t next[THREADS];
	uint64_t n;
	uint64_t errors;
};

static void *
ring_main(void *arg)
{
	struct worker *worker = arg;
	uint32_t sequence = 0;

	while (sequence < RECORDS) {
		uint32_t size = 8 + draw(worker, 57);
		struct record *record = xdpvm_ring_reserve(worker->map->private, size);

		if (record == NULL) {
			sched_yield();
			continue;
		}
		record->number = worker->number;
		record->sequence = sequence;
		memset(record->rest, sequence, size - 8);
		/* Void ones carry a number that never arrives. */
		if (draw(worker, 8) == 0) {
			record->sequence = UINT32_MAX;
			xdpvm_ring_commit(record, true);
			continue;
		}
		xdpvm_ring_commit(record, false);
		sequence++;
	}
	return NULL;
}

static int
take_record(void *arg, const void *data, uint32_t size)
{
	const struct record *record = data;
	struct reading *reading = arg;

	reading->n++;
	if (size < 8 || size > sizeof(*record) || record->number >= THREADS ||
	    record->sequence != reading->next[record->number]++) {
		reading->errors++;
		return 0;
	}
	for (uint32_t i = 0; i < size - 8; i++)
		reading->errors += record->rest[i] != (uint8_t)record->sequence;
	return 0;
}

/* The last one to be started is the reader; it ends when it has all. */
static void *
ring_read_main(void *arg)
{
	static struct reading reading;
	struct worker *worker = arg;

	while (reading.n < (uint64_t)(THREADS - 1) * RECORDS && reading.errors == 0) {
		if (xdpvm_ringbuf_read(worker->map, take_record, &reading, 1000) == 0)
			sched_yield();
	}
	EXPECT(worker, reading.errors == 0);
	worker->found = reading.n;
	return NULL;
}

static void *
ring_or_read_main(void *arg)
{
	struct worker *worker = arg;

	pthread_barrier_wait(&together);
	return worker->number == THREADS - 1 ? ring_read_main(arg) : ring_main(arg);
}

static void
test_ring(void)
{
	static struct worker workers[THREADS];
	struct xdpvm_map map = { 0 };

	map_make(&map, "ringbuf", BPF_MAP_TYPE_RINGBUF, 0, 0, 4096);
	run_workers(&map, ring_or_read_main, workers);
	CHECK(workers[THREADS - 1].found == (THREADS - 1) * (uint64_t)RECORDS);
	printf("ringbuf: %llu records in order\n", (unsigned long long)workers[THREADS - 1].found);
	xdpvm_map_fini(&map);
}

/* ---- Redirect targets ----------------------------------------------------------------------- */

#define TARGETS 8

static void *
redirect_main(void *arg)
{
	struct worker *worker = arg;
	struct xdpvm_map *map = worker->map;

	worker_begin(worker);
	for (uint32_t n = 0; n < OPERATIONS; n++) {
		uint32_t key = draw(worker, TARGETS), value[2] = { 1, 0 };
		long action;

		if (map->type == BPF_MAP_TYPE_CPUMAP)
			value[0] = 64 + key;
		else if (map->type == BPF_MAP_TYPE_XSKMAP)
			value[0] = 100 + key;
		switch (draw(worker, 4)) {
		case 0:
			EXPECT(worker, map->ops->copy_in(map, &key, value, BPF_ANY) == 0);
			break;
		case 1:
			map->ops->remove(map, &key);
			break;
		default:
			action = map->ops->redirect(map, key, XDP_PASS, &worker->buff);
			EXPECT(worker, action == XDP_PASS || action == XDP_REDIRECT);
			if (action != XDP_REDIRECT)
				break;
			worker->found++;
			EXPECT(worker, worker->buff.redirect.key == key);
			EXPECT(worker, worker->buff.redirect.target ==
				       (map->type == BPF_MAP_TYPE_CPUMAP ? key : value[0]));
		}
		xdpvm_thread_quiescent();
	}
	xdpvm_thread_unregister();
	return NULL;
}

static void
test_redirect(enum bpf_map_type type, const char *name, uint32_t value_size)
{
	static struct worker workers[THREADS];
	struct xdpvm_map map = { 0 };

	map_make(&map, name, type, 4, value_size, TARGETS);
	run_workers(&map, redirect_main, workers);
	CHECK(workers[0].found > OPERATIONS / 20, "%llu", (unsigned long long)workers[0].found);
	printf("%s: %llu redirected by one thread\n", name, (unsigned long long)workers[0].found);
	xdpvm_map_fini(&map);
}

/* ---- Maps of maps --------------------------------------------------------------------------- */

static struct xdpvm_map inner[TARGETS];

static void *
outer_main(void *arg)
{
	struct worker *worker = arg;
	struct xdpvm_map *map = worker->map;

	worker_begin(worker);
	for (uint32_t n = 0; n < OPERATIONS; n++) {
		uint32_t key = draw(worker, TARGETS);
		struct xdpvm_map *found;

		switch (draw(worker, 4)) {
		case 0:
			/* Odd keys have odd maps. */
			EXPECT(worker, map->ops->put_map(map, &key,
				&inner[(draw(worker, TARGETS / 2) * 2 + key % 2)], BPF_ANY) == 0);
			break;
		case 1:
			map->ops->remove(map, &key);
			break;
		default:
			found = map->ops->lookup(map, &key, &worker->buff);
			if (found == NULL)
				break;
			worker->found++;
			EXPECT(worker, found >= inner && found < inner + TARGETS);
			EXPECT(worker, map->type == BPF_MAP_TYPE_HASH_OF_MAPS ||
				       (found - inner) % 2 == key % 2);
		}
		xdpvm_thread_quiescent();
	}
	xdpvm_thread_unregister();
	return NULL;
}

static void
test_outer(enum bpf_map_type type, const char *name)
{
	static struct worker workers[THREADS];
	struct xdpvm_map map = { .inner_template = &inner[0] };

	for (uint32_t i = 0; i < TARGETS; i++) {
		inner[i] = (struct xdpvm_map){ 0 };
		map_make(&inner[i], "inner", BPF_MAP_TYPE_ARRAY, 4, 8, 1);
	}
	map_make(&map, name, type, 4, 4, TARGETS);
	run_workers(&map, outer_main, workers);
	CHECK(workers[0].found > OPERATIONS / 20);
	printf("%s: %llu inner maps found by one thread\n", name,
	       (unsigned long long)workers[0].found);
	xdpvm_map_fini(&map);
	for (uint32_t i = 0; i < TARGETS; i++)
		xdpvm_map_fini(&inner[i]);
}

/* ---- What LRU keeps ------------------------------------------------------------------------- */

/* Keys that are looked up all the time outlive a stream of keys that are seen once. */
static void
test_lru_keeps(enum bpf_map_type type, const char *name)
{
	const uint32_t capacity = 1000, hot = 100;
	struct xdpvm_map map = { 0 };
	struct xdpvm_buff buff;
	uint64_t value = 0;
	uint32_t lost = 0;

	map_make(&map, name, type, 4, sizeof(value), capacity);
	CHECK(xdpvm_thread_register(0) == 0);
	xdpvm_buff_init(&buff, 1, 0);
	xdpvm_buff_bind(&buff);
	for (uint32_t key = 0; key < hot; key++)
		CHECK(map.ops->update(&map, &key, &value, BPF_ANY, &buff) == 0);
	for (uint32_t cold = hot; cold < 20 * capacity; cold++) {
		uint32_t key = cold % hot;

		lost += map.ops->lookup(&map, &key, &buff) == NULL;
		CHECK(map.ops->update(&map, &cold, &value, BPF_ANY, &buff) == 0);
	}
	CHECK(lost == 0, "%u of %u lookups of keys in use missed", lost, 20 * capacity - hot);
	CHECK(count_keys(&map) == capacity);
	printf("%s: %u keys in use survived %u others\n", name, hot, 20 * capacity - hot);
	xdpvm_thread_unregister();
	xdpvm_map_fini(&map);
}

int
main(void)
{
	pthread_barrier_init(&together, NULL, THREADS);
	for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++)
		test_keyed(&subjects[i]);
	test_counters(BPF_MAP_TYPE_HASH, "hash counters");
	test_counters(BPF_MAP_TYPE_PERCPU_HASH, "percpu_hash counters");
	test_counters(BPF_MAP_TYPE_ARRAY, "array counters");
	test_counters(BPF_MAP_TYPE_PERCPU_ARRAY, "percpu_array counters");
	test_queue(BPF_MAP_TYPE_QUEUE, "queue");
	test_queue(BPF_MAP_TYPE_STACK, "stack");
	test_ring();
	test_redirect(BPF_MAP_TYPE_DEVMAP, "devmap", 4);
	test_redirect(BPF_MAP_TYPE_DEVMAP_HASH, "devmap_hash", 8);
	test_redirect(BPF_MAP_TYPE_CPUMAP, "cpumap", 4);
	test_redirect(BPF_MAP_TYPE_XSKMAP, "xskmap", 4);
	test_outer(BPF_MAP_TYPE_ARRAY_OF_MAPS, "array_of_maps");
	test_outer(BPF_MAP_TYPE_HASH_OF_MAPS, "hash_of_maps");
	test_lru_keeps(BPF_MAP_TYPE_LRU_HASH, "lru_hash");
	test_lru_keeps(BPF_MAP_TYPE_LRU_PERCPU_HASH, "lru_percpu_hash");
	return check_status();
}
