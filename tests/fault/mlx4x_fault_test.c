/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The life of a port of net_mlx4x when things go wrong, below vcx3:
 *
 * - each verbs command that a whole life needs fails, one after the other. The call
 *   that meets it says so with an error and a sentence; the next try, on the same
 *   port, works; in the end nothing is left, neither verbs objects nor mbufs;
 * - operations in random, but legal order, with the card unplugged now and then.
 */

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_log.h>
#include <rte_malloc.h>

#include "self_port.h"

#define DEVICE "0000:03:00.0"
#define NB_QUEUES 2

/* Faults of one kind are over when so many more of them met nothing. */
#define CLEAN_RUNS 4

/* Commands that the driver, or a library for it, sends; destroying has its own list. */
static const char *const commands[] = {
	"GET_CONTEXT", "QUERY_DEVICE", "EX_QUERY_DEVICE", "QUERY_PORT", "ALLOC_PD", "REG_MR",
	"CREATE_COMP_CHANNEL", "CREATE_CQ", "CREATE_QP", "EX_CREATE_QP", "MODIFY_QP",
	"CREATE_WQ", "MODIFY_WQ", "CREATE_RWQ_IND_TBL", "CREATE_FLOW",
};

static const char *const destroying[] = {
	"DESTROY_FLOW", "DESTROY_QP", "DESTROY_WQ", "DESTROY_CQ", "DESTROY_RWQ_IND_TBL", "DEREG_MR",
	"DEALLOC_PD",
};

/* What DPDK and the driver said. */
static FILE *log_stream;
static char *log_text;
static size_t log_size;

static const char *failed_step;

#define STEP(call) do { \
	int result_ = (call); \
	if (result_ != 0) { \
		failed_step = #call; \
		return result_; \
	} \
} while (0)

static bool
is_present(void)
{
	return rte_eth_dev_count_avail() != 0;
}

static int
plug(void)
{
	return is_present() ? 0 : rte_eal_hotplug_add("pci", DEVICE, "");
}

static int
configure(uint16_t nb_queues)
{
	struct rte_eth_conf conf = {
		.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS,
		.rxmode.offloads = RTE_ETH_RX_OFFLOAD_CHECKSUM,
		.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_UDP,
		.intr_conf = { .rxq = 1, .lsc = 1, .rmv = 1 },
	};

	STEP(rte_eth_dev_configure(PORT, nb_queues, nb_queues, &conf));
	return 0;
}

static int
set_up(uint16_t nb_queues)
{
	uint16_t i;

	for (i = 0; i < nb_queues; i++) {
		STEP(rte_eth_rx_queue_setup(PORT, i, RING, SOCKET_ID_ANY, NULL, pool));
		STEP(rte_eth_tx_queue_setup(PORT, i, RING, SOCKET_ID_ANY, NULL));
	}
	return 0;
}

static int
one_echo(void)
{
	return echo(new_frame(1), 1) == 0 ? 0 : -ETIME;
}

/* All that a port does in its life. */
static int
live(void)
{
	struct rte_ether_addr other = { { 2, 0, 0, 0, 0, 9 } };

	STEP(plug());
	STEP(configure(NB_QUEUES));
	STEP(set_up(NB_QUEUES));
	STEP(rte_eth_dev_start(PORT));
	STEP(one_echo());
	STEP(rte_eth_promiscuous_enable(PORT));
	STEP(rte_eth_promiscuous_disable(PORT));
	STEP(rte_eth_allmulticast_enable(PORT));
	STEP(rte_eth_dev_mac_addr_add(PORT, &other, 0));
	STEP(rte_eth_dev_rx_queue_stop(PORT, 1));
	STEP(rte_eth_dev_rx_queue_start(PORT, 1));
	STEP(rte_eth_dev_tx_queue_stop(PORT, 1));
	STEP(rte_eth_dev_tx_queue_start(PORT, 1));
	STEP(one_echo());
	STEP(rte_eth_dev_stop(PORT));
	STEP(rte_eth_dev_set_mtu(PORT, 1400));
	STEP(rte_eth_dev_start(PORT));
	STEP(one_echo());
	STEP(rte_eth_dev_stop(PORT));
	STEP(rte_eth_dev_mac_addr_remove(PORT, &other));
	STEP(rte_eth_allmulticast_disable(PORT));
	return 0;
}

/* Blocks of DPDK's heap that are in use. */
static unsigned int
nb_heap_blocks(void)
{
	struct rte_malloc_socket_stats stats;

	return rte_malloc_get_socket_stats(0, &stats) == 0 ? stats.alloc_count : 0;
}

