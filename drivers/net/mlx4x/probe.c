/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Birth and end of the driver's ports: the PCI driver, and one ethdev for each
 * Ethernet port of a function that the device arguments ask for. A port is named
 * after the function and its number, "0000:03:00.0_port1", counted from 0 as in the
 * argument port=.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_malloc.h>

#include "mlx4x.h"
#include "mp.h"
#include "phy_stats.h"
#include "queue_status.h"
#include "rx_burst.h"
#include "tx_burst.h"
#include "xdp.h"

/* In decimal, as the JSON of pmd_info wants them. */
#define VENDOR_MELLANOX 5555		/* 0x15b3 */
#define DEVICE_CONNECTX3 4099		/* 0x1003 */
#define DEVICE_CONNECTX3_VF 4100	/* 0x1004 */
#define DEVICE_CONNECTX3_PRO 4103	/* 0x1007 */

#define MLX4X_PARAMS "port=<int> xdp_prog=<path> xdp_sec=<string> " \
	"xdp_verify=auto|kernel|internal|cached|none xdp_cache=<path> " \
	"xdp_cpumap_queues=<int> xdp_target=<name:int> page_pool=page|packed"

/*
 * Values of a probe: below zero is a failure of a device that is ours; above zero
 * leaves the device to the next driver, which may be net_mlx4.
 */
#define NOT_MINE 1

RTE_LOG_REGISTER_SUFFIX(mlx4x_logtype_init, init, NOTICE)
RTE_LOG_REGISTER_SUFFIX(mlx4x_logtype_driver, driver, NOTICE)

static void
port_name(char name[RTE_ETH_NAME_MAX_LEN], const struct rte_pci_device *pci, unsigned int index)
{
	snprintf(name, RTE_ETH_NAME_MAX_LEN, "%s_port%u", pci->name, index);
}

/*
 * The ethdev of a port, NULL if this process does not have it. In a secondary process
 * ethdev still finds the name of a port that has been closed there.
 */
static struct rte_eth_dev *
own_port(const struct rte_pci_device *pci, unsigned int index)
{
	char name[RTE_ETH_NAME_MAX_LEN];
	struct rte_eth_dev *eth_dev;

	port_name(name, pci, index);
	eth_dev = rte_eth_dev_allocated(name);
	return eth_dev != NULL && eth_dev->state != RTE_ETH_DEV_UNUSED ? eth_dev : NULL;
}

/* 0 if the port is an Ethernet port that can be used. */
static int
check_link_layer(struct mlx4x_dev *dev, unsigned int number)
{
	struct ibv_port_attr attr = { 0 };
	int ret = ibv_query_port(dev->ctx, number, &attr);

	if (ret != 0) {
		MLX4X_INIT_LOG(ERR, "%s: cannot query port %u: %s", dev->pci->name, number - 1,
			strerror(ret));
		return -ret;
	}
	if (attr.link_layer != IBV_LINK_LAYER_ETHERNET) {
		MLX4X_INIT_LOG(ERR, "%s: port %u is in InfiniBand mode; make it Ethernet, echo eth > "
			"/sys/bus/pci/devices/%s/mlx4_port%u", dev->pci->name, number - 1,
			dev->pci->name, number);
		return -ENOTSUP;
	}
	return 0;
}

/* What the kernel's interface of the port says about it. */
int
mlx4x_learn_from_kernel(struct mlx4x_port *port)
{
	char ifname[IF_NAMESIZE];
	int ret = mlx4x_netdev_name(port, ifname);

	if (ret == 0)
		ret = mlx4x_netdev_get_mac(port, &port->mac[0]);
	if (ret == 0)
		ret = mlx4x_netdev_get_mtu(port, &port->kernel_mtu);
	if (ret != 0) {
		MLX4X_INIT_LOG(ERR, "%s: the kernel has no interface for port %u: %s; load mlx4_en",
			port->dev->pci->name, port->number - 1, strerror(-ret));
		return ret;
	}
	port->if_index = if_nametoindex(ifname);
	port->data->mtu = RTE_MIN(port->kernel_mtu, MLX4X_MAX_MTU);
	MLX4X_INIT_LOG(INFO, "%s: taken by net_mlx4x, kernel interface %s", port->data->name,
		ifname);
	return 0;
}

/* Functions of this process; those of the bursts change when the port starts. */
static void
set_operations(struct rte_eth_dev *eth_dev, const struct eth_dev_ops *ops)
{
	eth_dev->dev_ops = ops;
	eth_dev->rx_pkt_burst = mlx4x_rx_burst_stopped;
	eth_dev->tx_pkt_burst = mlx4x_tx_burst_stopped;
	eth_dev->tx_pkt_prepare = mlx4x_tx_prepare;
	eth_dev->rx_queue_count = mlx4x_rx_queue_count;
	eth_dev->rx_descriptor_status = mlx4x_rx_descriptor_status;
	eth_dev->tx_descriptor_status = mlx4x_tx_descriptor_status;
}

