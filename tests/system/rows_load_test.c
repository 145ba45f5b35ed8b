/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Rows of the table of claims about the kernel's drivers (doc/testing.rst) that need many frames,
 * or much memory: net_mlx4x on the card's generator. First argument: the row.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <linux/bpf.h>

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include <rte_pmd_mlx4x.h>

#include "malloc_count.h"
#include "xdp_port.h"

#define BLOCK PAGE_POOL_PACKED_BLOCK_SIZE
#define PAGE PAGE_POOL_PAGE_SIZE
#define CACHE 128

static uint64_t verdict;

static uint64_t
any_verdict(struct xdpvm_buff *buff)
{
	return verdict;
}

static const struct rte_pmd_mlx4x_xdp_prog prog = { .hook = any_verdict };

static int
start_with(uint64_t action)
{
	verdict = action;
	CHECK(self_start(&(struct rte_eth_conf){ 0 }) == 0);
	CHECK(rte_eth_promiscuous_enable(PORT) == 0);
	CHECK(rte_pmd_mlx4x_xdp_set(PORT, &prog) == 0);
	return 0;
}

/* Turns of the card and polls, until the card has delivered so many frames more. */
static int
receive(uint64_t nb)
{
	long end = card_counter("rx_wqes") + nb;
	struct rte_mbuf *pkts[BURST];
	unsigned int i, idle = 0;
	long before;

	while (card_counter("rx_wqes") < end) {
		before = card_counter("rx_wqes");
		for (i = 0; i < 64; i++) {
			vcx3_step(4);
			rte_pktmbuf_free_bulk(pkts, rte_eth_rx_burst(PORT, 0, pkts, BURST));
		}
		idle = card_counter("rx_wqes") == before ? idle + 1 : 0;
		CHECK(idle < 100);
	}
	return 0;
}

#define ROW2_FRAMES 256
static uintptr_t sent_pages[ROW2_FRAMES];
static unsigned int nb_sent;

static uint64_t
note_page(struct xdpvm_buff *buff)
{
	if (verdict != XDP_TX)
		return verdict;
	if (nb_sent == ROW2_FRAMES)
		return XDP_DROP;
	sent_pages[nb_sent++] = (uintptr_t)buff->data;
	return XDP_TX;
}

/* Finds the queue that sends back by letting it send, and holds it when it is done. */
static int
stall_sending(void)
{
	static const struct rte_pmd_mlx4x_xdp_prog noting = { .hook = note_page };

	CHECK(start_with(XDP_TX) == 0);
	CHECK(rte_pmd_mlx4x_xdp_set(PORT, &noting) == 0);
	CHECK(receive(1000) == 0);
	CHECK(nb_sent == ROW2_FRAMES);
	CHECK(card_ctl("stall sq %ld", sending_qp()));
	nb_sent = 0;
	CHECK(receive(1000) == 0);
	CHECK(nb_sent == ROW2_FRAMES);
	return 0;
}

/* The address that was posted last. */
static uint64_t
last_posted(void)
{
	uint64_t addresses[RING];
	size_t nb = vcx3_posted(addresses, RING);

	return nb == 0 || nb > RING ? 0 : addresses[nb - 1];
}

/*
 * Row 2: of the pages that come back from XDP_TX a queue keeps 128, and uses the one that came
 * last first; the others go to the pool, where the kernel would unmap and free them. They stay
 * mapped.
 */
static int
test_row2_recycle_cache(void)
{
	long made, undone;
	uint64_t cached, full, in_use;
	struct rte_mbuf *mbuf;
	unsigned int i;

	CHECK(stall_sending() == 0);
	made = card_counter("registrations");
	undone = card_counter("deregistrations");
	cached = port_xstat(PORT, "rx_pp_recycle_cached");
	full = port_xstat(PORT, "rx_pp_recycle_cache_full");
	verdict = XDP_DROP;
	CHECK(card_ctl("resume"));
	CHECK(receive(1000) == 0);
	cached = port_xstat(PORT, "rx_pp_recycle_cached") - cached;
	full = port_xstat(PORT, "rx_pp_recycle_cache_full") - full;
	CHECK(cached > 0 && cached <= CACHE && cached + full == ROW2_FRAMES);
	verdict = XDP_PASS;
	for (i = 1; i <= 10; i++) {
		CHECK(rte_eth_rx_burst(PORT, 0, &mbuf, 1) == 1);
		CHECK(last_posted() == sent_pages[cached - i]);
		rte_pktmbuf_free(mbuf);
		vcx3_step(4);
	}
	CHECK(card_counter("registrations") == made && card_counter("deregistrations") == undone);
	in_use = pool_stats(pool).in_use;
	CHECK(rte_pmd_mlx4x_xdp_set(PORT, NULL) == 0);
	CHECK(in_use - pool_stats(pool).in_use == CACHE - 10);
	return 0;
}

