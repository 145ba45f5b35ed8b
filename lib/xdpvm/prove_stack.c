/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stack: what its slots hold, and which bytes were written. A pointer survives on the stack
 * only when it was stored, and is loaded, as a whole and aligned; everything else that is loaded is
 * a number. Bytes that may be read without having been written make their slot one that is zeroed
 * when the function is entered: then they are zero in every run, and never something left behind by
 * whoever used that memory before.
 */
#include "prove.h"

/* Bytes of a frame, counted from its lowest one. */
struct bytes {
	uint32_t first;
	uint32_t end;
};

/* All bytes that an access through a pointer may touch. Bounds were checked. */
static struct bytes
bytes_of(const struct prove_value *pointer, int64_t offset, uint64_t size)
{
	int64_t start = XDPVM_FRAME_STACK + pointer->offset + offset;

	return (struct bytes){ start + pointer->low, start + pointer->high + (int64_t)size };
}

static bool
is_exact(const struct prove_value *pointer)
{
	return pointer->id == 0;
}

static unsigned int
slot_of(uint32_t byte)
{
	return (XDPVM_FRAME_STACK - 1 - byte) / 8;
}

int
xdpvm_prove_stack_bounds(struct prover *prover, uint32_t i, const struct prove_value *pointer,
			 int64_t offset, uint64_t size)
{
	int64_t start = pointer->offset + offset;

	if (pointer->low >= -PROVE_FAR && pointer->high <= PROVE_FAR && size <= XDPVM_FRAME_STACK &&
	    start + pointer->low >= -XDPVM_FRAME_STACK &&
	    start + pointer->high + (int64_t)size <= 0)
		return 0;
	if (is_exact(pointer))
		return xdpvm_prog_fail(prover->prog, i, -EACCES,
				       "accesses %llu bytes at offset %lld of the stack, which are "
				       "not within its %d bytes", (unsigned long long)size,
				       (long long)start, XDPVM_FRAME_STACK);
	return xdpvm_prog_fail(prover->prog, i, -EACCES, "accesses the stack at an offset that is "
			       "not proven to be within its %d bytes", XDPVM_FRAME_STACK);
}

/* Slots with bytes that this path may not have written are zeroed at entry. */
static void
want_written(struct prover *prover, struct prove_state *state, const struct prove_value *pointer,
	     struct bytes bytes)
{
	struct prove_frame *frame = &state->frames[pointer->frame];
	uint64_t *zero = &prover->prog->subprogs[frame->subprog].zero_slots;

	for (uint32_t byte = bytes.first; byte < bytes.end; byte++)
		if (!(frame->set[slot_of(byte)] & 1u << byte % 8))
			*zero |= 1ull << slot_of(byte);
}

struct prove_value
xdpvm_prove_stack_load(struct prover *prover, struct prove_state *state,
		       const struct prove_value *pointer, int64_t offset, unsigned int size)
{
	struct bytes bytes = bytes_of(pointer, offset, size);
	struct prove_value value = state->frames[pointer->frame].slots[slot_of(bytes.first)];

	want_written(prover, state, pointer, bytes);
	if (!is_exact(pointer) || bytes.first % 8 != 0 || value.kind == PROVE_UNSET ||
	    value.width != size)
		return xdpvm_prove_unknown(prover, size);
	value.width = 0;
	return value;
}

/* What is left of a slot when some of its bytes change. */
static void
spoil(struct prove_value *slot)
{
	*slot = (struct prove_value){ .kind = PROVE_UNSET };
}

static void
spoil_all(struct prove_frame *frame, struct bytes bytes, bool written)
{
	for (uint32_t byte = bytes.first; byte < bytes.end; byte++) {
		spoil(&frame->slots[slot_of(byte)]);
		if (written)
			frame->set[slot_of(byte)] |= 1u << byte % 8;
	}
}

void
xdpvm_prove_stack_store(struct prover *prover, struct prove_state *state,
			const struct prove_value *pointer, int64_t offset, unsigned int size,
			struct prove_value value)
{
	struct prove_frame *frame = &state->frames[pointer->frame];
	struct bytes bytes = bytes_of(pointer, offset, size);

	spoil_all(frame, bytes, is_exact(pointer));
	if (!is_exact(pointer) || bytes.first % 8 != 0 || size < 4 ||
	    (size == 4 && (value.kind != PROVE_NUMBER || value.max > UINT32_MAX)))
		return;
	value.width = size;
	frame->slots[slot_of(bytes.first)] = value;
}

void
xdpvm_prove_stack_read(struct prover *prover, struct prove_state *state,
		       const struct prove_value *pointer, uint64_t size)
{
	want_written(prover, state, pointer, bytes_of(pointer, 0, size));
}

/* Not every helper writes all bytes in every case: those that it leaves count as read. */
void
xdpvm_prove_stack_write(struct prover *prover, struct prove_state *state,
			const struct prove_value *pointer, uint64_t size)
{
	struct bytes bytes = bytes_of(pointer, 0, size);

	want_written(prover, state, pointer, bytes);
	spoil_all(&state->frames[pointer->frame], bytes, is_exact(pointer));
}
