/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the prover (verify=internal) must not let through: each program is refused with a sentence
 * that holds a given word, or, where only a run can tell, ends with XDP_ABORTED. The kernel's
 * verifier, where it is to be had, refuses all of them too, so that none is harmless by mistake.
 * Then programs that the prover accepts are spoiled at random and run on a packet between pages
 * that nobody may touch, as often as it accepts the result.
 *
 * usage: hostile_test [-t SECONDS]
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "raw.h"

#define PAGE 4096
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

static const struct hostile {
	const char *name;
	const char *word;	/* of the sentence; NULL: accepted, and a run ends with ABORTED */
	struct bpf_insn insns[INSNS_MAX];
} hostile[] = {
	{ "write below the packet", NULL, {
		PACKET_HAS(14), ST(BPF_B, R2, -1, 0), EXIT() } },
	{ "read behind the stack", "", {
		LDX(BPF_DW, R0, FP, 0), EXIT() } },
	{ "write below the stack", "", {
		ST(BPF_DW, FP, -520, 0), MOV_K(R0, 2), EXIT() } },
	{ "stack offset that wraps", "", {
		MOV_X(R2, FP), LD64(R3, 0x7fffffffffffffff), ALU64_X(BPF_ADD, R2, R3),
		ST(BPF_DW, R2, 0, 0), MOV_K(R0, 2), EXIT() } },
	{ "unbounded stack index", "", {
		LDX(BPF_W, R3, R1, 16), MOV_X(R2, FP), ALU64_X(BPF_SUB, R2, R3),
		ST(BPF_B, R2, 0, 0), MOV_K(R0, 2), EXIT() } },
	{ "register that was never set", "R5", {
		MOV_X(R0, BPF_REG_5), EXIT() } },
	{ "stale packet pointer", "stale|moved", {
		PACKET_HAS(14), MOV_X(R7, R2), MOV_X(R1, R6), MOV_K(R2, 4), CALL(BPF_FUNC_xdp_adjust_head),
		LDX(BPF_B, R0, R7, 0), EXIT() } },
	{ "a number as a pointer", "number", {
		LD64(R2, 0x1000), LDX(BPF_B, R0, R2, 0), EXIT() } },
	{ "write to the context", "", {
		ST(BPF_W, R1, 0, 0), MOV_K(R0, 2), EXIT() } },
	{ "context behind its end", "context", {
		LDX(BPF_W, R0, R1, 24), EXIT() } },
	{ "half a context field", "context", {
		LDX(BPF_H, R0, R1, 0), EXIT() } },
	{ "jump into a wide load", "", {
		INSN(BPF_JMP | BPF_JA, 0, 0, 1, 0), LD64(R0, 2), EXIT() } },
	{ "no end", "", {
		MOV_K(R0, 2) } },
	{ "jump out of the program", "", {
		INSN(BPF_JMP | BPF_JA, 0, 0, 100, 0), MOV_K(R0, 2), EXIT() } },
	{ "helper that does not exist", "", {
		CALL(9999), EXIT() } },
	{ "helper with a number as its map", "", {
		MOV_K(R1, 0), MOV_X(R2, FP), ST(BPF_DW, FP, -8, 0), ADD_K(R2, -8),
		CALL(BPF_FUNC_map_lookup_elem), MOV_K(R0, 2), EXIT() } },
	{ "helper that gets too much of the packet", "", {
		PACKET_HAS(14), MOV_X(R1, R6), MOV_X(R3, R2), MOV_K(R2, 0), MOV_K(R4, 64),
		CALL(BPF_FUNC_xdp_load_bytes), MOV_K(R0, 2), EXIT() } },
	{ "pointer to the end plus one", "", {
		LDX(BPF_W, R3, R1, 4), LDX(BPF_B, R0, R3, 0), EXIT() } },
	{ "comparison the wrong way round", NULL, {
		LDX(BPF_W, R2, R1, 0), LDX(BPF_W, R3, R1, 4), MOV_X(R4, R2), ADD_K(R4, 200),
		MOV_K(R0, 2), JMP_X(BPF_JLE, R4, R3, 1), LDX(BPF_B, R0, R2, 199), EXIT() } },
	{ "endless loop", NULL, {
		MOV_K(R0, 2), INSN(BPF_JMP | BPF_JA, 0, 0, -2, 0), EXIT() } },
	{ "function that calls itself", "", {
		CALL_FUNCTION(1), EXIT(), CALL_FUNCTION(-1), EXIT() } },
	{ "stack of the caller by a number", "", {
		MOV_X(R1, FP), CALL_FUNCTION(1), EXIT(), ADD_K(R1, -1024), ST(BPF_DW, R1, 0, 0),
		MOV_K(R0, 2), EXIT() } },
};

