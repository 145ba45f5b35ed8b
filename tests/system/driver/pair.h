/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Both ports of a card in one program: what the second port sends, the first receives,
 * so that a test knows each frame, the queue that it came to and its hash. The cable
 * keeps the order of frames: when a marker, which a rule of its own takes, has arrived,
 * everything sent before has arrived too or never will.
 */

#ifndef TESTS_SYSTEM_PAIR_H
#define TESTS_SYSTEM_PAIR_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_flow.h>

#define PAIR_MAX_QUEUES 8
#define PAIR_NOT_RECEIVED UINT16_MAX

/* A frame as a test describes it; addresses and ports in CPU byte order. */
struct frame {
	struct rte_ether_addr dst;
	bool tagged;
	uint16_t vid;
	uint8_t version;	/* of IP: 4, 6, or 0 for a frame without */
	uint8_t protocol;	/* IPPROTO_TCP, _UDP or any other, which has no ports */
	bool fragment;		/* a later one: no header of protocol in it */
	uint32_t src_ip;	/* the last 4 bytes of an IPv6 address */
	uint32_t dst_ip;
	uint16_t src_port;
	uint16_t dst_port;
};

/* Where it went. */
struct arrival {
	uint16_t queue;		/* PAIR_NOT_RECEIVED */
	uint16_t copies;
	uint32_t hash;
	bool hashed;
};

struct pair {
	uint16_t rx_port;
	uint16_t tx_port;
	uint16_t nb_queues;
	struct rte_ether_addr mac;	/* of rx_port */
	struct rte_mempool *mp;
	struct rte_flow *marker_rule;
	uint32_t marker;
};

/* EAL with the driver that argv[1] names, both ports found, the sender running. */
void pair_open(struct pair *pair, char **argv);
void pair_close(struct pair *pair);

/* rte_eth_dev_configure() and the queues of the receiver, which is left stopped. */
int pair_configure(struct pair *pair, uint16_t nb_queues, const struct rte_eth_conf *conf);
void pair_start(struct pair *pair);
void pair_stop(struct pair *pair);

/* Sends frames and tells where each arrived. The receiver runs. */
void pair_exchange(struct pair *pair, const struct frame *frames, uint32_t nb_frames,
	struct arrival *arrivals);

/* Destroys all rules of the receiver. */
void pair_flush(struct pair *pair);

/* What was logged since the last call; valid until the next one. */
const char *pair_log(void);

/* Writes the frame; its length. */
uint16_t frame_write(const struct frame *frame, uint8_t *bytes);

/* Toeplitz as Microsoft describes it, bit by bit. */
uint32_t frame_hash(const struct frame *frame, const uint8_t key[40], uint64_t rss_hf);

#endif /* TESTS_SYSTEM_PAIR_H */
