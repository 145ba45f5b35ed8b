/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * /mlx4x/xdp/load, unload, status, stats, features, trace.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <rte_cycles.h>

#include "stats.h"
#include "xdp_tel.h"

/* Events in one answer. */
#define TRACE_PAGE 32u

/* The actions after which the next program runs. */
static void
add_actions(struct rte_tel_data *dict, uint32_t actions)
{
	static const char *const names[] = {
		[XDP_ABORTED] = "XDP_ABORTED", [XDP_DROP] = "XDP_DROP", [XDP_PASS] = "XDP_PASS",
		[XDP_TX] = "XDP_TX", [XDP_REDIRECT] = "XDP_REDIRECT",
	};
	char text[RTE_TEL_MAX_STRING_LEN] = "";
	size_t used = 0;
	unsigned int i;

	for (i = 0; i < RTE_DIM(names); i++) {
		if (actions & 1u << i)
			used += snprintf(text + used, sizeof(text) - used, "%s%s",
				used != 0 ? "," : "", names[i]);
	}
	rte_tel_data_add_dict_string(dict, "actions", text);
}

static void
add_link(struct rte_tel_data *dict, const struct mlx4x_xdp_link *link)
{
	uint8_t tag[XDPVM_TAG_SIZE];

	xdpvm_prog_tag(link->prog, tag);
	rte_tel_data_add_dict_u64(dict, "id", link->id);
	rte_tel_data_add_dict_string(dict, "name", xdpvm_prog_name(link->prog));
	rte_tel_data_add_dict_u64(dict, "prio", link->config.priority);
	add_actions(dict, link->config.chain_call_actions);
	mlx4x_tel_add_hex(dict, "tag", tag, sizeof(tag));
	rte_tel_data_add_dict_string(dict, "verify", mlx4x_xdp_verify_name(link->verify));
	mlx4x_tel_add_text(dict, "path", link->path);
}

/* In place of what a single program has to say. */
static void
add_chain(struct rte_tel_data *dict, const struct mlx4x_xdp_prog *prog)
{
	struct rte_tel_data *inner;
	unsigned int i;
	char name[24];

	for (i = 0; i < prog->nb_links; i++) {
		snprintf(name, sizeof(name), "chain_%u", i);
		inner = mlx4x_tel_add_dict(dict, name);
		if (inner != NULL)
			add_link(inner, prog->links[i]);
	}
}

static void
add_program(struct rte_tel_data *dict, const struct mlx4x_xdp_prog *prog, uint16_t queue)
{
	uint8_t tag[XDPVM_TAG_SIZE];

	rte_tel_data_add_dict_uint(dict, "id", prog->id);
	if (queue != RTE_PMD_MLX4X_XDP_PORT)
		rte_tel_data_add_dict_int(dict, "queue", queue);
	rte_tel_data_add_dict_string(dict, "name", prog->name);
	rte_tel_data_add_dict_string(dict, "mode", "native");
	rte_tel_data_add_dict_string(dict, "kind", prog->prog != NULL ? "object" : "hook");
	if (prog->prog == NULL)
		return;
	if (prog->chain != NULL) {
		add_chain(dict, prog);
		return;
	}
	xdpvm_prog_tag(prog->prog, tag);
	mlx4x_tel_add_hex(dict, "tag", tag, sizeof(tag));
	rte_tel_data_add_dict_string(dict, "section", xdpvm_prog_section(prog->prog));
	rte_tel_data_add_dict_string(dict, "engine",
		xdpvm_prog_entry(prog->prog) != NULL ? "jit" : "interpreter");
	if (prog->nb_links == 0)
		return;
	rte_tel_data_add_dict_string(dict, "verify", mlx4x_xdp_verify_name(prog->links[0]->verify));
	mlx4x_tel_add_text(dict, "path", prog->links[0]->path);
}

static int
load(const struct mlx4x_tel_request *request, struct rte_tel_data *dict)
{
	struct rte_pmd_mlx4x_xdp_options options = {
		.section = request->value[MLX4X_TEL_SEC],
		.function = request->value[MLX4X_TEL_FUNC],
		.pin_dir = request->value[MLX4X_TEL_PIN],
	};
	const char *verify = request->value[MLX4X_TEL_VERIFY];
	uint64_t replace, append = 0, priority = 0;
	int ret = mlx4x_tel_number(request, MLX4X_TEL_REPLACE, 0, 1, &replace);

	if (ret == 0)
		ret = mlx4x_tel_number(request, MLX4X_TEL_APPEND, 0, 1, &append);
	if (ret == 0)
		ret = mlx4x_tel_number(request, MLX4X_TEL_PRIO, 0, INT32_MAX, &priority);
	options.replace = replace;
	options.append = append;
	options.priority = priority;
	if (ret == 0 && verify != NULL && mlx4x_xdp_verify_parse(verify, &options.verify) != 0)
		ret = mlx4x_xdp_refuse(NULL, EINVAL, "verify=%s: one of auto, kernel, internal, "
			"cached, none", verify);
	if (ret != 0)
		return ret;
	ret = rte_pmd_mlx4x_xdp_load(request->port->data->port_id, request->queue,
		request->value[MLX4X_TEL_PATH], &options);
	if (ret < 0)
		return ret;
	rte_tel_data_add_dict_int(dict, "port", request->port->data->port_id);
	rte_tel_data_add_dict_int(dict, "id", ret);
	return 0;
}

