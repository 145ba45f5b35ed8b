/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef TESTS_SYSTEM_XDP_PORT_H
#define TESTS_SYSTEM_XDP_PORT_H

/*
 * For test programs about programs and page pools, on a card that moves when it is told to
 * (vcx3 --step): on top of self_port.h.
 */

#include <page_pool.h>

#include "self_port.h"
#include "vcx3.h"

#define HEADROOM PAGE_POOL_XDP_HEADROOM
#define BURST 32

/*
 * self_init(), with BLOCK_FAULTS per cent of the blocks of full size not to be had when the
 * environment says so; then it prints how many were smaller.
 */
int xdp_port_init(int argc, char **argv);

/* Counters of a page pool. */
struct page_pool_stats pool_stats(const struct rte_mempool *mp);

/* Starts and stops the port once: from now on the driver maps every pool as it comes. */
int activate_driver(void);

/* Until the card has nothing to do. Not with a generator. */
void settle(void);

/* Sends a frame if there is a buffer for it and room in the ring. */
void offer_frame(uint16_t number);

/* Polls queue 0 until nothing comes; frees what comes and returns how many. */
unsigned int poll_all(void);

/* Sends frames, and lets the port receive them; how many the application got. */
unsigned int pass_frames(unsigned int nb);

/* The queue pair whose doorbell was rung, -1 if none was: that of XDP_TX, if nothing else sends. */
long sending_qp(void);

/*
 * Runs a test with another pool in the place of the usual one, and frees it: the test fails when
 * a buffer of it is lost. mp NULL is a failure.
 */
int with_pool(struct rte_mempool *mp, int (*body)(void));

#endif /* TESTS_SYSTEM_XDP_PORT_H */
