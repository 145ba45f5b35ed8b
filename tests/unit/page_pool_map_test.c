/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Memory that enters and leaves a page pool: mapped once for each device, unmapped
 * when it leaves, trimmed under pressure, and exact after each failure. The mapper of
 * these tests keeps its own books: the pool does not mark its own homework.
 */

#include <sys/mman.h>

#include <rte_random.h>

#include "page_pool_env.h"

#define NB_PAGES 512u
#define MAX_MAPS 1024u

/* A device with a table of what it has mapped. */
struct device {
	struct {
		uintptr_t begin, end;
	} maps[MAX_MAPS];
	unsigned int nb_maps;
	unsigned int map_calls;
	unsigned int unmap_calls;
	unsigned int fail_at; /* this map call fails; 0 for none */
	uint64_t bytes;
};

static int
device_map(void *arg, struct rte_mempool *mp, void *addr, size_t len)
{
	struct device *device = arg;
	uintptr_t begin = (uintptr_t)addr;
	unsigned int i;

	device->map_calls++;
	if (device->map_calls == device->fail_at)
		return -ENOSPC;
	for (i = 0; i < device->nb_maps; i++)
		CHECK(begin >= device->maps[i].end || begin + len <= device->maps[i].begin);
	device->maps[device->nb_maps].begin = begin;
	device->maps[device->nb_maps++].end = begin + len;
	device->bytes += len;
	return 0;
}

static void
device_unmap(void *arg, struct rte_mempool *mp, void *addr, size_t len)
{
	struct device *device = arg;
	unsigned int i;

	device->unmap_calls++;
	device->bytes -= len;
	for (i = 0; i < device->nb_maps; i++) {
		if (device->maps[i].begin == (uintptr_t)addr &&
		    device->maps[i].end == (uintptr_t)addr + len) {
			device->maps[i] = device->maps[--device->nb_maps];
			return;
		}
	}
	CHECK(false, "unmap of %p, %zu bytes, that was not mapped", addr, len);
}

static const struct page_pool_mapper mapper = { .map = device_map, .unmap = device_unmap };

/* Whether a device may write a whole buffer. */
static bool
can_reach(const struct device *device, const struct rte_mbuf *mbuf)
{
	uintptr_t begin = (uintptr_t)mbuf->buf_addr;
	unsigned int i;

	for (i = 0; i < device->nb_maps; i++)
		if (begin >= device->maps[i].begin &&
		    begin + mbuf->buf_len <= device->maps[i].end)
			return true;
	return false;
}

static void
arm(enum page_pool_fault_site site, uint32_t percent, uint32_t interval, uint32_t times)
{
	struct page_pool_fault fault = { percent, interval, times };

	CHECK(page_pool_fault_set(site, &fault) == 0);
}

/* Row 9, 18, 62: one mapping for the life of the pool, whatever is taken and put. */
static void
test_mapped_once(void)
{
	struct rte_mempool *mp = create_pool("once", NB_PAGES, NULL);
	struct rte_mbuf *mbufs[NB_PAGES];
	static struct device device;
	struct page_pool_stats stats;
	unsigned int i;

	CHECK(page_pool_attach(mp, &mapper, &device) == 0);
	CHECK(page_pool_attach(mp, &mapper, &device) == 0); /* a second queue */
	for (i = 0; i < 100; i++) {
		CHECK(rte_pktmbuf_alloc_bulk(mp, mbufs, NB_PAGES) == 0);
		CHECK(can_reach(&device, mbufs[i]));
		rte_pktmbuf_free_bulk(mbufs, NB_PAGES);
	}
	CHECK(device.map_calls == 1 && device.unmap_calls == 0);
	stats = stats_of(mp);
	CHECK(stats.dma_map_calls == 1 && stats.dma_mapped_bytes == NB_PAGES * 4096);
	CHECK(device.bytes == NB_PAGES * 4096);
	CHECK(page_pool_detach(mp, &mapper, &device) == 0);
	CHECK(device.unmap_calls == 0);
	CHECK(page_pool_detach(mp, &mapper, &device) == 0);
	CHECK(device.unmap_calls == 1 && device.bytes == 0);
	CHECK(page_pool_detach(mp, &mapper, &device) == -ENOENT);
	CHECK(page_pool_free(mp) == 0);
}

