/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What testpmd does not reach of net_mlx4x, through the ethdev API: receive interrupts,
 * descriptor states, tx_done_cleanup, time stamps, memory of all kinds, frames that
 * cannot be sent, reset. Runs on one port that gets back what it sends
 * (vcx3 --wire 1=self).
 */

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_interrupts.h>
#include <rte_malloc.h>
#include <rte_mbuf_dyn.h>
#include <rte_net_crc.h>
#include <rte_power_intrinsics.h>

#include "self_port.h"

static int
test_interrupts(void)
{
	struct rte_eth_conf conf = { .intr_conf.rxq = 1 };
	struct rte_epoll_event event;
	uint16_t i;

	CHECK(self_start(&conf) == 0);
	CHECK(rte_eth_dev_rx_intr_ctl_q(PORT, 0, RTE_EPOLL_PER_THREAD, RTE_INTR_EVENT_ADD, NULL) == 0);
	CHECK(rte_eth_dev_rx_intr_disable(PORT, 0) == 0);	/* nothing has come */
	for (i = 0; i < 20; i++) {
		struct rte_mbuf *mbuf = new_frame(i);

		/* Twice in a row is normal; half of the frames come before the arming. */
		if (i % 2)
			CHECK(rte_eth_dev_rx_intr_enable(PORT, 0) == 0);
		CHECK(send_frame(mbuf));
		CHECK(rte_eth_dev_rx_intr_enable(PORT, 0) == 0);
		CHECK(rte_epoll_wait(RTE_EPOLL_PER_THREAD, &event, 1, WAIT_MS) == 1);
		CHECK(rte_eth_dev_rx_intr_disable(PORT, 0) == 0);
		CHECK(take_frame(i));
	}
	CHECK(rte_epoll_wait(RTE_EPOLL_PER_THREAD, &event, 1, 50) == 0);
	CHECK(rte_eth_dev_rx_intr_enable(PORT, 0) == 0);
	CHECK(send_frame(new_frame(i)));	/* an event that nobody takes */
	CHECK(take_frame(i));
	return 0;
}

static int
test_descriptors(void)
{
	struct rte_eth_conf conf = { 0 };
	uint16_t i;

	CHECK(self_start(&conf) == 0);
	CHECK(rte_eth_rx_queue_count(PORT, 0) == 0);
	CHECK(rte_eth_rx_descriptor_status(PORT, 0, 0) == RTE_ETH_RX_DESC_AVAIL);
	CHECK(rte_eth_rx_descriptor_status(PORT, 0, RING) == -EINVAL);
	CHECK(rte_eth_tx_descriptor_status(PORT, 0, 0) == RTE_ETH_TX_DESC_DONE);
	CHECK(rte_eth_tx_descriptor_status(PORT, 0, RING - 1) == RTE_ETH_TX_DESC_DONE);
	CHECK(rte_eth_tx_descriptor_status(PORT, 0, RING) == -EINVAL);
	for (i = 0; i < 10; i++)
		CHECK(send_frame(new_frame(i)));
	CHECK_SOON(rte_eth_rx_queue_count(PORT, 0) == 10);
	CHECK(rte_eth_rx_descriptor_status(PORT, 0, 9) == RTE_ETH_RX_DESC_DONE);
	CHECK(rte_eth_rx_descriptor_status(PORT, 0, 10) == RTE_ETH_RX_DESC_AVAIL);
	for (i = 0; i < 10; i++)
		CHECK(take_frame(i));
	CHECK(rte_eth_rx_queue_count(PORT, 0) == 0);
	return 0;
}

static int
test_done_cleanup(void)
{
	struct rte_eth_conf conf = { 0 };
	unsigned int before, i;

	CHECK(self_start(&conf) == 0);
	before = rte_mempool_in_use_count(pool);
	for (i = 0; i < 7; i++)
		CHECK(send_frame(new_frame(i)));
	/* The youngest of them is done. */
	CHECK_SOON(rte_eth_tx_descriptor_status(PORT, 0, RING - 1) == RTE_ETH_TX_DESC_DONE);
	CHECK(rte_eth_tx_done_cleanup(PORT, 0, 3) == 3);
	CHECK(rte_eth_tx_done_cleanup(PORT, 0, 0) == 4);
	CHECK(rte_eth_tx_done_cleanup(PORT, 0, 0) == 0);
	for (i = 0; i < 7; i++)
		CHECK(take_frame(i));
	/* Nothing but what the refill has not yet replaced. */
	CHECK(rte_mempool_in_use_count(pool) <= before);
	return 0;
}

