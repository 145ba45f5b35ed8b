/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A random walk over what an application may do with a port of net_mlx4x, in every order that
 * ethdev allows, below vcx3. A model knows what must be true after each step: while the port
 * runs, frames of all kinds are sent and must arrive in the queue that the model says, or
 * nowhere. In the second test a verbs command fails in some steps: the call returns an error
 * and the driver a sentence, nothing has changed, and the same call works afterwards. Whenever
 * the device has gone, nothing may be left of it.
 *
 *   mlx4x_walk_test EAL... [SEED STEPS]
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_flow.h>

#include <rte_pmd_mlx4x.h>

#include "life.h"
#include "self_port.h"

#define MAX_QUEUES 4
#define NB_MACS 3		/* that come and go, of the port and of rules each */
#define SMALL_MTU 1800		/* frames fit one buffer, with and without a program */
#define NB_STEPS 500

/* Destinations of frames. */
enum kind { TO_PORT, TO_MAC, TO_RULE = TO_MAC + NB_MACS, TO_ALL = TO_RULE + NB_MACS, TO_GROUP,
	TO_OTHER, NB_KINDS };

enum state { ABSENT, PROBED, CONFIGURED, SET_UP, STARTED };

struct rule {
	struct rte_flow *flow;	/* NULL: not there */
	int queue;		/* -1: drops */
};

/* What the application has done. */
struct model {
	enum state state;
	uint16_t nb_queues;
	uint64_t rx_offloads;
	uint64_t tx_offloads;
	uint16_t mtu;
	bool chains;		/* was started with descriptors of several buffers */
	bool promiscuous;
	bool all_multicast;
	bool has_mac[NB_MACS];
	struct rule rules[NB_MACS];
	bool rx_stopped[MAX_QUEUES];
	bool tx_stopped[MAX_QUEUES];
	uint32_t verdict;	/* of the program; 0: there is none */
};

static struct model model;

/* An operation: legal between two states; its effect on port and model. Only 0 changes both. */
struct operation {
	const char *name;
	enum state from;
	enum state to;
	int (*run)(void);
};

/* Choices of a step are made once, so that a step that failed is the same when repeated. */
static unsigned int choice;
static unsigned int seed;

static struct rte_ether_addr
address_of(unsigned int kind)
{
	struct rte_ether_addr addr = { { 2, 0, 0, 0, 0x40, kind } };

	if (kind == TO_PORT)
		rte_eth_macaddr_get(PORT, &addr);
	else if (kind == TO_ALL)
		memset(&addr, 0xff, sizeof(addr));
	else if (kind == TO_GROUP)
		addr.addr_bytes[0] = 1;
	return addr;
}

/* The queue that a frame must arrive in, -1 for none. Frames are not IP: nothing spreads them. */
static int
queue_of(unsigned int kind)
{
	const struct rule *rule = kind >= TO_RULE && kind < TO_ALL ?
		&model.rules[kind - TO_RULE] : NULL;
	bool taken = kind == TO_PORT || kind == TO_ALL || model.promiscuous ||
		(kind == TO_GROUP && model.all_multicast) ||
		(kind >= TO_MAC && kind < TO_RULE && model.has_mac[kind - TO_MAC]);
	int queue = taken ? 0 : -1;

	if (rule != NULL && rule->flow != NULL)
		queue = rule->queue >= model.nb_queues ? -1 : rule->queue;
	if (model.verdict == XDP_DROP || (queue >= 0 && model.rx_stopped[queue]))
		return -1;
	return queue;
}

/* Frames that the card has done with, received or not. */
static long
nb_arrived(void)
{
	static const char *const names[] = {
		"rx_frames", "rx_drop_no_rule", "rx_drop_by_rule", "rx_drop_no_wqe", "rx_drop_error",
	};
	long sum = 0;
	unsigned int i;

	for (i = 0; i < RTE_DIM(names); i++)
		sum += card_counter(names[i]);
	return sum;
}

static bool
send_kind(uint16_t queue, unsigned int kind)
{
	struct rte_ether_addr addr = address_of(kind);
	struct rte_mbuf *mbuf = new_frame(kind);
	unsigned int ms;

	if (mbuf == NULL)
		return false;
	memcpy(rte_pktmbuf_mtod(mbuf, void *), &addr, sizeof(addr));
	for (ms = 0; ms < WAIT_MS; ms++) {
		if (rte_eth_tx_burst(PORT, queue, &mbuf, 1) == 1)
			return true;
		rte_delay_us_sleep(1000);
	}
	rte_pktmbuf_free(mbuf);
	return false;
}

