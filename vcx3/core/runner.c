/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lock around a core and the thread that polls it.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "device.h"
#include "runner.h"

#define DEFAULT_SPIN_US 50
#define DEFAULT_SLEEP_US 1000

struct vcx3_runner {
	struct vcx3_core *core;
	struct vcx3_runner_config config;
	pthread_mutex_t lock;
	atomic_uint wanted; /* callers that wait for the lock */
	atomic_bool stops;
	atomic_bool sleeps;
	int kick_fd;
	pthread_t thread;
};

void
vcx3_runner_lock(struct vcx3_runner *runner)
{
	atomic_fetch_add(&runner->wanted, 1);
	pthread_mutex_lock(&runner->lock);
	atomic_fetch_sub(&runner->wanted, 1);
}

void
vcx3_runner_unlock(struct vcx3_runner *runner)
{
	pthread_mutex_unlock(&runner->lock);
}

uint64_t
vcx3_runner_step(struct vcx3_runner *runner, unsigned int slices)
{
	uint64_t total = 0;

	vcx3_runner_lock(runner);
	for (unsigned int i = 0; i < slices; i++) {
		unsigned int moved = vcx3_core_run(runner->core);

		if (moved == 0)
			break;
		total += moved;
	}
	vcx3_runner_unlock(runner);
	return total;
}

void
vcx3_runner_kick(struct vcx3_runner *runner)
{
	uint64_t one = 1;

	if (atomic_load(&runner->sleeps) && write(runner->kick_fd, &one, sizeof(one)) < 0)
		return; /* the counter is full: the thread wakes anyway */
}

/* Until a kick, news on a wire, or the time is over. */
static void
sleep_until_news(struct vcx3_runner *runner)
{
	struct pollfd fds[1 + VCX3_MAX_PORTS] = { { .fd = runner->kick_fd, .events = POLLIN } };
	struct timespec limit = { .tv_nsec = runner->config.sleep_us * 1000L };
	nfds_t count = 1;
	uint64_t kicks;

	vcx3_runner_lock(runner);
	for (unsigned int i = 0; i < runner->core->config.ports; i++) {
		const struct vcx3_wire *wire = runner->core->ports[i].wire;

		fds[count].events = POLLIN;
		fds[count++].fd = wire != NULL ? vcx3_wire_poll_fd(wire) : -1;
	}
	vcx3_runner_unlock(runner);
	atomic_store(&runner->sleeps, true);
	if (ppoll(fds, count, &limit, NULL) > 0 && fds[0].revents != 0 &&
	    read(runner->kick_fd, &kicks, sizeof(kicks)) < 0)
		sched_yield(); /* somebody else has read it: nothing is lost */
	atomic_store(&runner->sleeps, false);
}

static void
idle(struct vcx3_runner *runner, uint64_t *idle_since_ns)
{
	uint64_t now_ns;

	if (runner->config.wake == VCX3_WAKE_SPIN)
		return;
	now_ns = vcx3_core_now_ns(runner->core);
	if (*idle_since_ns == 0)
		*idle_since_ns = now_ns;
	/* Giving the CPU away costs a time slice of whoever takes it: not between two bursts. */
	if (now_ns - *idle_since_ns <= runner->config.spin_us * UINT64_C(1000))
		return;
	if (runner->config.wake == VCX3_WAKE_YIELD)
		sched_yield();
	else
		sleep_until_news(runner);
}

static void *
run(void *argument)
{
	struct vcx3_runner *runner = argument;
	uint64_t idle_since_ns = 0;

	while (!atomic_load_explicit(&runner->stops, memory_order_relaxed)) {
		unsigned int moved;

		while (atomic_load_explicit(&runner->wanted, memory_order_relaxed) > 0)
			sched_yield();
		pthread_mutex_lock(&runner->lock);
		moved = vcx3_core_run(runner->core);
		pthread_mutex_unlock(&runner->lock);
		if (moved > 0)
			idle_since_ns = 0;
		else
			idle(runner, &idle_since_ns);
	}
	return NULL;
}

/* The creator may be pinned (EAL's main lcore): the thread must not inherit that. */
static void
set_affinity(pthread_attr_t *attr, int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (cpu < 0 || i == cpu)
			CPU_SET(i, &cpus);
	pthread_attr_setaffinity_np(attr, sizeof(cpus), &cpus);
}

static int
start_thread(struct vcx3_runner *runner)
{
	sigset_t all, before;
	pthread_attr_t attr;
	int result;

	pthread_attr_init(&attr);
	set_affinity(&attr, runner->config.cpu);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	result = pthread_create(&runner->thread, &attr, run, runner);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return -result;
}

int
vcx3_runner_create(struct vcx3_core *core, const struct vcx3_runner_config *config,
		   struct vcx3_runner **out)
{
	struct vcx3_runner *runner = calloc(1, sizeof(*runner));
	int result = 0;

	if (runner == NULL)
		return -ENOMEM;
	runner->core = core;
	runner->config = *config;
	if (runner->config.spin_us == 0)
		runner->config.spin_us = DEFAULT_SPIN_US;
	if (runner->config.sleep_us == 0)
		runner->config.sleep_us = DEFAULT_SLEEP_US;
	pthread_mutex_init(&runner->lock, NULL);
	runner->kick_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (runner->kick_fd < 0)
		result = -errno;
	if (result == 0 && config->thread)
		result = start_thread(runner);
	if (result != 0) {
		if (runner->kick_fd >= 0)
			close(runner->kick_fd);
		free(runner);
		return result;
	}
	*out = runner;
	return 0;
}

void
vcx3_runner_destroy(struct vcx3_runner *runner)
{
	if (runner->config.thread) {
		atomic_store(&runner->stops, true);
		vcx3_runner_kick(runner);
		pthread_join(runner->thread, NULL);
	}
	close(runner->kick_fd);
	pthread_mutex_destroy(&runner->lock);
	free(runner);
}
