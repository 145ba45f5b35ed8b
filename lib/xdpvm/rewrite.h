/* SPDX-License-Identifier: BSD-3-Clause */
/* What the flow analysis hands over, and the rewrites that rest on it. */
#ifndef XDPVM_REWRITE_H
#define XDPVM_REWRITE_H

#include "program.h"

#define XDPVM_SEEN_CTX 1u
#define XDPVM_SEEN_OTHER 2u
#define XDPVM_SEEN_UNCLEAR 4u

/* Per instruction, joined over all ways to reach it. */
struct xdpvm_access {
	uint8_t seen;		/* what the base register of a load or store was */
	bool seen_stack;
	bool seen_map;
	int16_t ctx_offset;	/* of the base register from the start of the context */
};

/* Loads of struct xdp_md become loads of struct xdpvm_buff. */
int xdpvm_rewrite_ctx(struct xdpvm_prog *prog, const struct xdpvm_access *access);

/* Finds out how the keys of map calls were stored: prog->keys. */
int xdpvm_find_keys(struct xdpvm_prog *prog);

#endif /* XDPVM_REWRITE_H */
