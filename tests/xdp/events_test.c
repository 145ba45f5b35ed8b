/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ring buffers, perf buffers and callbacks: the same packets through the kernel, native code and
 * the interpreter; packets (the programs leave their helpers' results in them) and the records that
 * a reader gets must be equal.
 *
 * usage: events_test OBJECT
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "check.h"
#include "frame.h"
#include "xdpvm_events.h"

#define PACKET 100	/* bytes */
#define MAX_RECORDS 4096
#define ENGINES 2	/* own ones */

struct parameters {	/* progs/events.bpf.c */
	uint32_t flags;
	uint32_t number;
	int64_t results[4];
};

struct records {
	uint32_t n;
	uint32_t sizes[MAX_RECORDS];
	uint8_t bytes[MAX_RECORDS][64];
};

struct engines {
	struct xdpvm_object *objects[ENGINES];
	struct xdpvm_buff buff;
	struct ring_buffer *ring;	/* libbpf's readers of the kernel's maps */
	struct perf_buffer *perf;
	struct records kernel;
	struct records own[ENGINES];
};

static const char *const names[ENGINES] = { "native code", "the interpreter" };

static int
take_record(void *arg, const void *record, uint32_t size)
{
	struct records *records = arg;

	if (records->n < MAX_RECORDS) {
		records->sizes[records->n] = size;
		memcpy(records->bytes[records->n], record, size < 64 ? size : 64);
	}
	records->n++;
	return 0;
}

static int
take_ring(void *arg, void *record, size_t size)
{
	return take_record(arg, record, size);
}

static void
take_sample(void *arg, int cpu, void *record, uint32_t size)
{
	take_record(arg, record, size);
}

static void
say(void *arg, enum xdpvm_log_level level, const char *message)
{
	if (level <= XDPVM_LOG_WARNING)
		fprintf(stderr, "%s\n", message);
}

static bool
open_engines(struct engines *engines, const char *path)
{
	static const enum xdpvm_engine kinds[] = { XDPVM_ENGINE_JIT, XDPVM_ENGINE_INTERP };
	struct xdpvm_map_info ring, perf;

	for (unsigned int i = 0; i < ENGINES; i++) {
		struct xdpvm_options options = { .verify = XDPVM_VERIFY_KERNEL,
						 .engine = kinds[i], .log = say };

		if (xdpvm_object_open(path, &options, &engines->objects[i]) != 0 ||
		    xdpvm_object_load(engines->objects[i]) != 0)
			return false;
	}
	xdpvm_map_info(xdpvm_map_find(engines->objects[0], "ring"), &ring);
	xdpvm_map_info(xdpvm_map_find(engines->objects[0], "events"), &perf);
	engines->ring = ring_buffer__new(ring.fd, take_ring, &engines->kernel, NULL);
	engines->perf = perf_buffer__new(perf.fd, 64, take_sample, NULL, &engines->kernel, NULL);
	xdpvm_buff_init(&engines->buff, 1, 0);
	return engines->ring != NULL && engines->perf != NULL &&
	       xdpvm_buff_bind(&engines->buff) == 0;
}

static void
close_engines(struct engines *engines)
{
	ring_buffer__free(engines->ring);
	perf_buffer__free(engines->perf);
	for (unsigned int i = 0; i < ENGINES; i++)
		xdpvm_object_close(engines->objects[i]);
}

static void
frame_make(struct frame *frame, uint32_t flags, uint32_t number)
{
	const struct parameters parameters = { .flags = flags, .number = number };

	frame->meta = 0;
	frame->size = PACKET;
	for (uint32_t i = 0; i < PACKET; i++)
		frame->bytes[i] = i;
	memcpy(frame->bytes, &parameters, sizeof(parameters));
}

static void
run_one(struct engines *engines, const char *name, uint32_t flags, uint32_t number)
{
	struct xdpvm_prog *prog = xdpvm_prog_find(engines->objects[0], name);
	static struct frame kernel, own;
	struct parameters k, o;
	bool ran;

	frame_make(&kernel, flags, number);
	ran = frame_run_kernel(xdpvm_prog_fd(prog), &kernel);
	CHECK(ran, "%s", name);
	memcpy(&k, kernel.bytes, sizeof(k));
	for (unsigned int i = 0; ran && i < ENGINES; i++) {
		frame_make(&own, flags, number);
		frame_to_buff(&own, &engines->buff);
		own.result = xdpvm_run(xdpvm_prog_find(engines->objects[i], name), &engines->buff);
		frame_from_buff(&own, &engines->buff);
		memcpy(&o, own.bytes, sizeof(o));
		CHECK(frame_equal(&kernel, &own), "%s(0x%x, %u): kernel %lld %lld %lld %lld, "
		      "%s %lld %lld %lld %lld", name, flags, number,
		      (long long)k.results[0], (long long)k.results[1], (long long)k.results[2],
		      (long long)k.results[3], names[i],
		      (long long)o.results[0], (long long)o.results[1], (long long)o.results[2],
		      (long long)o.results[3]);
	}
}

/* Linux pads a perf sample so that it and its length's four bytes are a multiple of eight. */
static uint32_t
padded(uint32_t size, bool perf)
{
	return perf ? ((size + 4 + 7) & ~7u) - 4 : size;
}

static void
compare_records(struct engines *engines, bool perf)
{
	const struct records *kernel = &engines->kernel;

	for (unsigned int i = 0; i < ENGINES; i++) {
		struct records *own = &engines->own[i];

		CHECK(own->n == kernel->n, "%s has %u records, the kernel %u", names[i], own->n,
		      kernel->n);
		for (uint32_t r = 0; r < own->n && r < kernel->n; r++)
			CHECK(padded(own->sizes[r], perf) == kernel->sizes[r] &&
			      memcmp(own->bytes[r], kernel->bytes[r],
				     own->sizes[r] < 64 ? own->sizes[r] : 64) == 0,
			      "record %u: %s has %u bytes, the kernel %u", r, names[i],
			      own->sizes[r], kernel->sizes[r]);
		own->n = 0;
	}
	engines->kernel.n = 0;
}

static void
drain_rings(struct engines *engines)
{
	int n = ring_buffer__consume(engines->ring);

	CHECK(n >= 0);
	for (unsigned int i = 0; i < ENGINES; i++)
		CHECK(xdpvm_ringbuf_read(xdpvm_map_find(engines->objects[i], "ring"), take_record,
					 &engines->own[i], MAX_RECORDS) ==
		      (int)engines->kernel.n);
	compare_records(engines, false);
}

/* Past the end of the ring many times, and until nothing fits any more. */
static void
test_ring(struct engines *engines)
{
	static const uint32_t flags[] = { 0, BPF_RB_NO_WAKEUP, BPF_RB_FORCE_WAKEUP, 4, 1u << 31 };
	static const unsigned int reads[] = { 1, 7, 40, 300 };

	for (unsigned int i = 0; i < 4 * 2400; i++) {
		if (i % 3 == 0)
			run_one(engines, "ring_output", flags[i / 3 % 5], i % 97);
		else
			run_one(engines, "ring_reserve", flags[i % 3], i);
		if (i % reads[i / 2400] == 0)
			drain_rings(engines);
	}
	drain_rings(engines);
}

static void
test_perf(struct engines *engines)
{
	static const uint32_t pieces[] = { 0, 1, 14, 60, PACKET, PACKET + 1, 1u << 19, 1u << 20 };
	static const uint32_t indexes[] = { 0, 1, 2, 1000 };
	uint64_t lost;

	for (unsigned int i = 0; i < 8; i++) {
		run_one(engines, "perf_output", UINT32_MAX, pieces[i]);
		for (unsigned int j = 0; j < 4; j++)
			run_one(engines, "perf_output", indexes[j], pieces[i]);
	}
	CHECK(perf_buffer__consume(engines->perf) == 0);
	CHECK(engines->kernel.n >= 10);
	for (unsigned int i = 0; i < ENGINES; i++) {
		struct xdpvm_map *map = xdpvm_map_find(engines->objects[i], "events");

		CHECK(xdpvm_perf_read(map, 0, take_record, &engines->own[i], MAX_RECORDS, &lost) > 0);
		CHECK(lost == 0);
	}
	compare_records(engines, true);
}

/* Nobody reads: records are lost and counted, those that went in are whole. */
static void
test_perf_overflow(struct engines *engines)
{
	struct xdpvm_prog *prog = xdpvm_prog_find(engines->objects[0], "perf_output");
	struct xdpvm_map *map = xdpvm_map_find(engines->objects[0], "events");
	static struct frame frame;
	struct parameters after;
	uint64_t lost, refused = 0;
	int n;

	for (unsigned int i = 0; i < 10000; i++) {
		frame_make(&frame, UINT32_MAX, 60);
		frame_to_buff(&frame, &engines->buff);
		xdpvm_run(prog, &engines->buff);
		frame_from_buff(&frame, &engines->buff);
		memcpy(&after, frame.bytes, sizeof(after));
		CHECK(after.results[0] == 0 || after.results[0] == -ENOSPC);
		refused += after.results[0] != 0;
	}
	n = xdpvm_perf_read(map, 0, take_record, &engines->own[0], UINT32_MAX, &lost);
	CHECK(refused > 0 && lost == refused && n + lost == 10000, "%d read, %llu lost", n,
	      (unsigned long long)lost);
	for (unsigned int i = 0; i < 100; i++)
		CHECK(engines->own[0].sizes[i] == 24 + 60);
	CHECK(xdpvm_perf_read(map, 0, take_record, &engines->own[0], 1, &lost) == 0 && lost == 0);
}

static void
test_callbacks(struct engines *engines)
{
	static const uint32_t counts[] = { 0, 1, 2, 3, 1000, (8u << 20) + 1, UINT32_MAX };

	for (unsigned int i = 0; i < 7; i++)
		run_one(engines, "loops", i % 5 == 4, counts[i]);
	run_one(engines, "loops", 0, 100000);
	run_one(engines, "loops", 0, 8u << 20);
	for (uint32_t number = 0; number < 130; number++)
		run_one(engines, "walks", number % 50 == 49, number);
}

static int
stop_reading(void *arg, const void *record, uint32_t size)
{
	return -ECANCELED;
}

static void
test_readers(struct engines *engines)
{
	struct xdpvm_map *ring = xdpvm_map_find(engines->objects[0], "ring");
	struct xdpvm_map *perf = xdpvm_map_find(engines->objects[0], "events");
	static struct records none;

	CHECK(xdpvm_ringbuf_read(perf, take_record, &none, 1) == -EINVAL);
	CHECK(xdpvm_perf_read(ring, 0, take_record, &none, 1, NULL) == -EINVAL);
	CHECK(xdpvm_perf_read(perf, XDPVM_MAX_THREADS, take_record, &none, 1, NULL) == -EINVAL);
	CHECK(xdpvm_ringbuf_read(ring, take_record, &none, 1) == 0);
	for (unsigned int i = 0; i < 3; i++)
		run_one(engines, "ring_output", 0, 20);
	CHECK(xdpvm_ringbuf_read(ring, stop_reading, NULL, 10) == -ECANCELED);
	CHECK(xdpvm_ringbuf_read(ring, take_record, &none, 1) == 1);
	CHECK(xdpvm_ringbuf_read(ring, take_record, &none, 10) == 1);
}

/* ---- Values with a lock --------------------------------------------------------------------- */

struct guarded {	/* progs/events.bpf.c */
	uint32_t lock;
	uint32_t pad;
	uint64_t sum;
};

/* Updates by the control side: results and values are the kernel's; the lock never shows. */
static void
compare_guarded(struct xdpvm_map *map)
{
	static const uint64_t flags[] = { BPF_ANY, BPF_F_LOCK, BPF_NOEXIST, BPF_EXIST,
		BPF_F_LOCK | BPF_NOEXIST, BPF_F_LOCK | BPF_EXIST, 3, BPF_F_LOCK | 3, 8 };
	struct guarded value, kernel, own;
	struct xdpvm_map_info info;
	int ret;

	xdpvm_map_info(map, &info);
	for (uint32_t i = 0; i < 200; i++) {
		uint32_t key = i * 7 % 9;

		value = (struct guarded){ UINT32_MAX, i, i * 3 };
		ret = bpf_map_update_elem(info.fd, &key, &value, flags[i % 9]);
		CHECK(ret == xdpvm_map_update(map, &key, &value, flags[i % 9]),
		      "%s, key %u, flags 0x%llx: kernel %d", info.name, key,
		      (unsigned long long)flags[i % 9], ret);
		ret = bpf_map_lookup_elem(info.fd, &key, &kernel);
		CHECK(ret == xdpvm_map_lookup(map, &key, &own));
		CHECK(ret != 0 || (memcmp(&kernel, &own, sizeof(own)) == 0 && own.lock == 0));
	}
}

#define PAIR_RUNS 500000

struct pair_runner {
	struct xdpvm_prog *prog;
	uint32_t differences;
	uint32_t runs;
	bool stop;
};

static void *
run_pairs(void *arg)
{
	static __thread uint8_t frame[4096] __attribute__((aligned(64)));
	struct pair_runner *runner = arg;
	struct xdpvm_buff buff;

	xdpvm_thread_register(XDPVM_THREAD_ANY);
	xdpvm_buff_init(&buff, 1, 0);
	xdpvm_buff_bind(&buff);
	buff.hard_start = frame;
	buff.frame_end = frame + sizeof(frame);
	while (!__atomic_load_n(&runner->stop, __ATOMIC_RELAXED)) {
		buff.data = buff.data_meta = frame + XDP_PACKET_HEADROOM;
		buff.data_end = buff.data + PACKET;
		runner->differences += xdpvm_run(runner->prog, &buff) != XDP_PASS;
		__atomic_store_n(&runner->runs, runner->runs + 1, __ATOMIC_RELAXED);
		xdpvm_thread_quiescent();
	}
	xdpvm_thread_unregister();
	return NULL;
}

/* Programs on two threads and the control side hold the lock in turn. */
static void
test_locks(struct engines *engines)
{
	struct xdpvm_map *array = xdpvm_map_find(engines->objects[0], "guarded");
	struct xdpvm_map *hash = xdpvm_map_find(engines->objects[0], "guarded_hash");
	struct pair_runner runners[2];
	pthread_t threads[2];
	struct guarded value = { 0 };
	uint32_t key = 0;

	compare_guarded(array);
	compare_guarded(hash);
	CHECK(xdpvm_map_update(array, &key, &value, BPF_ANY) == 0);
	CHECK(xdpvm_map_update(hash, &key, &value, BPF_ANY) == 0);
	for (unsigned int i = 0; i < 2; i++) {
		runners[i] = (struct pair_runner){
			.prog = xdpvm_prog_find(engines->objects[0], "pairs") };
		CHECK(pthread_create(&threads[i], NULL, run_pairs, &runners[i]) == 0);
	}
	/* Until both have run beside this loop for a while. */
	for (uint32_t i = 0; i < 100000 ||
	     __atomic_load_n(&runners[0].runs, __ATOMIC_RELAXED) < PAIR_RUNS ||
	     __atomic_load_n(&runners[1].runs, __ATOMIC_RELAXED) < PAIR_RUNS; i++) {
		value.pad = value.sum = i;
		CHECK(xdpvm_map_update(i % 2 ? array : hash, &key, &value, BPF_F_LOCK) == 0);
	}
	for (unsigned int i = 0; i < 2; i++) {
		__atomic_store_n(&runners[i].stop, true, __ATOMIC_RELAXED);
		pthread_join(threads[i], NULL);
		CHECK(runners[i].differences == 0, "%u", runners[i].differences);
	}
	CHECK(xdpvm_map_lookup(hash, &key, &value) == 0 && value.sum > 0);
}

/* Without the kernel's verifier a program may leave anything in a lock: it is none. */
static void
test_no_lock(const char *path)
{
	struct xdpvm_options options = { .verify = XDPVM_VERIFY_INTERNAL,
					 .program = "ring_output", .log = say };
	struct guarded value = { 1, 2, 3 };
	struct xdpvm_object *object;
	struct xdpvm_map *map;
	uint32_t key = 0;

	CHECK(xdpvm_object_open(path, &options, &object) == 0);
	CHECK(xdpvm_object_load(object) == 0);
	map = xdpvm_map_find(object, "guarded");
	CHECK(xdpvm_map_update(map, &key, &value, BPF_F_LOCK) == -EINVAL);
	CHECK(xdpvm_map_update(map, &key, &value, BPF_ANY) == 0);
	CHECK(xdpvm_map_lookup(map, &key, &value) == 0 && value.lock == 1);
	xdpvm_object_close(object);
}

int
main(int argc, char **argv)
{
	static struct engines engines;
	cpu_set_t first, all;

	if (libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_XDP, NULL) <= 0)
		SKIP("this process may not load XDP programs into the kernel");
	/* Per-CPU maps and perf events: the kernel's CPU and our thread are both number 0. */
	sched_getaffinity(0, sizeof(all), &all);
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	CHECK(sched_setaffinity(0, sizeof(first), &first) == 0);
	CHECK(xdpvm_thread_register(0) == 0);
	CHECK(argc == 2 && open_engines(&engines, argv[1]));
	if (check_failures == 0) {
		test_ring(&engines);
		test_perf(&engines);
		test_perf_overflow(&engines);
		test_callbacks(&engines);
		test_readers(&engines);
		sched_setaffinity(0, sizeof(all), &all);
		test_locks(&engines);
		test_no_lock(argv[1]);
	}
	close_engines(&engines);
	return check_status();
}
