/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What is measured. A scenario does its work in regions of about 32 packets, each between two
 * readings of the time stamp counter. The virtual card moves between regions, in the same
 * thread, so its time is never in the result.
 */

#ifndef MLX4X_PERF_WORK_H
#define MLX4X_PERF_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options.h"
#include "ports.h"

#define PERF_REGION_PACKETS 32u	/* at least; a region is whole bursts */

struct perf_program;
struct perf_second;
struct perf_work;

/*
 * prepare and tidy stand around each region, begin and end around all rounds; any of them
 * may be NULL. timed is the region: packets moved. callgrind finds it by its name, which
 * starts with "timed_", see count.c.
 *
 * With a program, timed runs on a driver that runs programs. What other drivers do for the
 * same job is plain.
 */
struct perf_scenario {
	const char *name;
	const char *what;	/* is in the region */
	bool receives;
	bool sends;
	bool soft_queue;	/* our driver needs --soft-queue */
	void (*prepare)(struct perf_work *work);
	uint32_t (*timed)(struct perf_work *work);
	void (*tidy)(struct perf_work *work, uint32_t packets);
	int (*begin)(struct perf_work *work, char *reason, size_t size);
	void (*end)(struct perf_work *work);
	const struct perf_program *program;
	uint32_t (*plain)(struct perf_work *work);
	const char *twin;	/* the scenario with the same logic as a native hook */
};

/* All scenarios; the last has no name. */
extern const struct perf_scenario perf_scenarios[];
const struct perf_scenario *perf_scenario_find(const char *name);

/* False, after a sentence, if its program is not on this machine. */
bool perf_scenario_possible(const struct perf_scenario *scenario);

struct perf_work {
	struct perf_ports ports;
	uint16_t burst;
	uint16_t calls;		/* bursts of a region */
	uint16_t queue;		/* that the next burst polls */
	uint16_t first_queue;	/* of those that this core polls in turn */
	uint16_t nb_polled;
	struct rte_ring *ring;	/* of timed_ring_free(): to the cores that take packets over */
	uint32_t nb_cpus;	/* that there are of these */
	struct perf_second *second;	/* NULL: one core polls all queues */
	bool serial;		/* the second core waits until the first is done */
	uint32_t frame;
	bool step;		/* the card moves when told */
	int64_t pending;	/* at least so many frames wait to be received */
	bool runs_programs;	/* the driver does */
	uint64_t judged_id[PERF_QUEUES_MAX];	/* counters of frames that met a program */
	uint64_t clock_cost;
	uint16_t nb_prepared;	/* packets in pkts to send */
	struct rte_mbuf *pkts[PERF_BURST_MAX > PERF_REGION_PACKETS ? PERF_BURST_MAX :
		PERF_REGION_PACKETS];
	uint8_t copy[PERF_FRAME_MAX];	/* where frames are copied to */
	uint32_t seen;		/* keeps reads of packets from being optimised away */
};

/* Result of a round. */
struct perf_round {
	double cycles;		/* per packet */
	uint64_t packets;
	uint64_t all_packets;	/* with those of the warm-up and of regions left out */
	double fill;		/* packets of a burst, average */
	uint32_t regions;
	uint32_t interrupted;	/* regions left out because something else had the processor */
};

/* Before the first round of a scenario and after the last. */
int perf_work_begin(struct perf_work *work, const struct perf_scenario *scenario, char *reason,
	size_t size);
void perf_work_end(struct perf_work *work, const struct perf_scenario *scenario);

/* 0, or a negative errno with a sentence in reason. */
int perf_work_round(struct perf_work *work, const struct perf_scenario *scenario, uint16_t burst,
	uint32_t packets, struct perf_round *round, char *reason, size_t size);

#endif /* MLX4X_PERF_WORK_H */
