/* SPDX-License-Identifier: BSD-3-Clause */

/* See xdp_port.h. */

#include "xdp_port.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_pmd_mlx4x.h>

int
xdp_port_init(int argc, char **argv)
{
	const char *percent = getenv("BLOCK_FAULTS");
	struct page_pool_fault fault = { percent != NULL ? atoi(percent) : 0, 1, UINT32_MAX };
	int used;

	page_pool_fault_set(PAGE_POOL_FAULT_BLOCK, &fault);
	used = self_init(argc, argv);
	page_pool_fault_set(PAGE_POOL_FAULT_BLOCK, &(struct page_pool_fault){ 0 });
	if (used >= 0 && percent != NULL)
		printf("%" PRIu64 " blocks were smaller\n", pool_stats(pool).cache_alloc_err);
	return used;
}

struct page_pool_stats
pool_stats(const struct rte_mempool *mp)
{
	struct page_pool_stats stats = { 0 };

	page_pool_stats_get(mp, &stats);
	return stats;
}

int
activate_driver(void)
{
	CHECK(self_start(&(struct rte_eth_conf){ 0 }) == 0);
	CHECK(rte_eth_dev_stop(PORT) == 0);
	return 0;
}

void
settle(void)
{
	while (vcx3_step(64) != 0)
		;
}

void
offer_frame(uint16_t number)
{
	struct rte_mbuf *mbuf = new_frame(number);

	if (mbuf != NULL && rte_eth_tx_burst(PORT, 0, &mbuf, 1) == 0)
		rte_pktmbuf_free(mbuf);
}

unsigned int
poll_all(void)
{
	struct rte_mbuf *pkts[BURST];
	unsigned int nb = 0, idle = 0;
	uint16_t n;

	while (idle < 3) {
		settle();
		n = rte_eth_rx_burst(PORT, 0, pkts, BURST);
		rte_pktmbuf_free_bulk(pkts, n);
		nb += n;
		idle = n == 0 ? idle + 1 : 0;
	}
	return nb;
}

unsigned int
pass_frames(unsigned int nb)
{
	unsigned int i, got = 0;

	for (i = 0; i < nb; i++) {
		if (!send_frame(new_frame(i)))
			return UINT32_MAX;
		if (i % BURST == BURST - 1)
			got += poll_all();
	}
	return got + poll_all();
}

long
sending_qp(void)
{
	static char text[65536];
	long doorbells = 0, qpn = -1;
	const char *at = text;

	vcx3_counters_text(text, sizeof(text));
	while (doorbells == 0 && (at = strstr(at, "\"qpn\": ")) != NULL) {
		qpn = atol(at + strlen("\"qpn\": "));
		at = strstr(at, "\"doorbells\": ");
		doorbells = at == NULL ? -1 : atol(at + strlen("\"doorbells\": "));
	}
	return doorbells > 0 ? qpn : -1;
}

int
with_pool(struct rte_mempool *mp, int (*body)(void))
{
	struct rte_mempool *usual = pool;
	int result;

	CHECK(mp != NULL);
	pool = mp;
	result = body();
	pool = usual;
	rte_pmd_mlx4x_xdp_set(PORT, NULL);
	rte_eth_dev_stop(PORT);
	rte_eth_dev_set_mtu(PORT, 1500);
	CHECK(self_configure(&(struct rte_eth_conf){ 0 }) == 0);	/* leaves the pool */
	if (result == 0)
		CHECK(page_pool_free(mp) == 0);
	return result;
}
