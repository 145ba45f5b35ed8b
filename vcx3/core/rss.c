/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which queue of an RSS QP a frame goes to (connectx3-device.md E.4).
 */
#include <string.h>

#include "device.h"

/* Whether the flags ask for the ports of this packet, too. */
static bool
hashes_ports(uint8_t flags, const struct vcx3_headers *headers)
{
	uint8_t tcp = headers->version == 4 ? VCX3_RSS_TCP_IPV4 : VCX3_RSS_TCP_IPV6;
	uint8_t udp = headers->version == 4 ? VCX3_RSS_UDP_IPV4 : VCX3_RSS_UDP_IPV6;

	return headers->is_l4 && flags & (headers->protocol == VCX3_PROTO_TCP ? tcp : udp);
}

/* Collects the hash input; 0 bytes when this packet is not hashed. */
static size_t
hash_input(uint8_t flags, const uint8_t *data, const struct vcx3_headers *headers,
	   uint8_t input[VCX3_TOEPLITZ_MAX_INPUT])
{
	bool ports = headers->version != 0 && hashes_ports(flags, headers);
	size_t len;

	if (headers->version == 4 && (ports || flags & VCX3_RSS_IPV4)) {
		len = 8;
		memcpy(input, data + headers->l3 + 12, len);
	} else if (headers->version == 6 && (ports || flags & VCX3_RSS_IPV6)) {
		len = 32;
		memcpy(input, data + headers->l3 + 8, len);
	} else {
		return 0;
	}
	if (ports)
		memcpy(input + len, data + headers->l4, 4);
	return ports ? len + 4 : len;
}

uint32_t
vcx3_rss_select(const struct vcx3_qp *rss_qp, const uint8_t *data, uint32_t len,
		const struct vcx3_headers *headers, uint32_t *hash)
{
	const struct vcx3_rss_attr *rss = &rss_qp->attr.rss;
	uint8_t input[VCX3_TOEPLITZ_MAX_INPUT];
	uint8_t flags = rss->flags;
	struct vcx3_headers inner;
	uint32_t offset = flags & VCX3_RSS_INNER ? vcx3_parse_vxlan(data, headers) : 0;
	size_t size;

	if (offset != 0) { /* inner addresses only */
		vcx3_parse(data, offset, len, &inner);
		headers = &inner;
		flags &= VCX3_RSS_IPV4 | VCX3_RSS_IPV6;
	}
	size = hash_input(flags, data, headers, input);
	*hash = size > 0 ? vcx3_toeplitz_hash(rss_qp->toeplitz, input, size) : 0;
	if (size == 0)
		return rss->default_qpn;
	return rss->base_qpn + (*hash & ((1u << rss->log_size) - 1));
}
