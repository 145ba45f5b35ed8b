/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * An Ethernet port as ethdev sees it: its table of operations, what it can do,
 * configure, start, stop and close.
 */

#include <errno.h>
#include <string.h>

#include <rte_malloc.h>
#include <rte_mbuf_dyn.h>

#include "dump.h"
#include "mlx4x.h"
#include "mp.h"
#include "phy_stats.h"
#include "queue_status.h"
#include "rx_burst.h"
#include "tx_burst.h"
#include "tx_multi.h"
#include "xdp_tel.h"

uint64_t
mlx4x_rx_offload_capa(const struct mlx4x_dev *dev)
{
	uint64_t capa = RTE_ETH_RX_OFFLOAD_SCATTER | RTE_ETH_RX_OFFLOAD_RSS_HASH |
		RTE_ETH_RX_OFFLOAD_VLAN_STRIP | RTE_ETH_RX_OFFLOAD_VLAN_FILTER;

	if (dev->caps.checksum)
		capa |= RTE_ETH_RX_OFFLOAD_CHECKSUM;
	if (dev->caps.keep_crc)
		capa |= RTE_ETH_RX_OFFLOAD_KEEP_CRC;
	if (dev->caps.timestamp_mask != 0 && !dev->caps.is_vf)
		capa |= RTE_ETH_RX_OFFLOAD_TIMESTAMP;
	return capa;
}

uint64_t
mlx4x_tx_offload_capa(const struct mlx4x_dev *dev)
{
	uint64_t capa = RTE_ETH_TX_OFFLOAD_MULTI_SEGS | RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE |
		RTE_ETH_TX_OFFLOAD_VLAN_INSERT;

	if (dev->caps.checksum)
		capa |= RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_CKSUM |
			RTE_ETH_TX_OFFLOAD_UDP_CKSUM;
	if (dev->caps.max_tso != 0)
		capa |= RTE_ETH_TX_OFFLOAD_TCP_TSO;
	if (dev->caps.tunnel)
		capa |= RTE_ETH_TX_OFFLOAD_OUTER_IPV4_CKSUM;
	if (dev->caps.tunnel && dev->caps.max_tso != 0)
		capa |= RTE_ETH_TX_OFFLOAD_VXLAN_TNL_TSO | RTE_ETH_TX_OFFLOAD_GRE_TNL_TSO;
	return capa;
}

static int
dev_infos_get(struct rte_eth_dev *eth_dev, struct rte_eth_dev_info *info)
{
	struct mlx4x_port *port = mlx4x_port_of(eth_dev);
	const struct mlx4x_caps *caps = &port->dev->caps;

	info->min_mtu = RTE_ETHER_MIN_MTU;
	info->max_mtu = MLX4X_MAX_MTU;
	info->max_rx_pktlen = MLX4X_MAX_MTU + MLX4X_FRAME_OVERHEAD + RTE_ETHER_CRC_LEN;
	info->min_rx_bufsize = RTE_ETHER_HDR_LEN;
	info->max_rx_queues = caps->max_queues + port->nb_soft_queues;
	info->max_tx_queues = caps->max_queues;
	info->max_mac_addrs = MLX4X_MAX_MAC_ADDRS;
	info->rx_offload_capa = mlx4x_rx_offload_capa(port->dev);
	info->tx_offload_capa = mlx4x_tx_offload_capa(port->dev);
	info->tx_queue_offload_capa = info->tx_offload_capa;
	info->hash_key_size = MLX4X_RSS_KEY_SIZE;
	info->reta_size = mlx4x_reta_size(port->dev);
	info->flow_type_rss_offloads = mlx4x_rss_hf_supported(port->dev);
	info->if_index = port->if_index;
	info->speed_capa = RTE_ETH_LINK_SPEED_1G | RTE_ETH_LINK_SPEED_10G |
		RTE_ETH_LINK_SPEED_40G | RTE_ETH_LINK_SPEED_56G;
	info->rx_desc_lim.nb_min = MLX4X_MIN_DESC;
	info->rx_desc_lim.nb_max = rte_align32prevpow2(caps->max_wr);
	info->rx_desc_lim.nb_align = 1;
	info->rx_desc_lim.nb_seg_max = MLX4X_MAX_SGES;
	info->tx_desc_lim.nb_min = MLX4X_MIN_DESC;
	info->tx_desc_lim.nb_max = caps->max_wr;
	info->tx_desc_lim.nb_align = 1;
	info->tx_desc_lim.nb_seg_max = MLX4X_TX_MAX_SEGS;
	info->tx_desc_lim.nb_mtu_seg_max = MLX4X_TX_MAX_SEGS;
	info->default_rxportconf.burst_size = 32;
	info->default_rxportconf.ring_size = 1024;
	info->default_rxportconf.nb_queues = 1;
	info->default_txportconf = info->default_rxportconf;
	info->dev_capa = RTE_ETH_DEV_CAPA_RUNTIME_TX_QUEUE_SETUP;
	return 0;
}

