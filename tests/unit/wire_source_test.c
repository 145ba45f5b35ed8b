/* SPDX-License-Identifier: BSD-3-Clause */

/* Wires that bring frames: generator and capture files. */

#include <byteswap.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "capture.h"
#include "headers.h"
#include "wire_env.h"

#define FLOWS 16

static char folder[] = "/tmp/vcx3-wire-XXXXXX";

/* A clock that stands where the test puts it. */
static uint64_t manual_ns;

static uint64_t
manual_now_ns(void *ctx)
{
	return manual_ns;
}

static const struct vcx3_wire_env manual_env = {.now_ns = manual_now_ns};

/* Takes n frames one by one and folds all their bytes (FNV-1a). */
static uint64_t
digest(const char *text, uint32_t n)
{
	struct vcx3_wire *wire = must_open(text, &real_env);
	struct vcx3_frame frame;
	uint64_t hash = 0xcbf29ce484222325;

	while (n-- > 0 && vcx3_wire_rx_peek(wire, &frame, 1) == 1) {
		for (uint32_t i = 0; i < frame.len; i++)
			hash = (hash ^ frame.data[i]) * 0x100000001b3;
		vcx3_wire_rx_consume(wire, 1);
	}
	vcx3_wire_close(wire);
	return hash;
}

static void
test_seed(void)
{
	uint64_t one = digest("gen:seed=7,proto=mix,flows=32", 64);

	CHECK(one == digest("gen:seed=7,proto=mix,flows=32", 64));
	CHECK(one != digest("gen:seed=8,proto=mix,flows=32", 64));
}

static void
check_frame(const struct vcx3_frame *frame, enum vcx3_wire_proto proto)
{
	bool six = proto == VCX3_WIRE_UDP6 || proto == VCX3_WIRE_TCP6;
	uint8_t number = proto == VCX3_WIRE_TCP4 || proto == VCX3_WIRE_TCP6 ? 6 : 17;
	const uint8_t *ip = frame->data + 14;
	const uint8_t *l4 = ip + (six ? 40 : 20);
	uint32_t l4_len = frame->len - (uint32_t)(l4 - frame->data);
	uint32_t sum = plain_sum(six ? ip + 8 : ip + 12, six ? 32 : 8, number + l4_len);

	CHECK(memcmp(frame->data, real_env.mac, 6) == 0);
	CHECK(frame->data[12] == (six ? 0x86 : 0x08) && frame->data[13] == (six ? 0xdd : 0));
	CHECK(ip[0] >> 4 == (six ? 6 : 4) && (six ? ip[6] : ip[9]) == number);
	CHECK(six || plain_sum(ip, 20, 0) == 0xffff);
	CHECK(plain_sum(l4, l4_len, sum) == 0xffff, "proto %d", (int)proto);
	CHECK(vcx3_get16(six ? ip + 4 : ip + 2) == (six ? l4_len : frame->len - 14));
	CHECK(number == 6 || vcx3_get16(l4 + 4) == l4_len);
}

static void
test_gen_frames(void)
{
	static const uint32_t shortest[] = {60, 60, 62, 74};
	struct vcx3_wire *wire = must_open("gen:proto=mix,flows=16,count=40", &real_env);
	struct vcx3_frame frames[64];
	uint32_t n = vcx3_wire_rx_peek(wire, frames, 64);

	CHECK(n == 40, "%u", n);
	for (uint32_t i = 0; i < n; i++) {
		CHECK(frames[i].flow_id == i % FLOWS + 1);
		CHECK(frames[i].data == frames[i % FLOWS].data);
		CHECK(frames[i].len == shortest[i % 4], "%u", frames[i].len);
		check_frame(&frames[i], (enum vcx3_wire_proto)(i % 4));
	}
	for (uint32_t i = 0; i < FLOWS; i++)
		for (uint32_t j = 0; j < i; j++)
			CHECK(frames[i].len != frames[j].len ||
			      memcmp(frames[i].data, frames[j].data, frames[i].len) != 0);
	vcx3_wire_rx_consume(wire, 5);
	CHECK(vcx3_wire_rx_peek(wire, frames, 64) == 35 && frames[0].flow_id == 6);
	vcx3_wire_rx_consume(wire, 35);
	CHECK(vcx3_wire_rx_peek(wire, frames, 64) == 0);
	CHECK(wire->stats.rx_frames == 40 && wire->stats.rx_bytes == 10 * (60 + 60 + 62 + 74));
	vcx3_wire_close(wire);
}

