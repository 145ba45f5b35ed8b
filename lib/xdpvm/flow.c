/* SPDX-License-Identifier: BSD-3-Clause */
/* Joins, loads and stores of abstract states. See flow.h. */
#include "flow.h"

void
xdpvm_state_copy(struct xdpvm_state *to, const struct xdpvm_state *from)
{
	size_t frames = from->depth + 1;

	memcpy(to, from, offsetof(struct xdpvm_state, slots) + frames * sizeof(from->slots[0]));
}

static bool
same_value(struct xdpvm_value a, struct xdpvm_value b)
{
	return a.kind == b.kind && a.frame == b.frame && a.index == b.index;
}

static bool
may_be_ctx(struct xdpvm_value value)
{
	return value.kind == XDPVM_CTX || value.kind == XDPVM_UNCLEAR;
}

static bool
may_be_stack(struct xdpvm_value value)
{
	return value.kind == XDPVM_STACK || value.kind == XDPVM_POINTER;
}

static struct xdpvm_value
join_values(struct xdpvm_value a, struct xdpvm_value b)
{
	if (same_value(a, b))
		return a;
	if (may_be_ctx(a) || may_be_ctx(b))
		return (struct xdpvm_value){ .kind = XDPVM_UNCLEAR };
	if (a.kind == XDPVM_STACK && b.kind == XDPVM_STACK && a.frame == b.frame)
		return (struct xdpvm_value){ XDPVM_STACK, a.frame, { XDPVM_ANYWHERE } };
	if (may_be_stack(a) || may_be_stack(b))
		return (struct xdpvm_value){ .kind = XDPVM_POINTER };
	return (struct xdpvm_value){ .kind = XDPVM_OTHER };
}

static bool
join_into(struct xdpvm_value *to, struct xdpvm_value from)
{
	struct xdpvm_value joined = join_values(*to, from);
	bool changed = !same_value(joined, *to);

	*to = joined;
	return changed;
}

bool
xdpvm_state_join_frames(struct xdpvm_state *to, const struct xdpvm_state *from, uint8_t depth)
{
	bool changed = false;

	for (uint8_t frame = 0; frame <= depth; frame++)
		for (unsigned int slot = 0; slot < XDPVM_SLOTS; slot++)
			changed |= join_into(&to->slots[frame][slot], from->slots[frame][slot]);
	return changed;
}

bool
xdpvm_state_join(struct xdpvm_state *to, const struct xdpvm_state *from)
{
	bool changed = xdpvm_state_join_frames(to, from, to->depth);

	for (unsigned int reg = 0; reg <= BPF_REG_10; reg++)
		changed |= join_into(&to->regs[reg], from->regs[reg]);
	return changed;
}

struct xdpvm_value
xdpvm_value_add(struct xdpvm_value base, int64_t constant)
{
	int64_t offset = (int64_t)base.offset + constant;

	if (base.kind == XDPVM_MAP || base.kind == XDPVM_FUNC)
		return (struct xdpvm_value){ .kind = XDPVM_OTHER };
	if (base.kind != XDPVM_STACK && base.kind != XDPVM_CTX)
		return base;
	if (base.kind == XDPVM_STACK && base.offset == XDPVM_ANYWHERE)
		return base;
	if (offset > INT16_MIN && offset <= INT16_MAX)
		base.offset = offset;
	else if (base.kind == XDPVM_STACK)
		base.offset = XDPVM_ANYWHERE;
	else
		base = (struct xdpvm_value){ .kind = XDPVM_UNCLEAR };
	return base;
}

static struct xdpvm_value
join_frame(const struct xdpvm_state *state, uint8_t frame, struct xdpvm_value value)
{
	for (unsigned int slot = 0; slot < XDPVM_SLOTS; slot++)
		value = join_values(value, state->slots[frame][slot]);
	return value;
}

/* Bytes from..from+size of a frame, counted from the frame pointer, as slots. False: outside. */
static bool
find_slots(int32_t from, unsigned int size, unsigned int *first, unsigned int *last)
{
	if (from < -XDPVM_FRAME_STACK || from + (int32_t)size > 0)
		return false;
	*last = (-from - 1) / 8;
	*first = (-(from + (int32_t)size)) / 8;
	return true;
}

struct xdpvm_value
xdpvm_state_load(const struct xdpvm_state *state, struct xdpvm_value base, int16_t offset,
		 unsigned int size)
{
	struct xdpvm_value other = { .kind = XDPVM_OTHER };
	struct xdpvm_value at = xdpvm_value_add(base, offset);
	unsigned int first, last;

	/* Pointers are spilled whole. */
	if (size != 8 || !may_be_stack(at))
		return other;
	if (at.kind == XDPVM_POINTER) {
		for (uint8_t frame = 0; frame <= state->depth; frame++)
			other = join_frame(state, frame, other);
		return other;
	}
	if (at.offset == XDPVM_ANYWHERE)
		return join_frame(state, at.frame, other);
	if (at.offset % 8 != 0 || !find_slots(at.offset, size, &first, &last))
		return other;
	return state->slots[at.frame][first];
}

static void
store_weakly(struct xdpvm_state *state, uint8_t frame, struct xdpvm_value value)
{
	for (unsigned int slot = 0; slot < XDPVM_SLOTS; slot++)
		join_into(&state->slots[frame][slot], value);
}

void
xdpvm_state_store(struct xdpvm_state *state, struct xdpvm_value base, int16_t offset,
		  unsigned int size, struct xdpvm_value value)
{
	struct xdpvm_value at = xdpvm_value_add(base, offset);
	unsigned int first, last;

	if (!may_be_stack(at))
		return;
	if (size != 8 || (at.kind == XDPVM_STACK && at.offset != XDPVM_ANYWHERE &&
			  at.offset % 8 != 0))
		value = (struct xdpvm_value){ .kind = XDPVM_OTHER };
	if (at.kind == XDPVM_POINTER) {
		for (uint8_t frame = 0; frame <= state->depth; frame++)
			store_weakly(state, frame, value);
	} else if (at.offset == XDPVM_ANYWHERE) {
		store_weakly(state, at.frame, value);
	} else if (find_slots(at.offset, size, &first, &last)) {
		for (unsigned int slot = first; slot <= last; slot++)
			state->slots[at.frame][slot] = value;
	}
}
