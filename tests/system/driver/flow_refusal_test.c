/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Rules that the device cannot do: validate and create refuse each with the same errno,
 * the part of the rule that is the reason, and a sentence; nothing of it remains. And the
 * life of rules that it can do, at its edges.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../unit/check.h"
#include "pair.h"

#define NB_QUEUES 6
#define MAX_ITEMS 6

static struct rte_flow_attr in = { .ingress = 1 };
static struct rte_flow_attr no_direction, egress = { .egress = 1 };
static struct rte_flow_attr transfer = { .transfer = 1 };
static struct rte_flow_attr group_1 = { .ingress = 1, .group = 1 };
static struct rte_flow_attr last_priority = { .ingress = 1, .priority = 4094 };
static struct rte_flow_attr past_priority = { .ingress = 1, .priority = 4095 };
static struct rte_flow_attr priority_1 = { .ingress = 1, .priority = 1 };

static struct rte_flow_item_eth mac = { .dst = { { 2, 0, 0, 0, 0, 1 } } };
static struct rte_flow_item_eth other_mac = { .dst = { { 2, 0, 0, 0, 0, 2 } } };
static struct rte_flow_item_eth dst_mask = { .dst = { { 255, 255, 255, 255, 255, 255 } } };
static struct rte_flow_item_eth half_mask = { .dst = { { 255, 255, 255, 0, 0, 0 } } };
static struct rte_flow_item_eth group_mask = { .dst = { { 1, 0, 0, 0, 0, 0 } } };
static struct rte_flow_item_eth src_mask = { .src = { { 255, 255, 255, 255, 255, 255 } } };
static struct rte_flow_item_eth type_mask = { .type = RTE_BE16(0xffff) };
static struct rte_flow_item_eth has_vlan_mask = { .has_vlan = 1 };
static struct rte_flow_item_vlan vlan = { .tci = RTE_BE16(5) };
static struct rte_flow_item_vlan vid_mask = { .tci = RTE_BE16(0xfff) };
static struct rte_flow_item_vlan tci_mask = { .tci = RTE_BE16(0xffff) };
static struct rte_flow_item_vlan inner_mask = { .tci = RTE_BE16(0xfff), .inner_type = 0xffff };
static struct rte_flow_item_vlan more_mask = { .tci = RTE_BE16(0xfff), .has_more_vlan = 1 };
static struct rte_flow_item_ipv4 ip = { .hdr.dst_addr = RTE_BE32(0x0a000001) };
static struct rte_flow_item_ipv4 next_ip = { .hdr.dst_addr = RTE_BE32(0x0a000002) };
static struct rte_flow_item_ipv4 ip_mask = { .hdr.dst_addr = UINT32_MAX };
static struct rte_flow_item_ipv4 net_mask = { .hdr.dst_addr = RTE_BE32(0xffffff00) };
static struct rte_flow_item_ipv4 tos_mask = { .hdr.type_of_service = 0xff };
static struct rte_flow_item_udp dns = { .hdr.dst_port = RTE_BE16(53) };
static struct rte_flow_item_udp port_mask = { .hdr.dst_port = 0xffff };
static struct rte_flow_item_udp len_mask = { .hdr.dgram_len = 0xffff };
static struct rte_flow_item_tcp tcp, flags_mask = { .hdr.tcp_flags = 0xff };

