/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the prover (verify=internal) must not let through: each program is refused with a given
 * sentence, or, where only a run can tell, ends with XDP_ABORTED. The kernel's verifier, where it
 * is to be had, refuses all of them too, so that none is harmless by mistake.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "raw_maps.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define PACKET_MAX 256
#define INSNS_MAX 32

#define R0 BPF_REG_0
#define R1 BPF_REG_1
#define R2 BPF_REG_2
#define R3 BPF_REG_3
#define R4 BPF_REG_4
#define R6 BPF_REG_6
#define R7 BPF_REG_7
#define FP BPF_REG_10
#define MOV_X(d, s) ALU64_X(BPF_MOV, d, s)
#define MOV_K(d, i) ALU64_K(BPF_MOV, d, i)
#define ADD_K(d, i) ALU64_K(BPF_ADD, d, i)

/* R6 = context, R2 = data, R3 = data_end; a packet shorter than bytes is passed. */
#define PACKET_HAS(bytes) \
	MOV_X(R6, R1), LDX(BPF_W, R2, R1, 0), LDX(BPF_W, R3, R1, 4), \
	MOV_X(R4, R2), ADD_K(R4, bytes), MOV_K(R0, XDP_PASS), JMP_X(BPF_JLE, R4, R3, 1), EXIT()

/* R0 = element 0 of a map, or NULL. */
#define LOOKUP(map) \
	ST(BPF_DW, FP, -8, 0), LD_MAP(R1, map), MOV_X(R2, FP), ADD_K(R2, -8), \
	CALL(BPF_FUNC_map_lookup_elem)
#define PASS_IF_NULL(reg) JMP_K(BPF_JNE, reg, 0, 2), MOV_K(R0, XDP_PASS), EXIT()
/* R0 = a record of 16 bytes, or NULL. */
#define RESERVE() \
	LD_MAP(R1, RAW_RINGBUF), MOV_K(R2, 16), MOV_K(R3, 0), CALL(BPF_FUNC_ringbuf_reserve)
#define RELEASE(reg) MOV_X(R1, reg), MOV_K(R2, 0), CALL(BPF_FUNC_ringbuf_submit)
#define PASS() MOV_K(R0, XDP_PASS), EXIT()
#define LD_FUNCTION(d, distance) \
	INSN(BPF_LD | BPF_IMM | BPF_DW, d, BPF_PSEUDO_FUNC, 0, distance), INSN(0, 0, 0, 0, 0)
#define JA(distance) INSN(BPF_JMP | BPF_JA, 0, 0, distance, 0)

