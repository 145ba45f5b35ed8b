/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two programs in one section: xdp_vlan_pop takes the outer tag off, xdp_vlan_push puts
 * the tag of the map on. Both move the head of the packet.
 */
#include "parse.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} pushed_tci SEC(".maps");

struct macs {
	__u8 bytes[2 * ETH_ALEN];
};

SEC("xdp")
int xdp_vlan_pop(struct xdp_md *ctx)
{
	struct packet packet = packet_of(ctx);
	struct ethhdr *eth = packet.data;
	struct macs macs;

	if ((void *)(eth + 1) + sizeof(struct vlan_tag) > packet.end ||
	    eth->h_proto != bpf_htons(ETH_P_8021Q))
		return XDP_PASS;
	__builtin_memcpy(&macs, eth, sizeof(macs));
	if (bpf_xdp_adjust_head(ctx, sizeof(struct vlan_tag)))
		return XDP_ABORTED;
	packet = packet_of(ctx);
	if (packet.data + sizeof(macs) > packet.end)
		return XDP_ABORTED;
	__builtin_memcpy(packet.data, &macs, sizeof(macs));
	return XDP_PASS;
}

SEC("xdp")
int xdp_vlan_push(struct xdp_md *ctx)
{
	const int grow = sizeof(struct vlan_tag);
	__u32 zero = 0;
	__u32 *tci = bpf_map_lookup_elem(&pushed_tci, &zero);
	struct packet packet = packet_of(ctx);
	struct macs macs;
	__be16 *type_and_tci;

	if (!tci || packet.data + sizeof(struct ethhdr) > packet.end)
		return XDP_PASS;
	__builtin_memcpy(&macs, packet.data, sizeof(macs));
	if (bpf_xdp_adjust_head(ctx, -grow))
		return XDP_ABORTED;
	packet = packet_of(ctx);
	if (packet.data + sizeof(macs) + grow > packet.end)
		return XDP_ABORTED;
	__builtin_memcpy(packet.data, &macs, sizeof(macs));
	type_and_tci = packet.data + sizeof(macs);
	type_and_tci[0] = bpf_htons(ETH_P_8021Q);
	type_and_tci[1] = bpf_htons(*tci);
	return XDP_TX;
}

char _license[] SEC("license") = "Dual BSD/GPL";
