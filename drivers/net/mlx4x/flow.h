/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A rule of rte_flow between its two forms: what the application wrote (pattern and
 * actions) is translated into a match and a fate, without touching the device. A rule
 * is translated exactly or refused with a sentence; never approximately.
 */

#ifndef MLX4X_FLOW_H
#define MLX4X_FLOW_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include <rte_flow.h>

#include "prm.h"

/* The last number that verbs take; the rules of steer.c have it. */
#define MLX4X_STEER_PRIORITY 0xfff
#define MLX4X_FLOW_MAX_PRIORITY (MLX4X_STEER_PRIORITY - 1)
static_assert(MLX4X_FLOW_MAX_PRIORITY == 4094, "flow_items.c says this number");

/* What ibv_create_flow() reads: as many of the specs as the attribute says. */
struct mlx4x_flow_match {
	struct ibv_flow_attr attr;
	struct ibv_flow_spec_eth eth;
	struct ibv_flow_spec_ipv4 ipv4;
	struct ibv_flow_spec_tcp_udp l4;
};
static_assert(offsetof(struct mlx4x_flow_match, eth) == sizeof(struct ibv_flow_attr) &&
	offsetof(struct mlx4x_flow_match, ipv4) == offsetof(struct mlx4x_flow_match, eth) +
	sizeof(struct ibv_flow_spec_eth) &&
	offsetof(struct mlx4x_flow_match, l4) == offsetof(struct mlx4x_flow_match, ipv4) +
	sizeof(struct ibv_flow_spec_ipv4), "specs follow each other without a gap");

/* A hash and the queues that it spreads over: what rules point to. */
struct mlx4x_rss_conf {
	uint64_t fields;	/* IBV_RX_HASH_*, 0: all to the first queue */
	uint8_t key[MLX4X_RSS_KEY_SIZE];
	uint16_t first_queue;	/* multiple of nb_queues */
	uint16_t nb_queues;	/* power of two */
};

/* What happens to frames that match. */
struct mlx4x_flow_fate {
	bool drop;
	bool own_key;		/* else that of the port, whatever it will be */
	bool own_fields;
	struct mlx4x_rss_conf rss;
};

/* What a fate may ask for. */
struct mlx4x_flow_limits {
	uint16_t nb_rx_queues;
	uint32_t max_rss_queues;
	uint64_t rss_fields;
};

/* flow_items.c */
int mlx4x_flow_match_parse(struct mlx4x_flow_match *match, const struct rte_flow_attr *attr,
	const struct rte_flow_item *pattern, struct rte_flow_error *error);

/* flow_actions.c */
int mlx4x_flow_fate_parse(struct mlx4x_flow_fate *fate, const struct mlx4x_flow_limits *limits,
	const struct rte_flow_action *actions, struct rte_flow_error *error);

/* rss_types.c */
uint64_t mlx4x_rss_fields(uint64_t hf);
uint64_t mlx4x_rss_hf(uint64_t fields);
bool mlx4x_rss_is_exact(uint64_t hf);

#endif /* MLX4X_FLOW_H */
