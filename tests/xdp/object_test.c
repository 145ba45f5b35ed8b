/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Objects as people have them: loaded through the kernel and through the linker alone; tags equal
 * to the kernel's; random packets give the same verdict and the same bytes in native code, in the
 * interpreter and in the kernel.
 *
 * usage: object_test OBJECT...
 */
#include <stdlib.h>
#include <sys/utsname.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "check.h"
#include "object.h"

#define PACKETS 300
#define PACKET_MAX 1500		/* bytes */
#define PACKET_MIN 14

static const char *current;	/* for messages */

static void
say(void *arg, enum xdpvm_log_level level, const char *message)
{
	if (level <= XDPVM_LOG_WARNING)
		fprintf(stderr, "%s\n", message);
}

static struct xdpvm_object *
load(const char *path, enum xdpvm_verify verify, enum xdpvm_engine engine)
{
	struct xdpvm_options options = { .verify = verify, .engine = engine, .log = say };
	struct xdpvm_object *object;

	if (xdpvm_object_open(path, &options, &object) != 0)
		return NULL;
	if (xdpvm_object_load(object) == 0)
		return object;
	xdpvm_object_close(object);
	return NULL;
}

static uint32_t random_state = 1;

static uint32_t
next_random(void)
{
	random_state = random_state * 1664525 + 1013904223;
	return random_state >> 8;
}

/* Ethernet with now and then a VLAN tag, then IPv4 or IPv6 with TCP, UDP or ICMP, then noise. */
static size_t
make_packet(uint8_t *packet)
{
	static const uint8_t protocols[] = { 1, 6, 17, 58 };
	size_t size = PACKET_MIN + next_random() % (PACKET_MAX - PACKET_MIN);
	size_t at = 12;

	for (size_t i = 0; i < PACKET_MAX; i++)
		packet[i] = next_random();
	if (next_random() % 4 == 0)
		size = PACKET_MIN + next_random() % 60;
	if (next_random() % 8 == 0)
		return size;
	if (next_random() % 4 == 0) {
		memcpy(packet + at, "\x81\x00\x00\x05", 4);
		at += 4;
	}
	if (next_random() % 2 == 0) {
		memcpy(packet + at, "\x08\x00\x45", 3);
		packet[at + 2 + 9] = protocols[next_random() % 4];
		memset(packet + at + 2 + 6, 0, 2);
	} else {
		memcpy(packet + at, "\x86\xdd\x60", 3);
		packet[at + 2 + 6] = protocols[next_random() % 4];
	}
	return size;
}

struct outcome {
	uint32_t action;
	uint32_t size;
	uint8_t bytes[8192];
};

static void
run_own(struct xdpvm_prog *prog, const uint8_t *packet, size_t size, struct outcome *outcome)
{
	static uint8_t frame[8192] __attribute__((aligned(4096)));
	struct xdpvm_buff buff;

	xdpvm_buff_init(&buff, 1, 0);
	xdpvm_buff_bind(&buff);
	buff.hard_start = frame;
	buff.data = buff.data_meta = frame + XDP_PACKET_HEADROOM;
	buff.data_end = buff.data + size;
	buff.frame_end = frame + 4096 - 320;	/* as BPF_PROG_TEST_RUN has it */
	memcpy(buff.data, packet, size);
	outcome->action = xdpvm_run(prog, &buff);
	outcome->size = buff.data_end - buff.data;
	memcpy(outcome->bytes, buff.data, outcome->size);
}

static bool
run_kernel(int fd, const uint8_t *packet, size_t size, struct outcome *outcome)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = packet, .data_size_in = size,
		    .data_out = outcome->bytes, .data_size_out = sizeof(outcome->bytes),
		    .repeat = 1);

	if (bpf_prog_test_run_opts(fd, &opts) != 0)
		return false;
	outcome->action = opts.retval;
	outcome->size = opts.data_size_out;
	return true;
}

