/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bpf_snprintf() of the kernel against ours, with the same formats and arguments: text, length and
 * what is refused. Then the trace log, which nobody but us can read.
 */
#include <bpf/bpf.h>
#include <unistd.h>

#include "check.h"
#include "frame.h"
#include "helper.h"
#include "insn.h"
#include "map_pair.h"
#include "xdpvm_events.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define FORMAT_SIZE 64
#define TEXT_SIZE 48

static struct xdpvm_buff buff;

/* A program with snprintf of two arguments from the packet; the text goes into the packet. */
static int
load_snprintf(const char *format)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_RDONLY_PROG);
	LIBBPF_OPTS(bpf_prog_load_opts, quiet);
	int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "rodata", 4, FORMAT_SIZE, 1, &opts);
	char value[FORMAT_SIZE] = { 0 };
	uint32_t zero = 0;
	struct bpf_insn insns[64] = {
		PACKET_HAS(16),
		LOAD(BPF_DW, 1, 7, 0),
		STORE(BPF_DW, 10, -16, 1),
		LOAD(BPF_DW, 1, 7, 8),
		STORE(BPF_DW, 10, -8, 1),
	};
	const struct bpf_insn rest[] = {
		MOV(1, 10),
		ADD_IMM(1, -16 - TEXT_SIZE),
		MOV_IMM(2, TEXT_SIZE),
		MAP_VALUE(3, map, 0),
		MOV(4, 10),
		ADD_IMM(4, -16),
		MOV_IMM(5, 16),
		CALL(snprintf),
		MOV(8, 0),
		MOV(1, 6),
		MOV_IMM(2, 16),
		MOV(3, 10),
		ADD_IMM(3, -16 - TEXT_SIZE),
		MOV_IMM(4, TEXT_SIZE),
		CALL(xdp_store_bytes),
		MOV(0, 8),
		EXIT(),
	};
	uint32_t n = 12;
	int prog;

	for (int at = -16 - TEXT_SIZE; at < -16; at += 8)
		insns[n++] = STORE_IMM(BPF_DW, 10, at, 0);
	memcpy(insns + n, rest, sizeof(rest));
	strncpy(value, format, sizeof(value) - 1);
	bpf_map_update_elem(map, &zero, value, 0);
	bpf_map_freeze(map);
	prog = bpf_prog_load(BPF_PROG_TYPE_XDP, "test", "GPL", insns, n + LENGTH(rest), &quiet);
	close(map);
	return prog;
}

static void
compare(const char *format, uint64_t a, uint64_t b)
{
	struct frame frame = { .size = 16 + TEXT_SIZE };
	uint64_t args[2] = { a, b };
	char text[TEXT_SIZE] = { 0 };
	int prog = load_snprintf(format);
	int own = (int)xdpvm_help_snprintf((uintptr_t)text, sizeof(text), (uintptr_t)format,
					   (uintptr_t)args, sizeof(args), &buff);

	if (prog < 0) {
		CHECK(own == -EINVAL, "\"%s\": the kernel refuses it, own %d", format, own);
		return;
	}
	memcpy(frame.bytes, args, sizeof(args));
	CHECK(frame_run_kernel(prog, &frame));
	CHECK((int)frame.result == own && memcmp(frame.bytes + 16, text, TEXT_SIZE) == 0,
	      "\"%s\": kernel %d \"%.48s\", own %d \"%.48s\"", format, (int)frame.result,
	      frame.bytes + 16, own, text);
	close(prog);
}

static void
test_snprintf(void)
{
	static const char *const formats[] = {
		"", "plain", "%d", "%d %d", "%d %d %d", "%i|%u", "%x %X", "%lx %lX", "%llu %lld",
		"%ld %lu", "%5d|%05d", "%-8d|%+d", "% d|%08x", "%%", "%d%%%d", "%", "%q", "%hd",
		"%08llx", "%20d", "%1d", "%c%c", "%lllx", "100% sure", "%.3d", "%*d", "a\nb\t%d",
		"%lq", "%#x", "long text that does not fit into the room of it: %d %d",
		"%0-+ 9d|", "\x01%d", "\xc3\xa4", "%px", "%p4", "%pq",
	};
	static const uint64_t values[] = {
		0, 1, 65, (uint64_t)-1, 0x80000000, 0x123456789abcdef0, 0xffffffff,
	};

	for (size_t i = 0; i < LENGTH(formats); i++)
		for (size_t j = 0; j < LENGTH(values); j++)
			compare(formats[i], values[j], values[(j + 3) % LENGTH(values)]);
}

static uint64_t
print(const char *format, uint64_t a, uint64_t b)
{
	return xdpvm_help_trace_printk((uintptr_t)format, strlen(format) + 1, a, b, 0, &buff);
}

static void
expect_line(const char *text, uint32_t lost)
{
	struct xdpvm_trace_line line;

	CHECK(xdpvm_trace_read(&line) == 1);
	CHECK(strcmp(line.text, text) == 0, "\"%s\" instead of \"%s\"", line.text, text);
	CHECK(line.lost == lost && line.cpu == 3);
}

static void
test_trace(void)
{
	const uint8_t address[] = { 192, 0, 2, 1 };

	CHECK(print("port %d is %s", 9, (uintptr_t)"up") == 12);
	expect_line("port 9 is up", 0);
	print("from %pI4\n", (uintptr_t)address, 0);
	expect_line("from 192.0.2.1", 0);
	CHECK(print("nothing at %s.", 16, 0) == 12);	/* no memory there, and no crash */
	expect_line("nothing at .", 0);
}

/* What a program that only the prover saw prints: pointers as numbers, whatever they point to. */
static void
test_trace_proven(void)
{
	const uint64_t args[] = { 0x123456, 7, 0x10 };
	const char format[] = "%s is %d, not %pI6 but %%";

	CHECK(xdpvm_help_trace_printk_proven((uintptr_t)format, sizeof(format), 0x123456, 7, 0x10,
					     &buff) > 0);
	expect_line("0000000000123456 is 7, not 0000000000000010 but %", 0);
	CHECK(xdpvm_help_trace_vprintk_proven((uintptr_t)format, sizeof(format), (uintptr_t)args,
					      sizeof(args), 0, &buff) > 0);
	expect_line("0000000000123456 is 7, not 0000000000000010 but %", 0);
}

static void
test_trace_limits(void)
{
	const uint64_t args[] = { 7, (uintptr_t)"seven" };
	struct xdpvm_trace_line line;

	while (xdpvm_trace_read(&line) == 1)
		;
	CHECK(xdpvm_help_trace_vprintk((uintptr_t)"%d %s", 6, (uintptr_t)args, 16, 0, &buff) == 7);
	expect_line("7 seven", 0);
	CHECK(xdpvm_help_trace_vprintk((uintptr_t)"%d", 3, (uintptr_t)args, 12, 0, &buff) ==
	      (uint64_t)-EINVAL);
	CHECK(xdpvm_help_trace_vprintk((uintptr_t)"%d", 3, 0, 8, 0, &buff) == (uint64_t)-EINVAL);
	CHECK(xdpvm_trace_read(&line) == 0);
	for (int i = 0; i < 300; i++)
		print("line %d", i, 0);
	expect_line("line 44", 44);
	expect_line("line 45", 0);
}

int
main(void)
{
	map_pair_need_kernel();
	xdpvm_thread_register(3);
	xdpvm_buff_init(&buff, 1, 0);
	xdpvm_buff_bind(&buff);
	test_snprintf();
	test_trace();
	test_trace_proven();
	test_trace_limits();
	xdpvm_thread_unregister();
	return check_status();
}