static int
test_timestamps(void)
{
	struct rte_eth_conf conf = { .rxmode.offloads = RTE_ETH_RX_OFFLOAD_TIMESTAMP };
	uint64_t flag, last = 0, now, clock = 0;
	int offset;
	uint16_t i;

	CHECK(self_start(&conf) == 0);
	CHECK(rte_mbuf_dyn_rx_timestamp_register(&offset, &flag) == 0);
	CHECK(rte_eth_read_clock(PORT, &clock) == 0);
	for (i = 0; i < 10; i++) {
		struct rte_mbuf *mbuf;

		CHECK(send_frame(new_frame(i)));
		mbuf = receive_frame();
		CHECK(mbuf != NULL);
		CHECK(mbuf->ol_flags & flag);
		now = *RTE_MBUF_DYNFIELD(mbuf, offset, rte_mbuf_timestamp_t *);
		CHECK(now > last);
		CHECK(now > clock);
		last = now;
		rte_pktmbuf_free(mbuf);
		rte_delay_ms(1);
	}
	CHECK_SOON(rte_eth_read_clock(PORT, &clock) == 0 && clock > last);
	return 0;
}

static void
free_nothing(void *addr, void *opaque)
{
	(*(unsigned int *)opaque)++;
}

static struct rte_mbuf_ext_shared_info shared_info;
static unsigned int nb_released;

/* True once the driver has given back an external buffer for the nth time. */
static bool
is_released(unsigned int n)
{
	unsigned int ms;

	for (ms = 0; ms < WAIT_MS && nb_released != n; ms++) {
		rte_eth_tx_done_cleanup(PORT, 0, 0);
		rte_delay_ms(1);
	}
	return nb_released == n;
}

/* A frame whose data lies outside of any mempool. */
static struct rte_mbuf *
external_frame(void *buffer, uint16_t size, uint16_t number)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);

	if (mbuf == NULL)
		return NULL;
	shared_info.free_cb = free_nothing;
	shared_info.fcb_opaque = &nb_released;
	rte_mbuf_ext_refcnt_set(&shared_info, 1);
	rte_pktmbuf_attach_extbuf(mbuf, buffer, RTE_BAD_IOVA, size, &shared_info);
	write_frame(mbuf, number);
	return mbuf;
}

/* Buffers of rte_malloc(): registered when they are first sent, nothing is lost. */
static int
test_heap_memory(void)
{
	struct rte_eth_conf conf = { 0 };
	void *buffer;

	CHECK(self_start(&conf) == 0);
	buffer = rte_malloc(NULL, 4096, 64);
	CHECK(buffer != NULL);
	nb_released = 0;
	CHECK(echo(external_frame(buffer, 4096, 1), 1) == 0);
	CHECK(is_released(1));
	CHECK(echo(external_frame(buffer, 4096, 2), 2) == 0);
	CHECK(is_released(2));
	CHECK(send_errors() == 0);
	rte_free(buffer);
	return 0;
}

/* Memory that nobody has told the driver of: dropped, counted, nothing is blocked. */
static int
test_unknown_memory(void)
{
	struct rte_eth_conf conf = { 0 };
	void *buffer = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rte_eth_dev_info info;

	CHECK(buffer != MAP_FAILED);
	CHECK(self_start(&conf) == 0);
	nb_released = 0;
	CHECK(send_frame(external_frame(buffer, 4096, 1)));
	CHECK(is_released(1));
	CHECK(send_errors() == 1);
	CHECK(echo(new_frame(2), 2) == 0);
	/* Told of it, the driver sends it; and forgets it again. */
	CHECK(rte_eth_dev_info_get(PORT, &info) == 0);
	CHECK(rte_extmem_register(buffer, 4096, NULL, 0, 4096) == 0);
	CHECK(rte_dev_dma_map(info.device, buffer, 0, 4096) == 0);
	CHECK(echo(external_frame(buffer, 4096, 3), 3) == 0);
	CHECK(is_released(2));
	CHECK(send_errors() == 1);
	CHECK(rte_dev_dma_unmap(info.device, buffer, 0, 4096) == 0);
	CHECK(rte_extmem_unregister(buffer, 4096) == 0);
	CHECK(send_frame(external_frame(buffer, 4096, 4)));
	CHECK(send_errors() == 2);
	CHECK(echo(new_frame(5), 5) == 0);
	return 0;
}

