/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Helpers against the kernel's: a program of a few instructions calls the kernel's helper with
 * parameters that it finds in the packet, under BPF_PROG_TEST_RUN; ours is called with the same.
 * Result, length, metadata and every byte must be equal.
 */
#include <bpf/bpf.h>
#include <net/if.h>
#include <unistd.h>

#include "check.h"
#include "frame.h"
#include "helper.h"
#include "insn.h"
#include "map_pair.h"

#define PARAMETERS 16	/* bytes at the start of each packet */
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static struct xdpvm_buff buff;

/* Fills a frame with a packet of size bytes, its parameters in front. */
static void
frame_make(struct frame *frame, uint32_t meta, uint32_t size, const int32_t parameters[4])
{
	frame->meta = meta;
	frame->size = meta + size;
	for (uint32_t i = 0; i < frame->size; i++)
		frame->bytes[i] = (uint8_t)(i * 7 + 1);
	memcpy(frame->bytes + meta, parameters, PARAMETERS);
}

/* Runs prog in the kernel and helper here on the same frame. */
static void
compare(const char *name, int prog, uint32_t meta, uint32_t size, const int32_t parameters[4],
	uint64_t (*helper)(const int32_t *parameters))
{
	static struct frame kernel, own;
	bool ran;

	frame_make(&kernel, meta, size, parameters);
	own = kernel;
	ran = frame_run_kernel(prog, &kernel);
	CHECK(ran, "%s %d with %u bytes of metadata", name, parameters[0], meta);
	frame_to_buff(&own, &buff);
	own.result = helper(parameters);
	frame_from_buff(&own, &buff);
	CHECK(!ran || frame_equal(&kernel, &own),
	      "%s(%d, %d) on %u + %u bytes: kernel %d, %u + %u; own %d, %u + %u", name,
	      parameters[0], parameters[1], meta, size, (int)kernel.result, kernel.meta,
	      kernel.size - kernel.meta, (int)own.result, own.meta, own.size - own.meta);
}

static int
load_adjust(int helper)
{
	const struct bpf_insn insns[] = {
		PACKET_HAS(PARAMETERS),
		LOAD(BPF_W, 2, 7, 0),
		MOV(1, 6),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, helper),
		EXIT(),
	};

	return frame_load_kernel(insns, LENGTH(insns));
}

static uint64_t
own_adjust_head(const int32_t *p)
{
	return xdpvm_help_xdp_adjust_head((uintptr_t)&buff, (uint32_t)p[0], 0, 0, 0, &buff);
}

static uint64_t
own_adjust_tail(const int32_t *p)
{
	return xdpvm_help_xdp_adjust_tail((uintptr_t)&buff, (uint32_t)p[0], 0, 0, 0, &buff);
}

static uint64_t
own_adjust_meta(const int32_t *p)
{
	return xdpvm_help_xdp_adjust_meta((uintptr_t)&buff, (uint32_t)p[0], 0, 0, 0, &buff);
}

/* Every offset near a limit, and the limits of the type. */
static void
sweep(const char *name, int helper, uint64_t (*own)(const int32_t *parameters))
{
	static const uint32_t metas[] = { 0, 4, 32, 128 };
	static const int32_t far[] = { INT32_MIN, INT32_MAX, -4096, 4096, 65536, -65536 };
	int prog = load_adjust(helper);

	CHECK(prog >= 0);
	for (size_t m = 0; m < LENGTH(metas); m++) {
		for (int32_t offset = -260; offset <= 260; offset++)
			compare(name, prog, metas[m], 100, (int32_t[4]){ offset }, own);
		for (int32_t offset = 3400; offset <= 3440; offset++)
			compare(name, prog, metas[m], 100, (int32_t[4]){ offset }, own);
		for (size_t i = 0; i < LENGTH(far); i++)
			compare(name, prog, metas[m], 100, (int32_t[4]){ far[i] }, own);
	}
	close(prog);
}

static void
test_adjust(void)
{
	sweep("adjust_head", BPF_FUNC_xdp_adjust_head, own_adjust_head);
	sweep("adjust_tail", BPF_FUNC_xdp_adjust_tail, own_adjust_tail);
	sweep("adjust_meta", BPF_FUNC_xdp_adjust_meta, own_adjust_meta);
}

#define COPY_SIZE 24

