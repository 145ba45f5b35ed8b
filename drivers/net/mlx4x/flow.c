/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * rte_flow: the life of an application's rules. A rule is in the device while the port
 * runs; a rule made before waits for the start, and a stopped port keeps its rules. They
 * are always applied in the order of their creation, because of two rules with the same
 * priority that take the same frame the device obeys the older one.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_flow_driver.h>

#include "mlx4x.h"

/* What a rule has in the device. All NULL while it has nothing. */
struct applied {
	struct ibv_flow *flow;
	struct mlx4x_rss *rss;	/* NULL: it drops */
};

struct rte_flow {
	TAILQ_ENTRY(rte_flow) next;
	struct mlx4x_flow_match match;
	struct mlx4x_flow_fate fate;
	struct applied applied;
	struct applied coming;	/* what replaces it, see mlx4x_flow_retarget_begin() */
};

/* Hash and queues of a rule, with what it takes over from the port. */
static void
resolve(const struct mlx4x_port *port, const struct mlx4x_flow_fate *fate,
	struct mlx4x_rss_conf *conf)
{
	memcpy(conf, &fate->rss, sizeof(*conf));
	if (!fate->own_key)
		memcpy(conf->key, port->rss_key, sizeof(conf->key));
	if (!fate->own_fields)
		conf->fields = port->default_fields;
}

/* A port may be configured anew with fewer queues than a rule was made for. */
static bool
has_queues(const struct mlx4x_port *port, const struct mlx4x_flow_fate *fate)
{
	uint32_t end = fate->rss.first_queue + fate->rss.nb_queues;

	if (end <= mlx4x_nb_device_rxqs(port))
		return true;
	MLX4X_LOG(port, WARNING, "a flow rule sends to Rx queue %u, but the port has %u now: the "
		"rule drops", end - 1, mlx4x_nb_device_rxqs(port));
	return false;
}

static struct ibv_qp *
get_target(struct mlx4x_port *port, const struct mlx4x_flow_fate *fate, struct mlx4x_rss **rss)
{
	struct mlx4x_rss_conf conf;

	*rss = NULL;
	if (fate->drop || !has_queues(port, fate))
		return mlx4x_drop_get(port);
	resolve(port, fate, &conf);
	*rss = mlx4x_rss_get(port, &conf);
	return *rss == NULL ? NULL : (*rss)->qp;
}

static void
put_target(struct mlx4x_port *port, struct mlx4x_rss *rss)
{
	if (rss != NULL)
		mlx4x_rss_put(port, rss);
	else
		mlx4x_drop_put(port);
}

/* Puts a rule into the device. */
static int
apply(struct mlx4x_port *port, struct rte_flow *flow, struct applied *applied)
{
	struct ibv_qp *qp;
	int ret;

	errno = ENOMEM;
	qp = get_target(port, &flow->fate, &applied->rss);
	if (qp == NULL)
		return -errno;
	flow->match.attr.port = port->number;
	applied->flow = ibv_create_flow(qp, &flow->match.attr);
	if (applied->flow != NULL)
		return 0;
	ret = -errno;
	MLX4X_LOG(port, ERR, "the device refuses a flow rule: %s", strerror(-ret));
	put_target(port, applied->rss);
	applied->rss = NULL;
	return ret;
}

static void
withdraw(struct mlx4x_port *port, struct applied *applied)
{
	if (applied->flow == NULL)
		return;
	ibv_destroy_flow(applied->flow);
	put_target(port, applied->rss);
	memset(applied, 0, sizeof(*applied));
}

/* Puts all rules into the device when the port starts; all or none. */
int
mlx4x_flow_start(struct mlx4x_port *port)
{
	struct rte_flow *flow;
	int ret;

	TAILQ_FOREACH(flow, &port->flows, next) {
		ret = apply(port, flow, &flow->applied);
		if (ret != 0) {
			mlx4x_flow_stop(port);
			return ret;
		}
	}
	return 0;
}

void
mlx4x_flow_stop(struct mlx4x_port *port)
{
	struct rte_flow *flow;

	TAILQ_FOREACH_REVERSE(flow, &port->flows, mlx4x_flow_list, next)
		withdraw(port, &flow->applied);
}

/*
 * A new hash of the port changes what its rules point to. Each gets a second rule that
 * stands behind all old ones; mlx4x_flow_retarget_end() removes the second ones, or the
 * first ones, youngest first: at no time a frame meets another rule than before.
 */
int
mlx4x_flow_retarget_begin(struct mlx4x_port *port)
{
	struct rte_flow *flow;
	int ret;

	TAILQ_FOREACH(flow, &port->flows, next) {
		ret = apply(port, flow, &flow->coming);
		if (ret != 0) {
			mlx4x_flow_retarget_end(port, false);
			return ret;
		}
	}
	return 0;
}

void
mlx4x_flow_retarget_end(struct mlx4x_port *port, bool commit)
{
	struct rte_flow *flow;

	TAILQ_FOREACH_REVERSE(flow, &port->flows, mlx4x_flow_list, next) {
		if (commit) {
			withdraw(port, &flow->applied);
			flow->applied = flow->coming;
			memset(&flow->coming, 0, sizeof(flow->coming));
		} else {
			withdraw(port, &flow->coming);
		}
	}
}

static struct rte_flow *
find_same(const struct mlx4x_port *port, const struct mlx4x_flow_match *match)
{
	struct rte_flow *flow;

	TAILQ_FOREACH(flow, &port->flows, next) {
		if (memcmp(&flow->match, match, sizeof(*match)) == 0)
			return flow;
	}
	return NULL;
}

