/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every helper that the prover (verify=internal) lets programs call is called with good arguments,
 * which must be accepted, and then with each argument of each wrong kind. What may be wrong where
 * is a table by the kind of argument (tolerated); all else must be refused with a sentence that
 * names the call. What is tolerated is run by both engines.
 */
#include <stdio.h>
#include <string.h>

#include <bpf/bpf.h>

#include "check.h"
#include "helper.h"
#include "raw_maps.h"

#define INSNS_MAX 96
#define CTX BPF_REG_6
#define STALE BPF_REG_7
#define RECORD BPF_REG_8
#define MAYBE BPF_REG_9
#define FP BPF_REG_10
#define AREA 64			/* bytes of the stack that are written, below FP */
#define SIZE RAW_VALUE

enum wrong {
	UNSET,
	ZERO,
	NUMBER,
	UNKNOWN,
	PACKET,			/* whose length nobody asked for */
	PACKET_END,
	MOVED,			/* packet pointer from before bpf_xdp_adjust_head() */
	STACK_TOP,		/* one byte below the frame pointer */
	STACK_BELOW,
	MAYBE_NULL,		/* a lookup's result */
	VALUE_END,		/* the last byte of a value */
	CONTEXT,
	OTHER_MAP,
	FUNCTION,
	WRONGS,
};

static const char *const names[WRONGS] = {
	"unset", "0", "a number", "an unknown number", "the packet", "the packet's end",
	"a stale pointer", "the top of the stack", "below the stack", "a value or NULL",
	"the end of a value", "the context", "another map", "a function",
};

#define BIT(wrong) (1u << (wrong))
static const uint32_t tolerated[] = {
	[XDPVM_ARG_ANYTHING] = ~BIT(UNSET),
	[XDPVM_ARG_CTX] = BIT(CONTEXT),
	[XDPVM_ARG_MAP] = BIT(OTHER_MAP),	/* helpers find out; but see own_type() */
	[XDPVM_ARG_SIZE_OR_ZERO] = BIT(ZERO),
	[XDPVM_ARG_FUNCTION] = BIT(FUNCTION),
	[XDPVM_ARG_STACK_OR_NULL] = BIT(ZERO) | BIT(STACK_TOP) | BIT(STACK_BELOW),
	[XDPVM_ARG_CONST_SIZE] = BIT(ZERO) | BIT(NUMBER),
	[XDPVM_ARG_FIXED_MEM] = 0,		/* the last: nothing */
};

struct builder {
	struct bpf_insn insns[INSNS_MAX];
	uint32_t n;
	uint32_t call;		/* of the helper */
	uint32_t function[5];	/* loads of the function's address, to be filled */
	uint32_t n_functions;
};

static void
put(struct builder *b, const struct bpf_insn *insns, size_t n)
{
	memcpy(&b->insns[b->n], insns, n * sizeof(*insns));
	b->n += n;
}

#define PUT(b, ...) \
	put(b, (const struct bpf_insn[]){ __VA_ARGS__ }, \
	    sizeof((const struct bpf_insn[]){ __VA_ARGS__ }) / sizeof(struct bpf_insn))

static void
put_function(struct builder *b, uint8_t reg)
{
	b->function[b->n_functions++] = b->n;
	PUT(b, INSN(BPF_LD | BPF_IMM | BPF_DW, reg, BPF_PSEUDO_FUNC, 0, 0), INSN(0, 0, 0, 0, 0));
}

