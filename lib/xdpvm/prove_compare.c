/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a conditional jump teaches. There are three kinds of comparison that do: two numbers, a
 * pointer that may be NULL against 0, and a packet pointer against the end of its bytes. All others
 * may go either way and teach nothing.
 */
#include "interp.h"
#include "prove.h"

/* Relation that holds between left and right; signed ones are reduced to these first. */
enum relation {
	NOTHING,
	EQUAL,
	NOT_EQUAL,
	LESS,		/* unsigned */
	LESS_EQUAL,
	GREATER,
	GREATER_EQUAL,
};

static enum relation
unsigned_relation(uint8_t op, bool taken)
{
	switch (op) {
	case BPF_JEQ:
		return taken ? EQUAL : NOT_EQUAL;
	case BPF_JNE:
		return taken ? NOT_EQUAL : EQUAL;
	case BPF_JLT:
	case BPF_JSLT:
		return taken ? LESS : GREATER_EQUAL;
	case BPF_JLE:
	case BPF_JSLE:
		return taken ? LESS_EQUAL : GREATER;
	case BPF_JGT:
	case BPF_JSGT:
		return taken ? GREATER : LESS_EQUAL;
	case BPF_JGE:
	case BPF_JSGE:
		return taken ? GREATER_EQUAL : LESS;
	default:
		return NOTHING;
	}
}

