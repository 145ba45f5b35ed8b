/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The prover (verify=internal): follows a linked program over abstract values and lets it pass when
 * no run can read or write outside packet, metadata, map values, records and its own stack.
 *
 * What it promises about a program that it let pass, whatever the packet and the maps hold:
 * - every access is inside what its pointer was proven to point into. For packet bytes that could
 *   not be proven, the engine checks before the access (insn_info.check) and ends the run;
 * - no byte of the frame is read that the program did not write: such slots are zeroed when the
 *   function is entered (subprog.zero_slots);
 * - helpers get what their contract (helper.h) asks for;
 * - a run ends: every jump that closes a loop and every callback burns fuel (prove_cost.c).
 * It does not promise that addresses stay secret: a program may write a pointer into a packet, as
 * Linux lets privileged programs do, and print it; but bpf_trace_printk() does not follow it.
 *
 * How: paths are followed one by one, as Linux does. Where paths meet, a state that an earlier one
 * covers is dropped; when more than "room" different states were seen at one place, they are merged
 * into what holds for both, bounds being widened so that loops settle. Merging only forgets: it may
 * cost a check at run time or a refusal, never soundness.
 *
 * To audit: prove_value.c and prove_compare.c are arithmetic; prove_state.c says what "covers" and
 * "merge" mean; prove_memory.c, prove_stack.c and prove_call.c are the rules; prove.c the walk.
 */
#ifndef XDPVM_PROVE_H
#define XDPVM_PROVE_H

#include "helper.h"
#include "map.h"
#include "object.h"

enum prove_kind {
	PROVE_UNSET,	/* never written, or lost: may not be read */
	PROVE_NUMBER,
	PROVE_CTX,
	PROVE_STACK,
	PROVE_PACKET,	/* data + variable + offset */
	PROVE_META,	/* data_meta + variable + offset */
	PROVE_END,	/* data_end */
	PROVE_STALE,	/* was PACKET, META or END when a helper moved the packet */
	PROVE_MAP,
	PROVE_VALUE,	/* a value of map */
	PROVE_MEMORY,	/* size bytes that a helper gave */
	PROVE_FUNCTION,
};

/*
 * What is known about a register or a slot of the stack. A pointer is its base, plus a variable
 * part within [low, high], plus offset. Values with the same id (not 0) have the same number, or
 * the same base and variable part; what is known about one of them is known about all.
 * Constants have id 0 and min == max; pointers without variable part have id 0 and low == high
 * == 0.
 */
struct prove_value {
	uint8_t kind;
	bool maybe_null;	/* MAP, VALUE, MEMORY: that, or the number 0 */
	bool read_only;		/* VALUE, MEMORY */
	uint8_t frame;		/* STACK: whose */
	uint8_t width;		/* of a slot's value, in bytes from the slot's lowest; 4 or 8 */
	int32_t offset;		/* FUNCTION: its index */
	uint32_t id;
	/* PACKET, META: that many bytes exist from the variable part on; MEMORY: size. */
	uint32_t range;
	union {
		uint64_t min;	/* NUMBER, unsigned */
		int64_t low;
	};
	union {
		uint64_t max;
		int64_t high;
	};
	const struct xdpvm_map *map;
};

/* Limits of a pointer's variable part and offset within which address arithmetic cannot wrap. */
#define PROVE_FAR (INT64_C(1) << 40)
#define PROVE_OFFSET_MAX (1 << 29)	/* Linux: BPF_MAX_VAR_OFF */

#define PROVE_SLOTS (XDPVM_FRAME_STACK / 8)

struct prove_frame {
	struct prove_value regs[11];
	struct prove_value slots[PROVE_SLOTS];	/* as in flow.h */
	uint8_t set[PROVE_SLOTS];	/* by slot: bit i says that byte i was written */
	uint32_t call;		/* the instruction that called this function */
	uint16_t subprog;
	bool callback;		/* called by a helper */
};

struct prove_state {
	uint32_t depth;
	uint32_t packet_range;	/* bytes that exist from data on, and from data_meta on: the */
	uint32_t meta_range;	/* range of pointers without variable part */
	bool record;		/* one is held: reserved and not yet submitted or discarded */
	struct prove_frame frames[XDPVM_MAX_FRAMES];
};

struct prove_seen;	/* states seen at one instruction */

struct prover {
	struct xdpvm_prog *prog;
	uint16_t *live;		/* per instruction: registers whose value may be read from here on */
	bool *loops;		/* per instruction: a jump that closes a loop */
	uint32_t *order, n_order;	/* instructions that are reached, successors mostly first */
	uint32_t *bytes;	/* per call of a helper: most bytes that it goes through */
	struct prove_seen *seen;	/* per instruction */
	struct prove_state **todo;	/* states to go on with, and where */
	uint32_t *todo_at;
	size_t n_todo, todo_room;
	uint32_t next_id;
	uint32_t room;		/* different states that are kept apart at one place */
	uint32_t steps;
	size_t states;		/* kept */
};

static inline struct prove_frame *
prove_top(struct prove_state *state)
{
	return &state->frames[state->depth];
}

static inline struct prove_value
prove_constant(uint64_t number)
{
	return (struct prove_value){ .kind = PROVE_NUMBER, .min = number, .max = number };
}

static inline bool
prove_is_constant(const struct prove_value *value)
{
	return value->kind == PROVE_NUMBER && value->min == value->max;
}

