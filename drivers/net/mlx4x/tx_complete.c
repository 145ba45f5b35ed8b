/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Frames that the device is done with go back to their pools, in bulk.
 */

#include "tx_common.h"

#define FREE_BATCH 64

/* All frames come from one pool and have one reference: nothing of them is read. */
static void
free_fast(struct mlx4x_txq *txq, uint32_t until)
{
	struct rte_mempool *mp = txq->slots[txq->ci & txq->mask]->pool;
	uint32_t ci = txq->ci;

	while (ci != until) {
		uint32_t pos = ci & txq->mask;
		uint32_t n = RTE_MIN(until - ci, txq->mask + 1 - pos);

		rte_mempool_put_bulk(mp, (void **)&txq->slots[pos], n);
		ci += n;
	}
}

/* Single segments from any pool. */
static void
free_any(struct mlx4x_txq *txq, uint32_t until)
{
	struct rte_mbuf *batch[FREE_BATCH];
	struct rte_mempool *mp = NULL;
	uint32_t nb = 0, ci;

	for (ci = txq->ci; ci != until; ci++) {
		struct rte_mbuf *mbuf = rte_pktmbuf_prefree_seg(txq->slots[ci & txq->mask]);

		if (unlikely(mbuf == NULL))
			continue;
		if (nb == FREE_BATCH || (mbuf->pool != mp && nb != 0)) {
			rte_mempool_put_bulk(mp, (void **)batch, nb);
			nb = 0;
		}
		mp = mbuf->pool;
		batch[nb++] = mbuf;
	}
	if (nb != 0)
		rte_mempool_put_bulk(mp, (void **)batch, nb);
}

/*
 * Chains. Blocks that are not the first of their descriptor hold data where the next
 * lap looks for an owner bit: they get a word with the bit that is invalid then.
 */
static void
free_chains(struct mlx4x_txq *txq, uint32_t until)
{
	uint32_t ci;

	for (ci = txq->ci; ci != until; ci++) {
		struct rte_mbuf **slot = &txq->slots[ci & txq->mask];

		if (*slot != NULL)
			rte_pktmbuf_free(*slot);
		else
			*(rte_be32_t *)mlx4x_txq_wqe(txq, ci) =
				RTE_BE32(MLX4X_WQE_STAMP) | mlx4x_tx_owner_be(txq, ci);
		*slot = NULL;
	}
}

static void
free_until(struct mlx4x_txq *txq, uint32_t until)
{
	if (txq->ci == until)
		return;
	if (txq->free_mode == MLX4X_TX_FREE_FAST)
		free_fast(txq, until);
	else if (txq->free_mode == MLX4X_TX_FREE_ANY)
		free_any(txq, until);
	else
		free_chains(txq, until);
	txq->ci = until;
}

void
mlx4x_tx_free_done(struct mlx4x_txq *txq)
{
	free_until(txq, txq->done);
}

/* rte_eth_tx_done_cleanup(): frees up to free_cnt frames, 0 for all that are done. */
int
mlx4x_tx_done_cleanup(void *queue, uint32_t free_cnt)
{
	struct mlx4x_txq *txq = queue;
	uint32_t until = txq->ci;
	int nb = 0;

	if (txq->state != MLX4X_QUEUE_RUNNING)
		return 0;
	if (!mlx4x_tx_poll(txq)) {
		mlx4x_tx_give_up(txq);
		return 0;
	}
	for (; until != txq->done && (free_cnt == 0 || nb < (int)free_cnt); until++)
		nb += txq->slots[until & txq->mask] != NULL;
	while (until != txq->done && txq->slots[until & txq->mask] == NULL)
		until++;
	free_until(txq, until);
	return nb;
}

/* The queue is recovery.c's from here. The completion stays where it is, for its log. */
uint16_t
mlx4x_tx_give_up(struct mlx4x_txq *txq)
{
	mlx4x_store_release(&txq->state, MLX4X_QUEUE_BROKEN);
	return 0;
}
