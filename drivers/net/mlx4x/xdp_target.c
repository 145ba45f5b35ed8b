/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Ports of other drivers that programs may redirect to: which ones, and by which of their
 * send queues. Devargs name ports that need not be there yet; ethdev tells when ports
 * come and when they go, and a port that goes is forgotten before its number can mean
 * another one. A port that is stopped stays a target, and redirects to it fail meanwhile.
 */

#include <errno.h>
#include <string.h>

#include "xdp.h"

static void
set_queue(struct mlx4x_port *port, uint16_t target, uint32_t queue_plus_1)
{
	mlx4x_xdp_lock();
	mlx4x_lock(port->dev);
	/* A way with the old queue must not stay. */
	port->xdp->target_queue[target] = 0;
	mlx4x_xdp_outs_update_port(port);
	if (queue_plus_1 != 0) {
		port->xdp->target_queue[target] = queue_plus_1;
		mlx4x_xdp_outs_update_port(port);
	}
	mlx4x_unlock(port->dev);
	mlx4x_xdp_unlock();
}

/* Queues of a port that is not configured yet are seen to when frames leave. */
static int
check_target(const struct mlx4x_port *port, uint16_t target, uint16_t tx_queue)
{
	const struct rte_eth_dev_data *data = rte_eth_devices[target].data;
	bool is_set_up = port->data->nb_rx_queues > port->nb_soft_queues;
	uint32_t needed = tx_queue + (is_set_up ? mlx4x_nb_device_rxqs(port) : 1);

	if (data->nb_tx_queues == 0 || needed <= data->nb_tx_queues)
		return 0;
	return mlx4x_xdp_refuse(port, EINVAL, "port %u (%s) has %u send queues: too few for redirects "
		"by queues %u to %u, one for each Rx queue", target, data->name,
		data->nb_tx_queues, tx_queue, needed - 1);
}

static int
refuse_own(const struct mlx4x_port *port, uint16_t target)
{
	return mlx4x_xdp_refuse(port, EINVAL, "port %u is one of this driver: redirects to it need no "
		"send queue of the application", target);
}

int
mlx4x_xdp_target_set(struct mlx4x_port *port, uint16_t target, uint16_t tx_queue, bool on)
{
	int ret;

	if (!rte_eth_dev_is_valid_port(target))
		return mlx4x_xdp_refuse(port, ENODEV, "there is no port %u to redirect to", target);
	if (mlx4x_own_port(target) != NULL)
		return refuse_own(port, target);
	ret = on ? check_target(port, target, tx_queue) : 0;
	if (ret == 0)
		set_queue(port, target, on ? tx_queue + 1u : 0);
	return ret;
}

/* A port that has come, if the devargs name it. */
static void
welcome(struct mlx4x_port *port, uint16_t target)
{
	const struct mlx4x_xdp_targets *wanted = &port->xdp->wanted;
	unsigned int i;

	for (i = 0; i < wanted->nb; i++) {
		if (strcmp(wanted->target[i].name, rte_eth_devices[target].data->name) != 0)
			continue;
		if (mlx4x_own_port(target) != NULL)
			refuse_own(port, target);
		else
			set_queue(port, target, wanted->target[i].tx_queue + 1u);
	}
}

static int
on_event(uint16_t target, enum rte_eth_event_type event, void *arg, void *unused)
{
	uint16_t port_id;

	RTE_ETH_FOREACH_DEV(port_id) {
		struct mlx4x_port *port = mlx4x_own_port(port_id);

		if (port == NULL || port_id == target)
			continue;
		if (event == RTE_ETH_EVENT_NEW)
			welcome(port, target);
		else if (port->xdp != NULL && port->xdp->target_queue[target] != 0)
			set_queue(port, target, 0);
	}
	return 0;
}

static unsigned int nb_listeners;

int
mlx4x_xdp_targets_init(struct mlx4x_port *port, const struct mlx4x_xdp_targets *wanted)
{
	uint16_t target;
	int ret = 0;

	if (nb_listeners == 0)
		ret = rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_NEW, on_event, NULL);
	if (nb_listeners == 0 && ret == 0)
		ret = rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_DESTROY, on_event,
			NULL);
	if (ret != 0)
		return mlx4x_xdp_refuse(port, -ret, "cannot watch ports of other drivers: %s",
			strerror(-ret));
	nb_listeners++;
	port->xdp->listens = true;
	port->xdp->wanted = *wanted;
	RTE_ETH_FOREACH_DEV(target)
		welcome(port, target);
	return 0;
}

void
mlx4x_xdp_targets_fini(struct mlx4x_port *port)
{
	if (!port->xdp->listens || --nb_listeners != 0)
		return;
	rte_eth_dev_callback_unregister(RTE_ETH_ALL, RTE_ETH_EVENT_NEW, on_event, NULL);
	rte_eth_dev_callback_unregister(RTE_ETH_ALL, RTE_ETH_EVENT_DESTROY, on_event, NULL);
}