static inline bool
prove_is_null(const struct prove_value *value)
{
	return prove_is_constant(value) && value->min == 0;
}

/* prove_value.c */
struct prove_value xdpvm_prove_number(struct prover *prover, uint64_t min, uint64_t max);
struct prove_value xdpvm_prove_unknown(struct prover *prover, unsigned int bytes);
struct prove_value xdpvm_prove_alu(struct prover *prover, const struct bpf_insn *insn,
				   struct prove_value dst, struct prove_value src);

/* prove_pointer.c: arithmetic on pointers, as prove_alu() for numbers. */
struct prove_value xdpvm_prove_pointer_alu(struct prover *prover, const struct bpf_insn *insn,
					   struct prove_value dst, struct prove_value src);

/*
 * prove_compare.c: what a conditional jump's outcome says about the values. False when it is
 * impossible.
 */
bool xdpvm_prove_branch(struct prove_state *state, const struct bpf_insn *insn, bool taken);

/* prove_state.c */
void xdpvm_prove_copy(struct prove_state *to, const struct prove_state *from);
/* Same call chain, both or none with a record: only such states are compared or merged. */
bool xdpvm_prove_comparable(const struct prove_state *a, const struct prove_state *b);
/* Every run that new describes is described by old, too. */
bool xdpvm_prove_covers(const struct prove_state *old, const struct prove_state *new);
/* old becomes a state that covers both; with widen, after few merges one that covers all. */
void xdpvm_prove_merge(struct prover *prover, struct prove_state *old,
		       const struct prove_state *new, bool widen);
/* Calls fn for every register and slot of every frame. */
void xdpvm_prove_each(struct prove_state *state, void (*fn)(struct prove_value *value, void *arg),
		      void *arg);
uint32_t xdpvm_prove_range(const struct prove_state *state, const struct prove_value *pointer);
/* PACKET, META: bytes from the variable part on are known to exist. */
void xdpvm_prove_learn_range(struct prove_state *state, struct prove_value pointer, int64_t bytes);

/* prove_stack.c: bytes [offset, offset + size) from the pointer on, inside the frame. */
int xdpvm_prove_stack_bounds(struct prover *prover, uint32_t i, const struct prove_value *pointer,
			     int64_t offset, uint64_t size);
struct prove_value xdpvm_prove_stack_load(struct prover *prover, struct prove_state *state,
					  const struct prove_value *pointer, int64_t offset,
					  unsigned int size);
void xdpvm_prove_stack_store(struct prover *prover, struct prove_state *state,
			     const struct prove_value *pointer, int64_t offset, unsigned int size,
			     struct prove_value value);
/* A helper reads, or writes, such bytes. */
void xdpvm_prove_stack_read(struct prover *prover, struct prove_state *state,
			    const struct prove_value *pointer, uint64_t size);
void xdpvm_prove_stack_write(struct prover *prover, struct prove_state *state,
			     const struct prove_value *pointer, uint64_t size);

/* prove_memory.c */
int xdpvm_prove_load(struct prover *prover, uint32_t i, struct prove_state *state);
int xdpvm_prove_store(struct prover *prover, uint32_t i, struct prove_state *state);
/* A helper reads or writes size bytes. */
int xdpvm_prove_region(struct prover *prover, uint32_t i, struct prove_state *state,
		       unsigned int reg, uint64_t size, bool write);

/* prove_call.c: the call of a helper at i: arguments, results, effects. */
int xdpvm_prove_helper(struct prover *prover, uint32_t i, struct prove_state *state);
/* Values of such a map belong to the control side. */
bool xdpvm_prove_read_only_values(const struct xdpvm_map *map);

/* prove_function.c: calls and returns inside the program; both change the top frame. */
int xdpvm_prove_enter(struct prover *prover, uint32_t i, struct prove_state *state);
/* Enters the callback that the helper called at i has among its arguments. */
int xdpvm_prove_enter_callback(struct prover *prover, uint32_t i, struct prove_state *state);
bool xdpvm_prove_calls_back(const struct bpf_insn *insn);
/* Where execution goes on; *ends when the program does. */
int xdpvm_prove_exit(struct prover *prover, uint32_t i, struct prove_state *state, uint32_t *next,
		     bool *ends);

/* prove_live.c: fills prover->live, by prover->order. */
void xdpvm_prove_live(struct prover *prover);

/* prove_loop.c: fills prover->loops and prover->order. 0 or -ENOMEM. */
int xdpvm_prove_loops(struct prover *prover);

/* prove_cost.c: behind the walk, fills what fuel is burned. 0 or -ENOMEM. */
int xdpvm_prove_costs(struct prover *prover);

/* Refuses: -EACCES after a sentence that names the register. */
int xdpvm_prove_refuse(struct prover *prover, uint32_t i, unsigned int reg,
		       const struct prove_value *value, const char *wanted);

/*
 * prove.c: the engine may end the run at i. Refuses while a record is reserved: it would never be
 * submitted, and the reader of the ring would wait for it.
 */
int xdpvm_prove_may_end(struct prover *prover, uint32_t i, const struct prove_state *state);

/* prove.c: the register is set; else refuses. */
int xdpvm_prove_readable(struct prover *prover, uint32_t i, const struct prove_state *state,
			 unsigned int reg);

#endif /* XDPVM_PROVE_H */
