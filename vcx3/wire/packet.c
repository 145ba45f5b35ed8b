/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A wire to a network interface of this machine through AF_PACKET, usually one
 * end of a veth pair. A host leaves checksums open and hands out super-frames and
 * VLAN tags beside the frame; all of that is undone here, so that the port sees
 * what a cable would carry and nobody needs ethtool. The interface itself is
 * left as it is, and its state is the carrier.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "batch.h"
#include "headers.h"
#include "kinds.h"
#include "vnet.h"

#define BATCH 64
/* Longest super-frame of a host (legacy GSO) with its Ethernet header. */
#define SUPER_MAX (65536 + 64)
/* In front of a received frame, for a VLAN tag. */
#define HEADROOM 16
/* Room for cut frames: a few of the longest super-frames. */
#define CUT_SIZE (512 * 1024)
/* Kernel buffers that hold a burst. */
#define SOCKET_BUFFER (8 << 20)

struct rx_slot {
	struct virtio_net_hdr header;
	uint8_t headroom[HEADROOM];
	uint8_t frame[SUPER_MAX];
	union {
		struct cmsghdr align;
		uint8_t bytes[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
	} control;
};

struct packet {
	struct vcx3_wire wire;
	int fd;
	char name[IFNAMSIZ];

	struct vcx3_batch batch;

	/* Messages of the socket, of which the first slots are done. */
	struct mmsghdr rx_messages[BATCH];
	struct iovec rx_pieces[BATCH][2];
	struct sockaddr_ll rx_source[BATCH];
	uint32_t rx_done;
	uint32_t rx_count;
	bool cutting;
	struct vcx3_vnet_cut cut;
	uint32_t cut_used;

	struct mmsghdr tx_messages[BATCH];
	struct iovec tx_pieces[BATCH][2];
	uint32_t tx_first;	/* not sent yet */
	uint32_t tx_last;
	struct virtio_net_hdr tx_header;	/* nothing left to the host */

	struct rx_slot rx_slots[BATCH];
	uint8_t cut_memory[CUT_SIZE];
	uint8_t tx_slots[BATCH][VCX3_WIRE_FRAME_MAX];
};

static void
prepare_rx(struct packet *packet)
{
	for (uint32_t i = 0; i < BATCH; i++) {
		struct rx_slot *slot = &packet->rx_slots[i];
		struct msghdr *message = &packet->rx_messages[i].msg_hdr;

		packet->rx_pieces[i][0] = (struct iovec){&slot->header, sizeof(slot->header)};
		packet->rx_pieces[i][1] = (struct iovec){slot->frame, sizeof(slot->frame)};
		*message = (struct msghdr){
			.msg_name = &packet->rx_source[i],
			.msg_namelen = sizeof(packet->rx_source[i]),
			.msg_iov = packet->rx_pieces[i],
			.msg_iovlen = 2,
			.msg_control = &slot->control,
			.msg_controllen = sizeof(slot->control.bytes),
		};
	}
}

static void
prepare_tx(struct packet *packet)
{
	for (uint32_t i = 0; i < BATCH; i++) {
		packet->tx_pieces[i][0] = (struct iovec){&packet->tx_header,
			sizeof(packet->tx_header)};
		packet->tx_pieces[i][1].iov_base = packet->tx_slots[i];
		packet->tx_messages[i].msg_hdr = (struct msghdr){
			.msg_iov = packet->tx_pieces[i],
			.msg_iovlen = 2,
		};
	}
}

/* Cuts until the super-frame is done (true) or there is no room (false). */
static bool
cut_frames(struct packet *packet)
{
	uint32_t len;

	while ((len = vcx3_vnet_cut_len(&packet->cut)) != 0) {
		uint8_t *room = packet->cut_memory + packet->cut_used;

		if (vcx3_batch_is_full(&packet->batch) ||
		    packet->cut_used + len + VCX3_WIRE_FRAME_MIN > CUT_SIZE)
			return false;
		vcx3_vnet_cut_next(&packet->cut, room);
		vcx3_batch_add_padded(&packet->batch, room, len);
		packet->cut_used += len < VCX3_WIRE_FRAME_MIN ? VCX3_WIRE_FRAME_MIN : len;
	}
	packet->cutting = false;
	return true;
}

static const struct tpacket_auxdata *
find_auxdata(struct msghdr *message)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c != NULL; c = CMSG_NXTHDR(message, c))
		if (c->cmsg_level == SOL_PACKET && c->cmsg_type == PACKET_AUXDATA)
			return (const void *)CMSG_DATA(c);
	return NULL;
}

