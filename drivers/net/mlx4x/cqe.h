/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Reading a completion entry. Nothing outside this header (and its vector twins in
 * rx_vec_sse.c and rx_vec_avx2.c) touches the big-endian words of struct mlx4x_cqe.
 *
 * Packet type and offload flags come out of one table lookup: the bits of the entry
 * that matter are squeezed into an index, and the table, built when the port starts
 * (rx_table.c), holds what the port's configuration makes of them. So no burst
 * function asks at run time which offload is on.
 */

#ifndef MLX4X_CQE_H
#define MLX4X_CQE_H

#include <stdbool.h>

#include "prm.h"

/*
 * Bits of the table index. The order is the one that costs the fewest shifts when
 * the status word is taken as it lies in memory of a little-endian processor.
 */
#define MLX4X_RX_IDX_IPV6 (1u << 0)
#define MLX4X_RX_IDX_IPV4_OPT (1u << 1)
#define MLX4X_RX_IDX_TCP (1u << 2)
#define MLX4X_RX_IDX_UDP (1u << 3)
#define MLX4X_RX_IDX_IP_OK (1u << 4)
#define MLX4X_RX_IDX_IPV4 (1u << 5)
#define MLX4X_RX_IDX_IPV4_FRAG (1u << 6)
#define MLX4X_RX_IDX_L4_OK (1u << 7)
#define MLX4X_RX_IDX_IPV6_FRAG (1u << 8)
#define MLX4X_RX_TABLE_SIZE (1u << 9)

/* ConnectX-3 Pro: bits of vlan_my_qpn that pick one of the tunnel tables. */
#define MLX4X_RX_TUN_IPV4 (1u << 0)
#define MLX4X_RX_TUN_L4_OK (1u << 1)
#define MLX4X_RX_TUN_IP_OK (1u << 2)
#define MLX4X_RX_TUN_TABLES (1u << 3)

/* What a packet with the bits of one index is handed up with. */
struct mlx4x_rx_meaning {
	uint32_t ptype;
	uint32_t ol_flags;	/* all flags that Rx can set lie in the low half */
};

/* Entry idx of a ring whose entries are 1 << shift bytes apart. */
static inline const struct mlx4x_cqe *
mlx4x_cqe_at(const uint8_t *cqes, uint32_t idx, uint32_t shift)
{
	return (const struct mlx4x_cqe *)(cqes + ((size_t)idx << shift));
}

/* True if the device has written entry number ci of a ring of cqe_cnt entries. */
static inline bool
mlx4x_cqe_is_ready(const struct mlx4x_cqe *cqe, uint32_t ci, uint32_t cqe_cnt)
{
	uint8_t owner = *(const volatile uint8_t *)&cqe->owner_sr_opcode;

	return !(owner & MLX4X_CQE_OWNER_MASK) == !(ci & cqe_cnt);
}

static inline bool
mlx4x_cqe_is_error(const struct mlx4x_cqe *cqe)
{
	return (cqe->owner_sr_opcode & MLX4X_CQE_OPCODE_MASK) == MLX4X_CQE_OPCODE_ERROR;
}

static inline uint8_t
mlx4x_cqe_syndrome(const struct mlx4x_cqe *cqe)
{
	return ((const struct mlx4x_err_cqe *)cqe)->syndrome;
}

static inline uint8_t
mlx4x_cqe_vendor_err(const struct mlx4x_cqe *cqe)
{
	return ((const struct mlx4x_err_cqe *)cqe)->vendor_err;
}

static inline uint16_t
mlx4x_cqe_wqe_index(const struct mlx4x_cqe *cqe)
{
	return rte_be_to_cpu_16(cqe->wqe_index);
}

static inline uint32_t
mlx4x_cqe_byte_count(const struct mlx4x_cqe *cqe)
{
	return rte_be_to_cpu_32(cqe->byte_cnt);
}

static inline uint32_t
mlx4x_cqe_rss_hash(const struct mlx4x_cqe *cqe)
{
	return rte_be_to_cpu_32(cqe->rss_hash);
}

static inline bool
mlx4x_cqe_is_bad_fcs(const struct mlx4x_cqe *cqe)
{
	return cqe->status & RTE_BE32(MLX4X_CQE_BAD_FCS);
}

/* True if the frame carries a tag whose TCI the entry holds. */
static inline bool
mlx4x_cqe_has_vlan(const struct mlx4x_cqe *cqe)
{
	return cqe->vlan_my_qpn & RTE_BE32(MLX4X_CQE_CVLAN | MLX4X_CQE_SVLAN);
}

static inline uint16_t
mlx4x_cqe_vlan_tci(const struct mlx4x_cqe *cqe)
{
	return rte_be_to_cpu_16(cqe->vlan_tci);
}

/*
 * The 48-bit time stamp. Its two parts are not latched together: a low part of 0
 * belongs to a high part that has not been carried into yet (Linux:
 * mlx4_en_get_cqe_ts).
 */
static inline uint64_t
mlx4x_cqe_timestamp(const struct mlx4x_cqe *cqe)
{
	uint32_t low = (uint32_t)cqe->ts_15_8 << 8 | cqe->ts_7_0;
	uint64_t high = rte_be_to_cpu_32(cqe->ts_47_16);

	return ((high + (low == 0)) << 16 | low) & MLX4X_TIMESTAMP_MASK;
}

/* Index into the table of struct mlx4x_rx_meaning. */
static inline uint32_t
mlx4x_cqe_meaning_index(const struct mlx4x_cqe *cqe)
{
	uint32_t status = rte_be_to_cpu_32(cqe->status);

	return ((status >> 24) & 0x1f) |
	       ((status >> 17) & 0x60) |
	       ((status & MLX4X_CQE_L4_OK) << 5) |
	       ((status & MLX4X_CQE_IPV6_FRAG) >> 4);
}

static inline bool
mlx4x_cqe_is_tunnel(const struct mlx4x_cqe *cqe)
{
	return cqe->vlan_my_qpn & RTE_BE32(MLX4X_CQE_TUNNEL);
}

/* Number of the tunnel table: the MLX4X_RX_TUN_ bits. */
static inline uint32_t
mlx4x_cqe_tunnel_table(const struct mlx4x_cqe *cqe)
{
	uint32_t word = rte_be_to_cpu_32(cqe->vlan_my_qpn);

	return ((word >> 25) & (MLX4X_RX_TUN_IPV4 | MLX4X_RX_TUN_L4_OK)) |
	       ((word >> 29) & MLX4X_RX_TUN_IP_OK);
}

#endif /* MLX4X_CQE_H */