/* Sets up what arguments are taken from. R1 to R5 are unset behind it. */
static void
put_start(struct builder *b, const struct xdpvm_helper *helper)
{
	PUT(b, ALU64_X(BPF_MOV, CTX, BPF_REG_1), LDX(BPF_W, STALE, CTX, 0));
	for (int16_t at = -AREA; at < 0; at += 8)
		PUT(b, ST(BPF_DW, FP, at, 0));
	PUT(b, ALU64_K(BPF_MOV, BPF_REG_2, 0), CALL(BPF_FUNC_xdp_adjust_head),
	    LD_MAP(BPF_REG_1, RAW_HASH), ALU64_X(BPF_MOV, BPF_REG_2, FP),
	    ALU64_K(BPF_ADD, BPF_REG_2, -AREA), CALL(BPF_FUNC_map_lookup_elem),
	    ALU64_X(BPF_MOV, MAYBE, BPF_REG_0));
	if (helper->args[0] == XDPVM_ARG_RINGBUF_MEM)
		PUT(b, LD_MAP(BPF_REG_1, RAW_RINGBUF), ALU64_K(BPF_MOV, BPF_REG_2, SIZE),
		    ALU64_K(BPF_MOV, BPF_REG_3, 0), CALL(BPF_FUNC_ringbuf_reserve),
		    ALU64_X(BPF_MOV, RECORD, BPF_REG_0), JMP_K(BPF_JNE, RECORD, 0, 2),
		    ALU64_K(BPF_MOV, BPF_REG_0, XDP_PASS), EXIT());
}

static enum raw_map
map_for(uint32_t id)
{
	switch (id) {
	case BPF_FUNC_map_lookup_percpu_elem:
		return RAW_PERCPU_ARRAY;
	case BPF_FUNC_map_push_elem:
	case BPF_FUNC_map_pop_elem:
	case BPF_FUNC_map_peek_elem:
		return RAW_QUEUE;
	case BPF_FUNC_redirect_map:
		return RAW_DEVMAP;
	case BPF_FUNC_tail_call:
		return RAW_PROG_ARRAY;
	case BPF_FUNC_perf_event_output:
		return RAW_PERF;
	case BPF_FUNC_ringbuf_reserve:
	case BPF_FUNC_ringbuf_output:
	case BPF_FUNC_ringbuf_query:
		return RAW_RINGBUF;
	default:
		return RAW_HASH;
	}
}

/* Helpers whose map must be of their type. */
static bool
own_type(uint32_t id)
{
	enum raw_map map = map_for(id);

	return map == RAW_PROG_ARRAY || map == RAW_PERF || map == RAW_RINGBUF;
}

static void
put_good(struct builder *b, uint32_t id, enum xdpvm_arg kind, uint8_t reg)
{
	switch (kind) {
	case XDPVM_ARG_ANYTHING:
		PUT(b, ALU64_K(BPF_MOV, reg, 0));
		break;
	case XDPVM_ARG_CTX:
		PUT(b, ALU64_X(BPF_MOV, reg, CTX));
		break;
	case XDPVM_ARG_MAP:
		PUT(b, LD_MAP(reg, map_for(id)));
		break;
	case XDPVM_ARG_SIZE:
	case XDPVM_ARG_SIZE_OR_ZERO:
	case XDPVM_ARG_CONST_SIZE:
		PUT(b, ALU64_K(BPF_MOV, reg, SIZE));
		break;
	case XDPVM_ARG_STRING:
		PUT(b, LD_VALUE(reg, RAW_RODATA, 0));
		break;
	case XDPVM_ARG_FUNCTION:
		put_function(b, reg);
		break;
	case XDPVM_ARG_RINGBUF_MEM:
		PUT(b, ALU64_X(BPF_MOV, reg, RECORD));
		break;
	default:	/* memory */
		PUT(b, ALU64_X(BPF_MOV, reg, FP), ALU64_K(BPF_ADD, reg, -AREA));
	}
}

