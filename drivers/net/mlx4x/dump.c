/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The state of a port as text, for rte_eth_dev_priv_dump() and /ethdev/dump_priv: what a
 * report about a queue that stands still should hold.
 */

#include <inttypes.h>
#include <stdio.h>

#include "dump.h"
#include "mlx4x.h"
#include "queue_status.h"

static void
dump_device(const struct mlx4x_dev *dev, FILE *file)
{
	fprintf(file, "device: firmware %s, part %u, %s%s%s\n", dev->caps.fw_version,
		dev->caps.vendor_part_id, dev->caps.is_vf ? "virtual function" : "physical function",
		dev->caps.tunnel ? ", tunnels" : "", dev->removed ? ", removed" : "");
	fprintf(file, "memory regions: %u, table sequence %u\n", dev->mr_table.nb_ranges,
		dev->mr_table.seq);
}

static void
dump_rxq(const struct mlx4x_rxq *rxq, FILE *file)
{
	fprintf(file, "Rx queue %u: %s, WQ 0x%x, CQ 0x%x, ring %u, segments %u, posted %" PRIu32
		", completed %" PRIu32 ", last syndrome 0x%02x, program %s\n", rxq->idx,
		mlx4x_queue_state_name(rxq->state), rxq->wq != NULL ? rxq->wq->wq_num : 0, rxq->dv_cq.cqn,
		rxq->mask + 1, rxq->nb_sges, rxq->pi, rxq->ci, rxq->last_syndrome,
		rxq->xdp != NULL ? "yes" : "no");
}

static void
dump_txq(const struct mlx4x_txq *txq, FILE *file)
{
	fprintf(file, "Tx queue %u: %s, QP 0x%x, CQ 0x%x, blocks %u, posted %" PRIu32
		", done %" PRIu32 ", freed %" PRIu32 ", last syndrome 0x%02x\n", txq->idx,
		mlx4x_queue_state_name(txq->state), txq->qp != NULL ? txq->qp->qp_num : 0, txq->dv_cq.cqn,
		txq->mask + 1, txq->pi, txq->done, txq->ci, txq->last_syndrome);
}

/* Indexes of a running queue are a snapshot: its lcore goes on meanwhile. */
int
mlx4x_priv_dump(struct rte_eth_dev *eth_dev, FILE *file)
{
	struct mlx4x_port *port = mlx4x_port_of(eth_dev);
	uint16_t i;

	mlx4x_lock(port->dev);
	fprintf(file, "port %u of %s: %s%s, kernel interface index %u\n", port->number,
		port->data->name, port->started ? "started" : "stopped",
		port->isolated ? ", isolated" : "", port->if_index);
	dump_device(port->dev, file);
	for (i = 0; i < mlx4x_nb_device_rxqs(port); i++) {
		if (port->data->rx_queues[i] != NULL)
			dump_rxq(port->data->rx_queues[i], file);
	}
	for (i = 0; i < port->data->nb_tx_queues; i++) {
		if (port->data->tx_queues[i] != NULL)
			dump_txq(port->data->tx_queues[i], file);
	}
	mlx4x_unlock(port->dev);
	return 0;
}
