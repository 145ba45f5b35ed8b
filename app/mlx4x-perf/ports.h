/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * EAL, buffers and ports of one driver, set up as testpmd does: promiscuous, no receive
 * offload, MBUF_FAST_FREE where the driver offers it.
 */

#ifndef MLX4X_PERF_PORTS_H
#define MLX4X_PERF_PORTS_H

#include <stddef.h>
#include <stdint.h>

#include <rte_mempool.h>

#include "options.h"

struct perf_ports {
	uint16_t rx;		/* the port that receives */
	uint16_t tx;		/* the port that sends: the next one, or the same */
	uint16_t nb_queues;
	uint16_t nb_soft_queues;	/* receive queues of software behind them: 0 or 1 */
	struct rte_mempool *mp;
	const char *driver;	/* as ethdev names it */
};

/* 0, or a negative errno with a sentence in reason. */
int perf_ports_start(struct perf_ports *ports, const struct perf_options *options,
	const struct perf_point *point, char *reason, size_t size);
void perf_ports_stop(struct perf_ports *ports);

#endif /* MLX4X_PERF_PORTS_H */
