/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Rules of rte_flow against a model: random rules come and go, before the start of the
 * port and while it runs, and each frame must go where the model says, with the hash
 * that its rule asks for.
 */

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "../../unit/check.h"
#include "pair.h"

#define NB_QUEUES 4
#define NB_FRAMES 96
#define NB_ROUNDS 200
#define MAX_RULES 24
#define DROPPED PAIR_NOT_RECEIVED

static const uint8_t default_key[40] = {
	0x2c, 0xc6, 0x81, 0xd1, 0x5b, 0xdb, 0xf4, 0xf7, 0xfc, 0xa2,
	0x83, 0x19, 0xdb, 0x1a, 0x3e, 0x94, 0x6b, 0x9e, 0x38, 0xd9,
	0x2c, 0x9c, 0x03, 0xd1, 0xad, 0x99, 0x44, 0xa7, 0xd9, 0x56,
	0x3d, 0x59, 0x06, 0x3c, 0x25, 0xf3, 0xfc, 0x1f, 0xdc, 0x2a,
};
static const uint8_t other_key[40] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67,
	0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
	0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30,
	0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};
static const uint64_t all_types = RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP;
static const uint64_t type_choices[] = {
	0,	/* those of the port */
	RTE_ETH_RSS_IPV4,
	RTE_ETH_RSS_IP,
	RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_TCP,
	RTE_ETH_RSS_NONFRAG_IPV4_UDP,
};

/* A rule as the model knows it. What is not compared is zero. */
struct rule {
	struct {
		uint32_t priority;
		bool by_dst, by_vid, ipv4, by_src_ip, by_dst_ip, by_src_port, by_dst_port;
		uint8_t protocol;	/* 0: no item */
		struct frame value;
	} match;
	bool drop;
	uint16_t first_queue;
	uint16_t nb_queues;
	uint64_t types;
	const uint8_t *key;		/* NULL: that of the port */
	struct rte_flow *flow;		/* NULL: not there */
};

static struct rte_ether_addr macs[4] = {
	{ { 0 } },				/* that of the port */
	{ { 0x02, 0, 0, 0, 0, 0xaa } },
	{ { 0x01, 0, 0x5e, 0, 0, 1 } },
	{ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } },
};

static unsigned int
choose(unsigned int nb)
{
	return (unsigned int)random() % nb;
}

static void
choose_frame(struct frame *frame)
{
	static const uint8_t protocols[] = { IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMP };
	static const uint8_t versions[] = { 4, 4, 4, 6, 0 };
	static const uint16_t ports[] = { 53, 80, 4000 };

	memset(frame, 0, sizeof(*frame));
	frame->dst = macs[choose(RTE_DIM(macs))];
	frame->tagged = choose(2);
	frame->vid = frame->tagged ? 5 + choose(2) : 0;
	frame->version = versions[choose(RTE_DIM(versions))];
	if (frame->version == 0)
		return;
	frame->protocol = protocols[choose(RTE_DIM(protocols))];
	frame->fragment = choose(8) == 0;
	frame->src_ip = 0x0a000000 + choose(3);
	frame->dst_ip = 0x0a000100 + choose(3);
	if (frame->protocol != IPPROTO_ICMP && !frame->fragment) {
		frame->src_port = ports[choose(RTE_DIM(ports))];
		frame->dst_port = ports[choose(RTE_DIM(ports))];
	}
}

/* Keeps of the value only what the rule compares, so that equal rules are equal bytes. */
static void
trim(struct rule *rule)
{
	struct frame *value = &rule->match.value, all = *value;

	memset(value, 0, sizeof(*value));
	if (rule->match.by_dst)
		value->dst = all.dst;
	if (rule->match.by_vid)
		value->vid = all.vid;
	if (rule->match.by_src_ip)
		value->src_ip = all.src_ip;
	if (rule->match.by_dst_ip)
		value->dst_ip = all.dst_ip;
	if (rule->match.by_src_port)
		value->src_port = all.src_port;
	if (rule->match.by_dst_port)
		value->dst_port = all.dst_port;
}

