/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vfio-user transport: the socket, message frames and their descriptors.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "vfio_user.h"

#define FLAG_REPLY 0x1
#define FLAG_NO_REPLY 0x10
#define FLAG_ERROR 0x20
#define SEND_TIMEOUT_S 5

struct header {
	uint16_t id;
	uint16_t command;
	uint32_t size; /* this header included */
	uint32_t flags;
	uint32_t error;
};

/* True when somebody answers at a path. */
static bool
is_served(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool served = fd >= 0 &&
		      connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0;

	if (fd >= 0)
		close(fd);
	return served;
}

int
vcx3_vfu_listen(const char *path, char *reason, size_t size)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct stat status;
	int fd, error;

	if (strlen(path) >= sizeof(address.sun_path)) {
		snprintf(reason, size, "--socket: the path has %zu bytes, at most %zu: %s",
			 strlen(path), sizeof(address.sun_path) - 1, path);
		return -ENAMETOOLONG;
	}
	strcpy(address.sun_path, path);
	if (lstat(path, &status) == 0 && S_ISSOCK(status.st_mode) && !is_served(&address))
		unlink(path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	    listen(fd, 1) == 0)
		return fd;
	error = errno;
	if (fd >= 0)
		close(fd);
	snprintf(reason, size, "--socket: cannot listen at %s: %s", path, strerror(error));
	return -error;
}

int
vcx3_vfu_accept(struct vcx3_vfu *vfu, int listener)
{
	const struct timeval timeout = { .tv_sec = SEND_TIMEOUT_S };

	vfu->fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (vfu->fd < 0)
		return -errno;
	setsockopt(vfu->fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	return 0;
}

void
vcx3_vfu_disconnect(struct vcx3_vfu *vfu)
{
	if (vfu->fd < 0)
		return;
	close(vfu->fd);
	vfu->fd = -1;
	vcx3_runner_lock(vfu->runner);
	vcx3_pci_reset(vfu->pci);
	vcx3_irqs_fini(&vfu->pci->irqs);
	vcx3_pci_dma_unmap_all(vfu->pci);
	vcx3_runner_unlock(vfu->runner);
}

static void
close_fds(const int *fds, unsigned int nb)
{
	unsigned int i;

	for (i = 0; i < nb; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/* Adds the descriptors of a received message to those that came before. */
static void
collect_fds(struct msghdr *message, int *fds, unsigned int *nb)
{
	struct cmsghdr *part;

	for (part = CMSG_FIRSTHDR(message); part != NULL; part = CMSG_NXTHDR(message, part)) {
		const int *came = (const int *)CMSG_DATA(part);
		size_t count, i;

		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
			continue;
		count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (i = 0; i < count; i++) {
			if (*nb < VCX3_VFU_FDS)
				fds[(*nb)++] = came[i];
			else
				close(came[i]);
		}
	}
}

/* Receives exactly length bytes; descriptors may come with any of them. */
static int
receive(int fd, void *data, size_t length, int *fds, unsigned int *nb_fds)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(VCX3_VFU_FDS * sizeof(int))];
	} control;
	size_t done = 0;

	while (done < length) {
		struct iovec piece = { (char *)data + done, length - done };
		struct msghdr message = {
			.msg_iov = &piece,
			.msg_iovlen = 1,
			.msg_control = control.space,
			.msg_controllen = sizeof(control.space),
		};
		ssize_t got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got == 0 ? -ECONNRESET : -errno;
		collect_fds(&message, fds, nb_fds);
		done += (size_t)got;
	}
	return 0;
}

static int
send_reply(struct vcx3_vfu *vfu, const struct header *request, int result)
{
	struct header header = {
		.id = request->id,
		.command = request->command,
		.size = sizeof(header) + (result > 0 ? (uint32_t)result : 0),
		.flags = FLAG_REPLY | (result < 0 ? FLAG_ERROR : 0),
		.error = result < 0 ? (uint32_t)-result : 0,
	};
	struct iovec pieces[] = {
		{ &header, sizeof(header) },
		{ vfu->reply, result > 0 ? (size_t)result : 0 },
	};
	struct msghdr message = { .msg_iov = pieces, .msg_iovlen = 2 };

	if ((request->flags & FLAG_NO_REPLY) != 0)
		return 0;
	/* A client that stops reading for that long is taken for dead. */
	return sendmsg(vfu->fd, &message, MSG_NOSIGNAL) == (ssize_t)header.size ? 0 : -EPIPE;
}

int
vcx3_vfu_serve(struct vcx3_vfu *vfu)
{
	int fds[VCX3_VFU_FDS];
	unsigned int nb_fds = 0;
	struct header header;
	uint32_t length;
	int ret = receive(vfu->fd, &header, sizeof(header), fds, &nb_fds);

	length = header.size - sizeof(header);
	if (ret == 0 && (header.size < sizeof(header) || length > sizeof(vfu->body)))
		ret = -EMSGSIZE;
	if (ret == 0)
		ret = receive(vfu->fd, vfu->body, length, fds, &nb_fds);
	if (ret == 0) {
		int result;

		vcx3_runner_lock(vfu->runner);
		result = vcx3_vfu_handle(vfu, header.command, length, fds, nb_fds);
		vcx3_runner_unlock(vfu->runner);
		vcx3_runner_kick(vfu->runner);
		ret = send_reply(vfu, &header, result);
	}
	close_fds(fds, nb_fds);
	return ret;
}
