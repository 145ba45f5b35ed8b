/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that the prover accepts are spoiled at random, and what it still accepts is run:
 * - by the interpreter under the oracle (oracle.h), which sees every access that is not the
 *   program's own;
 * - in native code, with the packet between pages that nobody may touch;
 * - without maps also twice over different leftovers on the stack, which must not show, and as the
 *   interpreter has it.
 *
 * usage: spoil_test [-t SECONDS] [-s SEED]
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "helper.h"
#include "oracle.h"
#include "xdpvm_events.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define PAGE 4096
#define INSNS_MAX 48
#define FRESH 512		/* programs that share maps before these are made anew */

#define R0 BPF_REG_0
#define R1 BPF_REG_1
#define R2 BPF_REG_2
#define R3 BPF_REG_3
#define R4 BPF_REG_4
#define R5 BPF_REG_5
#define R6 BPF_REG_6
#define R7 BPF_REG_7
#define R8 BPF_REG_8
#define FP BPF_REG_10
#define MOV_X(d, s) ALU64_X(BPF_MOV, d, s)
#define MOV_K(d, i) ALU64_K(BPF_MOV, d, i)
#define ADD_K(d, i) ALU64_K(BPF_ADD, d, i)
#define ADD_X(d, s) ALU64_X(BPF_ADD, d, s)
#define PASS() MOV_K(R0, XDP_PASS), EXIT()
#define FUNCTION(d, distance) \
	INSN(BPF_LD | BPF_IMM | BPF_DW, d, BPF_PSEUDO_FUNC, 0, distance), INSN(0, 0, 0, 0, 0)

/* R6 = context, R2 = data, R3 = data_end; a packet shorter than bytes is passed. */
#define PACKET_HAS(bytes) \
	MOV_X(R6, R1), LDX(BPF_W, R2, R1, 0), LDX(BPF_W, R3, R1, 4), \
	MOV_X(R4, R2), ADD_K(R4, bytes), MOV_K(R0, XDP_PASS), JMP_X(BPF_JLE, R4, R3, 1), EXIT()

/* R0 = element of a map by the key at FP - 8, not NULL. */
#define FIND(map) \
	LD_MAP(R1, map), MOV_X(R2, FP), ADD_K(R2, -8), CALL(BPF_FUNC_map_lookup_elem), \
	JMP_K(BPF_JNE, R0, 0, 2), PASS()

