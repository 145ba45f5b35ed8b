/* SPDX-License-Identifier: BSD-3-Clause */
/* See capture.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Its struct bpf_insn is classic BPF and clashes with Linux's. */
#define PCAP_DONT_INCLUDE_PCAP_BPF_H
#include <pcap/pcap.h>
#include <pcap/dlt.h>

#include "capture.h"

static int
add_frame(struct capture *capture, const uint8_t *bytes, uint32_t size)
{
	struct frame *frame;

	if ((capture->n & (capture->n - 1)) == 0) {	/* a power of two is full */
		size_t room = capture->n == 0 ? 1 : 2 * capture->n;

		frame = realloc(capture->frames, room * sizeof(*frame));
		if (frame == NULL)
			return -ENOMEM;
		capture->frames = frame;
	}
	frame = &capture->frames[capture->n++];
	frame->meta = 0;
	frame->size = size;
	memcpy(frame->bytes, bytes, size);
	return 0;
}

static int
read_packets(struct capture *capture, pcap_t *pcap, const char *path, char *reason, size_t room)
{
	struct pcap_pkthdr *header;
	const u_char *bytes;
	int got, ret = 0;

	while (ret == 0 && (got = pcap_next_ex(pcap, &header, &bytes)) == 1) {
		if (header->caplen < FRAME_PACKET_MIN || header->caplen > FRAME_PACKET_MAX) {
			snprintf(reason, room, "%s: packet %zu has %u bytes, a frame takes %u to %u",
				 path, capture->n + 1, header->caplen, FRAME_PACKET_MIN,
				 FRAME_PACKET_MAX);
			return -EMSGSIZE;
		}
		ret = add_frame(capture, bytes, header->caplen);
	}
	if (ret == 0 && got == PCAP_ERROR) {
		snprintf(reason, room, "%s: %s", path, pcap_geterr(pcap));
		return -EIO;
	}
	if (ret != 0)
		snprintf(reason, room, "%s: no memory for %zu packets", path, capture->n);
	return ret;
}

int
capture_read(struct capture *capture, const char *path, char *reason, size_t size)
{
	char error[PCAP_ERRBUF_SIZE];
	pcap_t *pcap = pcap_open_offline(path, error);
	int ret;

	*capture = (struct capture){ 0 };
	if (pcap == NULL) {
		snprintf(reason, size, "capture %s: %s", path, error);
		return -EINVAL;
	}
	if (pcap_datalink(pcap) != DLT_EN10MB) {
		snprintf(reason, size, "capture %s: link type %d is not Ethernet", path,
			 pcap_datalink(pcap));
		ret = -EINVAL;
	} else {
		ret = read_packets(capture, pcap, path, reason, size);
	}
	pcap_close(pcap);
	if (ret != 0)
		capture_free(capture);
	return ret;
}

void
capture_free(struct capture *capture)
{
	free(capture->frames);
	*capture = (struct capture){ 0 };
}

static void
write_packets(const struct capture *capture, pcap_dumper_t *dumper)
{
	for (size_t i = 0; i < capture->n; i++) {
		const struct frame *frame = &capture->frames[i];
		struct pcap_pkthdr header = { .caplen = frame->size - frame->meta };

		if (frame->result < XDP_PASS || frame->result > XDP_REDIRECT)
			continue;
		header.len = header.caplen;
		header.ts.tv_usec = i;	/* packets carry no time here; this keeps their order */
		pcap_dump((u_char *)dumper, &header, frame->bytes + frame->meta);
	}
}

int
capture_write(const struct capture *capture, const char *path, char *reason, size_t size)
{
	pcap_t *pcap = pcap_open_dead(DLT_EN10MB, FRAME_SIZE);
	pcap_dumper_t *dumper = pcap != NULL ? pcap_dump_open(pcap, path) : NULL;
	bool failed = dumper == NULL;

	if (dumper != NULL) {
		write_packets(capture, dumper);
		failed = pcap_dump_flush(dumper) != 0;
		pcap_dump_close(dumper);
	}
	if (failed)
		snprintf(reason, size, "capture %s: cannot write it: %s", path,
			 pcap != NULL ? pcap_geterr(pcap) : "no memory");
	if (pcap != NULL)
		pcap_close(pcap);
	return failed ? -EIO : 0;
}
