/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Rings that programs redirect to: xdp_xsk.c, xdp_cpumap.c.
 */

#ifndef MLX4X_XDP_RING_H
#define MLX4X_XDP_RING_H

#include <stdint.h>

struct mlx4x_port;
struct mlx4x_rxq;
struct rte_mbuf;
struct rte_ring;
struct xdpvm_prog;

/* The ring behind a value of an XSKMAP, or NULL. */
struct rte_ring *mlx4x_xdp_xsk_ring(uint32_t number);

/* The ring of a software queue. */
int mlx4x_cpumap_setup(struct mlx4x_rxq *rxq);
void mlx4x_cpumap_drain(struct mlx4x_rxq *rxq);
void mlx4x_cpumap_release(struct mlx4x_rxq *rxq);
void mlx4x_cpumap_stamp(struct rte_mbuf *mbuf, struct xdpvm_prog *prog, uint16_t epoch);
uint16_t mlx4x_cpumap_burst(struct mlx4x_rxq *rxq, struct rte_mbuf **pkts, uint16_t nb_pkts);

/* The ring that a key of a CPUMAP leads to on a port, or NULL. */
struct rte_ring *mlx4x_cpumap_ring(const struct mlx4x_port *port, uint32_t cpu);

#endif /* MLX4X_XDP_RING_H */
