/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Abstract values and states of the flow analysis: just enough to tell context pointers, maps and
 * places on the stack apart. Everything else is OTHER.
 */
#ifndef XDPVM_FLOW_H
#define XDPVM_FLOW_H

#include "program.h"

enum xdpvm_kind {
	XDPVM_OTHER,	/* anything that is neither the context nor a place on the stack */
	XDPVM_CTX,	/* the context plus offset bytes */
	XDPVM_STACK,	/* frame pointer of frame number frame plus offset bytes */
	XDPVM_MAP,	/* map number index of the object */
	XDPVM_FUNC,	/* address of subprogram number index */
	XDPVM_POINTER,	/* not the context, perhaps a place on the stack */
	XDPVM_UNCLEAR,	/* perhaps the context */
};

#define XDPVM_ANYWHERE INT16_MIN	/* offset: some place in this frame */

struct xdpvm_value {
	uint8_t kind;
	uint8_t frame;
	union {
		int16_t offset;
		uint16_t index;
	};
};

#define XDPVM_SLOTS (XDPVM_FRAME_STACK / 8)

/* Slot i of a frame is its eight bytes at frame pointer - 8 * (i + 1). */
struct xdpvm_state {
	uint8_t depth;		/* frames below this one; slots[0..depth] are valid */
	struct xdpvm_value regs[11];
	struct xdpvm_value slots[XDPVM_MAX_FRAMES][XDPVM_SLOTS];
};

void xdpvm_state_copy(struct xdpvm_state *to, const struct xdpvm_state *from);

/* to becomes what holds for both; true when it changed. */
bool xdpvm_state_join(struct xdpvm_state *to, const struct xdpvm_state *from);

/* The same for the frames up to depth alone. */
bool xdpvm_state_join_frames(struct xdpvm_state *to, const struct xdpvm_state *from, uint8_t depth);

/* Effects of memory accesses through base on the stack. */
struct xdpvm_value xdpvm_state_load(const struct xdpvm_state *state, struct xdpvm_value base,
				    int16_t offset, unsigned int size);
void xdpvm_state_store(struct xdpvm_state *state, struct xdpvm_value base, int16_t offset,
		       unsigned int size, struct xdpvm_value value);

/* base plus a constant. */
struct xdpvm_value xdpvm_value_add(struct xdpvm_value base, int64_t constant);

#endif /* XDPVM_FLOW_H */
