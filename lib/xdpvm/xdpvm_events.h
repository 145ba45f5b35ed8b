/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What running programs say: the trace log, ring buffers and perf buffers. Readers never hold up a
 * program: what is not read in time is lost and counted (trace, perf) or refused to the
 * program (ring buffers), as in Linux.
 */
#ifndef XDPVM_EVENTS_H
#define XDPVM_EVENTS_H

#include "xdpvm.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes of a trace line with its NUL. */
#define XDPVM_TRACE_TEXT 1024

/** A line that a program printed with bpf_trace_printk() or bpf_printk(). */
struct xdpvm_trace_line {
	uint64_t time_ns;	/**< CLOCK_MONOTONIC */
	uint32_t cpu;		/**< number of the thread, as the program sees it */
	uint32_t lost;		/**< lines between the last one read and this one that were lost */
	char text[XDPVM_TRACE_TEXT];	/**< without the newline at its end */
};

/**
 * Takes the oldest line of the log, which all programs of the process share. Any thread.
 *
 * @return 1, or 0 when there is none.
 */
int xdpvm_trace_read(struct xdpvm_trace_line *line);

/** Receives one record, valid during the call. A negative value ends the reading. */
typedef int (*xdpvm_record_fn)(void *arg, const void *record, uint32_t size);

/**
 * Hands over what programs submitted to a RINGBUF, in order. One reader at a time.
 *
 * @param limit  most records wanted.
 * @return the number of records, what the callback returned when negative, -EINVAL for another
 *         type of map, -EBUSY when somebody else reads.
 */
int xdpvm_ringbuf_read(struct xdpvm_map *map, xdpvm_record_fn record, void *arg,
		       unsigned int limit);

/**
 * Hands over what programs wrote to the PERF_EVENT_ARRAY on thread number @p cpu. A record is what
 * Linux puts behind the sample's size: the program's data, then the piece of packet it asked
 * for. Per CPU one reader at a time.
 *
 * @param lost  receives how many records did not fit since the last call; may be NULL.
 * @return as xdpvm_ringbuf_read().
 */
int xdpvm_perf_read(struct xdpvm_map *map, uint32_t cpu, xdpvm_record_fn record, void *arg,
		    unsigned int limit, uint64_t *lost);

#ifdef __cplusplus
}
#endif

#endif /* XDPVM_EVENTS_H */
