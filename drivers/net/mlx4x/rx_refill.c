/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Posting buffers to a receive ring. A descriptor is posted with all its buffers or
 * not at all, so ring and slots can never disagree; what an empty mempool leaves
 * unposted is tried again at the next poll.
 */

#include "barrier.h"
#include "mlx4x.h"

/* Takes up to n buffers into empty slots; the number taken. */
static inline uint32_t
take_buffers(struct mlx4x_rxq *rxq, struct rte_mbuf **slots, uint32_t n)
{
	uint32_t i;

	if (likely(rte_mempool_get_bulk(rxq->mp, (void **)slots, n) == 0))
		return n;
	for (i = 0; i < n && rte_mempool_get(rxq->mp, (void **)&slots[i]) == 0; i++)
		;
	return i;
}

/* One segment, one region, buffer behind the mbuf: the mbuf is not even read. */
static uint32_t
post_computed(struct mlx4x_rxq *rxq, uint32_t pos, uint32_t n)
{
	struct mlx4x_wqe_data *seg = (void *)(rxq->wqes + ((size_t)pos << rxq->log_stride));
	struct rte_mbuf **slots = &rxq->slots[pos];
	uint32_t offset = rxq->data_offset;
	uint32_t i;

	n = take_buffers(rxq, slots, n);
	for (i = 0; i < n; i++)
		seg[i].addr = rte_cpu_to_be_64((uintptr_t)slots[i] + offset);
	return n;
}

/*
 * True if the region of a buffer is known. What was found last serves until the table changes:
 * memory that was unmapped meanwhile may be back under another key.
 */
static bool
find_region(struct mlx4x_rxq *rxq, uintptr_t addr, uint32_t len)
{
	const struct mlx4x_mr_table *table = &rxq->port->dev->mr_table;

	if (likely(rxq->mr_seq == mlx4x_load_acquire(&table->seq)) &&
	    addr - rxq->mr.start < rxq->mr.len && len <= rxq->mr.len - (addr - rxq->mr.start))
		return true;
	if (mlx4x_mr_find(table, addr, len, &rxq->mr, &rxq->mr_seq))
		return true;
	rxq->mr.len = 0;
	return false;
}

/* Writes the address of a buffer. False if its memory is not registered (now). */
bool
mlx4x_rx_post_buffer(struct mlx4x_rxq *rxq, struct mlx4x_wqe_data *seg,
	const struct rte_mbuf *mbuf, uint32_t headroom)
{
	uintptr_t addr = (uintptr_t)mbuf->buf_addr + headroom;

	if (!find_region(rxq, addr, rte_be_to_cpu_32(seg->byte_count)))
		return false;
	seg->lkey = rxq->mr.lkey;
	seg->addr = rte_cpu_to_be_64(addr);
	return true;
}

/*
 * Slots of a free descriptor that need a buffer: the first ones, which a frame took.
 * The burst functions for single segments do not clear the slot.
 */
static uint32_t
count_empty(const struct mlx4x_rxq *rxq, struct rte_mbuf *const *slots)
{
	uint32_t nb_empty = 0;

	if (rxq->nb_sges == 1)
		return 1;
	while (nb_empty < rxq->nb_sges && slots[nb_empty] == NULL)
		nb_empty++;
	return nb_empty;
}

/* Fills the empty slots of one descriptor and writes their addresses. */
static bool
post_descriptor(struct mlx4x_rxq *rxq, uint32_t pos)
{
	struct mlx4x_wqe_data *seg = (void *)(rxq->wqes + ((size_t)pos << rxq->log_stride));
	struct rte_mbuf **slots = &rxq->slots[(size_t)pos << rxq->log_sges];
	uint32_t i, nb_empty = count_empty(rxq, slots);

	if (nb_empty != 0 && rte_mempool_get_bulk(rxq->mp, (void **)slots, nb_empty) != 0)
		return false;
	for (i = 0; i < nb_empty; i++) {
		if (!mlx4x_rx_post_buffer(rxq, &seg[i], slots[i], i == 0 ? rxq->headroom : 0)) {
			rte_mempool_put_bulk(rxq->mp, (void **)slots, nb_empty);
			memset(slots, 0, nb_empty * sizeof(slots[0]));
			return false;
		}
	}
	return true;
}

static uint32_t
post_general(struct mlx4x_rxq *rxq, uint32_t pos, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n && post_descriptor(rxq, pos + i); i++)
		;
	return i;
}

/*
 * Posts all descriptors that are free and tells the device. The consumer index goes
 * first: with it the device may use the completion of every descriptor posted.
 */
void
mlx4x_rx_refill(struct mlx4x_rxq *rxq)
{
	uint32_t size = rxq->mask + 1;
	uint32_t pi = rxq->pi;
	uint32_t nb_free = size - (pi - rxq->ci);

	while (nb_free != 0) {
		uint32_t pos = pi & rxq->mask;
		uint32_t n = RTE_MIN(nb_free, size - pos);
		uint32_t posted;

		n = RTE_MIN(n, rxq->refill_batch);
		posted = rxq->computed_addr && rxq->nb_sges == 1 ?
			post_computed(rxq, pos, n) : post_general(rxq, pos, n);

		pi += posted;
		nb_free -= posted;
		if (unlikely(posted != n)) {
			rxq->stats.nombuf++;
			break;
		}
	}
	rxq->pi = pi;
	mlx4x_to_device();
	*rxq->cq_db = rte_cpu_to_be_32((rxq->ci + rxq->cq_offset) & MLX4X_CQ_CI_MASK);
	mlx4x_to_device();
	*rxq->rq_db = rte_cpu_to_be_32(pi & UINT16_MAX);
}