static void
put_wrong(struct builder *b, uint32_t id, enum wrong wrong, uint8_t reg)
{
	switch (wrong) {
	case UNSET:
		break;
	case ZERO:
		PUT(b, ALU64_K(BPF_MOV, reg, 0));
		break;
	case NUMBER:
		PUT(b, LD64(reg, 0x1000));
		break;
	case UNKNOWN:
		PUT(b, LDX(BPF_W, reg, CTX, offsetof(struct xdp_md, rx_queue_index)));
		break;
	case PACKET:
		PUT(b, LDX(BPF_W, reg, CTX, offsetof(struct xdp_md, data)));
		break;
	case PACKET_END:
		PUT(b, LDX(BPF_W, reg, CTX, offsetof(struct xdp_md, data_end)));
		break;
	case MOVED:
		PUT(b, ALU64_X(BPF_MOV, reg, STALE));
		break;
	case STACK_TOP:
		PUT(b, ALU64_X(BPF_MOV, reg, FP), ALU64_K(BPF_ADD, reg, -1));
		break;
	case STACK_BELOW:
		PUT(b, ALU64_X(BPF_MOV, reg, FP), ALU64_K(BPF_ADD, reg, -520));
		break;
	case MAYBE_NULL:
		PUT(b, ALU64_X(BPF_MOV, reg, MAYBE));
		break;
	case VALUE_END:
		PUT(b, LD_VALUE(reg, RAW_GLOBALS, RAW_VALUE - 1));
		break;
	case CONTEXT:
		PUT(b, ALU64_X(BPF_MOV, reg, CTX));
		break;
	case OTHER_MAP:
		PUT(b, LD_MAP(reg, map_for(id) == RAW_HASH ? RAW_PERF : RAW_HASH));
		break;
	default:
		put_function(b, reg);
	}
}

/* A record that was reserved is given back; then the end, and the function if there is one. */
static void
put_end(struct builder *b, const struct xdpvm_helper *helper)
{
	if (helper->ret == XDPVM_RET_RINGBUF_MEM_OR_NULL)
		PUT(b, JMP_K(BPF_JEQ, BPF_REG_0, 0, 3), ALU64_X(BPF_MOV, BPF_REG_1, BPF_REG_0),
		    ALU64_K(BPF_MOV, BPF_REG_2, 0), CALL(BPF_FUNC_ringbuf_discard));
	PUT(b, ALU64_K(BPF_MOV, BPF_REG_0, XDP_PASS), EXIT());
	for (uint32_t i = 0; i < b->n_functions; i++)
		b->insns[b->function[i]].imm = b->n - b->function[i] - 1;
	if (b->n_functions > 0)
		PUT(b, ALU64_K(BPF_MOV, BPF_REG_0, 1), EXIT());
}

/* A call of the helper whose argument number bad, if that is one, is wrong. */
static void
build(struct builder *b, uint32_t id, unsigned int bad, enum wrong wrong)
{
	const struct xdpvm_helper *helper = xdpvm_helper_get(id);

	memset(b, 0, sizeof(*b));
	put_start(b, helper);
	for (unsigned int arg = 0; arg < 5 && helper->args[arg] != XDPVM_ARG_NONE; arg++) {
		if (arg == bad)
			put_wrong(b, id, wrong, BPF_REG_1 + arg);
		else
			put_good(b, id, helper->args[arg], BPF_REG_1 + arg);
	}
	b->call = b->n;
	PUT(b, CALL(id));
	put_end(b, helper);
}

static void
run(const struct raw_prog *raw, const char *what)
{
	uint8_t packet[64] = { 0 };

	for (enum raw_engine engine = RAW_INTERP; engine < RAW_KERNEL; engine++)
		CHECK(raw_run(raw, engine, packet, sizeof(packet)) == XDP_PASS, "%s by %s", what,
		      raw_engine_names[engine]);
}

static bool
accepted(const struct builder *b, const struct raw_maps *maps, const char *what, char *sentence,
	 size_t size)
{
	struct raw_prog raw;

	if (raw_load_proven(&raw, b->insns, b->n, maps, sentence, size) != 0)
		return false;
	run(&raw, what);
	raw_free(&raw);
	return true;
}

static bool
is_tolerated(uint32_t id, enum xdpvm_arg kind, enum wrong wrong)
{
	if (kind == XDPVM_ARG_MAP && wrong == OTHER_MAP && own_type(id))
		return false;
	return (tolerated[kind] & BIT(wrong)) != 0;
}