/* Start of the frame of a slot, with its VLAN tag put back. */
static uint8_t *
restore_vlan(struct rx_slot *slot, struct msghdr *message, uint32_t *len)
{
	const struct tpacket_auxdata *aux = find_auxdata(message);
	uint16_t tpid = ETHER_TYPE_VLAN;

	if (aux == NULL || !(aux->tp_status & TP_STATUS_VLAN_VALID))
		return slot->frame;
	if (aux->tp_status & TP_STATUS_VLAN_TPID_VALID)
		tpid = aux->tp_vlan_tpid;
	vcx3_vnet_push_vlan(&slot->header, slot->frame, tpid, aux->tp_vlan_tci);
	*len += VLAN_LEN;
	return slot->frame - VLAN_LEN;
}

/* Starts to cut; false: the super-frame cannot be brought. */
static bool
start_cut(struct packet *packet, const struct virtio_net_hdr *header, const uint8_t *frame,
	uint32_t len)
{
	if (vcx3_vnet_cut_start(&packet->cut, header, frame, len) != 0 ||
	    vcx3_vnet_cut_len(&packet->cut) > VCX3_WIRE_FRAME_MAX)
		return false;
	packet->cutting = true;
	packet->wire.stats.rx_segmented++;
	return true;
}

/* Takes a frame that is no super-frame; false: it cannot be brought. */
static bool
take_single(struct packet *packet, const struct virtio_net_hdr *header, uint8_t *frame,
	uint32_t len)
{
	if (len > VCX3_WIRE_FRAME_MAX || vcx3_vnet_complete(header, frame, len) != 0)
		return false;
	if (header->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM)
		packet->wire.stats.rx_csum_completed++;
	vcx3_batch_add_padded(&packet->batch, frame, len);
	return true;
}

static void
take_message(struct packet *packet, uint32_t i)
{
	struct rx_slot *slot = &packet->rx_slots[i];
	struct msghdr *message = &packet->rx_messages[i].msg_hdr;
	uint32_t len = packet->rx_messages[i].msg_len;
	uint8_t *frame;
	bool taken;

	/* What this machine sends through the interface is not what arrives on it. */
	if (packet->rx_source[i].sll_pkttype == PACKET_OUTGOING)
		return;
	if (len < sizeof(slot->header) + ETHER_LEN || (message->msg_flags & MSG_TRUNC)) {
		packet->wire.stats.rx_dropped++;
		return;
	}
	len -= (uint32_t)sizeof(slot->header);
	frame = restore_vlan(slot, message, &len);
	if (vcx3_vnet_is_super(&slot->header))
		taken = start_cut(packet, &slot->header, frame, len);
	else
		taken = take_single(packet, &slot->header, frame, len);
	if (!taken)
		packet->wire.stats.rx_dropped++;
}

static bool
receive_messages(struct packet *packet)
{
	int count;

	for (uint32_t i = 0; i < packet->rx_count; i++) {
		struct msghdr *message = &packet->rx_messages[i].msg_hdr;

		message->msg_namelen = sizeof(packet->rx_source[i]);
		message->msg_controllen = sizeof(packet->rx_slots[i].control.bytes);
	}
	count = recvmmsg(packet->fd, packet->rx_messages, BATCH, MSG_DONTWAIT, NULL);
	packet->rx_done = 0;
	packet->rx_count = count > 0 ? (uint32_t)count : 0;
	return count > 0;
}

/* Makes the next frames for the port out of what the socket brought. */
static void
make_frames(struct packet *packet)
{
	vcx3_batch_clear(&packet->batch);
	packet->cut_used = 0;
	if (!packet->cutting && packet->rx_done == packet->rx_count && !receive_messages(packet))
		return;
	for (;;) {
		if (packet->cutting && !cut_frames(packet))
			return;
		if (packet->rx_done == packet->rx_count || vcx3_batch_is_full(&packet->batch))
			return;
		take_message(packet, packet->rx_done++);
	}
}

static uint32_t
packet_peek(struct vcx3_wire *wire, struct vcx3_frame *frames, uint32_t n)
{
	struct packet *packet = (struct packet *)wire;

	if (vcx3_batch_is_empty(&packet->batch))
		make_frames(packet);
	return vcx3_batch_peek(&packet->batch, frames, n);
}

static void
packet_consume(struct vcx3_wire *wire, uint32_t n)
{
	vcx3_batch_consume(&((struct packet *)wire)->batch, wire, n);
}