/* Row 58: when the last queue is gone nothing is mapped, and a held frame stays readable. */
static void
test_detach_with_held_frame(void)
{
	struct rte_mempool *mp = create_pool("held", NB_PAGES, NULL);
	static struct device device;
	struct rte_mbuf *mbuf;

	CHECK(page_pool_attach(mp, &mapper, &device) == 0);
	mbuf = rte_pktmbuf_alloc(mp);
	memset(mbuf->buf_addr, 0x5a, mbuf->buf_len);
	CHECK(page_pool_detach(mp, &mapper, &device) == 0);
	CHECK(device.nb_maps == 0 && stats_of(mp).dma_mapped_bytes == 0);
	CHECK(*((uint8_t *)mbuf->buf_addr + mbuf->buf_len - 1) == 0x5a);
	rte_pktmbuf_free(mbuf);
	CHECK(page_pool_free(mp) == 0);
}

/* Freeing a pool unmaps it for each device; detaching later is told so. */
static void
test_free_unmaps(void)
{
	struct rte_mempool *mp = create_pool("free", NB_PAGES, NULL);
	static struct device one, two;

	CHECK(page_pool_attach(mp, &mapper, &one) == 0);
	CHECK(page_pool_attach(mp, &mapper, &two) == 0);
	CHECK(page_pool_free(mp) == 0);
	CHECK(one.map_calls == 1 && one.unmap_calls == 1 && one.bytes == 0);
	CHECK(two.map_calls == 1 && two.unmap_calls == 1 && two.bytes == 0);
	CHECK(page_pool_detach(mp, &mapper, &one) == -ENOENT);
}

static unsigned int
map_calls(const char *name, unsigned int n, uint16_t data_room,
	  const struct page_pool_config *config)
{
	struct rte_mempool *mp = page_pool_create(name, n, 0, 0, data_room, SOCKET_ID_ANY, config);
	struct device *device = calloc(1, sizeof(*device));
	unsigned int calls;

	CHECK(mp != NULL);
	CHECK(page_pool_attach(mp, &mapper, device) == 0);
	calls = device->map_calls;
	CHECK(page_pool_free(mp) == 0);
	CHECK(device->unmap_calls == calls && device->bytes == 0);
	free(device);
	return calls;
}

/* Row 33, 56: map calls per buffer are 1 over the buffers of a block. */
static void
test_map_calls_per_block(void)
{
	static const struct page_pool_config block = { .block_size = 32768, .map_unit = 32768 };
	static const struct page_pool_config page = { .map_unit = 4096 };
	static const struct page_pool_config huge = { .map_unit = 2 << 20 };

	CHECK(map_calls("jumbo", 300, 9344, &block) == 100); /* stride 10880: 1/3 */
	CHECK(map_calls("s1600", 400, 1600 - 192, &block) == 20); /* 1/20 */
	CHECK(map_calls("s1536", 420, 1536 - 192, &block) == 20); /* 1/21 */
	CHECK(map_calls("s1920", 340, 1920 - 192, &block) == 20); /* 1/17 */
	CHECK(map_calls("page", 300, 2176, &page) == 300);
	CHECK(map_calls("huge", 600, 2176, &huge) <= 3);
}

/* Row 19: trim gives back what it says; what is left goes on; untrim brings it back. */
static void
test_trim(void)
{
	static const struct page_pool_config config = { .map_unit = 4096 };
	struct rte_mempool *mp = create_pool("trim", NB_PAGES, &config);
	struct rte_mbuf *mbufs[NB_PAGES];
	static struct device device;
	struct page_pool_stats stats;
	unsigned int i;

	CHECK(page_pool_attach(mp, &mapper, &device) == 0);
	CHECK(rte_pktmbuf_alloc_bulk(mp, mbufs, 100) == 0);
	rte_mempool_put_bulk(mp, (void **)mbufs, 50);
	CHECK(page_pool_trim(mp, 200) == 200);
	CHECK(device.unmap_calls == 200 && device.bytes == (NB_PAGES - 200) * 4096);
	stats = stats_of(mp);
	CHECK(stats.release == 200 && stats.inflight == NB_PAGES - 200);
	CHECK(stats.inflight_bytes == (NB_PAGES - 200) * 4096 && stats.in_use == 50);
	CHECK(page_pool_trim(mp, NB_PAGES) == (int)NB_PAGES - 250); /* all but those in use */
	CHECK(rte_pktmbuf_alloc(mp) == NULL);
	CHECK(page_pool_untrim(mp, 150) == 150);
	CHECK(rte_pktmbuf_alloc_bulk(mp, mbufs, 150) == 0);
	for (i = 0; i < 100; i++)
		CHECK(can_reach(&device, mbufs[i]));
	CHECK(page_pool_untrim(mp, NB_PAGES) == (int)NB_PAGES - 200);
	CHECK(page_pool_untrim(mp, 1) == 0);
	stats = stats_of(mp);
	CHECK(stats.inflight == NB_PAGES && stats.in_use == 200);
	CHECK(device.bytes == NB_PAGES * 4096);
	rte_mempool_free(mp);
	CHECK(device.bytes == 0 && device.map_calls == device.unmap_calls);
}

