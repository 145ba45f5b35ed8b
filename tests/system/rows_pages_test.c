/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Rows of the table of claims about the kernel's drivers (doc/testing.rst): pages, blocks and their
 * mappings, through net_mlx4x on a wire that gives back what is sent (vcx3 --step). Mappings and
 * posted addresses are what the card counts and sees. With the argument "close": what is left of
 * a mapping and of a pool whose frames the application still holds when the port closes.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <linux/bpf.h>

#include <rte_eal.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_log.h>
#include <rte_random.h>

#include <rte_pmd_mlx4x.h>

#include "xdp_port.h"

#define BLOCK PAGE_POOL_PACKED_BLOCK_SIZE
#define PAGE PAGE_POOL_PAGE_SIZE
/* Room of a buffer for frames of MTU 9000: stride 10880, three in a block. */
#define JUMBO_ROOM 9344

static uint64_t
pass(struct xdpvm_buff *buff)
{
	return XDP_PASS;
}

static const struct rte_pmd_mlx4x_xdp_prog pass_prog = { .name = "pass", .hook = pass };

/* Mappings as the card counts them. */
struct maps {
	long made;
	long undone;
	long bytes;
};

static struct maps
maps_now(void)
{
	return (struct maps){ card_counter("registrations"), card_counter("deregistrations"),
		card_counter("registered_bytes") };
}

static bool
same_maps(struct maps a, struct maps b)
{
	return a.made == b.made && a.undone == b.undone && a.bytes == b.bytes;
}

static struct rte_mempool *
pages(const char *name, unsigned int n, uint16_t room, uint32_t block_size, uint32_t map_unit)
{
	struct page_pool_config config = { .block_size = block_size, .map_unit = map_unit };

	return page_pool_create(name, n, 0, 0, room, SOCKET_ID_ANY, &config);
}

/* A frame of a length, with a number, from the usual pool or another. */
static struct rte_mbuf *
long_frame(struct rte_mempool *mp, uint16_t number, uint16_t len)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(mp);

	if (mbuf == NULL)
		return NULL;
	write_frame(mbuf, number);
	memset(rte_pktmbuf_mtod(mbuf, uint8_t *) + FRAME, number, len - FRAME);
	mbuf->data_len = len;
	mbuf->pkt_len = len;
	return mbuf;
}

static bool
is_long_frame(const struct rte_mbuf *mbuf, uint16_t number, uint16_t len)
{
	const uint8_t *data = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	uint16_t i;

	if (mbuf->pkt_len != len || mbuf->data_len != len || memcmp(data + 14, &number, 2) != 0)
		return false;
	for (i = FRAME; i < len; i++) {
		if (data[i] != (uint8_t)number)
			return false;
	}
	return true;
}

/* Sends a frame and gets it back; NULL if it is not what was sent. */
static struct rte_mbuf *
round_trip(uint16_t number, uint16_t len)
{
	struct rte_mbuf *mbuf = long_frame(pool, number, len);

	if (mbuf == NULL || !send_frame(mbuf))
		return NULL;
	settle();
	mbuf = receive_frame();
	if (mbuf == NULL || is_long_frame(mbuf, number, len))
		return mbuf;
	rte_pktmbuf_free(mbuf);
	return NULL;
}

