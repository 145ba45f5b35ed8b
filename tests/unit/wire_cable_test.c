/* SPDX-License-Identifier: BSD-3-Clause */

/* Wires between two ports: peer, self, and unix with both ends in this process. */

#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wire_env.h"

static char folder[] = "/tmp/vcx3-wire-XXXXXX";
static char unix_text[128];
static const char *unix_path = unix_text + sizeof("unix:") - 1;

static void
open_pair(struct vcx3_wire *wires[2])
{
	const struct vcx3_wire_env envs[2] = {real_env, real_env};
	struct vcx3_wire_plan plan;

	vcx3_wire_plan_init(&plan, 2);
	CHECK(vcx3_wire_plan_finish(&plan, reason, sizeof(reason)) == 0, "%s", reason);
	CHECK(vcx3_wire_plan_check(&plan, reason, sizeof(reason)) == 0, "%s", reason);
	CHECK(vcx3_wire_plan_open(&plan, envs, wires, reason, sizeof(reason)) == 0, "%s", reason);
}

/* Frame i: a length and bytes that follow from i. */
static uint32_t
make_frame(uint32_t i, uint8_t *frame)
{
	uint32_t len = 14 + i * 7919 % (VCX3_WIRE_FRAME_MAX - 13);

	memset(frame, (int)(i * 31), len);
	memcpy(frame, &i, sizeof(i));
	return len;
}

/* Sends count frames as room allows, takes them in uneven bites; order and bytes hold. */
static void
carry(struct vcx3_wire *from, struct vcx3_wire *to, uint32_t count)
{
	static uint8_t frame[VCX3_WIRE_FRAME_MAX];
	struct vcx3_frame seen[7];
	uint32_t sent = 0, taken = 0, idle = 0;

	while (taken < count && idle < 1000) {
		uint32_t len = make_frame(sent, frame);
		uint32_t n;

		while (sent < count && sent % 64 != 63 && send_frame(from, frame, len))
			len = make_frame(++sent, frame);
		if (sent < count && send_frame(from, frame, len))
			sent++;
		vcx3_wire_flush(from);
		n = vcx3_wire_rx_peek(to, seen, 1 + taken % 7);
		for (uint32_t i = 0; i < n; i++) {
			len = make_frame(taken + i, frame);
			CHECK(seen[i].len == len && memcmp(seen[i].data, frame, len) == 0,
				"frame %u", taken + i);
		}
		vcx3_wire_rx_consume(to, n);
		taken += n;
		idle = n ? 0 : idle + 1;
	}
	CHECK(taken == count, "%u of %u", taken, count);
	CHECK(vcx3_wire_rx_peek(to, seen, 1) == 0);
}

static void
test_peer(void)
{
	struct vcx3_wire *wires[2];
	uint8_t frame[60] = {0};
	struct vcx3_frame seen[2];
	uint32_t sent = 0;

	open_pair(wires);
	carry(wires[0], wires[1], 5000);
	carry(wires[1], wires[0], 5000);
	/* A wire with nobody at its end fills up and then refuses; nothing is lost. */
	while (send_frame(wires[0], frame, sizeof(frame)))
		sent++;
	CHECK(sent > 1000 && wires[0]->stats.tx_full > 0);
	CHECK(vcx3_wire_rx_peek(wires[1], seen, 2) == 2);
	while (vcx3_wire_rx_peek(wires[1], seen, 1) == 1) {
		vcx3_wire_rx_consume(wires[1], 1);
		sent--;
	}
	CHECK(sent == 0);
	CHECK(send_frame(wires[0], frame, sizeof(frame)));
	vcx3_wire_close(wires[0]);
	vcx3_wire_close(wires[1]);
}

/* Room that was reserved and not sent leaves no trace. */
static void
test_reserve_again(void)
{
	struct vcx3_wire *wires[2];
	struct vcx3_frame seen;

	open_pair(wires);
	for (uint32_t i = 0; i < 1000; i++) {
		CHECK(vcx3_wire_tx_reserve(wires[0], VCX3_WIRE_FRAME_MAX) != NULL);
		CHECK(vcx3_wire_rx_peek(wires[1], &seen, 1) == 0);
		CHECK(send_frame(wires[0], &i, sizeof(i)));
		CHECK(vcx3_wire_rx_peek(wires[1], &seen, 1) == 1 && seen.len == sizeof(i));
		CHECK(memcmp(seen.data, &i, sizeof(i)) == 0);
		vcx3_wire_rx_consume(wires[1], 1);
	}
	vcx3_wire_close(wires[1]);
	vcx3_wire_close(wires[0]);
}

