/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a packet costs: native code, verified by the kernel and by the prover, beside the kernel's
 * own by BPF_PROG_TEST_RUN. All in one process and in turns, medians of the rounds, in CPU time;
 * beside it what the kernel itself reports, in whole nanoseconds. Then what a load costs beyond
 * libbpf's.
 *
 * usage: xdpvm_bench BENCH-OBJECT XDPFILT-OBJECT [ROUNDS]
 *        xdpvm_bench --count WORKLOAD BENCH-OBJECT XDPFILT-OBJECT
 * The second form runs COUNT_RUNS packets in count_runs() and nothing else, for callgrind.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <arpa/inet.h>
#include <bpf/libbpf.h>

#include "engine.h"

#define ROUNDS 21
#define COUNT_RUNS 2000
#define ENTRIES 2048
#define LOADS 15
#define KERNEL_RUNS 1000000

#define BLOCK_SOURCE 1	/* flags of xdp-filter's maps: addresses and ports as source */

enum column {
	COLUMN_KERNEL,
	COLUMN_NATIVE,		/* verify=kernel */
	COLUMN_PROVED,		/* verify=internal */
	COLUMNS,
};

struct workload {
	const char *name;
	const char *program;	/* NULL: the only one of xdp-filter's object */
	void (*fill)(struct engine *engine);
};

/* UDP from 10.0.0.1:1000 to 10.0.0.2:2000. */
static const uint8_t packet[64] = {
	2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0,
	0x45, 0, 0, 50, 0, 0, 0, 0, 64, 17, 0x66, 0xb9, 10, 0, 0, 1, 10, 0, 0, 2,
	0x03, 0xe8, 0x07, 0xd0, 0, 30, 0, 0,
};

struct tuple {
	uint32_t saddr;
	uint32_t daddr;
	uint16_t sport;
	uint16_t dport;
	uint32_t protocol;
};

/*
 * Most entries in a map. One when instructions are counted: how many share a bucket differs with
 * the map's random secret.
 */
static unsigned int entries_max = ENTRIES;

static void __attribute__((noreturn))
die(const char *what)
{
	fprintf(stderr, "xdpvm_bench: %s\n", what);
	exit(1);
}

/* Sets n entries whose keys key() makes; the value is the same number on every CPU. */
static void
fill(struct engine *engine, const char *name, unsigned int n, uint64_t number,
     void (*make_key)(void *key, unsigned int i))
{
	struct xdpvm_map *map = xdpvm_map_find(engine->object, name);
	uint64_t *value;
	uint8_t key[64];

	if (map == NULL)
		die("a map is missing");
	value = calloc(engine_copies(map), engine_stride(map));
	for (uint32_t i = 0; value != NULL && i < engine_copies(map); i++)
		value[i] = number;
	for (unsigned int i = 0; i < n && i < entries_max; i++) {
		make_key(key, i);
		if (value == NULL || engine_map_update(engine, map, key, value) != 0)
			die("a map cannot be filled");
	}
	free(value);
}

/* Number 0 is what the packet has. */
static void
address_key(void *key, unsigned int i)
{
	uint32_t address = htonl(0x0a000001 + i);

	memcpy(key, &address, sizeof(address));
}

static void
tuple_key(void *key, unsigned int i)
{
	struct tuple tuple = {
		.saddr = htonl(0x0a000001), .daddr = htonl(0x0a000002),
		.sport = htons(1000 + i), .dport = htons(2000), .protocol = 17,
	};

	memcpy(key, &tuple, sizeof(tuple));
}

/* Addresses and ports that the packet does not have: every filter is asked and none matches. */
static void
other_address_key(void *key, unsigned int i)
{
	address_key(key, 0x10000 + i);
}

static void
mac_key(void *key, unsigned int i)
{
	memcpy(key, "\x02\x00\x00\x00\x01", 5);
	((uint8_t *)key)[5] = i;
}

static void
port_key(void *key, unsigned int i)
{
	uint32_t port = htons(5000 + i);

	memcpy(key, &port, sizeof(port));
}

static void
fill_addresses(struct engine *engine)
{
	fill(engine, "addresses", ENTRIES, 0, address_key);
}

static void
fill_tuples(struct engine *engine)
{
	fill(engine, "tuples", ENTRIES, 0, tuple_key);
}

