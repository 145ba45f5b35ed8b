/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Does with an object in memory all that somebody could who got it from a stranger: opens it, loads
 * it, runs its programs on packets that lie between pages that nobody may touch.
 */
#ifndef EXERCISE_H
#define EXERCISE_H

#include "xdpvm.h"

struct exercise {
	char sentence[1024];	/* the last error */
	unsigned int runs;	/* of programs, when it was loaded */
};

/* 0 when it was loaded and ran, else what opening or loading said. The thread is registered. */
int exercise_object(const void *image, size_t size, enum xdpvm_verify verify,
		    enum xdpvm_engine engine, struct exercise *exercise);

/* Runs a loaded program: short and long packets, at the beginning and at the end of a page. */
unsigned int exercise_prog(struct xdpvm_prog *prog);

#endif /* EXERCISE_H */
