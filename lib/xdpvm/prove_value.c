/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arithmetic on numbers. A number is the unsigned interval [min, max]; an operation's result is an
 * interval that holds every result for operands in theirs. Where an operation may wrap for some
 * operands and not for others, nothing is known about its result.
 */
#include "interp.h"
#include "prove.h"

struct interval {
	uint64_t min;
	uint64_t max;
};

static const struct interval anything = { 0, UINT64_MAX };

struct prove_value
xdpvm_prove_number(struct prover *prover, uint64_t min, uint64_t max)
{
	struct prove_value value = { .kind = PROVE_NUMBER, .min = min, .max = max };

	if (min != max)
		value.id = ++prover->next_id;
	return value;
}

struct prove_value
xdpvm_prove_unknown(struct prover *prover, unsigned int bytes)
{
	return xdpvm_prove_number(prover, 0, bytes >= 8 ? UINT64_MAX : (1ull << 8 * bytes) - 1);
}

/* Both ends wrap or none does; then all between them do as they do. */
static struct interval
add(struct interval a, struct interval b)
{
	struct interval sum;
	bool low = __builtin_add_overflow(a.min, b.min, &sum.min);
	bool high = __builtin_add_overflow(a.max, b.max, &sum.max);

	return low == high ? sum : anything;
}

static struct interval
subtract(struct interval a, struct interval b)
{
	struct interval difference;
	bool low = __builtin_sub_overflow(a.min, b.max, &difference.min);
	bool high = __builtin_sub_overflow(a.max, b.min, &difference.max);

	return low == high ? difference : anything;
}

static struct interval
multiply(struct interval a, struct interval b)
{
	struct interval product = { .min = a.min * b.min };

	return __builtin_mul_overflow(a.max, b.max, &product.max) ? anything : product;
}

/* Division by zero gives zero: the lower bound is gone when it can happen. */
static struct interval
divide(struct interval a, struct interval b)
{
	if (b.min == 0)
		return (struct interval){ 0, a.max };
	return (struct interval){ a.min / b.max, a.max / b.min };
}

/* Modulo zero leaves the dividend. */
static struct interval
modulo(struct interval a, struct interval b)
{
	if (b.min > 0 && a.max < b.min)
		return a;
	return (struct interval){ 0, b.min > 0 && b.max - 1 < a.max ? b.max - 1 : a.max };
}

/* The largest number with as many bits as value. */
static uint64_t
all_bits(uint64_t value)
{
	return value == 0 ? 0 : UINT64_MAX >> __builtin_clzll(value);
}

static struct interval
bitwise_and(struct interval a, struct interval b)
{
	return (struct interval){ 0, a.max < b.max ? a.max : b.max };
}

static struct interval
bitwise_or(struct interval a, struct interval b)
{
	return (struct interval){ a.min > b.min ? a.min : b.min, all_bits(a.max | b.max) };
}

/* Engines mask the distance, so one that may be too large shifts by anything. */
static struct interval
shift_left(struct interval a, struct interval b, unsigned int bits)
{
	if (b.max >= bits || (a.max << b.max) >> b.max != a.max)
		return anything;
	return (struct interval){ a.min << b.min, a.max << b.max };
}

static struct interval
shift_right(struct interval a, struct interval b, unsigned int bits)
{
	if (b.max >= bits)
		return (struct interval){ 0, a.max };
	return (struct interval){ a.min >> b.max, a.max >> b.min };
}

static struct interval
calculate(const struct bpf_insn *insn, struct interval a, struct interval b, unsigned int bits)
{
	bool positive = a.max < 1ull << (bits - 1);

	switch (BPF_OP(insn->code)) {
	case BPF_ADD:
		return add(a, b);
	case BPF_SUB:
		return subtract(a, b);
	case BPF_MUL:
		return multiply(a, b);
	case BPF_DIV:
		return insn->off == 0 ? divide(a, b) : anything;
	case BPF_MOD:
		return insn->off == 0 ? modulo(a, b) : anything;
	case BPF_AND:
		return bitwise_and(a, b);
	case BPF_OR:
		return bitwise_or(a, b);
	case BPF_XOR:
		return (struct interval){ 0, all_bits(a.max | b.max) };
	case BPF_LSH:
		return shift_left(a, b, bits);
	case BPF_RSH:
		return shift_right(a, b, bits);
	case BPF_ARSH:
		return positive ? shift_right(a, b, bits) : anything;
	default:
		return anything;
	}
}

/* The low 32 bits of an interval: again one when no carry into bit 32 lies between its ends. */
static struct interval
truncate32(struct interval a)
{
	if (a.min >> 32 != a.max >> 32)
		return (struct interval){ 0, UINT32_MAX };
	return (struct interval){ (uint32_t)a.min, (uint32_t)a.max };
}

static struct prove_value
swap(struct prover *prover, const struct bpf_insn *insn, struct prove_value value)
{
	bool keeps = BPF_CLASS(insn->code) == BPF_ALU && BPF_SRC(insn->code) == BPF_TO_LE;

	/* To little-endian: here that only cuts. */
	if (keeps && (insn->imm == 64 || value.max < 1ull << insn->imm))
		return value;
	return xdpvm_prove_unknown(prover, insn->imm / 8);
}

static struct prove_value
move(struct prover *prover, const struct bpf_insn *insn, struct prove_value src)
{
	bool wide = BPF_CLASS(insn->code) == BPF_ALU64;
	struct interval value = { src.min, src.max };

	if (insn->off != 0 && src.max >= 1ull << (insn->off - 1))
		return xdpvm_prove_unknown(prover, wide ? 8 : 4);
	if (wide || src.max <= UINT32_MAX)
		return src;	/* the same number: the id stays */
	value = truncate32(value);
	return xdpvm_prove_number(prover, value.min, value.max);
}

struct prove_value
xdpvm_prove_alu(struct prover *prover, const struct bpf_insn *insn, struct prove_value dst,
		struct prove_value src)
{
	bool wide = BPF_CLASS(insn->code) == BPF_ALU64;
	struct interval a = { dst.min, dst.max }, b = { src.min, src.max }, result;

	if (BPF_OP(insn->code) == BPF_END)
		return swap(prover, insn, dst);
	if (BPF_OP(insn->code) == BPF_MOV)
		return move(prover, insn, src);
	if (prove_is_constant(&dst) && prove_is_constant(&src))
		return prove_constant(xdpvm_alu(insn, dst.min, src.min));
	if (!wide) {
		a = truncate32(a);
		b = truncate32(b);
	}
	result = calculate(insn, a, b, wide ? 64 : 32);
	if (!wide)
		result = truncate32(result);
	return xdpvm_prove_number(prover, result.min, result.max);
}
