/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Completions of a receive queue that bring no good frame.
 */

#include "rx_common.h"

/*
 * An error of one frame leaves the queue alive, as far as one completion can tell. If
 * it did stop the queue, the device now flushes everything that is posted.
 */
bool
mlx4x_rx_count_bad(struct mlx4x_rxq *rxq, const struct mlx4x_cqe *cqe)
{
	if (!mlx4x_cqe_is_error(cqe)) {
		if (mlx4x_cqe_is_bad_fcs(cqe))
			rxq->stats.bad_fcs++;
		else
			rxq->stats.cqe_errors++;	/* a length beyond the buffers */
		return true;
	}
	if (mlx4x_cqe_syndrome(cqe) == MLX4_CQE_SYNDROME_WR_FLUSH_ERR)
		return false;
	rxq->last_syndrome = mlx4x_cqe_syndrome(cqe);
	rxq->last_vendor_err = mlx4x_cqe_vendor_err(cqe);
	rxq->stats.cqe_errors++;
	return true;
}

/* Last act of the burst that finds its queue flushed: recovery.c owns it from here. */
uint16_t
mlx4x_rx_give_up(struct mlx4x_rxq *rxq, uint32_t ci, uint16_t nb_pkts, uint64_t bytes)
{
	rxq->ci = ci;
	rxq->stats.packets += nb_pkts;
	rxq->stats.bytes += bytes;
	mlx4x_store_release(&rxq->state, MLX4X_QUEUE_BROKEN);
	return nb_pkts;
}