/* Translates and checks a rule, without a trace. */
static int
prepare(const struct mlx4x_port *port, struct rte_flow *flow, const struct rte_flow_attr *attr,
	const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	struct rte_flow_error *error)
{
	const struct mlx4x_flow_limits limits = {
		.nb_rx_queues = mlx4x_nb_device_rxqs(port),
		.max_rss_queues = port->dev->caps.max_rss_queues,
		.rss_fields = port->dev->caps.rss_fields,
	};
	int ret;

	memset(flow, 0, sizeof(*flow));
	ret = mlx4x_flow_match_parse(&flow->match, attr, pattern, error);
	if (ret == 0)
		ret = mlx4x_flow_fate_parse(&flow->fate, &limits, actions, error);
	if (ret != 0)
		return ret;
	flow->match.attr.port = port->number;
	if (find_same(port, &flow->match) == NULL)
		return 0;
	return rte_flow_error_set(error, EEXIST, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
		"the port has a rule with this pattern and priority already");
}

static int
flow_validate(struct rte_eth_dev *eth_dev, const struct rte_flow_attr *attr,
	const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	struct rte_flow_error *error)
{
	struct mlx4x_port *port = mlx4x_port_of(eth_dev);
	struct rte_flow flow;
	int ret;

	mlx4x_lock(port->dev);
	ret = prepare(port, &flow, attr, pattern, actions, error);
	mlx4x_unlock(port->dev);
	return ret;
}

static struct rte_flow *
create_locked(struct mlx4x_port *port, const struct rte_flow *wanted, struct rte_flow_error *error)
{
	struct rte_flow *flow = malloc(sizeof(*flow));
	int ret = 0;

	if (flow == NULL) {
		rte_flow_error_set(error, ENOMEM, RTE_FLOW_ERROR_TYPE_HANDLE, NULL,
			"no memory for the rule");
		return NULL;
	}
	*flow = *wanted;
	if (port->started)
		ret = apply(port, flow, &flow->applied);
	if (ret != 0) {
		free(flow);
		rte_flow_error_set(error, -ret, RTE_FLOW_ERROR_TYPE_HANDLE, NULL,
			"the device refuses the rule: it has no room, or a virtual function may not "
			"have it");
		return NULL;
	}
	TAILQ_INSERT_TAIL(&port->flows, flow, next);
	return flow;
}

static struct rte_flow *
flow_create(struct rte_eth_dev *eth_dev, const struct rte_flow_attr *attr,
	const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	struct rte_flow_error *error)
{
	struct mlx4x_port *port = mlx4x_port_of(eth_dev);
	struct rte_flow wanted, *flow = NULL;

	mlx4x_lock(port->dev);
	if (prepare(port, &wanted, attr, pattern, actions, error) == 0)
		flow = create_locked(port, &wanted, error);
	mlx4x_unlock(port->dev);
	return flow;
}

static void
destroy_locked(struct mlx4x_port *port, struct rte_flow *flow)
{
	withdraw(port, &flow->applied);
	TAILQ_REMOVE(&port->flows, flow, next);
	free(flow);
}

static int
flow_destroy(struct rte_eth_dev *eth_dev, struct rte_flow *flow, struct rte_flow_error *error)
{
	struct mlx4x_port *port = mlx4x_port_of(eth_dev);
	struct rte_flow *other;

	mlx4x_lock(port->dev);
	TAILQ_FOREACH(other, &port->flows, next) {
		if (other == flow)
			break;
	}
	if (other != NULL)
		destroy_locked(port, flow);
	mlx4x_unlock(port->dev);
	return other != NULL ? 0 : rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_HANDLE,
		flow, "the port has no such rule");
}

/* Youngest first: no frame meets an older rule that was hidden. */
void
mlx4x_flow_fini(struct mlx4x_port *port)
{
	struct rte_flow *flow;

	while ((flow = TAILQ_LAST(&port->flows, mlx4x_flow_list)) != NULL)
		destroy_locked(port, flow);
}

static int
flow_flush(struct rte_eth_dev *eth_dev, struct rte_flow_error *error)
{
	struct mlx4x_port *port = mlx4x_port_of(eth_dev);

	mlx4x_lock(port->dev);
	mlx4x_flow_fini(port);
	mlx4x_unlock(port->dev);
	return 0;
}

/* In isolated mode the port takes what the application's rules say, nothing else. */
static int
flow_isolate(struct rte_eth_dev *eth_dev, int enable, struct rte_flow_error *error)
{
	struct mlx4x_port *port = mlx4x_port_of(eth_dev);
	bool old = port->isolated;
	int ret;

	mlx4x_lock(port->dev);
	port->isolated = enable;
	ret = mlx4x_steer_update(port);
	if (ret != 0)
		port->isolated = old;
	mlx4x_unlock(port->dev);
	return ret == 0 ? 0 : rte_flow_error_set(error, -ret, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
		"the device refuses the rules of the MAC table: the port stays isolated");
}

static const struct rte_flow_ops flow_ops = {
	.validate = flow_validate,
	.create = flow_create,
	.destroy = flow_destroy,
	.flush = flow_flush,
	.isolate = flow_isolate,
};

int
mlx4x_flow_ops_get(struct rte_eth_dev *eth_dev, const struct rte_flow_ops **ops)
{
	*ops = &flow_ops;
	return 0;
}
