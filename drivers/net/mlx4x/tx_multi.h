/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a descriptor of several blocks can hold. tx_multi.c drops frames beyond it,
 * tx_prepare.c tells the application in advance.
 */

#ifndef MLX4X_TX_MULTI_H
#define MLX4X_TX_MULTI_H

#include "mlx4x.h"

/*
 * Largest descriptor, in units of 16 bytes and in blocks: what the kernel's driver
 * uses (MAX_DESC_SIZE 512), and what the spare room of the ring is made for.
 */
#define MLX4X_TX_MAX_DS 32u
#define MLX4X_TX_MAX_BLOCKS (MLX4X_TX_MAX_DS / 4)
#define MLX4X_TX_MAX_SEGS (MLX4X_TX_MAX_DS - 1)

/* Longest headers of a TCP segmentation: what the device is known to take. */
#define MLX4X_TX_MAX_TSO_HEADER 192

/* Units of an LSO segment: a word, and the headers. */
static inline uint32_t
mlx4x_tx_lso_ds(uint32_t hdr_len)
{
	return (sizeof(rte_be32_t) + hdr_len + 15) / 16;
}

/* Headers of a frame to be segmented, those of a tunnel included. */
static inline uint32_t
mlx4x_tx_header_len(const struct rte_mbuf *mbuf)
{
	uint32_t len = mbuf->l2_len + mbuf->l3_len + mbuf->l4_len;

	if (mbuf->ol_flags & RTE_MBUF_F_TX_TUNNEL_MASK)
		len += mbuf->outer_l2_len + mbuf->outer_l3_len;
	return len;
}

/* True if a TCP or UDP checksum is asked for; a segmentation implies it. */
static inline bool
mlx4x_tx_wants_l4(uint64_t ol_flags)
{
	uint64_t l4 = ol_flags & RTE_MBUF_F_TX_L4_MASK;

	return l4 == RTE_MBUF_F_TX_TCP_CKSUM || l4 == RTE_MBUF_F_TX_UDP_CKSUM ||
		ol_flags & RTE_MBUF_F_TX_TCP_SEG;
}

/* 0 if the queue can send the frame, else the errno that says why not. */
int mlx4x_tx_check(const struct mlx4x_txq *txq, const struct rte_mbuf *mbuf);

#endif /* MLX4X_TX_MULTI_H */