static int
unload(const struct mlx4x_tel_request *request, struct rte_tel_data *dict)
{
	uint64_t id;
	int ret = mlx4x_tel_number(request, MLX4X_TEL_ID, 0, UINT32_MAX, &id);

	if (ret == 0)
		ret = mlx4x_xdp_detach(request->port, request->queue, id);
	if (ret == 0)
		rte_tel_data_add_dict_int(dict, "port", request->port->data->port_id);
	return ret;
}

static void
add_port(struct rte_tel_data *dict, const struct mlx4x_port *port)
{
	rte_tel_data_add_dict_int(dict, "port", port->data->port_id);
	rte_tel_data_add_dict_string(dict, "name", port->data->name);
	rte_tel_data_add_dict_int(dict, "ifindex", port->if_index);
	rte_tel_data_add_dict_int(dict, "started", port->started);
	rte_tel_data_add_dict_int(dict, "queues", port->data->nb_rx_queues);
	rte_tel_data_add_dict_int(dict, "mtu", port->data->mtu);
}

/* Without port=: which ports there are. */
static int
list_ports(struct rte_tel_data *dict)
{
	uint16_t port_id;
	char name[16];

	RTE_ETH_FOREACH_DEV(port_id) {
		struct rte_tel_data *inner;

		if (rte_eth_devices[port_id].dev_ops != &mlx4x_ops)
			continue;
		snprintf(name, sizeof(name), "port_%u", port_id);
		inner = mlx4x_tel_add_dict(dict, name);
		if (inner != NULL)
			add_port(inner, mlx4x_port_of(&rte_eth_devices[port_id]));
	}
	return 0;
}

static void
add_programs(struct rte_tel_data *dict, const struct mlx4x_port *port)
{
	struct rte_tel_data *inner;
	char name[16];
	uint16_t i;

	if (port->xdp->prog != NULL) {
		inner = mlx4x_tel_add_dict(dict, "program");
		if (inner != NULL)
			add_program(inner, port->xdp->prog, RTE_PMD_MLX4X_XDP_PORT);
	}
	for (i = 0; i < port->data->nb_rx_queues; i++) {
		if (port->xdp->queue_prog[i] == NULL)
			continue;
		snprintf(name, sizeof(name), "program_%u", i);
		inner = mlx4x_tel_add_dict(dict, name);
		if (inner != NULL)
			add_program(inner, port->xdp->queue_prog[i], i);
	}
}

static int
status(const struct mlx4x_tel_request *request, struct rte_tel_data *dict)
{
	const struct mlx4x_port *port = request->port;

	if (port == NULL)
		return list_ports(dict);
	mlx4x_lock(port->dev);
	add_port(dict, port);
	if (port->data->nb_rx_queues != 0 && port->data->rx_queues[0] != NULL)
		rte_tel_data_add_dict_int(dict, "mtu_max",
			mlx4x_xdp_mtu_max(port->data->rx_queues[0]));
	add_programs(dict, port);
	mlx4x_unlock(port->dev);
	return 0;
}

static uint64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * UINT64_C(1000000000) + ts.tv_nsec;
}

static int
stats(const struct mlx4x_tel_request *request, struct rte_tel_data *dict)
{
	struct mlx4x_port *port = request->port;
	struct page_pool_stats pool = { 0 };
	struct mlx4x_rxq_stats sum;
	uint64_t value;
	unsigned int i;

	mlx4x_lock(port->dev);
	mlx4x_rxq_stats_sum(port, request->queue, &sum);
	if (request->queue == RTE_PMD_MLX4X_XDP_PORT)
		mlx4x_page_pool_stats_sum(port, &pool);
	mlx4x_unlock(port->dev);
	rte_tel_data_add_dict_int(dict, "port", port->data->port_id);
	rte_tel_data_add_dict_int(dict, "queues", port->data->nb_rx_queues);
	rte_tel_data_add_dict_uint(dict, "time_ns", now_ns());
#define ADD(field, name, what) rte_tel_data_add_dict_uint(dict, "rx_" name, sum.field);
	MLX4X_RXQ_COUNTERS(ADD)
#undef ADD
	for (i = 0; request->queue == RTE_PMD_MLX4X_XDP_PORT && i < PAGE_POOL_NB_STATS; i++) {
		char name[64];

		snprintf(name, sizeof(name), "rx_pp_%s", page_pool_stats_name(i));
		memcpy(&value, (const uint64_t *)&pool + i, sizeof(value));
		rte_tel_data_add_dict_uint(dict, name, value);
	}
	return 0;
}

