/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The kernel's network interface of a port. ConnectX-3 is bifurcated: link, speed,
 * pause frames and the MTU of the wire belong to mlx4_en, and are asked and set
 * through its interface with the usual ioctls.
 */

#include <dirent.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mlx4x.h"
#include "xdp.h"

/* Reads a number from an attribute of an interface, -1 if there is none. */
static long
read_attribute(const char *net, const char *ifname, const char *attribute, int base)
{
	char path[512], text[32], *end;
	long value = -1;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s/%s", net, ifname, attribute);
	file = fopen(path, "r");
	if (file == NULL)
		return -1;
	if (fgets(text, sizeof(text), file) != NULL) {
		value = strtol(text, &end, base);
		if (end == text)
			value = -1;
	}
	fclose(file);
	return value;
}

/* Finds the one interface whose attribute is value. -EEXIST if several are. */
static int
find_by_attribute(const char *net, const char *attribute, int base, long value,
	char ifname[IF_NAMESIZE])
{
	DIR *dir = opendir(net);
	struct dirent *entry;
	int found = 0;

	if (dir == NULL)
		return -errno;
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.' ||
		    read_attribute(net, entry->d_name, attribute, base) != value)
			continue;
		found++;
		snprintf(ifname, IF_NAMESIZE, "%.*s", IF_NAMESIZE - 1, entry->d_name);
	}
	closedir(dir);
	return found == 1 ? 0 : found == 0 ? -ENODEV : -EEXIST;
}

/*
 * Name of the port's interface, looked up each time: interfaces are renamed. Kernels
 * since 3.15 tell the ports of a function apart by dev_port; before, all have
 * dev_port 0, or none, and dev_id differs.
 */
int
mlx4x_netdev_name(const struct mlx4x_port *port, char ifname[IF_NAMESIZE])
{
	char net[512];
	int ret;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY)		/* it has no verbs device */
		return if_indextoname(port->if_index, ifname) != NULL ? 0 : -errno;
	snprintf(net, sizeof(net), "%s/device/net", port->dev->ctx->device->ibdev_path);
	ret = find_by_attribute(net, "dev_port", 10, port->number - 1, ifname);
	if (ret == -ENODEV || ret == -EEXIST)
		ret = find_by_attribute(net, "dev_id", 16, port->number - 1, ifname);
	return ret;
}

/* One ioctl on the port's interface. */
static int
netdev_ioctl(const struct mlx4x_port *port, unsigned long request, struct ifreq *ifr)
{
	int ret = mlx4x_netdev_name(port, ifr->ifr_name);
	int sock;

	if (ret != 0)
		return ret;
	sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return -errno;
	ret = ioctl(sock, request, ifr) < 0 ? -errno : 0;
	close(sock);
	return ret;
}

int
mlx4x_netdev_ethtool(const struct mlx4x_port *port, void *command)
{
	struct ifreq ifr = { .ifr_data = command };

	return netdev_ioctl(port, SIOCETHTOOL, &ifr);
}

int
mlx4x_netdev_get_mac(const struct mlx4x_port *port, struct rte_ether_addr *mac)
{
	struct ifreq ifr = { 0 };
	int ret = netdev_ioctl(port, SIOCGIFHWADDR, &ifr);

	if (ret == 0)
		memcpy(mac, ifr.ifr_hwaddr.sa_data, sizeof(*mac));
	return ret;
}

int
mlx4x_netdev_get_mtu(const struct mlx4x_port *port, uint16_t *mtu)
{
	struct ifreq ifr = { 0 };
	int ret = netdev_ioctl(port, SIOCGIFMTU, &ifr);

	if (ret == 0)
		*mtu = RTE_MIN(ifr.ifr_mtu, UINT16_MAX);
	return ret;
}

int
mlx4x_netdev_set_mtu(const struct mlx4x_port *port, uint16_t mtu)
{
	struct ifreq ifr = { .ifr_mtu = mtu };

	return netdev_ioctl(port, SIOCSIFMTU, &ifr);
}

int
mlx4x_netdev_set_up(const struct mlx4x_port *port, bool up)
{
	struct ifreq ifr = { 0 };
	int ret = netdev_ioctl(port, SIOCGIFFLAGS, &ifr);

	if (ret != 0 || up == !!(ifr.ifr_flags & IFF_UP))
		return ret;
	ifr.ifr_flags ^= IFF_UP;
	return netdev_ioctl(port, SIOCSIFFLAGS, &ifr);
}

static int
set_link(struct rte_eth_dev *eth_dev, bool up)
{
	struct mlx4x_port *port = mlx4x_port_of(eth_dev);
	int ret = mlx4x_netdev_set_up(port, up);

	if (ret != 0)
		MLX4X_LOG(port, ERR, "cannot set the kernel interface %s: %s", up ? "up" : "down",
			strerror(-ret));
	return ret;
}

int
mlx4x_set_link_up(struct rte_eth_dev *eth_dev)
{
	return set_link(eth_dev, true);
}

int
mlx4x_set_link_down(struct rte_eth_dev *eth_dev)
{
	return set_link(eth_dev, false);
}

