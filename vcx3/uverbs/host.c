/* SPDX-License-Identifier: BSD-3-Clause */

/* See host.h. */

#include "host.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../core/port.h"
#include "real.h"

/* Frames of one port in one turn of the service thread. */
#define MAX_BURST 64

/* A copy of a descriptor of the launcher's; a negative errno. */
static int
copy_descriptor(const struct uv_card *card, int fd)
{
	int launcher = syscall(SYS_pidfd_open, card->shared->launcher, 0);
	int copy = launcher >= 0 ? syscall(SYS_pidfd_getfd, launcher, fd, 0) : -1;
	int error = errno;

	if (launcher >= 0)
		uv_real()->close(launcher);
	return copy >= 0 ? copy : -error;
}

int
uv_host_open(struct uv_card *card)
{
	unsigned int i;

	for (i = 0; i < card->options.ports; i++) {
		const struct vcx3_netdev *netdev = &card->shared->netdev[i];

		card->host_fd[i] = netdev->tap_fd >= 0 ? copy_descriptor(card, netdev->tap_fd) : -1;
		if (netdev->tap_fd >= 0 && card->host_fd[i] < 0) {
			int ret = card->host_fd[i];

			uv_say("--netdev tap: cannot get %s from the launcher: %s", netdev->name,
			       strerror(-ret));
			uv_host_close(card);
			return ret;
		}
	}
	return 0;
}

void
uv_host_close(struct uv_card *card)
{
	unsigned int i;

	for (i = 0; i < card->options.ports; i++) {
		if (card->host_fd[i] >= 0)
			uv_real()->close(card->host_fd[i]);
		card->host_fd[i] = -1;
	}
}

bool
uv_host_receive(struct uv_card *card, unsigned int port, const uint8_t *data, uint32_t len)
{
	int fd = card->host_fd[port - 1];

	return fd >= 0 && uv_real()->write(fd, data, len) == (ssize_t)len;
}

/* The engine makes room in a full wire; the kernel waits no longer than a queue of a card would. */
static void
send_one(struct uv_card *card, unsigned int port, const uint8_t *data, uint32_t len)
{
	unsigned int tries = 100;
	bool done;

	do {
		uv_lock(card);
		done = vcx3_port_send_host(card->core, port, data, len);
		uv_unlock(card);
	} while (!done && tries-- > 0);
}

void
uv_host_send(struct uv_card *card)
{
	uint8_t frame[VCX3_WIRE_FRAME_MAX];
	unsigned int i, nb;
	ssize_t len;

	for (i = 0; i < card->options.ports; i++) {
		for (nb = 0; card->host_fd[i] >= 0 && nb < MAX_BURST; nb++) {
			len = uv_real()->read(card->host_fd[i], frame, sizeof(frame));
			if (len <= 0)
				break;
			send_one(card, i + 1, frame, len);
		}
	}
}
