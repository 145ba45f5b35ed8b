/* SPDX-License-Identifier: BSD-3-Clause */

/* EAL, buffers and ports; see ports.h. */

#include "ports.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include <page_pool.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#define MEMPOOL_CACHE 256
#define SPARE_MBUFS 2048
#define MAX_EAL_WORDS 20
#define IDLE_RING 64	/* of a queue that this program does not use */

static const struct page_pool_config layouts[PERF_NB_LAYOUTS] = {
	[PERF_LAYOUT_PAGE] = { .block_size = PAGE_POOL_PAGE_SIZE },
	[PERF_LAYOUT_PACKED] = { .block_size = PAGE_POOL_PACKED_BLOCK_SIZE },
};

static int
last_cpu(void)
{
	cpu_set_t allowed;
	int cpu;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return 0;
	for (cpu = CPU_SETSIZE - 1; cpu > 0 && !CPU_ISSET(cpu, &allowed); cpu--)
		;
	return cpu;
}

/* EAL takes its words as if it would change them. */
#define WORD(text) ((char *)(uintptr_t)(text))

static int
start_eal(const struct perf_options *options, char *reason, size_t size)
{
	int last = options->cpu >= 0 ? options->cpu : last_cpu();
	char cpus[32], device[64];
	char *words[MAX_EAL_WORDS] = {
		WORD("mlx4x-perf"), WORD("--no-telemetry"), WORD("--log-level=error"),
		WORD("-l"), cpus, WORD("-a"), device,
		options->no_huge ? WORD("--no-huge") : WORD("--in-memory"),
	};
	int nb = 8;

	snprintf(device, sizeof(device), "%s%s", options->device,
		options->soft_queue ? ",xdp_cpumap_queues=1" : "");
	if (options->cores > 1)
		snprintf(cpus, sizeof(cpus), "%d,%d", last - 1, last);
	else
		snprintf(cpus, sizeof(cpus), "%d", last);
	if (options->no_huge) {
		words[nb++] = WORD("--no-shconf");
		words[nb++] = WORD("-m");
		words[nb++] = WORD("512");
	}
	if (strcmp(options->driver, "stock") != 0) {
		words[nb++] = WORD("-d");
		words[nb++] = WORD(options->driver);
	}
	if (rte_eal_init(nb, words) < 0) {
		/* Some steps of EAL fail without a number. */
		snprintf(reason, size, "EAL does not start: %s", rte_strerror(rte_errno));
		return rte_errno != 0 ? -rte_errno : -EIO;
	}
	return 0;
}

/* Both drivers receive into one buffer, which leaves a program its headroom. */
static uint16_t
data_room(const struct perf_point *point)
{
	uint32_t room = PAGE_POOL_XDP_HEADROOM + point->at[PERF_FRAME] + RTE_ETHER_CRC_LEN +
		2 * RTE_VLAN_HLEN;

	return RTE_ALIGN_CEIL(RTE_MAX(room, RTE_MBUF_DEFAULT_BUF_SIZE + 0u), 64u);
}

static int
make_pool(struct perf_ports *ports, const struct perf_point *point, char *reason, size_t size)
{
	/* A driver may keep what was sent for a whole lap of the ring. */
	unsigned int nb = rte_align32pow2(3 * point->at[PERF_QUEUES] * point->at[PERF_RING] +
		SPARE_MBUFS) - 1;
	unsigned int layout = point->at[PERF_LAYOUT];

	ports->mp = layout == PERF_LAYOUT_MBUF ?
		rte_pktmbuf_pool_create("perf", nb, MEMPOOL_CACHE, 0, data_room(point),
			rte_socket_id()) :
		page_pool_create("perf", nb, MEMPOOL_CACHE, 0, data_room(point), rte_socket_id(),
			&layouts[layout]);
	if (ports->mp == NULL) {
		snprintf(reason, size, "no memory for %u buffers of layout %s: %s", nb,
			perf_layout_name[layout], rte_strerror(rte_errno));
		return -rte_errno;
	}
	return 0;
}

static int
refuse(uint16_t port, int error, const char *what, char *reason, size_t size)
{
	snprintf(reason, size, "port %u: %s: %s", port, what, rte_strerror(-error));
	return error;
}

