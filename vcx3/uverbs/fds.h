/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Which descriptors of the program are the card's: command descriptors (a memfd of the doorbell
 * and clock pages), completion channels, async descriptors. Copies made by dup share one entry.
 */

#ifndef VCX3_UVERBS_FDS_H
#define VCX3_UVERBS_FDS_H

#include <stdbool.h>

#include "card.h"
#include "events.h"

enum uv_fd_kind {
	UV_FD_COMMAND,
	UV_FD_EVENTS,
};

struct uv_fd {
	enum uv_fd_kind kind;
	unsigned int refs;
	union {
		struct uv_context *context;
		struct uv_events *events;
	};
};

/* The entry of a descriptor, NULL for one that is not the card's. Takes no lock. */
struct uv_fd *uv_fd_get(int fd);

/* Opens a context: a new descriptor, or a negative errno. */
int uv_fd_open_context(struct uv_card *card, int flags);

/* True for a command descriptor of another process that this one was sent. */
bool uv_fd_is_of_other(int fd);

/* Enters the program's end of a channel. A negative errno when there are too many. */
int uv_fd_add_events(struct uv_events *events);

/* The channel behind a descriptor, or NULL. */
struct uv_events *uv_fd_events(int fd);

/* A copy of a descriptor of the card's was made, or one is about to be closed. */
void uv_fd_copied(int from, int to);
void uv_fd_forget(struct uv_card *card, int fd);

/* Forgets and closes a descriptor of the card's. @return as close(). */
int uv_fd_close(struct uv_card *card, int fd);

#endif /* VCX3_UVERBS_FDS_H */