static int
compare_addresses(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

/* Blocks in which posted buffers lie, and the most of them in one block; 0 if one lies in two. */
static unsigned int
posted_blocks(uint32_t block_size, unsigned int *most)
{
	static uint64_t addresses[32768];
	size_t nb = vcx3_posted(addresses, RTE_DIM(addresses)), i;
	unsigned int blocks = 0, in_this = 0;

	qsort(addresses, RTE_MIN(nb, RTE_DIM(addresses)), sizeof(addresses[0]), compare_addresses);
	*most = 0;
	for (i = 0; i < nb; i++) {
		if (i > 0 && addresses[i] == addresses[i - 1])
			return 0;
		if (i == 0 || addresses[i] / block_size != addresses[i - 1] / block_size) {
			blocks++;
			in_this = 0;
		}
		*most = RTE_MAX(*most, ++in_this);
	}
	return blocks;
}

#define ROW17_BUFFERS 1024
#define ROW17_HELD 64

static int
row17_body(void)
{
	struct rte_mbuf *held[ROW17_HELD], *mbuf;
	unsigned int i, most;

	CHECK(self_start(&(struct rte_eth_conf){ 0 }) == 0);
	CHECK(rte_pmd_mlx4x_xdp_set(PORT, &pass_prog) == 0);
	CHECK(posted_blocks(PAGE, &most) == RING / 2 && most == 2);
	for (i = 0; i < ROW17_HELD; i++) {
		held[i] = round_trip(i, 1514);
		CHECK(held[i] != NULL);
	}
	/* A page whose other half goes round is not disturbed, nor handed out with a reference. */
	mbuf = held[0];
	rte_mbuf_refcnt_update(mbuf, 1);
	rte_pktmbuf_free(mbuf);
	for (i = 0; i < 4 * ROW17_BUFFERS; i++) {
		mbuf = round_trip(i, 1514);
		CHECK(mbuf != NULL && mbuf != held[0]);
		rte_pktmbuf_free(mbuf);
	}
	for (i = 0; i < ROW17_HELD; i++) {
		CHECK(is_long_frame(held[i], i, 1514));
		rte_pktmbuf_free(held[i]);
	}
	return 0;
}

/* Row 17: two packets a page are a choice, and halve the memory at MTU 1500. */
static int
test_row17_two_per_page(void)
{
	struct rte_mempool *one, *two;
	long begin, whole, half;

	CHECK(activate_driver() == 0);
	begin = card_counter("registered_bytes");
	one = pages("one", ROW17_BUFFERS, 1856, 0, 0);
	whole = card_counter("registered_bytes") - begin;
	two = pages("two", ROW17_BUFFERS, 1856, PAGE, 0);
	half = card_counter("registered_bytes") - begin - whole;
	printf("%d buffers: %ld bytes, %ld with two per page\n", ROW17_BUFFERS, whole, half);
	CHECK(whole == ROW17_BUFFERS * (long)PAGE && 2 * half == whole);
	CHECK(page_pool_free(one) == 0);
	return with_pool(two, row17_body);
}

/* Row 23: what a hook finds in front of a frame that was written over before. */
#define POISON 0x4242
static unsigned int nb_touched, nb_judged;
static uint64_t verdict;

static struct rte_mbuf *
mbuf_of(const uint8_t *frame)
{
	return (struct rte_mbuf *)(uintptr_t)(frame - HEADROOM) - 1;
}

static uint64_t
look_at_count(struct xdpvm_buff *buff)
{
	nb_judged++;
	nb_touched += rte_mbuf_refcnt_read(mbuf_of(buff->data)) != POISON;
	return verdict;
}

/* Sets the reference counts of what is posted; how many do not have the count before. */
static unsigned int
set_counts(uint16_t before, uint16_t after)
{
	uint64_t addresses[RING];
	unsigned int i, different = 0;

	if (vcx3_posted(addresses, RING) != RING)
		return UINT32_MAX;
	for (i = 0; i < RING; i++) {
		struct rte_mbuf *mbuf = mbuf_of((const uint8_t *)(uintptr_t)addresses[i]);

		different += rte_mbuf_refcnt_read(mbuf) != before;
		rte_mbuf_refcnt_set(mbuf, after);
	}
	return different;
}

/*
 * Row 23: pages are recycled without a read-modify-write of a reference count. A dropped page
 * keeps the count that a test wrote there; one that passes gets its count by a store.
 */
static int
test_row23_no_counting(void)
{
	static const struct rte_pmd_mlx4x_xdp_prog prog = { .hook = look_at_count };
	struct rte_mbuf *mbuf;

	nb_judged = 0;
	nb_touched = 0;
	verdict = XDP_DROP;
	CHECK(self_start(&(struct rte_eth_conf){ 0 }) == 0);
	CHECK(rte_pmd_mlx4x_xdp_set(PORT, &prog) == 0);
	CHECK(set_counts(1, POISON) == 0);
	CHECK(pass_frames(10000) == 0);
	CHECK(nb_judged == 10000 && nb_touched == 0);
	CHECK(set_counts(POISON, POISON) == 0);
	verdict = XDP_PASS;
	mbuf = round_trip(1, FRAME);
	CHECK(mbuf != NULL && nb_touched == 0);
	CHECK(rte_mbuf_refcnt_read(mbuf) == 1);
	rte_pktmbuf_free(mbuf);
	/* One slot has a fresh page now. */
	CHECK(set_counts(POISON, 1) == 1);
	CHECK(rte_pmd_mlx4x_xdp_set(PORT, NULL) == 0);
	return 0;
}

static struct rte_mbuf *to_free[BURST];
static uint16_t nb_to_free;

static int
free_them(void *arg)
{
	uint16_t i;

	for (i = 0; i < nb_to_free; i++)
		rte_pktmbuf_free(to_free[i]);
	return 0;
}

/* Row 29: an ordinary free, on any lcore, brings a page back to the pool, still mapped. */
static int
test_row29_ordinary_free(void)
{
	unsigned int lcore = rte_get_next_lcore(-1, 1, 0), i, got = 0;
	struct page_pool_stats before, after;
	struct maps maps;

	CHECK(lcore != RTE_MAX_LCORE);
	CHECK(self_start(&(struct rte_eth_conf){ 0 }) == 0);
	CHECK(rte_pmd_mlx4x_xdp_set(PORT, &pass_prog) == 0);
	maps = maps_now();
	before = pool_stats(pool);
	for (i = 0; i < 10000; i++) {
		CHECK(send_frame(new_frame(i)));
		if (i % 20 != 19)
			continue;
		settle();
		nb_to_free = rte_eth_rx_burst(PORT, 0, to_free, BURST);
		got += nb_to_free;
		CHECK(rte_eal_remote_launch(free_them, NULL, lcore) == 0);
		CHECK(rte_eal_wait_lcore(lcore) == 0);
	}
	rte_eth_tx_done_cleanup(PORT, 0, 0);
	CHECK(rte_pmd_mlx4x_xdp_set(PORT, NULL) == 0);
	after = pool_stats(pool);
	CHECK(got == 10000 && same_maps(maps, maps_now()));
	/* Each frame went out of one page and came into another, and both came back. */
	CHECK(after.recycle_ring - before.recycle_ring >= 20000);
	CHECK(after.in_use == RING && vcx3_posted(NULL, 0) == RING);
	return 0;
}

static int
row33_body(void)
{
	struct maps maps;
	unsigned int i;

	CHECK(self_start(&(struct rte_eth_conf){ 0 }) == 0);
	CHECK(rte_pmd_mlx4x_xdp_set(PORT, &pass_prog) == 0);
	maps = maps_now();
	for (i = 0; i < 3200; i++) {
		struct rte_mbuf *mbuf = round_trip(i, 1514);

		CHECK(mbuf != NULL);
		rte_pktmbuf_free(mbuf);
	}
	CHECK(same_maps(maps, maps_now()));
	return 0;
}

/*
 * Row 33: mappings for 1500-byte frames. The kernel made two a packet, then, of whole pages, three
 * for 32; here a page is mapped when it enters the pool, and no packet costs one.
 */
static int
test_row33_maps_per_packet(void)
{
	struct rte_mempool *mp;
	struct maps before;

	CHECK(activate_driver() == 0);
	before = maps_now();
	mp = pages("page maps", 512, 2176, 0, PAGE);
	CHECK(maps_now().made == before.made + 512);
	CHECK(maps_now().bytes == before.bytes + 512 * (long)PAGE);
	CHECK(with_pool(mp, row33_body) == 0);
	CHECK(maps_now().undone == before.undone + 512 && maps_now().bytes == before.bytes);
	return 0;
}

static int
new_keys_body(void)
{
	CHECK(self_start(&(struct rte_eth_conf){ 0 }) == 0);
	CHECK(pass_frames(10) == 10);
	rte_eth_tx_done_cleanup(PORT, 0, 0);
	CHECK(rte_eth_dev_rx_queue_stop(PORT, 0) == 0);
	CHECK(page_pool_trim(pool, 512) == 512);
	CHECK(page_pool_untrim(pool, 512) == 512);
	CHECK(rte_eth_dev_rx_queue_start(PORT, 0) == 0);
	CHECK(pass_frames(300) == 300);
	return 0;
}

/* Memory that was unmapped and is back has another key, which a queue must not keep. */
static int
test_new_keys(void)
{
	return with_pool(pages("new keys", 512, 2176, 0, 1 << 20), new_keys_body);
}

static int
row54_body(void)
{
	struct rte_eth_conf conf = { .rxmode.mtu = 9000 };
	unsigned int i, most;

	CHECK(self_start(&conf) == 0);
	CHECK(posted_blocks(BLOCK, &most) == (RING + 2) / 3 && most == 3);
	for (i = 0; i < 500; i++) {
		struct rte_mbuf *mbuf = round_trip(i, 9014);

		CHECK(mbuf != NULL && mbuf->nb_segs == 1);
		rte_pktmbuf_free(mbuf);
		if (i == 250)	/* the same with a program, which needs the frame in one piece */
			CHECK(rte_pmd_mlx4x_xdp_set(PORT, &pass_prog) == 0);
	}
	return 0;
}

/* Row 54: three buffers for 9000-byte frames in 32 KiB. */
static int
test_row54_three_jumbo(void)
{
	struct rte_mempool *mp = pages("jumbo", 300, JUMBO_ROOM, BLOCK, 0);
	struct page_pool_geometry geometry;

	CHECK(mp != NULL && page_pool_geometry_get(mp, &geometry) == 0);
	CHECK(geometry.layout.objs_per_block == 3 && geometry.layout.stride == 10880);
	CHECK(pool_stats(mp).inflight_bytes == 100 * BLOCK);
	return with_pool(mp, row54_body);
}

/* Row 56: one mapping for all buffers of a block: 1/3 at MTU 9000, 1/20 at a stride of 1600. */
static int
test_row56_maps_per_buffer(void)
{
	static const struct {
		unsigned int nb_buffers;
		uint16_t room;
		unsigned int per_block;
	} kinds[] = {
		{ 300, JUMBO_ROOM, 3 }, { 400, 1600 - 192, 20 }, { 420, 1536 - 192, 21 },
		{ 340, 1920 - 192, 17 },
	};
	unsigned int i;

	CHECK(activate_driver() == 0);
	for (i = 0; i < RTE_DIM(kinds); i++) {
		struct maps before = maps_now();
		struct rte_mempool *mp = pages("blocks", kinds[i].nb_buffers, kinds[i].room, BLOCK,
			BLOCK);
		struct page_pool_geometry geometry;

		CHECK(mp != NULL && page_pool_geometry_get(mp, &geometry) == 0);
		printf("stride %u: %ld mappings for %u buffers\n", geometry.layout.stride,
			maps_now().made - before.made, kinds[i].nb_buffers);
		CHECK((maps_now().made - before.made) * kinds[i].per_block == kinds[i].nb_buffers);
		CHECK(page_pool_free(mp) == 0 && maps_now().bytes == before.bytes);
	}
	return 0;
}

#define ROW71_HELD 256

static struct {
	struct rte_mbuf *held[ROW71_HELD];
	unsigned int nb_held;
} app;

static uint64_t
any_verdict(struct xdpvm_buff *buff)
{
	return verdict;
}

/* Receives one burst and keeps it; frees something first when there is no room. */
static void
keep_burst(void)
{
	unsigned int n;

	if (app.nb_held + BURST > ROW71_HELD || rte_rand_max(3) == 0) {
		n = rte_rand_max(app.nb_held + 1);
		app.nb_held -= n;
		rte_pktmbuf_free_bulk(&app.held[app.nb_held], n);
	}
	n = RTE_MIN(ROW71_HELD - app.nb_held, (unsigned int)BURST);
	app.nb_held += rte_eth_rx_burst(PORT, 0, &app.held[app.nb_held], n);
}

static void
work_at_random(void)
{
	static const uint64_t verdicts[] = { XDP_DROP, XDP_PASS, XDP_PASS, XDP_TX };
	unsigned int n = rte_rand_max(40);

	verdict = verdicts[rte_rand_max(RTE_DIM(verdicts))];
	while (n-- != 0)
		offer_frame(n);
	if (rte_rand_max(2) == 0)
		settle();
	keep_burst();
	switch (rte_rand_max(8)) {
	case 0:
		page_pool_trim(pool, rte_rand_max(200));
		break;
	case 1:
		page_pool_untrim(pool, rte_rand_max(200));
		break;
	}
}

/* The places where a page can be, counted by whom it is: pool, card, application. */
static int
count_places(void)
{
	struct page_pool_stats stats = pool_stats(pool);
	size_t posted = vcx3_posted(NULL, 0);

	CHECK(stats.hold - stats.release == stats.inflight);
	CHECK(stats.inflight == stats.in_ring + stats.in_mempool_cache + stats.in_use);
	CHECK(stats.taken - stats.recycle_ring == stats.in_use + stats.in_mempool_cache);
	CHECK(stats.in_use == posted + app.nb_held);
	CHECK(stats.inflight_bytes == stats.inflight * PAGE);
	CHECK(stats.dma_mapped_bytes == stats.inflight_bytes);
	CHECK(stats.recycle_ring_full == 0 && stats.released_ref == 0);
	return 0;
}

static int
row71_body(void)
{
	static const struct rte_pmd_mlx4x_xdp_prog prog = { .hook = any_verdict };
	unsigned int round, i;

	CHECK(self_start(&(struct rte_eth_conf){ 0 }) == 0);
	app.nb_held = 0;
	for (round = 0; round < 200; round++) {
		CHECK(rte_pmd_mlx4x_xdp_set(PORT, &prog) == 0);
		for (i = 0; i < 20; i++)
			work_at_random();
		verdict = XDP_DROP;
		poll_all();
		rte_eth_tx_done_cleanup(PORT, 0, 0);
		CHECK(verdicts_add_up(PORT));
		CHECK(rte_pmd_mlx4x_xdp_set(PORT, NULL) == 0);
		CHECK(count_places() == 0);
	}
	rte_pktmbuf_free_bulk(app.held, app.nb_held);
	CHECK(page_pool_untrim(pool, 2000) >= 0);
	return 0;
}

/* Row 71: hold - release = inflight = the sum of the places where a page can be. */
static int
test_row71_places(void)
{
	return with_pool(pages("places", 1000, 2176, 0, 64 * 1024), row71_body);
}

static char *log_text;
static size_t log_size;

static int
hold_and_close(struct rte_mbuf **held, unsigned int nb)
{
	struct maps before, stopped;
	unsigned int i;

	CHECK(self_start(&(struct rte_eth_conf){ 0 }) == 0);
	CHECK(rte_pmd_mlx4x_xdp_set(PORT, &pass_prog) == 0);
	before = maps_now();
	for (i = 0; i < nb; i++) {
		held[i] = round_trip(i, 1000);
		CHECK(held[i] != NULL);
	}
	CHECK(rte_eth_dev_stop(PORT) == 0);
	stopped = maps_now();
	CHECK(same_maps(before, stopped) && stopped.bytes != 0);
	CHECK(rte_eth_dev_close(PORT) == 0);
	CHECK(maps_now().bytes == 0 && card_counter("live_mpts") == 0);
	CHECK(maps_now().made == maps_now().undone);
	CHECK(pool_stats(pool).dma_mapped_bytes == 0);
	for (i = 0; i < nb; i++)
		CHECK(is_long_frame(held[i], i, 1000));
	return 0;
}

/*
 * Row 58: a pool keeps its mapping while the port is stopped, which is the opposite of what the
 * kernel's patch did with an empty ring: its pages are those of the next start. When the port
 * closes nothing is mapped, and the frames that the application holds stay what they are.
 */
static int
test_row58_mapping_ends_at_close(struct rte_mbuf **held, unsigned int nb)
{
	int result = hold_and_close(held, nb);

	printf("row58_mapping_ends_at_close: %s\n", result == 0 ? "ok" : "FAILED");
	return result;
}

static int
free_with_leak(struct rte_mbuf **held, unsigned int nb)
{
	char number[64];

	snprintf(number, sizeof(number), "%u pages are in flight", nb);
	CHECK(page_pool_free(pool) == -EBUSY);
	fflush(rte_log_get_stream());
	CHECK(strstr(log_text, number) != NULL);
	rte_pktmbuf_free_bulk(held, nb - 1);
	CHECK(page_pool_free(pool) == -EBUSY);
	fflush(rte_log_get_stream());
	CHECK(strstr(log_text, "1 pages are in flight") != NULL);
	rte_pktmbuf_free(held[nb - 1]);
	CHECK(page_pool_free(pool) == 0);
	return 0;
}

/* Row 31: a pool whose frames are held says how many, and is freed when they have come back. */
static int
test_row31_leak_is_told(struct rte_mbuf **held, unsigned int nb)
{
	FILE *log = open_memstream(&log_text, &log_size);
	int result;

	CHECK(log != NULL && rte_openlog_stream(log) == 0);
	result = free_with_leak(held, nb);
	rte_openlog_stream(NULL);
	fclose(log);
	free(log_text);
	printf("row31_leak_is_told: %s\n", result == 0 ? "ok" : "FAILED");
	return result;
}

static int
close_while_held(void)
{
	struct rte_mbuf *held[37];
	int failed = test_row58_mapping_ends_at_close(held, RTE_DIM(held)) != 0 ||
		test_row31_leak_is_told(held, RTE_DIM(held)) != 0;

	rte_eal_cleanup();
	return failed;
}

int
main(int argc, char **argv)
{
	static const struct self_test tests[] = {
		{ "row17_two_per_page", test_row17_two_per_page },
		{ "row23_no_counting", test_row23_no_counting },
		{ "row29_ordinary_free", test_row29_ordinary_free },
		{ "row33_maps_per_packet", test_row33_maps_per_packet },
		{ "new_keys", test_new_keys },
		{ "row54_three_jumbo", test_row54_three_jumbo },
		{ "row56_maps_per_buffer", test_row56_maps_per_buffer },
		{ "row71_places", test_row71_places },
	};
	int used = self_init(argc, argv);
	const char *only = used >= 0 && argc - used > 1 ? argv[used + 1] : NULL;

	if (used < 0)
		return 1;
	if (only != NULL && strcmp(only, "close") == 0)
		return close_while_held();
	return self_run(tests, RTE_DIM(tests), only);
}
