/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The page pool's handler: placement, counters, the recycle cache, leaks, refusals.
 * Row numbers are those of the table of kernel behaviour that the project replicates.
 */

#include "page_pool_env.h"

#define NB_PAGES 1000u

/* Row 11, 54, 56: objects per block. */
static void
test_layout_numbers(void)
{
	static const struct {
		uint32_t obj_size, block_size, objs_per_block, stride, nb_colours;
	} rows[] = {
		{ 2368, 0, 1, 4096, 9 }, /* testpmd's mbufs */
		{ 2368, 4096, 1, 4096, 9 },
		{ 3584, 0, 1, 4096, 9 },
		{ 3585, 0, 1, 4096, 7 },
		{ 3968, 0, 1, 4096, 3 }, /* the kernel's largest MTU with a program */
		{ 4033, 0, 1, 4096, 1 },
		{ 4096, 0, 1, 4096, 1 },
		{ 9536, 0, 1, 16384, 33 }, /* larger than a page: order 2 */
		{ 2048, 4096, 2, 2048, 1 },
		{ 9536, 32768, 3, 10880, 1 },
		{ 1536, 32768, 21, 1536, 1 },
		{ 1600, 32768, 20, 1600, 1 },
		{ 1920, 32768, 17, 1920, 1 },
		{ 1536, 2 << 20, 1365, 1536, 1 },
		{ 2368, 2 << 20, 885, 2368, 1 },
	};
	struct page_pool_layout layout;
	unsigned int i;

	for (i = 0; i < RTE_DIM(rows); i++) {
		CHECK(page_pool_layout_compute(rows[i].obj_size, rows[i].block_size, &layout) == 0);
		CHECK(layout.objs_per_block == rows[i].objs_per_block, "row %u: %u", i,
			layout.objs_per_block);
		CHECK(layout.stride == rows[i].stride, "row %u: %u", i, layout.stride);
		CHECK(layout.nb_colours == rows[i].nb_colours, "row %u: %u", i,
			layout.nb_colours);
	}
	CHECK(page_pool_layout_compute(0, 0, &layout) == -EINVAL);
	CHECK(page_pool_layout_compute(4097, 4096, &layout) == -EINVAL);
	CHECK(page_pool_layout_compute(64, 2048, &layout) == -EINVAL);
	CHECK(page_pool_layout_compute(64, 12288, &layout) == -EINVAL);
	CHECK(page_pool_layout_compute((2 << 20) + 1, 0, &layout) == -EINVAL);
}

/* Row 55: 8 queues of 4096 frames of 9000 bytes, 512 MiB in 16 KiB buffers. */
static void
test_layout_memory(void)
{
	struct page_pool_layout layout;

	page_pool_layout_compute(9536, PAGE_POOL_PACKED_BLOCK_SIZE, &layout);
	CHECK(page_pool_layout_bytes(&layout, 8 * 4096) == 10923ull * 32768);
	CHECK(page_pool_layout_bytes(&layout, 8 * 4096) * 10 / (1 << 20) == 3413);
	page_pool_layout_compute(9536, 0, &layout);
	CHECK(page_pool_layout_bytes(&layout, 8 * 4096) == 512ull << 20);
}

/*
 * Row 1: one page per packet, whole inside it, with all of 256 bytes in front; at one of the
 * page's nine places, each as often as the others.
 */