static void
choose_rule(struct rule *rule)
{
	memset(rule, 0, sizeof(*rule));
	choose_frame(&rule->match.value);
	rule->match.by_dst = choose(3) != 0;
	rule->match.by_vid = rule->match.value.tagged && choose(2);
	rule->match.ipv4 = rule->match.value.version == 4 && choose(4) != 0;
	rule->match.by_src_ip = rule->match.ipv4 && choose(2);
	rule->match.by_dst_ip = rule->match.ipv4 && choose(2);
	if (rule->match.ipv4 && rule->match.value.protocol != IPPROTO_ICMP && choose(2))
		rule->match.protocol = rule->match.value.protocol;
	rule->match.by_src_port = rule->match.protocol != 0 && choose(2);
	rule->match.by_dst_port = rule->match.protocol != 0 && choose(2);
	if (rule->match.protocol != IPPROTO_UDP || !rule->match.by_dst_port)
		rule->match.priority = choose(3);
	trim(rule);
	rule->drop = choose(4) == 0;
	rule->nb_queues = 1 << choose(3);
	rule->first_queue = choose(NB_QUEUES / rule->nb_queues) * rule->nb_queues;
	rule->types = type_choices[choose(RTE_DIM(type_choices))];
	rule->key = choose(2) ? other_key : NULL;
}

/* The items of a rule; the arrays live until the next call. */
static const struct rte_flow_item *
items_of(const struct rule *rule)
{
	static struct rte_flow_item_eth eth, eth_mask;
	static struct rte_flow_item_vlan vlan;
	static const struct rte_flow_item_vlan vlan_mask = { .tci = RTE_BE16(0xfff) };
	static struct rte_flow_item_ipv4 ip, ip_mask;
	static struct rte_flow_item_tcp l4, l4_mask;	/* the larger of the two */
	static struct rte_flow_item items[8];
	struct rte_flow_item *item = items;

	eth.dst = rule->match.value.dst;
	memset(&eth_mask, 0, sizeof(eth_mask));
	memset(&eth_mask.dst, rule->match.by_dst ? 0xff : 0, sizeof(eth_mask.dst));
	vlan.tci = rte_cpu_to_be_16(rule->match.value.vid);
	ip.hdr.src_addr = rte_cpu_to_be_32(rule->match.value.src_ip);
	ip.hdr.dst_addr = rte_cpu_to_be_32(rule->match.value.dst_ip);
	ip_mask.hdr.src_addr = rule->match.by_src_ip ? UINT32_MAX : 0;
	ip_mask.hdr.dst_addr = rule->match.by_dst_ip ? UINT32_MAX : 0;
	l4.hdr.src_port = rte_cpu_to_be_16(rule->match.value.src_port);
	l4.hdr.dst_port = rte_cpu_to_be_16(rule->match.value.dst_port);
	l4_mask.hdr.src_port = rule->match.by_src_port ? UINT16_MAX : 0;
	l4_mask.hdr.dst_port = rule->match.by_dst_port ? UINT16_MAX : 0;
	*item++ = (struct rte_flow_item){ RTE_FLOW_ITEM_TYPE_ETH, &eth, NULL, &eth_mask };
	if (rule->match.by_vid)
		*item++ = (struct rte_flow_item){ RTE_FLOW_ITEM_TYPE_VLAN, &vlan, NULL, &vlan_mask };
	if (rule->match.ipv4)
		*item++ = (struct rte_flow_item){ RTE_FLOW_ITEM_TYPE_IPV4, &ip, NULL, &ip_mask };
	/* The ports lie at the same place in both headers. */
	if (rule->match.protocol != 0)
		*item++ = (struct rte_flow_item){ rule->match.protocol == IPPROTO_TCP ?
			RTE_FLOW_ITEM_TYPE_TCP : RTE_FLOW_ITEM_TYPE_UDP, &l4, NULL, &l4_mask };
	*item = (struct rte_flow_item){ .type = RTE_FLOW_ITEM_TYPE_END };
	return items;
}