/* Notes where frames have arrived; -1 if one came twice. */
static int
receive_kinds(int *arrived)
{
	struct rte_mbuf *mbuf;
	uint16_t queue, kind;

	for (queue = 0; queue < model.nb_queues; queue++) {
		while (rte_eth_rx_burst(PORT, queue, &mbuf, 1) == 1) {
			memcpy(&kind, rte_pktmbuf_mtod_offset(mbuf, void *, 14), sizeof(kind));
			rte_pktmbuf_free(mbuf);
			CHECK(kind < NB_KINDS && arrived[kind] == -1);
			arrived[kind] = queue;
		}
	}
	return 0;
}

/* Takes turns among those that are not stopped; -1 if all are. */
static int
running_tx_queue(unsigned int turn)
{
	unsigned int i;

	for (i = 0; i < model.nb_queues; i++, turn++) {
		if (!model.tx_stopped[turn % model.nb_queues])
			return turn % model.nb_queues;
	}
	return -1;
}

static int
check_traffic(void)
{
	int arrived[NB_KINDS];
	long before = nb_arrived();
	unsigned int kind;

	if (running_tx_queue(0) == -1)
		return 0;
	memset(arrived, 0xff, sizeof(arrived));
	for (kind = 0; kind < NB_KINDS; kind++)
		CHECK(send_kind(running_tx_queue(kind), kind));
	CHECK_SOON(nb_arrived() == before + NB_KINDS);
	/* The burst that brings the last frame of a starved queue may need another. */
	CHECK(receive_kinds(arrived) == 0 && receive_kinds(arrived) == 0);
	for (kind = 0; kind < NB_KINDS; kind++) {
		if (arrived[kind] != queue_of(kind)) {
			printf("frames of kind %u arrive in queue %d, not %d\n", kind, arrived[kind],
				queue_of(kind));
			return -1;
		}
	}
	return 0;
}

static void
forget_all(enum state state)
{
	uint32_t verdict = state == ABSENT ? 0 : model.verdict;

	memset(&model, 0, sizeof(model));
	model.state = state;
	model.verdict = verdict;
}

static int
probe(void)
{
	int ret = life_plug();

	if (ret == 0)
		forget_all(PROBED);
	return ret;
}

static int
configure(void)
{
	uint64_t scatter = choice & 1 && model.verdict == 0 ? RTE_ETH_RX_OFFLOAD_SCATTER : 0;
	struct rte_eth_conf conf = {
		.rxmode.mq_mode = choice & 2 ? RTE_ETH_MQ_RX_RSS : RTE_ETH_MQ_RX_NONE,
		.rxmode.mtu = scatter != 0 ? 3000 : choice & 4 ? 1500 : SMALL_MTU,
		.rxmode.offloads = scatter | (choice & 8 ? RTE_ETH_RX_OFFLOAD_CHECKSUM : 0) |
			(choice & 16 ? RTE_ETH_RX_OFFLOAD_VLAN_STRIP : 0) |
			(choice & 32 ? RTE_ETH_RX_OFFLOAD_KEEP_CRC : 0),
		.txmode.offloads = (choice & 64 ? RTE_ETH_TX_OFFLOAD_MULTI_SEGS : 0) |
			(choice & 128 ? RTE_ETH_TX_OFFLOAD_IPV4_CKSUM : 0),
		.rx_adv_conf.rss_conf.rss_hf = choice & 2 ? RTE_ETH_RSS_UDP : 0,
		.intr_conf = { .rxq = choice >> 8 & 1, .lsc = 1, .rmv = 1 },
	};
	uint16_t nb_queues = 1 + (choice >> 9) % MAX_QUEUES;
	int ret = rte_eth_dev_configure(PORT, nb_queues, nb_queues, &conf);

	if (ret != 0)
		return ret;
	model.state = CONFIGURED;
	model.nb_queues = nb_queues;
	model.rx_offloads = conf.rxmode.offloads;
	model.tx_offloads = conf.txmode.offloads;
	model.mtu = conf.rxmode.mtu;
	return 0;
}

