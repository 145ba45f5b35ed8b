/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a receive CQE says about a frame (connectx3-device.md D.5, D.6).
 */
#include "checksum.h"
#include "device.h"

static bool
is_ip_good(const uint8_t *data, const struct vcx3_headers *headers)
{
	uint32_t l3 = headers->l3;

	return headers->version == 6 ||
	       vcx3_sum_fold(vcx3_sum(data + l3, (data[l3] & 15) * 4, 0)) == UINT16_MAX;
}

/* A zero UDP checksum on IPv4 means none was sent: taken as right [U]. */
static bool
has_no_checksum(const uint8_t *data, const struct vcx3_headers *headers)
{
	return headers->protocol == VCX3_PROTO_UDP && headers->version == 4 &&
	       vcx3_load_be16(data + headers->l4 + 6) == 0;
}

static bool
is_l4_good(const uint8_t *data, const struct vcx3_headers *headers, uint16_t sum)
{
	return headers->is_l4 && (sum == UINT16_MAX || has_no_checksum(data, headers));
}

static uint32_t
ip_status(const struct vcx3_headers *headers)
{
	uint32_t status;

	if (headers->version == 6)
		return VCX3_STATUS_IPV6 | (headers->is_fragment ? VCX3_STATUS_IPV6_FRAGMENT : 0);
	status = VCX3_STATUS_IPV4;
	if (headers->is_fragment)
		status |= VCX3_STATUS_IPV4_FRAGMENT;
	if (headers->has_options)
		status |= VCX3_STATUS_IPV4_OPTIONS;
	return status;
}

/* Status word and checksum of one IP packet. */
static void
classify_ip(const uint8_t *data, const struct vcx3_headers *headers, struct vcx3_meta *meta)
{
	uint16_t sum;

	if (headers->version == 0)
		return;
	meta->status = ip_status(headers);
	if (is_ip_good(data, headers))
		meta->status |= VCX3_STATUS_IP_OK;
	sum = vcx3_l4_sum(data, headers);
	meta->checksum = __builtin_bswap16(sum);
	if (!headers->is_l4)
		return;
	meta->status |= headers->protocol == VCX3_PROTO_TCP ? VCX3_STATUS_TCP : VCX3_STATUS_UDP;
	if (is_l4_good(data, headers, sum)) {
		meta->status |= VCX3_STATUS_L4_OK;
		meta->checksum = UINT16_MAX;
	}
}

/* The Pro describes the inner packet in the status word and the outer one in the flags. */
static uint32_t
tunnel_flags(const uint8_t *data, const struct vcx3_headers *outer, const struct vcx3_meta *inner)
{
	uint32_t flags = VCX3_CQE_TUNNEL;

	if (outer->version == 4)
		flags |= VCX3_CQE_TUNNEL_IPV4;
	if (is_ip_good(data, outer))
		flags |= VCX3_CQE_TUNNEL_IP_OK;
	if (is_l4_good(data, outer, vcx3_l4_sum(data, outer)) && inner->status & VCX3_STATUS_L4_OK)
		flags |= VCX3_CQE_TUNNEL_L4_OK;
	return flags;
}

void
vcx3_classify(const struct vcx3_core *core, const uint8_t *data, uint32_t len,
	      const struct vcx3_headers *headers, struct vcx3_meta *meta)
{
	bool is_pro = core->config.device == VCX3_CX3_PRO;
	uint32_t inner = is_pro ? vcx3_parse_vxlan(data, headers) : 0;
	struct vcx3_headers inner_headers;

	*meta = (struct vcx3_meta){ .tci = headers->tci };
	if (headers->vlan_type != 0)
		meta->vlan_flags = headers->vlan_type == VCX3_ETHER_SVLAN ? VCX3_CQE_SVLAN :
									   VCX3_CQE_CVLAN;
	if (inner == 0) {
		classify_ip(data, headers, meta);
		return;
	}
	vcx3_parse(data, inner, len, &inner_headers);
	classify_ip(data, &inner_headers, meta);
	meta->vlan_flags |= tunnel_flags(data, headers, meta);
}