static enum relation
mirrored(enum relation relation)
{
	switch (relation) {
	case LESS:
		return GREATER;
	case LESS_EQUAL:
		return GREATER_EQUAL;
	case GREATER:
		return LESS;
	case GREATER_EQUAL:
		return LESS_EQUAL;
	default:
		return relation;
	}
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static void
at_least(struct prove_value *value, uint64_t bound)
{
	if (value->min < bound)
		value->min = bound;
}

static void
at_most(struct prove_value *value, uint64_t bound)
{
	if (value->max > bound)
		value->max = bound;
}

/* left < right, or left <= right with strict == 0. False when no such numbers exist. */
static bool
order(struct prove_value *left, struct prove_value *right, uint64_t strict)
{
	if (right->max < strict || left->min > UINT64_MAX - strict)
		return false;
	at_most(left, right->max - strict);
	at_least(right, left->min + strict);
	return left->min <= left->max && right->min <= right->max;
}

static bool
equal(struct prove_value *left, struct prove_value *right)
{
	at_least(left, right->min);
	at_most(left, right->max);
	at_least(right, left->min);
	at_most(right, left->max);
	return left->min <= left->max && right->min <= right->max;
}

/* Only a bound that is excluded by a constant teaches something. */
static bool
not_equal(struct prove_value *value, const struct prove_value *constant)
{
	if (constant->min != constant->max)
		return true;
	if (value->min == value->max && value->min == constant->min)
		return false;
	if (value->min == constant->min)
		value->min++;
	if (value->max == constant->min)
		value->max--;
	return true;
}

static bool
relate(enum relation relation, struct prove_value *left, struct prove_value *right)
{
	switch (relation) {
	case EQUAL:
		return equal(left, right);
	case NOT_EQUAL:
		return not_equal(left, right) && not_equal(right, left);
	case LESS:
		return order(left, right, 1);
	case LESS_EQUAL:
		return order(left, right, 0);
	case GREATER:
		return order(right, left, 1);
	case GREATER_EQUAL:
		return order(right, left, 0);
	default:
		return true;
	}
}

static bool
is_signed(uint8_t op)
{
	return op == BPF_JSLT || op == BPF_JSLE || op == BPF_JSGT || op == BPF_JSGE;
}

/*
 * For signed comparisons: numbers that are not negative compare as unsigned ones, and what is
 * greater than such a number is none either.
 */
static bool
reduce_signed(enum relation relation, struct prove_value *left, struct prove_value *right,
	      uint64_t largest)
{
	if ((relation == GREATER || relation == GREATER_EQUAL) && right->max <= largest)
		at_most(left, largest);
	if ((relation == LESS || relation == LESS_EQUAL) && left->max <= largest)
		at_most(right, largest);
	return left->max <= largest && right->max <= largest;
}

static bool
relate_numbers(const struct bpf_insn *insn, bool taken, struct prove_value *left,
	       struct prove_value *right)
{
	bool narrow = BPF_CLASS(insn->code) == BPF_JMP32;
	enum relation relation = unsigned_relation(BPF_OP(insn->code), taken);

	if (left->min == left->max && right->min == right->max)
		return xdpvm_jump_taken(insn, left->min, right->min) == taken;
	if (narrow && (left->max > UINT32_MAX || right->max > UINT32_MAX))
		return true;
	if (is_signed(BPF_OP(insn->code)) &&
	    !reduce_signed(relation, left, right, narrow ? INT32_MAX : INT64_MAX))
		return left->min <= left->max && right->min <= right->max;
	return relate(relation, left, right);
}

struct update {
	uint32_t id;
	struct prove_value value;
};

static void
set_bounds(struct prove_value *value, void *arg)
{
	const struct update *update = arg;

	if (value->kind != PROVE_NUMBER || value->id != update->id)
		return;
	value->min = update->value.min;
	value->max = update->value.max;
	if (value->min == value->max)
		value->id = 0;
}

/* All copies of a number learn what one of them did. */
static void
publish(struct prove_state *state, const struct prove_value *value)
{
	struct update update = { value->id, *value };

	if (value->id != 0)
		xdpvm_prove_each(state, set_bounds, &update);
}

static bool
branch_numbers(struct prove_state *state, const struct bpf_insn *insn, bool taken,
	       struct prove_value left, struct prove_value right)
{
	/* A number compared with itself teaches nothing here, and its bounds are to stay one. */
	if (left.id != 0 && left.id == right.id)
		return true;
	if (!relate_numbers(insn, taken, &left, &right))
		return false;
	publish(state, &left);
	publish(state, &right);
	return true;
}

/* ---- NULL ------------------------------------------------------------------------------------ */

static void
settle_null(struct prove_value *value, void *arg)
{
	const struct update *update = arg;
	uint8_t width = value->width;

	if (!value->maybe_null || value->id != update->id)
		return;
	if (update->value.kind == PROVE_NUMBER)
		*value = update->value;
	else
		value->maybe_null = false;
	value->width = width;
	if (value->low == 0 && value->high == 0)
		value->id = 0;	/* it told which pointers are NULL together; no variable part */
}

static bool
branch_null(struct prove_state *state, const struct prove_value *pointer, bool is_null)
{
	struct update update = { pointer->id, is_null ? prove_constant(0) : *pointer };
	bool record = pointer->kind == PROVE_MEMORY && !pointer->read_only;

	if (!pointer->maybe_null)
		return !is_null || pointer->id != 0;
	xdpvm_prove_each(state, settle_null, &update);
	if (is_null && record)
		state->record = false;
	return true;
}

static bool
is_pointer(const struct prove_value *value)
{
	return value->kind == PROVE_MAP || value->kind == PROVE_VALUE ||
	       value->kind == PROVE_MEMORY || value->kind == PROVE_STACK ||
	       value->kind == PROVE_CTX;
}

/* ---- The end of the packet ------------------------------------------------------------------- */

static bool
ends(const struct prove_value *pointer, const struct prove_value *end)
{
	if (pointer->kind == PROVE_PACKET)
		return end->kind == PROVE_END;
	return pointer->kind == PROVE_META && end->kind == PROVE_PACKET && end->id == 0 &&
	       end->offset == 0;
}

static void
branch_end(struct prove_state *state, const struct prove_value *pointer, enum relation relation)
{
	if (relation == LESS)
		xdpvm_prove_learn_range(state, *pointer, (int64_t)pointer->offset + 1);
	else if (relation == LESS_EQUAL || relation == EQUAL)
		xdpvm_prove_learn_range(state, *pointer, pointer->offset);
}

bool
xdpvm_prove_branch(struct prove_state *state, const struct bpf_insn *insn, bool taken)
{
	const struct prove_value *regs = prove_top(state)->regs;
	bool wide = BPF_CLASS(insn->code) == BPF_JMP;
	enum relation relation = unsigned_relation(BPF_OP(insn->code), taken);
	struct prove_value left = regs[insn->dst_reg], right;

	if (BPF_SRC(insn->code) == BPF_X)
		right = regs[insn->src_reg];
	else
		right = prove_constant(wide ? (uint64_t)(int64_t)insn->imm : (uint32_t)insn->imm);
	if (left.kind == PROVE_NUMBER && right.kind == PROVE_NUMBER)
		return branch_numbers(state, insn, taken, left, right);
	if (!wide || is_signed(BPF_OP(insn->code)))
		return true;
	if (is_pointer(&left) && prove_is_null(&right) &&
	    (relation == EQUAL || relation == NOT_EQUAL))
		return branch_null(state, &left, relation == EQUAL);
	if (ends(&left, &right))
		branch_end(state, &left, relation);
	else if (ends(&right, &left))
		branch_end(state, &right, mirrored(relation));
	return true;
}