static void
fill_filter(struct engine *engine)
{
	fill(engine, "filter_ipv4", 1000, BLOCK_SOURCE, other_address_key);
	fill(engine, "filter_ethernet", 100, BLOCK_SOURCE, mac_key);
	fill(engine, "filter_ports", 100, BLOCK_SOURCE, port_key);
}

static void
fill_nothing(struct engine *engine)
{
}

static const struct workload workloads[] = {
	{ "drop", "bench_drop", fill_nothing },
	{ "parse+array", "bench_array", fill_nothing },
	{ "parse+percpu-array", "bench_percpu", fill_nothing },
	{ "ip-hash", "bench_address", fill_addresses },
	{ "5-tuple-hash", "bench_tuple", fill_tuples },
	{ "xdpfilt_dny_all", NULL, fill_filter },
};
#define N_WORKLOADS (sizeof(workloads) / sizeof(workloads[0]))

static void
say(void *arg, enum xdpvm_log_level level, const char *message)
{
	if (level == XDPVM_LOG_ERROR)
		fprintf(stderr, "%s\n", message);
}

static bool
open_filled(struct engine *engine, const struct workload *workload, char **objects,
	    enum engine_kind kind, enum xdpvm_verify verify)
{
	struct xdpvm_options options = {
		.verify = verify, .program = workload->program, .log = say,
	};

	if (engine_open(engine, kind, objects[workload->program == NULL], &options) != 0 ||
	    engine_load(engine) != 0) {
		engine_close(engine);
		return false;
	}
	workload->fill(engine);
	return true;
}

/* ---- Time ----------------------------------------------------------------------------------- */

static int
by_value(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return left < right ? -1 : left > right;
}

static double
median(double *values, unsigned int n)
{
	qsort(values, n, sizeof(*values), by_value);
	return values[n / 2];
}

static void
print_row(const char *name, int whole_ns, double times[COLUMNS][ROUNDS], unsigned int rounds,
	  bool proved)
{
	double kernel = median(times[COLUMN_KERNEL], rounds);
	double native = median(times[COLUMN_NATIVE], rounds);
	double internal = median(times[COLUMN_PROVED], rounds);

	printf("%-20s %8d %8.2f %8.2f %8.2f", name, whole_ns, kernel, native, kernel / native);
	if (proved)
		printf(" %8.2f %+7.0f %%", internal, 100 * (internal / native - 1));
	printf("\n");
}

/* Opens the engines; returns how many: without the last where it cannot load. */
static unsigned int
open_columns(struct engine *engines, const struct workload *workload, char **objects)
{
	if (!open_filled(&engines[COLUMN_KERNEL], workload, objects, ENGINE_KERNEL,
			 XDPVM_VERIFY_KERNEL) ||
	    !open_filled(&engines[COLUMN_NATIVE], workload, objects, ENGINE_JIT,
			 XDPVM_VERIFY_KERNEL))
		die("cannot load");
	return open_filled(&engines[COLUMN_PROVED], workload, objects, ENGINE_JIT,
			   XDPVM_VERIFY_INTERNAL) ? COLUMNS : COLUMN_PROVED;
}

static void
time_workload(const struct workload *workload, char **objects, unsigned int rounds)
{
	struct frame frame = { .size = sizeof(packet) };
	double times[COLUMNS][ROUNDS] = { { 0 } };
	struct engine engines[COLUMNS];
	unsigned int n = COLUMN_PROVED;
	int whole_ns = 0;
	double precise;

	memcpy(frame.bytes, packet, sizeof(packet));
	/* Opened anew each time: how a hash's entries share buckets is chance. */
	for (unsigned int round = 0; round < rounds; round++) {
		n = open_columns(engines, workload, objects);
		for (unsigned int c = 0; c < n; c++)
			if (engine_time(&engines[c], 1, &frame, 1, 1, &times[c][round]) != 0)
				die("cannot run");
		if (round == 0)
			whole_ns = frame_time_kernel(xdpvm_prog_fd(engines[COLUMN_KERNEL].prog),
						     &frame, KERNEL_RUNS, &precise);
		for (unsigned int c = 0; c < n; c++)
			engine_close(&engines[c]);
	}
	print_row(workload->name, whole_ns, times, rounds, n == COLUMNS);
}

/* ---- Load ----------------------------------------------------------------------------------- */