static void
test_page_per_packet(void)
{
	const uint32_t nb_colours = PAGE_POOL_COLOURS_PER_PAGE + 1;
	unsigned int of_colour[PAGE_POOL_COLOURS_PER_PAGE + 1] = { 0 };
	struct rte_mempool *mp = rte_pktmbuf_pool_create_by_ops("pages", NB_PAGES, 0, 64,
		RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY, PAGE_POOL_OPS);
	struct page_pool_geometry geometry;
	struct rte_mbuf *mbufs[NB_PAGES];
	unsigned int i;

	CHECK(mp != NULL);
	CHECK(page_pool_geometry_get(mp, &geometry) == 0);
	CHECK(geometry.layout.block_size == 4096 && geometry.layout.objs_per_block == 1);
	CHECK(geometry.buf_offset == 192 + 64);
	CHECK(geometry.layout.nb_colours == nb_colours);
	CHECK(geometry.buf_size == 4096 - 192 - 64 - (nb_colours - 1) * 64);
	CHECK(page_pool_frame_max(&geometry, PAGE_POOL_XDP_HEADROOM) == 3136 - 64);
	CHECK(rte_pktmbuf_data_room_size(mp) == geometry.buf_size);
	CHECK(rte_pktmbuf_alloc_bulk(mp, mbufs, NB_PAGES) == 0);
	for (i = 0; i < NB_PAGES; i++) {
		uintptr_t page = (uintptr_t)mbufs[i] & ~4095ul;
		uint32_t offset = (uintptr_t)mbufs[i]->buf_addr - page;
		uint32_t colour = (offset - geometry.buf_offset) / 64;

		CHECK(colour < nb_colours && offset == geometry.buf_offset + colour * 64);
		of_colour[colour % nb_colours]++;
		CHECK(offset + mbufs[i]->buf_len <= 4096);
		CHECK(mbufs[i]->buf_len == geometry.buf_size);
		CHECK(mbufs[i]->buf_addr == rte_mbuf_buf_addr(mbufs[i], mp));
		CHECK(mbufs[i]->buf_iova % 4096 == offset);
		/* The word at the end of a page is written once, so no page came twice. */
		CHECK(*(struct rte_mbuf **)(page + 4088) == NULL);
		*(struct rte_mbuf **)(page + 4088) = mbufs[i];
	}
	for (i = 0; i < nb_colours; i++)
		CHECK(of_colour[i] >= NB_PAGES / nb_colours - 1, "%u: %u", i, of_colour[i]);
	rte_pktmbuf_free_bulk(mbufs, NB_PAGES);
	CHECK(page_pool_free(mp) == 0);
}

/* Row 7: who asks for it gets the whole page, and frames larger than the kernel's (MTU 3498). */
static void
test_whole_page(void)
{
	struct rte_mempool *mp = rte_pktmbuf_pool_create_by_ops("whole", 64, 0, 0, 4096 - 192,
		SOCKET_ID_ANY, PAGE_POOL_OPS);
	struct page_pool_geometry geometry;
	struct rte_mbuf *mbufs[64];
	unsigned int i;

	CHECK(mp != NULL);
	CHECK(page_pool_geometry_get(mp, &geometry) == 0);
	CHECK(geometry.layout.objs_per_block == 1 && geometry.layout.nb_colours == 1);
	CHECK(page_pool_frame_max(&geometry, PAGE_POOL_XDP_HEADROOM) == 3648);
	CHECK(rte_pktmbuf_alloc_bulk(mp, mbufs, 64) == 0);
	for (i = 0; i < 64; i++) {
		CHECK((uintptr_t)mbufs[i]->buf_addr % 4096 == geometry.buf_offset);
		CHECK(geometry.buf_offset + mbufs[i]->buf_len == 4096);
	}
	rte_pktmbuf_free_bulk(mbufs, 64);
	CHECK(page_pool_free(mp) == 0);
}

/* Row 17: two packets per page halve the memory; each still has full headroom at MTU 1500. */
static void
test_two_per_page(void)
{
	static const struct page_pool_config two = { .block_size = 4096 };
	struct rte_mempool *mp = page_pool_create("two", NB_PAGES, 0, 0, 1856, SOCKET_ID_ANY, &two);
	struct page_pool_geometry geometry;

	CHECK(mp != NULL);
	CHECK(page_pool_geometry_get(mp, &geometry) == 0);
	CHECK(geometry.layout.objs_per_block == 2);
	CHECK(page_pool_frame_max(&geometry, PAGE_POOL_XDP_HEADROOM) == 1600);
	CHECK(stats_of(mp).inflight_bytes == NB_PAGES / 2 * 4096);
	CHECK(page_pool_free(mp) == 0);
}

