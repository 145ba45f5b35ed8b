/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCX3_WIRE_CAPTURE_H
#define VCX3_WIRE_CAPTURE_H

/*
 * Reader of capture files: pcap (micro- and nanoseconds, both byte orders) and
 * pcapng, as the drafts draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng
 * define them. A file is taken whole or refused: link type Ethernet, no frame
 * cut short when it was captured, no truncated end.
 */

#include <stddef.h>
#include <stdint.h>

#include "wire.h"

struct vcx3_capture {
	uint8_t *bytes;			/* the file */
	size_t size;
	struct vcx3_frame *frames;	/* in order, data inside bytes */
	uint32_t count;
	uint32_t room;
};

/* pcap file header of version 2.4 and of each record, bytes. */
#define VCX3_PCAP_FILE_HEADER 24
#define VCX3_PCAP_RECORD_HEADER 16
#define VCX3_PCAP_MAGIC_NS 0xa1b23c4d
#define VCX3_PCAP_MAGIC_US 0xa1b2c3d4
#define VCX3_LINKTYPE_ETHERNET 1

/*
 * Finds the frames of capture->bytes; file names it in the sentence. On failure
 * frames is freed, bytes is not.
 */
int vcx3_capture_parse(struct vcx3_capture *capture, const char *file, char *reason, size_t size);

/* Reads and parses a file. */
int vcx3_capture_load(struct vcx3_capture *capture, const char *file, char *reason, size_t size);

void vcx3_capture_free(struct vcx3_capture *capture);

#endif /* VCX3_WIRE_CAPTURE_H */
