/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Looking at queues: queue_status.c.
 */

#ifndef MLX4X_QUEUE_STATUS_H
#define MLX4X_QUEUE_STATUS_H

#include <stdint.h>

#include <rte_power_intrinsics.h>

uint32_t mlx4x_rx_queue_count(void *queue);
int mlx4x_rx_descriptor_status(void *queue, uint16_t offset);
int mlx4x_tx_descriptor_status(void *queue, uint16_t offset);
int mlx4x_get_monitor_addr(void *queue, struct rte_power_monitor_cond *condition);

#endif /* MLX4X_QUEUE_STATUS_H */