/* Row 18: one mapping for the life of the port, whatever becomes of its frames. */
static int
test_row18_one_mapping(void)
{
	static const uint64_t verdicts[] = { XDP_DROP, XDP_PASS, XDP_TX, XDP_ABORTED };
	unsigned int i;

	for (i = 0; i < 3 * RTE_DIM(verdicts); i++) {
		CHECK(start_with(verdicts[i % RTE_DIM(verdicts)]) == 0);
		CHECK(receive(5000) == 0);
		CHECK(rte_pmd_mlx4x_xdp_set(PORT, NULL) == 0);
		CHECK(receive(5000) == 0);
		CHECK(card_counter("registrations") == 1);
		CHECK(card_counter("deregistrations") == 0);
		CHECK(rte_eth_dev_stop(PORT) == 0);
	}
	return 0;
}

#define UNIT 64		/* pages */
#define ROW19_ROUNDS 50
static bool stop;

static int
receive_until_stop(void *arg)
{
	struct rte_mbuf *pkts[BURST];

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		rte_pktmbuf_free_bulk(pkts, rte_eth_rx_burst(PORT, 0, pkts, BURST));
	return 0;
}

/* Frames come in: those that are counted after this was called. */
static int
receives_on(void)
{
	long before = card_counter("rx_wqes");

	CHECK_SOON(card_counter("rx_wqes") > before + 2 * RING);
	return 0;
}

static int
trim_once(void)
{
	long bytes = card_counter("registered_bytes"), undone = card_counter("deregistrations");
	int nb = page_pool_trim(pool, 10 * UNIT);

	CHECK(nb > 0 && nb <= 10 * UNIT);
	CHECK(bytes - card_counter("registered_bytes") == (long)nb * PAGE);
	CHECK((card_counter("deregistrations") - undone) * UNIT >= nb);
	CHECK(receives_on() == 0);
	CHECK(page_pool_untrim(pool, nb) == nb);
	CHECK(card_counter("registered_bytes") == bytes);
	CHECK(receives_on() == 0);
	return 0;
}

static int
trim_while_receiving(void)
{
	unsigned int lcore = rte_get_next_lcore(-1, 1, 0), i;
	int result = 0;

	CHECK(start_with(XDP_PASS) == 0);
	CHECK(rte_eal_remote_launch(receive_until_stop, NULL, lcore) == 0);
	for (i = 0; i < ROW19_ROUNDS && result == 0; i++)
		result = trim_once();
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	rte_eal_wait_lcore(lcore);
	CHECK(result == 0 && port_xstat(PORT, "rx_errors") == 0);
	CHECK(port_xstat(PORT, "rx_mbuf_allocation_errors") == 0);
	return 0;
}

/* Row 19: pages are given back under pressure while another lcore receives. */
static int
test_row19_trim(void)
{
	struct page_pool_config config = { .map_unit = UNIT * PAGE };

	return with_pool(page_pool_create("trimmed", 2048, 0, 0, 2176, SOCKET_ID_ANY, &config),
		trim_while_receiving);
}

#define ROW21_FRAMES 100000
#define ROW21_EVERY 21
#define ROW21_HELD (ROW21_FRAMES / ROW21_EVERY)

