/* SPDX-License-Identifier: BSD-3-Clause */

/* See events.h. */

#include "events.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/ib_user_verbs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "card.h"
#include "objects.h"
#include "real.h"

/* Room for one event of every CQ that a large program arms. */
#define SOCKET_BUFFER (1 << 20)

int
uv_events_create(enum uv_events_kind kind, struct uv_events **events)
{
	const int size = SOCKET_BUFFER;
	struct uv_events *made = calloc(1, sizeof(*made));
	int ends[2];

	if (made == NULL)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
		free(made);
		return -errno;
	}
	setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	made->kind = kind;
	made->program_fd = ends[0];
	made->device_fd = ends[1];
	made->refs = 1;
	*events = made;
	return 0;
}

void
uv_events_ref(struct uv_events *events)
{
	events->refs++;
}

void
uv_events_unref(struct uv_events *events)
{
	if (--events->refs != 0)
		return;
	uv_real()->close(events->device_fd);
	free(events);
}

static void
put(struct uv_events *events, const void *record, size_t size)
{
	send(events->device_fd, record, size, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void
uv_events_completion(struct uv_events *events, uint64_t user_handle)
{
	put(events, &user_handle, sizeof(user_handle));
}

void
uv_events_async(struct uv_events *events, uint64_t element, uint32_t type)
{
	struct ib_uverbs_async_event_desc record = {.element = element, .event_type = type};

	put(events, &record, sizeof(record));
}

/* Adds a record that the program has read to the counts that destroying reports. */
static void
count(struct uv_card *card, const struct uv_events *events, uint64_t element)
{
	uint32_t i;

	for (i = 0; i < card->nb_objects; i++) {
		struct uv_object *object = card->objects[i];

		if (object == NULL || object->user_handle != element)
			continue;
		if (events->kind == UV_EVENTS_ASYNC && object->context->async == events)
			object->async_reported++;
		else if (object->type == UV_CQ && object->cq.channel == events)
			object->cq.reported++;
	}
}

/* One record without waiting, counted in the same critical section as it is taken. */
static ssize_t
take(struct uv_card *card, struct uv_events *events, int fd, void *buffer, size_t size)
{
	uint64_t element;
	ssize_t got;

	uv_lock(card);
	got = recv(fd, buffer, size, MSG_DONTWAIT);
	if (got >= (ssize_t)sizeof(element)) {
		memcpy(&element, buffer, sizeof(element));
		count(card, events, element);
	}
	uv_unlock(card);
	return got;
}

ssize_t
uv_events_read(struct uv_card *card, struct uv_events *events, int fd, void *buffer, size_t size)
{
	size_t record = events->kind == UV_EVENTS_ASYNC ?
		sizeof(struct ib_uverbs_async_event_desc) : sizeof(uint64_t);
	struct pollfd waited = {.fd = fd, .events = POLLIN};

	if (size < record) {
		errno = EINVAL;
		return -1;
	}
	for (;;) {
		ssize_t got = take(card, events, fd, buffer, record);

		if (got >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK))
			return got;
		if (fcntl(fd, F_GETFL) & O_NONBLOCK) {
			errno = EAGAIN;
			return -1;
		}
		if (poll(&waited, 1, -1) < 0)
			return -1;
	}
}

void
uv_events_drain(struct uv_events *events, uint64_t element)
{
	struct ib_uverbs_async_event_desc records[256];
	ssize_t sizes[256];
	uint32_t nb = 0, i;

	if (events->program_fd < 0)
		return;
	while (nb < 256) {
		sizes[nb] = recv(events->program_fd, &records[nb], sizeof(records[nb]), MSG_DONTWAIT);
		if (sizes[nb] <= 0)
			break;
		nb++;
	}
	for (i = 0; i < nb; i++)
		if (records[i].element != element)
			put(events, &records[i], sizes[i]);
}
