/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef TESTS_FAULT_LIFE_H
#define TESTS_FAULT_LIFE_H

/*
 * What tests of a port's life share: the card comes and goes, the log is listened to, and what
 * is left behind is counted.
 */

#include <stdbool.h>

#include <rte_ether.h>
#include <rte_flow.h>

#define DEVICE "0000:03:00.0"

/* From now on what DPDK and the driver say is kept; false if it cannot be. */
bool life_listen(void);

/* True if the driver has said something since the last call. */
bool life_has_spoken(void);

/* Prints what was said last; the log goes to where it went before. */
void life_print_log(void);
void life_stop_listening(void);

bool life_is_present(void);
int life_plug(void);

/* The device goes; it leaves neither verbs objects nor mbufs. */
int life_unplug(void);

/* Frames to an address go to a queue, -1 drops them; NULL and rte_errno. */
struct rte_flow *life_create_rule(const struct rte_ether_addr *dst, int queue);

/*
 * Learns what lives without faults leave (DPDK keeps things for itself); later, that there is
 * no more than that: blocks of DPDK's heap and file descriptors.
 */
int life_learn_usual(int (*live)(void));
int life_check_usual(void);

#endif /* TESTS_FAULT_LIFE_H */
