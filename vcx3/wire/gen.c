/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A wire that makes frames: one for each flow, built when the wire opens. What
 * the port sends into it vanishes. Addresses and ports come from the seed, so
 * equal specs make equal frames; the flow number is part of the source address,
 * so that no two flows are equal.
 */

#include <errno.h>
#include <stdlib.h>

#include "headers.h"
#include "kinds.h"
#include "player.h"

/* Frames start on cache lines. */
#define FRAME_ALIGN 64u
/* Most memory that the frames of a generator may take. */
#define MEMORY_MAX (256u << 20)
/* A port that looked away finds at most this many frames in line. */
#define BACKLOG_MAX 4096

#define TTL 64
#define TCP_WINDOW_SIZE 0xffff
/* Ports below are for servers. */
#define PORT_MIN 1024

struct gen {
	struct vcx3_wire wire;
	struct vcx3_player player;
	uint64_t rate_pps;	/* 0: no pacing */
	uint64_t start_ns;	/* 0: pacing has not started */
	uint64_t paced;		/* frames taken or given up since start_ns */
	struct vcx3_frame *frames;
	uint8_t *memory;
	uint8_t lost[VCX3_WIRE_FRAME_MAX];
};

/* Sebastiano Vigna's splitmix64: the n-th output of a counter. */
static uint64_t
next_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static uint32_t
random_port(uint64_t *state)
{
	return PORT_MIN + (uint32_t)(next_random(state) % (65536 - PORT_MIN));
}

/* 10.x.f.f to 10.x.x.x, f the flow number. */
static void
build_ipv4(uint8_t *ip, uint32_t len, uint8_t proto, uint32_t flow, uint64_t *state)
{
	ip[0] = 0x45;
	vcx3_put16(ip + IPV4_TOTAL, len);
	ip[IPV4_TTL] = TTL;
	ip[IPV4_PROTO] = proto;
	vcx3_put32(ip + IPV4_SRC, 10u << 24 | (next_random(state) & 0xff) << 16 | flow);
	vcx3_put32(ip + IPV4_DST, 10u << 24 | (next_random(state) & 0xffffff));
	vcx3_ipv4_csum(ip);
}

/* 2001:db8::x:x:f to 2001:db8::x:x:x, f the flow number (RFC 3849). */
static void
build_ipv6(uint8_t *ip, uint32_t len, uint8_t proto, uint32_t flow, uint64_t *state)
{
	ip[0] = 0x60;
	vcx3_put16(ip + IPV6_PAYLOAD, len - IPV6_LEN);
	ip[IPV6_NEXT] = proto;
	ip[IPV6_HOPS] = TTL;
	vcx3_put32(ip + IPV6_SRC, 0x20010db8);
	vcx3_put32(ip + IPV6_SRC + 8, (uint32_t)next_random(state));
	vcx3_put32(ip + IPV6_SRC + 12, (uint32_t)next_random(state) << 16 | flow);
	vcx3_put32(ip + IPV6_DST, 0x20010db8);
	vcx3_put32(ip + IPV6_DST + 8, (uint32_t)next_random(state));
	vcx3_put32(ip + IPV6_DST + 12, (uint32_t)next_random(state));
}

static void
build_l4(const uint8_t *ip, uint8_t *l4, uint32_t len, uint8_t proto, uint64_t *state)
{
	uint32_t header = proto == PROTO_TCP ? TCP_LEN : UDP_LEN;

	vcx3_put16(l4 + L4_SRC_PORT, random_port(state));
	vcx3_put16(l4 + L4_DST_PORT, random_port(state));
	if (proto == PROTO_TCP) {
		vcx3_put32(l4 + TCP_SEQ, (uint32_t)next_random(state));
		l4[TCP_OFFSET] = TCP_LEN / 4 << 4;
		l4[TCP_FLAGS] = TCP_FLAG_ACK;
		vcx3_put16(l4 + TCP_WINDOW, TCP_WINDOW_SIZE);
	} else {
		vcx3_put16(l4 + UDP_LENGTH, len);
	}
	for (uint32_t i = header; i < len; i++)
		l4[i] = (uint8_t)next_random(state);
	vcx3_l4_csum(ip, l4, len, proto);
}

static bool
is_ipv6(enum vcx3_wire_proto proto)
{
	return proto == VCX3_WIRE_UDP6 || proto == VCX3_WIRE_TCP6;
}

static uint8_t
l4_proto(enum vcx3_wire_proto proto)
{
	return proto == VCX3_WIRE_TCP4 || proto == VCX3_WIRE_TCP6 ? PROTO_TCP : PROTO_UDP;
}

static enum vcx3_wire_proto
flow_proto(const struct vcx3_wire_spec *spec, uint32_t flow)
{
	return spec->proto == VCX3_WIRE_MIX ? (enum vcx3_wire_proto)(flow % 4) : spec->proto;
}

static uint32_t
l4_offset(enum vcx3_wire_proto proto)
{
	return ETHER_LEN + (is_ipv6(proto) ? IPV6_LEN : IPV4_LEN);
}

/* The length asked for, or what the headers need. */
static uint32_t
frame_size(const struct vcx3_wire_spec *spec, enum vcx3_wire_proto proto)
{
	uint32_t headers = l4_offset(proto) +
		(l4_proto(proto) == PROTO_TCP ? TCP_LEN : UDP_LEN);

	return spec->size > headers ? spec->size : headers;
}

