/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Which burst function receives. Chosen once, when the port starts, from the
 * configuration of the port and its queues.
 */

#include <rte_cpuflags.h>
#include <rte_vect.h>

#include "mlx4x.h"
#include "rx_burst.h"
#include "xdp.h"

static bool
any_scatters(const struct rte_eth_dev_data *data)
{
	uint16_t i;

	for (i = 0; i < data->nb_rx_queues; i++) {
		const struct mlx4x_rxq *rxq = data->rx_queues[i];

		if (rxq->nb_sges > 1)
			return true;
	}
	return false;
}

static uint64_t
all_offloads(const struct rte_eth_dev_data *data)
{
	uint64_t offloads = data->dev_conf.rxmode.offloads;
	uint16_t i;

	for (i = 0; i < data->nb_rx_queues; i++)
		offloads |= ((const struct mlx4x_rxq *)data->rx_queues[i])->offloads;
	return offloads;
}

static bool
any_keeps_crc(const struct rte_eth_dev_data *data)
{
	uint16_t i;

	for (i = 0; i < data->nb_rx_queues; i++) {
		if (((const struct mlx4x_rxq *)data->rx_queues[i])->crc_len != 0)
			return true;
	}
	return false;
}

/* Single segments, nothing to look at beyond the table: the widest vectors there are. */
static eth_rx_burst_t
widest_burst(const struct rte_eth_dev_data *data)
{
#ifdef RTE_ARCH_X86_64
	uint16_t width = rte_vect_get_max_simd_bitwidth();

	if (any_keeps_crc(data))
		return mlx4x_rx_burst;
	if (width >= RTE_VECT_SIMD_256 && rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX2) > 0)
		return mlx4x_rx_burst_avx2;
	if (width >= RTE_VECT_SIMD_128)
		return mlx4x_rx_burst_sse;
#endif
	return mlx4x_rx_burst;
}

static eth_rx_burst_t
select_plain(struct rte_eth_dev *eth_dev)
{
	const struct mlx4x_port *port = mlx4x_port_of(eth_dev);
	uint64_t offloads = all_offloads(eth_dev->data);
	bool scatter = any_scatters(eth_dev->data);

	eth_dev->data->scattered_rx = scatter;
	if (offloads & RTE_ETH_RX_OFFLOAD_TIMESTAMP)
		return scatter ? mlx4x_rx_burst_scatter_stamp : mlx4x_rx_burst_stamp;
	if (offloads & RTE_ETH_RX_OFFLOAD_VLAN_STRIP)
		return scatter ? mlx4x_rx_burst_scatter_strip : mlx4x_rx_burst_strip;
	if (scatter)
		return mlx4x_rx_burst_scatter;
	return port->dev->caps.tunnel ? mlx4x_rx_burst_tunnel :
		widest_burst(eth_dev->data);
}

/* Also when programs come and go, or VLAN stripping: xdp.c, filter.c. */
eth_rx_burst_t
mlx4x_rx_select(struct rte_eth_dev *eth_dev)
{
	return mlx4x_xdp_select(mlx4x_port_of(eth_dev), select_plain(eth_dev));
}

/* Name of a burst function, for burst mode info. */
const char *
mlx4x_rx_burst_name(eth_rx_burst_t burst)
{
	static const struct {
		eth_rx_burst_t burst;
		const char *name;
	} names[] = {
		{ mlx4x_rx_burst, "Scalar" },
#ifdef RTE_ARCH_X86_64
		{ mlx4x_rx_burst_sse, "Vector SSE" },
		{ mlx4x_rx_burst_avx2, "Vector AVX2" },
#endif
		{ mlx4x_rx_burst_tunnel, "Scalar Tunnel" },
		{ mlx4x_rx_burst_strip, "Scalar VLAN Strip" },
		{ mlx4x_rx_burst_stamp, "Scalar Timestamp" },
		{ mlx4x_rx_burst_xdp, "Scalar XDP" },
		{ mlx4x_rx_burst_scatter, "Scattered" },
		{ mlx4x_rx_burst_scatter_strip, "Scattered VLAN Strip" },
		{ mlx4x_rx_burst_scatter_stamp, "Scattered Timestamp" },
	};
	unsigned int i;

	for (i = 0; i < RTE_DIM(names); i++) {
		if (names[i].burst == burst)
			return names[i].name;
	}
	return "Stopped";
}
