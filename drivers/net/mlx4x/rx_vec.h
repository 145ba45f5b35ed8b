/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the vector receive functions share: they take whole groups of good completions,
 * whose mbufs come out as rx.c would write them. Everything else, which is a ring that
 * starts over, the last few frames of a burst and completions that are bad or unusual, is
 * left to the scalar function.
 */

#ifndef MLX4X_RX_VEC_H
#define MLX4X_RX_VEC_H

#include <smmintrin.h>

#include "rx_burst.h"
#include "rx_common.h"

#define MLX4X_RX_GROUP 4u

/* Vectors in an array are registers only where the loop over it is gone. */
#define MLX4X_RX_UNROLL _Pragma("GCC unroll 4")

static_assert(offsetof(struct rte_mbuf, ol_flags) ==
	offsetof(struct rte_mbuf, rearm_data) + sizeof(uint64_t), "flags follow the rearm word");
static_assert(offsetof(struct rte_mbuf, rx_descriptor_fields1) % sizeof(__m128i) == 0 &&
	offsetof(struct rte_mbuf, pkt_len) == offsetof(struct rte_mbuf, packet_type) + 4 &&
	offsetof(struct rte_mbuf, data_len) == offsetof(struct rte_mbuf, packet_type) + 8 &&
	offsetof(struct rte_mbuf, vlan_tci) == offsetof(struct rte_mbuf, packet_type) + 10 &&
	offsetof(struct rte_mbuf, hash) == offsetof(struct rte_mbuf, packet_type) + 12,
	"type, lengths, tag and hash of an mbuf are one aligned vector");

/* A run of completions and slots that lie one behind the other. */
struct mlx4x_rx_run {
	const uint8_t *cqe;		/* first completion, and so on */
	struct rte_mbuf *const *slots;
	struct rte_mbuf **pkts;
	uint32_t nb;			/* of all three */
	size_t stride;			/* of completions; a constant where it is used */
	uint8_t owner_sr_opcode;	/* of a good completion */
	const struct mlx4x_rx_meaning *meaning;
	uint64_t rearm;
};

static __rte_always_inline void
mlx4x_rx_run_begin(struct mlx4x_rx_run *run, const struct mlx4x_rxq *rxq, struct rte_mbuf **pkts,
	uint32_t nb, size_t stride)
{
	uint32_t size = rxq->mask + 1, cq_ci = rxq->ci + rxq->cq_offset;
	uint32_t pos = rxq->ci & rxq->mask, cq_pos = cq_ci & rxq->mask;
	uint32_t last = RTE_MAX(pos, cq_pos);

	run->nb = RTE_MIN(nb, size - last);
	run->cqe = rxq->cqes + cq_pos * stride;
	run->stride = stride;
	run->owner_sr_opcode = MLX4X_CQE_OPCODE_RECV_SEND |
		(cq_ci & size ? MLX4X_CQE_OWNER_MASK : 0);
	run->slots = &rxq->slots[pos];
	run->pkts = pkts;
	run->meaning = rxq->meaning;
	run->rearm = rxq->rearm;
}

static __rte_always_inline void
mlx4x_rx_advance(struct mlx4x_rx_run *run, uint32_t nb)
{
	run->cqe += nb * run->stride;
	run->slots += nb;
	run->pkts += nb;
	run->nb -= nb;
}

static __rte_always_inline const __m128i *
mlx4x_rx_half(const struct mlx4x_rx_run *run, uint32_t i, uint32_t half)
{
	return (const __m128i *)(run->cqe + i * run->stride) + half;
}

/*
 * Indices of mlx4x_cqe_meaning_index() of the status words that are in a vector, doubled.
 * The bytes of a word lie in memory order: IPV6 to IP_OK, IPV4 and IPV4_FRAG, IPV6_FRAG,
 * L4_OK. Each is moved by a multiplication.
 */
#define MLX4X_RX_STATUS_MASK 0x0410c01f
#define MLX4X_RX_STATUS_FACTORS 0x40200102

static __rte_always_inline __m128i
mlx4x_rx_indices(__m128i status)
{
	__m128i bits = _mm_and_si128(status, _mm_set1_epi32(MLX4X_RX_STATUS_MASK));
	__m128i pairs = _mm_maddubs_epi16(bits, _mm_set1_epi32(MLX4X_RX_STATUS_FACTORS));

	return _mm_madd_epi16(pairs, _mm_set1_epi16(1));
}

static __rte_always_inline const struct mlx4x_rx_meaning *
mlx4x_rx_meaning_at(const struct mlx4x_rx_run *run, uint32_t doubled_idx)
{
	return (const struct mlx4x_rx_meaning *)((const uint8_t *)run->meaning +
		(size_t)doubled_idx * (sizeof(struct mlx4x_rx_meaning) / 2));
}

/*
 * Bytes of an mbuf from packet_type on, out of {status, QP number, byte count, hash}: no
 * type yet, both lengths, no tag, hash.
 */
#define MLX4X_RX_DESCRIPTION_SHUFFLE 12, 13, 14, 15, -1, -1, 10, 11, 8, 9, 10, 11, -1, -1, -1, -1