static const struct hostile {
	const char *name;
	uint32_t at;		/* the instruction that is refused */
	const char *sentence;	/* why; NULL: accepted, and a run ends with ABORTED */
	struct bpf_insn insns[INSNS_MAX];
} hostile[] = {
	{ "write below the packet", 0, NULL, {
		PACKET_HAS(14), ST(BPF_B, R2, -1, 0), EXIT() } },
	{ "read behind the stack", 0,
		"accesses 8 bytes at offset 0 of the stack, which are not within its 512 "
		"bytes", {
		LDX(BPF_DW, R0, FP, 0), EXIT() } },
	{ "write below the stack", 0,
		"accesses 8 bytes at offset -520 of the stack, which are not within its 512 "
		"bytes", {
		ST(BPF_DW, FP, -520, 0), PASS() } },
	{ "stack offset that wraps", 4,
		"accesses the stack at an offset that is not proven to be within its 512 "
		"bytes", {
		MOV_X(R2, FP), LD64(R3, 0x7fffffffffffffff), ALU64_X(BPF_ADD, R2, R3),
		ST(BPF_DW, R2, 0, 0), PASS() } },
	{ "unbounded stack index", 3,
		"accesses the stack at an offset that is not proven to be within its 512 "
		"bytes", {
		LDX(BPF_W, R3, R1, 16), MOV_X(R2, FP), ALU64_X(BPF_SUB, R2, R3),
		ST(BPF_B, R2, 0, 0), PASS() } },
	{ "register that was never set", 0,
		"R5 is read, but was never set, or does not survive a call", {
		MOV_X(R0, BPF_REG_5), EXIT() } },
	{ "stale packet pointer", 12,
		"R7 is a packet pointer from before a call that moved the packet, but must "
		"be a pointer to memory", {
		PACKET_HAS(14), MOV_X(R7, R2), MOV_X(R1, R6), MOV_K(R2, 4),
		CALL(BPF_FUNC_xdp_adjust_head), LDX(BPF_B, R0, R7, 0), EXIT() } },
	{ "a number as a pointer", 2,
		"R2 is a number, but must be a pointer to memory", {
		LD64(R2, 0x1000), LDX(BPF_B, R0, R2, 0), EXIT() } },
	{ "write to the context", 0,
		"R1 is the context, but must be a pointer to memory", {
		ST(BPF_W, R1, 0, 0), PASS() } },
	{ "context behind its end", 0,
		"reads the context other than by a 32-bit field of struct xdp_md (offset 24)", {
		LDX(BPF_W, R0, R1, 24), EXIT() } },
	{ "half a context field", 0,
		"reads the context other than by a 32-bit field of struct xdp_md (offset 0)", {
		LDX(BPF_H, R0, R1, 0), EXIT() } },
	{ "jump into a wide load", 2,
		"a jump lands on the second half of a wide load", {
		JA(1), LD64(R0, 2), EXIT() } },
	{ "no end", 0,
		"the function falls through its end", {
		MOV_K(R0, 2) } },
	{ "jump out of the program", 0,
		"jumps out of its function", {
		JA(100), PASS() } },
	{ "helper that does not exist", 0,
		"helper 9999 (unknown) is not supported in XDP programs here", {
		CALL(9999), EXIT() } },
	{ "helper with a number as its map", 4,
		"R1 is a number, but must be a map", {
		MOV_K(R1, 0), MOV_X(R2, FP), ST(BPF_DW, FP, -8, 0), ADD_K(R2, -8),
		CALL(BPF_FUNC_map_lookup_elem), PASS() } },
	{ "helper that gets too much of the packet", 12,
		"R3: 64 bytes of the packet are not proven to exist before its end", {
		PACKET_HAS(14), MOV_X(R1, R6), MOV_X(R3, R2), MOV_K(R2, 0), MOV_K(R4, 64),
		CALL(BPF_FUNC_xdp_load_bytes), PASS() } },
	{ "pointer to the end of the packet", 1,
		"R3 is the end of the packet, but must be a pointer to memory", {
		LDX(BPF_W, R3, R1, 4), LDX(BPF_B, R0, R3, 0), EXIT() } },
	{ "comparison the wrong way round", 0, NULL, {
		LDX(BPF_W, R2, R1, 0), LDX(BPF_W, R3, R1, 4), MOV_X(R4, R2), ADD_K(R4, 200),
		MOV_K(R0, 2), JMP_X(BPF_JLE, R4, R3, 1), LDX(BPF_B, R0, R2, 199), EXIT() } },
	{ "endless loop", 0, NULL, {
		MOV_K(R0, 2), JA(-2), EXIT() } },
	{ "function that calls itself", 2,
		"calls nest deeper than 8 frames", {
		CALL_FUNCTION(1), EXIT(), CALL_FUNCTION(-1), EXIT() } },
	{ "stack of the caller by a number", 4,
		"accesses 8 bytes at offset -1024 of the stack, which are not within its 512 "
		"bytes", {
		MOV_X(R1, FP), CALL_FUNCTION(1), EXIT(), ADD_K(R1, -1024), ST(BPF_DW, R1, 0, 0),
		PASS() } },

	{ "a value that may be NULL", 6,
		"R0 is a map value or NULL, but must be compared with NULL before", {
		LOOKUP(RAW_HASH), LDX(BPF_DW, R0, R0, 0), EXIT() } },
	{ "a value that is NULL", 8,
		"R0 is a number, but must be a pointer to memory", {
		LOOKUP(RAW_HASH), JMP_K(BPF_JEQ, R0, 0, 1), MOV_K(R0, 0), LDX(BPF_DW, R0, R0, 0),
		EXIT() } },
	{ "read past the end of a value", 9,
		"accesses 8 bytes at offset 9 of a value of map array, which has 16 bytes", {
		LOOKUP(RAW_ARRAY), PASS_IF_NULL(R0), LDX(BPF_DW, R0, R0, 9), EXIT() } },
	{ "write before a value", 9,
		"accesses 1 bytes at offset -1 of a value of map lru_hash, which has 16 bytes", {
		LOOKUP(RAW_LRU_HASH), PASS_IF_NULL(R0), ST(BPF_B, R0, -1, 0), PASS() } },
	{ "write past the end of a value of this core", 9,
		"accesses 8 bytes at offset 16 of a value of map percpu_hash, which has 16 "
		"bytes", {
		LOOKUP(RAW_PERCPU_HASH), PASS_IF_NULL(R0), ST(BPF_DW, R0, 16, 0), PASS() } },
	{ "unbounded index of a value", 11,
		"accesses a value of map array at an offset that is not proven to be within "
		"its 16 bytes", {
		LDX(BPF_W, R7, R1, 16), LOOKUP(RAW_ARRAY), PASS_IF_NULL(R0),
		ALU64_X(BPF_ADD, R0, R7), LDX(BPF_B, R0, R0, 0), EXIT() } },
	{ "index whose bound forgets the size", 12,
		"accesses a value of map percpu_array at an offset that is not proven to be "
		"within its 16 bytes", {
		LDX(BPF_W, R7, R1, 16), ALU64_K(BPF_AND, R7, 15), LOOKUP(RAW_PERCPU_ARRAY),
		PASS_IF_NULL(R0), ALU64_X(BPF_ADD, R0, R7), LDX(BPF_DW, R0, R0, 0), EXIT() } },
	{ "write to a read-only value", 2,
		"map rodata may not be written by programs", {
		LD_VALUE(R1, RAW_RODATA, 0), ST(BPF_B, R1, 0, 0), PASS() } },
	{ "direct value past its end", 0,
		"map globals: offset 16 is outside its value of 16", {
		LD_VALUE(R1, RAW_GLOBALS, 16), LDX(BPF_B, R0, R1, 0), EXIT() } },
	{ "memory of the map itself", 2,
		"R1 is a map, but must be a pointer to memory", {
		LD_MAP(R1, RAW_ARRAY), ST(BPF_DW, R1, 0, 0), PASS() } },
	{ "a map that was moved", 6,
		"R1 is a number, but must be a map", {
		ST(BPF_DW, FP, -8, 0), LD_MAP(R1, RAW_ARRAY), ADD_K(R1, 8), MOV_X(R2, FP),
		ADD_K(R2, -8), CALL(BPF_FUNC_map_lookup_elem), PASS() } },
	{ "key that is outside the stack", 5,
		"accesses 8 bytes at offset -4 of the stack, which are not within its 512 "
		"bytes", {
		LD_MAP(R1, RAW_HASH), MOV_X(R2, FP), ADD_K(R2, -4), ST(BPF_W, R2, 0, 0),
		CALL(BPF_FUNC_map_lookup_elem), PASS() } },
	{ "value from a packet that may be short", 7,
		"R3: 16 bytes of the packet are not proven to exist before its end", {
		LDX(BPF_W, R3, R1, 0), ST(BPF_DW, FP, -8, 0), LD_MAP(R1, RAW_HASH), MOV_X(R2, FP),
		ADD_K(R2, -8), MOV_K(R4, 0), CALL(BPF_FUNC_map_update_elem), PASS() } },
	{ "value of a queue that is popped into too little", 5,
		"accesses 16 bytes at offset -8 of the stack, which are not within its 512 "
		"bytes", {
		LD_MAP(R1, RAW_QUEUE), MOV_X(R2, FP), ADD_K(R2, -8), ST(BPF_DW, R2, 0, 0),
		CALL(BPF_FUNC_map_pop_elem), PASS() } },
	{ "inner map that may be NULL", 9,
		"R1 is a map or NULL, but must be a map", {
		LOOKUP(RAW_OUTER), MOV_X(R1, R0), MOV_X(R2, FP), ADD_K(R2, -8),
		CALL(BPF_FUNC_map_lookup_elem), PASS() } },
	{ "memory of an inner map itself", 9,
		"R0 is a map, but must be a pointer to memory", {
		LOOKUP(RAW_OUTER), PASS_IF_NULL(R0), ST(BPF_DW, R0, 0, 0), PASS() } },
	{ "past the end of an inner map's value", 16,
		"accesses 8 bytes at offset 16 of a value of map array, which has 16 bytes", {
		LOOKUP(RAW_OUTER), PASS_IF_NULL(R0), MOV_X(R1, R0), MOV_X(R2, FP), ADD_K(R2, -8),
		CALL(BPF_FUNC_map_lookup_elem), PASS_IF_NULL(R0), LDX(BPF_DW, R0, R0, 16),
		EXIT() } },
	{ "record that is never given back", 6,
		"ends with a record that is neither submitted nor discarded", {
		RESERVE(), PASS() } },
	{ "record that is given back twice", 12,
		"R7 is read, but was never set, or does not survive a call", {
		RESERVE(), PASS_IF_NULL(R0), MOV_X(R7, R0), RELEASE(R7), RELEASE(R7), PASS() } },
	{ "record that is written to after it was given back", 12,
		"R7 is read, but was never set, or does not survive a call", {
		RESERVE(), PASS_IF_NULL(R0), MOV_X(R7, R0), RELEASE(R7), ST(BPF_B, R7, 0, 0),
		PASS() } },
	{ "record that may be NULL is given back", 7,
		"R1 is memory of a helper or NULL, but must be the start of a record that "
		"was reserved", {
		RESERVE(), RELEASE(R0), PASS() } },
	{ "the middle of a record is given back", 11,
		"R1 is memory of a helper, but must be the start of a record that was "
		"reserved", {
		RESERVE(), PASS_IF_NULL(R0), ADD_K(R0, 8), RELEASE(R0), PASS() } },
	{ "a place on the stack is given back as a record", 5,
		"R1 is a place on the stack, but must be the start of a record that was "
		"reserved", {
		ST(BPF_DW, FP, -8, 0), MOV_X(R7, FP), ADD_K(R7, -8), RELEASE(R7), PASS() } },
	{ "past the end of a record", 8,
		"accesses memory of a helper at an offset that is not proven to be within "
		"its 16 bytes", {
		RESERVE(), PASS_IF_NULL(R0), ST(BPF_DW, R0, 9, 0), RELEASE(R0), PASS() } },
	{ "record of a size that only a run knows", 4,
		"R2 is a number, but must be a constant size", {
		LDX(BPF_W, R2, R1, 16), LD_MAP(R1, RAW_RINGBUF), MOV_K(R3, 0),
		CALL(BPF_FUNC_ringbuf_reserve), PASS_IF_NULL(R0), RELEASE(R0), PASS() } },
	{ "tail call through a hash", 3,
		"tail_call cannot be used with map hash of type 1", {
		LD_MAP(R2, RAW_HASH), MOV_K(R3, 0), CALL(BPF_FUNC_tail_call), PASS() } },
	{ "tail call with a record", 14,
		"a reserved record must be submitted or discarded before", {
		MOV_X(R6, R1), RESERVE(), PASS_IF_NULL(R0), MOV_X(R7, R0), MOV_X(R1, R6),
		LD_MAP(R2, RAW_PROG_ARRAY), MOV_K(R3, 0), CALL(BPF_FUNC_tail_call), RELEASE(R7),
		PASS() } },
	{ "atomic operation on the packet", 9,
		"R2 is a place in the packet, but must be a map value or a place on the "
		"stack for an atomic operation", {
		PACKET_HAS(14), MOV_K(R4, 1), ATOMIC(BPF_W, R2, R4, 0, BPF_ADD), PASS() } },
	{ "atomic operation that is not aligned", 3,
		"an atomic operation at offset 4, which is not aligned to its 8 bytes", {
		MOV_K(R4, 1), LD_VALUE(R1, RAW_GLOBALS, 4), ATOMIC(BPF_DW, R1, R4, 0, BPF_ADD),
		PASS() } },
	{ "atomic operation that may not be aligned", 0, NULL, {
		MOV_K(R4, 1), LDX(BPF_W, R3, R1, 12), ALU64_K(BPF_AND, R3, 7),
		LD_VALUE(R1, RAW_GLOBALS, 0), ALU64_X(BPF_ADD, R1, R3),
		ATOMIC(BPF_DW, R1, R4, 0, BPF_ADD), PASS() } },
	{ "callback that returns nothing", 8,
		"R0 is read, but was never set, or does not survive a call", {
		MOV_K(R1, 1), LD_FUNCTION(R2, 6), MOV_K(R3, 0), MOV_K(R4, 0), CALL(BPF_FUNC_loop),
		PASS(), EXIT() } },
	{ "callback that writes above the stack it got", 8,
		"accesses 8 bytes at offset 0 of the stack, which are not within its 512 "
		"bytes", {
		MOV_K(R1, 1), LD_FUNCTION(R2, 6), MOV_X(R3, FP), MOV_K(R4, 0),
		CALL(BPF_FUNC_loop), PASS(), ST(BPF_DW, R2, 0, 0), MOV_K(R0, 0), EXIT() } },
	{ "callback that writes to a key", 9,
		"writes to memory that is read-only", {
		LD_MAP(R1, RAW_HASH), LD_FUNCTION(R2, 6), MOV_K(R3, 0), MOV_K(R4, 0),
		CALL(BPF_FUNC_for_each_map_elem), PASS(), ST(BPF_B, R2, 0, 0), MOV_K(R0, 0),
		EXIT() } },
	{ "loop of eight million callbacks", 0, NULL, {
		LD64(R1, 8 << 20), LD_FUNCTION(R2, 6), MOV_K(R3, 0), MOV_K(R4, 0),
		CALL(BPF_FUNC_loop), PASS(), MOV_K(R0, 0), EXIT() } },
};