static uint32_t
length(const struct bpf_insn *insns)
{
	static const struct bpf_insn none;
	uint32_t n = INSNS_MAX;

	while (n > 0 && memcmp(&insns[n - 1], &none, sizeof(none)) == 0)
		n--;
	return n;
}

static bool
says(const char *sentence, const char *words)
{
	char copy[64], *word, *rest;

	if (sentence[0] == '\0' || words[0] == '\0')
		return sentence[0] != '\0';
	snprintf(copy, sizeof(copy), "%s", words);
	for (word = strtok_r(copy, "|", &rest); word != NULL; word = strtok_r(NULL, "|", &rest))
		if (strstr(sentence, word) != NULL)
			return true;
	return false;
}

static void
check_hostile(const struct hostile *program, bool kernel)
{
	char sentence[512];
	uint8_t packet[PACKET_MAX] = { 0 };
	struct raw_prog raw;
	bool taken = kernel && raw_kernel_takes(program->insns, length(program->insns), NULL);
	int ret = raw_load_proven(&raw, program->insns, length(program->insns), NULL,
				  sentence, sizeof(sentence));

	CHECK(!taken, "%s: the kernel takes it", program->name);
	if (program->word != NULL) {
		CHECK(ret != 0 && says(sentence, program->word), "%s: \"%s\"", program->name,
		      sentence);
		if (ret != 0)
			return;
	} else {
		CHECK(ret == 0, "%s: \"%s\"", program->name, sentence);
		if (ret != 0)
			return;
		for (enum raw_engine engine = RAW_INTERP; engine < RAW_KERNEL; engine++)
			CHECK(raw_run(&raw, engine, packet, 64) == XDP_ABORTED, "%s by %s",
			      program->name, raw_engine_names[engine]);
			}
	raw_free(&raw);
}

/* ---- Spoiled programs ------------------------------------------------------------------------ */

static const struct bpf_insn templates[][INSNS_MAX] = {
	{ PACKET_HAS(34), LDX(BPF_H, R4, R2, 12), JMP_K(BPF_JNE, R4, 8, 4), LDX(BPF_B, R4, R2, 23),
	  STX(BPF_B, R2, R4, 0), ST(BPF_W, R2, 6, 7), MOV_K(R0, XDP_TX), EXIT() },
	{ PACKET_HAS(20), LDX(BPF_B, R4, R2, 14), ALU64_K(BPF_AND, R4, 15), ALU64_X(BPF_ADD, R2, R4),
	  MOV_X(R4, R2), ADD_K(R4, 4), JMP_X(BPF_JGT, R4, R3, 2), LDX(BPF_W, R0, R2, 0),
	  STX(BPF_W, R2, R0, 0), MOV_K(R0, 1), EXIT() },
	{ PACKET_HAS(14), STX(BPF_DW, FP, R2, -8), ST(BPF_DW, FP, -16, 3), LDX(BPF_DW, R7, FP, -8),
	  LDX(BPF_B, R4, R7, 3), LDX(BPF_DW, R0, FP, -16), ALU64_X(BPF_ADD, R0, R4), EXIT() },
	{ PACKET_HAS(14), MOV_X(R1, R6), MOV_K(R2, -8), CALL(BPF_FUNC_xdp_adjust_head),
	  LDX(BPF_W, R2, R6, 0), LDX(BPF_W, R3, R6, 4), MOV_X(R4, R2), ADD_K(R4, 8), MOV_K(R0, 2),
	  JMP_X(BPF_JGT, R4, R3, 1), ST(BPF_DW, R2, 0, 1), EXIT() },
	{ PACKET_HAS(60), MOV_K(R4, 0), MOV_X(R7, R2), ALU64_X(BPF_ADD, R7, R4), ST(BPF_B, R7, 0, 9),
	  ADD_K(R4, 1), JMP_K(BPF_JLT, R4, 60, -5), MOV_K(R0, 3), EXIT() },
};

static sigjmp_buf escape;

static void
on_fault(int signal)
{
	siglongjmp(escape, signal);
}

