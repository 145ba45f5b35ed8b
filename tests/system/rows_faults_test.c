/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Rows of the table of claims about the kernel's drivers (doc/testing.rst): want of memory and
 * injected faults, through net_mlx4x on a wire that gives back what is sent (vcx3 --step).
 * Traffic goes on, each counter says what happened, and nothing is lost.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/bpf.h>

#include <rte_errno.h>
#include <rte_random.h>

#include <rte_pmd_mlx4x.h>

#include "xdp_port.h"

#define BLOCK PAGE_POOL_PACKED_BLOCK_SIZE
#define JUMBO_ROOM 9344
#define JUMBO_FRAME 9014u

static void
arm(enum page_pool_fault_site site, uint32_t percent, uint32_t times)
{
	page_pool_fault_set(site, &(struct page_pool_fault){ percent, 1, times });
}

static void
disarm(enum page_pool_fault_site site)
{
	page_pool_fault_set(site, &(struct page_pool_fault){ 0 });
}

static struct rte_mempool *
packed(const char *name, unsigned int n, uint16_t room)
{
	return rte_pktmbuf_pool_create_by_ops(name, n, 0, 0, room, SOCKET_ID_ANY,
		PAGE_POOL_OPS_PACKED);
}

/* Whether posted segments are nb, and all different. */
static bool
posted_are(size_t nb)
{
	uint64_t addresses[1024];
	size_t i, k;

	if (vcx3_posted(addresses, RTE_DIM(addresses)) != nb || nb > RTE_DIM(addresses))
		return false;
	for (i = 0; i < nb; i++) {
		for (k = 0; k < i; k++) {
			if (addresses[i] == addresses[k])
				return false;
		}
	}
	return true;
}

#define SEGMENTS 7	/* of a descriptor: buffers of 1344 bytes for frames of MTU 9000 */
#define DESCRIPTORS 16
#define MISSING 4	/* descriptors that make a refill worth while */
#define ROW35_BUFFERS 700

static struct rte_mempool *long_frames;	/* to send from */

/* Sends frames that take k buffers each. */
static int
send_long(unsigned int nb, unsigned int k, uint16_t room)
{
	while (nb-- != 0) {
		struct rte_mbuf *mbuf = rte_pktmbuf_alloc(long_frames);

		CHECK(mbuf != NULL);
		write_frame(mbuf, k);
		mbuf->data_len = RTE_MIN(k * room - RTE_PKTMBUF_HEADROOM - 10, JUMBO_FRAME);
		mbuf->pkt_len = mbuf->data_len;
		CHECK(send_frame(mbuf));
	}
	return 0;
}

/* A pool with left buffers receives what takes k of them for each of four descriptors. */
static int
starve_refill(unsigned int k, unsigned int left)
{
	uint16_t room = rte_pktmbuf_data_room_size(pool);
	struct rte_mbuf *held[ROW35_BUFFERS], *pkts[BURST];
	unsigned int nb_held = rte_mempool_avail_count(pool) - left, i;

	CHECK(rte_pktmbuf_alloc_bulk(pool, held, nb_held) == 0);
	CHECK(send_long(MISSING, k, room) == 0);
	settle();
	CHECK(rte_eth_rx_burst(PORT, 0, pkts, BURST) == MISSING);
	for (i = 0; i < MISSING; i++)
		CHECK(pkts[i]->nb_segs == k);
	/* Whole descriptors, as many as there are buffers for; the others are still in the pool. */
	CHECK(posted_are((DESCRIPTORS - MISSING + left / k) * SEGMENTS));
	CHECK(rte_mempool_avail_count(pool) == left % k);
	rte_pktmbuf_free_bulk(held, nb_held);
	rte_pktmbuf_free_bulk(pkts, MISSING);
	return 0;
}

/* All descriptors are complete again, once enough are missing to fill any. */
static int
fill_ring(void)
{
	CHECK(send_long(MISSING, 1, rte_pktmbuf_data_room_size(pool)) == 0);
	CHECK(poll_all() == MISSING);
	if (posted_are(DESCRIPTORS * SEGMENTS))
		return 0;
	CHECK(send_long(MISSING, 1, rte_pktmbuf_data_room_size(pool)) == 0);
	CHECK(poll_all() == MISSING);
	return 0;
}