/* Loads COPY_SIZE bytes at parameter 0 and stores them at parameter 1; adds both results. */
static int
load_copy(void)
{
	const struct bpf_insn insns[] = {
		PACKET_HAS(PARAMETERS),
		LOAD(BPF_W, 2, 7, 0),
		LOAD(BPF_W, 8, 7, 4),
		STORE_IMM(BPF_DW, 10, -8, 0),
		STORE_IMM(BPF_DW, 10, -16, 0),
		STORE_IMM(BPF_DW, 10, -24, 0),
		MOV(3, 10),
		ADD_IMM(3, -COPY_SIZE),
		MOV_IMM(4, COPY_SIZE),
		MOV(1, 6),
		CALL(xdp_load_bytes),
		MOV(9, 0),
		MOV(1, 6),
		MOV(2, 8),
		MOV(3, 10),
		ADD_IMM(3, -COPY_SIZE),
		MOV_IMM(4, COPY_SIZE),
		CALL(xdp_store_bytes),
		INSN(BPF_ALU64 | BPF_MUL | BPF_K, 9, 0, 0, 1000),
		INSN(BPF_ALU64 | BPF_ADD | BPF_X, 0, 9, 0, 0),
		EXIT(),
	};

	return frame_load_kernel(insns, LENGTH(insns));
}

static uint64_t
own_copy(const int32_t *p)
{
	uint8_t copy[COPY_SIZE] = { 0 };
	uint64_t ctx = (uintptr_t)&buff, at = (uintptr_t)copy;
	uint64_t load = xdpvm_help_xdp_load_bytes(ctx, (uint32_t)p[0], at, COPY_SIZE, 0, &buff);
	uint64_t store = xdpvm_help_xdp_store_bytes(ctx, (uint32_t)p[1], at, COPY_SIZE, 0, &buff);

	return load * 1000 + store;
}

static void
test_copy(void)
{
	static const int32_t offsets[] = {
		0, 1, 50, 75, 76, 77, 99, 100, 101, 0xffff, 0x10000, -1, -24, INT32_MIN,
	};
	int prog = load_copy();

	CHECK(prog >= 0);
	for (size_t i = 0; i < LENGTH(offsets); i++)
		for (size_t j = 0; j < LENGTH(offsets); j++)
			compare("load/store", prog, 0, 100,
				(int32_t[4]){ offsets[i], offsets[j] }, own_copy);
	close(prog);
}

/* Parameters: seed; sizes are constants of the program; the words are random. */
static uint32_t from_size, to_size;
static uint32_t words[32];

static int
load_csum(void)
{
	struct bpf_insn insns[64 + 32] = { PACKET_HAS(PARAMETERS) };
	uint32_t n = 8;

	for (uint32_t i = 0; i < LENGTH(words); i++)
		insns[n++] = STORE_IMM(BPF_W, 10, -128 + 4 * (int)i, (int32_t)words[i]);
	insns[n++] = MOV(1, 10);
	insns[n++] = ADD_IMM(1, -128);
	insns[n++] = MOV_IMM(2, (int)from_size);
	insns[n++] = MOV(3, 10);
	insns[n++] = ADD_IMM(3, -64);
	insns[n++] = MOV_IMM(4, (int)to_size);
	insns[n++] = LOAD(BPF_W, 5, 7, 0);
	insns[n++] = CALL(csum_diff);
	insns[n++] = EXIT();
	return frame_load_kernel(insns, n);
}

static uint64_t
own_csum(const int32_t *p)
{
	return xdpvm_help_csum_diff((uintptr_t)words, from_size, (uintptr_t)(words + 16), to_size,
				    (uint32_t)p[0], &buff);
}

static void
test_csum(void)
{
	static const uint32_t sizes[] = { 0, 1, 2, 3, 4, 6, 8, 20, 40, 61, 64 };
	static const int32_t seeds[] = { 0, 1, -1, 0xffff, -65536, 0x12345678, INT32_MIN };
	int prog;

	for (size_t i = 0; i < LENGTH(sizes) * LENGTH(sizes); i++) {
		from_size = sizes[i % LENGTH(sizes)];
		to_size = sizes[i / LENGTH(sizes)];
		for (size_t w = 0; w < LENGTH(words); w++)
			words[w] = i % 3 == 0 ? 0 : i % 3 == 1 ? UINT32_MAX : (uint32_t)random();
		prog = load_csum();
		CHECK(prog >= 0);
		for (size_t s = 0; s < LENGTH(seeds); s++)
			compare("csum_diff", prog, 0, 64, (int32_t[4]){ seeds[s] }, own_csum);
		close(prog);
	}
}

