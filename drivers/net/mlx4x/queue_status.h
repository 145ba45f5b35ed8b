/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Looking at queues: queue_status.c, queue_info.c.
 */

#ifndef MLX4X_QUEUE_STATUS_H
#define MLX4X_QUEUE_STATUS_H

#include <stdint.h>

#include <ethdev_driver.h>
#include <rte_power_intrinsics.h>

uint32_t mlx4x_rx_queue_count(void *queue);
int mlx4x_rx_descriptor_status(void *queue, uint16_t offset);
int mlx4x_tx_descriptor_status(void *queue, uint16_t offset);
int mlx4x_get_monitor_addr(void *queue, struct rte_power_monitor_cond *condition);

/* queue_info.c */
const char *mlx4x_queue_state_name(uint8_t state);
void mlx4x_rxq_info_get(struct rte_eth_dev *eth_dev, uint16_t idx, struct rte_eth_rxq_info *info);
void mlx4x_txq_info_get(struct rte_eth_dev *eth_dev, uint16_t idx, struct rte_eth_txq_info *info);
int mlx4x_rx_burst_mode_get(struct rte_eth_dev *eth_dev, uint16_t idx,
	struct rte_eth_burst_mode *mode);
int mlx4x_tx_burst_mode_get(struct rte_eth_dev *eth_dev, uint16_t idx,
	struct rte_eth_burst_mode *mode);

#endif /* MLX4X_QUEUE_STATUS_H */
