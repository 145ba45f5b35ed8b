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

/* True if the application wants to know of an event of a port that is there. */
static bool
wants(const struct mlx4x_port *port, bool removal)
{
	const struct rte_eth_intr_conf *conf;

	if (port == NULL)
		return false;
	conf = &port->data->dev_conf.intr_conf;
	return removal ? conf->rmv : conf->lsc;
}

/* Tells the application, which may close the port, and with it the device, right away. */
static void
tell(uint16_t port_id, enum rte_eth_event_type event)
{
	if (rte_eth_dev_is_valid_port(port_id))
		rte_eth_dev_callback_process(&rte_eth_devices[port_id], event, NULL);
}

static void
on_link_event(struct mlx4x_dev *dev, unsigned int number)
{
	uint16_t port_id = RTE_MAX_ETHPORTS;
	struct mlx4x_port *port;

	mlx4x_lock(dev);
	port = number - 1 < MLX4X_MAX_PORTS ? dev->port[number - 1] : NULL;
	if (port != NULL && mlx4x_link_update(&rte_eth_devices[port->data->port_id], 0) == 0 &&
	    wants(port, false))
		port_id = port->data->port_id;
	mlx4x_unlock(dev);
	tell(port_id, RTE_ETH_EVENT_INTR_LSC);
}

static void
on_removal(struct mlx4x_dev *dev)
{
	uint16_t port_id[MLX4X_MAX_PORTS];
	unsigned int i, nb = 0;

	mlx4x_lock(dev);
	for (i = 0; i < MLX4X_MAX_PORTS && !dev->removed; i++) {
		if (wants(dev->port[i], true))
			port_id[nb++] = dev->port[i]->data->port_id;
	}
	dev->removed = true;
	mlx4x_unlock(dev);
	for (i = 0; i < nb; i++)
		tell(port_id[i], RTE_ETH_EVENT_INTR_RMV);
}

/* One event a call: its last act may be that the application closes the device. */
static void
on_async_event(void *opaque)
{
	struct mlx4x_dev *dev = opaque;
	struct ibv_async_event event;
	unsigned int number;

	if (ibv_get_async_event(dev->ctx, &event) != 0)
		return;
	number = event.element.port_num;
	ibv_ack_async_event(&event);
	switch (event.event_type) {
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_PORT_ERR:
		on_link_event(dev, number);
		break;
	case IBV_EVENT_DEVICE_FATAL:
		on_removal(dev);
		break;
	default:
		MLX4X_INIT_LOG(DEBUG, "%s: event %s", dev->pci->name,
			ibv_event_type_str(event.event_type));
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

/*
 * Before the context is closed: its descriptor must not be watched when it goes. In a
 * callback of an event of this device there is nobody to wait for: EAL takes the
 * descriptor out of its set when the callback returns.
 */
void
mlx4x_async_stop(struct mlx4x_dev *dev)
{
	if (dev->async_intr == NULL)
		return;
	if (!rte_thread_is_intr() ||
	    rte_intr_callback_unregister_pending(dev->async_intr, on_async_event, dev, NULL) < 0)
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