static void
test_gen_sizes(void)
{
	static const char *const texts[] = {"gen:size=1514,proto=udp6", "gen:size=61,proto=tcp4",
		"gen:size=16384,proto=tcp6"};
	static const uint32_t sizes[] = {1514, 61, 16384};
	static const enum vcx3_wire_proto protos[] = {VCX3_WIRE_UDP6, VCX3_WIRE_TCP4,
		VCX3_WIRE_TCP6};

	for (int i = 0; i < 3; i++) {
		struct vcx3_wire *wire = must_open(texts[i], &real_env);
		struct vcx3_frame frame;

		CHECK(vcx3_wire_rx_peek(wire, &frame, 1) == 1 && frame.len == sizes[i]);
		check_frame(&frame, protos[i]);
		vcx3_wire_close(wire);
	}
}

static void
test_rate(void)
{
	struct vcx3_wire *wire;
	struct vcx3_frame frames[256];

	manual_ns = 5;
	wire = must_open("gen:rate=1000000", &manual_env);
	CHECK(vcx3_wire_rx_peek(wire, frames, 256) == 0);
	manual_ns += 10000;
	CHECK(vcx3_wire_rx_peek(wire, frames, 256) == 10);
	vcx3_wire_rx_consume(wire, 4);
	CHECK(vcx3_wire_rx_peek(wire, frames, 256) == 6);
	vcx3_wire_rx_consume(wire, 6);
	manual_ns += 999;
	CHECK(vcx3_wire_rx_peek(wire, frames, 256) == 0);
	/* An hour away: the backlog is bounded, not 3.6 thousand million frames. */
	manual_ns += 3600ull * 1000000000;
	for (uint32_t i = 0; i < 16; i++) {
		CHECK(vcx3_wire_rx_peek(wire, frames, 256) == 256);
		vcx3_wire_rx_consume(wire, 256);
	}
	CHECK(vcx3_wire_rx_peek(wire, frames, 256) == 0);
	vcx3_wire_close(wire);
}

static void
test_hold(void)
{
	struct vcx3_wire *wire = must_open("gen:hold=1", &real_env);
	struct vcx3_wire *sink = must_open("sink", &real_env);
	struct vcx3_frame frame;

	CHECK(vcx3_wire_rx_peek(wire, &frame, 1) == 0);
	CHECK(vcx3_wire_go(wire) == 0 && vcx3_wire_rx_peek(wire, &frame, 1) == 1);
	CHECK(vcx3_wire_go(sink) == -ENOTSUP && vcx3_wire_rx_peek(sink, &frame, 1) == 0);
	CHECK(send_frame(sink, "abc", 3) && sink->stats.tx_bytes == 3);
	vcx3_wire_close(wire);
	vcx3_wire_close(sink);
}

static void
write_file(const char *file, const void *bytes, size_t count)
{
	FILE *f = fopen(file, "wb");

	CHECK(f != NULL && fwrite(bytes, 1, count, f) == count);
	if (f != NULL)
		fclose(f);
}

/* What is recorded is played again, frame by frame, as often as asked. */
static void
test_pcap_round_trip(void)
{
	char file[64], text[128];
	uint8_t frame[VCX3_WIRE_FRAME_MAX];
	struct vcx3_frame seen;
	struct vcx3_wire *wire;

	snprintf(file, sizeof(file), "%s/trip.pcap", folder);
	snprintf(text, sizeof(text), "pcap:tx=%s", file);
	wire = must_open(text, &real_env);
	for (uint32_t i = 0; i < 300; i++) {
		memset(frame, (int)i, sizeof(frame));
		CHECK(send_frame(wire, frame, 14 + i * 50));
	}
	CHECK(send_frame(wire, frame, VCX3_WIRE_FRAME_MAX));
	vcx3_wire_close(wire);

	snprintf(text, sizeof(text), "pcap:rx=%s,loop=2", file);
	wire = must_open(text, &real_env);
	for (uint32_t i = 0; i < 602; i++) {
		uint32_t want = i % 301 == 300 ? VCX3_WIRE_FRAME_MAX : 14 + i % 301 * 50;

		CHECK(vcx3_wire_rx_peek(wire, &seen, 1) == 1 && seen.len == want, "%u", i);
		CHECK(seen.data[want - 1] == (uint8_t)(i % 301 == 300 ? 299 : i % 301));
		vcx3_wire_rx_consume(wire, 1);
	}
	CHECK(vcx3_wire_rx_peek(wire, &seen, 1) == 0);
	vcx3_wire_close(wire);
	unlink(file);
}