static uint64_t
random_number(void)
{
	static uint64_t state = 88172645463325252u;	/* Marsaglia's xorshift64 */

	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static void
spoil(struct bpf_insn *insn)
{
	static const int32_t numbers[] = { 0, 1, -1, 8, 64, 255, -4096, 0x7fffffff, -0x7fffffff - 1 };
	static const uint8_t codes[] = {
		BPF_ALU64 | BPF_ADD | BPF_X, BPF_ALU64 | BPF_SUB | BPF_K, BPF_ALU64 | BPF_LSH | BPF_K,
		BPF_ALU | BPF_MOV | BPF_X, BPF_ALU64 | BPF_MUL | BPF_X, BPF_ALU64 | BPF_RSH | BPF_K,
		BPF_LDX | BPF_MEM | BPF_DW, BPF_STX | BPF_MEM | BPF_DW, BPF_LDX | BPF_MEMSX | BPF_W,
		BPF_JMP | BPF_JSGT | BPF_X, BPF_JMP32 | BPF_JLE | BPF_K, BPF_JMP | BPF_JSET | BPF_K,
	};
	uint64_t random = random_number();

	switch (random % 6) {
	case 0:
		insn->code = codes[random / 8 % (sizeof(codes) / sizeof(codes[0]))];
		break;
	case 1:
		insn->dst_reg = random / 8 % 11;
		break;
	case 2:
		insn->src_reg = random / 8 % 11;
		break;
	case 3:
		insn->off = random / 8 % 2 ? (int16_t)(random >> 8) : insn->off + (int)(random >> 8) % 9 - 4;
		break;
	case 4:
		insn->imm = numbers[random / 8 % (sizeof(numbers) / sizeof(numbers[0]))];
		break;
	default:
		insn->imm = (uint32_t)insn->imm + (random >> 8) % 33 - 16;
	}
}

/* The packet ends where its page ends; the page behind it and the one before hold nothing. */
static uint32_t
run_between_guards(struct xdpvm_prog *prog, uint8_t *page, uint32_t size)
{
	struct xdpvm_buff buff;

	xdpvm_buff_init(&buff, 1, 0);
	xdpvm_buff_bind(&buff);
	buff.hard_start = page;
	buff.data = buff.data_meta = page + PAGE - size;
	buff.data_end = buff.frame_end = page + PAGE;
	for (uint32_t i = 0; i < size; i++)
		buff.data[i] = random_number();
	return xdpvm_run(prog, &buff);
}

/* True if the prover took the program. */
static bool
try_spoiled(uint8_t *page)
{
	static const uint32_t sizes[] = { 14, 62, 200 };
	struct bpf_insn insns[INSNS_MAX];
	uint64_t random = random_number();
	char sentence[512];
	struct raw_prog raw;
	uint32_t n;

	memcpy(insns, templates[random % (sizeof(templates) / sizeof(templates[0]))], sizeof(insns));
	n = length(insns);
	for (uint64_t i = 0; i <= random / 16 % 3; i++)
		spoil(&insns[random_number() % n]);
	if (raw_load_proven(&raw, insns, n, NULL, sentence, sizeof(sentence)) != 0)
		return false;
	for (enum raw_engine engine = RAW_INTERP; engine < RAW_KERNEL; engine++) {
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			run_between_guards(raw.progs[engine], page, sizes[i]);
	}
	raw_free(&raw);
	return true;
}

static void
fuzz(int seconds)
{
	uint8_t *pages = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sigaction action = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };
	volatile unsigned long tried = 0, accepted = 0;
	time_t end = time(NULL) + seconds;

	mprotect(pages + PAGE, PAGE, PROT_READ | PROT_WRITE);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	if (sigsetjmp(escape, 1) != 0) {
		CHECK(false, "program %lu, which the prover took, left its memory", tried);
		return;
	}
	for (; time(NULL) < end; tried++)
		accepted += try_spoiled(pages + PAGE);
	printf("%lu spoiled programs, %lu accepted and run\n", tried, accepted);
	/* A prover that refuses everything would make this empty. */
	CHECK(accepted * 20 > tried, "%lu of %lu accepted", accepted, tried);
}

int
main(int argc, char **argv)
{
	bool kernel = raw_kernel_available();
	int seconds = argc == 3 && strcmp(argv[1], "-t") == 0 ? atoi(argv[2]) : 5;

	xdpvm_thread_register(XDPVM_THREAD_ANY);
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++)
		check_hostile(&hostile[i], kernel);
	fuzz(seconds);
	return check_status();
}
