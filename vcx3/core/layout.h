/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words that the device shares with software: bits of send WQEs, data segments and
 * CQEs (connectx3-device.md D), and access to big-endian memory.
 */
#ifndef VCX3_CORE_LAYOUT_H
#define VCX3_CORE_LAYOUT_H

#include <stdint.h>
#include <string.h>

/* Send WQE, dword 0 (D.1). */
#define VCX3_SQ_OWNER 0x80000000u
#define VCX3_SQ_NO_ERROR_CQE 0x20000000u
#define VCX3_SQ_INNER_IP_CSUM 0x10000000u
#define VCX3_SQ_INNER_L4_CSUM 0x08000000u
#define VCX3_SQ_OPCODE 0x1fu
/* dword 1 */
#define VCX3_SQ_VLAN_SHIFT 16
#define VCX3_SQ_INS_CVLAN 0x4000u
#define VCX3_SQ_INS_SVLAN 0x8000u
#define VCX3_SQ_DS 0x3fu
/* dword 2 */
#define VCX3_SQ_L4_CSUM 0x20u
#define VCX3_SQ_IP_CSUM 0x10u
#define VCX3_SQ_CQ_UPDATE 0x0cu
#define VCX3_SQ_FORCE_LOOPBACK 0x01u

#define VCX3_OPCODE_NOP 0x00
#define VCX3_OPCODE_SEND 0x0a
#define VCX3_OPCODE_LSO 0x0e

#define VCX3_SEGMENT 16 /* bytes of control and data segments, the unit of DS */
#define VCX3_INLINE 0x80000000u /* in a byte count: the data follows */

/* CQE (D.5, D.6). */
#define VCX3_CQE_SIZE 32 /* the part that means something */
#define VCX3_CQE_OWNER 0x80
#define VCX3_CQE_SEND 0x40
#define VCX3_CQE_RX_SEND 0x01
#define VCX3_CQE_RESIZE 0x16
#define VCX3_CQE_ERROR 0x1e
#define VCX3_CQE_INIT 0xcc /* owner bit set: belongs to the device */

#define VCX3_CQE_TUNNEL_IP_OK (1u << 31)
#define VCX3_CQE_SVLAN (1u << 30)
#define VCX3_CQE_CVLAN (1u << 29)
#define VCX3_CQE_TUNNEL (1u << 27)
#define VCX3_CQE_TUNNEL_L4_OK (1u << 26)
#define VCX3_CQE_TUNNEL_IPV4 (1u << 25)

#define VCX3_STATUS_IP_OK (1u << 28)
#define VCX3_STATUS_UDP (1u << 27)
#define VCX3_STATUS_TCP (1u << 26)
#define VCX3_STATUS_IPV4_OPTIONS (1u << 25)
#define VCX3_STATUS_IPV6 (1u << 24)
#define VCX3_STATUS_IPV4_FRAGMENT (1u << 23)
#define VCX3_STATUS_IPV4 (1u << 22)
#define VCX3_STATUS_IPV6_FRAGMENT (1u << 12)
#define VCX3_STATUS_L4_OK (1u << 2)

/* Syndromes of error CQEs (D.7). */
enum vcx3_syndrome {
	VCX3_SYNDROME_LENGTH = 0x01,
	VCX3_SYNDROME_QP_OPERATION = 0x02,
	VCX3_SYNDROME_PROTECTION = 0x04,
	VCX3_SYNDROME_FLUSH = 0x05,
};

static inline uint16_t
vcx3_load_be16(const void *address)
{
	uint16_t value;

	memcpy(&value, address, sizeof(value));
	return __builtin_bswap16(value);
}

static inline uint32_t
vcx3_load_be32(const void *address)
{
	uint32_t value;

	memcpy(&value, address, sizeof(value));
	return __builtin_bswap32(value);
}

static inline uint64_t
vcx3_load_be64(const void *address)
{
	uint64_t value;

	memcpy(&value, address, sizeof(value));
	return __builtin_bswap64(value);
}

static inline void
vcx3_store_be16(void *address, uint16_t value)
{
	value = __builtin_bswap16(value);
	memcpy(address, &value, sizeof(value));
}

static inline void
vcx3_store_be32(void *address, uint32_t value)
{
	value = __builtin_bswap32(value);
	memcpy(address, &value, sizeof(value));
}

/** A word that software publishes: what it wrote before is seen after this. */
static inline uint32_t
vcx3_load_published_be32(const void *address)
{
	return __builtin_bswap32(__atomic_load_n((const uint32_t *)address, __ATOMIC_ACQUIRE));
}

#endif
