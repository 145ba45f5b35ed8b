/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Basic statistics, from the counters of the queues. A reset keeps the counters,
 * which their lcores write, and remembers what to subtract.
 */

#include <string.h>

#include "stats.h"

static void
add_rxq(struct rte_eth_stats *stats, const struct mlx4x_rxq *rxq)
{
	uint64_t packets = rxq->stats.packets - rxq->stats_base.packets;
	uint64_t bytes = rxq->stats.bytes - rxq->stats_base.bytes;
	uint64_t errors = rxq->stats.cqe_errors - rxq->stats_base.cqe_errors +
		rxq->stats.bad_fcs - rxq->stats_base.bad_fcs;

	stats->ipackets += packets;
	stats->ibytes += bytes;
	stats->ierrors += errors;
	stats->rx_nombuf += rxq->stats.nombuf - rxq->stats_base.nombuf;
	if (rxq->idx < RTE_ETHDEV_QUEUE_STAT_CNTRS) {
		stats->q_ipackets[rxq->idx] = packets;
		stats->q_ibytes[rxq->idx] = bytes;
		stats->q_errors[rxq->idx] = errors;
	}
}

static void
add_txq(struct rte_eth_stats *stats, const struct mlx4x_txq *txq)
{
	uint64_t packets = txq->stats.packets - txq->stats_base.packets;
	uint64_t bytes = txq->stats.bytes - txq->stats_base.bytes;

	stats->opackets += packets;
	stats->obytes += bytes;
	stats->oerrors += txq->stats.cqe_errors - txq->stats_base.cqe_errors +
		txq->stats.malformed - txq->stats_base.malformed +
		txq->stats.no_lkey - txq->stats_base.no_lkey;
	if (txq->idx < RTE_ETHDEV_QUEUE_STAT_CNTRS) {
		stats->q_opackets[txq->idx] = packets;
		stats->q_obytes[txq->idx] = bytes;
	}
}

int
mlx4x_stats_get(struct rte_eth_dev *eth_dev, struct rte_eth_stats *stats)
{
	uint16_t i;

	for (i = 0; i < eth_dev->data->nb_rx_queues; i++) {
		if (eth_dev->data->rx_queues[i] != NULL)
			add_rxq(stats, eth_dev->data->rx_queues[i]);
	}
	for (i = 0; i < eth_dev->data->nb_tx_queues; i++) {
		if (eth_dev->data->tx_queues[i] != NULL)
			add_txq(stats, eth_dev->data->tx_queues[i]);
	}
	return 0;
}

int
mlx4x_stats_reset(struct rte_eth_dev *eth_dev)
{
	uint16_t i;

	for (i = 0; i < eth_dev->data->nb_rx_queues; i++) {
		struct mlx4x_rxq *rxq = eth_dev->data->rx_queues[i];

		if (rxq != NULL)
			rxq->stats_base = rxq->stats;
	}
	for (i = 0; i < eth_dev->data->nb_tx_queues; i++) {
		struct mlx4x_txq *txq = eth_dev->data->tx_queues[i];

		if (txq != NULL)
			txq->stats_base = txq->stats;
	}
	return 0;
}

void
mlx4x_rxq_stats_sum(const struct mlx4x_port *port, uint16_t queue, struct mlx4x_rxq_stats *sum)
{
	uint16_t i;

	memset(sum, 0, sizeof(*sum));
	for (i = 0; i < port->data->nb_rx_queues; i++) {
		const struct mlx4x_rxq *rxq = port->data->rx_queues[i];

		if (rxq == NULL || (queue != RTE_PMD_MLX4X_XDP_PORT && queue != i))
			continue;
#define ADD(field, name, what) sum->field += rxq->stats.field - rxq->stats_base.field;
		MLX4X_RXQ_COUNTERS(ADD)
#undef ADD
	}
}

static bool
is_first_user(const struct mlx4x_port *port, uint16_t queue)
{
	const struct mlx4x_rxq *rxq = port->data->rx_queues[queue];
	uint16_t i;

	for (i = 0; i < queue; i++) {
		const struct mlx4x_rxq *other = port->data->rx_queues[i];

		if (other != NULL && other->mp == rxq->mp)
			return false;
	}
	return true;
}

static void
add_pool(struct page_pool_stats *sum, const struct page_pool_stats *pool)
{
#define ADD(field, meaning) sum->field += pool->field;
	PAGE_POOL_STATS(ADD)
#undef ADD
}

void
mlx4x_page_pool_stats_sum(const struct mlx4x_port *port, struct page_pool_stats *sum)
{
	uint16_t i;

	memset(sum, 0, sizeof(*sum));
	for (i = 0; i < port->data->nb_rx_queues; i++) {
		const struct mlx4x_rxq *rxq = port->data->rx_queues[i];
		struct page_pool_stats pool;

		if (rxq == NULL || page_pool_stats_get(rxq->mp, &pool) != 0)
			continue;
		if (is_first_user(port, i))
			add_pool(sum, &pool);
		if (rxq->xdp != NULL)
			page_pool_cache_stats_add(&rxq->xdp->cache, sum);
	}
}
