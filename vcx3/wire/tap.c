/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A wire to a TAP interface that exists as long as the wire. Without offloads
 * on the interface the kernel itself completes checksums and cuts super-frames.
 * The interface is brought up; taking it down takes the carrier away.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "batch.h"
#include "kinds.h"

#define DEVICE "/dev/net/tun"
#define BATCH 32

struct tap {
	struct vcx3_wire wire;
	int fd;
	int control;		/* any socket, for interface requests */
	char name[IFNAMSIZ];
	struct vcx3_batch batch;
	uint8_t rx_slots[BATCH][VCX3_WIRE_FRAME_MAX];
	uint8_t tx_slot[VCX3_WIRE_FRAME_MAX];
};

static void
read_frames(struct tap *tap)
{
	vcx3_batch_clear(&tap->batch);
	for (uint32_t i = 0; i < BATCH; i++) {
		ssize_t len = read(tap->fd, tap->rx_slots[i], VCX3_WIRE_FRAME_MAX);

		if (len <= 0)
			return;
		vcx3_batch_add_padded(&tap->batch, tap->rx_slots[i], (uint32_t)len);
	}
}

static uint32_t
tap_peek(struct vcx3_wire *wire, struct vcx3_frame *frames, uint32_t n)
{
	struct tap *tap = (struct tap *)wire;

	if (vcx3_batch_is_empty(&tap->batch))
		read_frames(tap);
	return vcx3_batch_peek(&tap->batch, frames, n);
}

static void
tap_consume(struct vcx3_wire *wire, uint32_t n)
{
	vcx3_batch_consume(&((struct tap *)wire)->batch, wire, n);
}

static void *
tap_reserve(struct vcx3_wire *wire, uint32_t len)
{
	return ((struct tap *)wire)->tx_slot;
}

static void
tap_commit(struct vcx3_wire *wire, uint32_t len)
{
	struct tap *tap = (struct tap *)wire;

	if (write(tap->fd, tap->tx_slot, len) != (ssize_t)len)
		wire->stats.tx_dropped++;
}

static void
tap_service(struct vcx3_wire *wire)
{
	struct tap *tap = (struct tap *)wire;

	wire->carrier = vcx3_interface_flags(tap->control, tap->name) & IFF_UP;
}

static int
tap_poll_fd(const struct vcx3_wire *wire)
{
	return ((const struct tap *)wire)->fd;
}

static void
tap_set_link(struct vcx3_wire *wire, bool up)
{
	int carrier = up;

	ioctl(((struct tap *)wire)->fd, TUNSETCARRIER, &carrier);
}

static void
tap_close(struct vcx3_wire *wire)
{
	struct tap *tap = (struct tap *)wire;

	if (tap->fd >= 0)
		close(tap->fd);
	if (tap->control >= 0)
		close(tap->control);
	free(tap);
}

static const struct vcx3_wire_ops tap_ops = {
	.rx_peek = tap_peek,
	.rx_consume = tap_consume,
	.tx_reserve = tap_reserve,
	.tx_commit = tap_commit,
	.service = tap_service,
	.poll_fd = tap_poll_fd,
	.set_link = tap_set_link,
	.close = tap_close,
};

/* Whether the kernel would let this process make an interface. */
static bool
may_create(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	return syscall(SYS_capget, &header, data) == 0 &&
		data[0].effective >> CAP_NET_ADMIN & 1;
}

VCX3_WIRE_CHECK(tap)
{
	if (if_nametoindex(spec->name) != 0)
		return vcx3_wire_refuse(reason, size, EEXIST,
			"wire tap:%s: an interface of this name exists already; tap creates its own,"
			" packet:%s joins an existing one", spec->name, spec->name);
	if (access(DEVICE, R_OK | W_OK) != 0)
		return vcx3_wire_refuse(reason, size, errno, "wire tap:%s: cannot use %s: %s",
			spec->name, DEVICE, strerror(errno));
	if (!may_create())
		return vcx3_wire_refuse(reason, size, EPERM,
			"wire tap:%s: cannot create the interface (needs CAP_NET_ADMIN): %s",
			spec->name, strerror(EPERM));
	return 0;
}

/* Creates the interface and brings it up. */
static int
create_interface(struct tap *tap)
{
	struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_TUN_EXCL};

	memcpy(request.ifr_name, tap->name, IFNAMSIZ);
	tap->fd = open(DEVICE, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	tap->control = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (tap->fd < 0 || tap->control < 0 || ioctl(tap->fd, TUNSETIFF, &request) != 0)
		return -errno;
	if (ioctl(tap->control, SIOCGIFFLAGS, &request) != 0)
		return -errno;
	request.ifr_flags |= IFF_UP;
	return ioctl(tap->control, SIOCSIFFLAGS, &request) != 0 ? -errno : 0;
}

VCX3_WIRE_OPEN(tap)
{
	struct tap *tap;
	int ret = vcx3_tap_check(spec, reason, size);

	if (ret != 0)
		return ret;
	tap = vcx3_wire_alloc(sizeof(*tap), spec->kind, &tap_ops, env);
	if (tap == NULL)
		return vcx3_wire_refuse(reason, size, ENOMEM, "wire tap: no memory");
	strcpy(tap->name, spec->name);
	tap->control = -1;
	ret = create_interface(tap);
	if (ret != 0) {
		tap_close(&tap->wire);
		return vcx3_wire_refuse(reason, size, -ret,
			"wire tap:%s: cannot create the interface (needs CAP_NET_ADMIN): %s",
			spec->name, strerror(-ret));
	}
	*out = &tap->wire;
	return 0;
}