/* Parameters: ifindex, MTU in and out, length difference, flags. */
static int
load_mtu(void)
{
	const struct bpf_insn insns[] = {
		PACKET_HAS(PARAMETERS),
		LOAD(BPF_W, 2, 7, 0),
		LOAD(BPF_W, 3, 7, 4),
		STORE(BPF_W, 10, -8, 3),
		LOAD(BPF_W, 4, 7, 8),
		LOAD(BPF_W, 5, 7, 12),
		MOV(1, 6),
		MOV(3, 10),
		ADD_IMM(3, -8),
		CALL(check_mtu),
		LOAD(BPF_W, 1, 10, -8),
		INSN(BPF_ALU64 | BPF_LSH | BPF_K, 1, 0, 0, 4),
		INSN(BPF_ALU64 | BPF_ADD | BPF_X, 0, 1, 0, 0),
		EXIT(),
	};

	return frame_load_kernel(insns, LENGTH(insns));
}

static int
loopback_mtu(struct xdpvm_buff *xdp, uint32_t ifindex)
{
	return ifindex <= 1 ? 65536 : -ENODEV;
}

static uint64_t
own_mtu(const int32_t *p)
{
	static const struct xdpvm_services services = { .mtu = loopback_mtu };
	uint32_t length = (uint32_t)p[1];
	uint64_t ret;

	buff.services = &services;
	ret = xdpvm_help_check_mtu((uintptr_t)&buff, (uint32_t)p[0], (uintptr_t)&length,
				   (uint32_t)p[2], (uint32_t)p[3], &buff);
	return ret + ((uint64_t)length << 4);
}

static void
test_mtu(void)
{
	static const int32_t parameters[][4] = {
		{ 1, 0, 0, 0 }, { 1, 0, 65450, 0 }, { 1, 0, 65451, 0 }, { 1, 65536, 0, 0 },
		{ 1, 65537, 0, 0 }, { 1, 100, 0, 1 }, { 1, 70000, -10000, 0 },
		{ 777777, 0, 0, 0 }, { 777777, 55, 0, 0 }, { 0, 0, 0, 0 }, { 1, -1, 0, 0 },
		{ 1, 0, -200, 0 }, { 1, 0, 0, 2 },
	};
	int prog = load_mtu();

	CHECK(prog >= 0);
	CHECK(if_nametoindex("lo") == 1);
	for (size_t i = 0; i < LENGTH(parameters); i++)
		compare("check_mtu", prog, 0, 100, parameters[i], own_mtu);
	close(prog);
}

/* The second string is constant, in a frozen map; the first is in the packet's parameters. */
static const char *second;

static int
load_strncmp(uint32_t size)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_RDONLY_PROG);
	int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "rodata", 4, 16, 1, &opts);
	char value[16] = { 0 };
	uint32_t zero = 0;
	const struct bpf_insn insns[] = {
		PACKET_HAS(PARAMETERS),
		LOAD(BPF_DW, 1, 7, 0),
		STORE(BPF_DW, 10, -16, 1),
		LOAD(BPF_DW, 1, 7, 8),
		STORE(BPF_DW, 10, -8, 1),
		MOV(1, 10),
		ADD_IMM(1, -16),
		MOV_IMM(2, (int)size),
		MAP_VALUE(3, map, 0),
		CALL(strncmp),
		EXIT(),
	};
	int prog;

	strncpy(value, second, sizeof(value) - 1);
	CHECK(bpf_map_update_elem(map, &zero, value, 0) == 0 && bpf_map_freeze(map) == 0);
	prog = frame_load_kernel(insns, LENGTH(insns));
	close(map);
	return prog;
}

static uint32_t strncmp_size;

static uint64_t
own_strncmp(const int32_t *p)
{
	return xdpvm_help_strncmp((uintptr_t)p, strncmp_size, (uintptr_t)second, 0, 0, &buff);
}