/* Not hostile, though it may look so; why it is harmless here. A run ends with PASS. */
static const struct harmless {
	const char *name;	/* and the reason */
	struct bpf_insn insns[INSNS_MAX];
} harmless[] = {
	{ "value of a deleted element: its memory is given to another one, not back", {
		LOOKUP(RAW_HASH), PASS_IF_NULL(R0), MOV_X(R7, R0), LD_MAP(R1, RAW_HASH),
		MOV_X(R2, FP), ADD_K(R2, -8), CALL(BPF_FUNC_map_delete_elem),
		ST(BPF_DW, R7, 0, 1), PASS() } },
	{ "key that was never written: the stack under it is zeroed", {
		LD_MAP(R1, RAW_ARRAY), MOV_X(R2, FP), ADD_K(R2, -4),
		CALL(BPF_FUNC_map_lookup_elem), MOV_X(R1, R0), MOV_K(R0, XDP_PASS),
		JMP_K(BPF_JNE, R1, 0, 1), MOV_K(R0, XDP_DROP), EXIT() } },
};

static void
expect_action(const struct raw_prog *raw, const char *name, uint32_t action)
{
	uint8_t packet[PACKET_MAX] = { 0 };

	for (enum raw_engine engine = RAW_INTERP; engine < RAW_KERNEL; engine++)
		CHECK(raw_run(raw, engine, packet, 64) == action, "%s by %s", name,
		      raw_engine_names[engine]);
}