static void
check_wrong(uint32_t id, unsigned int arg, enum wrong wrong, const struct raw_maps *maps)
{
	const struct xdpvm_helper *helper = xdpvm_helper_get(id);
	char sentence[512], place[64], what[128];
	struct builder b;
	bool taken;

	build(&b, id, arg, wrong);
	snprintf(what, sizeof(what), "%s with %s as R%u", helper->name, names[wrong], arg + 1);
	snprintf(place, sizeof(place), "program raw, instruction %u: ", b.call);
	taken = accepted(&b, maps, what, sentence, sizeof(sentence));
	CHECK(taken == is_tolerated(id, helper->args[arg], wrong), "%s: \"%s\"", what, sentence);
	CHECK(taken || (strncmp(sentence, place, strlen(place)) == 0 &&
			strlen(sentence) > strlen(place) + 10), "%s: \"%s\"", what, sentence);
}

/* Helpers that are refused whatever they get. */
static bool
is_refused(uint32_t id)
{
	return id == BPF_FUNC_spin_lock || id == BPF_FUNC_spin_unlock;
}

static unsigned int
check_helper(uint32_t id, const struct raw_maps *maps)
{
	const struct xdpvm_helper *helper = xdpvm_helper_get(id);
	char sentence[512];
	struct builder b;
	unsigned int n = 0;

	build(&b, id, 5, UNSET);
	CHECK(accepted(&b, maps, helper->name, sentence, sizeof(sentence)) != is_refused(id),
	      "%s: \"%s\"", helper->name, sentence);
	if (is_refused(id)) {
		CHECK(strstr(sentence, "needs verify=kernel") != NULL, "%s: \"%s\"", helper->name,
		      sentence);
		return 1;
	}
	for (unsigned int arg = 0; arg < 5 && helper->args[arg] != XDPVM_ARG_NONE; arg++)
		for (enum wrong wrong = 0; wrong < WRONGS; wrong++, n++)
			check_wrong(id, arg, wrong, maps);
	return n;
}

/* A map that programs may not write, written by each helper that would. */
static void
check_read_only(const struct raw_maps *maps)
{
	const struct bpf_insn insns[] = {
		ST(BPF_DW, FP, -8, 0), ST(BPF_DW, FP, -16, 0), LD_MAP(BPF_REG_1, RAW_RODATA),
		ALU64_X(BPF_MOV, BPF_REG_2, FP), ALU64_K(BPF_ADD, BPF_REG_2, -16),
		ALU64_X(BPF_MOV, BPF_REG_3, BPF_REG_2), ALU64_K(BPF_MOV, BPF_REG_4, 0),
		CALL(BPF_FUNC_map_update_elem), ALU64_K(BPF_MOV, BPF_REG_0, XDP_PASS), EXIT(),
	};
	uint32_t n = sizeof(insns) / sizeof(insns[0]);
	char sentence[512] = "";
	struct raw_prog raw;

	CHECK(raw_load_proven(&raw, insns, n, maps, sentence, sizeof(sentence)) != 0);
	CHECK(strcmp(sentence, "program raw, instruction 8: map rodata may not be written by "
		     "programs") == 0, "\"%s\"", sentence);
}

int
main(void)
{
	unsigned int helpers = 0, cases = 0;
	struct raw_maps maps;

	xdpvm_thread_register(XDPVM_THREAD_ANY);
	CHECK(raw_maps_create(&maps, false) == 0);
	for (uint32_t id = 0; id < __BPF_FUNC_MAX_ID; id++) {
		if (xdpvm_helper_get(id) == NULL)
			continue;
		cases += check_helper(id, &maps);
		helpers++;
	}
	check_read_only(&maps);
	raw_maps_destroy(&maps);
	printf("%u helpers, %u wrong arguments\n", helpers, cases);
	CHECK(helpers > 40 && cases > 1000, "%u helpers, %u cases", helpers, cases);
	return check_status();
}