/* A pool made and destroyed while the port runs. */
static int
test_pool_comes_and_goes(void)
{
	struct rte_eth_conf conf = { 0 };
	struct rte_mempool *first = pool;
	unsigned int i;

	CHECK(self_start(&conf) == 0);
	for (i = 0; i < 5; i++) {
		struct rte_mempool *other = rte_pktmbuf_pool_create("other", 255, 0, 0, 2176,
			SOCKET_ID_ANY);
		int ret;

		CHECK(other != NULL);
		pool = other;
		ret = echo(new_frame(i), i);
		pool = first;
		CHECK(ret == 0);
		CHECK(rte_eth_tx_done_cleanup(PORT, 0, 0) >= 0);
		CHECK(rte_mempool_in_use_count(other) == 0);
		rte_mempool_free(other);
	}
	return 0;
}

/* One registration for a pool, none for traffic, stops and starts. */
static int
test_registrations(void)
{
	struct rte_eth_conf conf = { 0 };
	long before, i;

	CHECK(self_start(&conf) == 0);
	before = card_counter("registrations");
	CHECK(card_counter("live_mpts") == 1);
	for (i = 0; i < 3; i++) {
		CHECK(echo(new_frame(i), i) == 0);
		CHECK(rte_eth_dev_stop(PORT) == 0);
		CHECK(rte_eth_dev_start(PORT) == 0);
	}
	CHECK(card_counter("registrations") == before);
	return 0;
}

/* The pool of the receive queue is replaced while the port is stopped. */
static int
test_pool_replaced(void)
{
	struct rte_eth_conf conf = { 0 };
	struct rte_mempool *first = pool;
	unsigned int i;

	for (i = 0; i < 5; i++) {
		struct rte_mempool *other = rte_pktmbuf_pool_create("other", 511, 0, 0,
			i % 2 ? 2176 : 4096, SOCKET_ID_ANY);
		int ret;

		CHECK(other != NULL);
		pool = other;
		ret = self_start(&conf) == 0 ? echo(new_frame(i), i) : -1;
		pool = first;
		CHECK(ret == 0);
		CHECK(rte_eth_dev_stop(PORT) == 0);
		CHECK(rte_mempool_in_use_count(other) == 0);
		rte_mempool_free(other);
	}
	CHECK(self_start(&conf) == 0);
	return echo(new_frame(i), i);
}

/* A pool in many small pieces that touch each other: one region all the same. */
static int
test_pool_in_pieces(void)
{
	enum { PIECES = 700, PIECE = 8192, PER_PIECE = 3 };
	const unsigned int elt_size = sizeof(struct rte_mbuf) + 2176;
	struct rte_eth_conf conf = { 0 };
	struct rte_mempool *first = pool, *other;
	char *memory = rte_malloc(NULL, PIECES * PIECE, PIECE);
	unsigned int i;
	long before;
	int ret;

	CHECK(memory != NULL);
	other = rte_mempool_create_empty("pieces", PIECES * PER_PIECE, elt_size, 0,
		sizeof(struct rte_pktmbuf_pool_private), SOCKET_ID_ANY, 0);
	CHECK(other != NULL);
	rte_pktmbuf_pool_init(other, NULL);
	for (i = 0; i < PIECES; i++)
		CHECK(rte_mempool_populate_iova(other, memory + i * PIECE, RTE_BAD_IOVA, PIECE, NULL,
			NULL) == PER_PIECE);
	rte_mempool_obj_iter(other, rte_pktmbuf_init, NULL);
	before = card_counter("registrations");
	pool = other;
	ret = self_start(&conf) == 0 ? echo(new_frame(1), 1) : -1;
	pool = first;
	CHECK(ret == 0);
	CHECK(card_counter("registrations") == before + 1);
	CHECK(rte_eth_dev_stop(PORT) == 0);
	CHECK(rte_mempool_in_use_count(other) == 0);
	rte_mempool_free(other);
	rte_free(memory);
	return 0;
}

