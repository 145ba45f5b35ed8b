/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Which frames a port takes: MAC table, multicast groups, VLANs and modes in random
 * order and combination, while the port runs and while it does not, against a model.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../unit/check.h"
#include "pair.h"

#define NB_FRAMES 96
#define NB_STEPS 300
#define NB_MACS 4	/* unicast addresses that come and go, and that of the port */
#define NB_GROUPS 3
#define NB_VLANS 3

/* What the application asked for. */
struct model {
	bool promiscuous;
	bool all_multicast;
	bool isolated;
	bool has_mac[NB_MACS];
	bool has_group[NB_GROUPS];
	bool vlan_filter;
	bool has_vlan[NB_VLANS];
	bool started;
};

static const uint16_t vids[NB_VLANS] = { 5, 6, 4095 };
static struct rte_ether_addr port_mac;

static struct rte_ether_addr
mac_of(unsigned int i)
{
	return i == 0 ? port_mac :
		(struct rte_ether_addr){ { 0x02, 0, 0, 0, 0x10, (uint8_t)i } };
}

static struct rte_ether_addr
group_of(unsigned int i)
{
	return (struct rte_ether_addr){ { 0x01, 0, 0x5e, 0, 0, (uint8_t)i } };
}

static bool
takes_address(const struct model *model, const struct rte_ether_addr *dst)
{
	struct rte_ether_addr addr;
	unsigned int i;

	for (i = 0; i < NB_MACS; i++) {
		addr = mac_of(i);
		if (model->has_mac[i] && rte_is_same_ether_addr(&addr, dst))
			return true;
	}
	for (i = 0; i < NB_GROUPS; i++) {
		addr = group_of(i);
		if (model->has_group[i] && rte_is_same_ether_addr(&addr, dst))
			return true;
	}
	return rte_is_broadcast_ether_addr(dst);
}

static bool
takes_tag(const struct model *model, const struct frame *frame)
{
	bool filtered = false;
	unsigned int i;

	for (i = 0; i < NB_VLANS; i++) {
		if (model->has_vlan[i] && frame->tagged && frame->vid == vids[i])
			return true;
		filtered |= model->has_vlan[i];
	}
	return !model->vlan_filter || !filtered;
}

static bool
takes(const struct model *model, const struct frame *frame)
{
	if (model->isolated)
		return false;
	if (model->promiscuous ||
	    (model->all_multicast && rte_is_multicast_ether_addr(&frame->dst)))
		return true;
	return takes_address(model, &frame->dst) && takes_tag(model, frame);
}

static void
choose_frame(struct frame *frame)
{
	unsigned int kind = random() % (NB_MACS + NB_GROUPS + 1);

	memset(frame, 0, sizeof(*frame));
	frame->dst = kind < NB_MACS ? mac_of(kind) : group_of(kind - NB_MACS);
	if (kind == NB_MACS + NB_GROUPS)
		memset(&frame->dst, 0xff, sizeof(frame->dst));
	frame->tagged = random() % 4 != 0;
	frame->vid = random() % 4 == 0 ? 9 : vids[random() % NB_VLANS];
	frame->version = 4;
}

static void
check_traffic(struct pair *pair, const struct model *model)
{
	struct frame frames[NB_FRAMES];
	struct arrival arrivals[NB_FRAMES];
	unsigned int i;

	for (i = 0; i < NB_FRAMES; i++)
		choose_frame(&frames[i]);
	pair_exchange(pair, frames, NB_FRAMES, arrivals);
	for (i = 0; i < NB_FRAMES; i++)
		CHECK(arrivals[i].copies == takes(model, &frames[i]), "%u copies of "
			RTE_ETHER_ADDR_PRT_FMT " vid %d, promisc %d allmulti %d isolated %d filter %d",
			arrivals[i].copies, RTE_ETHER_ADDR_BYTES(&frames[i].dst),
			frames[i].tagged ? frames[i].vid : -1, model->promiscuous,
			model->all_multicast, model->isolated, model->vlan_filter);
}

static void
change_mac(struct pair *pair, struct model *model)
{
	unsigned int i = 1 + random() % (NB_MACS - 1);
	struct rte_ether_addr addr = mac_of(i);

	if (model->has_mac[i])
		CHECK(rte_eth_dev_mac_addr_remove(pair->rx_port, &addr) == 0);
	else
		CHECK(rte_eth_dev_mac_addr_add(pair->rx_port, &addr, 0) == 0);
	model->has_mac[i] = !model->has_mac[i];
}

static void
change_groups(struct pair *pair, struct model *model)
{
	struct rte_ether_addr list[NB_GROUPS];
	unsigned int i, nb = 0;

	for (i = 0; i < NB_GROUPS; i++) {
		model->has_group[i] = random() % 2;
		if (model->has_group[i])
			list[nb++] = group_of(i);
	}
	CHECK(rte_eth_dev_set_mc_addr_list(pair->rx_port, nb != 0 ? list : NULL, nb) == 0);
}

/* ethdev refuses an id while the filter is off. */
static void
change_vlan(struct pair *pair, struct model *model)
{
	unsigned int i = random() % NB_VLANS;
	int want = model->vlan_filter ? 0 : -ENOSYS;

	CHECK(rte_eth_dev_vlan_filter(pair->rx_port, vids[i], !model->has_vlan[i]) == want);
	if (want == 0)
		model->has_vlan[i] = !model->has_vlan[i];
}

