/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Programs in the receive path of net_mlx4x under load from the card's generator: what
 * a million frames cost (counted by the card and by the page pool, not by the driver),
 * and programs that change while four lcores receive.
 *
 * First argument: drop, send or full (vcx3 --step), replace or objects (vcx3 without).
 */

#include <malloc.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <linux/bpf.h>

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include <rte_pmd_mlx4x.h>

#include "xdp_port.h"

#define MILLION 1000000
#define WARM_UP 10000
#define LOAD_BURST 64
#define NB_QUEUES 4
#define NB_REPLACES 1000
#define NB_OBJECTS 100

static uint64_t
drop(struct xdpvm_buff *buff)
{
	return XDP_DROP;
}

static uint64_t
send_back(struct xdpvm_buff *buff)
{
	return XDP_TX;
}

/* What must not move while frames are dropped or sent back. */
struct costs {
	uint64_t pool_gets;
	uint64_t pool_maps;
	long registrations;
	long registered_bytes;
};

static struct costs
costs_now(void)
{
	struct page_pool_stats stats = pool_stats(pool);

	return (struct costs){ stats.taken, stats.dma_map_calls + stats.dma_unmap_calls,
		card_counter("registrations"), card_counter("registered_bytes") };
}

/* Turns of the card and polls, until so many frames were judged. */
static int
receive(uint64_t nb)
{
	struct rte_mbuf *pkts[LOAD_BURST];
	uint64_t idle = 0, seen = 0, now;

	while (port_xstat(PORT, "rx_xdp_packets") < nb) {
		unsigned int i;

		for (i = 0; i < 256; i++) {
			vcx3_step(16);
			CHECK(rte_eth_rx_burst(PORT, 0, pkts, LOAD_BURST) == 0);
		}
		now = port_xstat(PORT, "rx_xdp_packets");
		idle = now == seen ? idle + 1 : 0;
		seen = now;
		CHECK(idle < 1000);
	}
	return 0;
}

static int
start(const struct rte_pmd_mlx4x_xdp_prog *prog)
{
	struct rte_eth_conf conf = { 0 };

	CHECK(rte_pmd_mlx4x_xdp_set(PORT, prog) == 0);
	CHECK(self_start(&conf) == 0);
	CHECK(rte_eth_promiscuous_enable(PORT) == 0);
	return 0;
}

/* Rows 3 and 66: after warm-up nothing is allocated and nothing is mapped. */
static int
costs_nothing(void)
{
	struct costs before, after;

	CHECK(receive(WARM_UP) == 0);
	before = costs_now();
	CHECK(receive(WARM_UP + MILLION) == 0);
	after = costs_now();
	CHECK(memcmp(&before, &after, sizeof(before)) == 0);
	/* The pool knows of its mappings; pieces that touch are one region of the card. */
	CHECK(before.registrations == 1 && before.pool_maps >= 1);
	CHECK(verdicts_add_up(PORT));
	return 0;
}

static int
test_drop(void)
{
	static const struct rte_pmd_mlx4x_xdp_prog prog = { .hook = drop };

	CHECK(start(&prog) == 0);
	CHECK(costs_nothing() == 0);
	CHECK(port_xstat(PORT, "rx_xdp_drop") == port_xstat(PORT, "rx_xdp_packets"));
	CHECK(card_counter("doorbells") == 0);
	return 0;
}

/* Row 64: at most one doorbell for 32 frames. */
static int
test_send(void)
{
	static const struct rte_pmd_mlx4x_xdp_prog prog = { .hook = send_back };

	CHECK(start(&prog) == 0);
	CHECK(costs_nothing() == 0);
	vcx3_step(1000);	/* the last of them leave */
	CHECK(port_xstat(PORT, "rx_xdp_tx") == port_xstat(PORT, "rx_xdp_packets"));
	CHECK(port_xstat(PORT, "rx_xdp_tx") == (uint64_t)card_counter("tx_wqes"));
	CHECK(port_xstat(PORT, "rx_xdp_tx_doorbells") >= (uint64_t)card_counter("doorbells"));
	CHECK((uint64_t)card_counter("doorbells") * 32 <= port_xstat(PORT, "rx_xdp_tx"));
	return 0;
}

