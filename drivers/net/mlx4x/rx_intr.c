/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Receive interrupts. Each queue has a completion channel, whose descriptor EAL adds
 * to the application's epoll set. Arming a completion queue asks for one event, which
 * comes at once if completions are waiting that the driver has not consumed: nothing
 * is lost between the last poll and the sleep.
 */

#include <errno.h>
#include <fcntl.h>

#include <rte_errno.h>
#include <rte_interrupts.h>
#include <rte_io.h>

#include "barrier.h"
#include "mlx4x.h"

static int
watch_queue(struct rte_intr_handle *handle, const struct mlx4x_rxq *rxq)
{
	int fd = rxq->channel->fd;
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	if (rte_intr_vec_list_index_set(handle, rxq->idx, RTE_INTR_VEC_RXTX_OFFSET + rxq->idx) != 0 ||
	    rte_intr_efds_index_set(handle, rxq->idx, fd) != 0)
		return -rte_errno;
	return 0;
}

static int
watch_queues(struct mlx4x_port *port)
{
	uint16_t nb = port->data->nb_rx_queues, i;
	int ret;

	if (rte_intr_vec_list_alloc(port->rx_intr, "mlx4x Rx interrupts", nb) != 0)
		return -ENOMEM;
	for (i = 0; i < nb; i++) {
		ret = watch_queue(port->rx_intr, port->data->rx_queues[i]);
		if (ret != 0)
			return ret;
	}
	if (rte_intr_nb_efd_set(port->rx_intr, nb) != 0)
		return -rte_errno;
	return 0;
}

/* The queues have been created, with channels if the configuration wants interrupts. */
int
mlx4x_rx_intr_start(struct rte_eth_dev *eth_dev)
{
	struct mlx4x_port *port = mlx4x_port_of(eth_dev);
	int ret;

	if (!port->data->dev_conf.intr_conf.rxq || port->data->nb_rx_queues == 0)
		return 0;
	port->rx_intr = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
	if (port->rx_intr == NULL)
		return -ENOMEM;
	rte_intr_type_set(port->rx_intr, RTE_INTR_HANDLE_EXT);
	ret = watch_queues(port);
	if (ret != 0) {
		MLX4X_LOG(port, ERR, "no receive interrupts for %u queues: %s",
			port->data->nb_rx_queues, rte_strerror(-ret));
		mlx4x_rx_intr_stop(eth_dev);
		return ret;
	}
	eth_dev->intr_handle = port->rx_intr;
	return 0;
}

void
mlx4x_rx_intr_stop(struct rte_eth_dev *eth_dev)
{
	struct mlx4x_port *port = mlx4x_port_of(eth_dev);

	if (port->rx_intr == NULL)
		return;
	rte_intr_free_epoll_fd(port->rx_intr);
	rte_intr_vec_list_free(port->rx_intr);
	rte_intr_instance_free(port->rx_intr);
	port->rx_intr = NULL;
	eth_dev->intr_handle = NULL;
}

/* Asks for an event at the next completion. Asking twice is the same as once. */
int
mlx4x_rx_intr_enable(struct rte_eth_dev *eth_dev, uint16_t idx)
{
	struct mlx4x_rxq *rxq = eth_dev->data->rx_queues[idx];
	uint32_t ci = (rxq->ci + rxq->cq_offset) & MLX4X_CQ_CI_MASK;
	uint32_t command = (rxq->dv_cq.arm_sn & 3u) << MLX4X_CQ_ARM_SN_SHIFT | MLX4X_CQ_ARM_NEXT;
	uint64_t doorbell = (uint64_t)(command | rxq->dv_cq.cqn) << 32 | ci;

	if (rxq->channel == NULL)
		return -ENOTSUP;
	*rxq->dv_cq.arm_db = rte_cpu_to_be_32(command | ci);
	mlx4x_before_arm();
	rte_write64(rte_cpu_to_be_64(doorbell), mlx4x_uar[rxq->port->dev->id] + MLX4X_CQ_DOORBELL);
	return 0;
}

/* Takes the events that have come. That there is none is the usual case. */
int
mlx4x_rx_intr_disable(struct rte_eth_dev *eth_dev, uint16_t idx)
{
	struct mlx4x_rxq *rxq = eth_dev->data->rx_queues[idx];
	struct ibv_cq *cq;
	void *context;

	if (rxq->channel == NULL)
		return -ENOTSUP;
	while (ibv_get_cq_event(rxq->channel, &cq, &context) == 0) {
		rxq->dv_cq.arm_sn++;
		ibv_ack_cq_events(cq, 1);
	}
	return errno == EAGAIN ? 0 : -errno;
}