/*
 * DPDK's heap grows by pages, which are given back later. Frames in what stays of a
 * region are sent with its key; what went is registered anew when it comes back.
 */
static int
test_memory_hotplug(void)
{
	const size_t size = 64 << 20;	/* more than EAL had at start (-m 64) */
	struct rte_eth_conf conf = { 0 };
	long before;
	unsigned int i;

	CHECK(self_start(&conf) == 0);
	nb_released = 0;
	for (i = 0; i < 3; i++) {
		void *stays = rte_malloc(NULL, size, 64), *goes = rte_malloc(NULL, size, 64);

		CHECK(stays != NULL && goes != NULL);
		before = card_counter("registrations");
		CHECK(echo(external_frame(stays, 4096, 1), 1) == 0);
		CHECK(card_counter("registrations") > before);
		CHECK(is_released(3 * i + 1));
		CHECK(echo(external_frame(goes, 4096, 2), 2) == 0);
		CHECK(is_released(3 * i + 2));
		before = card_counter("registrations");
		rte_free(goes);
		CHECK(echo(external_frame(stays, 4096, 3), 3) == 0);
		CHECK(is_released(3 * i + 3));
		CHECK(card_counter("registrations") == before);
		rte_free(stays);
	}
	CHECK(send_errors() == 0);
	return 0;
}

/* A pool whose buffers are the application's own memory, to receive into and to send from. */
static int
test_external_pool(void)
{
	const size_t size = 4 << 20;
	struct rte_eth_conf conf = { 0 };
	struct rte_mempool *first = pool, *other;
	struct rte_pktmbuf_extmem memory = { .buf_len = size, .elt_size = 2176 };
	struct rte_eth_dev_info info;
	int ret;

	memory.buf_ptr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memory.buf_iova = RTE_BAD_IOVA;
	CHECK(memory.buf_ptr != MAP_FAILED);
	CHECK(rte_eth_dev_info_get(PORT, &info) == 0);
	CHECK(rte_extmem_register(memory.buf_ptr, size, NULL, 0, 4096) == 0);
	other = rte_pktmbuf_pool_create_extbuf("external", 1023, 0, 0, 2176, SOCKET_ID_ANY, &memory, 1);
	CHECK(other != NULL);
	pool = other;
	ret = self_start(&conf);	/* not mapped for the device: refused with a sentence */
	pool = first;
	CHECK(ret != 0);
	CHECK(rte_dev_dma_map(info.device, memory.buf_ptr, 0, size) == 0);
	pool = other;
	ret = self_start(&conf) == 0 ? echo(new_frame(1), 1) : -1;
	pool = first;
	CHECK(ret == 0);
	CHECK(rte_eth_dev_stop(PORT) == 0);
	CHECK(rte_mempool_in_use_count(other) == 0);
	rte_mempool_free(other);
	CHECK(rte_dev_dma_unmap(info.device, memory.buf_ptr, 0, size) == 0);
	CHECK(rte_extmem_unregister(memory.buf_ptr, size) == 0);
	munmap(memory.buf_ptr, size);
	return 0;
}

/* Frames that no descriptor can hold do not block those behind them. */
static int
test_malformed(void)
{
	struct rte_eth_conf conf = { .txmode.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS };
	struct rte_mbuf *frames[3];
	unsigned int i;

	CHECK(self_start(&conf) == 0);
	frames[0] = rte_pktmbuf_alloc(pool);	/* no data at all */
	frames[1] = new_frame(0);
	for (i = 0; i < 40; i++)
		CHECK(rte_pktmbuf_chain(frames[1], new_frame(i)) == 0);
	frames[2] = new_frame(7);
	CHECK(rte_eth_tx_prepare(PORT, 0, frames, 3) == 0);
	CHECK(rte_errno == EINVAL);
	CHECK(rte_eth_tx_prepare(PORT, 0, &frames[2], 1) == 1);
	CHECK(rte_eth_tx_burst(PORT, 0, frames, 3) == 3);
	CHECK(send_errors() == 2);
	CHECK(take_frame(7));
	return 0;
}

static uint16_t
number_of(const struct rte_mbuf *mbuf)
{
	uint16_t number;

	memcpy(&number, rte_pktmbuf_mtod_offset(mbuf, void *, 14), sizeof(number));
	return number;
}

