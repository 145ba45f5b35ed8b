/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The prover: instructions made of the input, with two maps. What it takes runs in native code and
 * in the interpreter, which the sanitizer watches, on packets between closed pages.
 *
 * The first byte names the maps, the second what the program begins with; then each instruction is
 * an opcode of those that exist, a byte for both registers, an offset and a constant.
 */
#include <string.h>

#include "exercise.h"
#include "input.h"
#include "raw.h"

#define INSNS_MAX 64u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
	enum bpf_map_type type;
	uint32_t key_size, value_size, max_entries, flags;
} kinds[] = {
	{ BPF_MAP_TYPE_ARRAY, 4, 16, 4, 0 },
	{ BPF_MAP_TYPE_HASH, 4, 8, 8, 0 },
	{ BPF_MAP_TYPE_HASH, 20, 3, 2, 0 },
	{ BPF_MAP_TYPE_LRU_HASH, 8, 24, 4, 0 },
	{ BPF_MAP_TYPE_PERCPU_ARRAY, 4, 8, 2, 0 },
	{ BPF_MAP_TYPE_PERCPU_HASH, 4, 12, 4, 0 },
	{ BPF_MAP_TYPE_LPM_TRIE, 8, 4, 8, BPF_F_NO_PREALLOC },
	{ BPF_MAP_TYPE_QUEUE, 0, 8, 4, 0 },
	{ BPF_MAP_TYPE_STACK, 0, 16, 4, 0 },
	{ BPF_MAP_TYPE_RINGBUF, 0, 0, 4096, 0 },
	{ BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 2, 0 },
	{ BPF_MAP_TYPE_DEVMAP, 4, 8, 4, 0 },
	{ BPF_MAP_TYPE_DEVMAP_HASH, 4, 4, 4, 0 },
	{ BPF_MAP_TYPE_XSKMAP, 4, 4, 4, 0 },
	{ BPF_MAP_TYPE_CPUMAP, 4, 4, 4, 0 },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))
#define MAPS 2

static const uint8_t opcodes[] = {
	BPF_ALU64 | BPF_MOV | BPF_X, BPF_ALU64 | BPF_MOV | BPF_K, BPF_ALU64 | BPF_ADD | BPF_X,
	BPF_ALU64 | BPF_ADD | BPF_K, BPF_ALU64 | BPF_SUB | BPF_X, BPF_ALU64 | BPF_AND | BPF_K,
	BPF_ALU64 | BPF_OR | BPF_X, BPF_ALU64 | BPF_XOR | BPF_X, BPF_ALU64 | BPF_LSH | BPF_K,
	BPF_ALU64 | BPF_RSH | BPF_K, BPF_ALU64 | BPF_ARSH | BPF_K, BPF_ALU64 | BPF_MUL | BPF_K,
	BPF_ALU64 | BPF_DIV | BPF_X, BPF_ALU64 | BPF_MOD | BPF_K, BPF_ALU64 | BPF_NEG,
	BPF_ALU | BPF_MOV | BPF_X, BPF_ALU | BPF_ADD | BPF_K, BPF_ALU | BPF_SUB | BPF_X,
	BPF_ALU | BPF_AND | BPF_X, BPF_ALU | BPF_LSH | BPF_X, BPF_ALU | BPF_ARSH | BPF_X,
	BPF_ALU | BPF_END | BPF_TO_BE, BPF_ALU | BPF_END | BPF_TO_LE,
	BPF_LDX | BPF_MEM | BPF_B, BPF_LDX | BPF_MEM | BPF_H, BPF_LDX | BPF_MEM | BPF_W,
	BPF_LDX | BPF_MEM | BPF_DW, BPF_LDX | BPF_MEMSX | BPF_H, BPF_ST | BPF_MEM | BPF_B,
	BPF_ST | BPF_MEM | BPF_W, BPF_ST | BPF_MEM | BPF_DW, BPF_STX | BPF_MEM | BPF_B,
	BPF_STX | BPF_MEM | BPF_W, BPF_STX | BPF_MEM | BPF_DW, BPF_STX | BPF_ATOMIC | BPF_W,
	BPF_STX | BPF_ATOMIC | BPF_DW, BPF_JMP | BPF_JA, BPF_JMP | BPF_JEQ | BPF_K,
	BPF_JMP | BPF_JNE | BPF_K, BPF_JMP | BPF_JGT | BPF_X, BPF_JMP | BPF_JLE | BPF_X,
	BPF_JMP | BPF_JLT | BPF_K, BPF_JMP | BPF_JSGT | BPF_K, BPF_JMP | BPF_JSLT | BPF_X,
	BPF_JMP | BPF_JSET | BPF_K, BPF_JMP32 | BPF_JGE | BPF_K, BPF_JMP32 | BPF_JSLE | BPF_X,
	BPF_JMP | BPF_CALL, BPF_JMP | BPF_EXIT, BPF_LD | BPF_IMM | BPF_DW,
};

