/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The send queue paired with each receive queue that has a program. Its completion
 * queue is never armed: the next poll of the receive queue reads it, and the pages go to
 * the cache of that queue, still mapped; what the cache cannot hold goes to the pool.
 */

#include <errno.h>
#include <string.h>

#include "xdp_tx.h"

/* Entries of the ring, those of mlx4_en. */
#define RING_SIZE 1024

/* For frames of a receive queue; NULL (explained) if there is none. */
struct mlx4x_txq *
mlx4x_xdp_tx_create(const struct mlx4x_xdp *xdp, struct mlx4x_port *port)
{
	const struct mlx4x_rxq *rxq = xdp->rxq;
	struct mlx4x_txq *txq;
	int ret;

	txq = mlx4x_txq_create_internal(port, rxq->idx, RING_SIZE, rxq->socket);
	if (txq == NULL) {
		mlx4x_xdp_refuse(rxq->port, ENOMEM, "Rx queue %u: cannot get a send queue of %s for "
			"its program", rxq->idx, port->data->name);
		return NULL;
	}
	ret = mlx4x_txq_restart(txq);
	if (ret == 0)
		return txq;
	mlx4x_txq_destroy(txq);
	mlx4x_xdp_refuse(rxq->port, -ret, "Rx queue %u: the send queue of %s for its program does "
		"not start: %s", rxq->idx, port->data->name, strerror(-ret));
	return NULL;
}

/* Waits for the frames that are on their way; their pages go to the pool. */
void
mlx4x_xdp_tx_destroy(struct mlx4x_txq *txq)
{
	if (txq->state == MLX4X_QUEUE_RUNNING && !txq->port->dev->removed)
		mlx4x_txq_drain(txq);
	mlx4x_txq_destroy(txq);
}

/* Pages of completed frames: n slots that follow each other in memory. */
static void
recycle(struct mlx4x_xdp *xdp, struct rte_mbuf **pages, uint32_t n)
{
	uint32_t taken = page_pool_cache_push_bulk(&xdp->cache, pages, n);

	if (unlikely(taken != n))
		rte_mempool_put_bulk(xdp->rxq->mp, (void **)(pages + taken), n - taken);
}

bool
mlx4x_xdp_tx_drain(struct mlx4x_txq *txq, struct mlx4x_xdp *xdp)
{
	if (unlikely(txq->state != MLX4X_QUEUE_RUNNING))
		return false;
	if (unlikely(!mlx4x_tx_poll(txq))) {
		mlx4x_tx_give_up(txq);
		return false;
	}
	while (txq->ci != txq->done) {
		uint32_t pos = txq->ci & txq->mask;
		uint32_t n = RTE_MIN(txq->done - txq->ci, txq->mask + 1 - pos);

		recycle(xdp, &txq->slots[pos], n);
		txq->ci += n;
	}
	return txq->ci != txq->pi;
}