/* Takes what has come until the frame of this number; false if one comes out of order. */
static bool
take_until(uint16_t number, int last)
{
	struct rte_mbuf *mbuf;

	while (last != number && (mbuf = receive_frame()) != NULL) {
		bool in_order = number_of(mbuf) > last;

		last = number_of(mbuf);
		rte_pktmbuf_free(mbuf);
		if (!in_order)
			return false;
	}
	return last == number;
}

/* The mempool runs dry, and nothing that is received goes back; afterwards all is as before. */
static int
test_starvation(void)
{
	static struct rte_mbuf *hoard[4096], *back[3 * RING];
	struct rte_eth_conf conf = { 0 };
	unsigned int nb = 0, i;
	long nb_back = 0;
	int last;
	long before = card_counter("rx_frames");
	struct rte_eth_stats stats;

	CHECK(self_start(&conf) == 0);
	while (nb < RTE_DIM(hoard) && (hoard[nb] = new_frame(nb)) != NULL)
		nb++;
	CHECK(nb > 3 * RING && nb < RTE_DIM(hoard));
	for (i = 0; i < 3 * RING; i++) {
		rte_mbuf_refcnt_update(hoard[i], 1);	/* not back to the pool when sent */
		CHECK(send_frame(hoard[i]));
		nb_back += rte_eth_rx_burst(PORT, 0, &back[nb_back], 1);
	}
	/* What the card put into buffers. */
	while (nb_back < card_counter("rx_frames") - before)
		CHECK((back[nb_back++] = receive_frame()) != NULL);
	CHECK(rte_eth_stats_get(PORT, &stats) == 0);
	CHECK(stats.rx_nombuf != 0);
	for (i = 1; i < (unsigned int)nb_back; i++)
		CHECK(number_of(back[i]) > number_of(back[i - 1]));
	last = number_of(back[nb_back - 1]);
	rte_pktmbuf_free_bulk(back, nb_back);
	rte_pktmbuf_free_bulk(hoard, nb);
	/* The next poll fills the ring again; frames that found it empty are lost. */
	if (rte_eth_rx_burst(PORT, 0, back, 1) == 1) {
		CHECK(number_of(back[0]) > last);
		last = number_of(back[0]);
		rte_pktmbuf_free(back[0]);
	}
	CHECK(send_frame(new_frame(nb)));
	CHECK(take_until(nb, last));
	for (i = 0; i < 3 * RING; i++)
		CHECK(echo(new_frame(i), i) == 0);
	return 0;
}

static int
test_reset(void)
{
	struct rte_eth_conf conf = { 0 };

	CHECK(self_start(&conf) == 0);
	CHECK(echo(new_frame(1), 1) == 0);
	CHECK(rte_eth_promiscuous_enable(PORT) == 0);
	CHECK(rte_eth_dev_reset(PORT) == 0);
	CHECK(rte_eth_promiscuous_get(PORT) == 0);
	CHECK(self_start(&conf) == 0);
	CHECK(echo(new_frame(2), 2) == 0);
	return 0;
}

/* A send queue set up while the port runs, with offloads that the others do not have. */
static int
test_runtime_tx_queue(void)
{
	const struct rte_eth_txconf more = { .offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS };
	struct rte_eth_conf conf = { 0 };
	struct rte_mbuf *mbuf;
	uint16_t i;

	CHECK(rte_eth_dev_configure(PORT, 1, 2, &conf) == 0);
	CHECK(rte_eth_rx_queue_setup(PORT, 0, RING, SOCKET_ID_ANY, NULL, pool) == 0);
	CHECK(rte_eth_tx_queue_setup(PORT, 0, RING, SOCKET_ID_ANY, NULL) == 0);
	CHECK(rte_eth_dev_start(PORT) == 0);
	CHECK(echo(new_frame(1), 1) == 0);
	CHECK(rte_eth_tx_queue_setup(PORT, 1, RING, SOCKET_ID_ANY, &more) == 0);
	CHECK(rte_eth_dev_tx_queue_start(PORT, 1) == 0);
	for (i = 0; i < 2 * RING; i++) {
		mbuf = new_frame(i);
		CHECK(rte_pktmbuf_chain(mbuf, new_frame(i)) == 0);
		CHECK(rte_eth_tx_burst(PORT, 1, &mbuf, 1) == 1);
		mbuf = receive_frame();
		CHECK(mbuf != NULL && mbuf->pkt_len == 2 * FRAME);
		rte_pktmbuf_free(mbuf);
		CHECK(echo(new_frame(i), i) == 0);
	}
	CHECK(send_errors() == 0);
	return 0;
}