/* Row 54, 55 on a real pool: three 9000-byte buffers in each 32 KiB, none across blocks. */
static void
test_jumbo_packed(void)
{
	struct rte_mempool *mp = rte_pktmbuf_pool_create_by_ops("jumbo", 300, 0, 0, 9344,
		SOCKET_ID_ANY, PAGE_POOL_OPS_PACKED);
	struct rte_mbuf *mbufs[300];
	unsigned int i;

	CHECK(mp != NULL);
	CHECK(stats_of(mp).inflight_bytes == 100 * 32768);
	CHECK(stats_of(mp).cache_alloc_err == 0);
	CHECK(rte_pktmbuf_data_room_size(mp) == 10880 - 192);
	CHECK(rte_pktmbuf_alloc_bulk(mp, mbufs, 300) == 0);
	CHECK(stats_of(mp).alloc_slow == 0 && stats_of(mp).alloc_slow_ho == 300);
	for (i = 0; i < 300; i++) {
		uintptr_t last = (uintptr_t)mbufs[i]->buf_addr + mbufs[i]->buf_len - 1;

		CHECK((uintptr_t)mbufs[i] / 32768 == last / 32768);
		memset(mbufs[i]->buf_addr, i, mbufs[i]->buf_len);
	}
	for (i = 0; i < 300; i++)
		CHECK(mbufs[i]->pool == mp && *(uint8_t *)mbufs[i]->buf_addr == (uint8_t)i);
	rte_pktmbuf_free_bulk(mbufs, 300);
	CHECK(page_pool_free(mp) == 0);
}

/* Bytes of blocks of which at least one object is in the array (of ascending addresses or not). */
static uint64_t
pinned_bytes(struct rte_mbuf **held, unsigned int n, uint32_t block_size)
{
	uint64_t bytes = 0;
	unsigned int i, k;

	for (i = 0; i < n; i++) {
		for (k = 0; k < i; k++)
			if ((uintptr_t)held[k] / block_size == (uintptr_t)held[i] / block_size)
				break;
		if (k == i)
			bytes += block_size;
	}
	return bytes;
}

/* Row 21: holding every 21st frame pins one page each, but a whole block each when packed. */
static void
test_hostile_hold(void)
{
	static const char *const names[] = { PAGE_POOL_OPS, PAGE_POOL_OPS_PACKED };
	static const uint32_t block_size[] = { 4096, 32768 };
	struct rte_mbuf *mbufs[420], *held[20];
	unsigned int i, mode;

	for (mode = 0; mode < 2; mode++) {
		/* 1344 + 192 bytes: 21 objects of 1536 in 32 KiB */
		struct rte_mempool *mp = rte_pktmbuf_pool_create_by_ops("hostile", 420, 0, 0, 1344,
			SOCKET_ID_ANY, names[mode]);

		CHECK(mp != NULL);
		CHECK(rte_pktmbuf_alloc_bulk(mp, mbufs, 420) == 0);
		for (i = 0; i < 420; i++) {
			if (i % 21 == 0)
				held[i / 21] = mbufs[i];
			else
				rte_pktmbuf_free(mbufs[i]);
		}
		CHECK(pinned_bytes(held, 20, block_size[mode]) == 20 * block_size[mode]);
		CHECK(rte_pktmbuf_alloc_bulk(mp, mbufs, 400) == 0);
		rte_pktmbuf_free_bulk(mbufs, 400);
		rte_pktmbuf_free_bulk(held, 20);
		CHECK(page_pool_free(mp) == 0);
	}
}

/* Row 71: each counter moves by the right amount, in the right order of places. */
static void
test_counters(void)
{
	struct rte_mempool *mp = create_pool("counters", NB_PAGES, NULL);
	struct page_pool_stats stats = stats_of(mp);
	struct rte_mbuf *mbufs[NB_PAGES];

	CHECK(stats.hold == NB_PAGES && stats.in_ring == NB_PAGES && stats.in_use == 0);
	CHECK(stats.inflight_bytes == NB_PAGES * 4096);
	CHECK(stats.taken == 0 && stats.recycle_ring == 0 && stats.alloc_slow == 0);
	rte_pktmbuf_alloc_bulk(mp, mbufs, 100);
	rte_pktmbuf_alloc_bulk(mp, &mbufs[100], 100);
	stats = stats_of(mp);
	CHECK(stats.alloc_slow == 200 && stats.alloc_empty == 2 && stats.alloc_refill == 0);
	CHECK(stats.in_use == 200 && stats.in_ring == NB_PAGES - 200);
	rte_mempool_put_bulk(mp, (void **)mbufs, 50);
	CHECK(stats_of(mp).recycle_ring == 50);
	rte_pktmbuf_alloc_bulk(mp, mbufs, 40); /* recycled only */
	rte_pktmbuf_alloc_bulk(mp, &mbufs[40], 30); /* 10 recycled, 20 fresh */
	stats = stats_of(mp);
	CHECK(stats.alloc_refill == 2 && stats.alloc_empty == 2 && stats.alloc_slow == 220);
	CHECK(stats.taken == 270 && stats.in_use == 220 && stats.alloc_slow_ho == 0);
	CHECK(rte_pktmbuf_alloc_bulk(mp, mbufs, NB_PAGES) != 0); /* all or none */
	CHECK(stats_of(mp).in_use == 220 && stats_of(mp).rq_alloc_err == 1);
	rte_mempool_free(mp);
}

