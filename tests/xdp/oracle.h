/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An interpreter that knows what a program owns. The test is linked with --wrap for what interp.c
 * calls to touch memory and for helpers; while the oracle is on, each load, store, atomic operation
 * and helper argument must be within
 * - metadata and packet, and the fields of the context,
 * - a stack frame of the run,
 * - a value that a lookup or a callback gave in this run, or globals; read-only ones for reading,
 * - a record that is reserved.
 * What is not is not done, and told. It knows nothing of the prover, only helper contracts.
 */
#ifndef XDPVM_TEST_ORACLE_H
#define XDPVM_TEST_ORACLE_H

#include "raw_maps.h"

/*
 * Runs a program of the interpreter on the buffer. NULL, or a sentence about the first thing that
 * is not its own, or about a record that it kept.
 */
const char *oracle_run(struct xdpvm_prog *prog, struct xdpvm_buff *buff,
		       const struct raw_maps *maps, uint32_t *action);

/* Accesses and arguments looked at since the start. */
uint64_t oracle_looked_at(void);

#endif /* XDPVM_TEST_ORACLE_H */
