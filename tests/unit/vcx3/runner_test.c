/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The polling thread: traffic in each wake-up policy, commands from two threads at the
 * same time, signals that stay out of the thread, step mode.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "core/runner.h"
#include "frames.h"

#define FRAMES 3000
#define COMMANDS 500
#define PATIENCE_S 20

struct bench {
	struct rig rig;
	struct rig_cq cq;
	struct rig_qp qp;
	struct vcx3_runner *runner;
	uint8_t *data;
};

static struct bench b;

static void
setup(const struct vcx3_runner_config *config)
{
	rig_create(&b.rig, NULL);
	rig_cq(&b.rig, &b.cq, 1, 9, NULL);
	rig_qp(&b.rig, &b.qp, 0x100, 1, 8, -1, 1, NULL);
	b.rig.wires[0].discards = true;
	b.data = rig_alloc(&b.rig, 2048);
	CHECK_EQUAL(vcx3_runner_create(b.rig.core, config, &b.runner), 0);
}

static void
teardown(void)
{
	vcx3_runner_destroy(b.runner);
	rig_destroy(&b.rig);
}

static void *
command(void *argument)
{
	uint32_t key = vcx3_mpt_key((uintptr_t)argument);
	struct vcx3_mpt_attr attr = { .length = 4096, .start = 4096,
				      .object = { .base = 4096, .log_page = VCX3_LOG_PAGE_FLAT } };

	for (int i = 0; i < COMMANDS; i++) {
		vcx3_runner_lock(b.runner);
		CHECK_EQUAL(vcx3_mpt_create(b.rig.core, key, &attr), VCX3_OK);
		vcx3_runner_unlock(b.runner);
		vcx3_runner_lock(b.runner);
		CHECK_EQUAL(vcx3_mpt_destroy(b.rig.core, key), VCX3_OK);
		vcx3_runner_unlock(b.runner);
	}
	return NULL;
}

/* Sends one frame after the other, each after the completion of the one before. */
static void
ping(unsigned int count)
{
	time_t limit = time(NULL) + PATIENCE_S;
	struct rig_cqe cqe;

	while (count-- > 0) {
		struct rig_wqe wqe;
		uint32_t slot = b.qp.sq_head & (b.qp.sq_count - 1);
		uint32_t owner = b.qp.sq_head & b.qp.sq_count ? 0x80000000 : 0;

		rig_wqe_start(&wqe);
		rig_wqe_data(&wqe, b.rig.lkey, b.data, 60);
		wqe.bytes[7] = 2;
		wqe.bytes[11] = 0x0c;
		memcpy(b.qp.sq + slot * 64 + 4, wqe.bytes + 4, 28);
		__atomic_store_n((uint32_t *)(b.qp.sq + slot * 64), __builtin_bswap32(owner | 0x0a),
				 __ATOMIC_RELEASE);
		b.qp.sq_head++;
		vcx3_runner_kick(b.runner);
		while (!rig_poll(&b.cq, &cqe)) {
			CHECK(time(NULL) < limit);
			sched_yield();
		}
		CHECK_EQUAL(cqe.opcode, 0x4a);
	}
}

static void
run_policy(enum vcx3_wake wake)
{
	struct vcx3_runner_config config = { .thread = true, .cpu = -1, .wake = wake,
					     .spin_us = 5 };
	pthread_t threads[2];

	setup(&config);
	for (uintptr_t i = 0; i < 2; i++)
		CHECK_EQUAL(pthread_create(&threads[i], NULL, command, (void *)(100 + i)), 0);
	ping(wake == VCX3_WAKE_KICK ? FRAMES / 10 : FRAMES);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	vcx3_runner_lock(b.runner);
	CHECK_EQUAL(vcx3_counters_get(b.rig.core)->live_mpts, 1);
	CHECK_EQUAL(vcx3_counters_get(b.rig.core)->registrations, 1 + 2 * COMMANDS);
	vcx3_runner_unlock(b.runner);
	teardown();
}

static volatile sig_atomic_t handled_by_main;
static pthread_t main_thread;

static void
on_signal(int number)
{
	handled_by_main += pthread_equal(pthread_self(), main_thread) != 0;
}

static void
test_signals(void)
{
	struct vcx3_runner_config config = { .thread = true, .cpu = 0 };
	sigset_t usr1;

	main_thread = pthread_self();
	signal(SIGUSR1, on_signal);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	setup(&config);
	pthread_sigmask(SIG_BLOCK, &usr1, NULL);
	kill(getpid(), SIGUSR1); /* nobody may take it ... */
	ping(10);
	CHECK_EQUAL(handled_by_main, 0);
	pthread_sigmask(SIG_UNBLOCK, &usr1, NULL); /* ... until main does */
	CHECK_EQUAL(handled_by_main, 1);
	teardown();
}

static void
test_step(void)
{
	struct vcx3_runner_config config = { .thread = false };
	struct rig_cqe cqe;
	struct rig_wqe wqe;

	setup(&config);
	for (int i = 0; i < 100; i++) {
		rig_wqe_start(&wqe);
		rig_wqe_data(&wqe, b.rig.lkey, b.data, 60);
		rig_post_send(&b.qp, &wqe, 0x0a, 0x0c);
	}
	CHECK(!rig_poll(&b.cq, &cqe));
	CHECK_EQUAL(vcx3_runner_step(b.runner, 1), 64);
	CHECK_EQUAL(vcx3_runner_step(b.runner, 1000), 36);
	CHECK_EQUAL(vcx3_runner_step(b.runner, 1000), 0);
	teardown();
}

int
main(void)
{
	run_policy(VCX3_WAKE_SPIN);
	run_policy(VCX3_WAKE_YIELD);
	run_policy(VCX3_WAKE_KICK);
	test_signals();
	test_step();
	return 0;
}
