/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steering: rules in sorted lists, found by destination MAC where they name one.
 */
#include <stdlib.h>
#include <string.h>

#include "device.h"

#define MAX_RULES 32768 /* for each port */

static const uint8_t full_mac[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };

static unsigned int
bucket_of(const uint8_t mac[6])
{
	uint32_t low = vcx3_load_be32(mac + 2), high = vcx3_load_be16(mac);

	return ((low ^ high << 7) * 2654435761u) >> 22;
}

static struct vcx3_rule_entry **
list_of(struct vcx3_rule_table *table, const struct vcx3_rule *rule)
{
	switch (rule->type) {
	case VCX3_RULE_REGULAR:
		if (memcmp(rule->dst_mac_mask, full_mac, sizeof(full_mac)) == 0)
			return &table->by_mac[bucket_of(rule->dst_mac)];
		return &table->wild;
	case VCX3_RULE_ALL_DEFAULT:
		return &table->all_default;
	case VCX3_RULE_MC_DEFAULT:
		return &table->mc_default;
	case VCX3_RULE_MIRROR_TX:
		return &table->mirror_tx;
	case VCX3_RULE_MIRROR_RX:
	case VCX3_RULE_UC_SNIFFER:
	case VCX3_RULE_MC_SNIFFER:
		return &table->mirror_rx;
	}
	return NULL;
}

enum vcx3_status
vcx3_rule_attach(struct vcx3_core *core, const struct vcx3_rule *rule, uint64_t *handle)
{
	struct vcx3_rule_entry *new, **at;
	struct vcx3_rule_table *table;

	if (rule->port < 1 || rule->port > core->config.ports || rule->qpn >= core->nb_qps)
		return VCX3_BAD_PARAM;
	table = &core->ports[rule->port - 1].rules;
	at = list_of(table, rule);
	if (at == NULL)
		return VCX3_BAD_PARAM;
	new = table->count < MAX_RULES ? malloc(sizeof(*new)) : NULL;
	if (new == NULL)
		return VCX3_EXCEED_LIM;
	new->rule = *rule;
	new->handle = ++core->rule_age;
	new->order = (uint64_t)rule->priority << 48 | new->handle;
	while (*at != NULL && (*at)->order < new->order)
		at = &(*at)->next;
	new->next = *at;
	*at = new;
	table->count++;
	core->counters.live_rules++;
	core->steer_generation++;
	*handle = new->handle;
	return VCX3_OK;
}

static bool
detach_from(struct vcx3_rule_entry **at, uint64_t handle)
{
	struct vcx3_rule_entry *entry;

	while (*at != NULL && (*at)->handle != handle)
		at = &(*at)->next;
	entry = *at;
	if (entry == NULL)
		return false;
	*at = entry->next;
	free(entry);
	return true;
}

static bool
detach_from_port(struct vcx3_rule_table *table, uint64_t handle)
{
	for (unsigned int i = 0; i < VCX3_RULE_BUCKETS; i++)
		if (detach_from(&table->by_mac[i], handle))
			return true;
	return detach_from(&table->wild, handle) || detach_from(&table->mc_default, handle) ||
	       detach_from(&table->all_default, handle) ||
	       detach_from(&table->mirror_rx, handle) || detach_from(&table->mirror_tx, handle);
}

enum vcx3_status
vcx3_rule_detach(struct vcx3_core *core, uint64_t handle)
{
	for (unsigned int i = 0; i < core->config.ports; i++) {
		struct vcx3_rule_table *table = &core->ports[i].rules;

		if (!detach_from_port(table, handle))
			continue;
		table->count--;
		core->counters.live_rules--;
		core->steer_generation++;
		return VCX3_OK;
	}
	return VCX3_BAD_INDEX;
}

static void
free_list(struct vcx3_rule_entry **list)
{
	while (*list != NULL)
		detach_from(list, (*list)->handle);
}

void
vcx3_rules_release(struct vcx3_core *core)
{
	for (unsigned int i = 0; i < core->config.ports; i++) {
		struct vcx3_rule_table *table = &core->ports[i].rules;

		for (unsigned int bucket = 0; bucket < VCX3_RULE_BUCKETS; bucket++)
			free_list(&table->by_mac[bucket]);
		free_list(&table->wild);
		free_list(&table->mc_default);
		free_list(&table->all_default);
		free_list(&table->mirror_rx);
		free_list(&table->mirror_tx);
		table->count = 0;
	}
	core->counters.live_rules = 0;
	core->steer_generation++;
}

bool
vcx3_port_has_receiver(const struct vcx3_core *core, unsigned int port)
{
	return port >= 1 && port <= core->config.ports && core->ports[port - 1].rules.count > 0;
}

