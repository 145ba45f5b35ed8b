/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the device reads and writes in host memory: completion entries, send and
 * receive descriptors, doorbells. Only layout and named bits live here; the words
 * are decoded in cqe.h and composed in wqe.h. The layout is that of
 * infiniband/mlx4dv.h, with the fields that it calls reserved named after the
 * Linux headers include/linux/mlx4/{cq,qp}.h. Every field is big endian.
 */

#ifndef MLX4X_PRM_H
#define MLX4X_PRM_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_byteorder.h>

/* A completion queue entry. Of a 64-byte entry this is the second half. */
struct mlx4x_cqe {
	rte_be32_t vlan_my_qpn;
	rte_be32_t rss_hash;
	rte_be32_t g_mlpath_rqpn;
	union {
		struct {
			rte_be16_t vlan_tci;
			rte_be16_t rlid;
		};
		rte_be32_t ts_47_16;	/* in a queue that was created with time stamps */
	};
	rte_be32_t status;
	rte_be32_t byte_cnt;
	rte_be16_t wqe_index;
	rte_be16_t checksum;
	uint8_t reserved;
	uint8_t ts_15_8;
	uint8_t ts_7_0;
	uint8_t owner_sr_opcode;
};
static_assert(sizeof(struct mlx4x_cqe) == 32, "CQE");
static_assert(offsetof(struct mlx4x_cqe, status) == 16, "CQE status");
static_assert(offsetof(struct mlx4x_cqe, owner_sr_opcode) == 31, "CQE owner");

/* The same 32 bytes when the opcode is MLX4X_CQE_OPCODE_ERROR. */
struct mlx4x_err_cqe {
	rte_be32_t my_qpn;
	uint32_t reserved1[5];
	rte_be16_t wqe_index;
	uint8_t vendor_err;
	uint8_t syndrome;
	uint8_t reserved2[3];
	uint8_t owner_sr_opcode;
};
static_assert(sizeof(struct mlx4x_err_cqe) == sizeof(struct mlx4x_cqe), "error CQE");

/* owner_sr_opcode */
#define MLX4X_CQE_OWNER_MASK 0x80
#define MLX4X_CQE_IS_SEND 0x40
#define MLX4X_CQE_OPCODE_MASK 0x1f
#define MLX4X_CQE_OPCODE_RECV_SEND 0x01
#define MLX4X_CQE_OPCODE_ERROR 0x1e

/* vlan_my_qpn */
#define MLX4X_CQE_QPN_MASK 0xffffffu
#define MLX4X_CQE_TUNNEL_IPV4 (1u << 25)	/* the outer header is IPv4 */
#define MLX4X_CQE_TUNNEL_L4_OK (1u << 26)
#define MLX4X_CQE_TUNNEL (1u << 27)
#define MLX4X_CQE_CVLAN (1u << 29)
#define MLX4X_CQE_SVLAN (1u << 30)
#define MLX4X_CQE_TUNNEL_IP_OK (1u << 31)

/* status */
#define MLX4X_CQE_L4_OK (1u << 2)
#define MLX4X_CQE_BAD_FCS (1u << 4)
#define MLX4X_CQE_IPV6_FRAG (1u << 12)
#define MLX4X_CQE_IPV4 (1u << 22)
#define MLX4X_CQE_IPV4_FRAG (1u << 23)
#define MLX4X_CQE_IPV6 (1u << 24)
#define MLX4X_CQE_IPV4_OPT (1u << 25)
#define MLX4X_CQE_TCP (1u << 26)
#define MLX4X_CQE_UDP (1u << 27)
#define MLX4X_CQE_IP_OK (1u << 28)

/* The unit in which the send queue is divided and stamped. */
#define MLX4X_TXBB_SIZE 64u
#define MLX4X_TXBB_SHIFT 6

/* Control segment: the first 16 bytes of a send descriptor. */
struct mlx4x_wqe_ctrl {
	rte_be32_t owner_opcode;
	rte_be16_t vlan_tag;
	uint8_t ins_vlan;
	uint8_t fence_size;
	rte_be32_t srcrb_flags;
	rte_be32_t imm;
};
static_assert(sizeof(struct mlx4x_wqe_ctrl) == 16, "control segment");

/* Data segment, of a send as of a receive descriptor. */
struct mlx4x_wqe_data {
	rte_be32_t byte_count;
	rte_be32_t lkey;
	rte_be64_t addr;
};
static_assert(sizeof(struct mlx4x_wqe_data) == 16, "data segment");

/* owner_opcode */
#define MLX4X_WQE_OWNER (1u << 31)
#define MLX4X_WQE_IIP (1u << 28)	/* inner IPv4 checksum, ConnectX-3 Pro */
#define MLX4X_WQE_ILP (1u << 27)	/* inner L4 checksum, ConnectX-3 Pro */
#define MLX4X_WQE_RR (1u << 6)		/* goes with LSO */
#define MLX4X_WQE_OPCODE_SEND 0x0au
#define MLX4X_WQE_OPCODE_LSO 0x0eu

/* ins_vlan */
#define MLX4X_WQE_INS_CVLAN 0x40
#define MLX4X_WQE_INS_SVLAN 0x80

/* fence_size: the size in units of 16 bytes, control segment included */
#define MLX4X_WQE_SIZE_MASK 0x3f

/* srcrb_flags */
#define MLX4X_WQE_SOLICITED (1u << 1)	/* raw Ethernet: no ICRC */
#define MLX4X_WQE_CQ_UPDATE (3u << 2)
#define MLX4X_WQE_IP_CSUM (1u << 4)
#define MLX4X_WQE_L4_CSUM (1u << 5)
#define MLX4X_WQE_DMAC_HIGH_SHIFT 16

/* byte_count of a data segment: an inline segment; without data it fills a place. */
#define MLX4X_WQE_INLINE (1u << 31)

/* lkey that ends the scatter list of a receive descriptor. */
#define MLX4X_INVALID_LKEY 0x100u

/* What is written over a descriptor block that the device must not take. */
#define MLX4X_WQE_STAMP 0x7fffffffu

/*
 * The device prefetches up to 2 KiB of send descriptors: so much of the ring, and
 * one block more, never holds a valid owner bit (libmlx4: mlx4_create_qp).
 */
#define MLX4X_SQ_HEADROOM_TXBBS (2048 / MLX4X_TXBB_SIZE + 1)

/* Doorbell registers, offsets in the UAR page. */
#define MLX4X_SEND_DOORBELL 0x14
#define MLX4X_CQ_DOORBELL 0x20

/* CQ arm word: sequence number, command, CQ number or consumer index. */
#define MLX4X_CQ_ARM_SN_SHIFT 28
#define MLX4X_CQ_ARM_NEXT (2u << 24)
#define MLX4X_CQ_CI_MASK 0xffffffu

/* Time stamps are 48 bits wide. */
#define MLX4X_TIMESTAMP_MASK ((UINT64_C(1) << 48) - 1)

/* The hash of an RSS QP: a Toeplitz key of 40 bytes. */
#define MLX4X_RSS_KEY_SIZE 40

#endif /* MLX4X_PRM_H */
