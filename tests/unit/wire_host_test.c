/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Wires to the network stack of this machine, in network namespaces of their
 * own: TAP, and a TCP and UDP conversation of two hosts whose veth ends are
 * joined by two packet wires. The hosts keep all of their offloads.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/udp.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wire_env.h"

#define TCP_BYTES (20u << 20)
#define TIME_MAX_NS 15000000000ull

static void
run(const char *format, ...)
{
	char command[256];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	CHECK(system(command) == 0, "%s", command);
}

/* Becomes alone with a fresh network, or skips. */
static void
new_network(void)
{
	if (geteuid() != 0 || unshare(CLONE_NEWNET) != 0)
		SKIP("needs root and network namespaces (%s)", strerror(errno));
	if (access("/dev/net/tun", R_OK | W_OK) != 0)
		SKIP("needs /dev/net/tun");
	if (system("command -v ip >/dev/null") != 0)
		SKIP("needs the ip command");
	if (system("ip link add x0 type veth peer name x1 2>/dev/null && ip link del x0") != 0)
		SKIP("needs veth interfaces");
}

static void
service_until(struct vcx3_wire *wire, bool carrier)
{
	for (int i = 0; i < 1000 && vcx3_wire_carrier(wire) != carrier; i++) {
		vcx3_wire_service(wire);
		usleep(1000);
	}
	CHECK(vcx3_wire_carrier(wire) == carrier);
}

/* First frame within a second for which the UDP destination port is as given. */
static bool
wait_for_udp(struct vcx3_wire *wire, uint32_t ip_offset, uint16_t port, uint32_t *len,
	uint8_t *copy)
{
	struct vcx3_frame frame;

	for (int i = 0; i < 1000; i++) {
		while (vcx3_wire_rx_peek(wire, &frame, 1) == 1) {
			const uint8_t *udp = frame.data + ip_offset + 20;
			bool match = frame.len >= ip_offset + 28 &&
				frame.data[ip_offset] == 0x45 && frame.data[ip_offset + 9] == 17 &&
				(udp[2] << 8 | udp[3]) == port;

			*len = frame.len;
			memcpy(copy, frame.data, frame.len);
			vcx3_wire_rx_consume(wire, 1);
			if (match)
				return true;
		}
		usleep(1000);
	}
	return false;
}

static bool
udp_csum_is_right(const uint8_t *ip)
{
	uint32_t len = (uint32_t)(ip[2] << 8 | ip[3]) - 20;

	return len <= 1480 && plain_sum(ip + 20, len, plain_sum(ip + 12, 8, 17 + len)) == 0xffff;
}

/* With a segment length the host leaves it to its card to cut the bytes into datagrams. */
static void
send_udp_segments(const char *address, uint16_t port, size_t len, int segment)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
	static char bytes[65000];
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	inet_pton(AF_INET, address, &to.sin_addr);
	CHECK(segment == 0 ||
	      setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof(segment)) == 0);
	CHECK(sendto(fd, bytes, len, 0, (struct sockaddr *)&to, sizeof(to)) == (ssize_t)len,
		"%s", strerror(errno));
	close(fd);
}

static void
send_udp(const char *address, uint16_t port, size_t len)
{
	send_udp_segments(address, port, len, 0);
}

static void
test_tap(void)
{
	struct vcx3_wire *wire = must_open("tap:vcx3t", &real_env);
	struct vcx3_wire_spec spec;
	uint8_t frame[VCX3_WIRE_FRAME_MAX];
	uint32_t len;

	CHECK(vcx3_wire_carrier(wire));
	CHECK(vcx3_wire_parse("tap:vcx3t", &spec, reason, sizeof(reason)) == 0);
	CHECK(vcx3_wire_check(&spec, reason, sizeof(reason)) == -EEXIST);
	run("ip addr add 10.9.0.1/24 dev vcx3t");
	run("ip neigh add 10.9.0.2 lladdr 02:00:00:00:00:01 dev vcx3t");
	send_udp("10.9.0.2", 4000, 100);
	CHECK(wait_for_udp(wire, 14, 4000, &len, frame) && len == 142, "%u", len);
	CHECK(udp_csum_is_right(frame + 14));
	send_udp("10.9.0.2", 4003, 4);
	CHECK(wait_for_udp(wire, 14, 4003, &len, frame) && len == 60, "%u", len);

	/* Back into the host: counted by the interface. */
	CHECK(send_frame(wire, frame, len));
	vcx3_wire_flush(wire);
	CHECK(wire->stats.tx_dropped == 0);
	run("test $(cat /sys/class/net/vcx3t/statistics/rx_packets 2>/dev/null || "
		"ip -s -j link show vcx3t | grep -o '\"packets\":[0-9]*' | head -1 | cut -d: -f2)"
		" = 1");

	vcx3_wire_set_link(wire, false);
	run("ip link show vcx3t | grep -q NO-CARRIER");
	vcx3_wire_set_link(wire, true);
	run("ip link set vcx3t down");
	service_until(wire, false);
	CHECK(send_frame(wire, frame, len));
	CHECK(wire->stats.tx_dropped == 1);
	run("ip link set vcx3t up");
	service_until(wire, true);
	vcx3_wire_close(wire);
	CHECK(if_nametoindex("vcx3t") == 0);
}

