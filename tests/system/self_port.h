/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef TESTS_SYSTEM_SELF_PORT_H
#define TESTS_SYSTEM_SELF_PORT_H

/*
 * For test programs in C that use the ethdev API: ethdev port 0 is on a wire that gives
 * it back what it sends (vcx3 --wire 1=self). Frames carry a number. All waits end after
 * WAIT_MS, and a test that fails returns -1 at once.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#define PORT 0
#define RING 128
#define FRAME 100
#define WAIT_MS 10000

#define CHECK(condition) do { \
	if (!(condition)) { \
		printf("%s:%d: not true: %s\n", __func__, __LINE__, #condition); \
		return -1; \
	} \
} while (0)

/* Waits for a condition, then checks it. */
#define CHECK_SOON(condition) do { \
	unsigned int ms_; \
	for (ms_ = 0; ms_ < WAIT_MS && !(condition); ms_++) \
		rte_delay_us_sleep(1000); \
	CHECK(condition); \
} while (0)

struct self_test {
	const char *name;
	int (*run)(void);
};

extern struct rte_mempool *pool;

/* EAL, the pool; 0 when there is one port. words[] are the program's own arguments. */
int self_init(int argc, char **argv);

/*
 * Runs all tests, or the one that is named. After each the port is stopped, and every
 * mbuf must be back in the pool. The exit status of the program.
 */
int self_run(const struct self_test *tests, unsigned int nb, const char *only);

/* A whole program: self_init(), then self_run() of all tests or of the one that is named. */
int self_main(int argc, char **argv, const struct self_test *tests, unsigned int nb);

/* Configures queue 0 of both directions, and starts the port. */
int self_configure(const struct rte_eth_conf *conf);
int self_start(const struct rte_eth_conf *conf);

void write_frame(struct rte_mbuf *mbuf, uint16_t number);
struct rte_mbuf *new_frame(uint16_t number);

/* UDP over IPv4 to the port, FRAME bytes; the number is the source port. */
struct rte_mbuf *udp_frame(struct rte_mempool *mp, uint16_t number);

bool send_frame(struct rte_mbuf *mbuf);
struct rte_mbuf *receive_frame(void);

/* Receives one frame and frees it: false if none comes or it has another number. */
bool take_frame(uint16_t number);

/* A frame goes out and comes back. */
int echo(struct rte_mbuf *mbuf, uint16_t number);

/* Frames that could not be sent, since the test began. */
uint64_t send_errors(void);

/* An extended statistic of a port, UINT64_MAX if there is none of that name. */
uint64_t port_xstat(uint16_t port, const char *name);

/*
 * For a port and each of its queues: frames that met a program = sum of all verdicts, and failed
 * redirects = their reasons.
 */
bool verdicts_add_up(uint16_t port);

/* A request to the control socket of the card, as `vcx3 ctl`; true if it says ok. */
bool card_ctl(const char *format, ...) __rte_format_printf(1, 2);

/* The first number with this name in the counters of the card, -1 if there is none. */
long card_counter(const char *name);

/* Live verbs objects of all kinds. */
long card_census(void);

#endif /* TESTS_SYSTEM_SELF_PORT_H */
