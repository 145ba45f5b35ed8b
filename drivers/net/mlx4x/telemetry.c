/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * /mlx4x/list and /mlx4x/info: which ports the driver has, and the state of one of them
 * and of its queues. Requests are taken apart by xdp_tel.c.
 */

#include <rte_devargs.h>

#include "queue_status.h"
#include "xdp_tel.h"

static int
list(const struct mlx4x_tel_request *request, struct rte_tel_data *dict)
{
	struct rte_tel_data *ports = rte_tel_data_alloc();
	uint16_t port_id;

	if (ports == NULL)
		return mlx4x_xdp_refuse(NULL, ENOMEM, "no memory for the answer");
	rte_tel_data_start_array(ports, RTE_TEL_INT_VAL);
	RTE_ETH_FOREACH_DEV(port_id) {
		if (rte_eth_devices[port_id].dev_ops == &mlx4x_ops)
			rte_tel_data_add_array_int(ports, port_id);
	}
	rte_tel_data_add_dict_container(dict, "ports", ports, 0);
	return 0;
}

static void
add_device(struct rte_tel_data *dict, const struct mlx4x_dev *dev)
{
	const struct rte_devargs *devargs = dev->pci->device.devargs;

	rte_tel_data_add_dict_string(dict, "device", dev->pci->name);
	mlx4x_tel_add_text(dict, "devargs",
		devargs != NULL && devargs->args != NULL ? devargs->args : "");
	rte_tel_data_add_dict_string(dict, "function", dev->caps.is_vf ? "virtual" : "physical");
	rte_tel_data_add_dict_int(dict, "part", dev->caps.vendor_part_id);
	rte_tel_data_add_dict_string(dict, "firmware", dev->caps.fw_version);
	rte_tel_data_add_dict_int(dict, "removed", dev->removed);
	rte_tel_data_add_dict_int(dict, "memory_regions", dev->mr_table.nb_ranges);
	rte_tel_data_add_dict_int(dict, "secondaries", mlx4x_load_relaxed(&dev->nb_secondaries));
}

static void
add_link(struct rte_tel_data *dict, const struct mlx4x_port *port)
{
	char ifname[IF_NAMESIZE] = "", mac[RTE_ETHER_ADDR_FMT_SIZE];
	struct rte_eth_link link;

	rte_eth_linkstatus_get(&rte_eth_devices[port->data->port_id], &link);
	mlx4x_netdev_name(port, ifname);
	rte_ether_format_addr(mac, sizeof(mac), &port->mac[0]);
	rte_tel_data_add_dict_string(dict, "netdev", ifname);
	rte_tel_data_add_dict_int(dict, "ifindex", port->if_index);
	rte_tel_data_add_dict_string(dict, "mac", mac);
	rte_tel_data_add_dict_int(dict, "mtu", port->data->mtu);
	rte_tel_data_add_dict_string(dict, "link", link.link_status ? "up" : "down");
	rte_tel_data_add_dict_uint(dict, "speed_mbps", link.link_speed);
}

static void
add_queues(struct rte_tel_data *dict, const struct mlx4x_port *port)
{
	const struct rte_eth_dev *eth_dev = &rte_eth_devices[port->data->port_id];

	rte_tel_data_add_dict_int(dict, "rx_queues", port->data->nb_rx_queues);
	rte_tel_data_add_dict_int(dict, "soft_queues", port->nb_soft_queues);
	rte_tel_data_add_dict_string(dict, "rx_burst",
		mlx4x_rx_burst_name(eth_dev->rx_pkt_burst));
	rte_tel_data_add_dict_int(dict, "tx_queues", port->data->nb_tx_queues);
	rte_tel_data_add_dict_string(dict, "tx_burst",
		mlx4x_tx_burst_name(eth_dev->tx_pkt_burst));
}