/* The port gets other offloads, and its queues follow without being set up again. */
static int
test_configured_anew(void)
{
	struct rte_eth_conf conf = { 0 };
	struct rte_mbuf *mbuf;
	uint16_t i;

	CHECK(self_start(&conf) == 0);
	CHECK(echo(new_frame(1), 1) == 0);
	CHECK(rte_eth_dev_stop(PORT) == 0);
	conf.txmode.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	CHECK(rte_eth_dev_configure(PORT, 1, 1, &conf) == 0);
	CHECK(rte_eth_dev_start(PORT) == 0);
	for (i = 0; i < 2 * RING; i++) {
		mbuf = new_frame(i);
		CHECK(rte_pktmbuf_chain(mbuf, new_frame(i)) == 0);
		CHECK(rte_eth_tx_prepare(PORT, 0, &mbuf, 1) == 1);
		CHECK(send_frame(mbuf));
		mbuf = receive_frame();
		CHECK(mbuf != NULL && mbuf->pkt_len == 2 * FRAME);
		rte_pktmbuf_free(mbuf);
	}
	return 0;
}

static bool
may_sleep(const struct rte_power_monitor_cond *condition)
{
	return condition->fn(*(volatile uint8_t *)condition->addr, condition->opaque) == 0;
}

/* The word that a processor watches while it sleeps says that a frame is there. */
static int
test_monitor(void)
{
	struct rte_eth_conf conf = { 0 };
	struct rte_power_monitor_cond condition;
	uint16_t i;

	CHECK(self_start(&conf) == 0);
	for (i = 0; i < 3 * RING; i++) {	/* laps of both parities */
		CHECK(rte_eth_get_monitor_addr(PORT, 0, &condition) == 0);
		CHECK(condition.size == 1);
		CHECK(may_sleep(&condition));
		CHECK(send_frame(new_frame(i)));
		CHECK_SOON(!may_sleep(&condition));
		CHECK(take_frame(i));
	}
	return 0;
}

/* A port whose queues are not all set up does not start; set up, it does. */
static int
test_missing_queue(void)
{
	struct rte_eth_conf conf = { 0 };

	CHECK(rte_eth_dev_configure(PORT, 2, 2, &conf) == 0);
	CHECK(rte_eth_rx_queue_setup(PORT, 0, RING, SOCKET_ID_ANY, NULL, pool) == 0);
	CHECK(rte_eth_tx_queue_setup(PORT, 0, RING, SOCKET_ID_ANY, NULL) == 0);
	CHECK(rte_eth_dev_start(PORT) == -EINVAL);
	CHECK(rte_eth_rx_queue_setup(PORT, 1, RING, SOCKET_ID_ANY, NULL, pool) == 0);
	CHECK(rte_eth_dev_start(PORT) == 0);
	return echo(new_frame(1), 1);
}

/* Ports of one direction only. */
static int
test_one_direction(void)
{
	struct rte_eth_conf conf = { .intr_conf.rxq = 1 };
	long before = card_counter("tx_frames");
	uint16_t i;

	CHECK(rte_eth_dev_configure(PORT, 0, 1, &conf) == 0);
	CHECK(rte_eth_tx_queue_setup(PORT, 0, RING, SOCKET_ID_ANY, NULL) == 0);
	CHECK(rte_eth_dev_start(PORT) == 0);
	CHECK(rte_eth_promiscuous_enable(PORT) == 0);
	for (i = 0; i < 2 * RING; i++)
		CHECK(send_frame(new_frame(i)));
	CHECK_SOON(card_counter("tx_frames") == before + 2 * RING);
	CHECK(rte_eth_promiscuous_disable(PORT) == 0);
	CHECK(rte_eth_dev_stop(PORT) == 0);
	CHECK(rte_eth_dev_configure(PORT, 1, 0, &conf) == 0);
	CHECK(rte_eth_rx_queue_setup(PORT, 0, RING, SOCKET_ID_ANY, NULL, pool) == 0);
	CHECK(rte_eth_dev_start(PORT) == 0);
	return 0;
}

