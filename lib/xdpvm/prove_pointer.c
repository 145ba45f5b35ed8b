/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arithmetic on pointers. Adding and subtracting numbers moves a pointer; the difference of two,
 * and whatever else is done to one, is a number about which nothing is known. That is safe, because
 * a number is never a way to memory.
 */
#include "prove.h"

static bool
can_move(const struct prove_value *pointer)
{
	switch (pointer->kind) {
	case PROVE_STACK:
	case PROVE_PACKET:
	case PROVE_META:
	case PROVE_VALUE:
	case PROVE_MEMORY:
		/* Once moved, a pointer that was NULL would not be 0 any more. */
		return !pointer->maybe_null;
	default:
		return false;
	}
}

/* The same base somewhere else, nobody knows where. */
static struct prove_value
lose_place(struct prover *prover, struct prove_value pointer)
{
	pointer.id = ++prover->next_id;
	pointer.low = INT64_MIN;
	pointer.high = INT64_MAX;
	if (pointer.kind != PROVE_MEMORY)
		pointer.range = 0;
	return pointer;
}

static struct prove_value
move_constant(struct prover *prover, struct prove_value pointer, int64_t distance)
{
	int64_t offset;

	if (__builtin_add_overflow(pointer.offset, distance, &offset) ||
	    offset <= -PROVE_OFFSET_MAX || offset >= PROVE_OFFSET_MAX)
		return lose_place(prover, pointer);
	pointer.offset = offset;
	return pointer;
}

static struct prove_value
move_variable(struct prover *prover, struct prove_value pointer, int64_t low, int64_t high)
{
	struct prove_value moved = lose_place(prover, pointer);

	if (low < -PROVE_FAR || high > PROVE_FAR || pointer.low < -PROVE_FAR ||
	    pointer.high > PROVE_FAR)
		return moved;
	moved.low = pointer.low + low;
	moved.high = pointer.high + high;
	return moved;
}

/* Moves a pointer by a number, or back by it. */
static struct prove_value
move(struct prover *prover, struct prove_value pointer, const struct prove_value *by, bool back)
{
	bool same_sign = by->min <= INT64_MAX ? by->max <= INT64_MAX : true;
	int64_t low = (int64_t)by->min, high = (int64_t)by->max;

	if (prove_is_constant(by) && low != INT64_MIN)
		return move_constant(prover, pointer, back ? -low : low);
	if (!same_sign || low < -PROVE_FAR || high > PROVE_FAR)
		return lose_place(prover, pointer);
	return back ? move_variable(prover, pointer, -high, -low) :
		      move_variable(prover, pointer, low, high);
}

/* The context has fixed places only. */
static struct prove_value
move_ctx(struct prover *prover, struct prove_value ctx, const struct prove_value *by, bool back)
{
	struct prove_value moved = ctx;

	if (prove_is_constant(by))
		moved = move_constant(prover, ctx, back ? -(int64_t)by->min : (int64_t)by->min);
	else
		moved.id = 1;
	return moved.id == 0 ? moved : xdpvm_prove_unknown(prover, 8);
}

struct prove_value
xdpvm_prove_pointer_alu(struct prover *prover, const struct bpf_insn *insn, struct prove_value dst,
			struct prove_value src)
{
	bool back = BPF_OP(insn->code) == BPF_SUB;

	if (BPF_CLASS(insn->code) != BPF_ALU64)
		return xdpvm_prove_unknown(prover, 4);
	if (BPF_OP(insn->code) == BPF_MOV && insn->off == 0)
		return src;
	if (BPF_OP(insn->code) != BPF_ADD && !back)
		return xdpvm_prove_unknown(prover, 8);
	if (dst.kind == PROVE_STALE && src.kind == PROVE_NUMBER)
		return dst;
	if (dst.kind == PROVE_CTX && src.kind == PROVE_NUMBER)
		return move_ctx(prover, dst, &src, back);
	if (can_move(&dst) && src.kind == PROVE_NUMBER)
		return move(prover, dst, &src, back);
	if (!back && dst.kind == PROVE_NUMBER && can_move(&src))
		return move(prover, src, &dst, false);
	return xdpvm_prove_unknown(prover, 8);
}
