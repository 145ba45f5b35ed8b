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

static struct mlx4x_port *
own_port(uint16_t port_id)
{
	struct rte_eth_dev *eth_dev = &rte_eth_devices[port_id];

	return eth_dev->dev_ops == &mlx4x_ops ? mlx4x_port_of(eth_dev) : NULL;
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
	out->ifindex = RTE_PMD_MLX4X_XDP_IFINDEX(port_id);
	out->tx_queue = queue + xdp->rxq->idx;
	return out;
}

static bool
is_wanted(const struct mlx4x_xdp *xdp, uint16_t port_id, const struct mlx4x_port *leaving)
{
	const struct mlx4x_port *own = own_port(port_id);

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
	RTE_ETH_FOREACH_DEV(port_id) {
		struct mlx4x_xdp_out *out = find(xdp->outs, port_id);
		struct mlx4x_port *own = own_port(port_id);

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
update_port(struct mlx4x_port *port, const struct mlx4x_port *leaving)
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
		struct mlx4x_port *port = own_port(port_id);

		if (port != NULL && port != leaving && port->xdp != NULL)
			update_port(port, leaving);
	}
}

int
mlx4x_xdp_target_set(struct mlx4x_port *port, uint16_t target, uint16_t tx_queue, bool on)
{
	if (!rte_eth_dev_is_valid_port(target))
		return mlx4x_xdp_refuse(port, ENODEV, "there is no port %u to redirect to", target);
	if (own_port(target) != NULL)
		return mlx4x_xdp_refuse(port, EINVAL, "port %u is one of this driver: redirects to it "
			"need no send queue of the application", target);
	mlx4x_xdp_lock();
	mlx4x_lock(port->dev);
	/* A way with the old queue must not stay. */
	port->xdp->target_queue[target] = 0;
	update_port(port, NULL);
	if (on) {
		port->xdp->target_queue[target] = tx_queue + 1;
		update_port(port, NULL);
	}
	mlx4x_unlock(port->dev);
	mlx4x_xdp_unlock();
	return 0;
}