static const struct bpf_insn templates[][INSNS_MAX] = {
	{ PACKET_HAS(34), LDX(BPF_H, R4, R2, 12), JMP_K(BPF_JNE, R4, 8, 4), LDX(BPF_B, R4, R2, 23),
	  STX(BPF_B, R2, R4, 0), ST(BPF_W, R2, 6, 7), MOV_K(R0, XDP_TX), EXIT() },
	{ PACKET_HAS(20), LDX(BPF_B, R4, R2, 14), ALU64_K(BPF_AND, R4, 15), ADD_X(R2, R4),
	  MOV_X(R4, R2), ADD_K(R4, 4), JMP_X(BPF_JGT, R4, R3, 2), LDX(BPF_W, R0, R2, 0),
	  STX(BPF_W, R2, R0, 0), MOV_K(R0, 1), EXIT() },
	{ PACKET_HAS(14), STX(BPF_DW, FP, R2, -8), ST(BPF_DW, FP, -16, 3), LDX(BPF_DW, R7, FP, -8),
	  LDX(BPF_B, R4, R7, 3), LDX(BPF_DW, R0, FP, -16), ADD_X(R0, R4), EXIT() },
	{ PACKET_HAS(14), MOV_X(R1, R6), MOV_K(R2, -8), CALL(BPF_FUNC_xdp_adjust_head),
	  LDX(BPF_W, R2, R6, 0), LDX(BPF_W, R3, R6, 4), MOV_X(R4, R2), ADD_K(R4, 8), MOV_K(R0, 2),
	  JMP_X(BPF_JGT, R4, R3, 1), ST(BPF_DW, R2, 0, 1), EXIT() },
	{ PACKET_HAS(60), MOV_K(R4, 0), MOV_X(R7, R2), ADD_X(R7, R4), ST(BPF_B, R7, 0, 9),
	  ADD_K(R4, 1), JMP_K(BPF_JLT, R4, 60, -5), MOV_K(R0, 3), EXIT() },
	/* The stack: bytes that only one path writes, and a function that reads them. */
	{ PACKET_HAS(14), LDX(BPF_B, R4, R2, 0), JMP_K(BPF_JGT, R4, 100, 1),
	  ST(BPF_DW, FP, -16, 5), ST(BPF_W, FP, -8, 6), MOV_X(R1, FP), ADD_K(R1, -16),
	  MOV_X(R2, R4), CALL_FUNCTION(1), EXIT(), ALU64_K(BPF_AND, R2, 7), ADD_X(R1, R2),
	  LDX(BPF_DW, R0, R1, 0), ALU64_K(BPF_AND, R0, 3), EXIT() },
	{ PACKET_HAS(14), MOV_X(R1, R6), MOV_K(R2, 0), MOV_X(R3, FP), ADD_K(R3, -32), MOV_K(R4, 14),
	  CALL(BPF_FUNC_xdp_load_bytes), MOV_X(R1, FP), ADD_K(R1, -32), MOV_K(R2, 12), MOV_K(R3, 0),
	  MOV_K(R4, 0), MOV_K(R5, 0), CALL(BPF_FUNC_csum_diff), MOV_X(R7, R0),
	  LDX(BPF_B, R0, FP, -19), ALU64_X(BPF_XOR, R0, R7), EXIT() },
	{ MOV_K(R1, 40), FUNCTION(R2, 10), MOV_X(R3, FP), ADD_K(R3, -16), ST(BPF_DW, FP, -16, 0),
	  ST(BPF_DW, FP, -8, 0), MOV_K(R4, 0), CALL(BPF_FUNC_loop), LDX(BPF_DW, R0, FP, -16),
	  ALU64_K(BPF_AND, R0, 3), EXIT(), ALU64_K(BPF_AND, R1, 8), MOV_X(R3, R2), ADD_X(R3, R1),
	  LDX(BPF_DW, R4, R3, 0), ADD_K(R4, 1), STX(BPF_DW, R2, R4, 0), MOV_K(R0, 0), EXIT() },
	/* Loops of more rounds than the prover keeps states apart. */
	{ PACKET_HAS(14), MOV_K(R4, 0), LDX(BPF_B, R5, R2, 0), ADD_X(R5, R4), ALU64_K(BPF_AND, R5, 255),
	  JMP_K(BPF_JGT, R5, 250, 1), ST(BPF_DW, FP, -16, 5), ADD_K(R4, 1), JMP_K(BPF_JLT, R4, 200, -7),
	  LDX(BPF_DW, R0, FP, -16), ALU64_K(BPF_AND, R0, 3), EXIT() },
	{ PACKET_HAS(14), MOV_K(R5, 0), MOV_X(R7, R2), LDX(BPF_B, R4, R7, 0), ALU64_K(BPF_AND, R4, 15),
	  ADD_X(R7, R4), ADD_K(R7, 1), MOV_X(R1, R7), ADD_K(R1, 8), JMP_X(BPF_JGT, R1, R3, 3),
	  LDX(BPF_DW, R0, R7, 0), ADD_K(R5, 1), JMP_K(BPF_JLT, R5, 100, -10), PASS() },
	/* Maps. */
	{ ST(BPF_DW, FP, -8, 1), FIND(RAW_ARRAY), LDX(BPF_DW, R1, R0, 0), ADD_K(R1, 1),
	  STX(BPF_DW, R0, R1, 0), ST(BPF_W, R0, 12, 3), PASS() },
	{ LDX(BPF_W, R7, R1, 16), ST(BPF_DW, FP, -8, 0), FIND(RAW_PERCPU_ARRAY), MOV_K(R1, 1),
	  ALU64_K(BPF_AND, R7, 8), ADD_X(R0, R7), LDX(BPF_DW, R2, R0, 0),
	  ATOMIC(BPF_DW, R0, R1, 0, BPF_ADD), STX(BPF_B, R0, R2, 7), PASS() },
	{ PACKET_HAS(34), LDX(BPF_DW, R4, R2, 6), STX(BPF_DW, FP, R4, -8), ST(BPF_DW, FP, -24, 7),
	  ST(BPF_DW, FP, -16, 9), LD_MAP(R1, RAW_HASH), MOV_X(R2, FP), ADD_K(R2, -8), MOV_X(R3, FP),
	  ADD_K(R3, -24), MOV_K(R4, 0), CALL(BPF_FUNC_map_update_elem), FIND(RAW_HASH),
	  LDX(BPF_DW, R7, R0, 8), ST(BPF_DW, R0, 0, 1), PASS() },
	{ ST(BPF_DW, FP, -8, 0), FIND(RAW_PERCPU_HASH), MOV_X(R7, R0), LD_MAP(R1, RAW_LRU_HASH),
	  MOV_X(R2, FP), ADD_K(R2, -8), MOV_X(R3, R7), MOV_K(R4, 0),
	  CALL(BPF_FUNC_map_update_elem), LDX(BPF_W, R0, R7, 12), EXIT() },
	{ ST(BPF_DW, FP, -8, 0), FIND(RAW_LRU_HASH), MOV_X(R7, R0), LD_MAP(R1, RAW_LRU_HASH),
	  MOV_X(R2, FP), ADD_K(R2, -8), CALL(BPF_FUNC_map_delete_elem), ST(BPF_DW, R7, 8, 2),
	  LDX(BPF_DW, R0, R7, 0), EXIT() },
	{ MOV_X(R6, R1), LD_MAP(R1, RAW_RINGBUF), MOV_K(R2, 24), MOV_K(R3, 0),
	  CALL(BPF_FUNC_ringbuf_reserve), JMP_K(BPF_JNE, R0, 0, 2), PASS(),
	  LDX(BPF_W, R4, R6, 12), ALU64_K(BPF_AND, R4, 15), MOV_X(R7, R0), ADD_X(R7, R4),
	  ST(BPF_DW, R7, 0, 1), STX(BPF_DW, R0, R4, 16), JMP_K(BPF_JGT, R4, 7, 4), MOV_X(R1, R0),
	  MOV_K(R2, 0), CALL(BPF_FUNC_ringbuf_submit), INSN(BPF_JMP | BPF_JA, 0, 0, 3, 0),
	  MOV_X(R1, R0), MOV_K(R2, 0), CALL(BPF_FUNC_ringbuf_discard), PASS() },
	{ ST(BPF_DW, FP, -8, 0), FIND(RAW_OUTER), MOV_X(R1, R0), MOV_X(R2, FP), ADD_K(R2, -8),
	  CALL(BPF_FUNC_map_lookup_elem), JMP_K(BPF_JEQ, R0, 0, 1), ST(BPF_DW, R0, 8, 4), PASS() },
	{ LD_MAP(R1, RAW_HASH), FUNCTION(R2, 8), MOV_X(R3, FP), ADD_K(R3, -8),
	  ST(BPF_DW, FP, -8, 0), MOV_K(R4, 0), CALL(BPF_FUNC_for_each_map_elem),
	  LDX(BPF_DW, R0, FP, -8), EXIT(), LDX(BPF_DW, R5, R2, 0), LDX(BPF_DW, R6, R3, 8),
	  ADD_X(R5, R6), STX(BPF_DW, R4, R5, 0), ST(BPF_DW, R3, 0, 1), MOV_K(R0, 0), EXIT() },
	{ ST(BPF_DW, FP, -16, 1), ST(BPF_DW, FP, -8, 2), LD_MAP(R1, RAW_QUEUE), MOV_X(R2, FP),
	  ADD_K(R2, -16), MOV_K(R3, 0), CALL(BPF_FUNC_map_push_elem), LD_MAP(R1, RAW_QUEUE),
	  MOV_X(R2, FP), ADD_K(R2, -32), CALL(BPF_FUNC_map_pop_elem), LDX(BPF_DW, R0, FP, -24),
	  EXIT() },
	{ LD_VALUE(R1, RAW_GLOBALS, 4), LDX(BPF_W, R2, R1, 0), ALU64_K(BPF_AND, R2, 3),
	  LD_VALUE(R3, RAW_RODATA, 0), ADD_X(R3, R2), LDX(BPF_B, R4, R3, 0), STX(BPF_B, R1, R4, 4),
	  MOV_X(R1, R3), MOV_K(R2, 5), LD_VALUE(R3, RAW_RODATA, 1), CALL(BPF_FUNC_strncmp),
	  EXIT() },
	{ MOV_X(R6, R1), ST(BPF_DW, FP, -16, 1), ST(BPF_DW, FP, -8, 0x6425), LD_MAP(R2, RAW_PERF),
	  LD64(R3, BPF_F_CURRENT_CPU | 12ull << 32), MOV_X(R4, FP), ADD_K(R4, -16), MOV_K(R5, 8),
	  CALL(BPF_FUNC_perf_event_output), MOV_X(R1, FP), ADD_K(R1, -8), MOV_K(R2, 8),
	  MOV_X(R3, R6), CALL(BPF_FUNC_trace_printk), PASS() },
};