/* The program that the arguments name. */
static int
load_program(struct mlx4x_port *port, const struct mlx4x_args *args)
{
	const struct mlx4x_xdp_load load = {
		.path = args->xdp_prog,
		.options = {
			.section = args->xdp_sec[0] != '\0' ? args->xdp_sec : NULL,
			.verify = args->xdp_verify,
		},
	};
	struct mlx4x_xdp_prog *prog;
	int ret;

	memcpy(port->xdp->cache_dir, args->xdp_cache, sizeof(port->xdp->cache_dir));
	if (args->xdp_prog[0] == '\0')
		return 0;
	ret = mlx4x_xdp_prog_load(port, &load, &prog);
	return ret != 0 ? ret : mlx4x_xdp_attach(port, RTE_PMD_MLX4X_XDP_PORT, prog, false);
}

static int
init_port(struct rte_eth_dev *eth_dev, struct mlx4x_dev *dev, const struct mlx4x_args *args)
{
	struct mlx4x_port *port = mlx4x_port_of(eth_dev);
	int ret;

	TAILQ_INIT(&port->rss_list);
	TAILQ_INIT(&port->flows);
	port->timestamp_offset = -1;
	port->data = eth_dev->data;
	port->dev = dev;
	port->nb_soft_queues = args->cpumap_queues;
	ret = mlx4x_learn_from_kernel(port);
	if (ret == 0)
		ret = mlx4x_netdev_set_up(port, true);
	if (ret == 0)
		ret = mlx4x_xdp_init(port);
	if (ret == 0)
		ret = mlx4x_xdp_targets_init(port, &args->targets);
	if (ret == 0)
		ret = load_program(port, args);
	if (ret != 0)
		return ret;
	mlx4x_phy_stats_init(port);
	eth_dev->data->mac_addrs = port->mac;
	eth_dev->data->dev_flags |= RTE_ETH_DEV_INTR_LSC | RTE_ETH_DEV_INTR_RMV |
		RTE_ETH_DEV_FLOW_OPS_THREAD_SAFE;
	set_operations(eth_dev, &mlx4x_ops);
	return 0;
}

static int
probe_port(struct mlx4x_dev *dev, unsigned int index, const struct mlx4x_args *args)
{
	char name[RTE_ETH_NAME_MAX_LEN];
	struct rte_eth_dev *eth_dev;
	struct mlx4x_port *port;
	int ret = check_link_layer(dev, index + 1);

	if (ret != 0)
		return ret;
	port_name(name, dev->pci, index);
	eth_dev = rte_eth_dev_allocate(name);
	if (eth_dev == NULL)
		return -ENOMEM;
	port = rte_zmalloc_socket("mlx4x port", sizeof(*port), RTE_CACHE_LINE_SIZE,
		dev->pci->device.numa_node);
	if (port == NULL) {
		MLX4X_INIT_LOG(ERR, "%s: no memory for the port", name);
		rte_eth_dev_release_port(eth_dev);
		return -ENOMEM;
	}
	eth_dev->data->dev_private = port;
	eth_dev->device = &dev->pci->device;
	eth_dev->data->numa_node = dev->pci->device.numa_node;
	port->number = index + 1;
	ret = init_port(eth_dev, dev, args);
	if (ret != 0) {
		mlx4x_xdp_fini(port);
		eth_dev->data->mac_addrs = NULL;	/* part of dev_private */
		rte_eth_dev_release_port(eth_dev);
		return ret;
	}
	dev->port[index] = port;
	rte_eth_dev_probing_finish(eth_dev);
	return 0;
}

/* Probes the ports asked for. The number of ports that are there now, or an error. */
static int
probe_ports(struct mlx4x_dev *dev, const struct mlx4x_args *args)
{
	unsigned int index, found = 0;
	int ret, error = 0;

	if (args->port_mask >> dev->nb_phys_ports != 0) {
		MLX4X_INIT_LOG(ERR, "%s: port= names a port beyond the last, %u", dev->pci->name,
			dev->nb_phys_ports - 1);
		return -EINVAL;
	}
	for (index = 0; index < dev->nb_phys_ports; index++) {
		if (args->port_mask != 0 && !(args->port_mask & 1u << index))
			continue;
		ret = dev->port[index] != NULL ? 0 : probe_port(dev, index, args);
		if (ret == 0)
			found++;
		else
			error = ret;
	}
	return found != 0 ? (int)found : error;
}

static int
attach_port(struct rte_pci_device *pci, unsigned int index, struct mlx4x_dev **dev)
{
	char name[RTE_ETH_NAME_MAX_LEN];
	struct rte_eth_dev *eth_dev;
	int ret;

	port_name(name, pci, index);
	eth_dev = rte_eth_dev_attach_secondary(name);
	if (eth_dev == NULL)
		return -ENODEV;
	eth_dev->device = &pci->device;
	*dev = mlx4x_port_of(eth_dev)->dev;
	set_operations(eth_dev, &mlx4x_secondary_ops);
	ret = mlx4x_mp_attach(eth_dev);
	if (ret != 0)
		rte_eth_dev_release_port(eth_dev);
	else
		rte_eth_dev_probing_finish(eth_dev);
	return ret;
}

