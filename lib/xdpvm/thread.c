/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that run programs: their numbers and their quiescent states, kept in DPDK's QSBR
 * variable, which needs no EAL.
 */
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rte_rcu_qsbr.h>

#include "internal.h"
#include "map.h"

static struct xdpvm_thread threads[XDPVM_MAX_THREADS];
static pthread_mutex_t threads_lock = PTHREAD_MUTEX_INITIALIZER;

/* The QSBR variable is sized at run time by DPDK's own function; this is room enough. */
#define QSBR_BYTES (4096 + XDPVM_MAX_THREADS * 2 * RTE_CACHE_LINE_SIZE)
static union {
	struct rte_rcu_qsbr qsbr;
	uint8_t room[QSBR_BYTES];
} readers;
static pthread_once_t readers_once = PTHREAD_ONCE_INIT;

/*
 * Who synchronizes must see a thread online that has looked at a program. Either each burst
 * has a fence between the two, or who synchronizes has the kernel put one into all threads
 * of the process, which costs the bursts nothing. True where the kernel cannot.
 */
static bool online_fences = true;

__thread struct xdpvm_thread *xdpvm_self;

static long
membarrier(int command)
{
	return syscall(__NR_membarrier, command, 0, 0);
}

static void
readers_init(void)
{
	RTE_BUILD_BUG_ON(XDPVM_MAX_THREADS > RTE_QSBR_THRID_INVALID);
	rte_rcu_qsbr_init(&readers.qsbr, XDPVM_MAX_THREADS);
	online_fences = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) != 0;
}

static int
thread_slot(int cpu)
{
	if (cpu == XDPVM_THREAD_ANY) {
		for (cpu = 0; cpu < XDPVM_MAX_THREADS; cpu++)
			if (!threads[cpu].used)
				return cpu;
		return -ENOSPC;
	}
	if (cpu < 0 || cpu >= XDPVM_MAX_THREADS)
		return -EINVAL;
	return threads[cpu].used ? -EBUSY : cpu;
}

static uint32_t
numa_node_here(void)
{
	unsigned int node;

	return getcpu(NULL, &node) == 0 ? node : 0;
}

int
xdpvm_thread_register(int cpu)
{
	struct xdpvm_thread *thread;

	if (xdpvm_self != NULL)
		return -EEXIST;
	pthread_once(&readers_once, readers_init);
	pthread_mutex_lock(&threads_lock);
	cpu = thread_slot(cpu);
	if (cpu >= 0) {
		thread = &threads[cpu];
		thread->used = true;
		thread->cpu = cpu;
		thread->numa_node = numa_node_here();
		xdpvm_percpu_use(cpu);
		if (getrandom(thread->random_state, sizeof(thread->random_state), GRND_NONBLOCK) < 0)
			thread->random_state[0] = 1 + cpu;
		rte_rcu_qsbr_thread_register(&readers.qsbr, cpu);
		rte_rcu_qsbr_thread_online(&readers.qsbr, cpu);
		xdpvm_self = thread;
	}
	pthread_mutex_unlock(&threads_lock);
	return cpu;
}

void
xdpvm_thread_unregister(void)
{
	if (xdpvm_self == NULL)
		return;
	pthread_mutex_lock(&threads_lock);
	rte_rcu_qsbr_thread_offline(&readers.qsbr, xdpvm_self->cpu);
	rte_rcu_qsbr_thread_unregister(&readers.qsbr, xdpvm_self->cpu);
	xdpvm_self->used = false;
	xdpvm_self = NULL;
	pthread_mutex_unlock(&threads_lock);
}

void
xdpvm_thread_quiescent(void)
{
	rte_rcu_qsbr_quiescent(&readers.qsbr, xdpvm_self->cpu);
}

void
xdpvm_thread_offline(void)
{
	rte_rcu_qsbr_thread_offline(&readers.qsbr, xdpvm_self->cpu);
}

void
xdpvm_thread_online(void)
{
	struct xdpvm_presence presence;

	if (xdpvm_thread_presence(&presence) == 0)
		xdpvm_presence_begin(&presence);
}

int
xdpvm_thread_presence(struct xdpvm_presence *presence)
{
	RTE_BUILD_BUG_ON(__RTE_QSBR_CNT_THR_OFFLINE != 0);
	if (xdpvm_self == NULL)
		return -EPERM;
	*presence = (struct xdpvm_presence){
		.online = &readers.qsbr.qsbr_cnt[xdpvm_self->cpu].cnt,
		.now = &readers.qsbr.token,
		.thread = xdpvm_self,
		.fences = online_fences,
	};
	return 0;
}

void
xdpvm_synchronize(void)
{
	unsigned int id = RTE_QSBR_THRID_INVALID;

	pthread_once(&readers_once, readers_init);
	/* Reporting a quiescent state would bring an offline caller online. */
	if (xdpvm_self != NULL &&
	    readers.qsbr.qsbr_cnt[xdpvm_self->cpu].cnt != __RTE_QSBR_CNT_THR_OFFLINE)
		id = xdpvm_self->cpu;
	/* Does not fail in a process that is registered for it (membarrier(2)). */
	if (!online_fences)
		membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
	rte_rcu_qsbr_synchronize(&readers.qsbr, id);
}

void
xdpvm_buff_init(struct xdpvm_buff *buff, uint32_t ingress_ifindex, uint32_t rx_queue_index)
{
	*buff = (struct xdpvm_buff){
		.ingress_ifindex = ingress_ifindex,
		.rx_queue_index = rx_queue_index,
	};
}

int
xdpvm_buff_bind(struct xdpvm_buff *buff)
{
	if (xdpvm_self == NULL)
		return -EPERM;
	buff->thread = xdpvm_self;
	buff->percpu_offset = xdpvm_self->cpu * XDPVM_PERCPU_STRIDE;
	return 0;
}
