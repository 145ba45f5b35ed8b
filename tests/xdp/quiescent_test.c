/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What xdpvm_synchronize() promises to who frees something: a thread that was online and
 * held it has gone offline, and one that stays offline is not waited for. Once with the fences
 * that the kernel puts into running threads, once as where it has no membarrier(2).
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "xdpvm.h"

#define CHANGES 300000
#define HELD 150	/* looks at what a burst holds: until a change ends that overlooked it */

static struct box {
	bool alive;
} __attribute__((aligned(128))) boxes[2], *current = &boxes[0];

static pthread_barrier_t registered;
static bool stop;

/* Its number-th CPU for this thread; there it stays, or the other one would hardly run at once. */
static void
stay_on(int number)
{
	cpu_set_t allowed, one;
	int cpu;

	CHECK(sched_getaffinity(0, sizeof(allowed), &allowed) == 0);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &allowed) || number-- != 0)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		CHECK(sched_setaffinity(0, sizeof(one), &one) == 0);
	}
}

/* Lets both threads meet at ever other points. */
static void
pause_for(unsigned int turns)
{
	while (turns-- != 0)
		__asm__ volatile("");
}

/* Bursts as of a driver; returns how often something was gone that it held. */
static void *
reader_main(void *arg)
{
	unsigned int held, burst;
	uintptr_t gone = 0;

	stay_on(1);
	CHECK(xdpvm_thread_register(XDPVM_THREAD_ANY) >= 0);
	xdpvm_thread_offline();
	pthread_barrier_wait(&registered);
	for (burst = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); burst++) {
		const struct box *box;

		xdpvm_thread_online();
		box = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
		for (held = 0; held < HELD; held++)
			gone += !__atomic_load_n(&box->alive, __ATOMIC_ACQUIRE);
		xdpvm_thread_offline();
		pause_for(burst * 7 % 499);
	}
	xdpvm_thread_unregister();
	return (void *)gone;
}

static void
change_often(void)
{
	unsigned int i;

	for (i = 0; i < CHANGES; i++) {
		struct box *old = current, *fresh = &boxes[old == &boxes[0]];

		pause_for(i * 13 % 997);
		__atomic_store_n(&fresh->alive, true, __ATOMIC_RELAXED);
		__atomic_store_n(&current, fresh, __ATOMIC_RELEASE);
		xdpvm_synchronize();
		__atomic_store_n(&old->alive, false, __ATOMIC_RELAXED);
	}
}

static void
test_nothing_held_is_freed(void)
{
	pthread_t reader;
	void *gone;

	boxes[0].alive = true;
	pthread_barrier_init(&registered, NULL, 2);
	CHECK(pthread_create(&reader, NULL, reader_main, NULL) == 0);
	stay_on(0);
	pthread_barrier_wait(&registered);
	change_often();
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(reader, &gone);
	CHECK(gone == NULL, "%lu times", (unsigned long)gone);
}

/* This thread is registered, offline, and reports nothing any more. */
static void
test_offline_is_not_waited_for(void)
{
	CHECK(xdpvm_thread_register(XDPVM_THREAD_ANY) >= 0);
	xdpvm_thread_offline();
	xdpvm_synchronize();
	xdpvm_thread_unregister();
}

/* From now on the kernel has no membarrier(2). */
static bool
deny_membarrier(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_membarrier, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0 &&
		syscall(__NR_membarrier, 0, 0, 0) == -1 && errno == ENOSYS;
}

/* In a process of its own: the library asks the kernel once. */
static void
run(bool denied)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		CHECK(!denied || deny_membarrier());
		test_nothing_held_is_freed();
		test_offline_is_not_waited_for();
		_exit(check_status());
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	CHECK(status == 0, "membarrier %s: status %#x", denied ? "denied" : "allowed", status);
}

int
main(void)
{
	run(false);
	run(true);
	return check_status();
}
