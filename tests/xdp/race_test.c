/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs on four threads, in native code (which looks maps up without a call) and in the
 * interpreter, on the same maps. Each thread has keys of its own and a model of them, which says
 * what every update, deletion and lookup must give whatever the others do in the same buckets;
 * a fifth thread walks over the map and copies values.
 *
 * usage: race_test OBJECT
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "check.h"
#include "xdpvm.h"

#define THREADS 4
#define KEYS 100	/* of one thread; progs/race.bpf.c has room for all */
#define RUNS 200000

enum operation {	/* progs/race.bpf.c, with the next */
	UPDATE,
	DELETE,
	LOOKUP,
	ADD,
};

struct request {
	uint32_t operation;
	uint32_t number;
	uint64_t value;
	int64_t result;
};

/* How a type differs from a hash. */
struct subject {
	const char *name;
	bool fixed;	/* an array: keys are always there */
};

static const struct subject subjects[] = {
	{ "hash", false }, { "hash_long", false }, { "percpu_hash", false },
	{ "lru_hash", false }, { "array", true }, { "percpu_array", true }, { "lpm", false },
};

struct worker {
	const struct subject *subject;
	struct xdpvm_prog *prog;
	uint32_t number;
	uint64_t random;
	bool present[KEYS];
	uint64_t values[KEYS];
	uint64_t errors;
	uint64_t hits;
};

struct walker {
	struct xdpvm_map *map;
	uint64_t keys;
	bool stop;
};

static pthread_barrier_t together;	/* threads start at once, or the first would be done alone */

#define EXPECT(worker, condition) do { \
	if (!(condition) && (worker)->errors++ < 5) \
		fprintf(stderr, "%s, thread %u: line %d: %s\n", (worker)->subject->name, \
			(worker)->number, __LINE__, #condition); \
} while (0)

static uint32_t
draw(struct worker *worker, uint32_t below)
{
	worker->random = worker->random * 6364136223846793005ull + 1442695040888963407ull;
	return (worker->random >> 33) % below;
}

static void
check_outcome(struct worker *worker, uint32_t i, uint64_t given, const struct request *after)
{
	switch (after->operation) {
	case UPDATE:
		EXPECT(worker, after->result == 0);
		worker->present[i] = true;
		worker->values[i] = given;
		break;
	case DELETE:
		EXPECT(worker, after->result == (worker->subject->fixed ? -EINVAL :
						 worker->present[i] ? 0 : -ENOENT));
		worker->present[i] = worker->subject->fixed;
		break;
	default:
		EXPECT(worker, after->result == worker->present[i]);
		if (after->result == 0)
			break;
		worker->hits++;
		worker->values[i] += after->operation == ADD ? given : 0;
		EXPECT(worker, after->value == worker->values[i]);
	}
}

static void
run_one(struct worker *worker, struct xdpvm_buff *buff, uint8_t *frame)
{
	uint32_t i = draw(worker, KEYS);
	struct request request = {
		.operation = draw(worker, 4),
		.number = worker->number * KEYS + i,
		.value = worker->random,
	};
	uint64_t given = request.value;

	buff->hard_start = frame;
	buff->data = buff->data_meta = frame + XDP_PACKET_HEADROOM;
	buff->data_end = buff->data + 64;
	buff->frame_end = frame + 4096;
	memcpy(buff->data, &request, sizeof(request));
	EXPECT(worker, xdpvm_run(worker->prog, buff) == XDP_PASS);
	memcpy(&request, buff->data, sizeof(request));
	check_outcome(worker, i, given, &request);
	xdpvm_thread_quiescent();
}

static void *
worker_main(void *arg)
{
	static __thread uint8_t frame[4096] __attribute__((aligned(64)));
	struct worker *worker = arg;
	struct xdpvm_buff buff;

	pthread_barrier_wait(&together);
	EXPECT(worker, xdpvm_thread_register(worker->number) == (int)worker->number);
	xdpvm_buff_init(&buff, 1, 0);
	EXPECT(worker, xdpvm_buff_bind(&buff) == 0);
	for (unsigned int n = 0; n < RUNS; n++)
		run_one(worker, &buff, frame);
	xdpvm_thread_unregister();
	return NULL;
}

static void *
walker_main(void *arg)
{
	uint64_t value[XDPVM_MAX_THREADS];
	struct walker *walker = arg;
	uint8_t key[16], next[16];
	void *at = NULL;

	pthread_barrier_wait(&together);
	while (!__atomic_load_n(&walker->stop, __ATOMIC_RELAXED)) {
		if (xdpvm_map_next_key(walker->map, at, next) != 0) {
			at = NULL;
			continue;
		}
		walker->keys += xdpvm_map_lookup(walker->map, next, value) == 0;
		memcpy(key, next, sizeof(key));
		at = key;
	}
	return NULL;
}

static void
race(struct xdpvm_object *object, const struct subject *subject, const char *engine)
{
	static struct worker workers[THREADS];
	struct walker walker = { 0 };
	pthread_t threads[THREADS], walking;
	char map[64];
	uint64_t hits = 0;

	snprintf(map, sizeof(map), "%s_map", subject->name);
	walker.map = xdpvm_map_find(object, map);
	CHECK(walker.map != NULL && xdpvm_prog_find(object, subject->name) != NULL);
	CHECK(pthread_create(&walking, NULL, walker_main, &walker) == 0);
	for (uint32_t i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){ .subject = subject, .number = i, .random = i + 1,
			.prog = xdpvm_prog_find(object, subject->name) };
		memset(workers[i].present, subject->fixed, sizeof(workers[i].present));
		CHECK(pthread_create(&threads[i], NULL, worker_main, &workers[i]) == 0);
	}
	for (uint32_t i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		CHECK(workers[i].errors == 0, "%llu", (unsigned long long)workers[i].errors);
		hits += workers[i].hits;
	}
	__atomic_store_n(&walker.stop, true, __ATOMIC_RELAXED);
	pthread_join(walking, NULL);
	CHECK(hits > RUNS / 2);
	printf("%s, %s: %llu lookups hit, %llu keys walked over\n", subject->name, engine,
	       (unsigned long long)hits, (unsigned long long)walker.keys);
}

static void
test_engine(const char *path, enum xdpvm_engine engine, const char *name)
{
	struct xdpvm_options options = { .verify = XDPVM_VERIFY_NONE, .engine = engine };
	struct xdpvm_object *object;

	CHECK(xdpvm_object_open(path, &options, &object) == 0);
	CHECK(xdpvm_object_load(object) == 0);
	for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++)
		race(object, &subjects[i], name);
	xdpvm_object_close(object);
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	pthread_barrier_init(&together, NULL, THREADS + 1);
	test_engine(argv[1], XDPVM_ENGINE_AUTO, "native code where there is one");
	test_engine(argv[1], XDPVM_ENGINE_INTERP, "interpreter");
	return check_status();
}
