/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Event descriptors: completion channels and the async descriptor of a context
 * (connectx3-device.md B.6). The program's end is a real socket, so that poll, epoll and fcntl
 * need no help; reading is counted, because destroying an object reports how many of its events
 * were read and takes the unread ones away.
 */

#ifndef VCX3_UVERBS_EVENTS_H
#define VCX3_UVERBS_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct uv_card;

enum uv_events_kind {
	UV_EVENTS_COMPLETION, /* records of 8 bytes: the CQ's user handle */
	UV_EVENTS_ASYNC, /* records of 16 bytes: element, type */
};

struct uv_events {
	enum uv_events_kind kind;
	int program_fd; /* -1 after the program closed it */
	int device_fd;
	uint32_t refs; /* the descriptor, and each object that reports here */
};

/* Makes a channel with one reference. Returns 0 or a negative errno. */
int uv_events_create(enum uv_events_kind kind, struct uv_events **events);
void uv_events_ref(struct uv_events *events);
void uv_events_unref(struct uv_events *events);

/* Puts a record in; lost when the program is gone. */
void uv_events_completion(struct uv_events *events, uint64_t user_handle);
void uv_events_async(struct uv_events *events, uint64_t element, uint32_t type);

/* The program's read(). */
ssize_t uv_events_read(struct uv_card *card, struct uv_events *events, int fd, void *buffer,
		       size_t count);

/* Takes away all unread records of one element; type is ignored for completions. */
void uv_events_drain(struct uv_events *events, uint64_t element);

#endif /* VCX3_UVERBS_EVENTS_H */