static int
fw_version_get(struct rte_eth_dev *eth_dev, char *version, size_t size)
{
	const char *fw = mlx4x_port_of(eth_dev)->dev->caps.fw_version;
	int len = snprintf(version, size, "%s", fw);

	return (size_t)len < size ? 0 : len + 1;
}

static int
register_timestamp(struct mlx4x_port *port)
{
	if (!(port->data->dev_conf.rxmode.offloads & RTE_ETH_RX_OFFLOAD_TIMESTAMP))
		return 0;
	if (port->data->dev_conf.rxmode.offloads & RTE_ETH_RX_OFFLOAD_VLAN_STRIP) {
		MLX4X_LOG(port, ERR, "time stamps and VLAN strip exclude each other: a completion "
			"holds the tag or the time");
		return -EINVAL;
	}
	if (rte_mbuf_dyn_rx_timestamp_register(&port->timestamp_offset,
			&port->timestamp_flag) == 0)
		return 0;
	MLX4X_LOG(port, ERR, "no room in mbufs for time stamps");
	return -ENOSPC;
}

/* Offloads of the port are those of all its queues, also of those set up before. */
static void
spread_offloads(struct rte_eth_dev_data *data)
{
	uint16_t i;

	for (i = 0; i < data->nb_rx_queues; i++) {
		struct mlx4x_rxq *rxq = data->rx_queues[i];

		if (rxq != NULL)
			rxq->offloads = data->dev_conf.rxmode.offloads;
	}
	for (i = 0; i < data->nb_tx_queues; i++) {
		if (data->tx_queues[i] != NULL)
			mlx4x_txq_follow_port(data->tx_queues[i]);
	}
}

/* The last receive queues are of software, if the arguments ask for some. */
static int
check_soft_queues(const struct mlx4x_port *port)
{
	const struct rte_eth_dev_data *data = port->data;

	if (port->nb_soft_queues == 0 || data->nb_rx_queues == 0)
		return 0;
	if (data->nb_rx_queues <= port->nb_soft_queues) {
		MLX4X_LOG(port, ERR, "%u Rx queues, of which xdp_cpumap_queues=%u are of software: "
			"none is left for the device", data->nb_rx_queues, port->nb_soft_queues);
		return -EINVAL;
	}
	if (!data->dev_conf.intr_conf.rxq)
		return 0;
	MLX4X_LOG(port, ERR, "no receive interrupts with xdp_cpumap_queues=%u",
		port->nb_soft_queues);
	return -ENOTSUP;
}

static int
dev_configure(struct rte_eth_dev *eth_dev)
{
	struct mlx4x_port *port = mlx4x_port_of(eth_dev);
	struct rte_eth_rxmode *rxmode = &eth_dev->data->dev_conf.rxmode;
	int ret;

	if (rxmode->mq_mode & RTE_ETH_MQ_RX_RSS_FLAG)
		rxmode->offloads |= RTE_ETH_RX_OFFLOAD_RSS_HASH;
	ret = check_soft_queues(port);
	if (ret == 0)
		ret = register_timestamp(port);
	if (ret == 0)
		ret = mlx4x_rss_configure(port);
	if (ret != 0)
		return ret;
	spread_offloads(eth_dev->data);
	mlx4x_rx_table_build(port);
	return 0;
}

