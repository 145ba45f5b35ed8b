/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the send burst functions share: room in the ring, the memory key of a buffer,
 * writing 16 bytes of a descriptor, the doorbell.
 *
 * The last descriptor of each burst asks for a completion. So nothing is left in the
 * ring for good when traffic ends, and rte_eth_tx_done_cleanup() can return every
 * frame that was sent.
 */

#ifndef MLX4X_TX_COMMON_H
#define MLX4X_TX_COMMON_H

#include <rte_io.h>
#include <rte_prefetch.h>
#include <rte_vect.h>

#include "barrier.h"
#include "mlx4x.h"

#define MLX4X_TX_PREFETCH 4

/* Shortest frame: an Ethernet header. The device pads it to 60 bytes. */
#define MLX4X_TX_MIN_LEN RTE_ETHER_HDR_LEN

/* Flags of a control segment before any offload. */
#define MLX4X_TX_BASE_FLAGS MLX4X_WQE_SOLICITED

enum mlx4x_tx_verdict {
	MLX4X_TX_SEND,
	MLX4X_TX_DROP,	/* counted; the frame is freed and the burst goes on */
	MLX4X_TX_WAIT,	/* the burst ends here, the frame stays the application's */
};

/* tx_mr.c: the key of memory that is not that of the last frame */
enum mlx4x_tx_verdict mlx4x_tx_find_lkey(struct mlx4x_txq *txq, uintptr_t addr, uint32_t len,
	rte_be32_t *lkey);
void mlx4x_tx_flush_mr_cache(struct mlx4x_txq *txq);

/* tx_complete.c: last act of a burst that finds its queue in error */
uint16_t mlx4x_tx_give_up(struct mlx4x_txq *txq);

static inline void *
mlx4x_txq_wqe(const struct mlx4x_txq *txq, uint32_t i)
{
	return txq->wqes + ((size_t)(i & txq->mask) << MLX4X_TXBB_SHIFT);
}

/* The owner bit that makes block i valid. */
static inline rte_be32_t
mlx4x_tx_owner_be(const struct mlx4x_txq *txq, uint32_t i)
{
	return i & (txq->mask + 1) ? RTE_BE32(MLX4X_WQE_OWNER) : 0;
}

/* 16 bytes in one store, so that the device sees none of them or all. */
static inline void
mlx4x_wqe_store(void *dst, uint32_t w0, uint32_t w1, uint32_t w2, uint32_t w3)
{
	rte_xmm_t words = { .u32 = { w0, w1, w2, w3 } };

	*(xmm_t *)dst = words.x;
}

static inline void
mlx4x_wqe_store_data(void *dst, uint32_t len, rte_be32_t lkey, uintptr_t addr)
{
	rte_be64_t addr_be = rte_cpu_to_be_64(addr);

	mlx4x_wqe_store(dst, rte_cpu_to_be_32(len), lkey, (uint32_t)addr_be, addr_be >> 32);
}

/*
 * Second word of a control segment. All of it is written each time: the block may
 * have held other data a lap ago, and the device reads the VLAN fields.
 */
static inline uint32_t
mlx4x_wqe_size_word(uint16_t vlan_tci, uint8_t ins_vlan, uint8_t ds)
{
	union {
		struct {
			rte_be16_t vlan_tag;
			uint8_t ins_vlan;
			uint8_t fence_size;
		};
		uint32_t word;
	} size = { { rte_cpu_to_be_16(vlan_tci), ins_vlan, ds } };

	return size.word;
}

/* Blocks of 64 bytes that a descriptor of ds units of 16 bytes takes. */
static inline uint32_t
mlx4x_wqe_blocks(uint32_t ds)
{
	return (ds + 3) / 4;
}

/*
 * Reads completions. done moves past the last descriptor that one of them names.
 * False if one says that the queue is in error: the burst ends with
 * mlx4x_tx_give_up().
 */
static inline bool
mlx4x_tx_poll(struct mlx4x_txq *txq)
{
	uint32_t cq_ci = txq->cq_ci, done = txq->done;

	for (;;) {
		const struct mlx4x_cqe *cqe = mlx4x_cqe_at(txq->cqes, cq_ci & txq->cq_mask,
			txq->cqe_shift);
		const struct mlx4x_wqe_ctrl *ctrl;

		if (!mlx4x_cqe_is_ready(cqe, cq_ci, txq->cq_mask + 1))
			break;
		mlx4x_from_device();
		if (unlikely(mlx4x_cqe_is_error(cqe)))
			return false;
		done += (uint16_t)(mlx4x_cqe_wqe_index(cqe) - done);
		ctrl = mlx4x_txq_wqe(txq, done);
		done += mlx4x_wqe_blocks(ctrl->fence_size & MLX4X_WQE_SIZE_MASK);
		cq_ci++;
	}
	if (cq_ci != txq->cq_ci) {
		txq->cq_ci = cq_ci;
		txq->done = done;
		*txq->cq_db = rte_cpu_to_be_32(cq_ci & MLX4X_CQ_CI_MASK);
	}
	return true;
}

/* Blocks that are free, after what is done has been freed if it is worth it. */
static inline uint32_t
mlx4x_tx_room(struct mlx4x_txq *txq, uint32_t wanted)
{
	if (txq->done - txq->ci >= txq->free_thresh ||
	    unlikely(txq->limit - (txq->pi - txq->ci) < wanted))
		mlx4x_tx_free_done(txq);
	return txq->limit - (txq->pi - txq->ci);
}

/* The key of a buffer. */
static inline enum mlx4x_tx_verdict
mlx4x_tx_lkey(struct mlx4x_txq *txq, uintptr_t addr, uint32_t len, rte_be32_t *lkey)
{
	uintptr_t offset = addr - txq->mr.start;

	if (likely(offset < txq->mr.len && len <= txq->mr.len - offset)) {
		*lkey = txq->mr.lkey;
		return MLX4X_TX_SEND;
	}
	return mlx4x_tx_find_lkey(txq, addr, len, lkey);
}

/* Forgets keys when any region has come or gone since they were looked up. */
static inline void
mlx4x_tx_check_mr_cache(struct mlx4x_txq *txq)
{
	if (unlikely(mlx4x_load_relaxed(&txq->mr_table->seq) != txq->mr_seq))
		mlx4x_tx_flush_mr_cache(txq);
}

/* Tells the device of everything up to pi. */
static inline void
mlx4x_tx_doorbell(struct mlx4x_txq *txq)
{
	mlx4x_before_doorbell();
	rte_write32_relaxed(txq->doorbell_qpn, mlx4x_uar[txq->dev_id] + MLX4X_SEND_DOORBELL);
}

#endif /* MLX4X_TX_COMMON_H */
