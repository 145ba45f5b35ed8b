/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the application says about the frames that a port takes: modes, MAC addresses,
 * multicast groups, VLANs. Each operation changes the state of the port, lets steer.c
 * make the rules of the device follow, and puts the state back if that fails. While the
 * port is stopped or isolated, the state is kept for later.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mlx4x.h"
#include "mp.h"

/* ethdev sets the mode that it is asked for after the call: set it here before. */
static int
set_mode(struct rte_eth_dev *eth_dev, bool promiscuous, bool all_multicast)
{
	struct mlx4x_port *port = mlx4x_port_of(eth_dev);
	bool old_promiscuous = port->data->promiscuous;
	bool old_all_multicast = port->data->all_multicast;
	int ret;

	mlx4x_lock(port->dev);
	port->data->promiscuous = promiscuous;
	port->data->all_multicast = all_multicast;
	ret = mlx4x_steer_update(port);
	if (ret != 0) {
		port->data->promiscuous = old_promiscuous;
		port->data->all_multicast = old_all_multicast;
	}
	mlx4x_unlock(port->dev);
	return ret;
}

int
mlx4x_promiscuous_enable(struct rte_eth_dev *eth_dev)
{
	return set_mode(eth_dev, true, eth_dev->data->all_multicast);
}

int
mlx4x_promiscuous_disable(struct rte_eth_dev *eth_dev)
{
	return set_mode(eth_dev, false, eth_dev->data->all_multicast);
}

int
mlx4x_allmulticast_enable(struct rte_eth_dev *eth_dev)
{
	return set_mode(eth_dev, eth_dev->data->promiscuous, true);
}

int
mlx4x_allmulticast_disable(struct rte_eth_dev *eth_dev)
{
	return set_mode(eth_dev, eth_dev->data->promiscuous, false);
}

/* Entry of the MAC table, which ethdev reads as data->mac_addrs. */
static int
set_mac(struct mlx4x_port *port, uint32_t index, const struct rte_ether_addr *addr)
{
	struct rte_ether_addr old = port->mac[index];
	int ret;

	/* ethdev repeats the whole table after each start. */
	if (rte_is_same_ether_addr(&old, addr))
		return 0;
	mlx4x_lock(port->dev);
	port->mac[index] = *addr;
	ret = mlx4x_steer_update(port);
	if (ret != 0)
		port->mac[index] = old;
	mlx4x_unlock(port->dev);
	return ret;
}

int
mlx4x_mac_addr_add(struct rte_eth_dev *eth_dev, struct rte_ether_addr *addr, uint32_t index,
	uint32_t pool)
{
	return set_mac(mlx4x_port_of(eth_dev), index, addr);
}

void
mlx4x_mac_addr_remove(struct rte_eth_dev *eth_dev, uint32_t index)
{
	static const struct rte_ether_addr none;

	set_mac(mlx4x_port_of(eth_dev), index, &none);
}

int
mlx4x_mac_addr_set(struct rte_eth_dev *eth_dev, struct rte_ether_addr *addr)
{
	return set_mac(mlx4x_port_of(eth_dev), 0, addr);
}

/* A copy of the list; NULL is also that of an empty one. */
static int
copy_list(const struct mlx4x_port *port, const struct rte_ether_addr *addrs, uint32_t nb_addrs,
	struct rte_ether_addr **copy)
{
	uint32_t i;

	*copy = NULL;
	for (i = 0; i < nb_addrs; i++) {
		if (!rte_is_multicast_ether_addr(&addrs[i])) {
			MLX4X_LOG(port, ERR, RTE_ETHER_ADDR_PRT_FMT " is not a multicast address",
				RTE_ETHER_ADDR_BYTES(&addrs[i]));
			return -EINVAL;
		}
	}
	if (nb_addrs == 0)
		return 0;
	*copy = calloc(nb_addrs, sizeof(addrs[0]));
	if (*copy == NULL) {
		MLX4X_LOG(port, ERR, "no memory for %u multicast addresses", nb_addrs);
		return -ENOMEM;
	}
	memcpy(*copy, addrs, nb_addrs * sizeof(addrs[0]));
	return 0;
}

