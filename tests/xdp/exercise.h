/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Does with an object in memory all that somebody could who got it from a stranger: opens it, loads
 * it, runs its programs on packets that lie between pages that nobody may touch.
 */
#ifndef EXERCISE_H
#define EXERCISE_H

#include "xdpvm.h"

struct exercise_runs {
	unsigned int all;
	unsigned int aborts;	/* of them, by a check at run time or for want of fuel */
};

struct exercise {
	char sentence[1024];	/* the last error */
	struct exercise_runs runs;
};

/* 0 when it was loaded and ran, else what opening or loading said. The thread is registered. */
int exercise_object(const void *image, size_t size, enum xdpvm_verify verify,
		    enum xdpvm_engine engine, struct exercise *exercise);

/* Runs a loaded program: short and long packets, at the beginning and at the end of a page. */
void exercise_prog(struct xdpvm_prog *prog, struct exercise_runs *runs);

#endif /* EXERCISE_H */