static void
make_veth(const char *ours, const char *theirs, const char *address)
{
	run("ip link add %s type veth peer name %s", ours, theirs);
	run("ip link set %s up && ip link set %s up", ours, theirs);
	run("ip addr add %s/24 dev %s", address, theirs);
}

/* The kernel takes the tag out of a frame that it receives; the wire puts it back. */
static void
test_vlan_tag(struct vcx3_wire *wire)
{
	struct vcx3_wire *other = must_open("packet:vcx3p1", &real_env);
	uint8_t frame[64] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x81, 0, 0x61, 0x23, 8, 0, 0x45};
	uint8_t seen[VCX3_WIRE_FRAME_MAX];
	uint32_t len;

	frame[18 + 9] = 17;
	frame[18 + 20 + 2] = 4002 >> 8;
	frame[18 + 20 + 3] = 4002 & 0xff;
	CHECK(send_frame(other, frame, sizeof(frame)));
	vcx3_wire_flush(other);
	CHECK(wait_for_udp(wire, 18, 4002, &len, seen) && len == sizeof(frame), "%u", len);
	CHECK(memcmp(seen, frame, sizeof(frame)) == 0);
	vcx3_wire_close(other);
}

/* Kernels before 6.2 cannot describe such a super-frame; then it is counted as dropped. */
static void
test_udp_segments(struct vcx3_wire *wire)
{
	static const uint32_t lengths[] = {1042, 1042, 542};
	uint64_t dropped = wire->stats.rx_dropped;
	uint8_t frame[VCX3_WIRE_FRAME_MAX];
	uint32_t len = 0;

	send_udp_segments("10.9.1.2", 4004, 2500, 1000);
	if (!wait_for_udp(wire, 14, 4004, &len, frame)) {
		CHECK(wire->stats.rx_dropped > dropped);
		return;
	}
	for (int i = 0; i < 3; i++) {
		CHECK(len == lengths[i] && udp_csum_is_right(frame + 14), "%d: %u", i, len);
		CHECK(i == 2 || wait_for_udp(wire, 14, 4004, &len, frame));
	}
	CHECK(wire->stats.rx_segmented == 1);
}

/* A single packet wire: open checksum, VLAN tag, carrier, interface that goes. */
static void
test_packet(void)
{
	struct vcx3_wire *wire;
	uint8_t frame[VCX3_WIRE_FRAME_MAX];
	uint32_t len;

	make_veth("vcx3p0", "vcx3p1", "10.9.1.1");
	wire = must_open("packet:vcx3p0", &real_env);
	service_until(wire, true);
	run("ip neigh add 10.9.1.2 lladdr 02:00:00:00:00:01 dev vcx3p1");
	send_udp("10.9.1.2", 4001, 100);
	CHECK(wait_for_udp(wire, 14, 4001, &len, frame) && len == 142, "%u", len);
	CHECK(udp_csum_is_right(frame + 14) && wire->stats.rx_csum_completed > 0);
	send_udp("10.9.1.2", 4003, 4);
	CHECK(wait_for_udp(wire, 14, 4003, &len, frame) && len == 60, "%u", len);
	CHECK(udp_csum_is_right(frame + 14));

	test_udp_segments(wire);
	test_vlan_tag(wire);

	/* Longer than the interface takes: dropped, and the next one passes. */
	wire->stats.tx_dropped = 0;
	memset(frame, 0, sizeof(frame));
	CHECK(send_frame(wire, frame, 4000) && send_frame(wire, frame, len));
	vcx3_wire_flush(wire);
	CHECK(wire->stats.tx_dropped == 1, "%llu", (unsigned long long)wire->stats.tx_dropped);

	run("ip link set vcx3p1 down");
	service_until(wire, false);
	run("ip link set vcx3p1 up");
	service_until(wire, true);
	run("ip link del vcx3p0");
	service_until(wire, false);
	CHECK(send_frame(wire, frame, len));
	vcx3_wire_flush(wire);
	vcx3_wire_close(wire);
}

/* Server: sums TCP_BYTES and answers with the sum. */
static int
serve(int ready)
{
	struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(5000)};
	static uint8_t bytes[65536];
	uint64_t sum = 0;
	ssize_t got;
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	int fd;

	if (bind(listener, (struct sockaddr *)&here, sizeof(here)) != 0 ||
	    listen(listener, 1) != 0 || write(ready, "r", 1) != 1)
		return 1;
	fd = accept(listener, NULL, NULL);
	for (uint32_t left = TCP_BYTES; left > 0; left -= (uint32_t)got) {
		got = read(fd, bytes, sizeof(bytes));
		if (got <= 0)
			return 2;
		for (ssize_t i = 0; i < got; i++)
			sum = sum * 31 + bytes[i];
	}
	return write(fd, &sum, sizeof(sum)) == sizeof(sum) ? 0 : 3;
}

