/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a queue is doing, without changing it: descriptor states, frames waiting, the
 * word that a sleeping processor may watch.
 */

#include <errno.h>

#include "queue_status.h"
#include "rx_common.h"
#include "tx_common.h"

static bool
rx_is_done(const struct mlx4x_rxq *rxq, uint32_t offset)
{
	uint32_t cq_ci = rxq->ci + rxq->cq_offset + offset;

	return mlx4x_cqe_is_ready(mlx4x_rxq_cqe(rxq, cq_ci), cq_ci, rxq->mask + 1);
}

/* Completions are written in order: the first that is missing is found by halving. */
uint32_t
mlx4x_rx_queue_count(void *queue)
{
	const struct mlx4x_rxq *rxq = queue;
	uint32_t done = 0, end = rxq->pi - rxq->ci;

	if (rxq->state != MLX4X_QUEUE_RUNNING)
		return 0;
	while (done != end) {
		uint32_t middle = done + (end - done) / 2;

		if (rx_is_done(rxq, middle))
			done = middle + 1;
		else
			end = middle;
	}
	return done;
}

int
mlx4x_rx_descriptor_status(void *queue, uint16_t offset)
{
	const struct mlx4x_rxq *rxq = queue;

	if (offset > rxq->mask)
		return -EINVAL;
	if (rxq->state != MLX4X_QUEUE_RUNNING || offset >= rxq->pi - rxq->ci)
		return RTE_ETH_RX_DESC_UNAVAIL;
	return rx_is_done(rxq, offset) ? RTE_ETH_RX_DESC_DONE : RTE_ETH_RX_DESC_AVAIL;
}

/* The first block that the device still works on, as completions say now. */
static uint32_t
tx_done(const struct mlx4x_txq *txq)
{
	uint32_t cq_ci, done = txq->done;

	for (cq_ci = txq->cq_ci; cq_ci - txq->cq_ci <= txq->cq_mask; cq_ci++) {
		const struct mlx4x_cqe *cqe = mlx4x_cqe_at(txq->cqes, cq_ci & txq->cq_mask,
			txq->cqe_shift);

		if (!mlx4x_cqe_is_ready(cqe, cq_ci, txq->cq_mask + 1))
			break;
		mlx4x_from_device();
		if (mlx4x_cqe_is_error(cqe))
			break;
		done = mlx4x_tx_behind(txq, cqe, done);
	}
	return done;
}

/* Offset 0 is the descriptor that the next frame takes, limit - 1 that of the last frame. */
int
mlx4x_tx_descriptor_status(void *queue, uint16_t offset)
{
	const struct mlx4x_txq *txq = queue;

	if (offset >= txq->limit)
		return -EINVAL;
	if (txq->state != MLX4X_QUEUE_RUNNING)
		return RTE_ETH_TX_DESC_UNAVAIL;
	return offset < txq->limit - (txq->pi - tx_done(txq)) ?
		RTE_ETH_TX_DESC_DONE : RTE_ETH_TX_DESC_FULL;
}

/* Aborts a sleep when the owner bit is that of a completion that is there. */
static int
check_owner(const uint64_t value, const uint64_t opaque[RTE_POWER_MONITOR_OPAQUE_SZ])
{
	return (value & MLX4X_CQE_OWNER_MASK) == opaque[0] ? -1 : 0;
}

int
mlx4x_get_monitor_addr(void *queue, struct rte_power_monitor_cond *condition)
{
	struct mlx4x_rxq *rxq = queue;
	uint32_t cq_ci = rxq->ci + rxq->cq_offset;

	if (rxq->idx >= mlx4x_nb_device_rxqs(rxq->port))
		return -ENOTSUP;	/* a queue of software, see xdp.c */
	condition->addr = (void *)(uintptr_t)&mlx4x_rxq_cqe(rxq, cq_ci)->owner_sr_opcode;
	condition->size = sizeof(uint8_t);
	condition->opaque[0] = cq_ci & (rxq->mask + 1) ? MLX4X_CQE_OWNER_MASK : 0;
	condition->fn = check_owner;
	return 0;
}
