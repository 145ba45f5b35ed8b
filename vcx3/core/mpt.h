/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory keys (memory protection table). A key names a range of addresses of one
 * protection domain; all packet data is reached through it
 * (connectx3-device.md E.7, connectx3-pci.md B.9).
 */
#ifndef VCX3_CORE_MPT_H
#define VCX3_CORE_MPT_H

#include "core.h"

#define VCX3_ACCESS_LOCAL_WRITE 0x1
#define VCX3_MPT_UNLIMITED UINT64_MAX
#define VCX3_INVALID_LKEY 0x100 /* "stop here" in a receive WQE */

struct vcx3_mpt_attr {
	uint32_t pd;
	uint32_t access; /**< VCX3_ACCESS_*; reading is always allowed */
	uint64_t start; /**< first address */
	uint64_t length; /**< bytes, or VCX3_MPT_UNLIMITED */
	struct vcx3_object object; /**< address a is at offset a - start of it */
};

/**
 * The table index of a key: its bytes rotated (connectx3-pci.md B.9). The table takes it modulo
 * its size; software varies the bits above that with each use of an entry, so that an old key
 * does not reach a new region.
 */
static inline uint32_t
vcx3_mpt_index(uint32_t key)
{
	return key >> 8 | key << 24;
}

/** The key of a table index. */
static inline uint32_t
vcx3_mpt_key(uint32_t index)
{
	return index << 8 | index >> 24;
}

/** @return VCX3_BAD_INDEX (beyond the table or in use) or VCX3_BAD_PARAM (range wraps). */
enum vcx3_status vcx3_mpt_create(struct vcx3_core *core, uint32_t key,
				 const struct vcx3_mpt_attr *attr);

/** Voids a key at once. */
enum vcx3_status vcx3_mpt_destroy(struct vcx3_core *core, uint32_t key);

enum vcx3_status vcx3_mpt_query(const struct vcx3_core *core, uint32_t key,
				struct vcx3_mpt_attr *attr);

#endif