static int
set_up(void)
{
	uint16_t i;
	int ret = 0;

	for (i = 0; i < model.nb_queues && ret == 0; i++) {
		ret = rte_eth_rx_queue_setup(PORT, i, RING, SOCKET_ID_ANY, NULL, pool);
		if (ret == 0)
			ret = rte_eth_tx_queue_setup(PORT, i, RING, SOCKET_ID_ANY, NULL);
	}
	if (ret == 0)
		model.state = SET_UP;
	return ret;
}

static int
start(void)
{
	int ret = rte_eth_dev_start(PORT);

	if (ret != 0)
		return ret;
	model.state = STARTED;
	model.chains = model.mtu > SMALL_MTU;
	memset(model.rx_stopped, 0, sizeof(model.rx_stopped));
	memset(model.tx_stopped, 0, sizeof(model.tx_stopped));
	return 0;
}

static int
stop(void)
{
	model.state = SET_UP;
	return rte_eth_dev_stop(PORT);
}

static int
reset(void)
{
	int ret = rte_eth_dev_reset(PORT);

	if (ret == 0)
		forget_all(PROBED);
	return ret;
}

static int
close_port(void)
{
	int ret = model.state == STARTED ? rte_eth_dev_stop(PORT) : 0;

	forget_all(ABSENT);
	return ret != 0 ? ret : rte_eth_dev_close(PORT);
}

static int
leave(void)
{
	forget_all(ABSENT);
	return rte_eal_hotplug_remove("pci", DEVICE);
}

static int
change_promiscuous(void)
{
	int ret = model.promiscuous ? rte_eth_promiscuous_disable(PORT) :
		rte_eth_promiscuous_enable(PORT);

	if (ret == 0)
		model.promiscuous = !model.promiscuous;
	return ret;
}

static int
change_all_multicast(void)
{
	int ret = model.all_multicast ? rte_eth_allmulticast_disable(PORT) :
		rte_eth_allmulticast_enable(PORT);

	if (ret == 0)
		model.all_multicast = !model.all_multicast;
	return ret;
}

static int
change_mac(void)
{
	unsigned int i = choice % NB_MACS;
	struct rte_ether_addr addr = address_of(TO_MAC + i);
	int ret = model.has_mac[i] ? rte_eth_dev_mac_addr_remove(PORT, &addr) :
		rte_eth_dev_mac_addr_add(PORT, &addr, 0);

	if (ret == 0)
		model.has_mac[i] = !model.has_mac[i];
	return ret;
}

static int
change_rule(void)
{
	struct rule *rule = &model.rules[choice % NB_MACS];
	struct rte_ether_addr addr = address_of(TO_RULE + choice % NB_MACS);
	int ret;

	if (rule->flow == NULL) {
		rule->queue = (choice >> 8) % 4 == 0 ? -1 : (int)((choice >> 4) % model.nb_queues);
		rule->flow = life_create_rule(&addr, rule->queue);
		return rule->flow == NULL ? -rte_errno : 0;
	}
	ret = rte_flow_destroy(PORT, rule->flow, NULL);
	if (ret == 0)
		rule->flow = NULL;
	return ret;
}

/*
 * Frames of the new MTU have to fit one buffer, if the port may not chain or has a program, and
 * those that a descriptor has while the port runs.
 */
static int
change_mtu(void)
{
	uint16_t mtu = choice & 1 ? 2500 : 1000 + choice % 500;
	bool may = mtu <= SMALL_MTU ||
		(model.rx_offloads & RTE_ETH_RX_OFFLOAD_SCATTER && model.verdict == 0 &&
		 (model.state != STARTED || model.chains));
	int ret = rte_eth_dev_set_mtu(PORT, mtu);

	if (!may)
		return ret < 0 && life_has_spoken() ? 0 : 1;
	if (ret == 0)
		model.mtu = mtu;
	return ret;
}

static int
change_rx_queue(void)
{
	uint16_t queue = choice % model.nb_queues;
	int ret = model.rx_stopped[queue] ? rte_eth_dev_rx_queue_start(PORT, queue) :
		rte_eth_dev_rx_queue_stop(PORT, queue);

	if (ret == 0)
		model.rx_stopped[queue] = !model.rx_stopped[queue];
	return ret;
}

