/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A wire to the card of another process. Whoever comes first listens on the
 * path, the other one connects; when one goes, the survivor loses its carrier
 * and waits for the next. A message of the SOCK_SEQPACKET connection holds
 * all frames of an engine slice, so that a frame costs no system call of its own.
 *
 * Message: head, then for MESSAGE_FRAMES records of a 32-bit length and the
 * bytes, each padded to RECORD_ALIGN. Both ends are on one machine: native order.
 */

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "batch.h"
#include "kinds.h"

#define MESSAGE_MAX (64 * 1024)
#define RECORD_ALIGN 8u
#define SOCKET_BUFFER (1 << 20)
/* A third process is told so at once, unless the listener is not stepped. */
#define ANSWER_WAIT_MS 100
/* Between two attempts to find the other end. */
#define RETRY_NS 50000000
/* The other end is gone, its last frames are in line, and the port takes none: dropped then. */
#define GRACE_NS 500000000

enum message_type {
	MESSAGE_FRAMES = 0x76637801,	/* "vcx", version 1 */
	MESSAGE_UP,
	MESSAGE_DOWN,
	MESSAGE_BUSY,
};

struct head {
	uint32_t type;
	uint32_t zero;
};

/* One message; the frames of its records from cursor on. */
struct message {
	uint32_t len;
	uint32_t cursor;
	uint32_t frames;
	_Alignas(8) uint8_t bytes[MESSAGE_MAX];
};

struct unix_wire {
	struct vcx3_wire wire;
	int listener;		/* -1: the other end listens, or nobody yet */
	int connection;		/* -1: no other end */
	bool up;		/* link of this port */
	bool told;		/* the other end knows it */
	bool busy;		/* the listener has another peer */
	uint64_t retry_ns;
	uint64_t gone_ns;	/* the other end was seen gone; 0: it is there */
	char path[VCX3_WIRE_PATH_SIZE];
	struct vcx3_batch batch;
	struct message rx;
	struct message tx;
};

static uint32_t
record_size(uint32_t len)
{
	return ((uint32_t)sizeof(len) + len + RECORD_ALIGN - 1) & ~(RECORD_ALIGN - 1);
}

static struct sockaddr_un
address_of(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	memcpy(address.sun_path, path, strnlen(path, sizeof(address.sun_path) - 1));
	return address;
}

static int
new_socket(void)
{
	const int bytes = SOCKET_BUFFER;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)) != 0)
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	return fd;
}

