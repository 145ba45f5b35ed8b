/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several programs on one hook, in the order and by the rules of libxdp's dispatcher.
 *
 * Programs run by ascending priority; equal ones by name, then size, then tag, then as given. After
 * a program whose action is among its chain-call actions the next one runs, on the packet as it was
 * left; with any other action the chain ends with it. Behind the last program the action is
 * XDP_PASS. Priority and chain-call actions come from the object's section ".xdp_run_config"
 * (XDP_RUN_CONFIG in xdp/xdp_helpers.h), else they are 50 and XDP_PASS.
 */
#ifndef XDPVM_CHAIN_H
#define XDPVM_CHAIN_H

#include "xdpvm.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Most programs in a chain: libxdp's MAX_DISPATCHER_ACTIONS. */
#define XDPVM_CHAIN_MAX 10

struct xdpvm_chain;

struct xdpvm_run_config {
	uint32_t priority;		/**< lower ones run earlier */
	uint32_t chain_call_actions;	/**< bit 1 << XDP_*: the next program runs after it */
};

/**
 * What the program's object says.
 *
 * @return 0, or -EINVAL when the section is there but not understood, after a sentence to the log.
 */
int xdpvm_prog_run_config(const struct xdpvm_prog *prog, struct xdpvm_run_config *config);

/** One program to be chained; config NULL: what its object says. */
struct xdpvm_chain_link {
	struct xdpvm_prog *prog;
	const struct xdpvm_run_config *config;
};

/**
 * Sorts loaded programs, which may be of different objects, into a chain. A chain never changes;
 * to change one, create another, publish it, and free this one after xdpvm_synchronize(). The
 * objects must outlive it.
 *
 * @return 0, -E2BIG when n > XDPVM_CHAIN_MAX, -EINVAL when n is 0 or a configuration is not
 *         understood, -ENOMEM.
 */
int xdpvm_chain_create(const struct xdpvm_chain_link *links, unsigned int n,
		       struct xdpvm_chain **chain);

/** NULL is allowed. */
void xdpvm_chain_free(struct xdpvm_chain *chain);

/** Program number i in the order in which they run, or NULL behind the last one. */
struct xdpvm_prog *xdpvm_chain_prog(const struct xdpvm_chain *chain, unsigned int i);

/** As xdpvm_run(). Each program counts its own runs and actions. */
uint32_t xdpvm_chain_run(const struct xdpvm_chain *chain, struct xdpvm_buff *buff);

/** As xdpvm_run_burst(). */
void xdpvm_chain_run_burst(const struct xdpvm_chain *chain, struct xdpvm_buff *buff,
			   struct xdpvm_packet *packets, unsigned int n);

#ifdef __cplusplus
}
#endif

#endif /* XDPVM_CHAIN_H */