static int
row35_body(void)
{
	struct rte_eth_conf conf = { .rxmode = {
		.mtu = 9000, .offloads = RTE_ETH_RX_OFFLOAD_SCATTER } };
	unsigned int k, left;

	CHECK(self_start(&conf) == 0);
	CHECK(posted_are(DESCRIPTORS * SEGMENTS));
	for (k = 1; k <= SEGMENTS; k++) {
		for (left = 0; left < MISSING * k; left++) {
			CHECK(starve_refill(k, left) == 0);
			CHECK(fill_ring() == 0);
		}
	}
	return 0;
}

/*
 * Row 35: a descriptor gets all its buffers or none, whatever number of them is to be had; none
 * is lost and none is there twice.
 */
static int
test_row35_all_or_none(void)
{
	int result;

	long_frames = rte_pktmbuf_pool_create("long frames", 64, 0, 0, 9600, SOCKET_ID_ANY);
	CHECK(long_frames != NULL);
	result = with_pool(packed("short buffers", ROW35_BUFFERS, 1536 - 192), row35_body);
	CHECK(page_pool_free(long_frames) == 0);
	return result;
}

#define ROW36_HELD 300

static struct {
	struct rte_mbuf *mbuf;
	uint16_t number;
} held[ROW36_HELD];
static unsigned int nb_held;
static uint64_t verdict;

static uint64_t
any_verdict(struct xdpvm_buff *buff)
{
	return verdict;
}

/* Frees a held frame that nobody may have written to; what is free may be written to. */
static int
release(unsigned int i)
{
	struct rte_mbuf *mbuf = held[i].mbuf;

	CHECK(memcmp(rte_pktmbuf_mtod_offset(mbuf, void *, 14), &held[i].number, 2) == 0);
	memset(rte_pktmbuf_mtod(mbuf, void *), 0xdd, mbuf->data_len);
	rte_pktmbuf_free(mbuf);
	held[i] = held[--nb_held];
	return 0;
}

/* Receives up to n frames and keeps them. */
static void
hold_burst(unsigned int n)
{
	struct rte_mbuf *pkts[BURST];
	uint16_t i, nb = rte_eth_rx_burst(PORT, 0, pkts, RTE_MIN(n, ROW36_HELD - nb_held));

	for (i = 0; i < nb; i++) {
		held[nb_held].mbuf = pkts[i];
		memcpy(&held[nb_held].number, rte_pktmbuf_mtod_offset(pkts[i], void *, 14), 2);
		nb_held++;
	}
}

static int
one_random_step(void)
{
	static const uint64_t verdicts[] = { XDP_DROP, XDP_PASS, XDP_PASS, XDP_TX };
	unsigned int n = rte_rand_max(BURST) + 1;

	switch (rte_rand_max(64)) {
	case 0:
		CHECK(page_pool_trim(pool, rte_rand_max(300)) >= 0);
		break;
	case 1:
		CHECK(page_pool_untrim(pool, rte_rand_max(300)) >= 0);
		break;
	case 2 ... 9:
		verdict = verdicts[rte_rand_max(RTE_DIM(verdicts))];
		break;
	case 10 ... 19:
		while (n-- != 0 && nb_held != 0)
			CHECK(release(rte_rand_max(nb_held)) == 0);
		break;
	case 20 ... 34:
		while (n-- != 0)
			offer_frame(rte_rand());
		break;
	case 35 ... 49:
		vcx3_step(rte_rand_max(3));
		break;
	default:
		hold_burst(n);
	}
	return 0;
}