/* Locks the folder of path against others who come or clean up; the lock, or an error. */
static int
lock_folder(const char *path)
{
	char copy[VCX3_WIRE_PATH_SIZE];
	int ret;
	int fd;

	strcpy(copy, path);
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

/* A connected socket; -ECONNREFUSED: nobody listens, -ENOENT: nothing there. */
static int
connect_to(const char *path)
{
	struct sockaddr_un address = address_of(path);
	int fd = new_socket();
	int ret;

	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

static bool
is_socket(const char *path)
{
	struct stat stat;

	return lstat(path, &stat) == 0 && S_ISSOCK(stat.st_mode);
}

static int
listen_on(const char *path)
{
	struct sockaddr_un address = address_of(path);
	int fd = new_socket();
	int ret;

	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 && listen(fd, 4) == 0)
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

/* Connects, or listens when nobody does; the folder is locked. */
static int
attach_locked(struct unix_wire *unix_wire)
{
	int fd = connect_to(unix_wire->path);

	if (fd >= 0) {
		unix_wire->connection = fd;
		return 0;
	}
	if (fd != -ECONNREFUSED && fd != -ENOENT)
		return fd;
	if (fd == -ECONNREFUSED) {
		if (!is_socket(unix_wire->path))
			return -ENOTSOCK;
		unlink(unix_wire->path);
	}
	fd = listen_on(unix_wire->path);
	if (fd < 0)
		return fd;
	unix_wire->listener = fd;
	return 0;
}

static int
attach(struct unix_wire *unix_wire)
{
	int lock = lock_folder(unix_wire->path);
	int ret;

	if (lock < 0)
		return lock;
	ret = attach_locked(unix_wire);
	close(lock);
	return ret;
}

/* The other end is gone; frames for it are lost, frames of it stay in line. */
static void
disconnect(struct unix_wire *unix_wire)
{
	close(unix_wire->connection);
	unix_wire->connection = -1;
	unix_wire->wire.carrier = false;
	unix_wire->told = false;
	unix_wire->wire.stats.tx_dropped += unix_wire->tx.frames;
	unix_wire->tx.frames = 0;
	unix_wire->tx.len = sizeof(struct head);
}

/*
 * -EAGAIN: no room now. Another error means that the other end is gone; what it
 * sent before is still to be read, so only receive_message() disconnects.
 */
static int
send_message(const struct unix_wire *unix_wire, const void *bytes, size_t len)
{
	if (send(unix_wire->connection, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
		return 0;
	return errno == EINTR || errno == ENOBUFS ? -EAGAIN : -errno;
}

static void
tell_link(struct unix_wire *unix_wire)
{
	const struct head head = {.type = unix_wire->up ? MESSAGE_UP : MESSAGE_DOWN};

	if (unix_wire->connection >= 0 && !unix_wire->told)
		unix_wire->told = send_message(unix_wire, &head, sizeof(head)) != -EAGAIN;
}

/* Lines up the frames of the rest of the message; what is malformed ends it. */
static void
parse_frames(struct unix_wire *unix_wire)
{
	struct message *rx = &unix_wire->rx;
	uint32_t len;

	vcx3_batch_clear(&unix_wire->batch);
	while (rx->cursor < rx->len && !vcx3_batch_is_full(&unix_wire->batch)) {
		uint32_t left = rx->len - rx->cursor;

		memcpy(&len, rx->bytes + rx->cursor, sizeof(len));
		if (len == 0 || len > VCX3_WIRE_FRAME_MAX || record_size(len) > left) {
			unix_wire->wire.stats.rx_dropped++;
			rx->cursor = rx->len;
			return;
		}
		vcx3_batch_add(&unix_wire->batch, rx->bytes + rx->cursor + sizeof(len), len);
		rx->cursor += record_size(len);
	}
}

static void
handle_message(struct unix_wire *unix_wire, uint32_t len)
{
	struct message *rx = &unix_wire->rx;
	struct head head;

	memcpy(&head, rx->bytes, sizeof(head));
	switch (head.type) {
	case MESSAGE_FRAMES:
		rx->cursor = sizeof(head);
		/* A record is padded, so a sound message is too. */
		rx->len = len & ~(RECORD_ALIGN - 1);
		break;
	case MESSAGE_UP:
	case MESSAGE_DOWN:
		unix_wire->wire.carrier = head.type == MESSAGE_UP;
		unix_wire->busy = false;
		break;
	case MESSAGE_BUSY:
		if (!unix_wire->busy)
			vcx3_wire_log(&unix_wire->wire,
				"wire unix:%s joins two other processes already", unix_wire->path);
		unix_wire->busy = true;
		disconnect(unix_wire);
		break;
	default:
		vcx3_wire_log(&unix_wire->wire, "wire unix:%s: the other end is no vcx3",
			unix_wire->path);
		disconnect(unix_wire);
	}
}

/* Takes the next message; only when the last one's frames are consumed. */
static bool
receive_message(struct unix_wire *unix_wire)
{
	ssize_t len;

	if (unix_wire->connection < 0)
		return false;
	len = recv(unix_wire->connection, unix_wire->rx.bytes, MESSAGE_MAX, MSG_DONTWAIT);
	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (len < (ssize_t)sizeof(struct head)) {
		disconnect(unix_wire);
		return false;
	}
	handle_message(unix_wire, (uint32_t)len);
	return true;
}

/* Whether the port has taken all that arrived. */
static bool
is_idle(const struct unix_wire *unix_wire)
{
	return vcx3_batch_is_empty(&unix_wire->batch) && unix_wire->rx.cursor == unix_wire->rx.len;
}

static uint32_t
unix_peek(struct vcx3_wire *wire, struct vcx3_frame *frames, uint32_t n)
{
	struct unix_wire *unix_wire = (struct unix_wire *)wire;

	while (is_idle(unix_wire))
		if (!receive_message(unix_wire))
			return 0;
	if (vcx3_batch_is_empty(&unix_wire->batch))
		parse_frames(unix_wire);
	return vcx3_batch_peek(&unix_wire->batch, frames, n);
}

static void
unix_consume(struct vcx3_wire *wire, uint32_t n)
{
	vcx3_batch_consume(&((struct unix_wire *)wire)->batch, wire, n);
}

static void
unix_flush(struct vcx3_wire *wire)
{
	struct unix_wire *unix_wire = (struct unix_wire *)wire;
	struct message *tx = &unix_wire->tx;
	int ret = -ENOTCONN;

	if (tx->frames == 0)
		return;
	if (unix_wire->connection >= 0)
		ret = send_message(unix_wire, tx->bytes, tx->len);
	if (ret == -EAGAIN)
		return;
	if (ret != 0)
		wire->stats.tx_dropped += tx->frames;
	tx->frames = 0;
	tx->len = sizeof(struct head);
}

static void *
unix_reserve(struct vcx3_wire *wire, uint32_t len)
{
	struct unix_wire *unix_wire = (struct unix_wire *)wire;
	struct message *tx = &unix_wire->tx;

	if (tx->len + record_size(len) > MESSAGE_MAX)
		unix_flush(wire);
	if (tx->len + record_size(len) > MESSAGE_MAX) {
		wire->stats.tx_full++;
		return NULL;
	}
	return tx->bytes + tx->len + sizeof(len);
}

static void
unix_commit(struct vcx3_wire *wire, uint32_t len)
{
	struct message *tx = &((struct unix_wire *)wire)->tx;

	memcpy(tx->bytes + tx->len, &len, sizeof(len));
	tx->len += record_size(len);
	tx->frames++;
}

/* Takes the first who connects, and tells others that they are too late. */
static void
accept_peers(struct unix_wire *unix_wire)
{
	const struct head busy = {.type = MESSAGE_BUSY};
	int fd;

	while ((fd = accept4(unix_wire->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		if (unix_wire->connection < 0) {
			unix_wire->connection = fd;
		} else {
			send(fd, &busy, sizeof(busy), MSG_NOSIGNAL | MSG_DONTWAIT);
			close(fd);
		}
	}
}

static void
attach_again(struct unix_wire *unix_wire, uint64_t now_ns)
{
	if (now_ns < unix_wire->retry_ns)
		return;
	unix_wire->retry_ns = now_ns + RETRY_NS;
	attach(unix_wire);
}

/* Finds a dead other end behind frames that a port without a receiver does not take. */
static void
check_gone(struct unix_wire *unix_wire, uint64_t now_ns)
{
	struct pollfd gone = {.fd = unix_wire->connection};

	if (unix_wire->connection < 0 || poll(&gone, 1, 0) <= 0 || !(gone.revents & POLLHUP)) {
		unix_wire->gone_ns = 0;
	} else if (unix_wire->gone_ns == 0) {
		unix_wire->gone_ns = now_ns;
	} else if (now_ns - unix_wire->gone_ns > GRACE_NS) {
		unix_wire->wire.stats.rx_dropped += unix_wire->batch.last - unix_wire->batch.first;
		vcx3_batch_clear(&unix_wire->batch);
		unix_wire->rx.cursor = unix_wire->rx.len;
		disconnect(unix_wire);
	}
}

static void
unix_service(struct vcx3_wire *wire)
{
	struct unix_wire *unix_wire = (struct unix_wire *)wire;
	uint64_t now_ns = wire->env.now_ns(wire->env.ctx);

	while (is_idle(unix_wire) && receive_message(unix_wire))
		;
	check_gone(unix_wire, now_ns);
	if (unix_wire->connection < 0 && unix_wire->listener < 0)
		attach_again(unix_wire, now_ns);
	if (unix_wire->listener >= 0)
		accept_peers(unix_wire);
	tell_link(unix_wire);
}

static int
unix_poll_fd(const struct vcx3_wire *wire)
{
	const struct unix_wire *unix_wire = (const struct unix_wire *)wire;

	return unix_wire->connection >= 0 ? unix_wire->connection : unix_wire->listener;
}

static void
unix_set_link(struct vcx3_wire *wire, bool up)
{
	struct unix_wire *unix_wire = (struct unix_wire *)wire;

	if (unix_wire->up == up)
		return;
	unix_wire->up = up;
	unix_wire->told = false;
	unix_flush(wire);
	tell_link(unix_wire);
}

static void
unix_close(struct vcx3_wire *wire)
{
	struct unix_wire *unix_wire = (struct unix_wire *)wire;

	if (unix_wire->listener >= 0) {
		unlink(unix_wire->path);
		close(unix_wire->listener);
	}
	if (unix_wire->connection >= 0)
		close(unix_wire->connection);
	free(unix_wire);
}

static const struct vcx3_wire_ops unix_ops = {
	.rx_peek = unix_peek,
	.rx_consume = unix_consume,
	.tx_reserve = unix_reserve,
	.tx_commit = unix_commit,
	.flush = unix_flush,
	.service = unix_service,
	.poll_fd = unix_poll_fd,
	.set_link = unix_set_link,
	.close = unix_close,
};

VCX3_WIRE_CHECK(unix)
{
	char copy[VCX3_WIRE_PATH_SIZE];
	struct stat stat;

	if (lstat(spec->name, &stat) == 0 && !S_ISSOCK(stat.st_mode))
		return vcx3_wire_refuse(reason, size, ENOTSOCK,
			"wire unix:%s: something that is no socket is there", spec->name);
	strcpy(copy, spec->name);
	if (access(dirname(copy), W_OK | X_OK) != 0)
		return vcx3_wire_refuse(reason, size, errno,
			"wire unix:%s: cannot make a socket there: %s", spec->name,
			strerror(errno));
	return 0;
}

/* Attaches; a folder that is locked right now is tried again for a moment. */
static int
attach_first(struct unix_wire *unix_wire)
{
	int ret = attach(unix_wire);

	for (int tries = 0; ret == -EWOULDBLOCK && tries < ANSWER_WAIT_MS; tries++) {
		poll(NULL, 0, 1);
		ret = attach(unix_wire);
	}
	return ret;
}

/* Waits a moment for the listener's answer, to refuse a third process at once. */
static bool
is_refused(struct unix_wire *unix_wire)
{
	struct pollfd answer = {.fd = unix_wire->connection, .events = POLLIN};

	if (unix_wire->connection < 0)
		return false;
	if (poll(&answer, 1, ANSWER_WAIT_MS) > 0)
		receive_message(unix_wire);
	return unix_wire->busy;
}

VCX3_WIRE_OPEN(unix)
{
	struct unix_wire *unix_wire;
	const struct head frames = {.type = MESSAGE_FRAMES};
	int ret = vcx3_unix_check(spec, reason, size);

	if (ret != 0)
		return ret;
	unix_wire = vcx3_wire_alloc(sizeof(*unix_wire), spec->kind, &unix_ops, env);
	if (unix_wire == NULL)
		return vcx3_wire_refuse(reason, size, ENOMEM, "wire unix: no memory");
	unix_wire->listener = -1;
	unix_wire->connection = -1;
	unix_wire->up = true;
	unix_wire->wire.carrier = false;
	unix_wire->tx.len = sizeof(frames);
	memcpy(unix_wire->tx.bytes, &frames, sizeof(frames));
	strcpy(unix_wire->path, spec->name);
	ret = attach_first(unix_wire);
	if (ret == 0 && is_refused(unix_wire))
		ret = -EBUSY;
	if (ret != 0) {
		unix_close(&unix_wire->wire);
		return vcx3_wire_refuse(reason, size, -ret, "wire unix:%s: cannot join: %s",
			spec->name, ret == -EBUSY ? "it joins two processes already" :
			strerror(-ret));
	}
	*out = &unix_wire->wire;
	return 0;
}

void
vcx3_unix_cleanup(const char *path)
{
	int lock = lock_folder(path);
	int fd;

	if (lock < 0)
		return;
	fd = connect_to(path);
	if (fd >= 0)
		close(fd);
	else if (fd == -ECONNREFUSED && is_socket(path))
		unlink(path);
	close(lock);
}