static int
unplug(void)
{
	if (is_present())
		CHECK(rte_eal_hotplug_remove("pci", DEVICE) == 0);
	CHECK(!is_present());
	CHECK(card_census() == 0);
	CHECK(rte_mempool_in_use_count(pool) == 0);
	return 0;
}

/* True if the driver has said something since the last call. */
static bool
has_spoken(void)
{
	bool spoken;

	fflush(log_stream);
	spoken = log_size != 0 && strstr(log_text, "mlx4x: ") != NULL;
	rewind(log_stream);
	return spoken;
}

/* One life with one fault; *met tells whether a call returned the error. */
static int
fail_once(const char *command, unsigned int nth, int error, bool *met)
{
	int result;

	has_spoken();
	failed_step = "none";
	CHECK(card_ctl("fail %s %u %d", command, nth, error));
	result = live();
	*met = result != 0;
	if (result != 0 && (result > 0 || !has_spoken())) {
		printf("%s %u: %s returns %d without a sentence\n", command, nth, failed_step, result);
		return -1;
	}
	if (result != 0) {
		const char *first = failed_step;

		rte_eth_dev_stop(PORT);
		if (live() != 0) {
			printf("%s %u: after %s, %s fails too\n", command, nth, first, failed_step);
			return -1;
		}
	}
	CHECK(card_ctl("resume"));
	return unplug();
}

static unsigned int
nb_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int nb = 0;

	while (dir != NULL && readdir(dir) != NULL)
		nb++;
	closedir(dir);
	return nb;
}

/* What a life without faults leaves: nothing, but what DPDK keeps for itself. */
static struct {
	unsigned int heap_blocks;
	unsigned int descriptors;
} usual;

/* vcx3 keeps the numbers of some closed event descriptors taken, so many that it is full. */
#define WARM_UP 20

static int
learn_usual(void)
{
	unsigned int i;

	for (i = 0; i < WARM_UP; i++)
		CHECK(live() == 0 && unplug() == 0);
	usual.heap_blocks = nb_heap_blocks();
	usual.descriptors = nb_descriptors();
	return 0;
}

static int
check_usual(void)
{
	CHECK(nb_heap_blocks() == usual.heap_blocks);
	/* EAL's interrupt thread may be about to make its poll set anew. */
	CHECK_SOON(nb_descriptors() == usual.descriptors);
	return 0;
}

static int
fail_each(const char *const *names, unsigned int nb, int error)
{
	unsigned int i, nth, clean, total = 0;
	bool met;

	for (i = 0; i < nb; i++) {
		for (nth = 1, clean = 0; clean < CLEAN_RUNS; nth++) {
			if (fail_once(names[i], nth, error, &met) != 0) {
				printf("command %s, number %u\n", names[i], nth);
				return -1;
			}
			clean = met ? 0 : clean + 1;
			total += met;
		}
	}
	printf("%u calls met a fault\n", total);
	return 0;
}

static int
test_create_fails(void)
{
	CHECK(learn_usual() == 0);
	CHECK(fail_each(commands, RTE_DIM(commands), ENOMEM) == 0);
	return check_usual();
}

/* The kernel keeps what it refuses to destroy until the context is closed. */
static int
test_destroy_fails(void)
{
	return fail_each(destroying, RTE_DIM(destroying), EBUSY);
}

enum state { ABSENT, PROBED, CONFIGURED, SET_UP, STARTED };

static enum state state;
static uint16_t nb_queues;

/* One legal operation; the state follows. */
static int
step_forward(unsigned int choice)
{
	switch (state) {
	case ABSENT:
		STEP(plug());
		state = PROBED;
		break;
	case PROBED:
		nb_queues = 1 + choice % 4;
		STEP(configure(nb_queues));
		state = CONFIGURED;
		break;
	case CONFIGURED:
		STEP(set_up(nb_queues));
		state = SET_UP;
		break;
	case SET_UP:
		STEP(rte_eth_dev_start(PORT));
		state = STARTED;
		break;
	case STARTED:
		STEP(one_echo());
		break;
	}
	return 0;
}