/* A stopped send queue may be set up anew while the port runs. */
static int
change_tx_queue(void)
{
	uint16_t queue = choice % model.nb_queues;
	int ret = 0;

	if (model.tx_stopped[queue] && choice & 64)
		ret = rte_eth_tx_queue_setup(PORT, queue, choice & 128 ? RING : 2 * RING,
			SOCKET_ID_ANY, NULL);
	if (ret == 0)
		ret = model.tx_stopped[queue] ? rte_eth_dev_tx_queue_start(PORT, queue) :
			rte_eth_dev_tx_queue_stop(PORT, queue);
	if (ret == 0)
		model.tx_stopped[queue] = !model.tx_stopped[queue];
	return ret;
}

static uint64_t
judge(struct xdpvm_buff *buff)
{
	return (uintptr_t)buff->opaque;
}

/* Attaches, replaces and detaches. */
static int
change_program(void)
{
	static const uint32_t verdicts[] = { 0, XDP_PASS, XDP_DROP };
	uint32_t verdict = verdicts[choice % RTE_DIM(verdicts)];
	const struct rte_pmd_mlx4x_xdp_prog prog = {
		.hook = judge,
		.arg = (void *)(uintptr_t)verdict,
	};
	bool fits = model.mtu <= SMALL_MTU && !(model.state == STARTED && model.chains);
	bool may = verdict == 0 || model.state < SET_UP || fits;
	int ret;

	/* Before queues are set up nobody knows their buffers: kept for the walk simple. */
	if (verdict != 0 && model.rx_offloads & RTE_ETH_RX_OFFLOAD_SCATTER && model.state < SET_UP)
		return 0;
	ret = rte_pmd_mlx4x_xdp_set(PORT, verdict != 0 ? &prog : NULL);
	if (!may || (verdict == 0 && model.verdict == 0))
		return ret == (may ? -ENOENT : -EOPNOTSUPP) && life_has_spoken() ? 0 : 1;
	if (ret == 0)
		model.verdict = verdict;
	return ret;
}

/* The card is pulled out, whatever the port is doing, and is there again later. */
static int
pull_out(void)
{
	struct rte_mbuf *mbuf;

	CHECK(card_ctl("unplug"));
	if (model.state == STARTED) {
		mbuf = new_frame(1);
		if (rte_eth_tx_burst(PORT, 0, &mbuf, 1) != 1)
			rte_pktmbuf_free(mbuf);
		rte_eth_rx_burst(PORT, 0, &mbuf, 0);
	}
	if (model.state != ABSENT)
		CHECK(rte_eth_dev_is_removed(PORT) == 1);
	CHECK(life_unplug() == 0);
	CHECK(card_ctl("replug"));
	forget_all(ABSENT);
	return 0;
}

/* An operation is there as often as it is to be likely. */
static const struct operation operations[] = {
	{ "probe", ABSENT, ABSENT, probe },
	{ "configure", PROBED, SET_UP, configure },
	{ "set_up", CONFIGURED, SET_UP, set_up },
	{ "start", SET_UP, SET_UP, start },
	{ "start", SET_UP, SET_UP, start },
	{ "start", SET_UP, SET_UP, start },
	{ "stop", STARTED, STARTED, stop },
	{ "reset", PROBED, STARTED, reset },
	{ "close", PROBED, STARTED, close_port },
	{ "leave", PROBED, STARTED, leave },
	{ "pull_out", ABSENT, STARTED, pull_out },
	{ "promiscuous", PROBED, STARTED, change_promiscuous },
	{ "all_multicast", PROBED, STARTED, change_all_multicast },
	{ "mac", PROBED, STARTED, change_mac },
	{ "mac", STARTED, STARTED, change_mac },
	{ "rule", CONFIGURED, STARTED, change_rule },
	{ "rule", STARTED, STARTED, change_rule },
	{ "mtu", SET_UP, STARTED, change_mtu },
	{ "rx_queue", STARTED, STARTED, change_rx_queue },
	{ "rx_queue", STARTED, STARTED, change_rx_queue },
	{ "tx_queue", STARTED, STARTED, change_tx_queue },
	{ "tx_queue", STARTED, STARTED, change_tx_queue },
	{ "program", PROBED, STARTED, change_program },
	{ "program", STARTED, STARTED, change_program },
};