/* Queues that are started later than the port, stopped and started again. */
static int
test_deferred_start(void)
{
	const struct rte_eth_rxconf rx = { .rx_deferred_start = 1 };
	const struct rte_eth_txconf tx = { .tx_deferred_start = 1 };
	struct rte_eth_conf conf = { 0 };
	struct rte_mbuf *mbuf = NULL;
	unsigned int i;

	CHECK(rte_eth_dev_configure(PORT, 1, 1, &conf) == 0);
	CHECK(rte_eth_rx_queue_setup(PORT, 0, RING, SOCKET_ID_ANY, &rx, pool) == 0);
	CHECK(rte_eth_tx_queue_setup(PORT, 0, RING, SOCKET_ID_ANY, &tx) == 0);
	CHECK(rte_eth_dev_start(PORT) == 0);
	CHECK(rte_mempool_in_use_count(pool) == 0);
	mbuf = new_frame(1);
	CHECK(rte_eth_tx_burst(PORT, 0, &mbuf, 1) == 0);
	CHECK(rte_eth_rx_burst(PORT, 0, &mbuf, 1) == 0);
	CHECK(rte_eth_rx_descriptor_status(PORT, 0, 0) == RTE_ETH_RX_DESC_UNAVAIL);
	CHECK(rte_eth_tx_descriptor_status(PORT, 0, 0) == RTE_ETH_TX_DESC_UNAVAIL);
	rte_pktmbuf_free(mbuf);
	for (i = 0; i < 5; i++) {
		CHECK(rte_eth_dev_rx_queue_start(PORT, 0) == 0);
		CHECK(rte_eth_dev_tx_queue_start(PORT, 0) == 0);
		CHECK(echo(new_frame(i), i) == 0);
		CHECK(rte_eth_dev_rx_queue_stop(PORT, 0) == 0);
		CHECK(rte_eth_dev_tx_queue_stop(PORT, 0) == 0);
		CHECK(rte_mempool_in_use_count(pool) == 0);
	}
	return 0;
}

/* The check sequence stays behind the frame, in the buffer but in no length. */
static int
test_keep_crc(void)
{
	struct rte_eth_conf conf = { .rxmode.offloads = RTE_ETH_RX_OFFLOAD_KEEP_CRC };
	struct rte_mbuf *mbuf;
	uint32_t crc;
	uint16_t i;

	CHECK(self_start(&conf) == 0);
	for (i = 0; i < 2 * RING; i++) {
		CHECK(send_frame(new_frame(i)));
		mbuf = receive_frame();
		CHECK(mbuf != NULL && mbuf->pkt_len == FRAME && mbuf->data_len == FRAME);
		memcpy(&crc, rte_pktmbuf_mtod_offset(mbuf, void *, FRAME), sizeof(crc));
		CHECK(crc == rte_net_crc_calc(rte_pktmbuf_mtod(mbuf, void *), FRAME,
			RTE_NET_CRC32_ETH));
		rte_pktmbuf_free(mbuf);
	}
	return 0;
}

static const struct self_test tests[] = {
	{ "registrations", test_registrations },	/* before those that use other memory */
	{ "interrupts", test_interrupts },
	{ "descriptors", test_descriptors },
	{ "done_cleanup", test_done_cleanup },
	{ "timestamps", test_timestamps },
	{ "heap_memory", test_heap_memory },
	{ "unknown_memory", test_unknown_memory },
	{ "pool_comes_and_goes", test_pool_comes_and_goes },
	{ "pool_replaced", test_pool_replaced },
	{ "pool_in_pieces", test_pool_in_pieces },
	{ "memory_hotplug", test_memory_hotplug },
	{ "external_pool", test_external_pool },
	{ "malformed", test_malformed },
	{ "starvation", test_starvation },
	{ "reset", test_reset },
	{ "configured_anew", test_configured_anew },
	{ "monitor", test_monitor },
	{ "missing_queue", test_missing_queue },
	{ "one_direction", test_one_direction },
	{ "deferred_start", test_deferred_start },
	{ "keep_crc", test_keep_crc },
	{ "runtime_tx_queue", test_runtime_tx_queue },
};

int
main(int argc, char **argv)
{
	return self_main(argc, argv, tests, RTE_DIM(tests));
}
