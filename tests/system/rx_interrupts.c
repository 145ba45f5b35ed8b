/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Sleeps until frames come: rx_interrupts EAL-OPTIONS -- PACKETS
 *
 * Two receive queues with interrupts, as l3fwd-power uses them: arm (twice, which happens when a
 * queue was empty again), wait, disarm, receive until empty. Ends after PACKETS packets with a
 * line of what came how. Works with any driver of the first port.
 */

#include <stdio.h>
#include <stdlib.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_interrupts.h>

#define QUEUES 2
#define DEPTH 512
#define BURST 32
#define QUIET_MS 50
#define PATIENCE_MS 20000

static unsigned long packets[QUEUES], interrupts[QUEUES];

static void
need(int result, const char *what)
{
	if (result >= 0)
		return;
	printf("%s: %s\n", what, rte_strerror(-result));
	exit(1);
}

static void
open_port(void)
{
	struct rte_eth_conf conf = {
		.intr_conf.rxq = 1,
		.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS,
		.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_IP,
	};
	struct rte_mempool *pool = rte_pktmbuf_pool_create("pool", 4095, 64, 0,
		RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	uint16_t queue;

	need(pool == NULL ? -ENOMEM : 0, "pool");
	need(rte_eth_dev_configure(0, QUEUES, 1, &conf), "configure");
	need(rte_eth_tx_queue_setup(0, 0, DEPTH, SOCKET_ID_ANY, NULL), "Tx queue");
	for (queue = 0; queue < QUEUES; queue++)
		need(rte_eth_rx_queue_setup(0, queue, DEPTH, SOCKET_ID_ANY, NULL, pool), "Rx queue");
	need(rte_eth_dev_start(0), "start");
	for (queue = 0; queue < QUEUES; queue++)
		need(rte_eth_dev_rx_intr_ctl_q(0, queue, RTE_EPOLL_PER_THREAD, RTE_INTR_EVENT_ADD,
					       (void *)(uintptr_t)queue), "interrupt");
}

static void
receive(uint16_t queue)
{
	struct rte_mbuf *frames[BURST];
	uint16_t nb;

	while ((nb = rte_eth_rx_burst(0, queue, frames, BURST)) > 0) {
		packets[queue] += nb;
		rte_pktmbuf_free_bulk(frames, nb);
	}
}

/* Arms both queues and waits; what came meanwhile fires at once. Returns the events. */
static int
wait_once(int timeout_ms)
{
	struct rte_epoll_event events[QUEUES];
	uint16_t queue;
	int i, nb;

	for (queue = 0; queue < 2 * QUEUES; queue++)
		need(rte_eth_dev_rx_intr_enable(0, queue % QUEUES), "enable");
	nb = rte_epoll_wait(RTE_EPOLL_PER_THREAD, events, QUEUES, timeout_ms);
	need(nb, "epoll");
	for (i = 0; i < nb; i++) {
		queue = (uintptr_t)events[i].epdata.data;
		interrupts[queue]++;
		/* -EAGAIN from the stock driver when nothing is pending. */
		rte_eth_dev_rx_intr_disable(0, queue);
	}
	for (queue = 0; queue < QUEUES; queue++)
		receive(queue);
	return nb;
}

int
main(int argc, char **argv)
{
	int taken = rte_eal_init(argc, argv);
	unsigned long wanted;

	need(taken, "EAL");
	wanted = taken + 1 < argc ? strtoul(argv[taken + 1], NULL, 10) : 0;
	open_port();
	printf("quiet: %d events\n", wait_once(QUIET_MS));
	fflush(stdout);
	while (packets[0] + packets[1] < wanted && wait_once(PATIENCE_MS) > 0)
		;
	printf("queue 0: %lu packets %lu interrupts\nqueue 1: %lu packets %lu interrupts\n",
	       packets[0], interrupts[0], packets[1], interrupts[1]);
	need(rte_eth_dev_stop(0), "stop");
	need(rte_eth_dev_close(0), "close");
	return rte_eal_cleanup();
}
