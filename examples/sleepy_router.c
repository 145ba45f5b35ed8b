/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A router that sleeps: IPv4 between two ports by longest prefix, as l3fwd does, and
 * no polling while there is nothing to do, as l3fwd-power does. Each port has one
 * queue and one Rx interrupt. 198.18.N.0/24 is behind port N, as in l3fwd. Frames go
 * to the broadcast address: who the next hop is, is another protocol's business.
 */

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_interrupts.h>
#include <rte_ip.h>
#include <rte_lpm.h>

#define NB_PORTS 2
#define RING 512
#define BURST 32
#define PATIENCE 300	/* empty polls before the lcore goes to sleep */
#define SLEEP_MS 1000

static volatile sig_atomic_t ended;
static unsigned long nb_sleeps;
static struct rte_lpm *routes;
static struct rte_ether_addr mac[NB_PORTS];

static void
end(int number)
{
	ended = 1;
}

static int
start_port(uint16_t port, struct rte_mempool *mp)
{
	struct rte_eth_conf conf = { .intr_conf.rxq = 1 };

	return rte_lpm_add(routes, RTE_IPV4(198, 18, port, 0), 24, port) ||
		rte_eth_dev_configure(port, 1, 1, &conf) ||
		rte_eth_rx_queue_setup(port, 0, RING, SOCKET_ID_ANY, NULL, mp) ||
		rte_eth_tx_queue_setup(port, 0, RING, SOCKET_ID_ANY, NULL) ||
		rte_eth_macaddr_get(port, &mac[port]) || rte_eth_dev_start(port) ||
		rte_eth_dev_rx_intr_ctl_q(port, 0, RTE_EPOLL_PER_THREAD, RTE_INTR_EVENT_ADD, NULL);
}

static void
route(struct rte_mbuf *mbuf)
{
	struct rte_ether_hdr *eth = rte_pktmbuf_mtod(mbuf, struct rte_ether_hdr *);
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(eth + 1);
	uint32_t port;

	if (eth->ether_type != RTE_BE16(RTE_ETHER_TYPE_IPV4) || ip->time_to_live < 2 ||
	    rte_lpm_lookup(routes, rte_be_to_cpu_32(ip->dst_addr), &port) != 0 || port >= NB_PORTS) {
		rte_pktmbuf_free(mbuf);
		return;
	}
	ip->time_to_live--;
	ip->hdr_checksum = 0;
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	memset(&eth->dst_addr, 0xff, sizeof(eth->dst_addr));
	eth->src_addr = mac[port];
	if (rte_eth_tx_burst(port, 0, &mbuf, 1) == 0)
		rte_pktmbuf_free(mbuf);
}

/* Asks both ports for an interrupt. What came before the asking wakes at once. */
static void
sleep_until_traffic(void)
{
	struct rte_epoll_event events[NB_PORTS];

	rte_eth_dev_rx_intr_enable(0, 0);
	rte_eth_dev_rx_intr_enable(1, 0);
	rte_epoll_wait(RTE_EPOLL_PER_THREAD, events, NB_PORTS, SLEEP_MS);
	rte_eth_dev_rx_intr_disable(0, 0);
	rte_eth_dev_rx_intr_disable(1, 0);
	nb_sleeps++;
}

static void
run(void)
{
	struct rte_mbuf *mbufs[BURST];
	unsigned int empty = 0;
	uint16_t port, nb, i;

	for (port = 0; !ended; port ^= 1) {
		nb = rte_eth_rx_burst(port, 0, mbufs, BURST);
		for (i = 0; i < nb; i++)
			route(mbufs[i]);
		empty = nb != 0 ? 0 : empty + 1;
		if (empty > PATIENCE)
			sleep_until_traffic();
	}
}

int
main(int argc, char **argv)
{
	struct rte_lpm_config config = { .max_rules = 64, .number_tbl8s = 8 };
	struct rte_mempool *mp;

	setlinebuf(stdout);
	if (rte_eal_init(argc, argv) < 0)
		return 1;
	signal(SIGINT, end);
	mp = rte_pktmbuf_pool_create("frames", NB_PORTS * 3 * RING, BURST, 0,
		RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	routes = rte_lpm_create("routes", SOCKET_ID_ANY, &config);
	if (mp == NULL || routes == NULL || start_port(0, mp) != 0 || start_port(1, mp) != 0)
		return 1;
	puts("routing");
	run();
	printf("%lu times asleep\n", nb_sleeps);
	return rte_eal_cleanup();
}