static bool
matches_mac(const uint8_t *mac, const uint8_t *value, const uint8_t *mask)
{
	for (int i = 0; i < 6; i++)
		if ((mac[i] ^ value[i]) & mask[i])
			return false;
	return true;
}

static bool
matches_l2(const struct vcx3_rule *rule, const uint8_t *data, const struct vcx3_headers *headers)
{
	if (rule->vlan_mask != 0 &&
	    (headers->vlan_type == 0 || (headers->tci ^ rule->vlan) & rule->vlan_mask))
		return false;
	return matches_mac(data, rule->dst_mac, rule->dst_mac_mask) &&
	       matches_mac(data + 6, rule->src_mac, rule->src_mac_mask) &&
	       !((headers->ether_type ^ rule->ether_type) & rule->ether_type_mask);
}

static bool
matches_l3(const struct vcx3_rule *rule, const uint8_t *data, const struct vcx3_headers *headers)
{
	const uint8_t *ip = data + headers->l3;

	if (!rule->match_ipv4)
		return true;
	return headers->version == 4 &&
	       !((vcx3_load_be32(ip + 12) ^ rule->src_ip) & rule->src_ip_mask) &&
	       !((vcx3_load_be32(ip + 16) ^ rule->dst_ip) & rule->dst_ip_mask);
}

static bool
matches_l4(const struct vcx3_rule *rule, const uint8_t *data, const struct vcx3_headers *headers)
{
	const uint8_t *l4 = data + headers->l4;

	if (rule->l4_protocol == 0)
		return true;
	return headers->is_l4 && headers->protocol == rule->l4_protocol &&
	       !((vcx3_load_be16(l4) ^ rule->src_port) & rule->src_port_mask) &&
	       !((vcx3_load_be16(l4 + 2) ^ rule->dst_port) & rule->dst_port_mask);
}

static bool
matches(const struct vcx3_rule *rule, const uint8_t *data, const struct vcx3_headers *headers)
{
	if ((rule->type == VCX3_RULE_UC_SNIFFER && vcx3_is_multicast(data)) ||
	    (rule->type == VCX3_RULE_MC_SNIFFER && !vcx3_is_multicast(data)))
		return false;
	return matches_l2(rule, data, headers) && matches_l3(rule, data, headers) &&
	       matches_l4(rule, data, headers);
}

/* Takes the older or more urgent of two sorted lists' heads. */
static const struct vcx3_rule_entry *
pop(const struct vcx3_rule_entry **a, const struct vcx3_rule_entry **b)
{
	const struct vcx3_rule_entry **from = b;
	const struct vcx3_rule_entry *entry;

	if (*a != NULL && (*b == NULL || (*a)->order < (*b)->order))
		from = a;
	entry = *from;
	if (entry != NULL)
		*from = entry->next;
	return entry;
}

struct targets {
	uint32_t *qpns;
	unsigned int count;
};

/* Walks two lists in order. @return true when a rule kept the frame for itself. */
static bool
walk(const struct vcx3_rule_entry *a, const struct vcx3_rule_entry *b, const uint8_t *data,
     const struct vcx3_headers *headers, bool copies, struct targets *targets)
{
	const struct vcx3_rule_entry *entry;

	while ((entry = pop(&a, &b)) != NULL && targets->count < VCX3_MAX_TARGETS) {
		if (!matches(&entry->rule, data, headers))
			continue;
		targets->qpns[targets->count++] = entry->rule.qpn;
		if (!copies && !entry->rule.dont_trap)
			return true;
	}
	return false;
}

/* Collects the QPNs that get the frame. @return how many. */
unsigned int
vcx3_steer(const struct vcx3_core *core, const struct vcx3_port *port, const uint8_t *data,
	   const struct vcx3_headers *headers, uint32_t qpns[VCX3_MAX_TARGETS])
{
	const struct vcx3_rule_table *table = &port->rules;
	struct targets targets = { .qpns = qpns };

	walk(table->mirror_rx, NULL, data, headers, true, &targets);
	if (walk(table->by_mac[bucket_of(data)], table->wild, data, headers, false, &targets))
		return targets.count;
	if (vcx3_is_multicast(data) &&
	    walk(table->mc_default, NULL, data, headers, false, &targets))
		return targets.count;
	walk(table->all_default, NULL, data, headers, false, &targets);
	return targets.count;
}

/* Whether a regular rule of the port takes this frame: the embedded switch asks. */
bool
vcx3_steer_is_local(const struct vcx3_core *core, const struct vcx3_port *port,
		    const uint8_t *data, uint32_t len)
{
	uint32_t qpns[VCX3_MAX_TARGETS];
	struct targets targets = { .qpns = qpns };
	struct vcx3_headers headers;

	vcx3_parse(data, 0, len, &headers);
	walk(port->rules.by_mac[bucket_of(data)], NULL, data, &headers, true, &targets);
	return targets.count > 0;
}