static sigjmp_buf escape;

static void
on_fault(int signal)
{
	siglongjmp(escape, signal);
}

static uint64_t random_state = 88172645463325252u;

/* Marsaglia's xorshift64 */
static uint64_t
random_number(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	return random_state ^= random_state << 17;
}

static int16_t
spoiled_offset(int16_t off, uint64_t random)
{
	return random % 2 ? (int16_t)(random >> 8) : off + (int)(random >> 8) % 17 - 8;
}

static void
spoil(struct bpf_insn *insns, uint32_t n)
{
	static const int32_t numbers[] = {
		0, 1, -1, 8, 64, 255, -4096, 0x7fffffff, -0x7fffffff - 1,
	};
	static const uint8_t codes[] = {
		BPF_ALU64 | BPF_ADD | BPF_X, BPF_ALU64 | BPF_SUB | BPF_K, BPF_ALU64 | BPF_LSH | BPF_K,
		BPF_ALU | BPF_MOV | BPF_X, BPF_ALU64 | BPF_MUL | BPF_X, BPF_ALU64 | BPF_RSH | BPF_K,
		BPF_LDX | BPF_MEM | BPF_DW, BPF_STX | BPF_MEM | BPF_DW, BPF_LDX | BPF_MEMSX | BPF_W,
		BPF_JMP | BPF_JSGT | BPF_X, BPF_JMP32 | BPF_JLE | BPF_K, BPF_JMP | BPF_JSET | BPF_K,
		BPF_STX | BPF_ATOMIC | BPF_DW, BPF_ALU64 | BPF_MOV | BPF_X,
	};
	struct bpf_insn *insn = &insns[random_number() % n];
	uint64_t random = random_number();

	switch (random % 8) {
	case 0:
		insn->code = codes[random / 8 % LENGTH(codes)];
		break;
	case 1:
		insn->dst_reg = random / 8 % 11;
		break;
	case 2:
		insn->src_reg = random / 8 % 11;
		break;
	case 3:
		insn->off = spoiled_offset(insn->off, random / 8);
		break;
	case 4:
		insn->imm = numbers[random / 8 % LENGTH(numbers)];
		break;
	case 5:
		*insn = insns[random / 8 % n];
		break;
	case 6:
		insn->imm = random / 8 % RAW_MAPS;
		break;
	default:
		insn->imm = (uint32_t)insn->imm + (random >> 8) % 33 - 16;
	}
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static struct xdpvm_buff buff;	/* one place: programs may write its address into packets */
static uint8_t *page;		/* the one before it and the one behind it hold nothing */

/* The packet ends where its page ends. Its bytes follow from seed. */
static void
put_packet(uint32_t size, uint64_t seed)
{
	xdpvm_buff_init(&buff, 1, 0);
	xdpvm_buff_bind(&buff);
	buff.hard_start = page;
	buff.data = buff.data_meta = page + PAGE - size;
	buff.data_end = buff.frame_end = page + PAGE;
	for (uint32_t i = 0; i < PAGE; i++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		page[i] = seed >> 56;
	}
}

struct result {
	uint32_t action;
	uint32_t length;
	uint8_t page[PAGE];
};

static void
keep_result(uint32_t action, struct result *result)
{
	result->action = action;
	result->length = buff.data_end - buff.data;
	memcpy(result->page, page, PAGE);
}

static void __attribute__((noinline))
leave_on_stack(uint8_t byte)
{
	volatile uint8_t junk[16384];

	for (size_t i = 0; i < sizeof(junk); i++)
		junk[i] = byte;
}

static void
run_native(struct xdpvm_prog *prog, uint32_t size, uint64_t seed, uint8_t junk,
	   struct result *result)
{
	uint32_t action;

	put_packet(size, seed);
	leave_on_stack(junk);
	action = xdpvm_run(prog, &buff);
	keep_result(action, result);
}

static bool
same(const struct result *a, const struct result *b)
{
	return a->action == b->action && a->length == b->length &&
	       memcmp(a->page, b->page, PAGE) == 0;
}

/* Maps and time change from run to run. */
static bool
repeats(const struct bpf_insn *insns, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct xdpvm_helper *helper = xdpvm_is_call(&insns[i], 0) ?
						    xdpvm_helper_get(insns[i].imm) : NULL;

		if (xdpvm_is_ld_imm64(&insns[i]) && insns[i].src_reg != 0 &&
		    insns[i].src_reg != BPF_PSEUDO_FUNC)
			return false;
		if (helper != NULL && helper->args[0] == XDPVM_ARG_NONE)
			return false;
	}
	return true;
}