/* The kernel drops what is longer than the MTU of its interface. */
static int
follow_mtu(struct mlx4x_port *port)
{
	uint16_t mtu;
	int ret = mlx4x_netdev_get_mtu(port, &mtu);

	if (ret == 0 && mtu != port->data->mtu)
		ret = mlx4x_netdev_set_mtu(port, port->data->mtu);
	if (ret != 0)
		MLX4X_LOG(port, ERR, "cannot give the kernel interface the MTU of the port, %u: %s",
			port->data->mtu, strerror(-ret));
	return ret;
}

static int
start_tx_queues(struct mlx4x_port *port)
{
	uint16_t i;
	int ret = 0;

	for (i = 0; i < port->data->nb_tx_queues && ret == 0; i++) {
		struct mlx4x_txq *txq = port->data->tx_queues[i];

		if (txq != NULL && !txq->deferred_start)
			ret = mlx4x_txq_restart(txq);
	}
	return ret;
}

/* One that the device does not give back is reset at the next start, or destroyed. */
static void
stop_tx_queues(struct rte_eth_dev_data *data)
{
	uint16_t i;

	for (i = 0; i < data->nb_tx_queues; i++) {
		if (data->tx_queues[i] != NULL)
			mlx4x_txq_stop(data->tx_queues[i]);
		data->tx_queue_state[i] = RTE_ETH_QUEUE_STATE_STOPPED;
	}
}

/* Undoes a start, whole or half-way. The lock is held. */
static void
stop_locked(struct rte_eth_dev *eth_dev)
{
	struct mlx4x_port *port = mlx4x_port_of(eth_dev);

	eth_dev->rx_pkt_burst = mlx4x_rx_burst_stopped;
	eth_dev->tx_pkt_burst = mlx4x_tx_burst_stopped;
	mlx4x_steer_remove_all(port);
	mlx4x_flow_stop(port);
	mlx4x_rx_intr_stop(eth_dev);
	mlx4x_xdp_stop(port);
	mlx4x_rxq_stop_all(port);
	stop_tx_queues(eth_dev->data);
	port->started = false;
}

static int
start_locked(struct rte_eth_dev *eth_dev)
{
	struct mlx4x_port *port = mlx4x_port_of(eth_dev);
	int ret = follow_mtu(port);

	if (ret == 0)
		ret = mlx4x_mr_activate(port->dev);
	if (ret == 0)
		ret = mlx4x_rxq_start_all(port);
	if (ret == 0)
		ret = mlx4x_rx_intr_start(eth_dev);
	if (ret == 0)
		ret = start_tx_queues(port);
	if (ret != 0)
		return ret;
	port->started = true;
	ret = mlx4x_xdp_start(port);
	if (ret != 0)
		return ret;
	eth_dev->rx_pkt_burst = mlx4x_rx_select(eth_dev);
	eth_dev->tx_pkt_burst = mlx4x_tx_select(eth_dev);
	/* Frames that a rule of the application takes must not meet the port's before. */
	ret = mlx4x_flow_start(port);
	return ret == 0 ? mlx4x_steer_update(port) : ret;
}

static int
dev_start(struct rte_eth_dev *eth_dev)
{
	struct mlx4x_dev *dev = mlx4x_port_of(eth_dev)->dev;
	bool first;
	int ret;

	mlx4x_xdp_lock();
	mlx4x_lock(dev);
	ret = start_locked(eth_dev);
	if (ret != 0)
		stop_locked(eth_dev);
	first = ret == 0 && dev->nb_started++ == 0;
	mlx4x_unlock(dev);
	mlx4x_xdp_unlock();
	if (first)
		mlx4x_service_start(dev);
	if (ret != 0)
		return ret;
	mlx4x_link_update(eth_dev, 0);	/* with link interrupts ethdev does not ask at start */
	mlx4x_mp_tell_start(mlx4x_port_of(eth_dev));
	return 0;
}