static void
test_strncmp(void)
{
	static const char *const strings[] = {
		"", "a", "GET", "GET ", "GETx", "GE\xff", "zzzzzzzz", "HTTP/1.1 200",
	};
	int32_t first[4];

	for (size_t i = 0; i < LENGTH(strings) * LENGTH(strings); i++) {
		memset(first, 0, sizeof(first));
		memcpy(first, strings[i % LENGTH(strings)], strlen(strings[i % LENGTH(strings)]));
		second = strings[i / LENGTH(strings)];
		strncmp_size = 1 + i % 16;
		int prog = load_strncmp(strncmp_size);

		CHECK(prog >= 0);
		compare("strncmp", prog, 0, 64, first, own_strncmp);
		close(prog);
	}
}

/* Returns a clock's 64 bits in the first eight bytes of the packet. */
static uint64_t
kernel_clock(int helper)
{
	const struct bpf_insn insns[] = {
		PACKET_HAS(PARAMETERS),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, helper),
		STORE(BPF_DW, 7, 0, 0),
		MOV_IMM(0, 0),
		EXIT(),
	};
	int prog = frame_load_kernel(insns, LENGTH(insns));
	struct frame frame;
	uint64_t value = 0;

	frame_make(&frame, 0, 64, (int32_t[4]){ 0 });
	CHECK(prog >= 0 && frame_run_kernel(prog, &frame));
	memcpy(&value, frame.bytes, sizeof(value));
	close(prog);
	return value;
}

static void
test_clocks(void)
{
	static const struct {
		const char *name;
		int helper;
		xdpvm_helper_fn own;
		uint64_t slack;
	} clocks[] = {
		{ "ktime", BPF_FUNC_ktime_get_ns, xdpvm_help_ktime_get_ns, 1000000 },
		{ "boot", BPF_FUNC_ktime_get_boot_ns, xdpvm_help_ktime_get_boot_ns, 1000000 },
		{ "coarse", BPF_FUNC_ktime_get_coarse_ns, xdpvm_help_ktime_get_coarse_ns,
		  20000000 },
		{ "tai", BPF_FUNC_ktime_get_tai_ns, xdpvm_help_ktime_get_tai_ns, 1000000 },
		{ "jiffies", BPF_FUNC_jiffies64, xdpvm_help_jiffies64, 1000 },
	};

	for (size_t i = 0; i < LENGTH(clocks); i++) {
		uint64_t before = clocks[i].own(0, 0, 0, 0, 0, &buff);
		uint64_t kernel = kernel_clock(clocks[i].helper);
		uint64_t after = clocks[i].own(0, 0, 0, 0, 0, &buff);

		/*
		 * Coarse clocks stand still between ticks. Jiffies started when the timer did,
		 * somewhat after the clock that ours are computed from.
		 */
		CHECK(kernel + clocks[i].slack >= before && kernel <= after + clocks[i].slack,
		      "%s: kernel %llu, own %llu to %llu", clocks[i].name,
		      (unsigned long long)kernel, (unsigned long long)before,
		      (unsigned long long)after);
	}
}

static void
test_random(void)
{
	uint32_t ones[32] = { 0 };

	for (int i = 0; i < 10000; i++) {
		uint32_t value = xdpvm_help_get_prandom_u32(0, 0, 0, 0, 0, &buff);

		for (int bit = 0; bit < 32; bit++)
			ones[bit] += value >> bit & 1;
	}
	for (int bit = 0; bit < 32; bit++)	/* six standard deviations */
		CHECK(ones[bit] > 4700 && ones[bit] < 5300, "bit %d: %u", bit, ones[bit]);
}

/* Parameters: key, low and high half of the flags. */
static int
load_redirect_map(int map)
{
	const struct bpf_insn insns[] = {
		PACKET_HAS(PARAMETERS),
		LOAD(BPF_W, 2, 7, 0),
		LOAD(BPF_DW, 3, 7, 4),
		MAP_FD(1, map),
		CALL(redirect_map),
		EXIT(),
	};

	return frame_load_kernel(insns, LENGTH(insns));
}

static struct map_pair targets;

static uint64_t
own_redirect_map(const int32_t *p)
{
	uint64_t flags;

	memcpy(&flags, p + 1, sizeof(flags));
	return xdpvm_help_redirect_map((uintptr_t)&targets.map, (uint32_t)p[0], flags, 0, 0, &buff);
}

