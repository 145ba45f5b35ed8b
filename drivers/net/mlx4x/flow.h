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

/* A hash and the queues that it spreads over: what rules point to. */
struct mlx4x_rss_conf {
	uint64_t fields;	/* IBV_RX_HASH_*, 0: all to the first queue */
	uint8_t key[MLX4X_RSS_KEY_SIZE];
	uint16_t first_queue;	/* multiple of nb_queues */
	uint16_t nb_queues;	/* power of two */
};

/* rss_types.c */
uint64_t mlx4x_rss_fields(uint64_t hf);
uint64_t mlx4x_rss_hf(uint64_t fields);
bool mlx4x_rss_is_exact(uint64_t hf);

#endif /* MLX4X_FLOW_H */
