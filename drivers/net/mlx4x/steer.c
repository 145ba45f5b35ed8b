/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Which frames the port takes, as rules of the device: one for each MAC address of the
 * port, for each multicast group and for broadcast, times each VLAN if VLANs are
 * filtered; and a default rule for promiscuous or all-multicast mode. An update compares
 * what should be there with what is and changes only the difference: first it creates
 * what is missing, then it destroys what is not wanted any more. So traffic of the other
 * rules never stops, and an update that fails leaves everything as it was.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mlx4x.h"

/* A VLAN filter may pass every id: this stands for a rule that looks at no tag. */
#define ANY_VLAN UINT16_MAX
#define NB_VLANS 4096

/* A rule as it is wanted. Compared as bytes: no holes. */
struct rule_key {
	uint32_t type;			/* enum ibv_flow_attr_type */
	struct rte_ether_addr mac;	/* of normal rules */
	uint16_t vid;
	uint16_t reserved[2];
};
static_assert(sizeof(struct rule_key) == 16, "no padding");

struct mlx4x_steer_rule {
	struct rule_key key;
	struct ibv_flow *flow;
};

static int
compare_rules(const void *a, const void *b)
{
	const struct mlx4x_steer_rule *rule_a = a, *rule_b = b;

	return memcmp(&rule_a->key, &rule_b->key, sizeof(rule_a->key));
}

static int
create_rule(struct mlx4x_port *port, struct mlx4x_steer_rule *rule)
{
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
	} spec = {
		.attr = {
			.type = rule->key.type,
			.size = sizeof(spec),
			.priority = MLX4X_STEER_PRIORITY,
			.num_of_specs = 1,
			.port = port->number,
		},
		.eth = { .type = IBV_FLOW_SPEC_ETH, .size = sizeof(spec.eth) },
	};

	switch (rule->key.type) {
	case IBV_FLOW_ATTR_NORMAL:
		memcpy(spec.eth.val.dst_mac, &rule->key.mac, sizeof(rule->key.mac));
		memset(spec.eth.mask.dst_mac, 0xff, sizeof(spec.eth.mask.dst_mac));
		if (rule->key.vid != ANY_VLAN) {
			spec.eth.val.vlan_tag = rte_cpu_to_be_16(rule->key.vid);
			spec.eth.mask.vlan_tag = RTE_BE16(RTE_VLAN_ID_MASK);
		}
		break;
	case IBV_FLOW_ATTR_ALL_DEFAULT:
		/* The kernel wants a virtual function to name its own MAC or a group. */
		spec.eth.val.dst_mac[0] = 0xff;
		break;
	default:
		spec.attr.num_of_specs = 0;
		spec.attr.size = sizeof(spec.attr);
	}
	rule->flow = ibv_create_flow(port->default_rss->qp, &spec.attr);
	return rule->flow == NULL ? -errno : 0;
}

static void
log_refusal(const struct mlx4x_port *port, const struct rule_key *key, int error)
{
	char what[RTE_ETHER_ADDR_FMT_SIZE] = "all-multicast mode";

	if (key->type == IBV_FLOW_ATTR_NORMAL)
		rte_ether_format_addr(what, sizeof(what), &key->mac);
	else if (key->type == IBV_FLOW_ATTR_ALL_DEFAULT)
		snprintf(what, sizeof(what), "promiscuous mode");
	MLX4X_LOG(port, ERR, "the device refuses the rule for %s: %s", what, strerror(-error));
}

/* The rules that the port's state asks for, as they come; flow is NULL in all of them. */
struct wish {
	struct mlx4x_steer_rule *rules;
	size_t nb_rules;
};

static void
add_wish(struct wish *wish, enum ibv_flow_attr_type type, const struct rte_ether_addr *mac,
	uint16_t vid)
{
	struct mlx4x_steer_rule *rule = &wish->rules[wish->nb_rules++];

	memset(rule, 0, sizeof(*rule));
	rule->key.type = type;
	rule->key.vid = vid;
	if (mac != NULL)
		rule->key.mac = *mac;
}

/* VLANs that pass; 0 if tags do not matter. Promiscuous mode takes them all. */
static unsigned int
nb_filtered_vlans(const struct mlx4x_port *port)
{
	unsigned int i, nb = 0;

	if (!(port->data->dev_conf.rxmode.offloads & RTE_ETH_RX_OFFLOAD_VLAN_FILTER) ||
	    port->data->promiscuous)
		return 0;
	for (i = 0; i < RTE_DIM(port->data->vlan_filter_conf.ids); i++)
		nb += __builtin_popcountll(port->data->vlan_filter_conf.ids[i]);
	return nb;
}

static void
add_mac(struct wish *wish, const struct mlx4x_port *port, const struct rte_ether_addr *mac,
	bool any_vlan)
{
	const uint64_t *ids = port->data->vlan_filter_conf.ids;
	unsigned int vid;

	if (any_vlan) {
		add_wish(wish, IBV_FLOW_ATTR_NORMAL, mac, ANY_VLAN);
		return;
	}
	for (vid = 0; vid < NB_VLANS; vid++) {
		if (ids[vid / 64] & RTE_BIT64(vid % 64))
			add_wish(wish, IBV_FLOW_ATTR_NORMAL, mac, vid);
	}
}

static void
add_all(struct wish *wish, const struct mlx4x_port *port, bool any_vlan)
{
	static const struct rte_ether_addr broadcast = {
		.addr_bytes = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
	};
	uint32_t i;

	add_mac(wish, port, &broadcast, any_vlan);
	for (i = 0; i < MLX4X_MAX_MAC_ADDRS; i++) {
		if (!rte_is_zero_ether_addr(&port->mac[i]))
			add_mac(wish, port, &port->mac[i], any_vlan);
	}
	for (i = 0; i < port->nb_mc_addrs; i++)
		add_mac(wish, port, &port->mc_addrs[i], any_vlan);
	if (port->data->promiscuous)
		add_wish(wish, IBV_FLOW_ATTR_ALL_DEFAULT, NULL, ANY_VLAN);
	else if (port->data->all_multicast)
		add_wish(wish, IBV_FLOW_ATTR_MC_DEFAULT, NULL, ANY_VLAN);
}