static int
read_link(const struct mlx4x_port *port, struct rte_eth_link *link)
{
	struct ethtool_cmd edata = { .cmd = ETHTOOL_GSET };
	struct ifreq ifr = { 0 };
	int ret = netdev_ioctl(port, SIOCGIFFLAGS, &ifr);
	uint32_t speed;

	if (ret == 0)
		ret = mlx4x_netdev_ethtool(port, &edata);
	if (ret != 0)
		return ret;
	memset(link, 0, sizeof(*link));
	link->link_status = (ifr.ifr_flags & IFF_UP) && (ifr.ifr_flags & IFF_RUNNING);
	/* Not ethtool_cmd_speed(): it shifts the unknown speed out of an int. */
	speed = (uint32_t)edata.speed_hi << 16 | edata.speed;
	if (link->link_status == RTE_ETH_LINK_UP)
		link->link_speed = speed == (uint32_t)SPEED_UNKNOWN ?
			RTE_ETH_SPEED_NUM_UNKNOWN : speed;
	link->link_duplex = edata.duplex == DUPLEX_HALF ?
		RTE_ETH_LINK_HALF_DUPLEX : RTE_ETH_LINK_FULL_DUPLEX;
	link->link_autoneg = !(port->data->dev_conf.link_speeds & RTE_ETH_LINK_SPEED_FIXED);
	return 0;
}

/* Longest wait for a link that comes up: what rte_eth_link_get() allows for. */
#define LINK_WAIT_MS 9000
#define LINK_POLL_MS 100

int
mlx4x_link_update(struct rte_eth_dev *eth_dev, int wait_to_complete)
{
	struct mlx4x_port *port = mlx4x_port_of(eth_dev);
	struct rte_eth_link link;
	int waited_ms = 0;
	int ret;

	for (;;) {
		ret = read_link(port, &link);
		if (ret != 0) {
			MLX4X_LOG(port, WARNING, "cannot read the link of the kernel interface: %s",
				strerror(-ret));
			return ret;
		}
		if (!wait_to_complete || link.link_status == RTE_ETH_LINK_UP ||
		    waited_ms >= LINK_WAIT_MS)
			return rte_eth_linkstatus_set(eth_dev, &link);
		rte_delay_us_sleep(LINK_POLL_MS * 1000);
		waited_ms += LINK_POLL_MS;
	}
}

int
mlx4x_flow_ctrl_get(struct rte_eth_dev *eth_dev, struct rte_eth_fc_conf *conf)
{
	struct mlx4x_port *port = mlx4x_port_of(eth_dev);
	struct ethtool_pauseparam pause = { .cmd = ETHTOOL_GPAUSEPARAM };
	int ret = mlx4x_netdev_ethtool(port, &pause);

	if (ret != 0) {
		MLX4X_LOG(port, ERR, "cannot read the pause settings of the kernel interface: %s",
			strerror(-ret));
		return ret;
	}
	memset(conf, 0, sizeof(*conf));
	conf->autoneg = pause.autoneg;
	if (pause.rx_pause && pause.tx_pause)
		conf->mode = RTE_ETH_FC_FULL;
	else if (pause.rx_pause)
		conf->mode = RTE_ETH_FC_RX_PAUSE;
	else if (pause.tx_pause)
		conf->mode = RTE_ETH_FC_TX_PAUSE;
	return 0;
}

int
mlx4x_flow_ctrl_set(struct rte_eth_dev *eth_dev, struct rte_eth_fc_conf *conf)
{
	struct mlx4x_port *port = mlx4x_port_of(eth_dev);
	struct ethtool_pauseparam pause = {
		.cmd = ETHTOOL_SPAUSEPARAM,
		.autoneg = conf->autoneg,
		.rx_pause = conf->mode == RTE_ETH_FC_FULL || conf->mode == RTE_ETH_FC_RX_PAUSE,
		.tx_pause = conf->mode == RTE_ETH_FC_FULL || conf->mode == RTE_ETH_FC_TX_PAUSE,
	};
	int ret = mlx4x_netdev_ethtool(port, &pause);

	if (ret != 0)
		MLX4X_LOG(port, ERR, "cannot change the pause settings of the kernel interface: %s",
			strerror(-ret));
	return ret;
}

/* 0 if every receive queue has room for the frames of an MTU. */
static int
check_buffers(struct mlx4x_port *port, uint16_t mtu)
{
	uint16_t i;

	for (i = 0; i < port->data->nb_rx_queues; i++) {
		const struct mlx4x_rxq *rxq = port->data->rx_queues[i];
		uint32_t nb_sges;

		if (rxq == NULL)
			continue;
		if (mlx4x_xdp_prog_of(port->xdp, i) != NULL && mlx4x_xdp_check_mtu(rxq, mtu) != 0)
			return -EOPNOTSUPP;
		nb_sges = mlx4x_rxq_nb_sges(rxq, mtu);
		if (nb_sges == 0)
			return -EINVAL;
		if (port->started && nb_sges > rxq->nb_sges) {
			MLX4X_LOG(port, ERR, "MTU %u needs %u buffers a frame, but Rx queue %u was "
				"started with %u: stop the port first", mtu, nb_sges, i,
				rxq->nb_sges);
			return -EBUSY;
		}
	}
	return 0;
}

int
mlx4x_mtu_set(struct rte_eth_dev *eth_dev, uint16_t mtu)
{
	struct mlx4x_port *port = mlx4x_port_of(eth_dev);
	int ret = check_buffers(port, mtu);

	if (ret != 0)
		return ret;
	ret = mlx4x_netdev_set_mtu(port, mtu);
	if (ret != 0)
		MLX4X_LOG(port, ERR, "the kernel interface refuses MTU %u: %s", mtu, strerror(-ret));
	return ret;
}
