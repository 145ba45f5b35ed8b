/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernel maps kept in step with the maps that programs use, so that tools which open pinned maps
 * (bpftool, xdp-filter) see and steer a program that runs here.
 *
 * An ARRAY needs none of this: its memory is the kernel map's own. HASH, PERCPU_HASH, LRU_HASH,
 * LRU_PERCPU_HASH, PERCPU_ARRAY, LPM_TRIE, DEVMAP, DEVMAP_HASH and CPUMAP, which Linux does not let
 * user space map, are compared by a thread of the object. Each round is a three-way merge against
 * what both sides had after the round before: what a tool changed in the kernel's map is taken,
 * otherwise what programs changed is given; where both did, the tool wins. The thread never holds
 * up a program. What a tool deletes from an LRU map that is full but for 128 elements a CPU may
 * come back: it cannot be told from what the kernel evicted.
 *
 * In a PROG_ARRAY and an ARRAY_OF_MAPS tools may put programs and maps of the same object; others
 * count as refused, and the slot here stays as it was.
 *
 * Start and stop follow the thread rule of load and close: one thread at a time.
 *
 * Of a per-CPU value the kernel's copy c is that of thread number c. Threads with numbers above
 * the kernel's CPUs get what tools write (thread t what is written to CPU t modulo their
 * number); what they count does not show in the kernel's map.
 */
#ifndef XDPVM_SYNC_H
#define XDPVM_SYNC_H

#include "xdpvm.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Milliseconds between rounds when the caller has no opinion. */
#define XDPVM_SYNC_PERIOD_MS 100

/**
 * What the thread did; counters never go back. A change arrives at the other side within
 * 2 * max(period, 4 * max_ns), as the thread pauses at least four times as long as a round took.
 */
struct xdpvm_sync_stats {
	uint64_t rounds;
	uint64_t taken;		/**< values and deletions that came from the kernel's maps */
	uint64_t given;		/**< values and deletions that went to them */
	uint64_t refused;	/**< changes that a side did not accept: a full map, a bad value */
	uint64_t last_ns;	/**< duration of the last round */
	uint64_t max_ns;	/**< of the longest one */
	uint32_t maps;		/**< maps that are compared */
};

/**
 * Takes over what the kernel's maps hold (reused pins), then starts the thread. After the load.
 *
 * @param period_ms  milliseconds between rounds; 0: XDPVM_SYNC_PERIOD_MS.
 * @return 0, -EALREADY when it runs, -ENOTSUP when the object has no kernel maps (verify is not
 *         kernel), -ENOMEM, -EAGAIN when there can be no thread.
 */
int xdpvm_sync_start(struct xdpvm_object *object, unsigned int period_ms);

/** A last round, then the thread ends. xdpvm_object_close() calls it. Not started: nothing. */
void xdpvm_sync_stop(struct xdpvm_object *object);

/**
 * A round in the calling thread: when it returns, both sides have what the other had when it was
 * called. Any thread.
 *
 * @return 0, -EINVAL when not started, or the error with which a kernel map could not be read.
 */
int xdpvm_sync_now(struct xdpvm_object *object);

/** @return 0, or -EINVAL when not started. */
int xdpvm_sync_stats(struct xdpvm_object *object, struct xdpvm_sync_stats *stats);

#ifdef __cplusplus
}
#endif

#endif /* XDPVM_SYNC_H */