/* What a program may begin with: not every input has to find out how to reach the packet. */
static const struct bpf_insn packet_start[] = {
	ALU64_X(BPF_MOV, BPF_REG_6, BPF_REG_1), LDX(BPF_W, BPF_REG_7, BPF_REG_1, 0),
	LDX(BPF_W, BPF_REG_8, BPF_REG_1, 4), ALU64_X(BPF_MOV, BPF_REG_2, BPF_REG_7),
	ALU64_K(BPF_ADD, BPF_REG_2, 14), ALU64_K(BPF_MOV, BPF_REG_0, XDP_PASS),
	JMP_X(BPF_JLE, BPF_REG_2, BPF_REG_8, 1), EXIT(),
};
static const struct bpf_insn lookup_start[] = {
	ALU64_X(BPF_MOV, BPF_REG_6, BPF_REG_1), ST(BPF_DW, BPF_REG_10, -8, 0),
	ST(BPF_DW, BPF_REG_10, -16, 0), ST(BPF_DW, BPF_REG_10, -24, 0),
	INSN(BPF_LD | BPF_IMM | BPF_DW, BPF_REG_1, BPF_PSEUDO_MAP_IDX, 0, 0), INSN(0, 0, 0, 0, 0),
	ALU64_X(BPF_MOV, BPF_REG_2, BPF_REG_10), ALU64_K(BPF_ADD, BPF_REG_2, -24),
	CALL(BPF_FUNC_map_lookup_elem), JMP_K(BPF_JNE, BPF_REG_0, 0, 1), EXIT(),
};
static const struct {
	const struct bpf_insn *insns;
	uint32_t n;
} starts[] = {
	{ NULL, 0 },
	{ packet_start, sizeof(packet_start) / sizeof(packet_start[0]) },
	{ lookup_start, sizeof(lookup_start) / sizeof(lookup_start[0]) },
};

static int32_t
take_constant(struct input *input)
{
	static const int32_t edges[] = { 0, 1, -1, 16, 32, 63, 64, 255, -4096, INT32_MAX, INT32_MIN };
	uint8_t byte = take(input);

	if (byte >= 0xf0)
		return edges[byte % (sizeof(edges) / sizeof(edges[0]))];
	return (int8_t)(byte ^ 0x80);
}

/* One or two instructions; the second half of a wide load has its own constant. */
static uint32_t
take_insn(struct input *input, struct bpf_insn *insn)
{
	uint8_t registers;

	insn[0].code = opcodes[take(input) % sizeof(opcodes)];
	registers = take(input);
	insn[0].dst_reg = registers % 11;
	insn[0].src_reg = registers / 11 % 11;
	insn[0].off = (int8_t)take(input);
	insn[0].imm = take_constant(input);
	if (insn[0].code == (BPF_JMP | BPF_CALL)) {
		insn[0].dst_reg = 0;
		insn[0].src_reg %= 2;
		insn[0].off = 0;
	}
	if (insn[0].code == (BPF_STX | BPF_ATOMIC | BPF_W) ||
	    insn[0].code == (BPF_STX | BPF_ATOMIC | BPF_DW))
		insn[0].imm &= 0xf1;
	if (!xdpvm_is_ld_imm64(insn))
		return 1;
	insn[0].off = 0;
	insn[0].src_reg %= 7;
	insn[1] = (struct bpf_insn){ .imm = take_constant(input) };
	return 2;
}

static uint32_t
take_program(struct input *input, struct bpf_insn insns[INSNS_MAX + 4])
{
	uint8_t start = take(input) % (sizeof(starts) / sizeof(starts[0]));
	uint32_t n = starts[start].n;

	if (n > 0)
		memcpy(insns, starts[start].insns, n * sizeof(*insns));
	while (input->len > 0 && n < INSNS_MAX)
		n += take_insn(input, &insns[n]);
	insns[n++] = ALU64_K(BPF_MOV, BPF_REG_0, XDP_TX);
	insns[n++] = EXIT();
	return n;
}

static int
make_map(struct xdpvm_object *object, struct xdpvm_map *map, uint8_t kind)
{
	*map = (struct xdpvm_map){
		.object = object, .fd = -1, .type = kinds[kind].type,
		.key_size = kinds[kind].key_size, .value_size = kinds[kind].value_size,
		.max_entries = kinds[kind].max_entries, .flags = kinds[kind].flags,
		.name = "map",
	};
	return xdpvm_map_init(map);
}

static void
run(struct xdpvm_object *object, const struct bpf_insn *insns, uint32_t n)
{
	static const enum xdpvm_engine engines[] = { XDPVM_ENGINE_JIT, XDPVM_ENGINE_INTERP };
	struct exercise_runs runs = { 0 };

	/* The interpreter needs minutes to run out of fuel. */
	for (unsigned int i = 0; i < 2 && runs.aborts == 0; i++) {
		struct xdpvm_prog *prog = raw_prog_new(object, insns, n, engines[i]);

		if (prog == NULL)
			return;
		exercise_prog(prog, &runs);
		xdpvm_prog_free(prog);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool registered;
	struct input input = { data, size };
	struct xdpvm_map maps[MAPS] = { 0 };
	struct xdpvm_object object = { .verify = XDPVM_VERIFY_INTERNAL, .maps = maps,
				       .n_maps = MAPS };
	struct bpf_insn insns[INSNS_MAX + 4];
	uint8_t kind = take(&input);
	uint32_t n = take_program(&input, insns);

	if (!registered)
		registered = xdpvm_thread_register(XDPVM_THREAD_ANY) >= 0;
	if (make_map(&object, &maps[0], kind % KINDS) == 0 &&
	    make_map(&object, &maps[1], kind / KINDS % KINDS) == 0)
		run(&object, insns, n);
	for (uint32_t i = 0; i < MAPS; i++)
		xdpvm_map_fini(&maps[i]);
	return 0;
}