/* Writes what a frame is to its mbuf. */
static __rte_always_inline void
mlx4x_rx_put(const struct mlx4x_rx_run *run, struct rte_mbuf *mbuf, __m128i description,
	const struct mlx4x_rx_meaning *meaning)
{
	*(uint64_t *)((uintptr_t)mbuf + offsetof(struct rte_mbuf, rearm_data)) = run->rearm;
	mbuf->ol_flags = meaning->ol_flags;
	_mm_store_si128((__m128i *)((uintptr_t)mbuf +
		offsetof(struct rte_mbuf, rx_descriptor_fields1)),
		_mm_insert_epi32(description, meaning->ptype, 0));
}

/* Fetches the mbufs of the nb frames behind the next nb. */
static __rte_always_inline void
mlx4x_rx_prefetch(const struct mlx4x_rx_run *run, uint32_t nb)
{
	uint32_t j;

	for (j = 0; j < nb; j++)
		rte_prefetch0(run->slots[nb + j]);
}

/* True if the next completions are there and, as far as their opcodes say, good. */
static __rte_always_inline bool
mlx4x_rx_group_is_ready(const struct mlx4x_rx_run *run)
{
	uint8_t differs = 0;
	uint32_t j;

	MLX4X_RX_UNROLL
	for (j = 0; j < MLX4X_RX_GROUP; j++) {
		const struct mlx4x_cqe *cqe = (const void *)mlx4x_rx_half(run, j, 0);

		differs |= mlx4x_load_relaxed(&cqe->owner_sr_opcode) ^ run->owner_sr_opcode;
	}
	return differs == 0;
}

/*
 * Takes the next group, adding its lengths to the second word of bytes. False if it is not
 * the good frames that this can take.
 */
static __rte_always_inline bool
mlx4x_rx_take_group(struct mlx4x_rx_run *run, __m128i *bytes)
{
	const __m128i shuffle = _mm_set_epi8(MLX4X_RX_DESCRIPTION_SHUFFLE);
	const __m128i bad_fcs = _mm_set1_epi32(RTE_BE32(MLX4X_CQE_BAD_FCS));
	__m128i high[MLX4X_RX_GROUP], status, indices;
	uint32_t j;

	if (!mlx4x_rx_group_is_ready(run))
		return false;
	mlx4x_from_device();
	MLX4X_RX_UNROLL
	for (j = 0; j < MLX4X_RX_GROUP; j++)
		high[j] = _mm_load_si128(mlx4x_rx_half(run, j, 1));
	status = _mm_unpacklo_epi64(_mm_unpacklo_epi32(high[0], high[1]),
		_mm_unpacklo_epi32(high[2], high[3]));
	if (unlikely(!_mm_testz_si128(status, bad_fcs)))
		return false;
	indices = mlx4x_rx_indices(status);
	MLX4X_RX_UNROLL
	for (j = 0; j < MLX4X_RX_GROUP; j++) {
		uint64_t two = j < 2 ? _mm_cvtsi128_si64(indices) : _mm_extract_epi64(indices, 1);
		__m128i description = _mm_shuffle_epi8(_mm_unpacklo_epi32(high[j],
			_mm_load_si128(mlx4x_rx_half(run, j, 0))), shuffle);

		*bytes = _mm_add_epi32(*bytes, description);
		mlx4x_rx_put(run, run->slots[j], description,
			mlx4x_rx_meaning_at(run, j & 1 ? two >> 32 : (uint32_t)two));
		run->pkts[j] = run->slots[j];
	}
	mlx4x_rx_advance(run, MLX4X_RX_GROUP);
	return true;
}

/* Counts what a run took; frames taken. */
static __rte_always_inline uint32_t
mlx4x_rx_run_end(const struct mlx4x_rx_run *run, struct mlx4x_rxq *rxq, struct rte_mbuf **pkts,
	__m128i bytes)
{
	uint32_t nb = run->pkts - pkts;

	rxq->ci += nb;
	rxq->stats.packets += nb;
	rxq->stats.bytes += (uint32_t)_mm_extract_epi32(bytes, 1);
	return nb;
}

/* Completion entries are of 64 bytes, or of 32. */
#define MLX4X_RX_LOG_WIDE 6

/* A burst out of runs, each followed by what it left to the scalar function. */
static __rte_always_inline uint16_t
mlx4x_rx_vec_burst(struct mlx4x_rxq *rxq, struct rte_mbuf **pkts, uint16_t nb_pkts,
	uint32_t (*take_run)(struct mlx4x_rxq *rxq, struct rte_mbuf **pkts, uint32_t nb,
	size_t stride))
{
	uint16_t nb = 0, asked, got;

	if (unlikely(rxq->state != MLX4X_QUEUE_RUNNING))
		return 0;
	do {
		nb += rxq->cqe_shift == MLX4X_RX_LOG_WIDE ?
			take_run(rxq, pkts + nb, nb_pkts - nb, 1u << MLX4X_RX_LOG_WIDE) :
			take_run(rxq, pkts + nb, nb_pkts - nb, sizeof(struct mlx4x_cqe));
		if (likely(nb == nb_pkts)) {
			mlx4x_rx_finish(rxq, rxq->ci, 0, 0);
			return nb;
		}
		asked = RTE_MIN(nb_pkts - nb, (int)MLX4X_RX_GROUP);
		got = mlx4x_rx_burst(rxq, pkts + nb, asked);
		nb += got;
	} while (got == asked && nb < nb_pkts);
	return nb;
}

#endif /* MLX4X_RX_VEC_H */
