/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Events of the device that come without being asked for: link changes, removal, and
 * queues that fail. They arrive on the descriptor of the verbs context and are
 * handled in EAL's interrupt thread.
 */

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include <rte_interrupts.h>

#include "mlx4x.h"

static struct rte_eth_dev *
eth_dev_of(const struct mlx4x_port *port)
{
	return &rte_eth_devices[port->data->port_id];
}

static void
on_link_event(struct mlx4x_dev *dev, unsigned int number)
{
	struct mlx4x_port *port = number - 1 < MLX4X_MAX_PORTS ? dev->port[number - 1] : NULL;

	if (port == NULL)
		return;
	if (mlx4x_link_update(eth_dev_of(port), 0) == 0 && port->data->dev_conf.intr_conf.lsc)
		rte_eth_dev_callback_process(eth_dev_of(port), RTE_ETH_EVENT_INTR_LSC, NULL);
}

static void
on_removal(struct mlx4x_dev *dev)
{
	unsigned int i;

	if (dev->removed)
		return;
	dev->removed = true;
	for (i = 0; i < MLX4X_MAX_PORTS; i++) {
		if (dev->port[i] != NULL && dev->port[i]->data->dev_conf.intr_conf.rmv)
			rte_eth_dev_callback_process(eth_dev_of(dev->port[i]),
				RTE_ETH_EVENT_INTR_RMV, NULL);
	}
}

static void
on_async_event(void *opaque)
{
	struct mlx4x_dev *dev = opaque;
	struct ibv_async_event event;

	while (ibv_get_async_event(dev->ctx, &event) == 0) {
		enum ibv_event_type type = event.event_type;
		unsigned int number = event.element.port_num;

		ibv_ack_async_event(&event);
		if (type == IBV_EVENT_PORT_ACTIVE || type == IBV_EVENT_PORT_ERR)
			on_link_event(dev, number);
		else if (type == IBV_EVENT_DEVICE_FATAL)
			on_removal(dev);
		else
			MLX4X_INIT_LOG(DEBUG, "%s: event %s", dev->pci->name,
				ibv_event_type_str(type));
	}
}

static int
make_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ? -errno : 0;
}

int
mlx4x_async_start(struct mlx4x_dev *dev)
{
	int ret = make_nonblocking(dev->ctx->async_fd);

	dev->async_intr = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
	if (dev->async_intr == NULL)
		return -ENOMEM;
	if (ret == 0 && (rte_intr_fd_set(dev->async_intr, dev->ctx->async_fd) != 0 ||
			rte_intr_type_set(dev->async_intr, RTE_INTR_HANDLE_EXT) != 0))
		ret = -EINVAL;
	if (ret == 0)
		ret = rte_intr_callback_register(dev->async_intr, on_async_event, dev);
	if (ret == 0)
		return 0;
	MLX4X_INIT_LOG(ERR, "%s: cannot watch the events of the device: %s", dev->pci->name,
		strerror(-ret));
	rte_intr_instance_free(dev->async_intr);
	dev->async_intr = NULL;
	return ret;
}

/* Before the context is closed: its descriptor must not be watched when it goes. */
void
mlx4x_async_stop(struct mlx4x_dev *dev)
{
	if (dev->async_intr == NULL)
		return;
	rte_intr_callback_unregister_sync(dev->async_intr, on_async_event, dev);
	rte_intr_instance_free(dev->async_intr);
	dev->async_intr = NULL;
}

int
mlx4x_is_removed(struct rte_eth_dev *eth_dev)
{
	struct mlx4x_dev *dev = mlx4x_port_of(eth_dev)->dev;
	struct ibv_device_attr attr;

	return dev->removed || ibv_query_device(dev->ctx, &attr) == EIO;
}