/* All is in the file after a flush, before the wire is closed. */
static void
test_pcap_flush(void)
{
	char file[64], text[128];
	struct vcx3_capture capture;
	struct vcx3_wire *wire;
	uint8_t frame[60] = {1};

	snprintf(file, sizeof(file), "%s/flush.pcap", folder);
	snprintf(text, sizeof(text), "pcap:tx=%s", file);
	manual_ns = 12000000034;
	wire = must_open(text, &manual_env);
	CHECK(send_frame(wire, frame, sizeof(frame)));
	vcx3_wire_flush(wire);
	CHECK(vcx3_capture_load(&capture, file, reason, sizeof(reason)) == 0, "%s", reason);
	CHECK(capture.count == 1 && capture.frames[0].len == 60);
	CHECK(((uint32_t *)(void *)capture.bytes)[6] == 12);
	CHECK(((uint32_t *)(void *)capture.bytes)[7] == 34);
	vcx3_capture_free(&capture);
	vcx3_wire_close(wire);
	unlink(file);
}

static unsigned int sentences;

static void
count_sentence(void *ctx, const char *sentence)
{
	sentences++;
	CHECK(strstr(sentence, "cannot write the capture: File too large"), "%s", sentence);
}

/* A disk that is full ends the recording after a whole frame, and is told once. */
static void
test_pcap_full_disk(void)
{
	const struct vcx3_wire_env env = {.now_ns = real_now_ns, .log = count_sentence};
	struct rlimit limit, small;
	struct vcx3_capture capture;
	struct vcx3_wire *wire;
	char file[64], text[128];
	uint8_t frame[60] = {1};

	snprintf(file, sizeof(file), "%s/full.pcap", folder);
	snprintf(text, sizeof(text), "pcap:tx=%s", file);
	signal(SIGXFSZ, SIG_IGN);
	CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
	small = (struct rlimit){1000, limit.rlim_max};
	CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
	wire = must_open(text, &env);
	for (int i = 0; i < 20; i++) {
		CHECK(send_frame(wire, frame, sizeof(frame)));
		vcx3_wire_flush(wire);
	}
	/* (1000 - 24) / 76 */
	CHECK(wire->stats.tx_dropped == 20 - 12 && sentences == 1);
	vcx3_wire_close(wire);
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	CHECK(vcx3_capture_load(&capture, file, reason, sizeof(reason)) == 0, "%s", reason);
	CHECK(capture.count == 12, "%u", capture.count);
	vcx3_capture_free(&capture);
	unlink(file);
}

static int
parse_bytes(const void *bytes, size_t count, uint32_t *frames)
{
	struct vcx3_capture capture = {.bytes = malloc(count + 1), .size = count};
	int ret;

	memcpy(capture.bytes, bytes, count);
	ret = vcx3_capture_parse(&capture, "bytes", reason, sizeof(reason));
	*frames = capture.count;
	vcx3_capture_free(&capture);
	return ret;
}

static void
swap_words(uint32_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		words[i] = bswap_32(words[i]);
}

/* A pcap of two frames, 20 bytes each. */
static void
make_pcap(uint32_t words[24], uint32_t magic)
{
	memset(words, 0, 96);
	words[0] = magic;
	words[1] = 4 << 16 | 2;
	words[4] = 65535;
	words[5] = 1;
	words[8] = words[9] = 20;
	words[17] = words[18] = 20;
}

static void
test_pcap_formats(void)
{
	static const uint32_t magics[] = {0xa1b2c3d4, 0xa1b23c4d};
	uint32_t words[24];
	uint32_t frames;

	for (int i = 0; i < 2; i++) {
		make_pcap(words, magics[i]);
		CHECK(parse_bytes(words, 96, &frames) == 0 && frames == 2, "%s", reason);
		swap_words(words, 24);
		CHECK(parse_bytes(words, 96, &frames) == 0 && frames == 2, "%s", reason);
	}
}

static void
check_bad_pcap(uint32_t word, uint32_t value, const char *says)
{
	uint32_t words[24];
	uint32_t frames;

	make_pcap(words, 0xa1b2c3d4);
	words[word] = value;
	CHECK(parse_bytes(words, 96, &frames) == -EINVAL && frames == 0);
	CHECK(strstr(reason, says), "%s", reason);
}

