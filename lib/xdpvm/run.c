/* SPDX-License-Identifier: BSD-3-Clause */
/* Running packets, and the statistics of it when they are wanted. */
#include <stdlib.h>
#include <time.h>

#include "program.h"

/* One thread's counters of one program; only that thread writes them. */
struct xdpvm_stats_slot {
	struct xdpvm_prog_stats stats;
} __attribute__((aligned(XDPVM_CACHE_LINE)));

static uint32_t
enter(struct xdpvm_prog *prog, struct xdpvm_buff *buff)
{
	uint64_t action = prog->entry != NULL ? prog->entry(buff) : xdpvm_interp(prog, buff);

	/* As the kernel: the low 32 bits count. */
	return (uint32_t)action <= XDP_REDIRECT ? (uint32_t)action : XDP_ABORTED;
}

static void
bump(uint64_t *counter, uint64_t by)
{
	__atomic_store_n(counter, *counter + by, __ATOMIC_RELAXED);
}

static uint64_t
now_ns(enum xdpvm_stats_mode mode)
{
	struct timespec ts;

	if (mode != XDPVM_STATS_TIME)
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* The calling thread's counters, or NULL when nothing is to be counted. */
static struct xdpvm_prog_stats *
own_stats(const struct xdpvm_prog *prog, const struct xdpvm_buff *buff)
{
	struct xdpvm_stats_slot *slots = __atomic_load_n(&prog->stats, __ATOMIC_ACQUIRE);

	return slots != NULL ? &slots[buff->thread->cpu].stats : NULL;
}

static uint32_t
run_counted(struct xdpvm_prog *prog, struct xdpvm_buff *buff, enum xdpvm_stats_mode mode)
{
	struct xdpvm_prog_stats *stats = own_stats(prog, buff);
	uint64_t start = now_ns(mode);
	uint32_t action = enter(prog, buff);

	bump(&stats->run_time_ns, now_ns(mode) - start);
	bump(&stats->runs, 1);
	bump(&stats->actions[action], 1);
	return action;
}

uint32_t
xdpvm_run(struct xdpvm_prog *prog, struct xdpvm_buff *buff)
{
	enum xdpvm_stats_mode mode = __atomic_load_n(&prog->stats_mode, __ATOMIC_ACQUIRE);

	if (__builtin_expect(mode != XDPVM_STATS_OFF, 0))
		return run_counted(prog, buff, mode);
	return enter(prog, buff);
}

static void
run_one(struct xdpvm_prog *prog, struct xdpvm_buff *buff, struct xdpvm_packet *packet)
{
	xdpvm_packet_load(packet, buff);
	packet->action = enter(prog, buff);
	xdpvm_packet_store(packet, buff);
}

void
xdpvm_run_burst(struct xdpvm_prog *prog, struct xdpvm_buff *buff, struct xdpvm_packet *packets,
		unsigned int n)
{
	enum xdpvm_stats_mode mode = __atomic_load_n(&prog->stats_mode, __ATOMIC_ACQUIRE);
	struct xdpvm_prog_stats *stats;
	uint64_t start = now_ns(mode);

	for (unsigned int i = 0; i < n; i++)
		run_one(prog, buff, &packets[i]);
	if (mode == XDPVM_STATS_OFF)
		return;
	stats = own_stats(prog, buff);
	bump(&stats->run_time_ns, now_ns(mode) - start);
	bump(&stats->runs, n);
	for (unsigned int i = 0; i < n; i++)
		bump(&stats->actions[packets[i].action], 1);
}

xdpvm_entry_fn
xdpvm_prog_entry(const struct xdpvm_prog *prog)
{
	return prog->entry;
}

int
xdpvm_prog_stats_mode(struct xdpvm_prog *prog, enum xdpvm_stats_mode mode)
{
	struct xdpvm_stats_slot *slots = prog->stats, *none = NULL;

	if (mode != XDPVM_STATS_OFF && slots == NULL) {
		slots = aligned_alloc(XDPVM_CACHE_LINE, XDPVM_MAX_THREADS * sizeof(*slots));
		if (slots == NULL)
			return -ENOMEM;
		memset(slots, 0, XDPVM_MAX_THREADS * sizeof(*slots));
		if (!__atomic_compare_exchange_n(&prog->stats, &none, slots, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			free(slots);
	}
	__atomic_store_n(&prog->stats_mode, mode, __ATOMIC_RELEASE);
	return 0;
}

void
xdpvm_prog_stats(const struct xdpvm_prog *prog, struct xdpvm_prog_stats *sum)
{
	const struct xdpvm_stats_slot *slots = __atomic_load_n(&prog->stats, __ATOMIC_ACQUIRE);

	memset(sum, 0, sizeof(*sum));
	for (unsigned int cpu = 0; slots != NULL && cpu < XDPVM_MAX_THREADS; cpu++) {
		const struct xdpvm_prog_stats *own = &slots[cpu].stats;

		sum->runs += __atomic_load_n(&own->runs, __ATOMIC_RELAXED);
		sum->run_time_ns += __atomic_load_n(&own->run_time_ns, __ATOMIC_RELAXED);
		for (unsigned int action = 0; action <= XDP_REDIRECT; action++)
			sum->actions[action] += __atomic_load_n(&own->actions[action],
								__ATOMIC_RELAXED);
	}
}
