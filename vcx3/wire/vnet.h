/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCX3_WIRE_VNET_H
#define VCX3_WIRE_VNET_H

/*
 * What a host leaves to its network card and a cable cannot carry: checksums
 * that are not complete and TCP or UDP super-frames (struct virtio_net_hdr, as
 * PACKET_VNET_HDR of packet(7) hands them out). No system call here.
 */

#include <linux/virtio_net.h>
#include <stdbool.h>
#include <stdint.h>

/* A super-frame that is being cut. */
struct vcx3_vnet_cut {
	const uint8_t *frame;
	uint32_t len;
	uint32_t l3;		/* offset of the IP header */
	uint32_t l4;		/* of the TCP or UDP header */
	uint32_t headers;	/* of the payload */
	uint32_t payload;	/* bytes of it in a frame, the last one less */
	uint32_t done;		/* bytes of it that were cut off */
	uint32_t number;	/* frames that were cut off */
	uint8_t proto;
};

/* Puts a VLAN tag back: the frame then starts VLAN_LEN bytes earlier. */
void vcx3_vnet_push_vlan(struct virtio_net_hdr *header, uint8_t *frame, uint16_t tpid,
	uint16_t tci);

/* Completes the checksum if the header says so. -EINVAL: outside the frame, or not RFC 1071. */
int vcx3_vnet_complete(const struct virtio_net_hdr *header, uint8_t *frame, uint32_t len);

static inline bool
vcx3_vnet_is_super(const struct virtio_net_hdr *header)
{
	return header->gso_type != VIRTIO_NET_HDR_GSO_NONE;
}

/* Starts to cut a super-frame. -EINVAL: malformed, -ENOTSUP: not TCP or UDP segmentation. */
int vcx3_vnet_cut_start(struct vcx3_vnet_cut *cut, const struct virtio_net_hdr *header,
	const uint8_t *frame, uint32_t len);

/* Length of the next frame, 0 when all are cut. */
uint32_t vcx3_vnet_cut_len(const struct vcx3_vnet_cut *cut);

/* Writes the next frame, vcx3_vnet_cut_len() bytes, to out. */
void vcx3_vnet_cut_next(struct vcx3_vnet_cut *cut, uint8_t *out);

#endif /* VCX3_WIRE_VNET_H */