static const struct rte_flow_action *
actions_of(const struct rule *rule)
{
	static uint16_t queues[NB_QUEUES];
	static struct rte_flow_action_rss rss;
	static struct rte_flow_action actions[2];
	uint16_t i;

	for (i = 0; i < rule->nb_queues; i++)
		queues[i] = rule->first_queue + i;
	rss = (struct rte_flow_action_rss){
		.types = rule->types, .key_len = rule->key != NULL ? 40 : 0,
		.queue_num = rule->nb_queues, .key = rule->key, .queue = queues,
	};
	actions[0] = (struct rte_flow_action){
		rule->drop ? RTE_FLOW_ACTION_TYPE_DROP : RTE_FLOW_ACTION_TYPE_RSS,
		rule->drop ? NULL : &rss,
	};
	actions[1].type = RTE_FLOW_ACTION_TYPE_END;
	return actions;
}

static bool
matches(const struct rule *rule, const struct frame *frame)
{
	const struct frame *value = &rule->match.value;

	return (!rule->match.by_dst || rte_is_same_ether_addr(&value->dst, &frame->dst)) &&
		(!rule->match.by_vid || (frame->tagged && value->vid == frame->vid)) &&
		(!rule->match.ipv4 || frame->version == 4) &&
		(!rule->match.by_src_ip || value->src_ip == frame->src_ip) &&
		(!rule->match.by_dst_ip || value->dst_ip == frame->dst_ip) &&
		(rule->match.protocol == 0 ||
		 (!frame->fragment && rule->match.protocol == frame->protocol)) &&
		(!rule->match.by_src_port || value->src_port == frame->src_port) &&
		(!rule->match.by_dst_port || value->dst_port == frame->dst_port);
}

/* Lowest priority, then oldest. */
static const struct rule *
best_rule(const struct rule *rules, unsigned int nb_rules, const struct frame *frame)
{
	const struct rule *best = NULL;
	unsigned int i;

	for (i = 0; i < nb_rules; i++) {
		if (rules[i].flow != NULL && matches(&rules[i], frame) &&
		    (best == NULL || rules[i].match.priority < best->match.priority))
			best = &rules[i];
	}
	return best;
}

static void
check_frame(const struct pair *pair, const struct rule *rule, bool isolated,
	const struct frame *frame, const struct arrival *arrival)
{
	uint64_t types = rule != NULL && rule->types != 0 ? rule->types : all_types;
	const uint8_t *key = rule != NULL && rule->key != NULL ? rule->key : default_key;
	uint32_t hash = frame_hash(frame, key, types);
	bool mine = rte_is_same_ether_addr(&frame->dst, &pair->mac) ||
		rte_is_broadcast_ether_addr(&frame->dst);
	uint16_t queue;

	if (rule == NULL)
		queue = isolated || !mine ? DROPPED : hash % NB_QUEUES;
	else
		queue = rule->drop ? DROPPED : rule->first_queue + hash % rule->nb_queues;
	CHECK(arrival->queue == queue, "queue %u, want %u", arrival->queue, queue);
	CHECK(arrival->copies == (queue != DROPPED), "%u copies", arrival->copies);
	/* A frame that its rule does not hash must not claim to be hashed. */
	CHECK(!arrival->hashed || (hash != 0 && arrival->hash == hash), "hash %08x, want %08x",
		arrival->hash, hash);
}

