/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a core: the lock around all calls, and an optional thread that polls it.
 *
 * The thread holds the lock for one slice at a time and stands back while somebody
 * wants it (a bare mutex in a spinning thread starves everybody else,
 * connectx3-device.md V.3). Without a thread, vcx3_runner_step() moves the device.
 */
#ifndef VCX3_CORE_RUNNER_H
#define VCX3_CORE_RUNNER_H

#include <stdbool.h>
#include <stdint.h>

#include "core.h"

struct vcx3_runner;

/** What the thread does when nothing moves. */
enum vcx3_wake {
	VCX3_WAKE_SPIN, /**< polls for ever: lowest latency, a whole CPU */
	VCX3_WAKE_YIELD, /**< polls; after spin_us idle, gives the CPU away between turns */
	VCX3_WAKE_KICK, /**< after spin_us idle, sleeps until kicked or for at most sleep_us */
};

struct vcx3_runner_config {
	bool thread; /**< false: step mode */
	int cpu; /**< of the thread; -1 = any CPU of the process at start */
	enum vcx3_wake wake;
	uint32_t spin_us; /**< 0 = 50 */
	uint32_t sleep_us; /**< 0 = 1000 */
};

/** Starts running a core. The thread blocks all signals. @return 0 or a negative errno. */
int vcx3_runner_create(struct vcx3_core *core, const struct vcx3_runner_config *config,
		       struct vcx3_runner **runner);

/** Stops and joins the thread. The core stays. */
void vcx3_runner_destroy(struct vcx3_runner *runner);

/** Takes the lock before any call to the core; the thread stands back at once. */
void vcx3_runner_lock(struct vcx3_runner *runner);
void vcx3_runner_unlock(struct vcx3_runner *runner);

/**
 * Runs slices until nothing moves, or this many.
 *
 * @return what vcx3_core_run() has moved in all.
 */
uint64_t vcx3_runner_step(struct vcx3_runner *runner, unsigned int slices);

/** Wakes a sleeping thread; may be called without the lock, also from a signal handler. */
void vcx3_runner_kick(struct vcx3_runner *runner);

#endif
