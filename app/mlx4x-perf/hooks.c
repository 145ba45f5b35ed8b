/* SPDX-License-Identifier: BSD-3-Clause */

/* Native hooks; see hooks.h. */

#include "hooks.h"

#include <netinet/in.h>

#include <linux/bpf.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_pmd_mlx4x.h>

static uint64_t protocol_packets[256];

uint64_t
perf_hook_drop(struct xdpvm_buff *buff)
{
	return XDP_DROP;
}

uint64_t
perf_hook_pass(struct xdpvm_buff *buff)
{
	return XDP_PASS;
}

uint64_t
perf_hook_touch_drop(struct xdpvm_buff *buff)
{
	const struct rte_ether_hdr *eth = (const struct rte_ether_hdr *)buff->data;
	struct perf_work *work = buff->opaque;

	work->seen += eth->ether_type;
	return XDP_DROP;
}

uint64_t
perf_hook_swap_tx(struct xdpvm_buff *buff)
{
	struct rte_ether_hdr *eth = (struct rte_ether_hdr *)buff->data;
	struct rte_ether_addr dst = eth->dst_addr;

	if (buff->data + sizeof(*eth) > buff->data_end)
		return XDP_ABORTED;
	eth->dst_addr = eth->src_addr;
	eth->src_addr = dst;
	return XDP_TX;
}

uint64_t
perf_hook_swap_drop(struct xdpvm_buff *buff)
{
	perf_hook_swap_tx(buff);
	return XDP_DROP;
}

uint64_t
perf_hook_redirect(struct xdpvm_buff *buff)
{
	const struct perf_work *work = buff->opaque;

	buff->redirect.kind = XDPVM_REDIRECT_IFINDEX;
	buff->redirect.target = RTE_PMD_MLX4X_XDP_IFINDEX(work->ports.tx);
	buff->redirect.flags = 0;
	return XDP_REDIRECT;
}

bool
perf_encapsulate(uint8_t *old, const uint8_t *end)
{
	const struct rte_ether_hdr *from = (const struct rte_ether_hdr *)old;
	const struct rte_ipv4_hdr *inner = (const struct rte_ipv4_hdr *)(from + 1);
	struct rte_ether_hdr *eth = (struct rte_ether_hdr *)(old - PERF_ENCAP_BYTES);
	struct rte_ipv4_hdr *outer = (struct rte_ipv4_hdr *)(eth + 1);
	struct rte_ether_hdr frame;

	if ((const uint8_t *)(inner + 1) > end || from->ether_type != RTE_BE16(RTE_ETHER_TYPE_IPV4) ||
	    (inner->version_ihl & RTE_IPV4_HDR_IHL_MASK) < 5)
		return false;
	frame = *from;
	*eth = (struct rte_ether_hdr){ frame.src_addr, frame.dst_addr, frame.ether_type };
	*outer = (struct rte_ipv4_hdr){
		.version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = rte_cpu_to_be_16(rte_be_to_cpu_16(inner->total_length) +
			PERF_ENCAP_BYTES),
		.time_to_live = 64,
		.next_proto_id = IPPROTO_IPIP,
		.src_addr = RTE_BE32(RTE_IPV4(10, 0, 0, 1)),
		.dst_addr = RTE_BE32(RTE_IPV4(10, 0, 0, 2)),
	};
	outer->hdr_checksum = rte_ipv4_cksum(outer);
	return true;
}

uint64_t
perf_hook_encap_tx(struct xdpvm_buff *buff)
{
	if (!perf_encapsulate(buff->data, buff->data_end))
		return XDP_PASS;
	buff->data -= PERF_ENCAP_BYTES;
	buff->data_meta = buff->data;
	return XDP_TX;
}

/* Skips Ethernet and up to two VLAN tags. The packet may be too short for the result. */
static inline const uint8_t *
skip_ethernet(const uint8_t *data, const uint8_t *end, rte_be16_t *ether_type)
{
	const struct rte_ether_hdr *eth = (const struct rte_ether_hdr *)data;
	const uint8_t *next = data + sizeof(*eth);
	unsigned int i;

	if (next > end)
		return next;
	*ether_type = eth->ether_type;
	for (i = 0; i < 2; i++) {
		const struct rte_vlan_hdr *vlan = (const struct rte_vlan_hdr *)next;

		if (*ether_type != RTE_BE16(RTE_ETHER_TYPE_VLAN) &&
		    *ether_type != RTE_BE16(RTE_ETHER_TYPE_QINQ))
			break;
		next += sizeof(*vlan);
		if (next > end)
			break;
		*ether_type = vlan->eth_proto;
	}
	return next;
}

uint32_t
perf_flow_cpu(const uint8_t *data, const uint8_t *end, uint32_t nb)
{
	rte_be16_t ether_type = 0;
	const uint8_t *next = skip_ethernet(data, end, &ether_type);
	const struct rte_ipv4_hdr *ip = (const struct rte_ipv4_hdr *)next;

	if (ether_type != RTE_BE16(RTE_ETHER_TYPE_IPV4) || next + sizeof(*ip) > end ||
	    (ip->version_ihl & RTE_IPV4_HDR_IHL_MASK) < 5)
		return nb;
	return ((ip->src_addr ^ ip->dst_addr) * 0x9e3779b1u >> 16) % nb;
}

void
perf_count_protocol(const uint8_t *data, const uint8_t *end)
{
	rte_be16_t ether_type = 0;
	const uint8_t *next = skip_ethernet(data, end, &ether_type);
	const struct rte_ipv4_hdr *ip = (const struct rte_ipv4_hdr *)next;
	uint8_t protocol = 0;

	if (ether_type == RTE_BE16(RTE_ETHER_TYPE_IPV4) && next + sizeof(*ip) <= end &&
	    (ip->version_ihl & RTE_IPV4_HDR_IHL_MASK) >= 5)
		protocol = ip->next_proto_id;
	protocol_packets[protocol]++;
}

uint64_t
perf_hook_count_drop(struct xdpvm_buff *buff)
{
	perf_count_protocol(buff->data, buff->data_end);
	return XDP_DROP;
}
