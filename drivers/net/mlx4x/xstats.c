/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Extended statistics: every counter of the lists in mlx4x.h, first summed over the
 * queues of the port ("rx_xdp_drop"), then of each queue ("rx_q0_xdp_drop"), then those
 * of the page pools behind the receive queues ("rx_pp_alloc_fast") and of the whole port
 * ("rx_phy_packets").
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "phy_stats.h"
#include "stats.h"

#define COUNTER_NAME(field, name, what) name,
static const char *const rx_names[] = { MLX4X_RXQ_COUNTERS(COUNTER_NAME) };
static const char *const tx_names[] = { MLX4X_TXQ_COUNTERS(COUNTER_NAME) };

static_assert(sizeof(struct mlx4x_rxq_stats) == RTE_DIM(rx_names) * sizeof(uint64_t),
	"a receive queue's counters are an array");
static_assert(sizeof(struct mlx4x_txq_stats) == RTE_DIM(tx_names) * sizeof(uint64_t),
	"a send queue's counters are an array");

static unsigned int
count(const struct mlx4x_port *port)
{
	return (1 + port->data->nb_rx_queues) * RTE_DIM(rx_names) +
		(1 + port->data->nb_tx_queues) * RTE_DIM(tx_names) + PAGE_POOL_NB_STATS +
		mlx4x_phy_stats_count(port);
}

static struct rte_eth_xstat_name *
name_queues(struct rte_eth_xstat_name *out, const char *way, uint16_t nb_queues,
	const char *const *names, unsigned int nb)
{
	unsigned int queue, i;

	for (i = 0; i < nb; i++)
		snprintf((out++)->name, sizeof(out->name), "%s_%s", way, names[i]);
	for (queue = 0; queue < nb_queues; queue++) {
		for (i = 0; i < nb; i++)
			snprintf((out++)->name, sizeof(out->name), "%s_q%u_%s", way, queue,
				names[i]);
	}
	return out;
}

int
mlx4x_xstats_get_names(struct rte_eth_dev *eth_dev, struct rte_eth_xstat_name *names,
	unsigned int size)
{
	const struct rte_eth_dev_data *data = eth_dev->data;
	const struct mlx4x_port *port = mlx4x_port_of(eth_dev);
	unsigned int i;

	if (names == NULL || size < count(port))
		return count(port);
	names = name_queues(names, "rx", data->nb_rx_queues, rx_names, RTE_DIM(rx_names));
	names = name_queues(names, "tx", data->nb_tx_queues, tx_names, RTE_DIM(tx_names));
	for (i = 0; i < PAGE_POOL_NB_STATS; i++)
		snprintf((names++)->name, sizeof(names->name), "rx_pp_%s", page_pool_stats_name(i));
	for (i = 0; i < mlx4x_phy_stats_count(port); i++)
		mlx4x_phy_stats_name(port, i, (names++)->name, sizeof(names->name));
	return count(port);
}

/* Appends the counters of one queue, and adds them to those of the port. */
static uint64_t *
append(uint64_t *out, uint64_t *sum, const void *stats, const void *base, unsigned int nb)
{
	const uint64_t *value = stats, *subtract = base;
	unsigned int i;

	for (i = 0; i < nb; i++) {
		out[i] = value[i] - subtract[i];
		sum[i] += out[i];
	}
	return out + nb;
}

static void
read_all(const struct mlx4x_port *port, uint64_t *out)
{
	const struct rte_eth_dev_data *data = port->data;
	struct page_pool_stats pool;
	uint64_t *sum = out;
	uint16_t i;

	out += RTE_DIM(rx_names);
	for (i = 0; i < data->nb_rx_queues; i++) {
		const struct mlx4x_rxq *rxq = data->rx_queues[i];

		if (rxq == NULL)
			out += RTE_DIM(rx_names);
		else
			out = append(out, sum, &rxq->stats, &rxq->stats_base, RTE_DIM(rx_names));
	}
	sum = out;
	out += RTE_DIM(tx_names);
	for (i = 0; i < data->nb_tx_queues; i++) {
		const struct mlx4x_txq *txq = data->tx_queues[i];

		if (txq == NULL)
			out += RTE_DIM(tx_names);
		else
			out = append(out, sum, &txq->stats, &txq->stats_base, RTE_DIM(tx_names));
	}
	mlx4x_page_pool_stats_sum(port, &pool);
	memcpy(out, &pool, sizeof(pool));
	mlx4x_phy_stats_read(port, out + PAGE_POOL_NB_STATS);
}

int
mlx4x_xstats_get(struct rte_eth_dev *eth_dev, struct rte_eth_xstat *xstats, unsigned int size)
{
	const struct mlx4x_port *port = mlx4x_port_of(eth_dev);
	unsigned int nb = count(port), i;
	bool primary = rte_eal_process_type() == RTE_PROC_PRIMARY;
	uint64_t *values;

	if (xstats == NULL || size < nb)
		return nb;
	values = calloc(nb, sizeof(values[0]));
	if (values == NULL)
		return -ENOMEM;
	if (primary)	/* the lock is of no use between processes */
		mlx4x_lock(port->dev);
	read_all(port, values);
	if (primary)
		mlx4x_unlock(port->dev);
	for (i = 0; i < nb; i++)
		xstats[i] = (struct rte_eth_xstat){ .id = i, .value = values[i] };
	free(values);
	return nb;
}

int
mlx4x_xstats_reset(struct rte_eth_dev *eth_dev)
{
	const struct mlx4x_port *port = mlx4x_port_of(eth_dev);

	mlx4x_lock(port->dev);
	mlx4x_phy_stats_reset(port);
	mlx4x_unlock(port->dev);
	return mlx4x_stats_reset(eth_dev);
}