static void
test_peer_link(void)
{
	struct vcx3_wire *wires[2];

	open_pair(wires);
	CHECK(vcx3_wire_carrier(wires[0]) && vcx3_wire_carrier(wires[1]));
	vcx3_wire_set_link(wires[0], false);
	CHECK(vcx3_wire_carrier(wires[0]) && !vcx3_wire_carrier(wires[1]));
	vcx3_wire_set_link(wires[0], true);
	CHECK(vcx3_wire_carrier(wires[1]));
	vcx3_wire_close(wires[0]);
	CHECK(!vcx3_wire_carrier(wires[1]));
	CHECK(send_frame(wires[1], "x", 1) && wires[1]->stats.tx_dropped == 1);
	vcx3_wire_close(wires[1]);
}

static void
test_self(void)
{
	struct vcx3_wire *wire = must_open("self", &real_env);

	carry(wire, wire, 1000);
	vcx3_wire_set_link(wire, false);
	CHECK(vcx3_wire_carrier(wire));
	vcx3_wire_close(wire);
}

static void
service_both(struct vcx3_wire *one, struct vcx3_wire *two)
{
	for (int i = 0; i < 3; i++) {
		vcx3_wire_service(one);
		vcx3_wire_service(two);
	}
}

static void
test_unix(void)
{
	struct vcx3_wire *one = must_open(unix_text, &real_env);
	struct vcx3_wire *two;

	CHECK(!vcx3_wire_carrier(one));
	two = must_open(unix_text, &real_env);
	service_both(one, two);
	CHECK(vcx3_wire_carrier(one) && vcx3_wire_carrier(two));
	carry(one, two, 3000);
	carry(two, one, 3000);
	vcx3_wire_set_link(two, false);
	service_both(one, two);
	CHECK(!vcx3_wire_carrier(one) && vcx3_wire_carrier(two));
	vcx3_wire_set_link(two, true);
	service_both(one, two);
	CHECK(vcx3_wire_carrier(one));

	/* The end that connected goes: carrier lost, frames dropped; the next one is welcome. */
	vcx3_wire_close(two);
	vcx3_wire_service(one);
	CHECK(!vcx3_wire_carrier(one));
	CHECK(send_frame(one, "x", 1));
	vcx3_wire_flush(one);
	CHECK(one->stats.tx_dropped == 1);
	two = must_open(unix_text, &real_env);
	service_both(one, two);
	CHECK(vcx3_wire_carrier(one) && vcx3_wire_carrier(two));
	carry(one, two, 100);

	/* The end that listened goes: the survivor listens. */
	vcx3_wire_close(one);
	vcx3_wire_service(two);
	CHECK(!vcx3_wire_carrier(two));
	usleep(60000);
	vcx3_wire_service(two);
	one = must_open(unix_text, &real_env);
	service_both(one, two);
	carry(one, two, 100);
	vcx3_wire_close(one);
	vcx3_wire_close(two);
	CHECK(access(unix_path, F_OK) != 0 && errno == ENOENT);
}

/* What was sent before the sender ended still arrives. */
static void
test_unix_last_frames(void)
{
	struct vcx3_wire *one = must_open(unix_text, &real_env);
	struct vcx3_wire *two = must_open(unix_text, &real_env);
	struct vcx3_frame seen[64];
	uint32_t n;

	service_both(one, two);
	for (int i = 0; i < 10; i++)
		CHECK(send_frame(two, "abcdefgh", 8));
	vcx3_wire_close(two);
	/* That sending fails now does not take them away. */
	CHECK(send_frame(one, "x", 1));
	vcx3_wire_flush(one);
	CHECK(one->stats.tx_dropped == 1);
	vcx3_wire_service(one);
	n = vcx3_wire_rx_peek(one, seen, 64);
	CHECK(n == 10 && seen[9].len == 8, "%u", n);
	vcx3_wire_rx_consume(one, n);
	vcx3_wire_service(one);
	CHECK(!vcx3_wire_carrier(one));
	vcx3_wire_close(one);
}