static void
check_traffic(struct pair *pair, const struct rule *rules, unsigned int nb_rules, bool isolated)
{
	struct frame frames[NB_FRAMES];
	struct arrival arrivals[NB_FRAMES];
	unsigned int i;

	for (i = 0; i < NB_FRAMES; i++)
		choose_frame(&frames[i]);
	pair_exchange(pair, frames, NB_FRAMES, arrivals);
	for (i = 0; i < NB_FRAMES; i++)
		check_frame(pair, best_rule(rules, nb_rules, &frames[i]), isolated, &frames[i],
			&arrivals[i]);
}

static bool
is_there(const struct rule *rules, unsigned int nb_rules, const struct rule *rule)
{
	unsigned int i;

	for (i = 0; i < nb_rules; i++) {
		if (rules[i].flow != NULL &&
		    memcmp(&rules[i].match, &rule->match, sizeof(rule->match)) == 0)
			return true;
	}
	return false;
}

/* Adds a rule; one that is there already must be refused. */
static unsigned int
add_rule(struct pair *pair, struct rule *rules, unsigned int nb_rules)
{
	struct rule *rule = &rules[nb_rules];
	struct rte_flow_attr attr = { .ingress = 1 };
	struct rte_flow_error error = { 0 };
	int ret;

	choose_rule(rule);
	attr.priority = rule->match.priority;
	ret = rte_flow_validate(pair->rx_port, &attr, items_of(rule), actions_of(rule), &error);
	if (is_there(rules, nb_rules, rule)) {
		CHECK(ret == -EEXIST, "%d", ret);
		return nb_rules;
	}
	CHECK(ret == 0, "%d: %s", ret, error.message);
	rule->flow = rte_flow_create(pair->rx_port, &attr, items_of(rule), actions_of(rule),
		&error);
	CHECK(rule->flow != NULL, "validated, but: %s", error.message);
	return rule->flow != NULL ? nb_rules + 1 : nb_rules;
}

static void
remove_some(struct pair *pair, struct rule *rules, unsigned int nb_rules)
{
	unsigned int i;

	for (i = 0; i < nb_rules; i++) {
		if (rules[i].flow == NULL || choose(4) != 0)
			continue;
		CHECK(rte_flow_destroy(pair->rx_port, rules[i].flow, NULL) == 0);
		rules[i].flow = NULL;
	}
}

/* A set of rules: half before the start, half after, some removed, then stop and start. */
static void
test_round(struct pair *pair, bool isolated)
{
	static struct rule rules[MAX_RULES];
	unsigned int i, nb_rules = 0;

	pair_stop(pair);
	pair_flush(pair);
	CHECK(rte_flow_isolate(pair->rx_port, isolated, NULL) == 0);
	for (i = 0; i < MAX_RULES / 2; i++)
		nb_rules = add_rule(pair, rules, nb_rules);
	pair_start(pair);
	check_traffic(pair, rules, nb_rules, isolated);
	for (; i < MAX_RULES; i++)
		nb_rules = add_rule(pair, rules, nb_rules);
	check_traffic(pair, rules, nb_rules, isolated);
	remove_some(pair, rules, nb_rules);
	check_traffic(pair, rules, nb_rules, isolated);
	isolated = !isolated;
	CHECK(rte_flow_isolate(pair->rx_port, isolated, NULL) == 0);
	check_traffic(pair, rules, nb_rules, isolated);
	pair_stop(pair);
	pair_start(pair);
	check_traffic(pair, rules, nb_rules, isolated);
}

int
main(int argc, char **argv)
{
	const struct rte_eth_conf conf = {
		.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS,
		.rx_adv_conf.rss_conf.rss_hf = all_types,
	};
	struct pair pair;
	unsigned int i;

	if (argc != 2)
		return 2;
	srandom(1);
	pair_open(&pair, argv);
	macs[0] = pair.mac;
	CHECK(pair_configure(&pair, NB_QUEUES, &conf) == 0);
	pair_start(&pair);
	for (i = 0; i < NB_ROUNDS && check_failures == 0; i++)
		test_round(&pair, i % 2);
	pair_close(&pair);
	return check_status();
}
