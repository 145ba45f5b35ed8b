/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The smallest useful application: every frame that comes in on the first port goes
 * back to where it came from. Nothing in it is particular to net_mlx4x, which EAL
 * finds by itself when it is installed, or with -d:
 *
 *     reflect -l 0 -a 0000:03:00.0,port=0
 *
 * It ends with Ctrl-C and prints what it has counted.
 */

#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

#define PORT 0
#define RX_RING 1024
#define TX_RING 1024
#define BURST 32

/* What both rings may hold, and what is on its way between them. */
#define NB_MBUFS (RX_RING + TX_RING + 4 * BURST)

static volatile sig_atomic_t ended;

static void
end(int number)
{
	ended = 1;
}

static int
start(void)
{
	struct rte_eth_conf conf = { .txmode.offloads = RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE };
	int socket = rte_eth_dev_socket_id(PORT);
	struct rte_mempool *mp = rte_pktmbuf_pool_create("frames", NB_MBUFS, BURST, 0,
		RTE_MBUF_DEFAULT_BUF_SIZE, socket);
	int ret;

	if (mp == NULL)
		return -rte_errno;
	ret = rte_eth_dev_configure(PORT, 1, 1, &conf);
	if (ret == 0)
		ret = rte_eth_rx_queue_setup(PORT, 0, RX_RING, socket, NULL, mp);
	if (ret == 0)
		ret = rte_eth_tx_queue_setup(PORT, 0, TX_RING, socket, NULL);
	if (ret == 0)
		ret = rte_eth_dev_start(PORT);
	return ret;
}

static void
swap_addresses(struct rte_mbuf *mbuf)
{
	struct rte_ether_hdr *eth = rte_pktmbuf_mtod(mbuf, struct rte_ether_hdr *);
	struct rte_ether_addr from = eth->src_addr;

	eth->src_addr = eth->dst_addr;
	eth->dst_addr = from;
}

static void
reflect(void)
{
	struct rte_mbuf *mbufs[BURST];
	uint16_t nb, sent, i;

	while (!ended) {
		nb = rte_eth_rx_burst(PORT, 0, mbufs, BURST);
		for (i = 0; i < nb; i++)
			swap_addresses(mbufs[i]);
		sent = rte_eth_tx_burst(PORT, 0, mbufs, nb);
		if (sent < nb)
			rte_pktmbuf_free_bulk(&mbufs[sent], nb - sent);
	}
}

int
main(int argc, char **argv)
{
	struct rte_eth_stats stats;
	int ret;

	if (rte_eal_init(argc, argv) < 0 || rte_eth_dev_count_avail() == 0) {
		fprintf(stderr, "reflect: no port\n");
		return 1;
	}
	ret = start();
	if (ret != 0) {
		fprintf(stderr, "reflect: cannot start: %s\n", rte_strerror(-ret));
		return 1;
	}
	signal(SIGINT, end);
	signal(SIGTERM, end);
	printf("reflecting\n");
	fflush(stdout);
	reflect();
	rte_eth_stats_get(PORT, &stats);
	printf("%" PRIu64 " frames in, %" PRIu64 " out\n", stats.ipackets, stats.opackets);
	rte_eth_dev_stop(PORT);
	rte_eth_dev_close(PORT);
	rte_eal_cleanup();
	return 0;
}