static void
packet_flush(struct vcx3_wire *wire)
{
	struct packet *packet = (struct packet *)wire;

	while (packet->tx_first < packet->tx_last) {
		int sent = sendmmsg(packet->fd, packet->tx_messages + packet->tx_first,
			packet->tx_last - packet->tx_first, MSG_DONTWAIT);

		if (sent > 0) {
			packet->tx_first += (uint32_t)sent;
		} else if (errno == EAGAIN || errno == ENOBUFS) {
			return;
		} else if (errno != EINTR) {
			wire->stats.tx_dropped++;
			packet->tx_first++;
		}
	}
	packet->tx_first = 0;
	packet->tx_last = 0;
}

static void *
packet_reserve(struct vcx3_wire *wire, uint32_t len)
{
	struct packet *packet = (struct packet *)wire;

	if (packet->tx_last == BATCH)
		packet_flush(wire);
	if (packet->tx_last == BATCH) {
		wire->stats.tx_full++;
		return NULL;
	}
	return packet->tx_slots[packet->tx_last];
}

static void
packet_commit(struct vcx3_wire *wire, uint32_t len)
{
	struct packet *packet = (struct packet *)wire;

	packet->tx_pieces[packet->tx_last++][1].iov_len = len;
}

static void
packet_service(struct vcx3_wire *wire)
{
	struct packet *packet = (struct packet *)wire;
	uint32_t flags = vcx3_interface_flags(packet->fd, packet->name);

	wire->carrier = (flags & IFF_UP) && (flags & IFF_RUNNING);
}

static int
packet_poll_fd(const struct vcx3_wire *wire)
{
	return ((const struct packet *)wire)->fd;
}

static void
packet_close(struct vcx3_wire *wire)
{
	struct packet *packet = (struct packet *)wire;

	if (packet->fd >= 0)
		close(packet->fd);
	free(packet);
}

static const struct vcx3_wire_ops packet_ops = {
	.rx_peek = packet_peek,
	.rx_consume = packet_consume,
	.tx_reserve = packet_reserve,
	.tx_commit = packet_commit,
	.flush = packet_flush,
	.service = packet_service,
	.poll_fd = packet_poll_fd,
	.close = packet_close,
};

VCX3_WIRE_CHECK(packet)
{
	int fd;

	if (if_nametoindex(spec->name) == 0)
		return vcx3_wire_refuse(reason, size, ENODEV,
			"wire packet:%s: no such network interface", spec->name);
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return vcx3_wire_refuse(reason, size, errno,
			"wire packet:%s: no packet socket (needs CAP_NET_RAW): %s", spec->name,
			strerror(errno));
	close(fd);
	return 0;
}

/* Larger than the system's limit if privileged, else up to it. */
static void
set_buffers(int fd)
{
	const int bytes = SOCKET_BUFFER;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) != 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)) != 0)
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

static int
set_options(int fd, uint32_t index)
{
	const struct packet_mreq promiscuous = {
		.mr_ifindex = (int)index,
		.mr_type = PACKET_MR_PROMISC,
	};
	const int on = 1;

	set_buffers(fd);
	/* Saves work where the kernel knows it; take_message() looks again. */
	setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on));
	if (setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof(on)) != 0 ||
	    setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &on, sizeof(on)) != 0 ||
	    setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promiscuous,
		sizeof(promiscuous)) != 0)
		return -errno;
	return 0;
}

/* The protocol is bound last: no frame arrives before the options are set. */
static int
open_socket(const char *name)
{
	uint32_t index = if_nametoindex(name);
	struct sockaddr_ll address = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = (int)index,
	};
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int ret;

	if (fd < 0)
		return -errno;
	ret = set_options(fd, index);
	if (ret == 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		ret = -errno;
	if (ret != 0) {
		close(fd);
		return ret;
	}
	return fd;
}

VCX3_WIRE_OPEN(packet)
{
	struct packet *packet;
	int ret = vcx3_packet_check(spec, reason, size);

	if (ret != 0)
		return ret;
	packet = vcx3_wire_alloc(sizeof(*packet), spec->kind, &packet_ops, env);
	if (packet == NULL)
		return vcx3_wire_refuse(reason, size, ENOMEM, "wire packet: no memory");
	strcpy(packet->name, spec->name);
	packet->fd = open_socket(spec->name);
	if (packet->fd < 0) {
		ret = packet->fd;
		packet_close(&packet->wire);
		return vcx3_wire_refuse(reason, size, -ret, "wire packet:%s: cannot attach: %s",
			spec->name, strerror(-ret));
	}
	prepare_rx(packet);
	prepare_tx(packet);
	packet_service(&packet->wire);
	*out = &packet->wire;
	return 0;
}
