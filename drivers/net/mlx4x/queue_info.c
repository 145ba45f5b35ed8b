/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a queue was set up with, and which burst functions serve it.
 */

#include <stdio.h>

#include "mlx4x.h"
#include "queue_status.h"

const char *
mlx4x_queue_state_name(uint8_t state)
{
	static const char *const names[] = {
		[MLX4X_QUEUE_RUNNING] = "running",
		[MLX4X_QUEUE_BROKEN] = "broken",
		[MLX4X_QUEUE_STOPPED] = "stopped",
	};

	return state < RTE_DIM(names) ? names[state] : "unknown";
}

void
mlx4x_rxq_info_get(struct rte_eth_dev *eth_dev, uint16_t idx, struct rte_eth_rxq_info *info)
{
	const struct mlx4x_rxq *rxq = eth_dev->data->rx_queues[idx];

	info->mp = rxq->mp;
	info->scattered_rx = rxq->nb_sges > 1;
	info->nb_desc = rxq->nb_desc;
	info->rx_buf_size = rxq->mp != NULL ?
		rte_pktmbuf_data_room_size(rxq->mp) - RTE_PKTMBUF_HEADROOM : 0;
	info->conf.rx_deferred_start = rxq->deferred_start;
	info->conf.offloads = rxq->offloads;
}

void
mlx4x_txq_info_get(struct rte_eth_dev *eth_dev, uint16_t idx, struct rte_eth_txq_info *info)
{
	const struct mlx4x_txq *txq = eth_dev->data->tx_queues[idx];

	info->nb_desc = txq->nb_desc;
	info->conf.tx_deferred_start = txq->deferred_start;
	info->conf.offloads = txq->offloads;
}

/* All queues of a port are served by one function. */
int
mlx4x_rx_burst_mode_get(struct rte_eth_dev *eth_dev, uint16_t idx, struct rte_eth_burst_mode *mode)
{
	snprintf(mode->info, sizeof(mode->info), "%s", mlx4x_rx_burst_name(eth_dev->rx_pkt_burst));
	return 0;
}

int
mlx4x_tx_burst_mode_get(struct rte_eth_dev *eth_dev, uint16_t idx, struct rte_eth_burst_mode *mode)
{
	snprintf(mode->info, sizeof(mode->info), "%s", mlx4x_tx_burst_name(eth_dev->tx_pkt_burst));
	return 0;
}