static void
test_bad_pcap(void)
{
	uint32_t words[24];
	uint32_t frames;

	make_pcap(words, 0xa1b2c3d4);
	for (size_t count = 0; count < 96; count++) {
		int want = count == 24 || count == 60 ? 0 : -EINVAL;

		CHECK(parse_bytes(words, count, &frames) == want, "%zu", count);
	}
	check_bad_pcap(0, 0, "neither pcap nor pcapng");
	check_bad_pcap(5, 101, "link type 101 is not Ethernet");
	check_bad_pcap(8, 0xffffffff, "truncated in frame 1");
	check_bad_pcap(9, 21, "frame 1 was cut to 20 of its 21 bytes");
	check_bad_pcap(8, 13, "was cut to 13");
	check_bad_pcap(17, 21, "truncated in frame 2: 21 bytes announced, 20 left");
}

/* Section, interface, enhanced packet of 20 bytes, unknown block, simple packet of 18. */
static const uint32_t pcapng[] = {
	0x0a0d0d0a, 28, 0x1a2b3c4d, 1, 0xffffffff, 0xffffffff, 28,
	1, 20, 1, 0, 20,
	6, 52, 0, 0, 0, 20, 20, 1, 2, 3, 4, 5, 52,
	5, 12, 12,
	3, 36, 18, 1, 2, 3, 4, 5, 36,
};

static void
test_pcapng(void)
{
	uint32_t words[sizeof(pcapng) / 4];
	uint32_t frames;

	memcpy(words, pcapng, sizeof(words));
	CHECK(parse_bytes(words, sizeof(words), &frames) == 0 && frames == 2, "%s", reason);
	swap_words(words, sizeof(words) / 4);
	/* The link type is a 16-bit field. */
	words[9] = (uint32_t)bswap_16(1);
	CHECK(parse_bytes(words, sizeof(words), &frames) == 0 && frames == 2, "%s", reason);
	for (size_t count = 0; count < sizeof(pcapng); count++) {
		bool whole = count == 28 || count == 48 || count == 100 || count == 112;

		CHECK((parse_bytes(pcapng, count, &frames) == 0) == whole, "%zu", count);
	}
}

static void
check_bad_pcapng(uint32_t word, uint32_t value, const char *says)
{
	uint32_t words[sizeof(pcapng) / 4];
	uint32_t frames;

	memcpy(words, pcapng, sizeof(words));
	words[word] = value;
	CHECK(parse_bytes(words, sizeof(words), &frames) == -EINVAL);
	CHECK(strstr(reason, says), "%s", reason);
}

static void
test_bad_pcapng(void)
{
	check_bad_pcapng(2, 0, "without a byte order");
	check_bad_pcapng(9, 113, "link type 113");
	check_bad_pcapng(8, 12, "an interface block of 12 bytes");
	check_bad_pcapng(8, 21, "a block of 21 bytes");
	check_bad_pcapng(8, 0, "a block of 0 bytes");
	check_bad_pcapng(17, 21, "does not fit its block");
	check_bad_pcapng(17, 0xffffffff, "does not fit its block");
	check_bad_pcapng(18, 30, "was cut to 20 of its 30 bytes");
	check_bad_pcapng(30, 40, "was cut to 20 of its 40 bytes");
	check_bad_pcapng(30, 3, "frame 2 has 3 bytes");
}

static void
test_failed_open(void)
{
	struct vcx3_wire_spec spec;
	struct vcx3_wire *wire = NULL;
	char file[64], text[128];

	snprintf(file, sizeof(file), "%s/bad.pcap", folder);
	write_file(file, "not a capture", 13);
	snprintf(text, sizeof(text), "pcap:rx=%s", file);
	CHECK(vcx3_wire_parse(text, &spec, reason, sizeof(reason)) == 0);
	CHECK(vcx3_wire_check(&spec, reason, sizeof(reason)) == -EINVAL);
	CHECK(vcx3_wire_open(&spec, &real_env, &wire, reason, sizeof(reason)) == -EINVAL);
	CHECK(wire == NULL && strstr(reason, file), "%s", reason);
	unlink(file);
}

int
main(void)
{
	if (mkdtemp(folder) == NULL)
		return 1;
	test_seed();
	test_gen_frames();
	test_gen_sizes();
	test_rate();
	test_hold();
	test_pcap_round_trip();
	test_pcap_flush();
	test_pcap_formats();
	test_bad_pcap();
	test_pcapng();
	test_bad_pcapng();
	test_failed_open();
	test_pcap_full_disk();
	rmdir(folder);
	return check_status();
}