static void
check_same(const char *name, unsigned int packet, const char *engine, const struct outcome *kernel,
	   const struct outcome *own)
{
	bool same = kernel->action == own->action && kernel->size == own->size &&
		    memcmp(kernel->bytes, own->bytes, own->size) == 0;

	CHECK(same, "%s, %s, packet %u: %s says action %u, %u bytes; kernel %u, %u bytes", current,
	      name, packet, engine, own->action, own->size, kernel->action, kernel->size);
}

static void
compare_engines(struct xdpvm_prog *jit, struct xdpvm_prog *interp)
{
	static struct outcome by_kernel, by_jit, by_interp;
	uint8_t packet[PACKET_MAX];
	size_t size;

	for (unsigned int i = 0; i < PACKETS; i++) {
		size = make_packet(packet);
		if (!run_kernel(xdpvm_prog_fd(jit), packet, size, &by_kernel))
			return;		/* programs for cpumaps and devmaps cannot be tried */
		run_own(jit, packet, size, &by_jit);
		run_own(interp, packet, size, &by_interp);
		check_same(xdpvm_prog_name(jit), i, "native code", &by_kernel, &by_jit);
		check_same(xdpvm_prog_name(jit), i, "the interpreter", &by_kernel, &by_interp);
	}
}

static bool
kernel_has_sha256(void)
{
	unsigned int major = 0, minor = 0;
	struct utsname name;

	uname(&name);
	return sscanf(name.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 18));
}

static void
check_tag(const struct xdpvm_prog *prog, const struct xdpvm_prog *linked)
{
	struct bpf_prog_info info = { 0 };
	uint8_t tag[XDPVM_TAG_SIZE], linked_tag[XDPVM_TAG_SIZE];
	uint32_t size = sizeof(info);

	CHECK(bpf_obj_get_info_by_fd(xdpvm_prog_fd(prog), &info, &size) == 0);
	xdpvm_prog_tag(prog, tag);
	xdpvm_prog_tag(linked, linked_tag);
	CHECK(memcmp(tag, info.tag, sizeof(tag)) == 0,
	      "%s, %s: tag %02x%02x..., the kernel has %02x%02x...", current,
	      xdpvm_prog_name(prog), tag[0], tag[1], info.tag[0], info.tag[1]);
	/* The linked program's tag is of our own making, with Linux 6.18's hash. */
	CHECK(memcmp(linked_tag, info.tag, sizeof(tag)) == 0 || !kernel_has_sha256(),
	      "%s, %s: tag %02x%02x..., the kernel has %02x%02x...", current,
	      xdpvm_prog_name(prog), linked_tag[0], linked_tag[1], info.tag[0], info.tag[1]);
}

static void
check_object(const char *path)
{
	struct xdpvm_object *jit = load(path, XDPVM_VERIFY_KERNEL, XDPVM_ENGINE_JIT);
	struct xdpvm_object *interp = load(path, XDPVM_VERIFY_KERNEL, XDPVM_ENGINE_INTERP);
	struct xdpvm_object *linked = load(path, XDPVM_VERIFY_NONE, XDPVM_ENGINE_JIT);
	struct xdpvm_prog *prog = NULL;

	current = path;
	CHECK(jit != NULL && interp != NULL && linked != NULL, "%s does not load", path);
	while (jit != NULL && interp != NULL && linked != NULL &&
	       (prog = xdpvm_prog_next(jit, prog)) != NULL) {
		check_tag(prog, xdpvm_prog_find(linked, xdpvm_prog_name(prog)));
		compare_engines(prog, xdpvm_prog_find(interp, xdpvm_prog_name(prog)));
	}
	xdpvm_object_close(jit);
	xdpvm_object_close(interp);
	xdpvm_object_close(linked);
}

int
main(int argc, char **argv)
{
	if (libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_XDP, NULL) <= 0)
		SKIP("this process may not load XDP programs into the kernel");
	CHECK(xdpvm_thread_register(0) == 0);
	for (int i = 1; i < argc; i++)
		check_object(argv[i]);
	return check_status();
}