/* Places on the stack, and functions, are where the engine has them. */
static bool
has_addresses(const struct bpf_insn *insns, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (insns[i].dst_reg == FP || insns[i].src_reg == FP ||
		    (xdpvm_is_ld_imm64(&insns[i]) && insns[i].src_reg != 0))
			return true;
	return false;
}

static void
dump(const struct bpf_insn *insns, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		fprintf(stderr, "  %2u: code 0x%02x dst %u src %u off %d imm %d\n", i, insns[i].code,
			insns[i].dst_reg, insns[i].src_reg, insns[i].off, insns[i].imm);
}

static const struct raw_maps *maps_now;

/* A sentence about what is wrong, or NULL. */
static const char *
run_all(const struct raw_prog *raw, const struct bpf_insn *insns, uint32_t n, uint32_t size)
{
	static struct result interpreted, native, again;
	uint64_t seed = random_number();
	const char *fault;
	uint32_t action;

	put_packet(size, seed);
	fault = oracle_run(raw->progs[RAW_INTERP], &buff, maps_now, &action);
	if (fault != NULL)
		return fault;
	keep_result(action, &interpreted);
	run_native(raw->progs[RAW_JIT], size, seed, 0x55, &native);
	if (!repeats(insns, n))
		return NULL;
	run_native(raw->progs[RAW_JIT], size, seed, 0xaa, &again);
	if (!same(&native, &again))
		return "depends on what was left on the stack";
	if (has_addresses(insns, n))
		return NULL;
	return same(&native, &interpreted) ? NULL : "differs between the engines";
}