static void
build_frame(uint8_t *frame, uint32_t len, enum vcx3_wire_proto proto, uint32_t flow,
	const uint8_t *mac, uint64_t seed)
{
	static const uint8_t source[6] = {0x02, 'v', 'c', 'x', '3', 0};
	static const uint8_t unknown[6];
	uint64_t state = seed ^ (uint64_t)flow << 32;
	uint8_t *ip = frame + ETHER_LEN;
	uint32_t l4 = l4_offset(proto);

	memcpy(frame, mac, 6);
	if (memcmp(mac, unknown, 6) == 0)
		memset(frame, 0xff, 6);
	memcpy(frame + 6, source, 6);
	vcx3_put16(frame + ETHER_TYPE, is_ipv6(proto) ? ETHER_TYPE_IPV6 : ETHER_TYPE_IPV4);
	if (is_ipv6(proto))
		build_ipv6(ip, len - ETHER_LEN, l4_proto(proto), flow, &state);
	else
		build_ipv4(ip, len - ETHER_LEN, l4_proto(proto), flow, &state);
	build_l4(ip, frame + l4, len - l4, l4_proto(proto), &state);
}

/* Bytes from one frame to the next. */
static size_t
frame_stride(const struct vcx3_wire_spec *spec)
{
	uint32_t longest = 0;

	for (uint32_t flow = 0; flow < 4; flow++) {
		uint32_t len = frame_size(spec, flow_proto(spec, flow));

		if (len > longest)
			longest = len;
	}
	return (longest + FRAME_ALIGN - 1) & ~(size_t)(FRAME_ALIGN - 1);
}

static void
build_frames(struct gen *gen, const struct vcx3_wire_spec *spec)
{
	for (uint32_t flow = 0; flow < spec->flows; flow++) {
		enum vcx3_wire_proto proto = flow_proto(spec, flow);
		uint8_t *frame = gen->memory + flow * frame_stride(spec);
		uint32_t len = frame_size(spec, proto);

		build_frame(frame, len, proto, flow, gen->wire.env.mac, spec->seed);
		gen->frames[flow] = (struct vcx3_frame){
			.data = frame,
			.len = len,
			.flow_id = flow + 1,
		};
	}
}

/* Frames that may have arrived by now. */
static uint32_t
frames_due(struct gen *gen, uint32_t n)
{
	uint64_t now_ns = gen->wire.env.now_ns(gen->wire.env.ctx);
	uint64_t due;

	if (gen->start_ns == 0)
		gen->start_ns = now_ns;
	due = (uint64_t)((unsigned __int128)(now_ns - gen->start_ns) * gen->rate_pps / 1000000000) -
		gen->paced;
	if (due > BACKLOG_MAX) {
		gen->paced += due - BACKLOG_MAX;
		due = BACKLOG_MAX;
	}
	return due < n ? (uint32_t)due : n;
}

static uint32_t
gen_peek(struct vcx3_wire *wire, struct vcx3_frame *frames, uint32_t n)
{
	struct gen *gen = (struct gen *)wire;

	if (gen->rate_pps != 0 && !gen->player.held)
		n = frames_due(gen, n);
	return vcx3_player_peek(&gen->player, frames, n);
}

static void
gen_consume(struct vcx3_wire *wire, uint32_t n)
{
	struct gen *gen = (struct gen *)wire;

	gen->paced += n;
	wire->stats.rx_frames += n;
	wire->stats.rx_bytes += vcx3_player_consume(&gen->player, n);
}

static void *
gen_reserve(struct vcx3_wire *wire, uint32_t len)
{
	return ((struct gen *)wire)->lost;
}

static void
gen_commit(struct vcx3_wire *wire, uint32_t len)
{
}

static int
gen_go(struct vcx3_wire *wire)
{
	((struct gen *)wire)->player.held = false;
	return 0;
}

static void
gen_close(struct vcx3_wire *wire)
{
	struct gen *gen = (struct gen *)wire;

	free(gen->memory);
	free(gen->frames);
	free(gen);
}

static const struct vcx3_wire_ops gen_ops = {
	.rx_peek = gen_peek,
	.rx_consume = gen_consume,
	.tx_reserve = gen_reserve,
	.tx_commit = gen_commit,
	.go = gen_go,
	.close = gen_close,
};

VCX3_WIRE_CHECK(gen)
{
	size_t memory = spec->flows * frame_stride(spec);

	if (memory <= MEMORY_MAX)
		return 0;
	return vcx3_wire_refuse(reason, size, EINVAL,
		"wire gen: %u flows of %u bytes need %zu MiB of memory, at most %u MiB",
		spec->flows, spec->size, memory >> 20, MEMORY_MAX >> 20);
}

VCX3_WIRE_OPEN(gen)
{
	struct gen *gen;
	int ret = vcx3_gen_check(spec, reason, size);

	if (ret != 0)
		return ret;
	gen = vcx3_wire_alloc(sizeof(*gen), spec->kind, &gen_ops, env);
	if (gen == NULL)
		return vcx3_wire_refuse(reason, size, ENOMEM, "wire gen: no memory");
	gen->frames = calloc(spec->flows, sizeof(*gen->frames));
	gen->memory = aligned_alloc(FRAME_ALIGN, spec->flows * frame_stride(spec));
	if (gen->frames == NULL || gen->memory == NULL) {
		gen_close(&gen->wire);
		return vcx3_wire_refuse(reason, size, ENOMEM, "wire gen: no memory");
	}
	memset(gen->memory, 0, spec->flows * frame_stride(spec));
	build_frames(gen, spec);
	gen->rate_pps = spec->rate_pps;
	gen->player = (struct vcx3_player){
		.frames = gen->frames,
		.length = spec->flows,
		.left = spec->count != 0 ? spec->count : UINT64_MAX,
		.held = spec->hold,
	};
	*out = &gen->wire;
	return 0;
}
