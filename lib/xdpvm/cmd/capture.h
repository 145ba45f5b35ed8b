/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets from and to pcap files. */
#ifndef XDPVM_CMD_CAPTURE_H
#define XDPVM_CMD_CAPTURE_H

#include <stddef.h>

#include "testrun.h"

struct capture {
	struct frame *frames;
	size_t n;
};

/*
 * Reads a whole file of Ethernet frames. 0, or a negative errno with a sentence in reason; a packet
 * that is shorter or longer than what a frame takes is such an error.
 */
int capture_read(struct capture *capture, const char *path, char *reason, size_t size);
void capture_free(struct capture *capture);

/* Writes what leaves the hook: frames with PASS, TX or REDIRECT, without metadata. */
int capture_write(const struct capture *capture, const char *path, char *reason, size_t size);

#endif /* XDPVM_CMD_CAPTURE_H */