/* A secondary process uses the ports that the primary has probed. */
static int
attach_ports(struct rte_pci_device *pci, const struct mlx4x_args *args)
{
	struct mlx4x_dev *dev = NULL;
	unsigned int index, found = 0;

	for (index = 0; index < MLX4X_MAX_PORTS; index++) {
		if (args->port_mask != 0 && !(args->port_mask & 1u << index))
			continue;
		if (dev != NULL && dev->port[index] == NULL)
			continue;
		if (own_port(pci, index) != NULL || attach_port(pci, index, &dev) == 0)
			found++;
	}
	return found != 0 ? 0 : NOT_MINE;
}

static int
mlx4x_pci_probe(struct rte_pci_driver *driver, struct rte_pci_device *pci)
{
	struct mlx4x_dev *dev = mlx4x_device_of(pci);
	bool opened = dev == NULL;
	struct mlx4x_args args;
	int ret = mlx4x_args_parse(&args, pci->device.devargs);

	if (ret != 0)
		return ret;
	if (rte_eal_process_type() == RTE_PROC_SECONDARY)
		return attach_ports(pci, &args);
	if (opened)
		dev = mlx4x_device_open(pci);
	if (dev == NULL)
		return -rte_errno;
	ret = probe_ports(dev, &args);
	if (ret <= 0 && opened)
		mlx4x_device_close(dev);
	return RTE_MIN(ret, 0);
}

/* Stops and closes all ports of a function; the last one closes the device. */
static int
mlx4x_pci_remove(struct rte_pci_device *pci)
{
	struct rte_eth_dev *eth_dev;
	unsigned int index;
	int ret = 0;

	for (index = 0; index < MLX4X_MAX_PORTS; index++) {
		eth_dev = own_port(pci, index);
		if (eth_dev == NULL)
			continue;
		/* ethdev does not close what runs. In a secondary nothing is stopped. */
		if (rte_eal_process_type() == RTE_PROC_PRIMARY && eth_dev->data->dev_started)
			ret |= rte_eth_dev_stop(eth_dev->data->port_id);
		ret |= rte_eth_dev_close(eth_dev->data->port_id);
	}
	return ret == 0 ? 0 : -EIO;
}

static const struct rte_pci_id pci_ids[] = {
	{ RTE_PCI_DEVICE(VENDOR_MELLANOX, DEVICE_CONNECTX3) },
	{ RTE_PCI_DEVICE(VENDOR_MELLANOX, DEVICE_CONNECTX3_PRO) },
	{ RTE_PCI_DEVICE(VENDOR_MELLANOX, DEVICE_CONNECTX3_VF) },
	{ .vendor_id = 0 },
};

static struct rte_pci_driver mlx4x_driver = {
	.driver = { .name = RTE_STR(MLX4X_DRIVER_NAME) },
	.id_table = pci_ids,
	.probe = mlx4x_pci_probe,
	.remove = mlx4x_pci_remove,
	.dma_map = mlx4x_dma_map,
	.dma_unmap = mlx4x_dma_unmap,
	.drv_flags = RTE_PCI_DRV_INTR_LSC | RTE_PCI_DRV_INTR_RMV | RTE_PCI_DRV_PROBE_AGAIN,
};

RTE_INIT(mlx4x_register)
{
	/*
	 * Read by libibverbs when it is first used: after the device is gone, destroying
	 * an object still frees what belongs to it (rdma-core: libibverbs.7).
	 */
	setenv("MLX4_DEVICE_FATAL_CLEANUP", "1", 0);
	/* Memory of a registered hugepage stays the parent's after a fork. */
	setenv("RDMAV_HUGEPAGES_SAFE", "1", 0);
	rte_pci_register(&mlx4x_driver);
}

/*
 * What dpdk-pmdinfo.py looks for in the library. DPDK's build makes this line from
 * the registration macros with a tool that distributions do not package.
 */
#define PMD_INFO_ID(device) \
	"[" RTE_STR(VENDOR_MELLANOX) ", " RTE_STR(device) ", 65535, 65535]"

static const char pmd_info[] __rte_used =
	"PMD_INFO_STRING= {\"name\": \"" RTE_STR(MLX4X_DRIVER_NAME) "\", "
	"\"params\": \"" MLX4X_PARAMS "\", \"kmod\": \"" MLX4X_KMOD_DEP "\", "
	"\"pci_ids\": [" PMD_INFO_ID(DEVICE_CONNECTX3) ", " PMD_INFO_ID(DEVICE_CONNECTX3_PRO) ", "
	PMD_INFO_ID(DEVICE_CONNECTX3_VF) "]}";

RTE_PMD_EXPORT_NAME(net_mlx4x, __COUNTER__);
RTE_PMD_REGISTER_PCI_TABLE(net_mlx4x, pci_ids);
RTE_PMD_REGISTER_KMOD_DEP(net_mlx4x, MLX4X_KMOD_DEP);
RTE_PMD_REGISTER_PARAM_STRING(net_mlx4x, MLX4X_PARAMS);