int
mlx4x_dev_stop(struct rte_eth_dev *eth_dev)
{
	struct mlx4x_dev *dev = mlx4x_port_of(eth_dev)->dev;
	bool last;

	mlx4x_mp_tell_stop(mlx4x_port_of(eth_dev));
	mlx4x_xdp_lock();
	mlx4x_lock(dev);
	last = mlx4x_port_of(eth_dev)->started && --dev->nb_started == 0;
	stop_locked(eth_dev);
	mlx4x_unlock(dev);
	mlx4x_xdp_unlock();
	if (last)
		mlx4x_service_stop(dev);
	eth_dev->data->dev_started = 0;
	return 0;
}

/* The kernel gets its MTU back. */
static void
restore_netdev(struct mlx4x_port *port)
{
	uint16_t mtu;

	if (port->dev->removed || mlx4x_netdev_get_mtu(port, &mtu) != 0)
		return;
	if (mtu != port->kernel_mtu && mlx4x_netdev_set_mtu(port, port->kernel_mtu) != 0)
		MLX4X_LOG(port, WARNING, "the kernel interface keeps MTU %u", mtu);
}

/* Queues, rules and addresses go, the port is stopped. */
static void
forget_configuration(struct rte_eth_dev *eth_dev)
{
	struct mlx4x_port *port = mlx4x_port_of(eth_dev);
	uint16_t i;

	for (i = 0; i < eth_dev->data->nb_rx_queues; i++)
		mlx4x_rx_queue_release(eth_dev, i);
	for (i = 0; i < eth_dev->data->nb_tx_queues; i++)
		mlx4x_tx_queue_release(eth_dev, i);
	mlx4x_flow_fini(port);
	mlx4x_mc_addr_list_free(port);
	restore_netdev(port);
}

/* Back to the state after probing; ethdev has stopped the port. */
static int
dev_reset(struct rte_eth_dev *eth_dev)
{
	struct mlx4x_port *port = mlx4x_port_of(eth_dev);

	forget_configuration(eth_dev);
	memset(port->mac, 0, sizeof(port->mac));
	eth_dev->data->promiscuous = 0;
	eth_dev->data->all_multicast = 0;
	port->isolated = false;
	return mlx4x_learn_from_kernel(port);
}

int
mlx4x_dev_close(struct rte_eth_dev *eth_dev)
{
	struct mlx4x_port *port = mlx4x_port_of(eth_dev);
	struct mlx4x_dev *dev;
	uint16_t i;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY) {
		mlx4x_mp_detach(eth_dev);
		return 0;
	}
	mlx4x_tel_forget(eth_dev);
	dev = port->dev;
	if (port->started)
		mlx4x_dev_stop(eth_dev);
	mlx4x_mp_tell_close(port);
	forget_configuration(eth_dev);
	mlx4x_led_off(eth_dev);
	mlx4x_xdp_fini(port);
	mlx4x_phy_stats_fini(port);
	eth_dev->data->mac_addrs = NULL;	/* part of dev_private, which ethdev frees */
	mlx4x_lock(dev);
	dev->port[port->number - 1] = NULL;
	mlx4x_unlock(dev);
	for (i = 0; i < MLX4X_MAX_PORTS; i++) {
		if (dev->port[i] != NULL)
			return 0;
	}
	mlx4x_device_close(dev);
	return 0;
}

/*
 * The operations of a port, in the order of its life. Each file of the driver adds
 * those it implements here; what the device cannot do has no entry, so that ethdev
 * says "not supported".
 */
