/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Which frames the port takes, as rules of the device: one for each MAC address and
 * for broadcast, and a default rule for promiscuous or all-multicast mode. An update
 * compares what should be there with what is and changes only the difference, so that
 * traffic of the other rules never stops.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mlx4x.h"

/* Behind all rules of rte_flow, which stay below this number. */
#define STEER_PRIORITY 0xfff

/* A rule as it is wanted: a default type, or a destination. */
struct rule_key {
	enum ibv_flow_attr_type type;
	struct rte_ether_addr mac;
};

struct mlx4x_steer_rule {
	LIST_ENTRY(mlx4x_steer_rule) next;
	struct rule_key key;
	bool wanted;
	struct ibv_flow *flow;
};

static int
create(struct mlx4x_port *port, struct mlx4x_steer_rule *rule)
{
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
	} spec = {
		.attr = {
			.type = rule->key.type,
			.size = sizeof(spec),
			.priority = STEER_PRIORITY,
			.num_of_specs = 1,
			.port = port->number,
		},
		.eth = { .type = IBV_FLOW_SPEC_ETH, .size = sizeof(spec.eth) },
	};

	if (rule->key.type == IBV_FLOW_ATTR_NORMAL) {
		memcpy(spec.eth.val.dst_mac, &rule->key.mac, sizeof(rule->key.mac));
		memset(spec.eth.mask.dst_mac, 0xff, sizeof(spec.eth.mask.dst_mac));
	} else {
		spec.attr.num_of_specs = 0;
		spec.attr.size = sizeof(spec.attr);
		spec.attr.priority = 0;
	}
	rule->flow = ibv_create_flow(port->default_rss->qp, &spec.attr);
	return rule->flow == NULL ? -errno : 0;
}

static void
destroy(struct mlx4x_steer_rule *rule)
{
	LIST_REMOVE(rule, next);
	ibv_destroy_flow(rule->flow);
	free(rule);
}

/* Keeps a rule that exists, creates one that does not. */
static int
want(struct mlx4x_port *port, enum ibv_flow_attr_type type, const struct rte_ether_addr *mac)
{
	struct rule_key key;
	struct mlx4x_steer_rule *rule;
	int ret;

	memset(&key, 0, sizeof(key));
	key.type = type;
	if (mac != NULL)
		key.mac = *mac;
	LIST_FOREACH(rule, &port->steer_rules, next) {
		if (memcmp(&rule->key, &key, sizeof(key)) == 0) {
			rule->wanted = true;
			return 0;
		}
	}
	rule = calloc(1, sizeof(*rule));
	if (rule == NULL)
		return -ENOMEM;
	rule->key = key;
	rule->wanted = true;
	ret = create(port, rule);
	if (ret != 0) {
		MLX4X_LOG(port, ERR, "the device refuses a rule of the port: %s", strerror(-ret));
		free(rule);
		return ret;
	}
	LIST_INSERT_HEAD(&port->steer_rules, rule, next);
	return 0;
}

static int
want_all(struct mlx4x_port *port)
{
	static const struct rte_ether_addr broadcast = {
		.addr_bytes = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
	};
	int ret = want(port, IBV_FLOW_ATTR_NORMAL, &broadcast);
	unsigned int i;

	for (i = 0; i < MLX4X_MAX_MAC_ADDRS && ret == 0; i++) {
		if (!rte_is_zero_ether_addr(&port->mac[i]))
			ret = want(port, IBV_FLOW_ATTR_NORMAL, &port->mac[i]);
	}
	if (ret == 0 && port->data->promiscuous)
		ret = want(port, IBV_FLOW_ATTR_ALL_DEFAULT, NULL);
	else if (ret == 0 && port->data->all_multicast)
		ret = want(port, IBV_FLOW_ATTR_MC_DEFAULT, NULL);
	return ret;
}

static int
get_default_rss(struct mlx4x_port *port)
{
	struct mlx4x_rss_conf conf;

	if (port->default_rss != NULL)
		return 0;
	memset(&conf, 0, sizeof(conf));
	conf.fields = port->default_fields;
	memcpy(conf.key, port->rss_key, sizeof(conf.key));
	conf.nb_queues = mlx4x_rss_default_queues(port);
	errno = ENOMEM;
	port->default_rss = mlx4x_rss_get(port, &conf);
	return port->default_rss == NULL ? -errno : 0;
}

/* Makes the rules what the port's state asks for. Does nothing while it is stopped. */
int
mlx4x_steer_update(struct mlx4x_port *port)
{
	struct mlx4x_steer_rule *rule, *next;
	int ret;

	if (!port->started || port->isolated || port->data->nb_rx_queues == 0)
		return 0;
	ret = get_default_rss(port);
	if (ret != 0)
		return ret;
	LIST_FOREACH(rule, &port->steer_rules, next)
		rule->wanted = false;
	ret = want_all(port);
	for (rule = LIST_FIRST(&port->steer_rules); rule != NULL; rule = next) {
		next = LIST_NEXT(rule, next);
		if (!rule->wanted)
			destroy(rule);
	}
	return ret;
}

void
mlx4x_steer_remove_all(struct mlx4x_port *port)
{
	struct mlx4x_steer_rule *rule;

	while ((rule = LIST_FIRST(&port->steer_rules)) != NULL)
		destroy(rule);
	if (port->default_rss != NULL)
		mlx4x_rss_put(port, port->default_rss);
	port->default_rss = NULL;
}

/* ethdev sets the mode that it is asked for after the call: set it here before. */
static int
set_mode(struct rte_eth_dev *eth_dev, bool promiscuous, bool all_multicast)
{
	struct mlx4x_port *port = mlx4x_port_of(eth_dev);
	bool old_promiscuous = port->data->promiscuous;
	bool old_all_multicast = port->data->all_multicast;
	int ret;

	mlx4x_lock(port->dev);
	port->data->promiscuous = promiscuous;
	port->data->all_multicast = all_multicast;
	ret = mlx4x_steer_update(port);
	if (ret != 0) {
		port->data->promiscuous = old_promiscuous;
		port->data->all_multicast = old_all_multicast;
	}
	mlx4x_unlock(port->dev);
	return ret;
}

int
mlx4x_promiscuous_enable(struct rte_eth_dev *eth_dev)
{
	return set_mode(eth_dev, true, eth_dev->data->all_multicast);
}

int
mlx4x_promiscuous_disable(struct rte_eth_dev *eth_dev)
{
	return set_mode(eth_dev, false, eth_dev->data->all_multicast);
}

int
mlx4x_allmulticast_enable(struct rte_eth_dev *eth_dev)
{
	return set_mode(eth_dev, eth_dev->data->promiscuous, true);
}

int
mlx4x_allmulticast_disable(struct rte_eth_dev *eth_dev)
{
	return set_mode(eth_dev, eth_dev->data->promiscuous, false);
}
