/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What must happen to a queue outside its bursts while the port runs: taking it out
 * of an error state, and registering memory that a burst met.
 *
 * A burst that finds its queue in error sets it to MLX4X_QUEUE_BROKEN as its last act
 * and returns 0 from then on; so the application keeps its frames and tries again,
 * and nobody but this file touches the queue. A periodic service in EAL's interrupt
 * thread finds it, resets it in the device, and gives it back by setting it to
 * MLX4X_QUEUE_RUNNING. Frames that were in the ring are lost, and counted.
 */

#include <string.h>

#include <rte_alarm.h>

#include "mlx4x.h"
#include "tx_common.h"
#include "xdp.h"

/* As long as a queue is out of service at most; mlx4_en looks every 250 ms. */
#define SERVICE_PERIOD_US 100000

static void
recover_rxq(struct mlx4x_rxq *rxq)
{
	int ret;

	MLX4X_LOG(rxq->port, WARNING, "Rx queue %u is in error (syndrome 0x%02x, vendor 0x%02x): "
		"reset", rxq->idx, rxq->last_syndrome, rxq->last_vendor_err);
	ret = mlx4x_rxq_reset(rxq);
	if (ret == 0)
		ret = mlx4x_rxq_go(rxq);
	if (ret == 0)
		rxq->stats.recoveries++;
}

/* Counts what is lost, from the frame whose completion says the error. */
static void
count_lost(struct mlx4x_txq *txq)
{
	const struct mlx4x_cqe *cqe = mlx4x_cqe_at(txq->cqes, txq->cq_ci & txq->cq_mask,
		txq->cqe_shift);
	uint32_t i;

	while (mlx4x_cqe_is_ready(cqe, txq->cq_ci, txq->cq_mask + 1) && !mlx4x_cqe_is_error(cqe)) {
		txq->cq_ci++;
		cqe = mlx4x_cqe_at(txq->cqes, txq->cq_ci & txq->cq_mask, txq->cqe_shift);
	}
	txq->last_syndrome = mlx4x_cqe_syndrome(cqe);
	txq->last_vendor_err = mlx4x_cqe_vendor_err(cqe);
	i = txq->done + (uint16_t)(mlx4x_cqe_wqe_index(cqe) - txq->done);
	for (; (int32_t)(txq->pi - i) > 0; i++)
		txq->stats.cqe_errors += txq->slots[i & txq->mask] != NULL;
}

static void
recover_txq(struct mlx4x_txq *txq)
{
	const char *what = txq->internal ? "send queue of the program on Rx queue" : "Tx queue";

	count_lost(txq);
	MLX4X_LOG(txq->port, WARNING, "%s %u is in error (syndrome 0x%02x, vendor 0x%02x): reset",
		what, txq->idx, txq->last_syndrome, txq->last_vendor_err);
	if (mlx4x_txq_restart(txq) == 0)
		txq->stats.recoveries++;
}

/* Registers the memory that a send queue waits for. */
static void
register_wanted(struct mlx4x_txq *txq)
{
	uintptr_t addr = mlx4x_load_acquire(&txq->wanted_addr);
	int ret;

	if (addr == 0)
		return;
	ret = mlx4x_mr_add_memseg(txq->port->dev, addr);
	if (ret != 0) {
		MLX4X_LOG(txq->port, WARNING, "Tx queue %u: frames at %p cannot be sent, their memory "
			"is not registered; use rte_dev_dma_map()", txq->idx, (void *)addr);
		mlx4x_store_release(&txq->refused_addr, addr);
	}
	mlx4x_store_release(&txq->wanted_addr, 0);
}

/* A send queue of a program; what it loses is counted at the receive queue. */
static void
serve_internal_txq(struct mlx4x_txq *txq, uint64_t *lost)
{
	uint64_t before = txq->stats.cqe_errors;

	if (mlx4x_load_acquire(&txq->state) != MLX4X_QUEUE_BROKEN)
		return;
	recover_txq(txq);
	*lost += txq->stats.cqe_errors - before;
}

/* Send queues of XDP_TX and of redirects; those may be of another port. */
static void
serve_program(struct mlx4x_xdp *xdp)
{
	struct mlx4x_rxq_stats *stats = &xdp->rxq->stats;
	uint32_t i;

	serve_internal_txq(xdp->own.txq, &stats->xdp_tx_err);
	for (i = 0; i < xdp->outs->nb; i++) {
		struct mlx4x_txq *txq = xdp->outs->out[i]->txq;

		if (txq != NULL)
			serve_internal_txq(txq, &stats->xdp_xmit_err);
	}
}

static void
serve_port(struct mlx4x_port *port)
{
	uint16_t i;

	for (i = 0; i < port->data->nb_rx_queues; i++) {
		struct mlx4x_rxq *rxq = port->data->rx_queues[i];

		if (mlx4x_load_acquire(&rxq->state) == MLX4X_QUEUE_BROKEN)
			recover_rxq(rxq);
		if (rxq->xdp != NULL)
			serve_program(rxq->xdp);
	}
	for (i = 0; i < port->data->nb_tx_queues; i++) {
		struct mlx4x_txq *txq = port->data->tx_queues[i];

		if (txq == NULL)
			continue;
		if (mlx4x_load_acquire(&txq->state) == MLX4X_QUEUE_BROKEN)
			recover_txq(txq);
		register_wanted(txq);
	}
}

static void
service(void *opaque)
{
	struct mlx4x_dev *dev = opaque;
	unsigned int i;

	/* A control operation is running: it may be about to stop the service. */
	if (pthread_mutex_trylock(&dev->lock) == 0) {
		for (i = 0; i < MLX4X_MAX_PORTS && !dev->removed; i++) {
			if (dev->port[i] != NULL && dev->port[i]->started)
				serve_port(dev->port[i]);
		}
		mlx4x_unlock(dev);
	}
	if (mlx4x_load_acquire(&dev->service_armed) &&
	    rte_eal_alarm_set(SERVICE_PERIOD_US, service, dev) != 0)
		MLX4X_INIT_LOG(ERR, "%s: no alarm; queues in error stay so", dev->pci->name);
}

/* Called when the first port of the device has started. */
void
mlx4x_service_start(struct mlx4x_dev *dev)
{
	mlx4x_store_release(&dev->service_armed, true);
	if (rte_eal_alarm_set(SERVICE_PERIOD_US, service, dev) != 0)
		MLX4X_INIT_LOG(ERR, "%s: no alarm; queues in error stay so", dev->pci->name);
}

/* Called, without the lock, when the last port of the device has stopped. */
void
mlx4x_service_stop(struct mlx4x_dev *dev)
{
	mlx4x_store_release(&dev->service_armed, false);
	rte_eal_alarm_cancel(service, dev);
}