static void
check_hostile(const struct hostile *program, const struct raw_maps *maps, bool kernel)
{
	uint32_t n = raw_length(program->insns, INSNS_MAX);
	char sentence[512], expected[512] = "";
	struct raw_prog raw;
	int ret;

	CHECK(!kernel || !raw_kernel_takes(program->insns, n, maps), "%s: the kernel takes it",
	      program->name);
	ret = raw_load_proven(&raw, program->insns, n, maps, sentence, sizeof(sentence));
	if (program->sentence != NULL)
		snprintf(expected, sizeof(expected), "program raw, instruction %u: %s",
			 program->at, program->sentence);
	CHECK((ret != 0) == (program->sentence != NULL) && strcmp(sentence, expected) == 0,
	      "%s: \"%s\"", program->name, sentence);
	if (ret != 0)
		return;
	expect_action(&raw, program->name, XDP_ABORTED);
	raw_free(&raw);
}

static void
check_harmless(const struct harmless *program, bool kernel)
{
	uint32_t n = raw_length(program->insns, INSNS_MAX);
	struct raw_maps maps;
	char sentence[512];
	struct raw_prog raw;
	int ret = raw_maps_create(&maps, kernel);

	CHECK(ret == 0);
	CHECK(!kernel || raw_kernel_takes(program->insns, n, &maps), "%s: the kernel refuses it",
	      program->name);
	ret = raw_load_proven(&raw, program->insns, n, &maps, sentence, sizeof(sentence));
	CHECK(ret == 0, "%s: \"%s\"", program->name, sentence);
	if (ret == 0) {
		expect_action(&raw, program->name, XDP_PASS);
		raw_free(&raw);
	}
	raw_maps_destroy(&maps);
}

