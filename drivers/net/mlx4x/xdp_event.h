/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Frames that a program ended in an exception, as the tracepoint xdp:xdp_exception of
 * Linux tells them: a ring of the last ones for each port, written by bursts without a
 * lock and read by mlx4x-ctl trace. What is not read in time is overwritten and
 * counted as lost.
 */

#ifndef MLX4X_XDP_EVENT_H
#define MLX4X_XDP_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#define MLX4X_XDP_EVENTS 256u		/* kept, a power of two */
#define MLX4X_XDP_EVENT_BYTES 32u	/* of the frame */

struct mlx4x_xdp_event {
	uint64_t number;	/* from 1; 0 while it is written */
	uint64_t tsc;
	uint32_t prog_id;
	uint32_t action;	/* as the program returned it */
	uint32_t len;		/* of the frame */
	uint16_t queue;
	uint8_t bytes[MLX4X_XDP_EVENT_BYTES];	/* the first ones; zeros behind the end */
};

struct mlx4x_xdp_events {
	uint64_t nb;		/* ever written */
	struct mlx4x_xdp_event ring[MLX4X_XDP_EVENTS];
};

void mlx4x_xdp_event_add(struct mlx4x_xdp_events *events, uint16_t queue, uint32_t prog_id,
	uint32_t action, const uint8_t *data, uint32_t len);

/* Copies event number out. False if it is not there (any more). */
bool mlx4x_xdp_event_get(const struct mlx4x_xdp_events *events, uint64_t number,
	struct mlx4x_xdp_event *event);

#endif /* MLX4X_XDP_EVENT_H */
