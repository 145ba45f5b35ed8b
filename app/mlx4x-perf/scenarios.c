/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The scenarios: what an application does with its bursts. They know nothing of any driver.
 */

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <linux/bpf.h>

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_mbuf.h>
#include <rte_memcpy.h>
#include <rte_ring.h>

#include "filter.h"
#include "hooks.h"
#include "near.h"
#include "program.h"
#include "standin.h"
#include "work.h"

/* IEEE 802, for experiments. */
#define EXPERIMENTAL_ETHER_TYPE 0x88b5

/* Packets that wait for another core at most. */
#define CPUMAP_QSIZE 2048u

static uint16_t
next_queue(struct perf_work *work)
{
	uint16_t queue = work->queue;

	work->queue = queue + 1 == work->first_queue + work->nb_polled ? work->first_queue :
		queue + 1;
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

static uint32_t
timed_rx_free(struct perf_work *work)
{
	uint32_t packets = 0;
	uint16_t i;

	for (i = 0; i < work->calls; i++) {
		uint16_t nb = receive(work);

		free_all(work->pkts, nb);
		packets += nb;
	}
	return packets;
}

static uint32_t
timed_rx_free_bulk(struct perf_work *work)
{
	uint32_t packets = 0;
	uint16_t i;

	for (i = 0; i < work->calls; i++) {
		uint16_t nb = receive(work);

		rte_pktmbuf_free_bulk(work->pkts, nb);
		packets += nb;
	}
	return packets;
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

static uint32_t
timed_rx_touch_free(struct perf_work *work)
{
	uint32_t packets = 0;
	uint16_t i;

	for (i = 0; i < work->calls; i++) {
		uint16_t nb = receive(work);

		touch(work, nb);
		free_all(work->pkts, nb);
		packets += nb;
	}
	return packets;
}

/* Packets to send, from a pool whose last ones are in the cache. */
static void
prepare_packets(struct perf_work *work)
{
	uint16_t nb = work->calls * work->burst, i;

	work->nb_prepared = 0;
	if (rte_pktmbuf_alloc_bulk(work->ports.mp, work->pkts, nb) != 0)
		return;
	for (i = 0; i < nb; i++) {
		struct rte_mbuf *mbuf = work->pkts[i];
		struct rte_ether_hdr *eth = rte_pktmbuf_mtod(mbuf, struct rte_ether_hdr *);

		mbuf->data_len = work->frame;
		mbuf->pkt_len = work->frame;
		eth->dst_addr = (struct rte_ether_addr){ { RTE_ETHER_LOCAL_ADMIN_ADDR } };
		eth->src_addr = eth->dst_addr;
		eth->ether_type = RTE_BE16(EXPERIMENTAL_ETHER_TYPE);
	}
	work->nb_prepared = nb;
}

static uint32_t
timed_tx(struct perf_work *work)
{
	uint16_t queue = next_queue(work), i;
	uint32_t packets = 0;

	for (i = 0; i < work->nb_prepared; i += work->burst)
		packets += rte_eth_tx_burst(work->ports.tx, queue, &work->pkts[packets],
			work->burst);
	return packets;
}

static void
free_unsent(struct perf_work *work, uint32_t packets)
{
	free_all(&work->pkts[packets], work->nb_prepared - packets);
}

static uint16_t
send_all(struct perf_work *work, uint16_t queue, uint16_t nb)
{
	uint16_t sent = rte_eth_tx_burst(work->ports.tx, queue, work->pkts, nb);

	if (unlikely(sent != nb))
		free_all(&work->pkts[sent], nb - sent);
	return nb;
}

static uint32_t
timed_io(struct perf_work *work)
{
	uint32_t packets = 0;
	uint16_t i;

	for (i = 0; i < work->calls; i++) {
		uint16_t queue = work->queue;

		packets += send_all(work, queue, receive(work));
	}
	return packets;
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

static uint32_t
timed_rx_swap_free(struct perf_work *work)
{
	uint32_t packets = 0;
	uint16_t i;

	for (i = 0; i < work->calls; i++) {
		uint16_t nb = receive(work);

		swap_addresses(work, nb);
		free_all(work->pkts, nb);
		packets += nb;
	}
	return packets;
}

static uint32_t
timed_macswap(struct perf_work *work)
{
	uint32_t packets = 0;
	uint16_t i;

	for (i = 0; i < work->calls; i++) {
		uint16_t queue = work->queue, nb = receive(work);

		swap_addresses(work, nb);
		packets += send_all(work, queue, nb);
	}
	return packets;
}

/* Receives, and pays for each page what a driver without recycling pays. */
static __rte_always_inline uint32_t
receive_naively(struct perf_work *work, void (*pay)(void))
{
	unsigned int pages = (work->frame + PERF_PAGE_SIZE - 1) / PERF_PAGE_SIZE;
	uint32_t packets = 0, j;
	uint16_t i;

	for (i = 0; i < work->calls; i++) {
		uint16_t nb = receive(work);

		for (j = 0; j < nb * pages; j++)
			pay();
		free_all(work->pkts, nb);
		packets += nb;
	}
	return packets;
}

static uint32_t
timed_naive(struct perf_work *work)
{
	return receive_naively(work, perf_standin_turn_over);
}

static uint32_t
timed_naive_alloc(struct perf_work *work)
{
	return receive_naively(work, perf_standin_allocate);
}

static uint32_t
timed_naive_map(struct perf_work *work)
{
	return receive_naively(work, perf_standin_map);
}

/* Copies each frame, as a driver does that hands up copies of what is short. */
static uint32_t
timed_rx_copy_free(struct perf_work *work)
{
	uint32_t packets = 0;
	uint16_t i, j;

	for (i = 0; i < work->calls; i++) {
		uint16_t nb = receive(work);

		for (j = 0; j < nb; j++)
			rte_memcpy(work->copy, rte_pktmbuf_mtod(work->pkts[j], const void *),
				work->pkts[j]->data_len);
		free_all(work->pkts, nb);
		packets += nb;
	}
	return packets;
}

/* One more reference to each buffer, taken and given back as if others did so too. */
static uint32_t
timed_rx_ref_free(struct perf_work *work)
{
	uint32_t packets = 0;
	uint16_t i, j;

	for (i = 0; i < work->calls; i++) {
		uint16_t nb = receive(work);

		for (j = 0; j < nb; j++) {
			__atomic_fetch_add(&work->pkts[j]->refcnt, 1, __ATOMIC_ACQ_REL);
			__atomic_fetch_sub(&work->pkts[j]->refcnt, 1, __ATOMIC_ACQ_REL);
		}
		free_all(work->pkts, nb);
		packets += nb;
	}
	return packets;
}

/* Counts each packet by its protocol, as the example program count_drop does. */
static uint32_t
timed_count_free(struct perf_work *work)
{
	uint32_t packets = 0;
	uint16_t i, j;

	for (i = 0; i < work->calls; i++) {
		uint16_t nb = receive(work);

		for (j = 0; j < nb; j++) {
			const uint8_t *data = rte_pktmbuf_mtod(work->pkts[j], const uint8_t *);

			perf_count_protocol(data, data + work->pkts[j]->data_len);
		}
		free_all(work->pkts, nb);
		packets += nb;
	}
	return packets;
}

/* Encapsulates each packet and sends it, as the example program encap_tx does. */
static uint32_t
timed_encap(struct perf_work *work)
{
	uint32_t packets = 0;
	uint16_t i, j;

	for (i = 0; i < work->calls; i++) {
		uint16_t queue = work->queue, nb = receive(work);

		for (j = 0; j < nb; j++) {
			uint8_t *data = rte_pktmbuf_mtod(work->pkts[j], uint8_t *);

			if (perf_encapsulate(data, data + work->pkts[j]->data_len))
				rte_pktmbuf_prepend(work->pkts[j], PERF_ENCAP_BYTES);
		}
		packets += send_all(work, queue, nb);
	}
	return packets;
}

/* Looks each packet up as xdp-filter does, and frees it. */
static uint32_t
timed_filter_free(struct perf_work *work)
{
	uint32_t packets = 0;
	uint16_t i, j;

	for (i = 0; i < work->calls; i++) {
		uint16_t nb = receive(work);

		for (j = 0; j < nb; j++) {
			const uint8_t *data = rte_pktmbuf_mtod(work->pkts[j], const uint8_t *);

			work->seen += perf_filter_allows(data, data + work->pkts[j]->data_len);
		}
		free_all(work->pkts, nb);
		packets += nb;
	}
	return packets;
}

/* Those of the first CPU move to the front; how many there are. Others are freed. */
static uint16_t
spread(struct perf_work *work, uint16_t nb)
{
	uint16_t i, kept = 0;

	for (i = 0; i < nb; i++) {
		struct rte_mbuf *mbuf = work->pkts[i];
		const uint8_t *data = rte_pktmbuf_mtod(mbuf, const uint8_t *);

		if (perf_flow_cpu(data, data + mbuf->data_len, work->nb_cpus) == 0)
			work->pkts[kept++] = mbuf;
		else
			rte_pktmbuf_free(mbuf);
	}
	return kept;
}

/* Hands packets to another core by a ring; this one plays that core too, the only one. */
static uint32_t
timed_ring_free(struct perf_work *work)
{
	uint32_t packets = 0;
	uint16_t i;

	for (i = 0; i < work->calls; i++) {
		uint16_t nb = spread(work, receive(work));
		uint16_t sent = rte_ring_mp_enqueue_burst(work->ring, (void **)work->pkts, nb, NULL);

		free_all(&work->pkts[sent], nb - sent);
		nb = rte_ring_sc_dequeue_burst(work->ring, (void **)work->pkts, work->burst, NULL);
		free_all(work->pkts, nb);
		packets += nb;
	}
	return packets;
}

static int
create_ring(struct perf_work *work, char *reason, size_t size)
{
	work->nb_cpus = 1;
	work->ring = rte_ring_create("perf", CPUMAP_QSIZE, rte_socket_id(), RING_F_SC_DEQ);
	if (work->ring != NULL)
		return 0;
	snprintf(reason, size, "no ring of %u packets: %s", CPUMAP_QSIZE, rte_strerror(rte_errno));
	return -rte_errno;
}

static void
free_ring(struct perf_work *work)
{
	rte_ring_free(work->ring);
	work->ring = NULL;
}

/* One CPU, number 0. */
static int
fill_cpumap(void)
{
	const struct bpf_cpumap_val value = { .qsize = CPUMAP_QSIZE };
	const uint32_t zero = 0, one = 1;
	int ret = perf_program_map_update("cpus", &zero, &value);

	return ret != 0 ? ret : perf_program_map_update("cpu_count", &zero, &one);
}

/* A program hands the frames to the queue of software, which this core polls too. */
static uint32_t
timed_cpumap_free(struct perf_work *work)
{
	uint32_t packets = 0;
	uint16_t i;

	for (i = 0; i < work->calls; i++) {
		uint16_t nb;

		free_all(work->pkts, receive(work));
		nb = rte_eth_rx_burst(work->ports.rx, work->ports.nb_queues, work->pkts,
			work->burst);
		free_all(work->pkts, nb);
		packets += nb;
	}
	return packets;
}

/* A program judges inside of the burst; the application gets nothing. */
static uint32_t
timed_polls(struct perf_work *work)
{
	uint16_t i;

	for (i = 0; i < work->calls; i++)
		free_all(work->pkts, receive(work));
	return 0;
}

#define HOOK(function) (&(const struct perf_program){ .hook = function })
#define OBJECT(name) (&(const struct perf_program){ .object = name })

const struct perf_scenario perf_scenarios[] = {
	{
		.name = "rx-free",
		.what = "rx_burst, rte_pktmbuf_free",
		.receives = true,
		.timed = timed_rx_free,
	}, {
		.name = "rx-free-bulk",
		.what = "rx_burst, rte_pktmbuf_free_bulk",
		.receives = true,
		.timed = timed_rx_free_bulk,
	}, {
		.name = "rx-touch-free",
		.what = "rx_burst, reading the EtherType, rte_pktmbuf_free",
		.receives = true,
		.timed = timed_rx_touch_free,
	}, {
		.name = "tx",
		.what = "tx_burst with the frees it does, of packets just allocated and written",
		.sends = true,
		.prepare = prepare_packets,
		.timed = timed_tx,
		.tidy = free_unsent,
	}, {
		.name = "io",
		.what = "rx_burst, tx_burst to the other port",
		.receives = true,
		.sends = true,
		.timed = timed_io,
	}, {
		.name = "macswap",
		.what = "rx_burst, swap of the addresses, tx_burst to the other port",
		.receives = true,
		.sends = true,
		.timed = timed_macswap,
	}, {
		.name = "rx-copy-free",
		.what = "rx_burst, a copy of the frame, rte_pktmbuf_free",
		.receives = true,
		.timed = timed_rx_copy_free,
	}, {
		.name = "rx-ref-free",
		.what = "rx_burst, an atomic reference taken and given back, rte_pktmbuf_free",
		.receives = true,
		.timed = timed_rx_ref_free,
	}, {
		.name = "naive",
		.what = "rx_burst, each page allocated, mapped, unmapped, freed, rte_pktmbuf_free",
		.receives = true,
		.timed = timed_naive,
		.begin = perf_standin_begin,
		.end = perf_standin_end,
	}, {
		.name = "naive-alloc",
		.what = "rx_burst, each page allocated and freed, rte_pktmbuf_free",
		.receives = true,
		.timed = timed_naive_alloc,
	}, {
		.name = "naive-map",
		.what = "rx_burst, each page mapped and unmapped, rte_pktmbuf_free",
		.receives = true,
		.timed = timed_naive_map,
		.begin = perf_standin_begin,
		.end = perf_standin_end,
	}, {
		.name = "hook-touch-drop",
		.what = "a native hook reads the EtherType and drops; stock: rx-touch-free",
		.receives = true,
		.timed = timed_polls,
		.program = HOOK(perf_hook_touch_drop),
		.plain = timed_rx_touch_free,
	}, {
		.name = "hook-drop",
		.what = "a native hook drops; stock: rx-free",
		.receives = true,
		.timed = timed_polls,
		.program = HOOK(perf_hook_drop),
		.plain = timed_rx_free,
	}, {
		.name = "object-drop",
		.what = "drop.bpf.o drops; stock: rx-free",
		.receives = true,
		.timed = timed_polls,
		.program = OBJECT("drop"),
		.plain = timed_rx_free,
		.twin = "hook-drop",
	}, {
		.name = "hook-swap-drop",
		.what = "a native hook swaps the addresses and drops; stock: the same, free",
		.receives = true,
		.timed = timed_polls,
		.program = HOOK(perf_hook_swap_drop),
		.plain = timed_rx_swap_free,
	}, {
		.name = "hook-count-drop",
		.what = "a native hook parses, counts by protocol, drops; stock: rx_burst, the same "
			"C code, rte_pktmbuf_free",
		.receives = true,
		.timed = timed_polls,
		.program = HOOK(perf_hook_count_drop),
		.plain = timed_count_free,
	}, {
		.name = "object-count-drop",
		.what = "count_drop.bpf.o parses, counts by protocol, drops; stock: rx_burst, the "
			"same in C, rte_pktmbuf_free",
		.receives = true,
		.timed = timed_polls,
		.program = OBJECT("count_drop"),
		.plain = timed_count_free,
		.twin = "hook-count-drop",
	}, {
		.name = "object-filter-drop",
		.what = "xdpfilt_dny_all.o of xdp-tools looks addresses and ports up among 1000 MAC "
			"and 1000 IPv4 addresses and drops; stock: rx_burst, the same with rte_hash, "
			"rte_pktmbuf_free",
		.receives = true,
		.timed = timed_polls,
		.program = &(const struct perf_program){
			.object = "xdpfilt_dny_all", .fill = perf_filter_fill,
		},
		.plain = timed_filter_free,
		.begin = perf_filter_begin,
		.end = perf_filter_end,
	}, {
		.name = "hook-tx",
		.what = "a native hook swaps the addresses, XDP_TX; stock: macswap",
		.receives = true,
		.sends = true,
		.timed = timed_polls,
		.program = HOOK(perf_hook_swap_tx),
		.plain = timed_macswap,
	}, {
		.name = "object-tx",
		.what = "swap_tx.bpf.o swaps the addresses, XDP_TX; stock: macswap",
		.receives = true,
		.sends = true,
		.timed = timed_polls,
		.program = OBJECT("swap_tx"),
		.plain = timed_macswap,
		.twin = "hook-tx",
	}, {
		.name = "hook-encap-tx",
		.what = "a native hook puts IPv4 into IPv4, XDP_TX; stock: rx_burst, the same C code, "
			"tx_burst",
		.receives = true,
		.sends = true,
		.timed = timed_polls,
		.program = HOOK(perf_hook_encap_tx),
		.plain = timed_encap,
	}, {
		.name = "object-encap-tx",
		.what = "encap_tx.bpf.o puts IPv4 into IPv4, XDP_TX; stock: rx_burst, the same in C, "
			"tx_burst",
		.receives = true,
		.sends = true,
		.timed = timed_polls,
		.program = OBJECT("encap_tx"),
		.plain = timed_encap,
		.twin = "hook-encap-tx",
	}, {
		.name = "hook-redirect",
		.what = "a native hook redirects to the other port; stock: io",
		.receives = true,
		.sends = true,
		.timed = timed_polls,
		.program = HOOK(perf_hook_redirect),
		.plain = timed_io,
	}, {
		.name = "hook-pass",
		.what = "a native hook passes, rte_pktmbuf_free; stock: rx-free",
		.receives = true,
		.timed = timed_rx_free,
		.program = HOOK(perf_hook_pass),
		.plain = timed_rx_free,
	}, {
		.name = "object-pass",
		.what = "pass.bpf.o passes, rte_pktmbuf_free; stock: rx-free",
		.receives = true,
		.timed = timed_rx_free,
		.program = OBJECT("pass"),
		.plain = timed_rx_free,
		.twin = "hook-pass",
	}, {
		/* Last: for a queue of software the workers start anew. */
		.name = "object-cpumap",
		.what = "cpumap_spread.bpf.o hashes the flow and hands the frame to a software queue by "
			"a CPUMAP, which the same core polls, rte_pktmbuf_free; stock: rx_burst, the "
			"same hash, rte_ring in and out, rte_pktmbuf_free; not in it: what another "
			"core would wait for",
		.receives = true,
		.soft_queue = true,
		.timed = timed_cpumap_free,
		.program = &(const struct perf_program){
			.object = "cpumap_spread", .fill = fill_cpumap,
		},
		.plain = timed_ring_free,
		.begin = create_ring,
		.end = free_ring,
	},
	{ .name = NULL },
};

bool
perf_scenario_possible(const struct perf_scenario *scenario)
{
	char path[PATH_MAX];

	if (scenario->program == NULL || scenario->program->object == NULL ||
	    perf_find_program(scenario->program->object, path, sizeof(path)) == 0)
		return true;
	fprintf(stderr, "mlx4x-perf: %s is left out: there is no program %s on this machine\n",
		scenario->name, scenario->program->object);
	return false;
}

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