/* A unit of which a page is out cannot go: mapped whole, a pool trims all or nothing. */
static void
test_trim_whole_units(void)
{
	static const struct page_pool_config block = { .block_size = 32768, .map_unit = 32768 };
	struct rte_mempool *mp = create_pool("whole", NB_PAGES, NULL);
	static struct device device;
	struct rte_mbuf *mbuf;

	CHECK(page_pool_attach(mp, &mapper, &device) == 0);
	CHECK(page_pool_trim(mp, NB_PAGES - 1) == 0);
	mbuf = rte_pktmbuf_alloc(mp);
	CHECK(page_pool_trim(mp, NB_PAGES) == 0);
	rte_pktmbuf_free(mbuf);
	CHECK(page_pool_trim(mp, NB_PAGES) == (int)NB_PAGES && device.bytes == 0);
	CHECK(page_pool_free(mp) == 0);
	CHECK(device.map_calls == device.unmap_calls);

	mp = page_pool_create("block", 300, 0, 0, 9344, SOCKET_ID_ANY, &block);
	mbuf = rte_pktmbuf_alloc(mp);
	CHECK(page_pool_trim(mp, 300) == 297);
	rte_pktmbuf_free(mbuf);
	CHECK(page_pool_free(mp) == 0);
}

/* Row 36: whatever the order, a page that is handed out is mapped. */
static void
test_no_page_unmapped(void)
{
	static const struct page_pool_config config = { .map_unit = 8192 };
	struct rte_mempool *mp = create_pool("order", NB_PAGES, &config);
	struct rte_mbuf *held[NB_PAGES];
	static struct device device;
	unsigned int nb_held = 0, i, k;

	CHECK(page_pool_attach(mp, &mapper, &device) == 0);
	for (i = 0; i < 4000; i++) {
		unsigned int n = rte_rand_max(32);

		switch (rte_rand_max(4)) {
		case 0:
			CHECK(page_pool_trim(mp, n) >= 0);
			break;
		case 1:
			CHECK(page_pool_untrim(mp, n) >= 0);
			break;
		case 2:
			n = RTE_MIN(n, nb_held);
			nb_held -= n;
			rte_pktmbuf_free_bulk(&held[nb_held], n);
			break;
		default:
			if (nb_held + n > NB_PAGES ||
			    rte_pktmbuf_alloc_bulk(mp, &held[nb_held], n) != 0)
				break;
			for (k = 0; k < n; k++)
				CHECK(can_reach(&device, held[nb_held + k]));
			nb_held += n;
		}
	}
	CHECK(stats_of(mp).in_use == nb_held);
	rte_pktmbuf_free_bulk(held, nb_held);
	CHECK(page_pool_untrim(mp, NB_PAGES) >= 0);
	CHECK(stats_of(mp).in_ring == NB_PAGES);
	CHECK(page_pool_free(mp) == 0);
	CHECK(device.bytes == 0);
}

/* Row 35, 59, 61: the map call that fails, each in turn, leaves nothing mapped. */
static void
test_map_failure(void)
{
	static const struct page_pool_config config = { .map_unit = 65536 };
	struct rte_mempool *mp = create_pool("mapfail", NB_PAGES, &config);
	struct device *device = calloc(1, sizeof(*device));
	struct page_pool_stats before, after;
	unsigned int nb_units, k;

	CHECK(page_pool_attach(mp, &mapper, device) == 0);
	nb_units = device->nb_maps;
	CHECK(page_pool_detach(mp, &mapper, device) == 0);
	before = stats_of(mp);
	for (k = 1; k <= nb_units; k++) {
		memset(device, 0, sizeof(*device));
		device->fail_at = k;
		CHECK(page_pool_attach(mp, &mapper, device) == -ENOSPC);
		CHECK(device->nb_maps == 0 && device->bytes == 0);
		CHECK(page_pool_detach(mp, &mapper, device) == -ENOENT);
		after = stats_of(mp);
		CHECK(after.dma_map_error == k && after.dma_mapped_bytes == 0);
		CHECK(after.dma_map_calls == after.dma_unmap_calls);
		CHECK(after.cache_alloc_err == before.cache_alloc_err &&
		      after.rq_alloc_err == before.rq_alloc_err);
	}
	CHECK(page_pool_free(mp) == 0);
	free(device);
}

