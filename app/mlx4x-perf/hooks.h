/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Native hooks, each the twin of an example program; and what an application does with
 * received packets instead, for a driver that runs no programs.
 */

#ifndef MLX4X_PERF_HOOKS_H
#define MLX4X_PERF_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

#include <xdpvm.h>

#include "work.h"

uint64_t perf_hook_drop(struct xdpvm_buff *buff);
uint64_t perf_hook_pass(struct xdpvm_buff *buff);
uint64_t perf_hook_swap_tx(struct xdpvm_buff *buff);
uint64_t perf_hook_encap_tx(struct xdpvm_buff *buff);
uint64_t perf_hook_redirect(struct xdpvm_buff *buff);	/* to the sending port */
uint64_t perf_hook_count_drop(struct xdpvm_buff *buff);

uint64_t perf_hook_swap_drop(struct xdpvm_buff *buff);

/* Reads the EtherType and drops. */
uint64_t perf_hook_touch_drop(struct xdpvm_buff *buff);

/* Counts a frame by its IP protocol, as count_drop.bpf.c does. */
void perf_count_protocol(const uint8_t *data, const uint8_t *end);

/* The CPU of a frame's flow, one of nb, as cpumap_spread.bpf.c has it; nb for other frames. */
uint32_t perf_flow_cpu(const uint8_t *data, const uint8_t *end, uint32_t nb);

#define PERF_ENCAP_BYTES 20u	/* that perf_encapsulate() puts in front */

/*
 * Puts an IPv4 header between Ethernet and IPv4 of a frame that begins at old and shall
 * begin PERF_ENCAP_BYTES earlier, as encap_tx.bpf.c does. False for other frames.
 */
bool perf_encapsulate(uint8_t *old, const uint8_t *end);

#endif /* MLX4X_PERF_HOOKS_H */