/* Sorted, each rule once. */
static int
make_wish(struct wish *wish, const struct mlx4x_port *port)
{
	unsigned int nb_vlans = nb_filtered_vlans(port);
	size_t i, nb = 0;

	wish->nb_rules = 0;
	wish->rules = calloc((size_t)(1 + MLX4X_MAX_MAC_ADDRS + port->nb_mc_addrs) *
		RTE_MAX(nb_vlans, 1u) + 1, sizeof(wish->rules[0]));
	if (wish->rules == NULL) {
		MLX4X_LOG(port, ERR, "no memory for the rules of %u VLANs", nb_vlans);
		return -ENOMEM;
	}
	add_all(wish, port, nb_vlans == 0);
	qsort(wish->rules, wish->nb_rules, sizeof(wish->rules[0]), compare_rules);
	for (i = 0; i < wish->nb_rules; i++) {
		if (i == 0 || compare_rules(&wish->rules[nb - 1], &wish->rules[i]) != 0)
			wish->rules[nb++] = wish->rules[i];
	}
	wish->nb_rules = nb;
	return 0;
}

static struct mlx4x_steer_rule *
find_rule(const struct mlx4x_steer *steer, const struct mlx4x_steer_rule *rule)
{
	return steer->nb_rules == 0 ? NULL : bsearch(rule, steer->rules, steer->nb_rules,
		sizeof(*rule), compare_rules);
}

static void
destroy_rules(struct mlx4x_steer_rule *rules, size_t nb_rules)
{
	size_t i;

	for (i = nb_rules; i-- > 0;) {
		if (rules[i].flow != NULL)
			ibv_destroy_flow(rules[i].flow);
	}
	free(rules);
}

/* Creates the rules that a wish has and old has not. All of them, or none. */
static int
create_missing(struct mlx4x_port *port, const struct mlx4x_steer *old, struct wish *wish)
{
	size_t i;
	int ret;

	for (i = 0; i < wish->nb_rules; i++) {
		if (find_rule(old, &wish->rules[i]) != NULL)
			continue;
		ret = create_rule(port, &wish->rules[i]);
		if (ret != 0) {
			log_refusal(port, &wish->rules[i].key, ret);
			return ret;
		}
	}
	return 0;
}

/* Moves the rules that both have to the wish, which replaces the old ones. */
static void
replace(struct mlx4x_steer *steer, const struct wish *wish)
{
	struct mlx4x_steer_rule *old;
	size_t i;

	for (i = 0; i < wish->nb_rules; i++) {
		if (wish->rules[i].flow != NULL)
			continue;
		old = find_rule(steer, &wish->rules[i]);
		wish->rules[i].flow = old->flow;
		old->flow = NULL;
	}
	destroy_rules(steer->rules, steer->nb_rules);
	steer->rules = wish->rules;
	steer->nb_rules = wish->nb_rules;
}

static bool
is_active(const struct mlx4x_port *port)
{
	return port->started && !port->isolated && port->data->nb_rx_queues != 0;
}

static struct mlx4x_rss *
get_default_rss(struct mlx4x_port *port)
{
	struct mlx4x_rss_conf conf;

	mlx4x_rss_default_conf(port, &conf);
	return mlx4x_rss_get(port, &conf);
}

/*
 * Makes the rules what the port's state asks for. While the port is stopped or isolated,
 * that is none.
 */
int
mlx4x_steer_update(struct mlx4x_port *port)
{
	struct wish wish;
	int ret;

	if (!is_active(port)) {
		mlx4x_steer_remove_all(port);
		return 0;
	}
	if (port->default_rss == NULL)
		port->default_rss = get_default_rss(port);
	if (port->default_rss == NULL)
		return -errno;
	ret = make_wish(&wish, port);
	if (ret != 0)
		return ret;
	ret = create_missing(port, &port->steer, &wish);
	if (ret == 0)
		replace(&port->steer, &wish);
	else
		destroy_rules(wish.rules, wish.nb_rules);
	return ret;
}

/*
 * Makes all rules use the hash that the port has now. Of two rules that are alike the
 * older one counts: when it goes, the new one is there already.
 */
int
mlx4x_steer_retarget(struct mlx4x_port *port)
{
	const struct mlx4x_steer none = { .nb_rules = 0 };
	struct mlx4x_rss *old = port->default_rss, *unwanted = old;
	struct wish wish;
	int ret;

	if (!is_active(port))
		return 0;
	port->default_rss = get_default_rss(port);
	ret = port->default_rss == NULL ? -errno : make_wish(&wish, port);
	if (ret == 0) {
		ret = create_missing(port, &none, &wish);
		if (ret == 0)
			replace(&port->steer, &wish);
		else
			destroy_rules(wish.rules, wish.nb_rules);
	}
	if (ret != 0) {
		unwanted = port->default_rss;
		port->default_rss = old;
	}
	if (unwanted != NULL)
		mlx4x_rss_put(port, unwanted);
	return ret;
}

void
mlx4x_steer_remove_all(struct mlx4x_port *port)
{
	destroy_rules(port->steer.rules, port->steer.nb_rules);
	memset(&port->steer, 0, sizeof(port->steer));
	if (port->default_rss != NULL)
		mlx4x_rss_put(port, port->default_rss);
	port->default_rss = NULL;
}