/* A receiver that does not take them holds the sender up and loses nothing. */
static void
test_unix_full(void)
{
	struct vcx3_wire *one = must_open(unix_text, &real_env);
	struct vcx3_wire *two = must_open(unix_text, &real_env);
	static uint8_t frame[1500];
	struct vcx3_frame seen;
	uint32_t sent = 0, taken = 0;

	service_both(one, two);
	while (sent < 100000 && send_frame(one, frame, sizeof(frame)))
		sent++;
	CHECK(sent > 40 && sent < 100000 && one->stats.tx_full > 0, "%u", sent);
	for (int idle = 0; idle < 3; idle++) {
		while (vcx3_wire_rx_peek(two, &seen, 1) == 1) {
			vcx3_wire_rx_consume(two, 1);
			taken++;
		}
		vcx3_wire_flush(one);
	}
	CHECK(taken == sent && one->stats.tx_dropped == 0, "%u of %u", taken, sent);
	vcx3_wire_close(one);
	vcx3_wire_close(two);
}

/* A third one is told; here by a listener that is served, in another process. */
static void
test_unix_third(void)
{
	struct vcx3_wire_spec spec;
	struct vcx3_wire *wire;
	int ready[2];
	char byte;
	pid_t pid;

	CHECK(pipe(ready) == 0);
	pid = fork();
	if (pid == 0) {
		struct vcx3_wire *one = must_open(unix_text, &real_env);
		struct vcx3_wire *two = must_open(unix_text, &real_env);

		service_both(one, two);
		CHECK(write(ready[1], "r", 1) == 1);
		for (;;)
			service_both(one, two);
	}
	CHECK(read(ready[0], &byte, 1) == 1);
	CHECK(vcx3_wire_parse(unix_text, &spec, reason, sizeof(reason)) == 0);
	CHECK(vcx3_wire_open(&spec, &real_env, &wire, reason, sizeof(reason)) == -EBUSY);
	CHECK(strstr(reason, "joins two processes already"), "%s", reason);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(ready[0]);
	close(ready[1]);
}

/* A killed process leaves a socket; a launcher removes it, and a new wire takes it over. */
static void
test_unix_stale(void)
{
	struct vcx3_wire_plan plan;
	struct vcx3_wire *wire;
	char text[160];

	CHECK(access(unix_path, F_OK) == 0);
	wire = must_open(unix_text, &real_env);
	vcx3_wire_plan_init(&plan, 1);
	snprintf(text, sizeof(text), "1=%s", unix_text);
	CHECK(vcx3_wire_plan_add(&plan, text, reason, sizeof(reason)) == 0);
	vcx3_wire_plan_cleanup(&plan);
	CHECK(access(unix_path, F_OK) == 0);
	vcx3_wire_close(wire);
	CHECK(access(unix_path, F_OK) != 0);

	if (fork() == 0) {
		must_open(unix_text, &real_env);
		_exit(0);
	}
	wait(NULL);
	CHECK(access(unix_path, F_OK) == 0);
	vcx3_wire_plan_cleanup(&plan);
	CHECK(access(unix_path, F_OK) != 0);
}

/* Garbage from the other end: not a vcx3, or records that lie about their length. */
static void
test_unix_garbage(void)
{
	static const uint32_t messages[][4] = {
		{0, 0, 0, 0},
		{0x76637801, 0, 0xffffffff, 0},
		{0x76637801, 0, 5, 0},
		{0x76637801, 0, 0, 0},
	};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct vcx3_wire *wire = must_open(unix_text, &real_env);
	struct vcx3_frame seen;

	memcpy(address.sun_path, unix_path, strlen(unix_path));
	for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
		int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

		CHECK(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
		vcx3_wire_service(wire);
		CHECK(send(fd, messages[i], sizeof(messages[i]), 0) == sizeof(messages[i]));
		CHECK(vcx3_wire_rx_peek(wire, &seen, 1) == 0);
		close(fd);
		vcx3_wire_service(wire);
		CHECK(wire->stats.rx_dropped == i, "%zu", i);
	}
	vcx3_wire_close(wire);
}

int
main(void)
{
	if (mkdtemp(folder) == NULL)
		return 1;
	snprintf(unix_text, sizeof(unix_text), "unix:%s/wire", folder);
	test_peer();
	test_reserve_again();
	test_peer_link();
	test_self();
	test_unix();
	test_unix_last_frames();
	test_unix_full();
	test_unix_third();
	test_unix_stale();
	test_unix_garbage();
	rmdir(folder);
	return check_status();
}
