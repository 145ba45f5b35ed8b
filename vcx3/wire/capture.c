/* SPDX-License-Identifier: BSD-3-Clause */

/* See capture.h. */

#include "capture.h"

#include <byteswap.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kinds.h"

/* Shortest frame that has an Ethernet header. */
#define FRAME_SHORTEST 14

/* pcapng: block types, length of the fixed parts, the word that shows the byte order. */
#define BLOCK_SECTION 0x0a0d0d0a
#define BLOCK_INTERFACE 1
#define BLOCK_SIMPLE 3
#define BLOCK_ENHANCED 6
#define BLOCK_HEADER 8
#define BLOCK_MIN 12
#define SECTION_MIN 28
#define INTERFACE_MIN 20
#define SIMPLE_MIN 16
#define ENHANCED_MIN 32
#define BYTE_ORDER_WORD 0x1a2b3c4d

struct reader {
	struct vcx3_capture *capture;
	const char *file;
	bool swapped;	/* the file has the other byte order */
	size_t position;
	char *reason;
	size_t reason_size;
};

#define REFUSE(reader, error, format, ...) \
	vcx3_wire_refuse((reader)->reason, (reader)->reason_size, error, "capture %s: " format, \
		(reader)->file, ##__VA_ARGS__)

static uint32_t
word_at(const struct reader *reader, size_t offset)
{
	uint32_t word;

	memcpy(&word, reader->capture->bytes + offset, sizeof(word));
	return reader->swapped ? bswap_32(word) : word;
}

static size_t
bytes_left(const struct reader *reader)
{
	return reader->capture->size - reader->position;
}

static int
grow(struct vcx3_capture *capture)
{
	uint32_t room = capture->room != 0 ? capture->room * 2 : 64;
	struct vcx3_frame *frames;

	if (room < capture->room)
		return -ENOMEM;
	frames = realloc(capture->frames, room * sizeof(*frames));
	if (frames == NULL)
		return -ENOMEM;
	capture->frames = frames;
	capture->room = room;
	return 0;
}

/* Adds a frame that lies inside the file at offset; wire_len is its length before a cut. */
static int
add_frame(struct reader *reader, size_t offset, uint32_t len, uint32_t wire_len)
{
	struct vcx3_capture *capture = reader->capture;
	uint32_t number = capture->count + 1;

	if (wire_len > len)
		return REFUSE(reader, EINVAL,
			"frame %u was cut to %u of its %u bytes when it was captured",
			number, len, wire_len);
	if (len < FRAME_SHORTEST || len > VCX3_WIRE_FRAME_MAX)
		return REFUSE(reader, EINVAL, "frame %u has %u bytes; a wire carries %d to %d",
			number, len, FRAME_SHORTEST, VCX3_WIRE_FRAME_MAX);
	if (capture->count == capture->room && grow(capture) != 0)
		return REFUSE(reader, ENOMEM, "no memory for frame %u", number);
	capture->frames[capture->count++] = (struct vcx3_frame){
		.data = capture->bytes + offset,
		.len = len,
		.flow_id = number <= VCX3_WIRE_FLOWS_MAX ? number : 0,
	};
	return 0;
}

static int
check_linktype(const struct reader *reader, uint32_t linktype)
{
	if (linktype == VCX3_LINKTYPE_ETHERNET)
		return 0;
	return REFUSE(reader, EINVAL, "link type %u is not Ethernet (%d)", linktype,
		VCX3_LINKTYPE_ETHERNET);
}

static int
parse_record(struct reader *reader)
{
	uint32_t number = reader->capture->count + 1;
	uint32_t len;
	size_t offset;

	if (bytes_left(reader) < VCX3_PCAP_RECORD_HEADER)
		return REFUSE(reader, EINVAL, "truncated in the header of frame %u", number);
	len = word_at(reader, reader->position + 8);
	offset = reader->position + VCX3_PCAP_RECORD_HEADER;
	if (len > reader->capture->size - offset)
		return REFUSE(reader, EINVAL, "truncated in frame %u: %u bytes announced, %zu left",
			number, len, reader->capture->size - offset);
	reader->position = offset + len;
	return add_frame(reader, offset, len, word_at(reader, offset - 4));
}

static int
parse_pcap(struct reader *reader)
{
	int ret;

	if (bytes_left(reader) < VCX3_PCAP_FILE_HEADER)
		return REFUSE(reader, EINVAL, "truncated: %zu bytes, the file header has %d",
			reader->capture->size, VCX3_PCAP_FILE_HEADER);
	/* The upper half holds the FCS length and flags. */
	ret = check_linktype(reader, word_at(reader, 20) & 0xffff);
	reader->position = VCX3_PCAP_FILE_HEADER;
	while (ret == 0 && bytes_left(reader) > 0)
		ret = parse_record(reader);
	return ret;
}

/* Each section has its own byte order. */
static int
parse_section(struct reader *reader)
{
	uint32_t order;

	if (bytes_left(reader) < SECTION_MIN)
		return REFUSE(reader, EINVAL, "truncated in a section header");
	memcpy(&order, reader->capture->bytes + reader->position + BLOCK_HEADER, sizeof(order));
	if (order != BYTE_ORDER_WORD && order != bswap_32(BYTE_ORDER_WORD))
		return REFUSE(reader, EINVAL, "a pcapng section without a byte order");
	reader->swapped = order != BYTE_ORDER_WORD;
	return 0;
}

static int
parse_interface(struct reader *reader, uint32_t length)
{
	uint16_t linktype;

	if (length < INTERFACE_MIN)
		return REFUSE(reader, EINVAL, "an interface block of %u bytes", length);
	memcpy(&linktype, reader->capture->bytes + reader->position + BLOCK_HEADER,
		sizeof(linktype));
	return check_linktype(reader, reader->swapped ? bswap_16(linktype) : linktype);
}

static int
parse_enhanced(struct reader *reader, uint32_t length)
{
	uint32_t len = length < ENHANCED_MIN ? 0 : word_at(reader, reader->position + 20);

	if (length < ENHANCED_MIN || len > length - ENHANCED_MIN)
		return REFUSE(reader, EINVAL, "frame %u does not fit its block of %u bytes",
			reader->capture->count + 1, length);
	return add_frame(reader, reader->position + 28, len,
		word_at(reader, reader->position + 24));
}

/* A simple block tells the original length only; what is there is bounded by the block. */
static int
parse_simple(struct reader *reader, uint32_t length)
{
	uint32_t wire_len = length < SIMPLE_MIN ? 0 : word_at(reader, reader->position + 8);
	uint32_t len = length - SIMPLE_MIN;

	if (length < SIMPLE_MIN)
		return REFUSE(reader, EINVAL, "a packet block of %u bytes", length);
	if (len > wire_len)
		len = wire_len;
	return add_frame(reader, reader->position + 12, len, wire_len);
}

static int
parse_body(struct reader *reader, uint32_t type, uint32_t length)
{
	switch (type) {
	case BLOCK_INTERFACE:
		return parse_interface(reader, length);
	case BLOCK_ENHANCED:
		return parse_enhanced(reader, length);
	case BLOCK_SIMPLE:
		return parse_simple(reader, length);
	default:
		return 0;
	}
}

static int
parse_block(struct reader *reader)
{
	uint32_t type;
	uint32_t length;
	int ret = 0;

	if (bytes_left(reader) < BLOCK_MIN)
		return REFUSE(reader, EINVAL, "truncated in a block header");
	type = word_at(reader, reader->position);
	if (type == BLOCK_SECTION)
		ret = parse_section(reader);
	if (ret != 0)
		return ret;
	length = word_at(reader, reader->position + 4);
	if (length < BLOCK_MIN || length % 4 != 0)
		return REFUSE(reader, EINVAL, "a block of %u bytes", length);
	if (length > bytes_left(reader))
		return REFUSE(reader, EINVAL, "truncated after frame %u: block of %u bytes, %zu left",
			reader->capture->count, length, bytes_left(reader));
	ret = parse_body(reader, type, length);
	reader->position += length;
	return ret;
}

static int
parse_any(struct reader *reader)
{
	uint32_t magic;
	int ret = 0;

	if (reader->capture->size < sizeof(magic))
		return REFUSE(reader, EINVAL, "%zu bytes are not a capture", reader->capture->size);
	magic = word_at(reader, 0);
	if (magic == BLOCK_SECTION) {
		while (ret == 0 && bytes_left(reader) > 0)
			ret = parse_block(reader);
		return ret;
	}
	reader->swapped = magic == bswap_32(VCX3_PCAP_MAGIC_US) ||
		magic == bswap_32(VCX3_PCAP_MAGIC_NS);
	if (!reader->swapped && magic != VCX3_PCAP_MAGIC_US && magic != VCX3_PCAP_MAGIC_NS)
		return REFUSE(reader, EINVAL, "neither pcap nor pcapng (starts with 0x%08x)", magic);
	return parse_pcap(reader);
}

int
vcx3_capture_parse(struct vcx3_capture *capture, const char *file, char *reason, size_t size)
{
	struct reader reader = {
		.capture = capture,
		.file = file,
		.reason = reason,
		.reason_size = size,
	};
	int ret = parse_any(&reader);

	if (ret != 0) {
		free(capture->frames);
		capture->frames = NULL;
		capture->count = 0;
		capture->room = 0;
	}
	return ret;
}

/* Reads count bytes; fewer when the file ends. */
static ssize_t
read_all(int fd, uint8_t *bytes, size_t count)
{
	size_t done = 0;

	while (done < count) {
		ssize_t got = read(fd, bytes + done, count - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

static int
read_file(struct vcx3_capture *capture, int fd)
{
	struct stat stat;
	ssize_t got;

	if (fstat(fd, &stat) != 0)
		return -errno;
	if (S_ISDIR(stat.st_mode))
		return -EISDIR;
	if (!S_ISREG(stat.st_mode))
		return -ESPIPE;
	/* A word more, so that an empty file is memory too. */
	capture->bytes = malloc((size_t)stat.st_size + sizeof(uint32_t));
	if (capture->bytes == NULL)
		return -ENOMEM;
	got = read_all(fd, capture->bytes, (size_t)stat.st_size);
	if (got < 0)
		return (int)got;
	capture->size = (size_t)got;
	return 0;
}

int
vcx3_capture_load(struct vcx3_capture *capture, const char *file, char *reason, size_t size)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	int ret;

	memset(capture, 0, sizeof(*capture));
	ret = fd < 0 ? -errno : read_file(capture, fd);
	if (fd >= 0)
		close(fd);
	if (ret != 0)
		vcx3_wire_refuse(reason, size, -ret, "capture %s: cannot read it: %s", file,
			strerror(-ret));
	else
		ret = vcx3_capture_parse(capture, file, reason, size);
	if (ret != 0)
		vcx3_capture_free(capture);
	return ret;
}

void
vcx3_capture_free(struct vcx3_capture *capture)
{
	free(capture->frames);
	free(capture->bytes);
	memset(capture, 0, sizeof(*capture));
}