static int
compare_pointers(const void *a, const void *b)
{
	const uintptr_t *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

/* Blocks in which held mbufs lie. Sorts them. */
static unsigned int
pinned_blocks(struct rte_mbuf **mbufs, unsigned int nb, uint32_t block_size)
{
	unsigned int blocks = 0, i;

	qsort(mbufs, nb, sizeof(mbufs[0]), compare_pointers);
	for (i = 0; i < nb; i++)
		blocks += i == 0 ||
			(uintptr_t)mbufs[i] / block_size != (uintptr_t)mbufs[i - 1] / block_size;
	return blocks;
}

/* Receives frames and keeps every 21st; the others are freed, all at the end or at once. */
static int
hold_some(struct rte_mbuf **held, unsigned int nb_frames, struct rte_mbuf **backlog)
{
	unsigned int nb = 0, idle = 0;
	struct rte_mbuf *mbuf;

	while (nb < nb_frames) {
		vcx3_step(1);
		CHECK(idle++ < 1000);
		while (nb < nb_frames && rte_eth_rx_burst(PORT, 0, &mbuf, 1) == 1) {
			idle = 0;
			if (nb % ROW21_EVERY == ROW21_EVERY - 1)
				held[nb / ROW21_EVERY] = mbuf;
			else if (backlog != NULL)
				backlog[nb - nb / ROW21_EVERY] = mbuf;
			else
				rte_pktmbuf_free(mbuf);
			nb++;
		}
	}
	if (backlog != NULL)
		rte_pktmbuf_free_bulk(backlog, nb - nb / ROW21_EVERY);
	return 0;
}

static int
hold_of_pages(void)
{
	static struct rte_mbuf *held[ROW21_HELD];

	CHECK(start_with(XDP_PASS) == 0);
	CHECK(hold_some(held, ROW21_FRAMES, NULL) == 0);
	CHECK(port_xstat(PORT, "rx_mbuf_allocation_errors") == 0);
	CHECK(card_counter("rx_drop_no_wqe") == 0);
	CHECK(rte_pmd_mlx4x_xdp_set(PORT, NULL) == 0);
	CHECK(pool_stats(pool).in_use == ROW21_HELD + RING);
	CHECK(pinned_blocks(held, ROW21_HELD, PAGE) == ROW21_HELD);
	printf("%d of %d frames held: %lu bytes pinned\n", ROW21_HELD, ROW21_FRAMES,
		(unsigned long)ROW21_HELD * PAGE);
	rte_pktmbuf_free_bulk(held, ROW21_HELD);
	return 0;
}

#define ROW21_BLOCKS 20

static int
hold_of_blocks(void)
{
	struct rte_eth_conf conf = { .rxmode.mtu = 1000 };
	struct rte_mbuf *held[ROW21_BLOCKS], *backlog[ROW21_BLOCKS * (ROW21_EVERY - 1)];
	unsigned int nb;

	CHECK(self_start(&conf) == 0);
	CHECK(rte_eth_promiscuous_enable(PORT) == 0);
	CHECK(hold_some(held, ROW21_BLOCKS * ROW21_EVERY, backlog) == 0);
	nb = pinned_blocks(held, ROW21_BLOCKS, BLOCK);
	printf("%d frames held: %u blocks, %u bytes pinned\n", ROW21_BLOCKS, nb, nb * BLOCK);
	CHECK(nb == ROW21_BLOCKS);
	rte_pktmbuf_free_bulk(held, ROW21_BLOCKS);
	return 0;
}

/*
 * Row 21: who holds every 21st of 100,000 frames pins a page with each, and receiving never
 * stalls; in packed blocks each can pin 32 KiB.
 */
static int
test_row21_hostile_hold(void)
{
	CHECK(with_pool(rte_pktmbuf_pool_create_by_ops("pages", 6000, 0, 0, 1344, SOCKET_ID_ANY,
		PAGE_POOL_OPS), hold_of_pages) == 0);
	return with_pool(rte_pktmbuf_pool_create_by_ops("blocks", 2 * ROW21_BLOCKS * ROW21_EVERY, 0,
		0, 1344, SOCKET_ID_ANY, PAGE_POOL_OPS_PACKED), hold_of_blocks);
}

#define ROW55_QUEUES 8
#define ROW55_RING 4096
#define ROW55_BUFFERS (ROW55_QUEUES * ROW55_RING)
#define ROW55_BLOCKS ((ROW55_BUFFERS + 2) / 3)

static int
start_jumbo_queues(void)
{
	struct rte_eth_conf conf = { .rxmode = { .mq_mode = RTE_ETH_MQ_RX_RSS, .mtu = 9000 } };
	unsigned int i;

	CHECK(rte_eth_dev_configure(PORT, ROW55_QUEUES, 1, &conf) == 0);
	for (i = 0; i < ROW55_QUEUES; i++)
		CHECK(rte_eth_rx_queue_setup(PORT, i, ROW55_RING, 0, NULL, pool) == 0);
	CHECK(rte_eth_tx_queue_setup(PORT, 0, RING, 0, NULL) == 0);
	CHECK(rte_eth_dev_start(PORT) == 0);
	return 0;
}

static long peak_mapped;

static int
jumbo_memory(void)
{
	uint64_t bytes = pool_stats(pool).inflight_bytes;
	struct page_pool_layout layout;

	CHECK(bytes == (uint64_t)ROW55_BLOCKS * BLOCK);	/* 341.3 MiB */
	CHECK(start_jumbo_queues() == 0);
	CHECK(vcx3_posted(NULL, 0) == ROW55_BUFFERS && pool_stats(pool).in_ring == 0);
	peak_mapped = card_counter("registered_bytes");
	printf("%u buffers: %" PRIu64 " bytes\n", ROW55_BUFFERS, bytes);
	/* A block for each, as the kernel had it: half as much more. */
	CHECK(page_pool_layout_compute(192 + 9344, 0, &layout) == 0);
	CHECK(page_pool_layout_bytes(&layout, ROW55_BUFFERS) == UINT64_C(512) << 20);
	return 0;
}

/* Row 55: 8 rings of 4096 buffers for 9000 bytes take 341.3 MiB, not 512. */
static int
test_row55_jumbo_memory(void)
{
	long before, mapped;

	CHECK(activate_driver() == 0);
	before = card_counter("registered_bytes");
	CHECK(with_pool(rte_pktmbuf_pool_create_by_ops("jumbo", ROW55_BUFFERS, 0, 0, 9344,
		SOCKET_ID_ANY, PAGE_POOL_OPS_PACKED), jumbo_memory) == 0);
	CHECK(card_counter("registered_bytes") == before);
	mapped = (long)ROW55_BLOCKS * BLOCK;
	CHECK(peak_mapped - before >= mapped && peak_mapped - before < mapped + (long)BLOCK);
	return 0;
}

/* Row 63: no memory is allocated by a burst, whatever becomes of a frame. */
static int
test_row63_no_allocation(void)
{
	static const uint64_t verdicts[] = { XDP_DROP, XDP_PASS, XDP_TX, XDP_ABORTED };
	struct rte_mbuf *pkts[BURST];
	uint64_t before, seen;
	unsigned int i, k;

	CHECK(start_with(XDP_DROP) == 0);
	for (i = 0; i < RTE_DIM(verdicts); i++) {
		verdict = verdicts[i];
		CHECK(receive(5000) == 0);
		seen = port_xstat(PORT, "rx_xdp_packets");
		before = malloc_count();
		for (k = 0; k < 2000; k++) {
			vcx3_step(4);
			rte_pktmbuf_free_bulk(pkts, rte_eth_rx_burst(PORT, 0, pkts, BURST));
		}
		CHECK(malloc_count() == before);
		CHECK(port_xstat(PORT, "rx_xdp_packets") > seen + 20000);
		CHECK(malloc_count() > before);	/* the counters themselves are asked for with some */
	}
	return 0;
}

int
main(int argc, char **argv)
{
	static const struct self_test tests[] = {
		{ "row2_recycle_cache", test_row2_recycle_cache },
		{ "row18_one_mapping", test_row18_one_mapping },
		{ "row19_trim", test_row19_trim },
		{ "row21_hostile_hold", test_row21_hostile_hold },
		{ "row55_jumbo_memory", test_row55_jumbo_memory },
		{ "row63_no_allocation", test_row63_no_allocation },
	};
	int used = self_init(argc, argv);

	if (used < 0 || argc - used != 2)
		return 1;
	return self_run(tests, RTE_DIM(tests), argv[used + 1]);
}
