/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * States: copying, what it means that one covers another, and merging two.
 *
 * Two states name the same thing by different ids. What must hold is the relation: values of old
 * with one id were equal (up to their constant offsets), so those of new in the same places must be
 * so, too. Hence ids are compared as pairs: each id of old goes with one id of new at one distance
 * of their offsets.
 */
#include "prove.h"

/* Pairs that one comparison may need; more are taken for different. */
#define PAIRS_MAX 96

/* Instead of a distance: a pointer that may be NULL goes with the number 0. */
#define IS_NULL INT64_MIN

struct pair {
	uint32_t old;
	uint32_t new;
	int64_t distance;	/* new offset - old offset; constants: the number; or IS_NULL */
	uint32_t merged;	/* id in the merged state */
};

struct pairs {
	const struct prove_state *old;
	const struct prove_state *new;
	struct pair pair[PAIRS_MAX];
	unsigned int n;
	bool widen;	/* bounds that move go on to the next of a few */
};

void
xdpvm_prove_copy(struct prove_state *to, const struct prove_state *from)
{
	size_t frames = from->depth + 1;

	memcpy(to, from, offsetof(struct prove_state, frames) + frames * sizeof(from->frames[0]));
}

static void
each_of_frame(struct prove_frame *frame, void (*fn)(struct prove_value *value, void *arg),
	      void *arg)
{
	for (unsigned int reg = 0; reg <= BPF_REG_10; reg++)
		fn(&frame->regs[reg], arg);
	for (unsigned int slot = 0; slot < PROVE_SLOTS; slot++)
		fn(&frame->slots[slot], arg);
}

void
xdpvm_prove_each(struct prove_state *state, void (*fn)(struct prove_value *value, void *arg),
		 void *arg)
{
	for (uint32_t depth = 0; depth <= state->depth; depth++)
		each_of_frame(&state->frames[depth], fn, arg);
}

uint32_t
xdpvm_prove_range(const struct prove_state *state, const struct prove_value *pointer)
{
	if (pointer->id != 0)
		return pointer->range;
	return pointer->kind == PROVE_META ? state->meta_range : state->packet_range;
}

struct lesson {
	uint8_t kind;
	uint32_t id;
	uint32_t range;
	int64_t high;
};

static void
learn(struct prove_value *value, void *arg)
{
	const struct lesson *lesson = arg;

	if (value->kind != lesson->kind || value->id != lesson->id)
		return;
	value->range = lesson->range;
	if (value->high > lesson->high)
		value->high = lesson->high;
}

/*
 * The variable part plus bytes is at most the length of the packet. That follows from a comparison
 * of addresses only when the address cannot have wrapped.
 */
void
xdpvm_prove_learn_range(struct prove_state *state, struct prove_value pointer, int64_t bytes)
{
	uint32_t *known = pointer.kind == PROVE_META ? &state->meta_range : &state->packet_range;
	struct lesson lesson = { pointer.kind, pointer.id, 0, PROVE_OFFSET_MAX - bytes };

	if (pointer.low < -PROVE_FAR || pointer.high > PROVE_FAR)
		return;
	if (bytes > xdpvm_prove_range(state, &pointer))
		lesson.range = bytes;
	else
		lesson.range = xdpvm_prove_range(state, &pointer);
	if (pointer.id == 0)
		*known = lesson.range;
	else
		xdpvm_prove_each(state, learn, &lesson);
}

bool
xdpvm_prove_comparable(const struct prove_state *a, const struct prove_state *b)
{
	if (a->depth != b->depth || a->record != b->record)
		return false;
	for (uint32_t depth = 1; depth <= a->depth; depth++)
		if (a->frames[depth].call != b->frames[depth].call ||
		    a->frames[depth].subprog != b->frames[depth].subprog)
			return false;
	return true;
}

static bool
is_packet(const struct prove_value *value)
{
	return value->kind == PROVE_PACKET || value->kind == PROVE_META;
}

/* What makes two pointers' places comparable: the same thing below them. */
static bool
same_base(const struct prove_value *a, const struct prove_value *b)
{
	return a->kind == b->kind && a->frame == b->frame && a->map == b->map &&
	       a->read_only == b->read_only && (a->kind != PROVE_MEMORY || a->range == b->range) &&
	       (a->kind != PROVE_FUNCTION || a->offset == b->offset);
}

/* ---- Covering -------------------------------------------------------------------------------- */

