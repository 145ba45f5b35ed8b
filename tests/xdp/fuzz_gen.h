/* SPDX-License-Identifier: BSD-3-Clause */
/* Random programs that the verifier accepts: scalars, the stack, jumps forward, functions. */
#ifndef XDPVM_TEST_FUZZ_GEN_H
#define XDPVM_TEST_FUZZ_GEN_H

#include "raw.h"

#define FUZZ_PACKET 160		/* bytes: where a program leaves what it computed */
#define FUZZ_INSNS_MAX 4096

/*
 * Writes a program of about body instructions per function; returns its length. The same seed gives
 * the same program. Registers and stack end up in the packet, action is XDP_TX.
 */
uint32_t fuzz_generate(uint64_t seed, uint32_t body, struct bpf_insn *insns);

#endif /* XDPVM_TEST_FUZZ_GEN_H */