static void
change_vlan_filter(struct pair *pair, struct model *model)
{
	int offloads = rte_eth_dev_get_vlan_offload(pair->rx_port);

	model->vlan_filter = !model->vlan_filter;
	CHECK(rte_eth_dev_set_vlan_offload(pair->rx_port, offloads ^ RTE_ETH_VLAN_FILTER_OFFLOAD) == 0);
}

static void
change_promiscuous(struct pair *pair, struct model *model)
{
	model->promiscuous = !model->promiscuous;
	CHECK((model->promiscuous ? rte_eth_promiscuous_enable(pair->rx_port) :
		rte_eth_promiscuous_disable(pair->rx_port)) == 0);
}

static void
change_all_multicast(struct pair *pair, struct model *model)
{
	model->all_multicast = !model->all_multicast;
	CHECK((model->all_multicast ? rte_eth_allmulticast_enable(pair->rx_port) :
		rte_eth_allmulticast_disable(pair->rx_port)) == 0);
}

/* Entering and leaving works any number of times (1d173da83e of the stock driver). */
static void
change_isolation(struct pair *pair, struct model *model)
{
	model->isolated = !model->isolated;
	CHECK(rte_flow_isolate(pair->rx_port, model->isolated, NULL) == 0);
}

static void
change_state(struct pair *pair, struct model *model)
{
	model->started = !model->started;
	if (model->started)
		pair_start(pair);
	else
		pair_stop(pair);
}

static void
test_random(struct pair *pair, struct model *model)
{
	static void (*const changes[])(struct pair *, struct model *) = {
		change_mac, change_mac, change_groups, change_vlan, change_vlan, change_vlan_filter,
		change_promiscuous, change_all_multicast, change_isolation, change_state,
	};
	unsigned int i;

	for (i = 0; i < NB_STEPS && check_failures == 0; i++) {
		changes[random() % RTE_DIM(changes)](pair, model);
		if (model->started)
			check_traffic(pair, model);
	}
	if (!model->started)
		change_state(pair, model);
	if (model->isolated)
		change_isolation(pair, model);
}

/* VLANs come and go one by one while nothing else lets their frames in. */
static void
test_vlans(struct pair *pair, struct model *model)
{
	unsigned int i, round;

	if (model->promiscuous)
		change_promiscuous(pair, model);
	if (model->all_multicast)
		change_all_multicast(pair, model);
	if (!model->vlan_filter)
		change_vlan_filter(pair, model);
	for (round = 0; round < 2; round++) {
		for (i = 0; i < NB_VLANS; i++) {
			CHECK(rte_eth_dev_vlan_filter(pair->rx_port, vids[i], round == 0) == 0);
			model->has_vlan[i] = round == 0;
			check_traffic(pair, model);
		}
	}
}

/* A new main address takes the place of the old one, also after a restart. */
static void
test_main_address(struct pair *pair, struct model *model)
{
	struct rte_ether_addr old = port_mac, got;

	port_mac = (struct rte_ether_addr){ { 0x02, 0, 0, 0, 0x20, 1 } };
	CHECK(rte_eth_dev_default_mac_addr_set(pair->rx_port, &port_mac) == 0);
	CHECK(rte_eth_macaddr_get(pair->rx_port, &got) == 0 &&
		rte_is_same_ether_addr(&got, &port_mac));
	check_traffic(pair, model);
	pair_stop(pair);
	pair_start(pair);
	check_traffic(pair, model);
	CHECK(rte_eth_dev_default_mac_addr_set(pair->rx_port, &old) == 0);
	port_mac = old;
	check_traffic(pair, model);
}

/* The table takes as many addresses as dev_info says. */
static void
test_full_table(struct pair *pair)
{
	struct rte_ether_addr addr = { { 0x02, 0, 0, 1, 0, 0 } };
	struct rte_eth_dev_info info;
	unsigned int nb = 0;
	int ret;

	CHECK(rte_eth_dev_info_get(pair->rx_port, &info) == 0);
	do {
		addr.addr_bytes[5] = nb;
		ret = rte_eth_dev_mac_addr_add(pair->rx_port, &addr, 0);
	} while (ret == 0 && ++nb < 256);
	CHECK(ret == -ENOSPC && nb <= info.max_mac_addrs && nb + NB_MACS >= info.max_mac_addrs,
		"%d after %u of %u", ret, nb, info.max_mac_addrs);
	while (nb-- > 0) {
		addr.addr_bytes[5] = nb;
		CHECK(rte_eth_dev_mac_addr_remove(pair->rx_port, &addr) == 0);
	}
}

static void
test_refused_groups(struct pair *pair, const struct model *model)
{
	struct rte_ether_addr list[] = { group_of(0), mac_of(1) };

	pair_log();
	CHECK(rte_eth_dev_set_mc_addr_list(pair->rx_port, list, RTE_DIM(list)) == -EINVAL);
	CHECK(strstr(pair_log(), "02:00:00:00:10:01 is not a multicast address") != NULL);
	check_traffic(pair, model);
}

int
main(int argc, char **argv)
{
	const struct rte_eth_conf conf = { .rxmode.mq_mode = RTE_ETH_MQ_RX_RSS };
	struct model model = { .has_mac = { true }, .started = true };
	struct pair pair;

	if (argc != 2)
		return 2;
	srandom(3);
	pair_open(&pair, argv);
	port_mac = pair.mac;
	CHECK(pair_configure(&pair, 2, &conf) == 0);
	pair_start(&pair);
	check_traffic(&pair, &model);
	test_random(&pair, &model);
	test_vlans(&pair, &model);
	test_main_address(&pair, &model);
	test_full_table(&pair);
	test_refused_groups(&pair, &model);
	pair_close(&pair);
	return check_status();
}
