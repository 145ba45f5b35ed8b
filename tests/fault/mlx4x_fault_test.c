/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The life of a port of net_mlx4x when things go wrong, below vcx3:
 *
 * - each verbs command that a whole life needs fails, one after the other. The call
 *   that meets it says so with an error and a sentence; the next try, on the same
 *   port, works; in the end nothing is left, neither verbs objects nor mbufs;
 * - the application closes the port in the callback that tells of its removal;
 * - the port is closed while events come.
 */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_flow.h>

#include <rte_pmd_mlx4x.h>

#include "life.h"
#include "self_port.h"

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

static const char *failed_step;

#define STEP(call) do { \
	int result_ = (call); \
	if (result_ != 0) { \
		failed_step = #call; \
		return result_; \
	} \
} while (0)

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

static uint64_t
pass(struct xdpvm_buff *buff)
{
	return XDP_PASS;
}

/* All that a port does in its life. */
static int
live(void)
{
	static const struct rte_pmd_mlx4x_xdp_prog prog = { .hook = pass };
	struct rte_ether_addr other = { { 2, 0, 0, 0, 0, 9 } };
	struct rte_ether_addr third = { { 2, 0, 0, 0, 0, 10 } };

	STEP(life_plug());
	STEP(configure(NB_QUEUES));
	STEP(set_up(NB_QUEUES));
	STEP(rte_eth_dev_start(PORT));
	STEP(one_echo());
	STEP(rte_eth_promiscuous_enable(PORT));
	STEP(rte_eth_promiscuous_disable(PORT));
	STEP(rte_eth_allmulticast_enable(PORT));
	STEP(rte_eth_dev_mac_addr_add(PORT, &other, 0));
	STEP(rte_flow_flush(PORT, NULL));
	STEP(life_create_rule(&third, 1) == NULL ? -rte_errno : 0);
	STEP(rte_pmd_mlx4x_xdp_set(PORT, &prog));
	STEP(one_echo());
	STEP(rte_eth_dev_rx_queue_stop(PORT, 1));
	STEP(rte_eth_dev_rx_queue_start(PORT, 1));
	STEP(rte_eth_dev_tx_queue_stop(PORT, 1));
	STEP(rte_eth_dev_tx_queue_start(PORT, 1));
	STEP(one_echo());
	STEP(rte_eth_dev_stop(PORT));
	STEP(rte_eth_dev_set_mtu(PORT, 1400));
	STEP(rte_eth_dev_start(PORT));
	STEP(one_echo());
	STEP(rte_pmd_mlx4x_xdp_set(PORT, NULL));
	STEP(one_echo());
	STEP(rte_eth_dev_stop(PORT));
	STEP(rte_eth_dev_mac_addr_remove(PORT, &other));
	STEP(rte_eth_allmulticast_disable(PORT));
	return 0;
}

/* One life with one fault; *met tells whether a call returned the error. */
static int
fail_once(const char *command, unsigned int nth, int error, bool *met)
{
	int result;

	life_has_spoken();
	failed_step = "none";
	CHECK(card_ctl("fail %s %u %d", command, nth, error));
	result = live();
	*met = result != 0;
	if (result != 0 && (result > 0 || !life_has_spoken())) {
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
	return life_unplug();
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
	CHECK(life_learn_usual(live) == 0);
	CHECK(fail_each(commands, RTE_DIM(commands), ENOMEM) == 0);
	return life_check_usual();
}

/* The kernel keeps what it refuses to destroy until the context is closed. */
static int
test_destroy_fails(void)
{
	return fail_each(destroying, RTE_DIM(destroying), EBUSY);
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
	CHECK(life_plug() == 0);
	CHECK(rte_eth_dev_callback_register(PORT, RTE_ETH_EVENT_INTR_RMV, close_at_once, NULL) == 0);
	CHECK(life_learn_usual(live) == 0);
	for (i = 0; i < 5; i++) {
		CHECK(life_plug() == 0 && configure(NB_QUEUES) == 0 && set_up(NB_QUEUES) == 0);
		CHECK(rte_eth_dev_start(PORT) == 0);
		CHECK(one_echo() == 0);
		CHECK(card_ctl("unplug"));
		CHECK_SOON(!life_is_present());
		CHECK(nb_removals == i + 1);
		CHECK(card_ctl("replug"));
		CHECK(rte_eal_hotplug_remove("pci", DEVICE) == 0);
		CHECK(life_unplug() == 0);
	}
	return life_check_usual();
}

static bool events_end;

static void *
make_events(void *unused)
{
	while (!__atomic_load_n(&events_end, __ATOMIC_RELAXED)) {
		card_ctl("link 1 down");
		card_ctl("link 1 up");
	}
	return NULL;
}

/*
 * Whoever closes the verbs context before EAL has forgotten its descriptor lets EAL's
 * interrupt thread run into a closed one, or into a port that is gone.
 */
static int
test_close_under_events(void)
{
	pthread_t thread;
	unsigned int i;
	int ret = 0;

	events_end = false;
	CHECK(pthread_create(&thread, NULL, make_events, NULL) == 0);
	for (i = 0; i < 40 && ret == 0; i++)
		ret = life_plug() != 0 || configure(1) != 0 || set_up(1) != 0 ||
			rte_eth_dev_start(PORT) != 0 || life_unplug() != 0;
	__atomic_store_n(&events_end, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	CHECK(ret == 0 && card_ctl("link 1 up"));
	return life_check_usual();
}

static const struct self_test tests[] = {
	{ "create_fails", test_create_fails },
	{ "destroy_fails", test_destroy_fails },
	{ "close_in_callback", test_close_in_callback },
	{ "close_under_events", test_close_under_events },
};

int
main(int argc, char **argv)
{
	int used = self_init(argc, argv);
	unsigned int i, failed = 0;

	if (used < 0 || !life_listen())
		return 1;
	failed += life_unplug() != 0;
	for (i = 0; i < RTE_DIM(tests); i++) {
		bool ok = (used + 1 < argc && strcmp(argv[used + 1], tests[i].name) != 0) ||
			tests[i].run() == 0;

		printf("%s: %s\n", tests[i].name, ok ? "ok" : "FAILED");
		if (!ok) {
			life_print_log();
			rte_eth_dev_stop(PORT);
			rte_eal_hotplug_remove("pci", DEVICE);
			card_ctl("resume");
			failed++;
		}
	}
	rte_mempool_free(pool);
	rte_eal_cleanup();
	life_stop_listening();
	return failed != 0;
}