static uint16_t queues[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
static uint16_t gap[] = { 0, 2 };
static uint8_t key[52];
static struct rte_flow_action_queue queue_1 = { .index = 1 }, queue_6 = { .index = NB_QUEUES };
static struct rte_flow_action_mark mark = { .id = 1 };
static struct rte_flow_action_rss rss_2 = { .queue_num = 2, .queue = queues };
static struct rte_flow_action_rss rss_none = { .queue_num = 0, .queue = queues };
static struct rte_flow_action_rss rss_3 = { .queue_num = 3, .queue = queues };
static struct rte_flow_action_rss rss_gap = { .queue_num = 2, .queue = gap };
static struct rte_flow_action_rss rss_odd = { .queue_num = 2, .queue = &queues[1] };
static struct rte_flow_action_rss rss_past = { .queue_num = 2, .queue = &queues[6] };
static struct rte_flow_action_rss rss_xor = {
	.func = RTE_ETH_HASH_FUNCTION_SIMPLE_XOR, .queue_num = 2, .queue = queues,
};
static struct rte_flow_action_rss rss_inner = { .level = 2, .queue_num = 2, .queue = queues };
static struct rte_flow_action_rss rss_key_39 = {
	.key = key, .key_len = 39, .queue_num = 2, .queue = queues,
};
static struct rte_flow_action_rss rss_key_52 = {
	.key = key, .key_len = 52, .queue_num = 2, .queue = queues,
};
static struct rte_flow_action_rss rss_null_key = {	/* crashed net_mlx4: 4a750d2992 */
	.key = NULL, .key_len = 40, .queue_num = 2, .queue = queues,
};
static struct rte_flow_action_rss rss_sctp = {
	.types = RTE_ETH_RSS_NONFRAG_IPV4_SCTP, .queue_num = 2, .queue = queues,
};
static struct rte_flow_action_rss rss_src_only = {
	.types = RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_L3_SRC_ONLY, .queue_num = 2, .queue = queues,
};
static struct rte_flow_action_rss rss_one_family = {
	.types = RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_IPV6,
	.queue_num = 2, .queue = queues,
};

#define ITEM(name, ...) { .type = RTE_FLOW_ITEM_TYPE_##name, __VA_ARGS__ }
#define ACTION(name, ...) { .type = RTE_FLOW_ACTION_TYPE_##name, __VA_ARGS__ }
#define DO_QUEUE { ACTION(QUEUE, .conf = &queue_1), ACTION(END) }
#define DO_RSS(rss) { ACTION(RSS, .conf = (rss)), ACTION(END) }
#define ANY_ETH { ITEM(ETH), ITEM(END) }
#define TO_MAC ITEM(ETH, .spec = &mac, .mask = &dst_mask)

/* Where error->cause points. */
enum cause {
	CAUSE_NONE,
	CAUSE_ATTR,
	CAUSE_ITEM_0, CAUSE_ITEM_1, CAUSE_ITEM_2,
	CAUSE_MASK_0, CAUSE_MASK_1, CAUSE_MASK_2,
	CAUSE_LAST_1,
	CAUSE_ACTION_0, CAUSE_ACTION_1,
	CAUSE_CONF,
};

static const struct refusal {
	struct rte_flow_attr *attr;
	struct rte_flow_item pattern[MAX_ITEMS];
	struct rte_flow_action actions[4];
	int error;
	enum rte_flow_error_type type;
	enum cause cause;
	const char *sentence;
} refusals[] = {
	{ &egress, ANY_ETH, DO_QUEUE, ENOTSUP, RTE_FLOW_ERROR_TYPE_ATTR_EGRESS, CAUSE_ATTR,
	  "the device has no rules for frames that leave: egress is not possible" },
	{ &transfer, ANY_ETH, DO_QUEUE, ENOTSUP, RTE_FLOW_ERROR_TYPE_ATTR_TRANSFER, CAUSE_ATTR,
	  "the device has no rules between its functions: transfer is not possible" },
	{ &no_direction, ANY_ETH, DO_QUEUE, EINVAL, RTE_FLOW_ERROR_TYPE_ATTR_INGRESS, CAUSE_ATTR,
	  "a rule needs the attribute ingress" },
	{ &group_1, ANY_ETH, DO_QUEUE, ENOTSUP, RTE_FLOW_ERROR_TYPE_ATTR_GROUP, CAUSE_ATTR,
	  "the device has one table of rules: group 0 is the only one" },
	{ &past_priority, ANY_ETH, DO_QUEUE, ENOTSUP, RTE_FLOW_ERROR_TYPE_ATTR_PRIORITY, CAUSE_ATTR,
	  "priorities go from 0 to 4094; the rules of the MAC table have 4095" },
	{ &priority_1, { ITEM(ETH), ITEM(IPV4), ITEM(UDP, .spec = &dns, .mask = &port_mask),
	  ITEM(END) }, DO_QUEUE, ENOTSUP, RTE_FLOW_ERROR_TYPE_ATTR_PRIORITY, CAUSE_ITEM_2,
	  "a rule that matches a UDP destination port is possible at priority 0 only: the device "
	  "ignores its priority" },

	{ &in, { ITEM(END) }, DO_QUEUE, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM, CAUSE_ITEM_0,
	  "a pattern begins with eth, which may be empty" },
	{ &in, { ITEM(ETH), ITEM(IPV6), ITEM(END) }, DO_QUEUE, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM,
	  CAUSE_ITEM_1,
	  "this item cannot be matched: the device knows eth, vlan, ipv4, tcp and udp" },
	{ &in, { ITEM(ETH), ITEM(ETH), ITEM(END) }, DO_QUEUE, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM,
	  CAUSE_ITEM_1, "eth comes first in a pattern, and once" },
	{ &in, { ITEM(VLAN, .spec = &vlan), ITEM(END) }, DO_QUEUE, ENOTSUP,
	  RTE_FLOW_ERROR_TYPE_ITEM, CAUSE_ITEM_0,
	  "vlan follows eth, once: the device sees one VLAN tag" },
	{ &in, { ITEM(ETH), ITEM(VLAN, .spec = &vlan), ITEM(VLAN, .spec = &vlan), ITEM(END) },
	  DO_QUEUE, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM, CAUSE_ITEM_2,
	  "vlan follows eth, once: the device sees one VLAN tag" },
	{ &in, { ITEM(IPV4), ITEM(END) }, DO_QUEUE, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM, CAUSE_ITEM_0,
	  "ipv4 follows eth or vlan: tunnels cannot be matched" },
	{ &in, { ITEM(ETH), ITEM(TCP), ITEM(END) }, DO_QUEUE, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM,
	  CAUSE_ITEM_1, "tcp follows ipv4" },
	{ &in, { ITEM(ETH), ITEM(UDP), ITEM(END) }, DO_QUEUE, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM,
	  CAUSE_ITEM_1, "udp follows ipv4" },

	{ &in, { ITEM(ETH, .mask = &dst_mask), ITEM(END) }, DO_QUEUE, EINVAL,
	  RTE_FLOW_ERROR_TYPE_ITEM_SPEC, CAUSE_ITEM_0,
	  "an item without spec has neither mask nor last" },
	{ &in, { ITEM(ETH, .spec = &mac, .mask = &half_mask), ITEM(END) }, DO_QUEUE, ENOTSUP,
	  RTE_FLOW_ERROR_TYPE_ITEM_MASK, CAUSE_MASK_0,
	  "a field is matched by all of its bits or not at all: this mask is partial" },
	{ &in, { ITEM(ETH, .spec = &mac, .mask = &group_mask), ITEM(END) }, DO_QUEUE, ENOTSUP,
	  RTE_FLOW_ERROR_TYPE_ITEM_MASK, CAUSE_MASK_0,
	  "a field is matched by all of its bits or not at all: this mask is partial" },
	{ &in, { ITEM(ETH, .spec = &mac, .mask = &src_mask), ITEM(END) }, DO_QUEUE, ENOTSUP,
	  RTE_FLOW_ERROR_TYPE_ITEM_MASK, CAUSE_MASK_0,
	  "the source MAC cannot be matched: the device compares the destination MAC only" },
	{ &in, { ITEM(ETH, .spec = &mac, .mask = &type_mask), ITEM(END) }, DO_QUEUE, ENOTSUP,
	  RTE_FLOW_ERROR_TYPE_ITEM_MASK, CAUSE_MASK_0,
	  "EtherType cannot be matched; IPv4 can be by an ipv4 item, LACP by destination MAC "
	  "01:80:c2:00:00:02" },
	{ &in, { ITEM(ETH, .spec = &mac, .mask = &has_vlan_mask), ITEM(END) }, DO_QUEUE, ENOTSUP,
	  RTE_FLOW_ERROR_TYPE_ITEM_MASK, CAUSE_MASK_0,
	  "the presence of a VLAN tag cannot be matched, only a VLAN id" },
	{ &in, { TO_MAC, ITEM(VLAN), ITEM(END) }, DO_QUEUE, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM,
	  CAUSE_ITEM_1,
	  "frames with any VLAN tag cannot be told from those without: a vlan item needs a VLAN id" },
	{ &in, { TO_MAC, ITEM(VLAN, .spec = &vlan, .mask = &tci_mask), ITEM(END) }, DO_QUEUE, ENOTSUP,
	  RTE_FLOW_ERROR_TYPE_ITEM_MASK, CAUSE_MASK_1,
	  "of a VLAN tag only the whole id can be matched, mask 0x0fff" },
	{ &in, { TO_MAC, ITEM(VLAN, .spec = &vlan, .mask = &inner_mask), ITEM(END) }, DO_QUEUE,
	  ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM_MASK, CAUSE_MASK_1,
	  "the type behind a VLAN tag cannot be matched" },
	{ &in, { TO_MAC, ITEM(VLAN, .spec = &vlan, .mask = &more_mask), ITEM(END) }, DO_QUEUE,
	  ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM_MASK, CAUSE_MASK_1,
	  "the presence of a second VLAN tag cannot be matched" },
	{ &in, { TO_MAC, ITEM(IPV4, .spec = &ip, .mask = &net_mask), ITEM(END) }, DO_QUEUE, ENOTSUP,
	  RTE_FLOW_ERROR_TYPE_ITEM_MASK, CAUSE_MASK_1,
	  "a field is matched by all of its bits or not at all: this mask is partial" },
	{ &in, { TO_MAC, ITEM(IPV4, .spec = &ip, .mask = &tos_mask), ITEM(END) }, DO_QUEUE, ENOTSUP,
	  RTE_FLOW_ERROR_TYPE_ITEM_MASK, CAUSE_MASK_1,
	  "of an IPv4 header only source and destination address can be matched" },
	{ &in, { TO_MAC, ITEM(IPV4, .spec = &ip, .last = &next_ip, .mask = &ip_mask), ITEM(END) },
	  DO_QUEUE, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM_LAST, CAUSE_LAST_1,
	  "ranges of values cannot be matched" },
	{ &in, { ITEM(ETH), ITEM(IPV4), ITEM(TCP, .spec = &tcp, .mask = &flags_mask), ITEM(END) },
	  DO_QUEUE, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM_MASK, CAUSE_MASK_2,
	  "of a TCP header only source and destination port can be matched" },
	{ &in, { ITEM(ETH), ITEM(IPV4), ITEM(UDP, .spec = &dns, .mask = &len_mask), ITEM(END) },
	  DO_QUEUE, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM_MASK, CAUSE_MASK_2,
	  "of a UDP header only source and destination port can be matched" },

	{ &in, ANY_ETH, { ACTION(END) }, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION, CAUSE_ACTION_0,
	  "a rule has exactly one of the actions queue, rss and drop" },
	{ &in, ANY_ETH, { ACTION(DROP), ACTION(QUEUE, .conf = &queue_1), ACTION(END) }, ENOTSUP,
	  RTE_FLOW_ERROR_TYPE_ACTION, CAUSE_ACTION_1,
	  "a rule has exactly one of the actions queue, rss and drop" },
	{ &in, ANY_ETH, { ACTION(MARK, .conf = &mark), ACTION(RSS, .conf = &rss_2), ACTION(END) },
	  ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, CAUSE_ACTION_0,
	  "this action is not possible: the device queues, spreads (rss) or drops, and neither "
	  "marks, counts nor changes frames" },
	{ &in, ANY_ETH, { ACTION(QUEUE, .conf = &queue_6), ACTION(END) }, EINVAL,
	  RTE_FLOW_ERROR_TYPE_ACTION_CONF, CAUSE_CONF,
	  "the queue is not one of the port's Rx queues" },
	{ &in, ANY_ETH, DO_RSS(NULL), EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF, CAUSE_CONF,
	  "an rss action needs its configuration" },
	{ &in, ANY_ETH, DO_RSS(&rss_none), EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF, CAUSE_CONF,
	  "an rss action names at least one Rx queue" },
	{ &in, ANY_ETH, DO_RSS(&rss_past), EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF, CAUSE_CONF,
	  "a queue of the rss action is not one of the port's Rx queues" },
	{ &in, ANY_ETH, DO_RSS(&rss_gap), ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION_CONF, CAUSE_CONF,
	  "the queues of an rss action must follow each other, as 4 5 6 7" },
	{ &in, ANY_ETH, DO_RSS(&rss_3), ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION_CONF, CAUSE_CONF,
	  "the device spreads over a power of two of queues, as 2, 4 or 8" },
	{ &in, ANY_ETH, DO_RSS(&rss_odd), ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION_CONF, CAUSE_CONF,
	  "the first queue of an rss action must be a multiple of their number" },
	{ &in, ANY_ETH, DO_RSS(&rss_xor), ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION_CONF, CAUSE_CONF,
	  "the hash function is Toeplitz, no other" },
	{ &in, ANY_ETH, DO_RSS(&rss_inner), ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION_CONF, CAUSE_CONF,
	  "the hash covers the outermost headers: RSS levels are 0 and 1" },
	{ &in, ANY_ETH, DO_RSS(&rss_key_39), ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION_CONF, CAUSE_CONF,
	  "an RSS key has 40 bytes" },
	{ &in, ANY_ETH, DO_RSS(&rss_key_52), ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION_CONF, CAUSE_CONF,
	  "an RSS key has 40 bytes" },
	{ &in, ANY_ETH, DO_RSS(&rss_sctp), ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION_CONF, CAUSE_CONF,
	  "the device hashes IPv4 and IPv6 addresses and TCP and UDP ports, whole" },
	{ &in, ANY_ETH, DO_RSS(&rss_src_only), ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION_CONF, CAUSE_CONF,
	  "the device hashes IPv4 and IPv6 addresses and TCP and UDP ports, whole" },
	{ &in, ANY_ETH, DO_RSS(&rss_one_family), ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION_CONF, CAUSE_CONF,
	  "the device hashes TCP or UDP ports for IPv4 and IPv6 alike: these types ask for one of "
	  "them only" },
};

/* Rules that look alike but are possible. */
static const struct accepted {
	struct rte_flow_attr *attr;
	struct rte_flow_item pattern[MAX_ITEMS];
	struct rte_flow_action actions[4];
} accepted[] = {
	{ &in, ANY_ETH, DO_QUEUE },
	{ &last_priority, ANY_ETH, DO_RSS(&rss_null_key) },
	{ &in, { ITEM(VOID), TO_MAC, ITEM(VOID), ITEM(END) },
	  { ACTION(VOID), ACTION(DROP), ACTION(VOID), ACTION(END) } },
	/* Without a mask: what DPDK takes for it, which is all of the MAC, or of the address. */
	{ &in, { ITEM(ETH), ITEM(IPV4, .spec = &ip), ITEM(END) }, DO_QUEUE },
	{ &in, { ITEM(ETH), ITEM(VLAN, .spec = &vlan, .mask = &vid_mask), ITEM(IPV4), ITEM(END) },
	  { ACTION(DROP), ACTION(END) } },
	{ &in, { ITEM(ETH), ITEM(IPV4, .spec = &ip, .last = &ip, .mask = &ip_mask),
	  ITEM(UDP, .spec = &dns, .mask = &port_mask), ITEM(END) }, DO_QUEUE },
	{ &in, { ITEM(ETH, .spec = &other_mac, .mask = &dst_mask), ITEM(END) }, DO_RSS(&rss_2) },
};

static const void *
expected_cause(const struct refusal *refusal)
{
	switch (refusal->cause) {
	case CAUSE_ATTR:
		return refusal->attr;
	case CAUSE_ITEM_0: case CAUSE_ITEM_1: case CAUSE_ITEM_2:
		return &refusal->pattern[refusal->cause - CAUSE_ITEM_0];
	case CAUSE_MASK_0: case CAUSE_MASK_1: case CAUSE_MASK_2:
		return refusal->pattern[refusal->cause - CAUSE_MASK_0].mask;
	case CAUSE_LAST_1:
		return refusal->pattern[1].last;
	case CAUSE_ACTION_0: case CAUSE_ACTION_1:
		return &refusal->actions[refusal->cause - CAUSE_ACTION_0];
	case CAUSE_CONF:
		return refusal->actions[0].conf;
	default:
		return NULL;
	}
}

static void
check_error(const struct refusal *refusal, const struct rte_flow_error *error)
{
	CHECK(error->type == refusal->type, "type %d for \"%s\"", error->type, refusal->sentence);
	CHECK(error->cause == expected_cause(refusal), "cause for \"%s\"", refusal->sentence);
	CHECK(error->message != NULL && strcmp(error->message, refusal->sentence) == 0,
		"\"%s\", want \"%s\"", error->message, refusal->sentence);
}

static void
test_refusals(uint16_t port)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(refusals); i++) {
		const struct refusal *refusal = &refusals[i];
		struct rte_flow_error error = { 0 };
		int ret = rte_flow_validate(port, refusal->attr, refusal->pattern,
			refusal->actions, &error);

		CHECK(ret == -refusal->error, "%d for \"%s\"", ret, refusal->sentence);
		check_error(refusal, &error);
		memset(&error, 0, sizeof(error));
		CHECK(rte_flow_create(port, refusal->attr, refusal->pattern, refusal->actions,
			&error) == NULL && rte_errno == refusal->error);
		check_error(refusal, &error);
	}
}

