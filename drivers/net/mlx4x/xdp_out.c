/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Which ports a receive queue can redirect to: all started ports of this driver, each
 * by a send queue that the receive queue has there for itself, and the ports of other
 * drivers for which the application has named a send queue. The list of a queue is
 * replaced as a whole, and the old one freed when no burst can hold it.
 */

#include <errno.h>
#include <string.h>

#include <rte_malloc.h>

#include "xdp.h"

struct mlx4x_port *
mlx4x_own_port(uint16_t port_id)
{
	struct rte_eth_dev *eth_dev = &rte_eth_devices[port_id];

	return eth_dev->dev_ops == &mlx4x_ops ? mlx4x_port_of(eth_dev) : NULL;
}

/*
 * A port that has no interface of the kernel has the number that every port has. Not by
 * rte_eth_dev_info_get(), to which a port that is just being told of is not there yet.
 */
uint32_t
mlx4x_xdp_ifindex_of(uint16_t port_id)
{
	struct rte_eth_dev *eth_dev = &rte_eth_devices[port_id];
	struct rte_eth_dev_info info = { 0 };

	if (eth_dev->dev_ops->dev_infos_get == NULL ||
	    eth_dev->dev_ops->dev_infos_get(eth_dev, &info) != 0 || info.if_index == 0)
		return RTE_PMD_MLX4X_XDP_IFINDEX(port_id);
	return info.if_index;
}

static struct mlx4x_xdp_out *
find(const struct mlx4x_xdp_outs *outs, uint16_t port_id)
{
	uint32_t i;

	for (i = 0; outs != NULL && i < outs->nb; i++) {
		if (outs->out[i]->port_id == port_id)
			return outs->out[i];
	}
	return NULL;
}

static struct mlx4x_xdp_out *
new_out(const struct mlx4x_xdp *xdp, uint16_t port_id)
{
	struct mlx4x_xdp_out *out = rte_zmalloc_socket("mlx4x XDP out", sizeof(*out),
		RTE_CACHE_LINE_SIZE, xdp->rxq->socket);

	if (out == NULL) {
		mlx4x_xdp_refuse(xdp->rxq->port, ENOMEM, "Rx queue %u: no memory to redirect to port "
			"%u", xdp->rxq->idx, port_id);
		return NULL;
	}
	out->port_id = port_id;
	out->data = rte_eth_devices[port_id].data;
	return out;
}

static void
free_out(struct mlx4x_xdp_out *out)
{
	if (out->txq != NULL)
		mlx4x_xdp_tx_destroy(out->txq);
	rte_free(out);
}

/* To a port of this driver. */
static struct mlx4x_xdp_out *
connect_own(const struct mlx4x_xdp *xdp, struct mlx4x_port *port)
{
	struct mlx4x_xdp_out *out = new_out(xdp, port->data->port_id);

	if (out == NULL)
		return NULL;
	out->ifindex = port->if_index;
	mlx4x_lock(port->dev);
	out->txq = mlx4x_xdp_tx_create(xdp, port);
	mlx4x_unlock(port->dev);
	if (out->txq != NULL)
		return out;
	rte_free(out);
	return NULL;
}

/* To a port of another driver, if the application has given it a send queue. */
static struct mlx4x_xdp_out *
connect_ethdev(const struct mlx4x_xdp *xdp, uint16_t port_id)
{
	uint32_t queue = xdp->rxq->port->xdp->target_queue[port_id] - 1;
	struct mlx4x_xdp_out *out = new_out(xdp, port_id);

	if (out == NULL)
		return NULL;
	out->ifindex = mlx4x_xdp_ifindex_of(port_id);
	out->tx_queue = queue + xdp->rxq->idx;
	return out;
}

static bool
is_wanted(const struct mlx4x_xdp *xdp, uint16_t port_id, const struct mlx4x_port *leaving)
{
	const struct mlx4x_port *own = mlx4x_own_port(port_id);

	if (port_id == xdp->rxq->port->data->port_id)
		return false;
	return own != NULL ? own->started && own != leaving && !own->dev->removed :
		xdp->rxq->port->xdp->target_queue[port_id] != 0;
}

/* The list as it should be. Ways that stay are those of the old list. */
static struct mlx4x_xdp_outs *
new_list(const struct mlx4x_xdp *xdp, const struct mlx4x_port *leaving)
{
	struct mlx4x_xdp_outs *outs = rte_zmalloc("mlx4x XDP outs", sizeof(*outs), 0);
	uint16_t port_id;

	if (outs == NULL)
		return NULL;
	/* Targets may be named before ethdev has them in its list. */
	for (port_id = 0; port_id < RTE_MAX_ETHPORTS; port_id++) {
		struct mlx4x_xdp_out *out = find(xdp->outs, port_id);
		struct mlx4x_port *own = mlx4x_own_port(port_id);

		if (!is_wanted(xdp, port_id, leaving))
			continue;
		if (out == NULL)
			out = own != NULL ? connect_own(xdp, own) : connect_ethdev(xdp, port_id);
		if (out != NULL)	/* else said, and redirects to it fail */
			outs->out[outs->nb++] = out;
	}
	return outs;
}

static void
update(struct mlx4x_xdp *xdp, const struct mlx4x_port *leaving)
{
	struct mlx4x_xdp_outs *old = xdp->outs, *outs = new_list(xdp, leaving);
	uint32_t i;

	if (outs == NULL) {
		mlx4x_xdp_refuse(xdp->rxq->port, ENOMEM, "Rx queue %u: no memory for the ports that "
			"it redirects to", xdp->rxq->idx);
		return;
	}
	mlx4x_store_release(&xdp->outs, outs);
	xdpvm_synchronize();
	for (i = 0; i < old->nb; i++) {
		if (find(outs, old->out[i]->port_id) == NULL)
			free_out(old->out[i]);
	}
	rte_free(old);
}

/* A queue that no burst sees yet. */
int
mlx4x_xdp_outs_init(struct mlx4x_xdp *xdp)
{
	xdp->own.ifindex = xdp->rxq->port->if_index;
	xdp->own.port_id = xdp->rxq->port->data->port_id;
	xdp->own.data = xdp->rxq->port->data;
	xdp->outs = new_list(xdp, NULL);
	return xdp->outs == NULL ? -ENOMEM : 0;
}

/* No burst sees the queue any more. */
void
mlx4x_xdp_outs_fini(struct mlx4x_xdp *xdp)
{
	uint32_t i;

	for (i = 0; i < xdp->outs->nb; i++)
		free_out(xdp->outs->out[i]);
	rte_free(xdp->outs);
	xdp->outs = NULL;
}

static void
update_all(struct mlx4x_port *port, const struct mlx4x_port *leaving)
{
	uint16_t i;

	mlx4x_lock(port->dev);
	for (i = 0; port->started && i < port->data->nb_rx_queues; i++) {
		struct mlx4x_rxq *rxq = port->data->rx_queues[i];

		if (rxq != NULL && rxq->xdp != NULL)
			update(rxq->xdp, leaving);
	}
	mlx4x_unlock(port->dev);
}

void
mlx4x_xdp_outs_update(const struct mlx4x_port *leaving)
{
	uint16_t port_id;

	RTE_ETH_FOREACH_DEV(port_id) {
		struct mlx4x_port *port = mlx4x_own_port(port_id);

		if (port != NULL && port != leaving && port->xdp != NULL)
			update_all(port, leaving);
	}
}

void
mlx4x_xdp_outs_update_port(struct mlx4x_port *port)
{
	update_all(port, NULL);
}
