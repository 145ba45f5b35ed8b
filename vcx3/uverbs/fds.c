/* SPDX-License-Identifier: BSD-3-Clause */

/* See fds.h. */

#include "fds.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "objects.h"
#include "real.h"
#include "trap.h"

#define MAX_FD 65536
#define MAX_PARKED 16

/* Read without a lock by every read() and write() of the program; changed under uv_lock(). */
static _Atomic(struct uv_fd *) table[MAX_FD];

struct uv_fd *
uv_fd_get(int fd)
{
	if (fd < 0 || fd >= MAX_FD)
		return NULL;
	return atomic_load_explicit(&table[fd], memory_order_acquire);
}

static struct uv_fd *
enter(int fd, enum uv_fd_kind kind)
{
	struct uv_fd *entry = fd < MAX_FD ? calloc(1, sizeof(*entry)) : NULL;

	if (entry == NULL)
		return NULL;
	entry->kind = kind;
	entry->refs = 1;
	return entry;
}

static void
publish(int fd, struct uv_fd *entry)
{
	atomic_store_explicit(&table[fd], entry, memory_order_release);
}

#define PAGES_NAME "vcx3-uverbs"

/* The pages as the device sees them; the program maps the same file. */
static int
make_pages(struct uv_context *context)
{
	int fd = memfd_create(PAGES_NAME, MFD_CLOEXEC);
	void *at;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, UV_PAGES * UV_PAGE) != 0)
		goto failed;
	at = uv_real()->mmap(NULL, UV_PAGES * UV_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		goto failed;
	context->pages = at;
	return fd;

failed:
	uv_real()->close(fd);
	return -ENOMEM;
}

bool
uv_fd_is_of_other(int fd)
{
	static const char begin[] = "/memfd:" PAGES_NAME " ";
	char link[32], name[64];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = uv_fd_get(fd) == NULL ? readlink(link, name, sizeof(name)) : -1;
	return length >= (ssize_t)sizeof(begin) && memcmp(name, begin, sizeof(begin) - 1) == 0;
}

int
uv_fd_open_context(struct uv_card *card, int flags)
{
	struct uv_context *context = calloc(1, sizeof(*context));
	struct uv_fd *entry;
	int fd;

	if (context == NULL)
		return -ENOMEM;
	fd = make_pages(context);
	if (fd < 0) {
		free(context);
		return fd;
	}
	entry = enter(fd, UV_FD_COMMAND);
	if (entry == NULL) {
		uv_real()->munmap(context->pages, UV_PAGES * UV_PAGE);
		uv_real()->close(fd);
		free(context);
		return -EMFILE;
	}
	if (!(flags & O_CLOEXEC))
		fcntl(fd, F_SETFD, 0);
	entry->context = context;
	uv_lock(card);
	context->next = card->contexts;
	card->contexts = context;
	publish(fd, entry);
	uv_unlock(card);
	return fd;
}

int
uv_fd_add_events(struct uv_events *events)
{
	struct uv_fd *entry = enter(events->program_fd, UV_FD_EVENTS);

	if (entry == NULL) {
		uv_real()->close(events->program_fd);
		uv_events_unref(events);
		return -EMFILE;
	}
	entry->events = events;
	publish(events->program_fd, entry);
	return 0;
}

struct uv_events *
uv_fd_events(int fd)
{
	struct uv_fd *entry = uv_fd_get(fd);

	return entry != NULL && entry->kind == UV_FD_EVENTS ? entry->events : NULL;
}

void
uv_fd_copied(int from, int to)
{
	struct uv_fd *entry = uv_fd_get(from);

	if (entry == NULL || to < 0 || to >= MAX_FD)
		return;
	entry->refs++;
	publish(to, entry);
}

/* The last descriptor of a context: its objects go with it. */
static void
close_context(struct uv_card *card, struct uv_context *context)
{
	struct uv_context **at;

	for (at = &card->contexts; *at != context; at = &(*at)->next)
		;
	*at = context->next;
	uv_objects_destroy_all(card, context);
	if (context->range_size != 0)
		for (; context->range_used < context->range_size; context->range_used++)
			uv_numbers_give(&card->qpns, context->range_first + context->range_used, 1);
	/* The async descriptor may live on, silent: hanging up would wake the program (V.2-2). */
	if (context->async != NULL)
		uv_events_unref(context->async);
	uv_trap_forget(context);
	uv_real()->munmap(context->pages, UV_PAGES * UV_PAGE);
	free(context);
	if (card->contexts == NULL)
		uv_card_save_counters(card);
}

/*
 * The far end must not hang up while the program's descriptor is open: epoll would wake the
 * program for a context that it is about to free (V.2-2). So the descriptor becomes one of
 * something silent first.
 */
static void
silence(int fd)
{
	int silent = eventfd(0, EFD_CLOEXEC);

	if (silent < 0)
		return;
	uv_real()->dup2(silent, fd);
	uv_real()->close(silent);
}

void
uv_fd_forget(struct uv_card *card, int fd)
{
	struct uv_fd *entry;

	uv_lock(card);
	entry = uv_fd_get(fd);
	if (entry != NULL) {
		publish(fd, NULL);
		if (entry->kind == UV_FD_EVENTS && entry->events->program_fd == fd)
			entry->events->program_fd = -1;
		if (--entry->refs == 0) {
			/* A child has descriptors, but the device is its parent's. */
			if (entry->kind == UV_FD_EVENTS) {
				silence(fd);
				uv_events_unref(entry->events);
			} else if (!uv_is_forked()) {
				close_context(card, entry->context);
			}
			free(entry);
		}
	}
	uv_unlock(card);
}

/*
 * Keeps the number of an async descriptor taken, by a descriptor that is silent, until
 * MAX_PARKED others have been closed: the stock driver tells EAL's interrupt thread only
 * after closing, and EAL panics when it meets a closed number in its poll set meanwhile (V.2-2).
 */
static int
park(struct uv_card *card, int fd)
{
	static int parked[MAX_PARKED] = { [0 ... MAX_PARKED - 1] = -1 };
	static unsigned int next;
	int oldest;

	uv_lock(card);
	oldest = parked[next];
	parked[next] = fd;
	next = (next + 1) % MAX_PARKED;
	uv_unlock(card);
	return oldest >= 0 ? uv_real()->close(oldest) : 0;
}

int
uv_fd_close(struct uv_card *card, int fd)
{
	const struct uv_events *events = uv_fd_events(fd);
	bool is_async = events != NULL && events->kind == UV_EVENTS_ASYNC;

	uv_fd_forget(card, fd);
	return is_async ? park(card, fd) : uv_real()->close(fd);
}