static void
test_redirect_map(enum bpf_map_type type, enum xdpvm_redirect_kind kind)
{
	uint64_t value = 1;
	uint32_t key = 1;
	int prog, kernel, own;

	targets = (struct map_pair){ .map = {
		.type = type, .key_size = 4, .value_size = 4, .max_entries = 2,
	} };
	map_pair_create(&targets, &kernel, &own);
	CHECK(kernel == 0 && own == 0);
	CHECK(map_pair_update(&targets, &key, &value, 0) == 0);
	prog = load_redirect_map(targets.fd);
	CHECK(prog >= 0);
	for (int32_t target = 0; target < 3; target++) {
		for (int32_t flags = 0; flags < 64; flags++) {
			compare("redirect_map", prog, 0, 64, (int32_t[4]){ target, flags, 0 },
				own_redirect_map);
			compare("redirect_map", prog, 0, 64, (int32_t[4]){ target, flags, 1 },
				own_redirect_map);
		}
	}
	own_redirect_map((int32_t[4]){ 1, XDP_PASS, 0 });
	CHECK(buff.redirect.kind == kind && buff.redirect.target == 1 && buff.redirect.key == 1);
	CHECK(buff.redirect.map == &targets.map && buff.redirect.flags == 0);
	own_redirect_map((int32_t[4]){ 0, XDP_PASS, 0 });
	CHECK(buff.redirect.kind == XDPVM_REDIRECT_NONE);
	close(prog);
	map_pair_destroy(&targets);
}

static void
test_redirect(void)
{
	CHECK(xdpvm_help_redirect(7, 0, 0, 0, 0, &buff) == XDP_REDIRECT);
	CHECK(buff.redirect.kind == XDPVM_REDIRECT_IFINDEX && buff.redirect.target == 7);
	CHECK(xdpvm_help_redirect(7, 1, 0, 0, 0, &buff) == XDP_ABORTED);
	test_redirect_map(BPF_MAP_TYPE_DEVMAP, XDPVM_REDIRECT_DEV);
	test_redirect_map(BPF_MAP_TYPE_DEVMAP_HASH, XDPVM_REDIRECT_DEV);
	test_redirect_map(BPF_MAP_TYPE_CPUMAP, XDPVM_REDIRECT_CPU);
}

/* The kernel wants sockets here, so that its own rules stand in for an oracle. */
static void
test_xskmap(void)
{
	struct xdpvm_map map = { .type = BPF_MAP_TYPE_XSKMAP, .key_size = 4, .value_size = 4,
				 .max_entries = 2 };
	uint32_t key = 1, value = 0, read = 1;

	CHECK(xdpvm_map_init(&map) == 0);
	CHECK(xdpvm_map_update(&map, &key, &value, BPF_EXIST) == -ENOENT);
	CHECK(xdpvm_map_lookup(&map, &key, &read) == -ENOENT);
	CHECK(xdpvm_help_redirect_map((uintptr_t)&map, key, XDP_PASS, 0, 0, &buff) == XDP_PASS);
	CHECK(xdpvm_map_update(&map, &key, &value, BPF_NOEXIST) == 0);
	CHECK(xdpvm_map_lookup(&map, &key, &read) == 0 && read == 0);
	CHECK(xdpvm_help_redirect_map((uintptr_t)&map, key, XDP_PASS, 0, 0, &buff) == XDP_REDIRECT);
	CHECK(buff.redirect.kind == XDPVM_REDIRECT_XSK && buff.redirect.target == 0);
	value = 9;
	CHECK(xdpvm_map_update(&map, &key, &value, BPF_NOEXIST) == -EEXIST);
	CHECK(xdpvm_map_update(&map, &key, &value, BPF_ANY) == 0);
	CHECK(xdpvm_map_delete(&map, &key) == 0);
	key = 2;
	CHECK(xdpvm_map_update(&map, &key, &value, BPF_ANY) == -E2BIG);
	CHECK(xdpvm_map_delete(&map, &key) == -EINVAL);
	xdpvm_map_fini(&map);
}

int
main(void)
{
	map_pair_need_kernel();
	xdpvm_thread_register(XDPVM_THREAD_ANY);
	xdpvm_buff_init(&buff, 1, 0);
	xdpvm_buff_bind(&buff);
	test_adjust();
	test_copy();
	test_csum();
	test_mtu();
	test_strncmp();
	test_redirect();
	test_xskmap();
	test_clocks();
	test_random();
	CHECK(xdpvm_help_get_smp_processor_id(0, 0, 0, 0, 0, &buff) == 0);
	xdpvm_thread_unregister();
	return check_status();
}