static const struct operation *
choose_operation(void)
{
	const struct operation *operation;

	do {
		operation = &operations[(rand_r(&seed) >> 4) % RTE_DIM(operations)];
	} while (model.state < operation->from || model.state > operation->to);
	choice = rand_r(&seed) >> 4;
	return operation;
}

/* What must be true in the state that the model is in. */
static int
check_state(void)
{
	if (model.state == STARTED)
		return check_traffic();
	if (model.state < SET_UP)
		CHECK(rte_mempool_in_use_count(pool) == 0);
	if (model.state == ABSENT) {
		CHECK(card_census() == 0 && !life_is_present());
	} else {
		CHECK(rte_eth_promiscuous_get(PORT) == model.promiscuous);
		CHECK(rte_eth_allmulticast_get(PORT) == model.all_multicast);
	}
	return 0;
}

/*
 * The operation while the nth command of one kind fails, then without: like the first time.
 * What needs no such command just works.
 */
static int
run_with_fault(const struct operation *operation)
{
	static const char *const commands[] = {
		"ALLOC_PD", "REG_MR", "CREATE_COMP_CHANNEL", "CREATE_CQ", "CREATE_QP",
		"EX_CREATE_QP", "MODIFY_QP", "CREATE_WQ", "MODIFY_WQ", "CREATE_RWQ_IND_TBL",
		"CREATE_FLOW",
	};
	const char *command = commands[(rand_r(&seed) >> 4) % RTE_DIM(commands)];
	unsigned int nth = 1 + (rand_r(&seed) >> 4) % 4;
	int ret;

	life_has_spoken();
	CHECK(card_ctl("fail %s %u ENOMEM", command, nth));
	ret = operation->run();
	CHECK(card_ctl("resume"));
	if (ret == 0)
		return 0;
	if (ret > 0 || !life_has_spoken()) {
		printf("%s with %s %u failing: %d, no sentence\n", operation->name, command, nth, ret);
		return -1;
	}
	if (check_state() != 0) {
		printf("%s with %s %u failing changes something\n", operation->name, command, nth);
		return -1;
	}
	return operation->run();
}

static int
walk(unsigned int nb_steps, bool with_faults)
{
	unsigned int i;

	for (i = 0; i < nb_steps; i++) {
		const struct operation *operation = choose_operation();
		bool fails = with_faults && operation->run != pull_out && rand_r(&seed) & 16;
		enum state from = model.state;
		int ret;

		life_has_spoken();
		ret = fails ? run_with_fault(operation) : operation->run();
		if (ret == 0)
			ret = check_state();
		if (ret != 0) {
			printf("step %u, %s in state %d, choice 0x%x, %d queues, mtu %u, offloads 0x%lx, "
				"verdict %u, now in state %d: %d\n", i, operation->name, from, choice,
				model.nb_queues, model.mtu, (unsigned long)model.rx_offloads,
				model.verdict, model.state, ret);
			return -1;
		}
	}
	return 0;
}

/* The device goes at the end, whatever state it was left in. */
static int
end(void)
{
	forget_all(ABSENT);
	return life_unplug();
}

/* A short life, to learn what all lives leave. */
static int
live(void)
{
	choice = 0x100;
	return probe() + configure() + set_up() + start() + check_traffic() + stop();
}

static bool
run(const char *name, unsigned int nb_steps, bool with_faults)
{
	bool ok = end() == 0 && life_learn_usual(live) == 0 && end() == 0 &&
		walk(nb_steps, with_faults) == 0 && end() == 0 && life_check_usual() == 0;

	printf("%s: %s\n", name, ok ? "ok" : "FAILED");
	if (!ok)
		life_print_log();
	return ok;
}

int
main(int argc, char **argv)
{
	int used = self_init(argc, argv);
	unsigned int nb_steps = NB_STEPS;
	bool ok;

	if (used < 0 || !life_listen())
		return 1;
	if (argc - used == 3) {
		seed = strtoul(argv[used + 1], NULL, 0);
		nb_steps = strtoul(argv[used + 2], NULL, 0);
	}
	ok = run("walk", nb_steps, false) && run("walk_with_faults", nb_steps, true);
	rte_eal_cleanup();
	life_stop_listening();
	return !ok;
}
