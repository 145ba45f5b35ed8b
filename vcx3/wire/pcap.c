/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A wire that plays one capture file and records into another. Recorded files
 * are pcap with nanoseconds in the byte order of this machine; all that was
 * committed is in the file after each flush.
 */

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture.h"
#include "kinds.h"
#include "player.h"

#define BUFFER_SIZE (256 * 1024)
#define NS_PER_S 1000000000

struct record_header {
	uint32_t seconds;
	uint32_t nanoseconds;
	uint32_t len;
	uint32_t wire_len;
};

struct pcap {
	struct vcx3_wire wire;
	struct vcx3_capture capture;
	struct vcx3_player player;
	int fd;			/* of tx_file, -1 without */
	bool failed;		/* writing failed once: the rest is dropped */
	off_t written;		/* bytes of whole records in the file */
	uint32_t used;		/* bytes of buffer */
	uint32_t pending;	/* frames in buffer */
	uint8_t buffer[BUFFER_SIZE];
};

static uint32_t
pcap_peek(struct vcx3_wire *wire, struct vcx3_frame *frames, uint32_t n)
{
	return vcx3_player_peek(&((struct pcap *)wire)->player, frames, n);
}

static void
pcap_consume(struct vcx3_wire *wire, uint32_t n)
{
	wire->stats.rx_frames += n;
	wire->stats.rx_bytes += vcx3_player_consume(&((struct pcap *)wire)->player, n);
}

/* The file stays a capture: what was written of the last batch goes again. */
static void
give_up(struct pcap *pcap, int error)
{
	bool cut = ftruncate(pcap->fd, pcap->written) == 0;

	pcap->failed = true;
	vcx3_wire_log(&pcap->wire, "wire pcap: cannot write the capture: %s%s", strerror(error),
		cut ? "" : "; its end is not whole");
}

static void
pcap_flush(struct vcx3_wire *wire)
{
	struct pcap *pcap = (struct pcap *)wire;
	int ret;

	if (pcap->pending == 0)
		return;
	ret = pcap->failed ? -EIO : vcx3_write_all(pcap->fd, pcap->buffer, pcap->used);
	if (ret != 0) {
		wire->stats.tx_dropped += pcap->pending;
		if (!pcap->failed)
			give_up(pcap, -ret);
	}
	pcap->written += pcap->used;
	pcap->used = 0;
	pcap->pending = 0;
}

static void *
pcap_reserve(struct vcx3_wire *wire, uint32_t len)
{
	struct pcap *pcap = (struct pcap *)wire;

	if (pcap->used + sizeof(struct record_header) + len > BUFFER_SIZE)
		pcap_flush(wire);
	return pcap->buffer + pcap->used + sizeof(struct record_header);
}

static void
pcap_commit(struct vcx3_wire *wire, uint32_t len)
{
	struct pcap *pcap = (struct pcap *)wire;
	uint64_t now_ns;
	struct record_header header;

	if (pcap->fd < 0)
		return;
	now_ns = wire->env.now_ns(wire->env.ctx);
	header = (struct record_header){
		.seconds = (uint32_t)(now_ns / NS_PER_S),
		.nanoseconds = (uint32_t)(now_ns % NS_PER_S),
		.len = len,
		.wire_len = len,
	};
	memcpy(pcap->buffer + pcap->used, &header, sizeof(header));
	pcap->used += (uint32_t)sizeof(header) + len;
	pcap->pending++;
}

static int
pcap_go(struct vcx3_wire *wire)
{
	((struct pcap *)wire)->player.held = false;
	return 0;
}

static void
pcap_close(struct vcx3_wire *wire)
{
	struct pcap *pcap = (struct pcap *)wire;

	if (pcap->fd >= 0)
		close(pcap->fd);
	vcx3_capture_free(&pcap->capture);
	free(pcap);
}

static const struct vcx3_wire_ops pcap_ops = {
	.rx_peek = pcap_peek,
	.rx_consume = pcap_consume,
	.tx_reserve = pcap_reserve,
	.tx_commit = pcap_commit,
	.flush = pcap_flush,
	.go = pcap_go,
	.close = pcap_close,
};

/* Whether file can be written, without making it. */
static int
check_writable(const char *file, char *reason, size_t size)
{
	char copy[VCX3_WIRE_PATH_SIZE];
	bool exists = access(file, F_OK) == 0;

	strcpy(copy, file);
	if (access(exists ? file : dirname(copy), W_OK) == 0)
		return 0;
	return vcx3_wire_refuse(reason, size, errno, "capture %s: cannot write it: %s", file,
		strerror(errno));
}

VCX3_WIRE_CHECK(pcap)
{
	struct vcx3_capture capture;
	int ret = 0;

	if (spec->rx_file[0] != '\0') {
		ret = vcx3_capture_load(&capture, spec->rx_file, reason, size);
		if (ret == 0)
			vcx3_capture_free(&capture);
	}
	if (ret == 0 && spec->tx_file[0] != '\0')
		ret = check_writable(spec->tx_file, reason, size);
	return ret;
}

static int
open_record(struct pcap *pcap, const char *file, char *reason, size_t size)
{
	/* Version 2.4, no time zone, frames of up to 256 KiB, Ethernet. */
	const struct {
		uint32_t magic;
		uint16_t major, minor;
		uint32_t zone, accuracy, longest, linktype;
	} header = {VCX3_PCAP_MAGIC_NS, 2, 4, 0, 0, 256 * 1024, VCX3_LINKTYPE_ETHERNET};
	int ret;

	_Static_assert(sizeof(header) == VCX3_PCAP_FILE_HEADER, "pcap file header");
	pcap->fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	ret = pcap->fd < 0 ? -errno : vcx3_write_all(pcap->fd, &header, sizeof(header));
	pcap->written = sizeof(header);
	if (ret == 0)
		return 0;
	return vcx3_wire_refuse(reason, size, -ret, "capture %s: cannot write it: %s", file,
		strerror(-ret));
}

static uint64_t
frames_to_play(const struct vcx3_capture *capture, uint64_t loop)
{
	uint64_t frames;

	if (loop == 0 || __builtin_mul_overflow(loop, (uint64_t)capture->count, &frames))
		return UINT64_MAX;
	return frames;
}

VCX3_WIRE_OPEN(pcap)
{
	struct pcap *pcap = vcx3_wire_alloc(sizeof(*pcap), spec->kind, &pcap_ops, env);
	int ret = 0;

	if (pcap == NULL)
		return vcx3_wire_refuse(reason, size, ENOMEM, "wire pcap: no memory");
	pcap->fd = -1;
	if (spec->rx_file[0] != '\0')
		ret = vcx3_capture_load(&pcap->capture, spec->rx_file, reason, size);
	if (ret == 0 && spec->tx_file[0] != '\0')
		ret = open_record(pcap, spec->tx_file, reason, size);
	if (ret != 0) {
		pcap_close(&pcap->wire);
		return ret;
	}
	pcap->player = (struct vcx3_player){
		.frames = pcap->capture.frames,
		.length = pcap->capture.count,
		.left = frames_to_play(&pcap->capture, spec->loop),
		.held = spec->hold,
	};
	*out = &pcap->wire;
	return 0;
}