static int
configure(uint16_t port, const struct perf_ports *ports, const struct perf_point *point,
	struct rte_eth_dev_info *info, char *reason, size_t size)
{
	struct rte_eth_conf conf = { 0 };
	uint16_t mtu = RTE_MAX(point->at[PERF_FRAME] - RTE_ETHER_HDR_LEN, RTE_ETHER_MTU * 1u);
	int ret;

	ret = rte_eth_dev_info_get(port, info);
	if (ret != 0)
		return refuse(port, ret, "device information", reason, size);
	conf.rxmode.mtu = mtu;
	conf.txmode.offloads = info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
	if (ports->nb_queues > 1) {
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf.rx_adv_conf.rss_conf.rss_hf = info->flow_type_rss_offloads &
			(RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP);
	}
	info->default_txconf.offloads = conf.txmode.offloads;
	ret = rte_eth_dev_configure(port, ports->nb_queues + ports->nb_soft_queues,
		ports->nb_queues, &conf);
	if (ret != 0)
		return refuse(port, ret, "configure", reason, size);
	ret = rte_eth_dev_set_mtu(port, mtu);
	return ret != 0 ? refuse(port, ret, "set MTU", reason, size) : 0;
}

static int
start_port(uint16_t port, const struct perf_ports *ports, const struct perf_point *point,
	char *reason, size_t size)
{
	uint16_t rx_ring = port == ports->rx ? point->at[PERF_RING] : IDLE_RING;
	uint16_t tx_ring = port == ports->tx ? point->at[PERF_RING] : IDLE_RING;
	struct rte_eth_dev_info info;
	uint16_t queue;
	int ret;

	ret = configure(port, ports, point, &info, reason, size);
	for (queue = 0; ret == 0 && queue < ports->nb_queues + ports->nb_soft_queues; queue++) {
		ret = rte_eth_rx_queue_setup(port, queue, rx_ring, SOCKET_ID_ANY, NULL, ports->mp);
		if (ret != 0)
			return refuse(port, ret, "receive queue", reason, size);
	}
	for (queue = 0; ret == 0 && queue < ports->nb_queues; queue++) {
		ret = rte_eth_tx_queue_setup(port, queue, tx_ring, SOCKET_ID_ANY,
			&info.default_txconf);
		if (ret != 0)
			return refuse(port, ret, "send queue", reason, size);
	}
	if (ret != 0)
		return ret;
	ret = rte_eth_dev_start(port);
	if (ret != 0)
		return refuse(port, ret, "start", reason, size);
	ret = rte_eth_promiscuous_enable(port);
	return ret != 0 ? refuse(port, ret, "promiscuous mode", reason, size) : 0;
}

int
perf_ports_start(struct perf_ports *ports, const struct perf_options *options,
	const struct perf_point *point, char *reason, size_t size)
{
	struct rte_eth_dev_info info;
	int ret;

	ret = start_eal(options, reason, size);
	if (ret != 0)
		return ret;
	if (rte_eth_dev_count_avail() == 0) {
		snprintf(reason, size, "driver %s finds no port on %s", options->driver,
			options->device);
		return -ENODEV;
	}
	ports->rx = rte_eth_find_next(0);
	ports->tx = rte_eth_dev_count_avail() > 1 ? rte_eth_find_next(ports->rx + 1) : ports->rx;
	ports->nb_queues = point->at[PERF_QUEUES];
	ports->nb_soft_queues = options->soft_queue;
	ret = make_pool(ports, point, reason, size);
	if (ret == 0)
		ret = start_port(ports->rx, ports, point, reason, size);
	if (ret == 0 && ports->tx != ports->rx)
		ret = start_port(ports->tx, ports, point, reason, size);
	if (ret == 0)
		ret = rte_eth_dev_info_get(ports->rx, &info);
	if (ret == 0)
		ports->driver = info.driver_name;
	return ret;
}

void
perf_ports_stop(struct perf_ports *ports)
{
	uint16_t port;

	RTE_ETH_FOREACH_DEV(port) {
		rte_eth_dev_stop(port);
		rte_eth_dev_close(port);
	}
	rte_mempool_free(ports->mp);
	rte_eal_cleanup();
}