static void
add_port(struct rte_tel_data *dict, const struct mlx4x_port *port)
{
	rte_tel_data_add_dict_int(dict, "port", port->data->port_id);
	rte_tel_data_add_dict_string(dict, "name", port->data->name);
	rte_tel_data_add_dict_int(dict, "number", port->number - 1);
	rte_tel_data_add_dict_int(dict, "started", port->started);
	rte_tel_data_add_dict_int(dict, "promiscuous", port->data->promiscuous);
	rte_tel_data_add_dict_int(dict, "all_multicast", port->data->all_multicast);
	rte_tel_data_add_dict_int(dict, "isolated", port->isolated);
	rte_tel_data_add_dict_int(dict, "led", port->led_is_on);
	add_device(dict, port->dev);
	add_link(dict, port);
	add_queues(dict, port);
}

static void
add_rxq(struct rte_tel_data *dict, const struct mlx4x_rxq *rxq)
{
	rte_tel_data_add_dict_int(dict, "queue", rxq->idx);
	rte_tel_data_add_dict_string(dict, "state", mlx4x_queue_state_name(rxq->state));
	rte_tel_data_add_dict_int(dict, "descriptors", rxq->nb_desc);
	rte_tel_data_add_dict_int(dict, "segments", rxq->nb_sges);
	rte_tel_data_add_dict_string(dict, "mempool",
		rxq->mp != NULL ? rxq->mp->name : "");
	rte_tel_data_add_dict_uint(dict, "offloads", rxq->offloads);
	rte_tel_data_add_dict_uint(dict, "recoveries", rxq->stats.recoveries);
	rte_tel_data_add_dict_int(dict, "last_syndrome", rxq->last_syndrome);
}

static void
add_txq(struct rte_tel_data *dict, const struct mlx4x_txq *txq)
{
	rte_tel_data_add_dict_int(dict, "queue", txq->idx);
	rte_tel_data_add_dict_string(dict, "state", mlx4x_queue_state_name(txq->state));
	rte_tel_data_add_dict_int(dict, "descriptors", txq->nb_desc);
	rte_tel_data_add_dict_uint(dict, "offloads", txq->offloads);
	rte_tel_data_add_dict_uint(dict, "recoveries", txq->stats.recoveries);
	rte_tel_data_add_dict_int(dict, "last_syndrome", txq->last_syndrome);
}

/* With queue= and txq= also one queue of each direction, if it is set up. */
static int
add_asked_queues(struct rte_tel_data *dict, const struct mlx4x_tel_request *request)
{
	const struct rte_eth_dev_data *data = request->port->data;
	struct rte_tel_data *inner;
	uint64_t txq;
	int ret = mlx4x_tel_number(request, MLX4X_TEL_TXQ, UINT16_MAX, UINT16_MAX - 1, &txq);

	if (ret != 0)
		return ret;
	if (txq != UINT16_MAX && txq >= data->nb_tx_queues)
		return mlx4x_xdp_refuse(request->port, EINVAL, "there is no Tx queue %u: the port "
			"has %u", (unsigned int)txq, data->nb_tx_queues);
	if (request->queue < data->nb_rx_queues && data->rx_queues[request->queue] != NULL) {
		inner = mlx4x_tel_add_dict(dict, "rx");
		if (inner != NULL)
			add_rxq(inner, data->rx_queues[request->queue]);
	}
	if (txq < data->nb_tx_queues && data->tx_queues[txq] != NULL) {
		inner = mlx4x_tel_add_dict(dict, "tx");
		if (inner != NULL)
			add_txq(inner, data->tx_queues[txq]);
	}
	return 0;
}

static int
info(const struct mlx4x_tel_request *request, struct rte_tel_data *dict)
{
	int ret;

	mlx4x_lock(request->port->dev);
	add_port(dict, request->port);
	ret = add_asked_queues(dict, request);
	mlx4x_unlock(request->port->dev);
	return ret;
}

static const struct mlx4x_tel_command commands[] = {
	{ "/mlx4x/list", "no parameters", 0, 0, list },
	{ "/mlx4x/info", "port=N[,queue=N][,txq=N]", MLX4X_TEL_BIT(PORT),
		MLX4X_TEL_BIT(QUEUE) | MLX4X_TEL_BIT(TXQ), info },
};

RTE_INIT(mlx4x_register_commands)
{
	mlx4x_tel_register(commands, RTE_DIM(commands));
}