const struct eth_dev_ops mlx4x_ops = {
	/* ethdev.c */
	.dev_infos_get = dev_infos_get,
	.dev_configure = dev_configure,
	.dev_start = dev_start,
	.dev_stop = mlx4x_dev_stop,
	.dev_close = mlx4x_dev_close,
	.dev_reset = dev_reset,
	.fw_version_get = fw_version_get,
	.is_removed = mlx4x_is_removed,
	/* rx_table.c */
	.dev_supported_ptypes_get = mlx4x_supported_ptypes_get,
	.dev_ptypes_set = mlx4x_ptypes_set,
	/* netdev.c */
	.link_update = mlx4x_link_update,
	.dev_set_link_up = mlx4x_set_link_up,
	.dev_set_link_down = mlx4x_set_link_down,
	.flow_ctrl_get = mlx4x_flow_ctrl_get,
	.flow_ctrl_set = mlx4x_flow_ctrl_set,
	.mtu_set = mlx4x_mtu_set,
	/* filter.c */
	.promiscuous_enable = mlx4x_promiscuous_enable,
	.promiscuous_disable = mlx4x_promiscuous_disable,
	.allmulticast_enable = mlx4x_allmulticast_enable,
	.allmulticast_disable = mlx4x_allmulticast_disable,
	.mac_addr_add = mlx4x_mac_addr_add,
	.mac_addr_remove = mlx4x_mac_addr_remove,
	.mac_addr_set = mlx4x_mac_addr_set,
	.set_mc_addr_list = mlx4x_mc_addr_list_set,
	.vlan_filter_set = mlx4x_vlan_filter_set,
	.vlan_offload_set = mlx4x_vlan_offload_set,
	/* rss_conf.c */
	.rss_hash_update = mlx4x_rss_hash_update,
	.rss_hash_conf_get = mlx4x_rss_hash_conf_get,
	.reta_query = mlx4x_reta_query,
	.reta_update = mlx4x_reta_update,
	/* flow.c */
	.flow_ops_get = mlx4x_flow_ops_get,
	/* rxq.c */
	.rx_queue_setup = mlx4x_rx_queue_setup,
	.rx_queue_release = mlx4x_rx_queue_release,
	.rx_queue_start = mlx4x_rx_queue_start,
	.rx_queue_stop = mlx4x_rx_queue_stop,
	.rx_queue_intr_enable = mlx4x_rx_intr_enable,
	.rx_queue_intr_disable = mlx4x_rx_intr_disable,
	/* queue_status.c */
	.get_monitor_addr = mlx4x_get_monitor_addr,
	/* dump.c */
	.eth_dev_priv_dump = mlx4x_priv_dump,
	/* queue_info.c */
	.rxq_info_get = mlx4x_rxq_info_get,
	.txq_info_get = mlx4x_txq_info_get,
	.rx_burst_mode_get = mlx4x_rx_burst_mode_get,
	.tx_burst_mode_get = mlx4x_tx_burst_mode_get,
	/* device.c */
	.read_clock = mlx4x_read_clock,
	/* txq.c, tx_complete.c */
	.tx_queue_setup = mlx4x_tx_queue_setup,
	.tx_queue_release = mlx4x_tx_queue_release,
	.tx_queue_start = mlx4x_tx_queue_start,
	.tx_queue_stop = mlx4x_tx_queue_stop,
	.tx_done_cleanup = mlx4x_tx_done_cleanup,
	/* stats.c */
	.stats_get = mlx4x_stats_get,
	.stats_reset = mlx4x_stats_reset,
	/* xstats.c */
	.xstats_get_names = mlx4x_xstats_get_names,
	.xstats_get = mlx4x_xstats_get,
	.xstats_reset = mlx4x_xstats_reset,
	/* module.c */
	.get_module_info = mlx4x_get_module_info,
	.get_module_eeprom = mlx4x_get_module_eeprom,
	/* led.c */
	.dev_led_on = mlx4x_led_on,
	.dev_led_off = mlx4x_led_off,
};

/* A secondary process has no verbs context: it sees what the primary has learnt. */
static int
keep_link(struct rte_eth_dev *eth_dev, int wait_to_complete)
{
	return 0;
}

/* What a secondary process may do beside receiving and sending. */
const struct eth_dev_ops mlx4x_secondary_ops = {
	.dev_infos_get = dev_infos_get,
	.dev_close = mlx4x_dev_close,
	.fw_version_get = fw_version_get,
	.link_update = keep_link,
	.dev_supported_ptypes_get = mlx4x_supported_ptypes_get,
	.get_monitor_addr = mlx4x_get_monitor_addr,
	.tx_done_cleanup = mlx4x_tx_done_cleanup,
	.stats_get = mlx4x_stats_get,
	.stats_reset = mlx4x_stats_reset,
	/* xstats.c */
	.xstats_get_names = mlx4x_xstats_get_names,
	.xstats_get = mlx4x_xstats_get,
	.xstats_reset = mlx4x_stats_reset,
};
