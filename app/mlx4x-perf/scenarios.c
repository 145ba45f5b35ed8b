/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The scenarios: what an application does with its bursts. They know nothing of any driver.
 */

#include <string.h>

#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_mbuf.h>

#include "clock.h"
#include "standin.h"
#include "work.h"

/* IEEE 802, for experiments. */
#define EXPERIMENTAL_ETHER_TYPE 0x88b5

static uint16_t
next_queue(struct perf_work *work)
{
	uint16_t queue = work->queue;

	work->queue = queue + 1u == work->ports.nb_queues ? 0 : queue + 1;
	return queue;
}

static uint16_t
receive(struct perf_work *work)
{
	return rte_eth_rx_burst(work->ports.rx, next_queue(work), work->pkts, work->burst);
}

static void
free_all(struct rte_mbuf **pkts, uint16_t nb)
{
	uint16_t i;

	for (i = 0; i < nb; i++)
		rte_pktmbuf_free(pkts[i]);
}

static void
run_rx_free(struct perf_work *work, struct perf_region *region)
{
	uint64_t start = perf_clock();
	uint16_t i;

	for (i = 0; i < work->calls; i++) {
		uint16_t nb = receive(work);

		free_all(work->pkts, nb);
		region->packets += nb;
	}
	region->cycles = perf_clock() - start;
}

static void
run_rx_free_bulk(struct perf_work *work, struct perf_region *region)
{
	uint64_t start = perf_clock();
	uint16_t i;

	for (i = 0; i < work->calls; i++) {
		uint16_t nb = receive(work);

		rte_pktmbuf_free_bulk(work->pkts, nb);
		region->packets += nb;
	}
	region->cycles = perf_clock() - start;
}

/* Reads the EtherType of each packet. */
static void
touch(struct perf_work *work, uint16_t nb)
{
	uint16_t i;

	for (i = 0; i < nb; i++) {
		const struct rte_ether_hdr *eth =
			rte_pktmbuf_mtod(work->pkts[i], const struct rte_ether_hdr *);

		work->seen += eth->ether_type;
	}
}

static void
run_rx_touch_free(struct perf_work *work, struct perf_region *region)
{
	uint64_t start = perf_clock();
	uint16_t i;

	for (i = 0; i < work->calls; i++) {
		uint16_t nb = receive(work);

		touch(work, nb);
		free_all(work->pkts, nb);
		region->packets += nb;
	}
	region->cycles = perf_clock() - start;
}

/* Packets to send, from a pool whose last ones are in the cache. */
static uint16_t
prepare(struct perf_work *work, uint16_t nb)
{
	uint16_t i;

	if (rte_pktmbuf_alloc_bulk(work->ports.mp, work->pkts, nb) != 0)
		return 0;
	for (i = 0; i < nb; i++) {
		struct rte_mbuf *mbuf = work->pkts[i];
		struct rte_ether_hdr *eth = rte_pktmbuf_mtod(mbuf, struct rte_ether_hdr *);

		mbuf->data_len = work->frame;
		mbuf->pkt_len = work->frame;
		eth->dst_addr = (struct rte_ether_addr){ { RTE_ETHER_LOCAL_ADMIN_ADDR } };
		eth->src_addr = eth->dst_addr;
		eth->ether_type = RTE_BE16(EXPERIMENTAL_ETHER_TYPE);
	}
	return nb;
}

static void
run_tx(struct perf_work *work, struct perf_region *region)
{
	uint16_t nb = prepare(work, work->calls * work->burst), queue = next_queue(work);
	uint64_t start = perf_clock();
	uint16_t i;

	for (i = 0; i + work->burst <= nb; i += work->burst)
		region->packets += rte_eth_tx_burst(work->ports.tx, queue,
			&work->pkts[region->packets], work->burst);
	region->cycles = perf_clock() - start;
	free_all(&work->pkts[region->packets], nb - region->packets);
}

static uint16_t
send_all(struct perf_work *work, uint16_t queue, uint16_t nb)
{
	uint16_t sent = rte_eth_tx_burst(work->ports.tx, queue, work->pkts, nb);

	if (unlikely(sent != nb))
		free_all(&work->pkts[sent], nb - sent);
	return nb;
}

static void
run_io(struct perf_work *work, struct perf_region *region)
{
	uint64_t start = perf_clock();
	uint16_t i;

	for (i = 0; i < work->calls; i++) {
		uint16_t queue = work->queue;

		region->packets += send_all(work, queue, receive(work));
	}
	region->cycles = perf_clock() - start;
}

static void
swap_addresses(struct perf_work *work, uint16_t nb)
{
	uint16_t i;

	for (i = 0; i < nb; i++) {
		struct rte_ether_hdr *eth = rte_pktmbuf_mtod(work->pkts[i], struct rte_ether_hdr *);
		struct rte_ether_addr dst = eth->dst_addr;

		eth->dst_addr = eth->src_addr;
		eth->src_addr = dst;
	}
}

static void
run_macswap(struct perf_work *work, struct perf_region *region)
{
	uint64_t start = perf_clock();
	uint16_t i;

	for (i = 0; i < work->calls; i++) {
		uint16_t queue = work->queue, nb = receive(work);

		swap_addresses(work, nb);
		region->packets += send_all(work, queue, nb);
	}
	region->cycles = perf_clock() - start;
}

/* Receives, and pays for each packet what a driver without recycling pays. */
static void
run_naive(struct perf_work *work, struct perf_region *region)
{
	uint64_t start = perf_clock();
	uint16_t i, j;

	for (i = 0; i < work->calls; i++) {
		uint16_t nb = receive(work);

		for (j = 0; j < nb; j++)
			perf_standin_turn_over();
		free_all(work->pkts, nb);
		region->packets += nb;
	}
	region->cycles = perf_clock() - start;
}

const struct perf_scenario perf_scenarios[] = {
	{ "rx-free", "rx_burst and rte_pktmbuf_free", "nothing", true, false, run_rx_free, NULL, NULL },
	{ "rx-free-bulk", "rx_burst and rte_pktmbuf_free_bulk", "nothing", true, false, run_rx_free_bulk,
	  NULL, NULL },
	{ "rx-touch-free", "rx_burst, reading the EtherType, rte_pktmbuf_free", "nothing", true, false,
	  run_rx_touch_free, NULL, NULL },
	{ "tx", "tx_burst with the frees it does", "allocation and filling of the packets", false, true,
	  run_tx, NULL, NULL },
	{ "io", "rx_burst and tx_burst to the other port", "nothing", true, true, run_io, NULL, NULL },
	{ "macswap", "rx_burst, swap of the addresses, tx_burst to the other port", "nothing",
	  true, true, run_macswap, NULL, NULL },
	{ "naive", "rx_burst, a page allocated, mapped, unmapped and freed per packet, "
	  "rte_pktmbuf_free", "nothing", true, false, run_naive, perf_standin_begin, perf_standin_end },
	{ NULL, NULL, NULL, false, false, NULL, NULL, NULL },
};

const struct perf_scenario *
perf_scenario_find(const char *name)
{
	const struct perf_scenario *scenario;

	for (scenario = perf_scenarios; scenario->name != NULL; scenario++) {
		if (strcmp(scenario->name, name) == 0)
			return scenario;
	}
	return NULL;
}
