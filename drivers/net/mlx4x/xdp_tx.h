/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Sending a page back (XDP_TX) by the send queue that a receive queue has for itself:
 * no lock, no mbuf field. A burst writes the data segment of each frame where the
 * verdict falls, and the control segments, which make them valid, all at its end: only
 * then it knows the last one, which asks for the completion.
 */

#ifndef MLX4X_XDP_TX_H
#define MLX4X_XDP_TX_H

#include "tx_common.h"
#include "xdp.h"

/* Takes the pages of completed frames back. Frames are then still on their way if true. */
bool mlx4x_xdp_tx_drain(struct mlx4x_txq *txq, struct mlx4x_xdp *xdp);

/* Frames that the ring can take; 0 while it is in error. */
static inline uint32_t
mlx4x_xdp_tx_room(const struct mlx4x_txq *txq)
{
	return txq->state == MLX4X_QUEUE_RUNNING ? txq->limit - (txq->pi - txq->ci) : 0;
}

/* True if one more frame of a burst fits. The first one looks how many there may be. */
static inline bool
mlx4x_xdp_tx_fits(struct mlx4x_xdp_out *out)
{
	if (unlikely(out->nb == out->room) && out->nb == 0)
		out->room = mlx4x_xdp_tx_room(out->txq);
	return out->nb != out->room;
}

/* Writes one more frame of a burst, and takes its page. False if the ring is full. */
static inline bool
mlx4x_xdp_tx_put(struct mlx4x_xdp_out *out, struct rte_mbuf *page, const uint8_t *data,
	uint32_t len, rte_be32_t lkey)
{
	struct mlx4x_txq *txq = out->txq;
	uint32_t pi = txq->pi + out->nb;

	if (unlikely(!mlx4x_xdp_tx_fits(out)))
		return false;
	mlx4x_wqe_write_data(mlx4x_txq_data(txq, pi), len, lkey, (uintptr_t)data);
	txq->slots[pi & txq->mask] = page;
	out->nb++;
	out->bytes += len;
	return true;
}

/* Makes the frames of a burst valid, and rings the doorbell. */
static inline void
mlx4x_xdp_tx_flush(struct mlx4x_xdp_out *out)
{
	mlx4x_tx_publish(out->txq, out->txq->pi + out->nb);
	out->nb = 0;
	out->room = 0;
	out->bytes = 0;
}

#endif /* MLX4X_XDP_TX_H */
