/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Memory keys of buffers outside the region of the last frame: first the cache of the
 * queue, then the table of the device. Memory that is in neither is asked for, and
 * recovery.c registers it outside the burst; what cannot be registered is dropped
 * when it comes again, so that no frame blocks the queue for good.
 */

#include "tx_common.h"

static bool
covers(const struct mlx4x_mr_range *range, uintptr_t addr, uint32_t len)
{
	return addr - range->start < range->len && len <= range->len - (addr - range->start);
}

void
mlx4x_tx_flush_mr_cache(struct mlx4x_txq *txq)
{
	uint32_t seq = mlx4x_load_acquire(&txq->mr_table->seq);

	memset(&txq->mr, 0, sizeof(txq->mr));
	memset(txq->mr_cache, 0, sizeof(txq->mr_cache));
	txq->mr_seq = seq;
}

static bool
find_cached(struct mlx4x_txq *txq, uintptr_t addr, uint32_t len)
{
	uint32_t i;

	for (i = 0; i < MLX4X_MR_CACHE_SIZE; i++) {
		if (covers(&txq->mr_cache[i], addr, len)) {
			txq->mr = txq->mr_cache[i];
			return true;
		}
	}
	return false;
}

/* A find in a table that has changed since the burst began is not kept. */
static bool
find_in_table(struct mlx4x_txq *txq, uintptr_t addr, uint32_t len)
{
	struct mlx4x_mr_range range;
	uint32_t seq;

	if (!mlx4x_mr_find(txq->mr_table, addr, len, &range, &seq) || seq != txq->mr_seq)
		return false;
	txq->mr = range;
	txq->mr_cache[txq->mr_cache_next++ % MLX4X_MR_CACHE_SIZE] = range;
	return true;
}

enum mlx4x_tx_verdict
mlx4x_tx_find_lkey(struct mlx4x_txq *txq, uintptr_t addr, uint32_t len, rte_be32_t *lkey)
{
	if (find_cached(txq, addr, len) || find_in_table(txq, addr, len)) {
		txq->stats.mr_miss++;
		*lkey = txq->mr.lkey;
		return MLX4X_TX_SEND;
	}
	if (addr == mlx4x_load_acquire(&txq->refused_addr)) {
		txq->refused_addr = 0;
		txq->stats.no_lkey++;
		return MLX4X_TX_DROP;
	}
	if (mlx4x_load_relaxed(&txq->wanted_addr) == 0)
		mlx4x_store_release(&txq->wanted_addr, addr);
	return MLX4X_TX_WAIT;
}