static bool
match_ids(struct pairs *pairs, uint32_t old, uint32_t new, int64_t distance)
{
	for (unsigned int i = 0; i < pairs->n; i++)
		if (pairs->pair[i].old == old)
			return pairs->pair[i].new == new && pairs->pair[i].distance == distance;
	if (pairs->n == PAIRS_MAX)
		return false;
	pairs->pair[pairs->n++] = (struct pair){ old, new, distance, 0 };
	return true;
}

static bool
number_covers(struct pairs *pairs, const struct prove_value *old, const struct prove_value *new)
{
	if (old->min > new->min || old->max < new->max)
		return false;
	return old->id == 0 || match_ids(pairs, old->id, new->id, new->id == 0 ? new->min : 0);
}

static bool
place_covers(struct pairs *pairs, const struct prove_value *old, const struct prove_value *new)
{
	int64_t distance = (int64_t)new->offset - old->offset, range;

	if (old->id == 0)
		return new->id == 0 && distance == 0;
	/* Bounds of a place that is lost stay where they are. */
	if (old->low != INT64_MIN && (new->low < -PROVE_FAR || new->low + distance < old->low))
		return false;
	if (old->high != INT64_MAX && (new->high > PROVE_FAR || new->high + distance > old->high))
		return false;
	range = xdpvm_prove_range(pairs->new, new);
	if (is_packet(old) && old->range > 0 && old->range > range - distance)
		return false;
	return match_ids(pairs, old->id, new->id, distance);
}

static bool
value_covers(struct pairs *pairs, const struct prove_value *old, const struct prove_value *new)
{
	if (old->kind == PROVE_UNSET)
		return true;
	if (old->width > new->width)
		return false;
	/* Where a record is held, NULL is not it: behind "if NULL" none would be held. */
	if (old->kind == PROVE_MEMORY && prove_is_null(new))
		return false;
	if (old->maybe_null && prove_is_null(new))
		return match_ids(pairs, old->id, 0, IS_NULL);
	if (!same_base(old, new) || (new->maybe_null && !old->maybe_null))
		return false;
	switch (old->kind) {
	case PROVE_NUMBER:
		return number_covers(pairs, old, new);
	case PROVE_STACK:
	case PROVE_CTX:
	case PROVE_PACKET:
	case PROVE_META:
	case PROVE_VALUE:
	case PROVE_MAP:
	case PROVE_MEMORY:
		return place_covers(pairs, old, new);
	default:
		return true;
	}
}

static bool
frame_covers(struct pairs *pairs, const struct prove_frame *old, const struct prove_frame *new)
{
	for (unsigned int reg = 0; reg <= BPF_REG_10; reg++)
		if (!value_covers(pairs, &old->regs[reg], &new->regs[reg]))
			return false;
	for (unsigned int slot = 0; slot < PROVE_SLOTS; slot++)
		if ((old->set[slot] & ~new->set[slot]) != 0 ||
		    !value_covers(pairs, &old->slots[slot], &new->slots[slot]))
			return false;
	return true;
}

bool
xdpvm_prove_covers(const struct prove_state *old, const struct prove_state *new)
{
	struct pairs pairs;

	pairs.old = old;
	pairs.new = new;
	pairs.n = 0;
	if (old->packet_range > new->packet_range || old->meta_range > new->meta_range)
		return false;
	for (uint32_t depth = 0; depth <= old->depth; depth++)
		if (!frame_covers(&pairs, &old->frames[depth], &new->frames[depth]))
			return false;
	return true;
}

/* ---- Merging --------------------------------------------------------------------------------- */

/* Bounds that go on moving are given few places to go to, so that loops come to rest. */
static uint64_t
widen_min(const struct pairs *pairs, uint64_t old, uint64_t new)
{
	return new >= old ? old : pairs->widen ? 0 : new;
}

static uint64_t
widen_max(const struct pairs *pairs, uint64_t old, uint64_t new)
{
	static const uint64_t steps[] = { 0xff, 0xffff, UINT32_MAX, PROVE_FAR };

	if (new <= old || !pairs->widen)
		return new <= old ? old : new;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (new <= steps[i])
			return steps[i];
	return UINT64_MAX;
}

/* Down to where the pointer, with its offset, is at its base: that is what accesses ask for. */
static int64_t
widen_low(const struct pairs *pairs, int64_t old, int64_t new, int64_t offset)
{
	if (new >= old || !pairs->widen)
		return new >= old ? old : new;
	return new + offset >= 0 ? -offset : new >= -PROVE_FAR ? -PROVE_FAR : INT64_MIN;
}

static int64_t
widen_high(const struct pairs *pairs, int64_t old, int64_t new)
{
	if (new <= old || !pairs->widen)
		return new <= old ? old : new;
	return new <= 0xffff ? 0xffff : new <= PROVE_FAR ? PROVE_FAR : INT64_MAX;
}

