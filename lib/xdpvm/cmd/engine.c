/* SPDX-License-Identifier: BSD-3-Clause */
/* See engine.h. */
#include <errno.h>
#include <sched.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "engine.h"
#include "xdpvm_sync.h"

#define RUNS 100000	/* of a packet in a row, when it is timed */
#define KERNEL_RUNS (10 * RUNS)

const char *const engine_names[ENGINES] = { "jit", "interp", "kernel" };
const char *const engine_action_names[XDP_REDIRECT + 1] = {
	"ABORTED", "DROP", "PASS", "TX", "REDIRECT",
};

int
engine_thread(void)
{
	int cpu = sched_getcpu(), ret;
	cpu_set_t set;

	if (cpu < 0)
		return -errno;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		return -errno;
	ret = xdpvm_thread_register(cpu < XDPVM_MAX_THREADS ? cpu : XDPVM_THREAD_ANY);
	return ret < 0 ? ret : 0;
}

int
engine_open(struct engine *engine, enum engine_kind kind, const char *path,
	    const struct xdpvm_options *options)
{
	struct xdpvm_options own = *options;

	memset(engine, 0, sizeof(*engine));
	engine->kind = kind;
	engine->wanted = options->program;
	engine->pinned = options->pin_dir != NULL && kind != ENGINE_KERNEL;
	own.engine = kind == ENGINE_JIT ? XDPVM_ENGINE_JIT : XDPVM_ENGINE_INTERP;
	if (kind == ENGINE_KERNEL)
		own.verify = XDPVM_VERIFY_KERNEL;
	return xdpvm_object_open(path, &own, &engine->object);
}

/* Pinned maps are taken over here, and have what programs left in them when the object closes. */
int
engine_load(struct engine *engine)
{
	int ret = xdpvm_object_load(engine->object);

	if (ret == 0 && engine->pinned)
		ret = xdpvm_sync_start(engine->object, 0);
	if (ret != 0)
		return ret;
	engine->prog = xdpvm_prog_find(engine->object, engine->wanted);
	xdpvm_buff_init(&engine->buff, 1, 0);	/* as BPF_PROG_TEST_RUN: lo, queue 0 */
	return xdpvm_buff_bind(&engine->buff);
}

void
engine_close(struct engine *engine)
{
	xdpvm_object_close(engine->object);
	engine->object = NULL;
}

bool
engine_run(struct engine *engine, struct frame *frame)
{
	static uint8_t memory[FRAME_SIZE] __attribute__((aligned(FRAME_SIZE)));
	struct xdpvm_packet packet;

	if (engine->kind == ENGINE_KERNEL) {
		if (!frame_run_kernel(xdpvm_prog_fd(engine->prog), frame))
			return false;
		if (frame->result > XDP_REDIRECT)
			frame->result = XDP_ABORTED;	/* as a driver takes it, and xdpvm_run() */
		return true;
	}
	frame_place(frame, memory, &packet);
	xdpvm_run_burst(engine->prog, &engine->buff, &packet, 1);
	xdpvm_thread_quiescent();
	frame_take(frame, &packet);
	return true;
}

static double
time_own(struct engine *engine, const struct frame *frame)
{
	static uint8_t memory[FRAME_SIZE] __attribute__((aligned(FRAME_SIZE)));
	xdpvm_entry_fn entry = xdpvm_prog_entry(engine->prog);
	struct xdpvm_buff *buff = &engine->buff;
	struct xdpvm_packet packet;
	uint64_t start;

	frame_place(frame, memory, &packet);
	buff->hard_start = packet.hard_start;
	buff->frame_end = packet.frame_end;
	start = thread_time_ns();
	for (unsigned int i = 0; i < RUNS; i++) {
		buff->data = packet.data;
		buff->data_end = packet.data_end;
		buff->data_meta = packet.data_meta;
		if (entry != NULL)
			entry(buff);
		else
			xdpvm_run(engine->prog, buff);
	}
	start = thread_time_ns() - start;
	xdpvm_thread_quiescent();
	return (double)start / RUNS;
}

int
engine_time(struct engine *engines, unsigned int n_engines, const struct frame *frames, size_t n,
	    uint32_t rounds, double *ns)
{
	memset(ns, 0, n_engines * sizeof(*ns));
	for (uint32_t i = 0; i < rounds * n_engines; i++) {
		struct engine *engine = &engines[i % n_engines];
		const struct frame *frame = &frames[(uint64_t)(i / n_engines) * n / rounds];
		double time;
		int ret = 0;

		if (engine->kind == ENGINE_KERNEL)
			ret = frame_time_kernel(xdpvm_prog_fd(engine->prog), frame,
						KERNEL_RUNS, &time);
		else
			time = time_own(engine, frame);
		if (ret < 0)
			return ret;
		ns[i % n_engines] += time;
	}
	for (unsigned int e = 0; e < n_engines; e++)
		ns[e] /= rounds;
	return 0;
}

/* ---- Maps ----------------------------------------------------------------------------------- */

static bool
is_percpu(enum bpf_map_type type)
{
	return type == BPF_MAP_TYPE_PERCPU_ARRAY || type == BPF_MAP_TYPE_PERCPU_HASH ||
	       type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
}

static struct xdpvm_map_info
info_of(const struct xdpvm_map *map)
{
	struct xdpvm_map_info info;

	xdpvm_map_info(map, &info);
	return info;
}

uint32_t
engine_copies(const struct xdpvm_map *map)
{
	int cpus = libbpf_num_possible_cpus();

	if (!is_percpu(info_of(map).type))
		return 1;
	return cpus > XDPVM_MAX_THREADS ? cpus : XDPVM_MAX_THREADS;
}

uint32_t
engine_stride(const struct xdpvm_map *map)
{
	return (info_of(map).value_size + 7) & ~7u;
}

static int
errno_of(int ret)
{
	return ret < 0 ? -errno : 0;
}

int
engine_map_lookup(const struct engine *engine, struct xdpvm_map *map, const void *key, void *value)
{
	memset(value, 0, (size_t)engine_copies(map) * engine_stride(map));
	if (engine->kind == ENGINE_KERNEL)
		return errno_of(bpf_map_lookup_elem(info_of(map).fd, key, value));
	return xdpvm_map_lookup(map, key, value);
}

int
engine_map_update(const struct engine *engine, struct xdpvm_map *map, const void *key,
		  const void *value)
{
	if (engine->kind == ENGINE_KERNEL)
		return errno_of(bpf_map_update_elem(info_of(map).fd, key, value, BPF_ANY));
	return xdpvm_map_update(map, key, value, BPF_ANY);
}

int
engine_map_next_key(const struct engine *engine, struct xdpvm_map *map, const void *key, void *next)
{
	if (engine->kind == ENGINE_KERNEL)
		return errno_of(bpf_map_get_next_key(info_of(map).fd, key, next));
	return xdpvm_map_next_key(map, key, next);
}

int
engine_map_take(const struct engine *engine, struct xdpvm_map *map, void *value)
{
	if (engine->kind == ENGINE_KERNEL)
		return errno_of(bpf_map_lookup_and_delete_elem(info_of(map).fd, NULL, value));
	return xdpvm_map_take(map, NULL, value);
}
