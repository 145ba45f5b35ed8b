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

/* The data segment of a single-segment descriptor in block i. */
static inline struct mlx4x_wqe_data *
mlx4x_txq_data(const struct mlx4x_txq *txq, uint32_t i)
{
	return (struct mlx4x_wqe_data *)((struct mlx4x_wqe_ctrl *)mlx4x_txq_wqe(txq, i) + 1);
}

/* The owner bit that makes block i valid. */
static inline rte_be32_t
mlx4x_tx_owner_be(const struct mlx4x_txq *txq, uint32_t i)
{
	return i & (txq->mask + 1) ? RTE_BE32(MLX4X_WQE_OWNER) : 0;
}

/* 16 bytes that one store can write, so that the device sees none of them or all. */
static inline xmm_t
mlx4x_wqe_unit(uint32_t w0, uint32_t w1, uint32_t w2, uint32_t w3)
{
#ifdef RTE_ARCH_X86
	/* gcc takes stores of the union below apart again. */
	return _mm_set_epi32(w3, w2, w1, w0);
#else
	return ((rte_xmm_t){ .u32 = { w0, w1, w2, w3 } }).x;
#endif
}

/* A data segment. It is not the device's before the control segment says so. */
static inline void
mlx4x_wqe_write_data(struct mlx4x_wqe_data *seg, uint32_t len, rte_be32_t lkey, uintptr_t addr)
{
	seg->byte_count = rte_cpu_to_be_32(len);
	seg->lkey = lkey;
	seg->addr = rte_cpu_to_be_64(addr);
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

/* The first block behind the descriptor that a completion names; done is one at or before it. */
static inline uint32_t
mlx4x_tx_behind(const struct mlx4x_txq *txq, const struct mlx4x_cqe *cqe, uint32_t done)
{
	const struct mlx4x_wqe_ctrl *ctrl;

	done += (uint16_t)(mlx4x_cqe_wqe_index(cqe) - done);
	ctrl = mlx4x_txq_wqe(txq, done);
	return done + mlx4x_wqe_blocks(ctrl->fence_size & MLX4X_WQE_SIZE_MASK);
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

		if (!mlx4x_cqe_is_ready(cqe, cq_ci, txq->cq_mask + 1))
			break;
		mlx4x_from_device();
		if (unlikely(mlx4x_cqe_is_error(cqe)))
			return false;
		done = mlx4x_tx_behind(txq, cqe, done);
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

/* Control segment and one data segment, in units of 16 bytes. */
#define MLX4X_TX_SINGLE_DS 2

/* The control segment of block pi for a single segment without offload. */
static inline xmm_t
mlx4x_tx_plain_ctrl(const struct mlx4x_txq *txq, uint32_t pi, uint32_t more_flags)
{
	return mlx4x_wqe_unit(RTE_BE32(MLX4X_WQE_OPCODE_SEND) | mlx4x_tx_owner_be(txq, pi),
		mlx4x_wqe_size_word(0, 0, MLX4X_TX_SINGLE_DS),
		rte_cpu_to_be_32(MLX4X_TX_BASE_FLAGS | more_flags), 0);
}

/*
 * Writes the control segments of single segments without offload, from pi to end, whose
 * data segments are written; moves pi and rings the doorbell. Only the burst as a whole
 * knows its last frame, which asks for the completion.
 */
static inline void
mlx4x_tx_publish(struct mlx4x_txq *txq, uint32_t end)
{
	uint32_t pi = txq->pi, last = end - 1;

	mlx4x_to_device();
	while (pi != last) {
		/* Up to where the ring starts over all are alike. */
		uint32_t lap_end = RTE_ALIGN_FLOOR(pi, txq->mask + 1) + txq->mask + 1;
		uint32_t n = RTE_MIN(last - pi, lap_end - pi);
		xmm_t ctrl = mlx4x_tx_plain_ctrl(txq, pi, 0);
		uint8_t *wqe = mlx4x_txq_wqe(txq, pi);

		for (pi += n; n != 0; n--, wqe += MLX4X_TXBB_SIZE)
			*(xmm_t *)wqe = ctrl;
	}
	*(xmm_t *)mlx4x_txq_wqe(txq, last) = mlx4x_tx_plain_ctrl(txq, last, MLX4X_WQE_CQ_UPDATE);
	txq->pi = end;
	mlx4x_tx_doorbell(txq);
}

#endif /* MLX4X_TX_COMMON_H */