int
mlx4x_mc_addr_list_set(struct rte_eth_dev *eth_dev, struct rte_ether_addr *addrs, uint32_t nb_addrs)
{
	struct mlx4x_port *port = mlx4x_port_of(eth_dev);
	struct rte_ether_addr *old = port->mc_addrs, *new;
	uint32_t old_nb = port->nb_mc_addrs;
	int ret = copy_list(port, addrs, nb_addrs, &new);

	if (ret != 0)
		return ret;
	mlx4x_lock(port->dev);
	port->mc_addrs = new;
	port->nb_mc_addrs = nb_addrs;
	ret = mlx4x_steer_update(port);
	if (ret != 0) {
		port->mc_addrs = old;
		port->nb_mc_addrs = old_nb;
	}
	mlx4x_unlock(port->dev);
	free(ret == 0 ? old : new);
	return ret;
}

void
mlx4x_mc_addr_list_free(struct mlx4x_port *port)
{
	free(port->mc_addrs);
	port->mc_addrs = NULL;
	port->nb_mc_addrs = 0;
}

/*
 * A rule of the device that looks at a tag takes no frame without one. So as soon as one
 * VLAN passes, frames without a tag do not; until then, all do.
 */
int
mlx4x_vlan_filter_set(struct rte_eth_dev *eth_dev, uint16_t vid, int on)
{
	struct mlx4x_port *port = mlx4x_port_of(eth_dev);
	uint64_t *ids = &port->data->vlan_filter_conf.ids[vid / 64];
	uint64_t old = *ids;
	int ret;

	mlx4x_lock(port->dev);
	if (on)
		*ids |= RTE_BIT64(vid % 64);
	else
		*ids &= ~RTE_BIT64(vid % 64);
	ret = mlx4x_steer_update(port);
	if (ret != 0)
		*ids = old;
	mlx4x_unlock(port->dev);
	return ret;
}

/* The tag is taken off by the burst function: a port that runs gets another one. */
static int
set_strip(struct rte_eth_dev *eth_dev)
{
	struct rte_eth_dev_data *data = eth_dev->data;
	uint64_t offloads = data->dev_conf.rxmode.offloads;
	bool on = offloads & RTE_ETH_RX_OFFLOAD_VLAN_STRIP;
	eth_rx_burst_t burst;
	uint16_t i;

	if (on && offloads & RTE_ETH_RX_OFFLOAD_TIMESTAMP) {
		MLX4X_LOG(mlx4x_port_of(eth_dev), ERR, "time stamps and VLAN strip exclude each "
			"other: a completion holds the tag or the time");
		return -EINVAL;
	}
	for (i = 0; i < data->nb_rx_queues; i++) {
		struct mlx4x_rxq *rxq = data->rx_queues[i];

		if (rxq != NULL && on)
			rxq->offloads |= RTE_ETH_RX_OFFLOAD_VLAN_STRIP;
		else if (rxq != NULL)
			rxq->offloads &= ~RTE_ETH_RX_OFFLOAD_VLAN_STRIP;
	}
	if (!mlx4x_port_of(eth_dev)->started)
		return 0;
	burst = mlx4x_rx_select(eth_dev);
	mlx4x_store_release(&eth_dev->rx_pkt_burst, burst);
	mlx4x_store_release(&rte_eth_fp_ops[data->port_id].rx_pkt_burst, burst);
	mlx4x_mp_tell_start(mlx4x_port_of(eth_dev));	/* each process has its own address of it */
	return 0;
}

/* mask names what changed; the new values are in the configuration of the port. */
int
mlx4x_vlan_offload_set(struct rte_eth_dev *eth_dev, int mask)
{
	struct mlx4x_port *port = mlx4x_port_of(eth_dev);
	int ret = 0;

	mlx4x_lock(port->dev);
	if (mask & RTE_ETH_VLAN_FILTER_MASK)
		ret = mlx4x_steer_update(port);
	if (ret == 0 && mask & RTE_ETH_VLAN_STRIP_MASK)
		ret = set_strip(eth_dev);
	mlx4x_unlock(port->dev);
	return ret;
}
