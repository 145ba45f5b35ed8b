/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Rings that programs redirect to: xdp_xsk.c.
 */

#ifndef MLX4X_XDP_RING_H
#define MLX4X_XDP_RING_H

#include <stdint.h>

struct rte_ring;

/* The ring behind a value of an XSKMAP, or NULL. */
struct rte_ring *mlx4x_xdp_xsk_ring(uint32_t number);

#endif /* MLX4X_XDP_RING_H */