static int
step_aside(unsigned int choice)
{
	if (state == ABSENT)
		return 0;
	if (state == STARTED && choice % 2) {
		STEP(rte_eth_dev_stop(PORT));
		state = SET_UP;
	} else if (state >= CONFIGURED && choice % 4 == 0) {
		STEP(rte_eth_dev_reset(PORT));
		state = PROBED;
	} else if (state != STARTED && choice % 4 == 2) {
		state = PROBED;		/* is configured again */
	} else {
		STEP(choice % 8 < 4 ? rte_eal_hotplug_remove("pci", DEVICE) :
			rte_eth_dev_stop(PORT) + rte_eth_dev_close(PORT));
		state = ABSENT;
	}
	return 0;
}

/* The card is pulled out, whatever the port is doing, and is there again later. */
static int
pull_out(void)
{
	struct rte_mbuf *mbuf;

	CHECK(card_ctl("unplug"));
	if (state == STARTED) {
		mbuf = new_frame(1);
		if (rte_eth_tx_burst(PORT, 0, &mbuf, 1) != 1)
			rte_pktmbuf_free(mbuf);
		rte_eth_rx_burst(PORT, 0, &mbuf, 0);
	}
	if (state != ABSENT)
		CHECK(rte_eth_dev_is_removed(PORT) == 1);
	CHECK(unplug() == 0);
	CHECK(card_ctl("replug"));
	state = ABSENT;
	return 0;
}

static int
test_random_order(void)
{
	unsigned int i, seed = 1;

	CHECK(learn_usual() == 0);
	state = ABSENT;
	for (i = 0; i < 600; i++) {
		unsigned int choice = rand_r(&seed) >> 4;
		enum state from = state;
		int ret = choice % 64 == 0 ? pull_out() :
			choice % 3 != 0 ? step_forward(choice >> 6) : step_aside(choice >> 6);

		if (ret != 0) {
			printf("step %u, in state %d: %s returns %d\n", i, from, failed_step, ret);
			return -1;
		}
		if (state < SET_UP && rte_mempool_in_use_count(pool) != 0) {
			printf("step %u, in state %d: mbufs are lost\n", i, from);
			return -1;
		}
	}
	CHECK(unplug() == 0);
	return check_usual();
}

static unsigned int nb_removals;

static int
close_at_once(uint16_t port, enum rte_eth_event_type event, void *opaque, void *result)
{
	nb_removals++;
	rte_eth_dev_stop(port);
	return rte_eth_dev_close(port);
}

/* The application closes the port in the very callback that tells of the removal. */
static int
test_close_in_callback(void)
{
	unsigned int i;

	/* ethdev keeps it for all ports with this number. */
	CHECK(plug() == 0);
	CHECK(rte_eth_dev_callback_register(PORT, RTE_ETH_EVENT_INTR_RMV, close_at_once, NULL) == 0);
	CHECK(learn_usual() == 0);
	for (i = 0; i < 5; i++) {
		CHECK(plug() == 0 && configure(NB_QUEUES) == 0 && set_up(NB_QUEUES) == 0);
		CHECK(rte_eth_dev_start(PORT) == 0);
		CHECK(one_echo() == 0);
		CHECK(card_ctl("unplug"));
		CHECK_SOON(!is_present());
		CHECK(nb_removals == i + 1);
		CHECK(card_ctl("replug"));
		CHECK(rte_eal_hotplug_remove("pci", DEVICE) == 0);
		CHECK(unplug() == 0);
	}
	return check_usual();
}

static const struct self_test tests[] = {
	{ "create_fails", test_create_fails },
	{ "destroy_fails", test_destroy_fails },
	{ "random_order", test_random_order },
	{ "close_in_callback", test_close_in_callback },
};

int
main(int argc, char **argv)
{
	int used = self_init(argc, argv);
	unsigned int i, failed = 0;

	log_stream = open_memstream(&log_text, &log_size);
	if (used < 0 || log_stream == NULL)
		return 1;
	rte_openlog_stream(log_stream);
	failed += unplug() != 0;
	for (i = 0; i < RTE_DIM(tests); i++) {
		bool ok = (used + 1 < argc && strcmp(argv[used + 1], tests[i].name) != 0) ||
			tests[i].run() == 0;

		printf("%s: %s\n", tests[i].name, ok ? "ok" : "FAILED");
		if (!ok) {
			fflush(log_stream);
			printf("%s\n", log_text);
			rte_eth_dev_stop(PORT);
			rte_eal_hotplug_remove("pci", DEVICE);
			card_ctl("resume");
			failed++;
		}
	}
	rte_mempool_free(pool);
	rte_openlog_stream(NULL);
	rte_eal_cleanup();
	fclose(log_stream);
	free(log_text);
	return failed != 0;
}