/* The names of Linux (netdev.yaml, xdp-act), 1 for what is there. */
static int
features(const struct mlx4x_tel_request *request, struct rte_tel_data *dict)
{
	rte_tel_data_add_dict_int(dict, "port", request->port->data->port_id);
	rte_tel_data_add_dict_int(dict, "NETDEV_XDP_ACT_BASIC", 1);
	rte_tel_data_add_dict_int(dict, "NETDEV_XDP_ACT_REDIRECT", 1);
	rte_tel_data_add_dict_int(dict, "NETDEV_XDP_ACT_NDO_XMIT", 1);
	rte_tel_data_add_dict_int(dict, "NETDEV_XDP_ACT_XSK_ZEROCOPY", 0);
	rte_tel_data_add_dict_int(dict, "NETDEV_XDP_ACT_HW_OFFLOAD", 0);
	rte_tel_data_add_dict_int(dict, "NETDEV_XDP_ACT_RX_SG", 0);
	rte_tel_data_add_dict_int(dict, "NETDEV_XDP_ACT_NDO_XMIT_SG", 0);
	rte_tel_data_add_dict_int(dict, "headroom", MLX4X_XDP_HEADROOM);
	return 0;
}

static void
add_event(struct rte_tel_data *dict, const struct mlx4x_xdp_event *event)
{
	uint64_t age_ns = (rte_rdtsc() - event->tsc) * 1e9 / rte_get_tsc_hz();

	rte_tel_data_add_dict_uint(dict, "number", event->number);
	rte_tel_data_add_dict_uint(dict, "age_ns", age_ns);
	rte_tel_data_add_dict_int(dict, "queue", event->queue);
	rte_tel_data_add_dict_uint(dict, "id", event->prog_id);
	rte_tel_data_add_dict_uint(dict, "action", event->action);
	rte_tel_data_add_dict_uint(dict, "len", event->len);
	mlx4x_tel_add_hex(dict, "bytes", event->bytes,
		RTE_MIN(event->len, MLX4X_XDP_EVENT_BYTES));
}

static int
trace(const struct mlx4x_tel_request *request, struct rte_tel_data *dict)
{
	const struct mlx4x_xdp_events *events = &request->port->xdp->events;
	uint64_t nb = mlx4x_load_acquire(&events->nb), since, number, lost = 0;
	uint64_t oldest = nb > MLX4X_XDP_EVENTS ? nb - MLX4X_XDP_EVENTS : 0;
	int ret = mlx4x_tel_number(request, MLX4X_TEL_SINCE, oldest, UINT64_MAX, &since);
	unsigned int found;

	if (ret != 0)
		return ret;
	if (since < oldest) {
		lost = oldest - since;
		since = oldest;
	}
	for (number = since + 1, found = 0; number <= nb && found < TRACE_PAGE; number++) {
		struct mlx4x_xdp_event event;
		struct rte_tel_data *inner;
		char name[24];

		if (!mlx4x_xdp_event_get(events, number, &event)) {
			lost++;
			continue;
		}
		snprintf(name, sizeof(name), "event_%u", found++);
		inner = mlx4x_tel_add_dict(dict, name);
		if (inner != NULL)
			add_event(inner, &event);
	}
	rte_tel_data_add_dict_int(dict, "events", found);
	rte_tel_data_add_dict_uint(dict, "lost", lost);
	rte_tel_data_add_dict_uint(dict, "next", number - 1);
	return 0;
}

#define BIT MLX4X_TEL_BIT

static const struct mlx4x_tel_command commands[] = {
	{ "/mlx4x/xdp/load", "port=N,path=FILE[,queue=N][,sec=NAME][,func=NAME][,verify=MODE]"
		"[,pin=DIR][,replace=1|append=1][,prio=N]", BIT(PORT) | BIT(PATH), BIT(QUEUE) |
		BIT(SEC) | BIT(FUNC) | BIT(VERIFY) | BIT(PIN) | BIT(REPLACE) | BIT(APPEND) |
		BIT(PRIO), load },
	{ "/mlx4x/xdp/unload", "port=N[,queue=N][,id=N]", BIT(PORT), BIT(QUEUE) | BIT(ID),
		unload },
	{ "/mlx4x/xdp/status", "[port=N]", 0, BIT(PORT), status },
	{ "/mlx4x/xdp/stats", "port=N[,queue=N]", BIT(PORT), BIT(QUEUE), stats },
	{ "/mlx4x/xdp/features", "port=N", BIT(PORT), 0, features },
	{ "/mlx4x/xdp/trace", "port=N[,since=NUMBER]", BIT(PORT), BIT(SINCE), trace },
};

RTE_INIT(mlx4x_register_xdp_commands)
{
	mlx4x_tel_register(commands, RTE_DIM(commands));
}