static int
row36_body(void)
{
	static const struct rte_pmd_mlx4x_xdp_prog prog = { .hook = any_verdict };
	unsigned int i;

	verdict = XDP_PASS;
	nb_held = 0;
	CHECK(self_start(&(struct rte_eth_conf){ 0 }) == 0);
	CHECK(rte_pmd_mlx4x_xdp_set(PORT, &prog) == 0);
	for (i = 0; i < 20000; i++)
		CHECK(one_random_step() == 0);
	while (nb_held != 0)
		CHECK(release(0) == 0);
	verdict = XDP_DROP;
	CHECK(poll_all() == 0 && verdicts_add_up(PORT));
	CHECK(port_xstat(PORT, "rx_xdp_pass") > 1000 && port_xstat(PORT, "rx_xdp_tx") > 1000);
	CHECK(port_xstat(PORT, "rx_errors") == 0);	/* the card reached each buffer */
	CHECK(rte_pmd_mlx4x_xdp_set(PORT, NULL) == 0);
	CHECK(rte_eth_dev_stop(PORT) == 0);
	CHECK(page_pool_untrim(pool, 1000) >= 0);
	return 0;
}

/*
 * Row 36: whatever completes when, and whatever is trimmed meanwhile, no frame is written over
 * before it is freed, and the strict card never meets a buffer that is not mapped.
 */
static int
test_row36_order_of_release(void)
{
	struct page_pool_config config = { .map_unit = 64 * 1024 };

	return with_pool(page_pool_create("order", 900, 0, 0, 2176, SOCKET_ID_ANY, &config),
		row36_body);
}

static int
jumbo_traffic(void)
{
	struct rte_eth_conf conf = { .rxmode.mtu = 9000 };
	struct rte_mbuf *mbuf;
	unsigned int i;

	CHECK(self_start(&conf) == 0);
	for (i = 0; i < 300; i++) {
		mbuf = rte_pktmbuf_alloc(pool);
		CHECK(mbuf != NULL);
		write_frame(mbuf, i);
		mbuf->data_len = JUMBO_FRAME;
		mbuf->pkt_len = JUMBO_FRAME;
		CHECK(send_frame(mbuf));
		settle();
		mbuf = receive_frame();
		CHECK(mbuf != NULL && mbuf->pkt_len == JUMBO_FRAME);
		CHECK(*rte_pktmbuf_mtod_offset(mbuf, uint8_t *, 14) == (uint8_t)i);
		rte_pktmbuf_free(mbuf);
	}
	return 0;
}

/* Row 60: without large blocks receiving goes on with smaller ones, and that is counted. */
static int
test_row60_smaller_blocks(void)
{
	static const unsigned int percents[] = { 100, 30 };
	struct rte_mempool *mp;
	unsigned int i;

	for (i = 0; i < RTE_DIM(percents); i++) {
		arm(PAGE_POOL_FAULT_BLOCK, percents[i], UINT32_MAX);
		mp = packed("small blocks", 300, JUMBO_ROOM);
		disarm(PAGE_POOL_FAULT_BLOCK);
		CHECK(mp != NULL);
		CHECK(pool_stats(mp).cache_alloc_err > 0);
		if (percents[i] == 100)
			CHECK(pool_stats(mp).inflight_bytes == 300 * 16384);
		CHECK(with_pool(mp, jumbo_traffic) == 0);
	}
	return 0;
}

/* The three counters of failures, since a pool began. */
static bool
failures_are(const struct rte_mempool *mp, uint64_t blocks, uint64_t gets, uint64_t maps)
{
	struct page_pool_stats stats = pool_stats(mp);

	return stats.cache_alloc_err == blocks && stats.rq_alloc_err == gets &&
		stats.dma_map_error == maps;
}

#define ROW59_FAILURES 5

/* Gets fail while frames are received; the frames were made before. */
static int
failing_gets(void)
{
	struct rte_mbuf *frames[400];
	unsigned int i, got = 0;

	CHECK(self_start(&(struct rte_eth_conf){ 0 }) == 0);
	CHECK(failures_are(pool, 0, 0, 0));
	for (i = 0; i < RTE_DIM(frames); i++)
		frames[i] = new_frame(i);
	arm(PAGE_POOL_FAULT_GET, 100, ROW59_FAILURES);
	for (i = 0; i < RTE_DIM(frames); i++) {
		CHECK(send_frame(frames[i]));
		got += i % 8 == 7 ? poll_all() : 0;
	}
	disarm(PAGE_POOL_FAULT_GET);
	CHECK(got == RTE_DIM(frames) && vcx3_posted(NULL, 0) > RING / 2);
	CHECK(failures_are(pool, 0, ROW59_FAILURES, 0));
	return 0;
}