/* A unit that cannot be mapped again stays trimmed, and may come back later. */
static void
test_untrim_failure(void)
{
	static const struct page_pool_config config = { .map_unit = 4096 };
	struct rte_mempool *mp = create_pool("untrim", NB_PAGES, &config);
	static struct device one, two;

	CHECK(page_pool_attach(mp, &mapper, &one) == 0);
	CHECK(page_pool_attach(mp, &mapper, &two) == 0);
	CHECK(page_pool_trim(mp, 10) == 10);
	two.fail_at = two.map_calls + 1;
	CHECK(page_pool_untrim(mp, 10) == -ENOSPC);
	CHECK(one.bytes == two.bytes && one.bytes == (NB_PAGES - 10) * 4096);
	CHECK(page_pool_untrim(mp, 10) == 10);
	CHECK(page_pool_free(mp) == 0);
	CHECK(one.bytes == 0 && two.bytes == 0);
}

/* Row 22, 60: without a single block of full size the pool still has all its pages. */
static void
test_fall_back(uint32_t percent)
{
	struct rte_mbuf *mbufs[300];
	struct page_pool_stats stats;
	struct rte_mempool *mp;

	arm(PAGE_POOL_FAULT_BLOCK, percent, 1, UINT32_MAX);
	mp = rte_pktmbuf_pool_create_by_ops("fallback", 300, 0, 0, 9344, SOCKET_ID_ANY,
		PAGE_POOL_OPS_PACKED);
	arm(PAGE_POOL_FAULT_BLOCK, 0, 0, 0);
	CHECK(mp != NULL);
	stats = stats_of(mp);
	if (percent == 100) { /* each packet in 16 KiB of its own, as before blocks */
		CHECK(stats.cache_alloc_err == 300);
		CHECK(stats.inflight_bytes == 300 * 16384);
	}
	CHECK(stats.cache_alloc_err > 0 && stats.rq_alloc_err == 0 && stats.dma_map_error == 0);
	CHECK(rte_pktmbuf_alloc_bulk(mp, mbufs, 300) == 0);
	rte_pktmbuf_free_bulk(mbufs, 300);
	CHECK(page_pool_free(mp) == 0);
	mp = create_pool("pages", 64, NULL); /* an order 0 pool has nothing to fall back to */
	CHECK(stats_of(mp).cache_alloc_err == 0);
	CHECK(page_pool_free(mp) == 0);
}

/* Row 61: the records of entering memory cannot be had: no pool, an errno, no trace. */
static void
test_metadata_failure(void)
{
	struct rte_mempool *mp;

	arm(PAGE_POOL_FAULT_METADATA, 100, 1, 1);
	log_capture();
	mp = page_pool_create("meta", NB_PAGES, 0, 0, 2176, SOCKET_ID_ANY, NULL);
	CHECK(mp == NULL && rte_errno == ENOMEM);
	CHECK(log_had("meta: no memory for the records of 512 pages"));
	mp = create_pool("meta", NB_PAGES, NULL); /* the name is free again */
	CHECK(page_pool_free(mp) == 0);
}

/* Row 59: injected map errors move dma_map_error, by as many as were injected. */
static void
test_map_injection(void)
{
	struct rte_mempool *mp = create_pool("inject", NB_PAGES, NULL);
	static struct device device;

	arm(PAGE_POOL_FAULT_MAP, 100, 1, 3);
	while (page_pool_attach(mp, &mapper, &device) == -EIO)
		CHECK(device.map_calls == 0);
	CHECK(stats_of(mp).dma_map_error == 3 && device.map_calls == 1);
	CHECK(page_pool_free(mp) == 0);
}

