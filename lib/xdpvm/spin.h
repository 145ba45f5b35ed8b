/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A lock for critical sections of some ten nanoseconds, entered by data-path threads: no system
 * call when free. A waiter that has spun for long yields: the owner may have been preempted.
 * The 32-bit word is 0 when free, which is also what a struct bpf_spin_lock in a value looks like.
 */
#ifndef XDPVM_SPIN_H
#define XDPVM_SPIN_H

#include <sched.h>
#include <stdint.h>

#include <rte_pause.h>

#define XDPVM_SPINS_BEFORE_YIELD 1000

static inline void
xdpvm_spin_lock(uint32_t *lock)
{
	unsigned int spins = 0;

	while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE) != 0) {
		while (__atomic_load_n(lock, __ATOMIC_RELAXED) != 0) {
			rte_pause();
			if (++spins % XDPVM_SPINS_BEFORE_YIELD == 0)
				sched_yield();
		}
	}
}

static inline void
xdpvm_spin_unlock(uint32_t *lock)
{
	__atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

#endif /* XDPVM_SPIN_H */