/* The page that came back last leaves first. */
static void
test_lifo(void)
{
	struct rte_mempool *mp = create_pool("lifo", NB_PAGES, NULL);
	struct rte_mbuf *in[3], *out[3];

	rte_pktmbuf_alloc_bulk(mp, in, 3);
	rte_mempool_put_bulk(mp, (void **)in, 3);
	CHECK(rte_pktmbuf_alloc_bulk(mp, out, 3) == 0);
	CHECK(out[0] == in[2] && out[1] == in[1] && out[2] == in[0]);
	rte_pktmbuf_free_bulk(out, 3);
	CHECK(page_pool_free(mp) == 0);
}

/* A page that is freed twice does not get into a full ring. */
static void
test_ring_full(void)
{
	struct rte_mempool *mp = create_pool("full", NB_PAGES, NULL);
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(mp);

	rte_mempool_put(mp, mbuf);
	rte_mempool_put(mp, mbuf);
	CHECK(stats_of(mp).recycle_ring == 1 && stats_of(mp).recycle_ring_full == 1);
	CHECK(rte_mempool_avail_count(mp) == NB_PAGES);
	CHECK(page_pool_free(mp) == 0);
}

/* Row 2: 128 pages, last in first out, the 129th refused; each outcome counted once. */
static void
test_recycle_cache(void)
{
	struct rte_mempool *mp = create_pool("cache", 200, NULL);
	struct rte_mbuf *mbufs[200], *clone;
	static struct page_pool_cache cache;
	struct page_pool_stats stats;
	unsigned int i;

	rte_pktmbuf_alloc_bulk(mp, mbufs, 200);
	page_pool_cache_init(&cache);
	CHECK(page_pool_cache_pop(&cache) == NULL);
	CHECK(page_pool_cache_push_bulk(&cache, mbufs, 100) == 100);
	CHECK(page_pool_cache_push_bulk(&cache, &mbufs[100], 100) == 28);
	CHECK(!page_pool_cache_push(&cache, mbufs[128]));
	for (i = 0; i < 64; i++)
		CHECK(page_pool_cache_pop(&cache) == mbufs[127 - i]);
	CHECK(page_pool_cache_pop_bulk(&cache, mbufs, 100) == 64);
	CHECK(cache.alloc_fast == 128 && cache.recycle_cached == 128);
	CHECK(cache.recycle_cache_full == 73 && cache.count == 0);
	/* A page that somebody else refers to is not recycled, and not lost. */
	clone = mbufs[150];
	rte_mbuf_refcnt_update(clone, 1);
	page_pool_cache_recycle(&cache, clone);
	CHECK(cache.count == 0 && cache.released_ref == 1 && stats_of(mp).in_use == 200);
	page_pool_cache_recycle(&cache, clone);
	CHECK(cache.count == 1);
	stats = stats_of(mp);
	page_pool_cache_stats_add(&cache, &stats);
	CHECK(stats.alloc_fast == 128 && stats.recycle_cached == 129);
	CHECK(stats.recycle_cache_full == 73 && stats.released_ref == 1);
	page_pool_cache_flush(&cache, mp);
	CHECK(cache.count == 0 && stats_of(mp).in_ring == 1);
	rte_mempool_free(mp);
}

/* Row 29: an ordinary mbuf free is all that it takes, also over the mempool's own cache. */
static void
test_ordinary_free(void)
{
	struct rte_mempool *mp = rte_pktmbuf_pool_create_by_ops("ordinary", NB_PAGES, 64, 0, 2176,
		SOCKET_ID_ANY, PAGE_POOL_OPS);
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(mp);
	struct page_pool_stats stats = stats_of(mp);

	CHECK(stats.in_use == 1 && stats.in_mempool_cache == 64 && stats.in_ring == NB_PAGES - 65);
	rte_pktmbuf_free(mbuf);
	stats = stats_of(mp);
	CHECK(stats.in_use == 0 && stats.in_mempool_cache == 65);
	rte_mempool_cache_flush(NULL, mp);
	CHECK(stats_of(mp).recycle_ring == 65 && stats_of(mp).in_ring == NB_PAGES);
	CHECK(page_pool_free(mp) == 0);
}