/* Row 65: what does not fit the ring is lost and counted, and its page stays. */
static int
test_full(void)
{
	static const struct rte_pmd_mlx4x_xdp_prog prog = { .hook = send_back };
	uint64_t sent;

	CHECK(start(&prog) == 0);
	CHECK(receive(WARM_UP) == 0);
	CHECK(port_xstat(PORT, "rx_xdp_tx_full") == 0);
	CHECK(card_ctl("stall sq %ld", sending_qp()));
	CHECK(receive(2 * WARM_UP) == 0);
	CHECK(port_xstat(PORT, "rx_xdp_tx_full") > 0 && port_xstat(PORT, "rx_xdp_drop") == 0);
	sent = port_xstat(PORT, "rx_xdp_tx");
	CHECK(receive(3 * WARM_UP) == 0);
	CHECK(port_xstat(PORT, "rx_xdp_tx") == sent);
	CHECK(port_xstat(PORT, "rx_xdp_tx_full") == port_xstat(PORT, "rx_xdp_packets") - sent);
	CHECK(verdicts_add_up(PORT));
	CHECK(card_ctl("resume"));
	CHECK(receive(4 * WARM_UP) == 0);
	CHECK(port_xstat(PORT, "rx_xdp_tx") > sent && verdicts_add_up(PORT));
	return 0;
}

/* A generation of the program that is replaced: what it judged, and if it still may. */
struct generation {
	uint64_t judged[NB_QUEUES][8];	/* a cache line each */
	uint32_t gone;
};

static uint64_t nb_late;	/* frames that a program judged after its replacement */
static bool stop;

static uint64_t
judge(struct xdpvm_buff *buff)
{
	struct generation *generation = buff->opaque;

	generation->judged[buff->rx_queue_index][0]++;
	if (__atomic_load_n(&generation->gone, __ATOMIC_RELAXED))
		__atomic_fetch_add(&nb_late, 1, __ATOMIC_RELAXED);
	return generation->judged[buff->rx_queue_index][0] % 2 ? XDP_DROP : XDP_PASS;
}

static int
poll_queue(void *queue)
{
	struct rte_mbuf *pkts[LOAD_BURST];
	uint16_t n;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		n = rte_eth_rx_burst(PORT, (uintptr_t)queue, pkts, LOAD_BURST);
		rte_pktmbuf_free_bulk(pkts, n);
		if (n == 0)
			sched_yield();
	}
	return 0;
}

static int
start_queues(void)
{
	struct rte_eth_conf conf = {
		.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS,
		.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_NONFRAG_IPV4_UDP,
	};
	unsigned int lcore;
	uintptr_t i;

	CHECK(rte_eth_dev_configure(PORT, NB_QUEUES, 1, &conf) == 0);
	for (i = 0; i < NB_QUEUES; i++)
		CHECK(rte_eth_rx_queue_setup(PORT, i, RING, 0, NULL, pool) == 0);
	CHECK(rte_eth_tx_queue_setup(PORT, 0, RING, 0, NULL) == 0);
	CHECK(rte_eth_dev_start(PORT) == 0);
	CHECK(rte_eth_promiscuous_enable(PORT) == 0);
	i = 0;
	RTE_LCORE_FOREACH_WORKER(lcore)
		CHECK(rte_eal_remote_launch(poll_queue, (void *)i++, lcore) == 0);
	CHECK(i == NB_QUEUES);
	return 0;
}

static void
stop_queues(void)
{
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	rte_eal_mp_wait_lcore();
}

static uint64_t
sum(const struct generation *generation)
{
	uint64_t all = 0;
	unsigned int i;

	for (i = 0; i < NB_QUEUES; i++)
		all += generation->judged[i][0];
	return all;
}