/* Client: sends TCP_BYTES, compares the server's sum with its own. */
static int
talk(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(5000)};
	static uint8_t bytes[65536];
	uint64_t sum = 0, answer = 0;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	inet_pton(AF_INET, "10.9.3.2", &to.sin_addr);
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0)
		return 1;
	for (uint32_t done = 0; done < TCP_BYTES; done += sizeof(bytes)) {
		for (size_t i = 0; i < sizeof(bytes); i++) {
			bytes[i] = (uint8_t)(done + i * 7 + (i >> 8));
			sum = sum * 31 + bytes[i];
		}
		for (size_t sent = 0; sent < sizeof(bytes);) {
			ssize_t n = write(fd, bytes + sent, sizeof(bytes) - sent);

			if (n <= 0)
				return 2;
			sent += (size_t)n;
		}
	}
	if (recv(fd, &answer, sizeof(answer), MSG_WAITALL) != sizeof(answer))
		return 3;
	return answer == sum ? 0 : 4;
}

/* Moves what arrives on one wire to the other; frames that a cable could not carry fail. */
static void
move(struct vcx3_wire *from, struct vcx3_wire *to)
{
	struct vcx3_frame frames[32];
	uint32_t n = vcx3_wire_rx_peek(from, frames, 32);
	uint32_t sent = 0;

	while (sent < n && send_frame(to, frames[sent].data, frames[sent].len)) {
		CHECK(frames[sent].len <= 1514, "%u", frames[sent].len);
		sent++;
	}
	if (sent > 0)
		vcx3_wire_rx_consume(from, sent);
	vcx3_wire_flush(to);
}

/* Forwards until both children have ended; their exit statuses. */
static void
forward_until(struct vcx3_wire *one, struct vcx3_wire *two, const pid_t child[2])
{
	uint64_t end_ns = real_now_ns(NULL) + TIME_MAX_NS;
	int ended = 0;

	while (ended < 2 && real_now_ns(NULL) < end_ns) {
		int status;

		move(one, two);
		move(two, one);
		if (waitpid(child[ended], &status, WNOHANG) == child[ended]) {
			CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child %d: %d",
				ended, status);
			ended++;
		}
	}
	CHECK(ended == 2);
	while (ended < 2) {
		kill(child[ended], SIGKILL);
		waitpid(child[ended++], NULL, 0);
	}
}

/* In a child: a network of its own, that the parent moves an interface into. */
static pid_t
new_host(int ready[2], int configured[2], bool server)
{
	pid_t pid = fork();
	char byte;

	if (pid != 0)
		return pid;
	if (unshare(CLONE_NEWNET) != 0 || write(ready[1], "n", 1) != 1 ||
	    read(configured[0], &byte, 1) != 1)
		_exit(10);
	_exit(server ? serve(ready[1]) : talk());
}

static void
place(const char *interface, pid_t pid, const char *address)
{
	run("ip link set %s netns %d", interface, pid);
	run("nsenter -t %d -n sh -c 'ip addr add %s/24 dev %s && ip link set %s up'", pid,
		address, interface, interface);
}

static void
test_two_hosts(void)
{
	struct vcx3_wire *one, *two;
	int ready[2], configured[2][2];
	pid_t child[2];
	char byte;

	CHECK(pipe(ready) == 0 && pipe(configured[0]) == 0 && pipe(configured[1]) == 0);
	run("ip link add vcx3a0 type veth peer name vcx3a1 && ip link set vcx3a0 up");
	run("ip link add vcx3b0 type veth peer name vcx3b1 && ip link set vcx3b0 up");
	child[0] = new_host(ready, configured[0], true);
	child[1] = new_host(ready, configured[1], false);
	CHECK(read(ready[0], &byte, 1) == 1 && read(ready[0], &byte, 1) == 1);
	place("vcx3a1", child[1], "10.9.3.1");
	place("vcx3b1", child[0], "10.9.3.2");
	one = must_open("packet:vcx3a0", &real_env);
	two = must_open("packet:vcx3b0", &real_env);
	CHECK(write(configured[0][1], "c", 1) == 1 && read(ready[0], &byte, 1) == 1);
	CHECK(write(configured[1][1], "c", 1) == 1);
	forward_until(one, two, child);
	CHECK(one->stats.rx_segmented > 0 && one->stats.rx_bytes > TCP_BYTES);
	printf("%u MiB over TCP: %llu super-frames cut, %llu checksums completed, %llu + %llu "
		"dropped\n", TCP_BYTES >> 20, (unsigned long long)one->stats.rx_segmented,
		(unsigned long long)one->stats.rx_csum_completed,
		(unsigned long long)one->stats.rx_dropped,
		(unsigned long long)two->stats.tx_dropped);
	vcx3_wire_close(one);
	vcx3_wire_close(two);
}

int
main(void)
{
	new_network();
	test_tap();
	test_packet();
	test_two_hosts();
	return check_status();
}