/* Row 31: a pool with pages in flight says how many; it goes when they are back. */
static void
test_leak_warning(void)
{
	struct rte_mempool *mp = create_pool("leak", NB_PAGES, NULL);
	struct rte_mbuf *mbufs[7];

	rte_pktmbuf_alloc_bulk(mp, mbufs, 7);
	log_capture();
	CHECK(page_pool_free(mp) == -EBUSY);
	CHECK(log_had("leak: not freed, 7 pages are in flight"));
	rte_pktmbuf_free_bulk(mbufs, 7);
	CHECK(page_pool_free(mp) == 0);
	mp = create_pool("leak", NB_PAGES, NULL);
	rte_pktmbuf_alloc_bulk(mp, mbufs, 5);
	log_capture();
	rte_mempool_free(mp);
	CHECK(log_had("leak: freed with 5 pages in flight"));
}

/* What cannot be had is refused with a sentence, and everything is as before. */
static void
test_refusals(void)
{
	static const struct page_pool_config odd_block = { .block_size = 5000 };
	static const struct page_pool_config small_unit = { .map_unit = 2048 };
	struct rte_mempool *mp;
	struct page_pool_stats stats;

	log_capture();
	mp = page_pool_create("odd", 64, 0, 0, 2176, SOCKET_ID_ANY, &odd_block);
	CHECK(mp == NULL && rte_errno == EINVAL);
	CHECK(log_had("odd: no layout for objects of 2368 bytes in blocks of 5000 bytes"));
	log_capture();
	mp = page_pool_create("unit", 64, 0, 0, 2176, SOCKET_ID_ANY, &small_unit);
	CHECK(mp == NULL && rte_errno == EINVAL);
	CHECK(log_had("unit: a map unit of 2048 bytes"));
	log_capture();
	mp = page_pool_create("priv", 64, 0, 3, 2176, SOCKET_ID_ANY, NULL);
	CHECK(mp == NULL && rte_errno == EINVAL);
	CHECK(log_had("priv: a private area of 3 bytes"));
	mp = rte_pktmbuf_pool_create_by_ops("ring", 64, 0, 0, 2176, SOCKET_ID_ANY, "ring_mp_mc");
	CHECK(mp != NULL && page_pool_stats_get(mp, &stats) == -EINVAL);
	CHECK(page_pool_free(mp) == -EINVAL);
	rte_mempool_free(mp);
}

/* Objects that are no mbufs: placed alike, their size left alone. */
static void
test_plain_objects(void)
{
	struct rte_mempool *mp = rte_mempool_create_empty("plain", 64, 100, 0, 0, SOCKET_ID_ANY, 0);
	struct page_pool_geometry geometry;
	void *objs[64];
	unsigned int i;

	CHECK(rte_mempool_set_ops_byname(mp, PAGE_POOL_OPS, NULL) == 0);
	CHECK(rte_mempool_populate_default(mp) == 64);
	CHECK(mp->elt_size == 104);
	CHECK(page_pool_geometry_get(mp, &geometry) == 0 && geometry.buf_size == 0);
	CHECK(rte_mempool_get_bulk(mp, objs, 64) == 0);
	for (i = 0; i < 64; i++)
		CHECK((uintptr_t)objs[i] % 4096 == geometry.obj_offset +
			(uintptr_t)objs[i] / 4096 % geometry.layout.nb_colours * 64);
	rte_mempool_put_bulk(mp, objs, 64);
	CHECK(page_pool_free(mp) == 0);
}

static void
test_names(void)
{
	CHECK(strcmp(page_pool_stats_name(0), "alloc_fast") == 0);
	CHECK(strcmp(page_pool_stats_name(PAGE_POOL_NB_STATS - 1), "rq_alloc_err") == 0);
	CHECK(page_pool_stats_name(PAGE_POOL_NB_STATS) == NULL);
}

int
main(void)
{
	start_eal("0");
	test_layout_numbers();
	test_layout_memory();
	test_page_per_packet();
	test_whole_page();
	test_two_per_page();
	test_jumbo_packed();
	test_hostile_hold();
	test_counters();
	test_lifo();
	test_ring_full();
	test_recycle_cache();
	test_ordinary_free();
	test_leak_warning();
	test_refusals();
	test_plain_objects();
	test_names();
	rte_eal_cleanup();
	return check_status();
}