/* Each is created once, refused the second time, and possible again after it is gone. */
static void
test_accepted(uint16_t port)
{
	struct rte_flow *flows[RTE_DIM(accepted)];
	struct rte_flow_error error = { 0 };
	unsigned int i;

	for (i = 0; i < RTE_DIM(accepted); i++) {
		const struct accepted *rule = &accepted[i];

		CHECK(rte_flow_validate(port, rule->attr, rule->pattern, rule->actions, &error) == 0,
			"rule %u: %s", i, error.message);
		flows[i] = rte_flow_create(port, rule->attr, rule->pattern, rule->actions, &error);
		CHECK(flows[i] != NULL, "rule %u: %s", i, error.message);
		CHECK(rte_flow_create(port, rule->attr, rule->pattern, rule->actions, &error) == NULL &&
			rte_errno == EEXIST);
		CHECK(strcmp(error.message, "the port has a rule with this pattern and priority "
			"already") == 0, "%s", error.message);
	}
	for (i = 0; i < RTE_DIM(accepted); i++)
		CHECK(rte_flow_destroy(port, flows[i], &error) == 0);
}

static struct rte_flow *
create_accepted(uint16_t port, unsigned int i)
{
	struct rte_flow_error error = { 0 };
	struct rte_flow *flow = rte_flow_create(port, accepted[i].attr, accepted[i].pattern,
		accepted[i].actions, &error);

	CHECK(flow != NULL, "%s", error.message);
	return flow;
}