static int
ignore_record(void *arg, const void *record, uint32_t size)
{
	return 0;
}

static void
drain(const struct raw_maps *maps)
{
	struct xdpvm_trace_line line;

	xdpvm_ringbuf_read(&maps->maps[RAW_RINGBUF], ignore_record, NULL, UINT32_MAX);
	while (xdpvm_trace_read(&line) == 1)
		;
}

/* True if the prover took the program. */
static bool
try_spoiled(const struct bpf_insn *template, unsigned int changes)
{
	static const uint32_t sizes[] = { 14, 62, 200 };
	struct bpf_insn insns[INSNS_MAX];
	uint32_t n = raw_length(template, INSNS_MAX);
	const char *fault = NULL;
	char sentence[512];
	struct raw_prog raw;

	memcpy(insns, template, sizeof(insns));
	while (changes-- > 0)
		spoil(insns, n);
	if (raw_load_proven(&raw, insns, n, maps_now, sentence, sizeof(sentence)) != 0)
		return false;
	for (size_t i = 0; i < LENGTH(sizes) && fault == NULL; i++)
		fault = run_all(&raw, insns, n, sizes[i]);
	if (fault != NULL) {
		CHECK(false, "an accepted program %s", fault);
		dump(insns, n);
	}
	raw_free(&raw);
	drain(maps_now);
	return true;
}

static void
catch_faults(void)
{
	struct sigaction action = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };
	uint8_t *pages = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	page = pages + PAGE;
	mprotect(page, PAGE, PROT_READ | PROT_WRITE);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
}

/* As long as maps serve: programs that were accepted. */
static unsigned long
round_of(unsigned long tries)
{
	unsigned long accepted = 0;
	struct raw_maps maps;

	CHECK(raw_maps_create(&maps, false) == 0);
	maps_now = &maps;
	for (size_t i = 0; tries == 0 && i < LENGTH(templates); i++)
		CHECK(try_spoiled(templates[i], 0), "template %zu is refused", i);
	for (unsigned long i = 0; i < tries; i++)
		accepted += try_spoiled(templates[random_number() % LENGTH(templates)],
					1 + random_number() % 3);
	raw_maps_destroy(&maps);
	return accepted;
}

static void
fuzz(int seconds)
{
	volatile unsigned long tried = 0, accepted = 0;
	time_t end = time(NULL) + seconds;

	if (sigsetjmp(escape, 1) != 0) {
		CHECK(false, "an accepted program left its memory, behind %lu programs", tried);
		return;
	}
	round_of(0);
	for (; time(NULL) < end && check_failures == 0; tried += FRESH)
		accepted += round_of(FRESH);
	printf("%lu spoiled programs, %lu accepted and run; %llu accesses and arguments looked at\n",
	       tried, accepted, (unsigned long long)oracle_looked_at());
	/* A prover that refuses everything would make this empty. */
	CHECK(accepted * 20 > tried, "%lu of %lu accepted", accepted, tried);
}

int
main(int argc, char **argv)
{
	int seconds = 5, option;

	while ((option = getopt(argc, argv, "s:t:")) != -1) {
		if (option == 's')
			random_state ^= strtoull(optarg, NULL, 0);
		else if (option == 't')
			seconds = atoi(optarg);
		else
			return 2;
	}
	xdpvm_thread_register(XDPVM_THREAD_ANY);
	catch_faults();
	fuzz(seconds);
	return check_status();
}
