/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Helpers that move the edges of the packet or copy from and to it. Limits and errors are those of
 * Linux 6.18 for a packet in one piece; offsets are 32-bit signed, as there.
 */
#include <linux/if_ether.h>

#include "helper.h"

#define ENOTSUPP_LINUX 524	/* what the kernel calls ENOTSUPP */
#define MAX_METADATA 252	/* bytes: an 8-bit length, in words of META_ALIGN */
#define META_ALIGN 4u
#define MAX_COPY 0xffffu	/* bytes: Linux refuses larger offsets and lengths */

XDPVM_HELPER(xdp_adjust_head)
{
	struct xdpvm_buff *xdp = xdpvm_arg_pointer(r1);
	int32_t offset = (int32_t)r2;
	size_t meta = xdp->data_meta < xdp->data ? xdp->data - xdp->data_meta : 0;
	uint8_t *data = xdp->data + offset;

	if (data < xdp->hard_start + XDPVM_FRAME_RESERVED + meta || data > xdp->data_end - ETH_HLEN)
		return -EINVAL;
	if (meta > 0)
		memmove(xdp->data_meta + offset, xdp->data_meta, meta);
	xdp->data_meta += offset;
	xdp->data = data;
	return 0;
}

XDPVM_HELPER(xdp_adjust_tail)
{
	struct xdpvm_buff *xdp = xdpvm_arg_pointer(r1);
	int32_t offset = (int32_t)r2;
	uint8_t *end = xdp->data_end + offset;

	if (end > xdp->frame_end || end < xdp->data + ETH_HLEN)
		return -EINVAL;
	if (offset > 0)
		memset(xdp->data_end, 0, offset);
	xdp->data_end = end;
	return 0;
}

XDPVM_HELPER(xdp_adjust_meta)
{
	struct xdpvm_buff *xdp = xdpvm_arg_pointer(r1);
	uint8_t *meta = xdp->data_meta + (int32_t)r2;

	if (xdp->data_meta > xdp->data)
		return -ENOTSUPP_LINUX;
	if (meta < xdp->hard_start + XDPVM_FRAME_RESERVED || meta > xdp->data)
		return -EINVAL;
	if ((xdp->data - meta) % META_ALIGN != 0 || xdp->data - meta > MAX_METADATA)
		return -EACCES;
	xdp->data_meta = meta;
	return 0;
}

XDPVM_HELPER(xdp_get_buff_len)
{
	struct xdpvm_buff *xdp = xdpvm_arg_pointer(r1);

	return xdp->data_end - xdp->data;
}

/* 0 or a negative errno: whether the packet has len bytes at offset. */
static int
packet_has(const struct xdpvm_buff *xdp, uint32_t offset, uint32_t len)
{
	if (offset > MAX_COPY || len > MAX_COPY)
		return -EFAULT;
	return offset + len > xdp->data_end - xdp->data ? -EINVAL : 0;
}

XDPVM_HELPER(xdp_load_bytes)
{
	struct xdpvm_buff *xdp = xdpvm_arg_pointer(r1);
	int ret = packet_has(xdp, r2, r4);

	if (ret == 0)
		memmove(xdpvm_arg_pointer(r3), xdp->data + (uint32_t)r2, (uint32_t)r4);
	return ret;
}

XDPVM_HELPER(xdp_store_bytes)
{
	struct xdpvm_buff *xdp = xdpvm_arg_pointer(r1);
	int ret = packet_has(xdp, r2, r4);

	if (ret == 0)
		memmove(xdp->data + (uint32_t)r2, xdpvm_arg_pointer(r3), (uint32_t)r4);
	return ret;
}
