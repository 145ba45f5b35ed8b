/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Actions of rte_flow: exactly one of queue, rss and drop. What the device calls RSS
 * needs an aligned power of two of queues that follow each other.
 */

#include <errno.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ethdev.h>
#include <rte_flow.h>
#include <rte_flow_driver.h>

#include "flow.h"

static int
refuse(struct rte_flow_error *error, int error_code, const void *conf, const char *sentence)
{
	return rte_flow_error_set(error, error_code, RTE_FLOW_ERROR_TYPE_ACTION_CONF, conf, sentence);
}

static int
parse_queue(struct mlx4x_flow_fate *fate, const struct mlx4x_flow_limits *limits,
	const struct rte_flow_action_queue *queue, struct rte_flow_error *error)
{
	if (queue == NULL || queue->index >= limits->nb_rx_queues)
		return refuse(error, EINVAL, queue, "the queue is not one of the port's Rx queues");
	fate->rss.first_queue = queue->index;
	fate->rss.nb_queues = 1;
	return 0;
}

static int
parse_queues(struct mlx4x_flow_fate *fate, const struct mlx4x_flow_limits *limits,
	const struct rte_flow_action_rss *rss, struct rte_flow_error *error)
{
	uint32_t i;

	if (rss->queue_num == 0 || rss->queue == NULL)
		return refuse(error, EINVAL, rss, "an rss action names at least one Rx queue");
	for (i = 0; i < rss->queue_num; i++) {
		if (rss->queue[i] >= limits->nb_rx_queues)
			return refuse(error, EINVAL, rss,
				"a queue of the rss action is not one of the port's Rx queues");
		if (rss->queue[i] != rss->queue[0] + i)
			return refuse(error, ENOTSUP, rss,
				"the queues of an rss action must follow each other, as 4 5 6 7");
	}
	if (!rte_is_power_of_2(rss->queue_num) || rss->queue_num > limits->max_rss_queues)
		return refuse(error, ENOTSUP, rss,
			"the device spreads over a power of two of queues, as 2, 4 or 8");
	if (rss->queue[0] % rss->queue_num != 0)
		return refuse(error, ENOTSUP, rss,
			"the first queue of an rss action must be a multiple of their number");
	fate->rss.first_queue = rss->queue[0];
	fate->rss.nb_queues = rss->queue_num;
	return 0;
}

static int
parse_key(struct mlx4x_flow_fate *fate, const struct rte_flow_action_rss *rss,
	struct rte_flow_error *error)
{
	if (rss->key_len != 0 && rss->key_len != MLX4X_RSS_KEY_SIZE)
		return refuse(error, ENOTSUP, rss, "an RSS key has 40 bytes");
	fate->own_key = rss->key != NULL && rss->key_len != 0;
	if (fate->own_key)
		memcpy(fate->rss.key, rss->key, MLX4X_RSS_KEY_SIZE);
	return 0;
}

static int
parse_types(struct mlx4x_flow_fate *fate, const struct mlx4x_flow_limits *limits,
	const struct rte_flow_action_rss *rss, struct rte_flow_error *error)
{
	uint64_t fields = mlx4x_rss_fields(rss->types);

	if (rss->types & ~mlx4x_rss_hf(limits->rss_fields))
		return refuse(error, ENOTSUP, rss,
			"the device hashes IPv4 and IPv6 addresses and TCP and UDP ports, whole");
	if (!mlx4x_rss_is_exact(rss->types))
		return refuse(error, ENOTSUP, rss,
			"the device hashes TCP or UDP ports for IPv4 and IPv6 alike: these types ask "
			"for one of them only");
	fate->own_fields = rss->types != 0;
	fate->rss.fields = fields;
	return 0;
}

static int
parse_rss(struct mlx4x_flow_fate *fate, const struct mlx4x_flow_limits *limits,
	const struct rte_flow_action_rss *rss, struct rte_flow_error *error)
{
	int ret;

	if (rss == NULL)
		return refuse(error, EINVAL, rss, "an rss action needs its configuration");
	if (rss->func != RTE_ETH_HASH_FUNCTION_DEFAULT &&
	    rss->func != RTE_ETH_HASH_FUNCTION_TOEPLITZ)
		return refuse(error, ENOTSUP, rss, "the hash function is Toeplitz, no other");
	if (rss->level > 1)
		return refuse(error, ENOTSUP, rss,
			"the hash covers the outermost headers: RSS levels are 0 and 1");
	ret = parse_queues(fate, limits, rss, error);
	if (ret == 0)
		ret = parse_key(fate, rss, error);
	return ret == 0 ? parse_types(fate, limits, rss, error) : ret;
}

static int
parse_action(struct mlx4x_flow_fate *fate, const struct mlx4x_flow_limits *limits,
	const struct rte_flow_action *action, struct rte_flow_error *error)
{
	switch (action->type) {
	case RTE_FLOW_ACTION_TYPE_DROP:
		fate->drop = true;
		return 0;
	case RTE_FLOW_ACTION_TYPE_QUEUE:
		return parse_queue(fate, limits, action->conf, error);
	case RTE_FLOW_ACTION_TYPE_RSS:
		return parse_rss(fate, limits, action->conf, error);
	default:
		return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, action,
			"this action is not possible: the device queues, spreads (rss) or drops, and "
			"neither marks, counts nor changes frames");
	}
}

int
mlx4x_flow_fate_parse(struct mlx4x_flow_fate *fate, const struct mlx4x_flow_limits *limits,
	const struct rte_flow_action *actions, struct rte_flow_error *error)
{
	unsigned int nb_fates = 0;
	int ret;

	memset(fate, 0, sizeof(*fate));
	for (; actions->type != RTE_FLOW_ACTION_TYPE_END; actions++) {
		if (actions->type == RTE_FLOW_ACTION_TYPE_VOID)
			continue;
		ret = parse_action(fate, limits, actions, error);
		if (ret != 0)
			return ret;
		if (++nb_fates > 1)
			break;
	}
	if (nb_fates == 1)
		return 0;
	return rte_flow_error_set(error, nb_fates == 0 ? EINVAL : ENOTSUP,
		RTE_FLOW_ERROR_TYPE_ACTION, actions,
		"a rule has exactly one of the actions queue, rss and drop");
}