/* Row 35, 59: a get that fails takes nothing; every third one fails, as armed. */
static void
test_get_injection(void)
{
	struct rte_mempool *mp = create_pool("get", NB_PAGES, NULL);
	struct rte_mbuf *mbufs[8];
	unsigned int failed = 0, i;

	arm(PAGE_POOL_FAULT_GET, 100, 3, UINT32_MAX);
	for (i = 0; i < 300; i++) {
		if (rte_pktmbuf_alloc_bulk(mp, mbufs, 8) == 0)
			rte_pktmbuf_free_bulk(mbufs, 8);
		else
			failed++;
		CHECK(stats_of(mp).in_use == 0);
	}
	arm(PAGE_POOL_FAULT_GET, 0, 0, 0);
	CHECK(failed == 100 && stats_of(mp).rq_alloc_err == 100);
	for (i = 0; i < 300; i++) {
		CHECK(rte_pktmbuf_alloc_bulk(mp, mbufs, 8) == 0);
		rte_pktmbuf_free_bulk(mbufs, 8);
	}
	CHECK(stats_of(mp).cache_alloc_err == 0 && stats_of(mp).dma_map_error == 0);
	CHECK(page_pool_free(mp) == 0);
}

/* Memory that the application brings: unaligned, in pieces, while a device is attached. */
static void
test_foreign_memory(void)
{
	const size_t len = 65 * 4096;
	char *memory = mmap(NULL, 2 * len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rte_pktmbuf_pool_private priv = { .mbuf_data_room_size = 2176 };
	struct rte_mempool *mp = rte_mempool_create_empty("foreign", 128, 128 + 2176, 0,
		sizeof(priv), SOCKET_ID_ANY, 0);
	static struct device device;
	struct rte_mbuf *mbufs[64];

	CHECK(rte_mempool_set_ops_byname(mp, PAGE_POOL_OPS, NULL) == 0);
	rte_pktmbuf_pool_init(mp, &priv);
	CHECK(page_pool_attach(mp, &mapper, &device) == -EINVAL); /* no memory yet */
	CHECK(rte_mempool_populate_iova(mp, memory + 100, (rte_iova_t)memory + 100, len - 100,
		NULL, NULL) == 64);
	rte_mempool_obj_iter(mp, rte_pktmbuf_init, NULL);
	CHECK(page_pool_attach(mp, &mapper, &device) == 0);
	CHECK(device.bytes == 64 * 4096);
	CHECK(rte_pktmbuf_alloc_bulk(mp, mbufs, 3) == 0);
	CHECK(mbufs[0]->buf_iova == (rte_iova_t)mbufs[0]->buf_addr);
	arm(PAGE_POOL_FAULT_MAP, 100, 1, 1);
	CHECK(rte_mempool_populate_iova(mp, memory + len, (rte_iova_t)memory + len, len,
		NULL, NULL) == -EIO);
	CHECK(stats_of(mp).hold == 64 && device.bytes == 64 * 4096);
	CHECK(rte_mempool_populate_iova(mp, memory + len, (rte_iova_t)memory + len, len,
		NULL, NULL) == 64);
	CHECK(device.map_calls == 2 && device.bytes == 128 * 4096);
	CHECK(stats_of(mp).hold == 128 && stats_of(mp).in_use == 3);
	rte_mempool_put_bulk(mp, (void **)mbufs, 3);
	CHECK(page_pool_free(mp) == 0);
	CHECK(device.bytes == 0);
	munmap(memory, 2 * len);
}

/* Many pieces of memory in any order of address: each page is found in its own. */
static void
test_many_chunks(void)
{
	static const struct page_pool_config config = { .map_unit = 4096 };
	static const unsigned int order[] = { 5, 2, 7, 0, 3, 6, 1, 4 };
	const size_t len = 64 * 4096;
	char *memory = mmap(NULL, 8 * len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rte_mempool *mp = rte_mempool_create_empty("chunks", NB_PAGES, 512, 0, 0,
		SOCKET_ID_ANY, 0);
	static struct device device;
	unsigned int i;

	CHECK(rte_mempool_set_ops_byname(mp, PAGE_POOL_OPS, (void *)(uintptr_t)&config) == 0);
	for (i = 0; i < 8; i++) {
		char *piece = memory + order[i] * len;

		CHECK(rte_mempool_populate_iova(mp, piece, (rte_iova_t)piece, len, NULL, NULL) == 64);
		if (i == 3)
			CHECK(page_pool_attach(mp, &mapper, &device) == 0);
	}
	CHECK(device.bytes == 8 * len);
	CHECK(page_pool_trim(mp, 300) == 300);
	CHECK(device.bytes == 8 * len - 300 * 4096);
	CHECK(page_pool_untrim(mp, 200) == 200);
	CHECK(page_pool_trim(mp, NB_PAGES) == (int)NB_PAGES - 100);
	CHECK(device.bytes == 0 && stats_of(mp).inflight_bytes == 0);
	CHECK(page_pool_untrim(mp, NB_PAGES) == (int)NB_PAGES);
	CHECK(stats_of(mp).inflight_bytes == 8 * len && rte_mempool_avail_count(mp) == NB_PAGES);
	CHECK(page_pool_free(mp) == 0);
	CHECK(device.bytes == 0);
	munmap(memory, 8 * len);
}

/* Memory that one of two devices cannot map does not enter, and is mapped for neither. */
static void
test_enter_all_or_none(void)
{
	const size_t len = 64 * 4096;
	char *memory = mmap(NULL, 2 * len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rte_mempool *mp = rte_mempool_create_empty("enter", 128, 512, 0, 0, SOCKET_ID_ANY, 0);
	static struct device one, two;

	CHECK(rte_mempool_set_ops_byname(mp, PAGE_POOL_OPS, NULL) == 0);
	CHECK(rte_mempool_populate_iova(mp, memory, (rte_iova_t)memory, len, NULL, NULL) == 64);
	CHECK(page_pool_attach(mp, &mapper, &one) == 0);
	CHECK(page_pool_attach(mp, &mapper, &two) == 0);
	two.fail_at = 2;
	CHECK(rte_mempool_populate_iova(mp, memory + len, (rte_iova_t)memory + len, len,
		NULL, NULL) == -ENOSPC);
	CHECK(one.bytes == len && two.bytes == len && stats_of(mp).hold == 64);
	CHECK(rte_mempool_populate_iova(mp, memory + len, (rte_iova_t)memory + len, len,
		NULL, NULL) == 64);
	CHECK(one.bytes == 2 * len && two.bytes == 2 * len && stats_of(mp).hold == 128);
	CHECK(page_pool_free(mp) == 0);
	CHECK(one.bytes == 0 && two.bytes == 0);
	munmap(memory, 2 * len);
}

/* Anonymous memory starts at any page; a packed pool is complete there, too. */
static void
test_anonymous_memory(void)
{
	unsigned int i;

	for (i = 0; i < 8; i++) {
		struct rte_mempool *mp = rte_mempool_create_empty("anon", 300, 9536 - 64, 0, 0,
			SOCKET_ID_ANY, 0);
		void *shift = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		CHECK(rte_mempool_set_ops_byname(mp, PAGE_POOL_OPS_PACKED, NULL) == 0);
		CHECK(rte_mempool_populate_anon(mp) == 300);
		CHECK(stats_of(mp).cache_alloc_err == 0);
		CHECK(page_pool_free(mp) == 0);
		munmap(shift, 4096);
	}
}

/* Memory of another node than the pool's is used as the application wants, and counted. */
static void
test_waive(void)
{
	const size_t len = 512 * 4096;
	char *memory = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rte_mempool *mp = rte_mempool_create_empty("waive", 64, 512, 0, 0, 0, 0);

	CHECK(rte_extmem_register(memory, len, NULL, 512, 4096) == 0);
	CHECK(mp != NULL && rte_mempool_set_ops_byname(mp, PAGE_POOL_OPS, NULL) == 0);
	CHECK(rte_mempool_populate_iova(mp, memory, (rte_iova_t)memory, len, NULL, NULL) == 64);
	CHECK(stats_of(mp).alloc_waive == 64 && stats_of(mp).in_ring == 64);
	CHECK(page_pool_free(mp) == 0);
	CHECK(rte_extmem_unregister(memory, len) == 0);
	munmap(memory, len);
}

int
main(void)
{
	start_eal("0");
	test_mapped_once();
	test_detach_with_held_frame();
	test_free_unmaps();
	test_map_calls_per_block();
	test_trim();
	test_trim_whole_units();
	test_no_page_unmapped();
	test_map_failure();
	test_untrim_failure();
	test_fall_back(100);
	test_fall_back(30);
	test_metadata_failure();
	test_map_injection();
	test_get_injection();
	test_foreign_memory();
	test_many_chunks();
	test_enter_all_or_none();
	test_anonymous_memory();
	test_waive();
	rte_eal_cleanup();
	return check_status();
}