/* What is not there cannot be destroyed or asked; flush needs no rule. */
static void
test_handles(uint16_t port, uint16_t other_port)
{
	struct rte_flow_error error = { 0 };
	struct rte_flow *flow = create_accepted(port, 0);

	CHECK(rte_flow_destroy(other_port, flow, &error) == -EINVAL &&
		error.type == RTE_FLOW_ERROR_TYPE_HANDLE && error.cause == flow);
	CHECK(strcmp(error.message, "the port has no such rule") == 0, "%s", error.message);
	CHECK(rte_flow_destroy(port, flow, &error) == 0);
	CHECK(rte_flow_destroy(port, flow, &error) == -EINVAL);
	CHECK(rte_flow_flush(port, &error) == 0 && rte_flow_flush(port, &error) == 0);
}

/* A rule for a queue that the port has no more drops, and says so. */
static void
test_fewer_queues(struct pair *pair, const struct rte_eth_conf *conf)
{
	const struct frame frame = { .dst = other_mac.dst };
	struct arrival arrival;
	struct rte_flow *flow = create_accepted(pair->rx_port, RTE_DIM(accepted) - 1);

	pair_exchange(pair, &frame, 1, &arrival);
	CHECK(arrival.queue == 0, "queue %u", arrival.queue);
	pair_stop(pair);
	CHECK(pair_configure(pair, 1, conf) == 0);
	pair_log();
	pair_start(pair);
	CHECK(strstr(pair_log(), "a flow rule sends to Rx queue 1, but the port has 1 now: the rule "
		"drops") != NULL);
	pair_exchange(pair, &frame, 1, &arrival);
	CHECK(arrival.queue == PAIR_NOT_RECEIVED, "queue %u", arrival.queue);
	pair_stop(pair);
	CHECK(pair_configure(pair, NB_QUEUES, conf) == 0);
	pair_start(pair);
	pair_exchange(pair, &frame, 1, &arrival);
	CHECK(arrival.queue == 0, "queue %u", arrival.queue);
	CHECK(rte_flow_destroy(pair->rx_port, flow, NULL) == 0);
}

int
main(int argc, char **argv)
{
	const struct rte_eth_conf conf = { .rxmode.mq_mode = RTE_ETH_MQ_RX_RSS };
	struct pair pair;

	if (argc != 2)
		return 2;
	pair_open(&pair, argv);
	CHECK(pair_configure(&pair, NB_QUEUES, &conf) == 0);
	test_refusals(pair.rx_port);
	test_accepted(pair.rx_port);
	pair_start(&pair);
	test_refusals(pair.rx_port);
	test_accepted(pair.rx_port);
	test_handles(pair.rx_port, pair.tx_port);
	test_fewer_queues(&pair, &conf);
	create_accepted(pair.rx_port, 0);	/* close destroys what is left */
	pair_close(&pair);
	return check_status();
}
