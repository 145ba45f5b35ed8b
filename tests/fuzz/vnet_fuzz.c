/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Frames with a struct virtio_net_hdr in front, as a packet socket brings them:
 * completing and cutting stay inside the frame, and the cuts add up to it.
 */

#include <stdlib.h>
#include <string.h>

#include "headers.h"
#include "vnet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
cut_all(const struct virtio_net_hdr *header, const uint8_t *frame, uint32_t len)
{
	struct vcx3_vnet_cut cut;
	uint32_t payload = 0;
	uint32_t piece;

	if (vcx3_vnet_cut_start(&cut, header, frame, len) != 0)
		return;
	while ((piece = vcx3_vnet_cut_len(&cut)) != 0) {
		uint8_t *out = malloc(piece);

		if (out == NULL)
			return;
		vcx3_vnet_cut_next(&cut, out);
		if (piece <= cut.headers || piece - cut.headers > header->gso_size)
			__builtin_trap();
		payload += piece - cut.headers;
		free(out);
	}
	if (cut.headers + payload != len)
		__builtin_trap();
}

/* The lowest bit of the unused hdr_len asks for a VLAN tag. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct virtio_net_hdr header;
	uint32_t len = (uint32_t)(size - sizeof(header));
	uint8_t *memory;
	uint8_t *frame;

	if (size < sizeof(header) + ETHER_LEN || size > 8192)
		return 0;
	memcpy(&header, data, sizeof(header));
	memory = malloc(VLAN_LEN + len);
	if (memory == NULL)
		return 0;
	frame = memory + VLAN_LEN;
	memcpy(frame, data + sizeof(header), len);
	if (header.hdr_len & 1) {
		vcx3_vnet_push_vlan(&header, frame, ETHER_TYPE_VLAN, 1);
		frame -= VLAN_LEN;
		len += VLAN_LEN;
	}
	if (vcx3_vnet_is_super(&header))
		cut_all(&header, frame, len);
	else
		vcx3_vnet_complete(&header, frame, len);
	free(memory);
	return 0;
}
