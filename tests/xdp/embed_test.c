/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The embedder's side: globals by name while programs run, device services behind helpers and what
 * programs are told without them, in both engines and both kinds of memory for globals.
 *
 * usage: embed_test OBJECT
 */
#include <errno.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "check.h"
#include "xdpvm.h"

#define INGRESS 5	/* ifindex */
#define PACKET 100	/* bytes */

struct results {	/* progs/embed.bpf.c */
	int64_t values[3];
};

static struct xdpvm_object *object;
static struct xdpvm_buff buff;

static void
say(void *arg, enum xdpvm_log_level level, const char *message)
{
	if (level <= XDPVM_LOG_WARNING)
		fprintf(stderr, "%s\n", message);
}

static struct results
run(const char *program, int64_t first, int64_t second)
{
	static uint8_t frame[4096] __attribute__((aligned(64)));
	struct results results = { { first, second } };

	buff.hard_start = frame;
	buff.data = buff.data_meta = frame + XDP_PACKET_HEADROOM;
	buff.data_end = buff.data + PACKET;
	buff.frame_end = frame + sizeof(frame);
	memcpy(buff.data, &results, sizeof(results));
	CHECK(xdpvm_run(xdpvm_prog_find(object, program), &buff) == XDP_PASS);
	memcpy(&results, buff.data, sizeof(results));
	return results;
}

static void
test_globals(void)
{
	struct xdpvm_map *rodata = xdpvm_map_find(object, ".rodata");
	struct xdpvm_map *data = xdpvm_map_find(object, ".data");
	struct xdpvm_map *bss = xdpvm_map_find(object, ".bss");
	struct results results = run("globals", 0, 0);
	uint32_t zero = 0, setting = 100, constant;
	uint64_t counter;

	CHECK(rodata != NULL && data != NULL && bss != NULL && xdpvm_map_find(object, "x") == NULL);
	CHECK(results.values[0] == 42 && results.values[1] == 7 && results.values[2] == 7);
	CHECK(xdpvm_map_value_bytes(data) == sizeof(setting));
	CHECK(xdpvm_map_update(data, &zero, &setting, BPF_ANY) == 0);
	results = run("globals", 0, 0);
	CHECK(results.values[1] == 100 && results.values[2] == 107);
	CHECK(xdpvm_map_lookup(bss, &zero, &counter) == 0 && counter == 107);
	CHECK(xdpvm_map_lookup(rodata, &zero, &constant) == 0 && constant == 42);
	CHECK(xdpvm_map_update(rodata, &zero, &setting, BPF_ANY) == -EPERM);
	CHECK(run("globals", 0, 0).values[0] == 42);
}

/* One route, to 10.0.0.1, by interface 9; the rest is unreachable. */
static int
fib_lookup(struct xdpvm_buff *running, struct bpf_fib_lookup *params, int size, uint32_t flags)
{
	CHECK(running == &buff && running->opaque == &buff && size == sizeof(*params));
	CHECK(params->ifindex == INGRESS);
	if (params->ipv4_dst != 0x0a000001)
		return BPF_FIB_LKUP_RET_UNREACHABLE;
	params->ifindex = flags & BPF_FIB_LOOKUP_OUTPUT ? 10 : 9;
	params->dmac[5] = 77;
	return BPF_FIB_LKUP_RET_SUCCESS;
}

static int
mtu_of(struct xdpvm_buff *running, uint32_t ifindex)
{
	if (ifindex == 0)
		ifindex = running->ingress_ifindex;
	return ifindex == INGRESS ? 200 : ifindex == 9 ? 80 : -ENODEV;
}

static void
test_services(void)
{
	static const struct xdpvm_services services = { .fib_lookup = fib_lookup, .mtu = mtu_of };
	struct results results;

	CHECK(run("route", 0, 0).values[0] == BPF_FIB_LKUP_RET_NOT_FWDED);
	CHECK(run("mtu", 0, 0).values[0] == -ENODEV);
	buff.services = &services;
	buff.opaque = &buff;
	results = run("route", 0, 0);
	CHECK(results.values[0] == BPF_FIB_LKUP_RET_SUCCESS && results.values[1] == 9 &&
	      results.values[2] == 77);
	CHECK(run("route", BPF_FIB_LOOKUP_OUTPUT, 0).values[1] == 10);
	CHECK(run("route", 1 << 20, 0).values[0] == -EINVAL);

	/* The frame has 86 bytes behind its Ethernet header. */
	results = run("mtu", 0, 0);
	CHECK(results.values[0] == BPF_MTU_CHK_RET_SUCCESS && results.values[1] == 200);
	CHECK(run("mtu", 0, 114).values[0] == BPF_MTU_CHK_RET_SUCCESS);
	CHECK(run("mtu", 0, 115).values[0] == BPF_MTU_CHK_RET_FRAG_NEEDED);
	CHECK(run("mtu", 9, -6).values[0] == BPF_MTU_CHK_RET_SUCCESS);
	CHECK(run("mtu", 9, -5).values[0] == BPF_MTU_CHK_RET_FRAG_NEEDED);
	CHECK(run("mtu", 11, 0).values[0] == -ENODEV);
}

/* Maps can be found before the load, but hold nothing. */
static void
test_not_loaded(void)
{
	struct xdpvm_map *map = xdpvm_map_find(object, ".data");
	uint32_t key = 0, value = 1;

	CHECK(xdpvm_map_lookup(map, &key, &value) == -ENOTSUP);
	CHECK(xdpvm_map_update(map, &key, &value, BPF_ANY) == -ENOTSUP);
	CHECK(xdpvm_map_delete(map, &key) == -ENOTSUP);
	CHECK(xdpvm_map_take(map, &key, &value) == -ENOTSUP);
	CHECK(xdpvm_map_next_key(map, NULL, &key) == -ENOTSUP);
	CHECK(xdpvm_map_update_prog(map, 0, NULL) == -EINVAL);
	CHECK(xdpvm_map_update_map(map, &key, map, BPF_ANY) == -ENOTSUP);
}

static void
test_object(const char *path, enum xdpvm_verify verify, enum xdpvm_engine engine)
{
	struct xdpvm_options options = { .verify = verify, .engine = engine, .log = say };

	xdpvm_buff_init(&buff, INGRESS, 0);
	CHECK(xdpvm_buff_bind(&buff) == 0);
	CHECK(xdpvm_object_open(path, &options, &object) == 0);
	test_not_loaded();
	CHECK(xdpvm_object_load(object) == 0);
	test_globals();
	test_services();
	xdpvm_object_close(object);
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	CHECK(xdpvm_thread_register(0) == 0);
	test_object(argv[1], XDPVM_VERIFY_NONE, XDPVM_ENGINE_INTERP);
	test_object(argv[1], XDPVM_VERIFY_NONE, XDPVM_ENGINE_JIT);
	if (libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_XDP, NULL) > 0) {
		test_object(argv[1], XDPVM_VERIFY_KERNEL, XDPVM_ENGINE_INTERP);
		test_object(argv[1], XDPVM_VERIFY_KERNEL, XDPVM_ENGINE_JIT);
	}
	return check_status();
}
