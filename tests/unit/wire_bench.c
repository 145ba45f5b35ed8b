/* SPDX-License-Identifier: BSD-3-Clause */

/* Nanoseconds a frame of the wires that a benchmark of the engine runs on. */

#include <unistd.h>

#include "wire_env.h"

#define BURST 32
#define FRAMES (1u << 24)

static double
ns_each(uint64_t start_ns)
{
	return (double)(real_now_ns(NULL) - start_ns) / FRAMES;
}

/* The first byte is read, as a port does. */
static double
bench_rx(const char *text)
{
	struct vcx3_wire *wire = must_open(text, &real_env);
	struct vcx3_frame frames[BURST];
	uint64_t start_ns = real_now_ns(NULL);
	volatile uint8_t byte;
	double ns;

	for (uint32_t done = 0; done < FRAMES; done += BURST) {
		uint32_t n = vcx3_wire_rx_peek(wire, frames, BURST);

		for (uint32_t i = 0; i < n; i++)
			byte = frames[i].data[0];
		vcx3_wire_rx_consume(wire, n);
	}
	(void)byte;
	ns = ns_each(start_ns);
	vcx3_wire_close(wire);
	return ns;
}

/* A 60-byte frame is copied in, and out of the other end if there is one. */
static double
bench_tx(struct vcx3_wire *from, struct vcx3_wire *to)
{
	static const uint8_t frame[60];
	struct vcx3_frame frames[BURST];
	uint64_t start_ns = real_now_ns(NULL);

	for (uint32_t done = 0; done < FRAMES; done += BURST) {
		for (uint32_t i = 0; i < BURST; i++)
			send_frame(from, frame, sizeof(frame));
		vcx3_wire_flush(from);
		if (to != NULL)
			vcx3_wire_rx_consume(to, vcx3_wire_rx_peek(to, frames, BURST));
	}
	return ns_each(start_ns);
}

static double
bench_one(const char *text, bool loop)
{
	struct vcx3_wire *wire = must_open(text, &real_env);
	double ns = bench_tx(wire, loop ? wire : NULL);

	vcx3_wire_close(wire);
	return ns;
}

static double
bench_unix(void)
{
	char text[64];
	struct vcx3_wire *one, *two;
	double ns;

	snprintf(text, sizeof(text), "unix:/tmp/vcx3-bench-%d", (int)getpid());
	one = must_open(text, &real_env);
	two = must_open(text, &real_env);
	vcx3_wire_service(one);
	ns = bench_tx(one, two);
	vcx3_wire_close(two);
	vcx3_wire_close(one);
	return ns;
}

int
main(void)
{
	printf("ns a frame of 60 bytes, bursts of %d, one thread\n", BURST);
	printf("gen                  brought        %6.2f\n", bench_rx("gen"));
	printf("gen:rate=1000000000  brought        %6.2f\n", bench_rx("gen:rate=1000000000"));
	printf("sink                 taken          %6.2f\n", bench_one("sink", false));
	printf("self (= peer)        there and back %6.2f\n", bench_one("self", true));
	printf("unix                 there and back %6.2f\n", bench_unix());
	return check_status();
}
