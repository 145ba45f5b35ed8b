/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Which burst function sends. Chosen once, when the port starts, from the
 * configuration of the port and its queues.
 */

#include "mlx4x.h"
#include "mp.h"
#include "tx_burst.h"

/* Offloads that the plain function does not look at. */
#define PER_FRAME_OFFLOADS (RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_CKSUM | \
	RTE_ETH_TX_OFFLOAD_UDP_CKSUM | RTE_ETH_TX_OFFLOAD_VLAN_INSERT)

/* Offloads that can take more than one block, or look at inner headers. */
#define MULTI_OFFLOADS (RTE_ETH_TX_OFFLOAD_MULTI_SEGS | RTE_ETH_TX_OFFLOAD_TCP_TSO | \
	RTE_ETH_TX_OFFLOAD_OUTER_IPV4_CKSUM)

static uint64_t
all_offloads(const struct rte_eth_dev_data *data)
{
	uint64_t offloads = data->dev_conf.txmode.offloads;
	uint16_t i;

	for (i = 0; i < data->nb_tx_queues; i++) {
		if (data->tx_queues[i] != NULL)
			offloads |= ((const struct mlx4x_txq *)data->tx_queues[i])->offloads;
	}
	return offloads;
}

eth_tx_burst_t
mlx4x_tx_select(struct rte_eth_dev *eth_dev)
{
	uint64_t offloads = all_offloads(eth_dev->data);

	if (offloads & MULTI_OFFLOADS || mlx4x_port_of(eth_dev)->dev->caps.is_vf)
		return mlx4x_tx_burst_multi;
	return offloads & PER_FRAME_OFFLOADS ? mlx4x_tx_burst_offload : mlx4x_tx_burst;
}

/* A queue set up while the port runs may need another function, which serves all. */
void
mlx4x_tx_select_again(struct rte_eth_dev *eth_dev)
{
	eth_tx_burst_t burst = mlx4x_tx_select(eth_dev);

	if (burst == eth_dev->tx_pkt_burst)
		return;
	mlx4x_store_release(&eth_dev->tx_pkt_burst, burst);
	mlx4x_store_release(&rte_eth_fp_ops[eth_dev->data->port_id].tx_pkt_burst, burst);
	mlx4x_mp_tell_start(mlx4x_port_of(eth_dev));
}

/* Name of a burst function, for burst mode info. */
const char *
mlx4x_tx_burst_name(eth_tx_burst_t burst)
{
	if (burst == mlx4x_tx_burst)
		return "Scalar";
	if (burst == mlx4x_tx_burst_offload)
		return "Scalar Offload";
	return burst == mlx4x_tx_burst_multi ? "Multi-segment" : "Stopped";
}