/* Row 6: a swap is no restart; each frame is judged by the old or by the new program. */
static int
test_replace(void)
{
	struct rte_pmd_mlx4x_xdp_prog prog = { .hook = judge };
	struct generation *generations[NB_REPLACES + 1];
	uint64_t judged = 0, used = 0;
	unsigned int i;

	for (i = 0; i <= NB_REPLACES; i++)
		generations[i] = calloc(1, sizeof(*generations[i]));
	prog.arg = generations[0];
	CHECK(rte_pmd_mlx4x_xdp_set(PORT, &prog) == 0);
	CHECK(start_queues() == 0);
	CHECK_SOON(port_xstat(PORT, "rx_xdp_packets") > WARM_UP);
	for (i = 1; i <= NB_REPLACES; i++) {
		uint64_t before = port_xstat(PORT, "rx_xdp_packets");

		prog.arg = generations[i];
		CHECK(rte_pmd_mlx4x_xdp_set(PORT, &prog) == 0);
		__atomic_store_n(&generations[i - 1]->gone, 1, __ATOMIC_RELAXED);
		if (i % 10 == 0)
			CHECK_SOON(port_xstat(PORT, "rx_xdp_packets") > before);
	}
	/* The generator is not waited for: what the card delivered is the measure. */
	CHECK_SOON(card_counter("rx_frames") > 5 * WARM_UP);
	stop_queues();
	for (i = 0; i <= NB_REPLACES; i++) {
		judged += sum(generations[i]);
		used += sum(generations[i]) != 0;
	}
	printf("%" PRIu64 " frames, %" PRIu64 " of %u programs saw some\n", judged, used,
		NB_REPLACES + 1);
	CHECK(nb_late == 0);
	CHECK(used >= NB_REPLACES / 10);
	CHECK(judged == port_xstat(PORT, "rx_xdp_packets") && verdicts_add_up(PORT));
	for (i = 0; i < NB_QUEUES; i++) {
		char name[64];

		snprintf(name, sizeof(name), "rx_q%u_xdp_packets", i);
		CHECK(port_xstat(PORT, name) > 0);
	}
	CHECK(card_counter("rx_frames") >= (long)judged);
	CHECK(card_counter("rx_frames") - (long)judged <= NB_QUEUES * RING);
	CHECK(rte_pmd_mlx4x_xdp_set(PORT, NULL) == 0);
	for (i = 0; i <= NB_REPLACES; i++)
		free(generations[i]);
	return 0;
}

/* Bytes of this process that loads could leave: heap, and native code. */
static size_t
memory_used(void)
{
	struct mallinfo2 heap = mallinfo2();
	unsigned long start, stop_at;
	size_t sum = heap.uordblks;
	char line[512], mode[8];
	FILE *maps = fopen("/proc/self/maps", "r");

	while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
		/* Native code of programs: no file behind it, to be executed. */
		if (sscanf(line, "%lx-%lx %7s %*s %*s 0 %*[\n]", &start, &stop_at, mode) == 3 &&
		    strchr(mode, 'x') != NULL)
			sum += stop_at - start;
	}
	if (maps != NULL)
		fclose(maps);
	return sum;
}

/* The same with objects, which come and go with their maps and code; argument: a folder. */
static int
test_objects(const char *folder)
{
	static const char *const names[] = { "drop", "pass", "swap_tx", "counter" };
	struct rte_pmd_mlx4x_xdp_options options = { .replace = true };
	size_t kept = 0;
	char path[512];
	unsigned int i;
	int last = 0;

	CHECK(start_queues() == 0);
	for (i = 0; i < NB_OBJECTS; i++) {
		uint64_t before = port_xstat(PORT, "rx_xdp_packets");
		int id;

		if (i == NB_OBJECTS / 2)
			kept = memory_used();

		snprintf(path, sizeof(path), "%s/%s.bpf.o", folder, names[i % RTE_DIM(names)]);
		id = rte_pmd_mlx4x_xdp_load(PORT, RTE_PMD_MLX4X_XDP_PORT, path, &options);
		CHECK(id > last);
		last = id;
		CHECK_SOON(port_xstat(PORT, "rx_xdp_packets") > before);
		if (i % 10 == 9)
			CHECK(rte_pmd_mlx4x_xdp_unload(PORT, RTE_PMD_MLX4X_XDP_PORT, id) == 0);
	}
	CHECK(port_xstat(PORT, "rx_xdp_drop") > 0 && port_xstat(PORT, "rx_xdp_tx") > 0);
	CHECK(port_xstat(PORT, "rx_xdp_pass") > 0 && port_xstat(PORT, "rx_xdp_aborted") == 0);
	/* What the second half has loaded is gone again, code and maps too. */
	CHECK(memory_used() < kept + 64 * 1024);
	stop_queues();
	CHECK(verdicts_add_up(PORT));
	rte_pmd_mlx4x_xdp_set(PORT, NULL);
	return 0;
}

static const char *words[2];

static int
run(void)
{
	if (strcmp(words[0], "drop") == 0)
		return test_drop();
	if (strcmp(words[0], "send") == 0)
		return test_send();
	if (strcmp(words[0], "full") == 0)
		return test_full();
	if (strcmp(words[0], "replace") == 0)
		return test_replace();
	return test_objects(words[1]);
}

int
main(int argc, char **argv)
{
	struct self_test test = { .run = run };
	int i, used = xdp_port_init(argc, argv);

	if (used < 0 || argc - used < 2)
		return 1;
	for (i = 0; i < 2 && used + 1 + i < argc; i++)
		words[i] = argv[used + 1 + i];
	test.name = words[0];
	return self_run(&test, 1, NULL);
}