static double
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e3 + ts.tv_nsec / 1e6;
}

/* libbpf alone, of the same single program: open, verification and the kernel's own compiler. */
static double
load_by_libbpf(const char *path)
{
	double start = now_ms();
	struct bpf_object *object = bpf_object__open_file(path, NULL);
	struct bpf_program *prog;

	if (object == NULL)
		die("libbpf cannot open the object");
	bpf_object__for_each_program(prog, object)
		bpf_program__set_autoload(prog, strcmp(bpf_program__name(prog), "bench_long") == 0);
	if (bpf_object__load(object) != 0)
		die("libbpf cannot load the object");
	start = now_ms() - start;
	bpf_object__close(object);
	return start;
}

static double
load_by_xdpvm(const char *path, uint32_t *n_insns)
{
	struct xdpvm_options options = {
		.verify = XDPVM_VERIFY_KERNEL, .program = "bench_long", .log = say,
	};
	struct xdpvm_object *object;
	double start = now_ms();

	if (xdpvm_object_open(path, &options, &object) != 0 || xdpvm_object_load(object) != 0)
		die("cannot load the long program");
	start = now_ms() - start;
	xdpvm_prog_insns(xdpvm_prog_find(object, NULL), XDPVM_FORM_LINKED, n_insns);
	xdpvm_object_close(object);
	return start;
}

static void
time_load(const char *path)
{
	double by_libbpf[LOADS], by_xdpvm[LOADS];
	double kernel, own;
	uint32_t n = 0;

	for (unsigned int i = 0; i < LOADS; i++) {
		by_libbpf[i] = load_by_libbpf(path);
		by_xdpvm[i] = load_by_xdpvm(path, &n);
	}
	kernel = median(by_libbpf, LOADS);
	own = median(by_xdpvm, LOADS);
	printf("load of %u instructions: libbpf and kernel %.2f ms, ours with them %.2f ms, "
	       "beyond %.2f ms\n", n, kernel, own, own - kernel);
}

/* ---- Instructions --------------------------------------------------------------------------- */

/* callgrind collects in here (--toggle-collect). */
static void __attribute__((noinline))
count_runs(xdpvm_entry_fn entry, struct xdpvm_buff *buff, const struct xdpvm_packet *at)
{
	for (unsigned int i = 0; i < COUNT_RUNS; i++) {
		buff->data = at->data;
		buff->data_end = at->data_end;
		buff->data_meta = at->data_meta;
		entry(buff);
	}
}

static int
count(const char *name, char **objects)
{
	struct frame frame = { .size = sizeof(packet) };
	static uint8_t memory[FRAME_SIZE];
	const struct workload *workload = workloads;
	struct xdpvm_packet at;
	struct engine engine;

	entries_max = 1;
	while (workload < workloads + N_WORKLOADS && strcmp(workload->name, name) != 0)
		workload++;
	if (workload == workloads + N_WORKLOADS ||
	    !open_filled(&engine, workload, objects, ENGINE_JIT, XDPVM_VERIFY_NONE))
		die("no such workload, or it cannot be loaded");
	memcpy(frame.bytes, packet, sizeof(packet));
	frame_place(&frame, memory, &at);
	engine.buff.hard_start = at.hard_start;
	engine.buff.frame_end = at.frame_end;
	count_runs(xdpvm_prog_entry(engine.prog), &engine.buff, &at);
	engine_close(&engine);
	return 0;
}

int
main(int argc, char **argv)
{
	unsigned int rounds = argc > 3 ? strtoul(argv[3], NULL, 10) : ROUNDS;

	if (engine_thread() != 0)
		die("cannot bind to a CPU");
	if (argc == 5 && strcmp(argv[1], "--count") == 0)
		return count(argv[2], &argv[3]);
	if (argc < 3 || rounds < 1 || rounds > ROUNDS)
		die("usage: xdpvm_bench BENCH-OBJECT XDPFILT-OBJECT [ROUNDS, at most 21]");
	printf("%-20s %8s %8s %8s %8s %8s %9s\n", "ns/packet", "test_run", "kernel", "jit",
	       "faster", "internal", "more");
	for (size_t i = 0; i < N_WORKLOADS; i++)
		time_workload(&workloads[i], &argv[1], rounds);
	time_load(argv[1]);
	return 0;
}