/* The id of what was a in old and b in new; the same pair gives the same id. 0: no room. */
static uint32_t
merge_ids(struct prover *prover, struct pairs *pairs, uint32_t a, uint32_t b, int64_t distance)
{
	for (unsigned int i = 0; i < pairs->n; i++)
		if (pairs->pair[i].old == a && pairs->pair[i].new == b &&
		    pairs->pair[i].distance == distance)
			return pairs->pair[i].merged;
	if (pairs->n == PAIRS_MAX)
		return 0;
	pairs->pair[pairs->n++] = (struct pair){ a, b, distance, ++prover->next_id };
	return prover->next_id;
}

static void
merge_numbers(struct prover *prover, struct pairs *pairs, struct prove_value *old,
	      const struct prove_value *new)
{
	uint8_t width = old->width < new->width ? old->width : new->width;
	uint64_t min = widen_min(pairs, old->min, new->min);
	uint64_t max = widen_max(pairs, old->max, new->max);
	uint32_t id = 0;

	if (old->id != 0 && new->id != 0)
		id = merge_ids(prover, pairs, old->id, new->id, 0);
	*old = xdpvm_prove_number(prover, min, max);
	if (id != 0)
		old->id = id;
	old->width = width;
}

static void
merge_places(struct prover *prover, struct pairs *pairs, struct prove_value *old,
	     const struct prove_value *new)
{
	int64_t distance = (int64_t)new->offset - old->offset;
	int64_t old_range = xdpvm_prove_range(pairs->old, old);
	int64_t new_range = (int64_t)xdpvm_prove_range(pairs->new, new) - distance;
	bool lost = old->low == INT64_MIN || new->low == INT64_MIN ||
		    old->high == INT64_MAX || new->high == INT64_MAX;
	uint32_t id;

	if (old->id == 0 && new->id == 0 && distance == 0)
		return;
	id = merge_ids(prover, pairs, old->id, new->id, distance);
	old->id = id != 0 ? id : ++prover->next_id;
	old->low = lost ? INT64_MIN : widen_low(pairs, old->low, new->low + distance,
						      old->offset);
	old->high = lost ? INT64_MAX : widen_high(pairs, old->high, new->high + distance);
	if (!is_packet(old))
		return;
	if (new_range < 0)
		new_range = 0;
	old->range = old_range < new_range ? old_range : new_range;
}

static void
merge_values(struct prover *prover, struct pairs *pairs, struct prove_value *old,
	     const struct prove_value *new)
{
	uint8_t width = old->width < new->width ? old->width : new->width;
	bool maybe_null = old->maybe_null || new->maybe_null;

	if (old->kind == PROVE_UNSET || new->kind == PROVE_UNSET) {
		*old = (struct prove_value){ .kind = PROVE_UNSET };
	} else if (old->kind == PROVE_NUMBER && new->kind == PROVE_NUMBER) {
		merge_numbers(prover, pairs, old, new);
	} else if (same_base(old, new) && old->kind != PROVE_CTX) {
		merge_places(prover, pairs, old, new);
		old->maybe_null = maybe_null;
	} else if (!same_base(old, new) || old->offset != new->offset) {
		*old = xdpvm_prove_unknown(prover, 8);
	}
	old->width = width;
}

static void
merge_frames(struct prover *prover, struct pairs *pairs, struct prove_frame *old,
	     const struct prove_frame *new)
{
	for (unsigned int reg = 0; reg <= BPF_REG_10; reg++)
		merge_values(prover, pairs, &old->regs[reg], &new->regs[reg]);
	for (unsigned int slot = 0; slot < PROVE_SLOTS; slot++) {
		merge_values(prover, pairs, &old->slots[slot], &new->slots[slot]);
		old->set[slot] &= new->set[slot];
	}
}

void
xdpvm_prove_merge(struct prover *prover, struct prove_state *old, const struct prove_state *new,
		  bool widen)
{
	struct pairs pairs;

	pairs.old = old;
	pairs.new = new;
	pairs.n = 0;
	pairs.widen = widen;
	for (uint32_t depth = 0; depth <= old->depth; depth++)
		merge_frames(prover, &pairs, &old->frames[depth], &new->frames[depth]);
	/* Last: the ranges of the values were taken from these. */
	if (old->packet_range > new->packet_range)
		old->packet_range = new->packet_range;
	if (old->meta_range > new->meta_range)
		old->meta_range = new->meta_range;
}