/* The card refuses mappings; the start of the port tries again. */
static int
failing_maps(void)
{
	struct rte_mempool *usual = pool;
	long before = card_counter("registrations");
	unsigned int i;
	int result;

	CHECK(card_ctl("fail REG_MR 1 ENOMEM"));
	pool = rte_pktmbuf_pool_create("unmapped", 400, 0, 0, 2176, SOCKET_ID_ANY);
	CHECK(pool != NULL && failures_are(pool, 0, 0, 1));
	for (i = 2; i <= 3; i++) {
		CHECK(card_ctl("fail REG_MR 1 ENOMEM"));
		CHECK(self_start(&(struct rte_eth_conf){ 0 }) != 0);
		CHECK(failures_are(pool, 0, 0, i));
	}
	CHECK(card_counter("registrations") == before && card_ctl("resume"));
	result = pool == usual ? -1 : 0;
	if (result == 0 && self_start(&(struct rte_eth_conf){ 0 }) == 0)
		result = pass_frames(100) == 100 && failures_are(pool, 0, 0, 3) ? 0 : -1;
	rte_eth_dev_stop(PORT);
	CHECK(result == 0);
	return 0;
}

/* Row 59: each failure moves its own counter, by as many as there were. */
static int
test_row59_counters_of_failures(void)
{
	struct rte_mempool *mp, *usual = pool;
	int result;

	CHECK(activate_driver() == 0);
	arm(PAGE_POOL_FAULT_BLOCK, 100, UINT32_MAX);
	mp = packed("blocks", 300, JUMBO_ROOM);
	disarm(PAGE_POOL_FAULT_BLOCK);
	CHECK(mp != NULL && failures_are(mp, 300, 0, 0));
	CHECK(page_pool_free(mp) == 0);
	CHECK(with_pool(rte_pktmbuf_pool_create("gets", 1000, 0, 0, 2176, SOCKET_ID_ANY),
		failing_gets) == 0);
	result = failing_maps();
	mp = pool;
	pool = usual;
	CHECK(self_configure(&(struct rte_eth_conf){ 0 }) == 0);
	CHECK(mp == usual || page_pool_free(mp) == 0);
	return result;
}

/* Row 61: no memory for the records of a pool: no pool, and nothing of the card has changed. */
static int
test_row61_roll_back(void)
{
	struct page_pool_stats before, after;
	struct rte_mempool *mp;
	long made, bytes;

	CHECK(self_start(&(struct rte_eth_conf){ 0 }) == 0);
	CHECK(pass_frames(100) == 100);
	made = card_counter("registrations");
	bytes = card_counter("registered_bytes");
	before = pool_stats(pool);
	arm(PAGE_POOL_FAULT_METADATA, 100, 1);
	mp = rte_pktmbuf_pool_create("no records", 1000, 0, 0, 2176, SOCKET_ID_ANY);
	CHECK(mp == NULL && rte_errno == ENOMEM);
	after = pool_stats(pool);
	CHECK(memcmp(&before, &after, sizeof(before)) == 0);
	CHECK(card_counter("registrations") == made && card_counter("registered_bytes") == bytes);
	CHECK(pass_frames(100) == 100);
	mp = rte_pktmbuf_pool_create("no records", 1000, 0, 0, 2176, SOCKET_ID_ANY);
	CHECK(mp != NULL && card_counter("registrations") == made + 1);
	CHECK(page_pool_free(mp) == 0 && card_counter("registered_bytes") == bytes);
	return 0;
}

int
main(int argc, char **argv)
{
	static const struct self_test tests[] = {
		{ "row35_all_or_none", test_row35_all_or_none },
		{ "row36_order_of_release", test_row36_order_of_release },
		{ "row59_counters_of_failures", test_row59_counters_of_failures },
		{ "row60_smaller_blocks", test_row60_smaller_blocks },
		{ "row61_roll_back", test_row61_roll_back },
	};

	return self_main(argc, argv, tests, RTE_DIM(tests));
}
