/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Receiving with AVX2: eight frames at a time, in four vectors of two completions each,
 * number i and number i + 4. Loads of 16 aligned bytes are atomic where there is AVX
 * (Intel SDM 3, 9.1.1), so owner byte and status can be read together.
 */

#include <immintrin.h>

#include "rx_vec.h"

#define PAIRS 4u

/* One half of completions j and j + 4. */
static __rte_always_inline __m256i
load_pair(const struct mlx4x_rx_run *run, uint32_t j, uint32_t half)
{
	return _mm256_inserti128_si256(
		_mm256_castsi128_si256(_mm_load_si128(mlx4x_rx_half(run, j, half))),
		_mm_load_si128(mlx4x_rx_half(run, j + PAIRS, half)), 1);
}

/* True if all completions are there and good: opcode and owner bit as they must be, no bad FCS. */
static __rte_always_inline bool
are_good(const struct mlx4x_rx_run *run, const __m256i high[PAIRS])
{
	const __m256i wanted = _mm256_set1_epi64x((uint64_t)run->owner_sr_opcode << 56);
	const __m256i mask = _mm256_set_epi32(0xff000000, 0, 0, RTE_BE32(MLX4X_CQE_BAD_FCS),
		0xff000000, 0, 0, RTE_BE32(MLX4X_CQE_BAD_FCS));
	__m256i differs = _mm256_setzero_si256();
	uint32_t j;

	MLX4X_RX_UNROLL
	for (j = 0; j < PAIRS; j++)
		differs = _mm256_or_si256(differs, _mm256_xor_si256(high[j], wanted));
	return _mm256_testz_si256(differs, mask);
}

/* Doubled indices of completions 0 to 7, see mlx4x_rx_indices(). */
static __rte_always_inline __m256i
indices_of(const __m256i high[PAIRS])
{
	__m256i status = _mm256_unpacklo_epi64(_mm256_unpacklo_epi32(high[0], high[1]),
		_mm256_unpacklo_epi32(high[2], high[3]));
	__m256i bits = _mm256_and_si256(status, _mm256_set1_epi32(MLX4X_RX_STATUS_MASK));
	__m256i pairs = _mm256_maddubs_epi16(bits, _mm256_set1_epi32(MLX4X_RX_STATUS_FACTORS));

	return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
}

/* As mlx4x_rx_take_group(), for eight frames. */
static __rte_always_inline bool
take_pairs(struct mlx4x_rx_run *run, __m256i *bytes)
{
	const __m256i shuffle = _mm256_broadcastsi128_si256(
		_mm_set_epi8(MLX4X_RX_DESCRIPTION_SHUFFLE));
	uint32_t index[2 * PAIRS] __rte_aligned(sizeof(__m256i));
	__m256i high[PAIRS];
	uint32_t j;

	MLX4X_RX_UNROLL
	for (j = 0; j < PAIRS; j++)
		high[j] = load_pair(run, j, 1);
	if (!are_good(run, high))
		return false;
	mlx4x_from_device();
	_mm256_store_si256((__m256i *)index, indices_of(high));
	memcpy(run->pkts, run->slots, 2 * PAIRS * sizeof(run->pkts[0]));
	MLX4X_RX_UNROLL
	for (j = 0; j < PAIRS; j++) {
		__m256i description = _mm256_shuffle_epi8(_mm256_unpacklo_epi32(high[j],
			load_pair(run, j, 0)), shuffle);

		*bytes = _mm256_add_epi32(*bytes, description);
		mlx4x_rx_put(run, run->slots[j], _mm256_castsi256_si128(description),
			mlx4x_rx_meaning_at(run, index[j]));
		mlx4x_rx_put(run, run->slots[PAIRS + j],
			_mm256_extracti128_si256(description, 1),
			mlx4x_rx_meaning_at(run, index[PAIRS + j]));
	}
	mlx4x_rx_advance(run, 2 * PAIRS);
	return true;
}

static __rte_always_inline uint32_t
take_run(struct mlx4x_rxq *rxq, struct rte_mbuf **pkts, uint32_t nb, size_t stride)
{
	__m256i wide = _mm256_setzero_si256();
	struct mlx4x_rx_run run;
	__m128i bytes;

	mlx4x_rx_run_begin(&run, rxq, pkts, nb, stride);
	while (run.nb >= 2 * PAIRS) {
		if (run.nb >= 4 * PAIRS)
			mlx4x_rx_prefetch(&run, 2 * PAIRS);
		if (!take_pairs(&run, &wide))
			break;
	}
	bytes = _mm_add_epi32(_mm256_castsi256_si128(wide), _mm256_extracti128_si256(wide, 1));
	while (run.nb >= MLX4X_RX_GROUP && mlx4x_rx_take_group(&run, &bytes))
		;
	return mlx4x_rx_run_end(&run, rxq, pkts, bytes);
}

uint16_t
mlx4x_rx_burst_avx2(void *queue, struct rte_mbuf **pkts, uint16_t nb_pkts)
{
	return mlx4x_rx_vec_burst(queue, pkts, nb_pkts, take_run);
}