/* A loop whose round costs two, as many rounds as fuel allows and one more. */
static void
check_fuel(void)
{
	for (uint32_t more = 0; more < 2; more++) {
		const struct bpf_insn insns[] = {
			MOV_K(R6, XDPVM_FUEL / 2 + more), ADD_K(R6, -1), JMP_K(BPF_JNE, R6, 0, -2),
			PASS(),
		};
		char sentence[512] = "";
		struct raw_prog raw;

		CHECK(raw_load_proven(&raw, insns, 5, NULL, sentence, sizeof(sentence)) == 0,
		      "\"%s\"", sentence);
		if (sentence[0] != '\0')
			return;
		expect_action(&raw, "a loop near the end of the fuel",
			      more ? XDP_ABORTED : XDP_PASS);
		raw_free(&raw);
	}
}

/*
 * Jumps back that close no loop: a jump to C, which jumps back to B, which goes on. There are more
 * than states that may be kept; to find that out takes 0.1 s, and where time grows with the square
 * of their number 8 s of a processor.
 */
static void
check_long(void)
{
	const uint32_t groups = 30000, n = 1 + 3 * groups + 1;
	struct bpf_insn *insns = calloc(n, sizeof(*insns));
	clock_t start = clock();
	char sentence[512];
	struct raw_prog raw;

	insns[0] = MOV_K(R0, XDP_PASS);
	for (uint32_t i = 1; i + 1 < n; i += 3) {
		insns[i] = JA(1);
		insns[i + 1] = JA(1);
		insns[i + 2] = JA(-2);
	}
	insns[n - 1] = EXIT();
	CHECK(raw_load_proven(&raw, insns, n, NULL, sentence, sizeof(sentence)) != 0 &&
	      strcmp(sentence, "program raw, instruction 0: the program is too complex: more than "
		     "1000000 instructions to follow") == 0, "\"%s\"", sentence);
	CHECK(clock() - start < 5 * CLOCKS_PER_SEC, "%.1f s",
	      (double)(clock() - start) / CLOCKS_PER_SEC);
	free(insns);
}

static void
check_programs(bool kernel)
{
	struct raw_maps maps;

	CHECK(raw_maps_create(&maps, kernel) == 0);
	for (size_t i = 0; i < LENGTH(hostile); i++)
		check_hostile(&hostile[i], &maps, kernel);
	raw_maps_destroy(&maps);
	for (size_t i = 0; i < LENGTH(harmless); i++)
		check_harmless(&harmless[i], kernel);
	check_fuel();
	check_long();
}

int
main(void)
{
	xdpvm_thread_register(XDPVM_THREAD_ANY);
	check_programs(raw_kernel_available());
	return check_status();
}
