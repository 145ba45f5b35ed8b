/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What net_mlx4x tells of a port, against what the card and the kernel's interface say:
 * extended statistics and the port's counters among them, the transceiver, the LED. Runs
 * on one port that gets back what it sends (vcx3 --wire 1=self).
 */

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_dev_info.h>
#include <rte_eal.h>

#include "self_port.h"

#define MAX_XSTATS 512

/* All names once, all ids in order; a table that is too small only tells the number. */
static int
test_xstats_names(void)
{
	static struct rte_eth_xstat_name names[MAX_XSTATS], again[MAX_XSTATS];
	static struct rte_eth_xstat values[MAX_XSTATS];
	struct rte_eth_conf conf = { 0 };
	int nb, i, j;

	CHECK(self_start(&conf) == 0);
	nb = rte_eth_xstats_get_names(PORT, names, MAX_XSTATS);
	CHECK(nb > 0 && nb <= MAX_XSTATS);
	CHECK(rte_eth_xstats_get_names(PORT, NULL, 0) == nb);
	CHECK(rte_eth_xstats_get(PORT, NULL, 0) == nb);
	CHECK(rte_eth_xstats_get(PORT, values, nb - 1) == nb);
	CHECK(rte_eth_xstats_get(PORT, values, MAX_XSTATS) == nb);
	for (i = 0; i < nb; i++) {
		CHECK(values[i].id == (uint64_t)i);
		for (j = 0; j < i; j++)
			CHECK(strcmp(names[i].name, names[j].name) != 0);
	}
	CHECK(rte_eth_dev_stop(PORT) == 0);
	CHECK(self_start(&conf) == 0);
	CHECK(rte_eth_xstats_get_names(PORT, again, MAX_XSTATS) == nb);
	CHECK(memcmp(names, again, sizeof(names)) == 0);
	return 0;
}

/* A few by id: each has the value that it has among all, and the other way by name. */
static int
test_xstats_by_id(void)
{
	static const char *const wanted[] = {
		"rx_q0_bytes", "rx_phy_packets", "tx_q0_packets", "rx_xdp_drop",
	};
	uint64_t ids[RTE_DIM(wanted)], values[RTE_DIM(wanted)];
	struct rte_eth_xstat_name names[RTE_DIM(wanted)];
	struct rte_eth_conf conf = { 0 };
	unsigned int i;

	CHECK(self_start(&conf) == 0);
	for (i = 0; i < 7; i++)
		CHECK(echo(new_frame(i), i) == 0);
	for (i = 0; i < RTE_DIM(wanted); i++)
		CHECK(rte_eth_xstats_get_id_by_name(PORT, wanted[i], &ids[i]) == 0);
	CHECK(rte_eth_xstats_get_names_by_id(PORT, names, RTE_DIM(ids), ids) == RTE_DIM(ids));
	CHECK(rte_eth_xstats_get_by_id(PORT, ids, values, RTE_DIM(ids)) == RTE_DIM(ids));
	for (i = 0; i < RTE_DIM(wanted); i++) {
		CHECK(strcmp(names[i].name, wanted[i]) == 0);
		CHECK(values[i] == port_xstat(PORT, wanted[i]));
	}
	CHECK(values[0] == 7 * FRAME && values[2] == 7 && values[3] == 0);
	ids[1] = MAX_XSTATS;
	CHECK(rte_eth_xstats_get_by_id(PORT, ids, values, RTE_DIM(ids)) < 0);
	return 0;
}

/* Counters of the driver begin at 0 after a reset of either kind. */
static int
test_reset(void)
{
	struct rte_eth_conf conf = { 0 };

	CHECK(self_start(&conf) == 0);
	CHECK(echo(new_frame(1), 1) == 0);
	CHECK(port_xstat(PORT, "rx_q0_packets") == 1 && port_xstat(PORT, "tx_bytes") == FRAME);
	CHECK(rte_eth_xstats_reset(PORT) == 0);
	CHECK(port_xstat(PORT, "rx_q0_packets") == 0 && port_xstat(PORT, "tx_bytes") == 0);
	CHECK(port_xstat(PORT, "rx_phy_packets") == 0);
	CHECK(echo(new_frame(2), 2) == 0);
	CHECK(port_xstat(PORT, "rx_q0_packets") == 1 && port_xstat(PORT, "tx_bytes") == FRAME);
	CHECK(port_xstat(PORT, "rx_phy_packets") == 1);
	CHECK(rte_eth_stats_reset(PORT) == 0);
	CHECK(port_xstat(PORT, "rx_q0_packets") == 0);
	CHECK(port_xstat(PORT, "rx_phy_packets") == 1);	/* it is no basic statistic */
	return 0;
}

/* The port's counters are the card's. */
static int
test_phy_counters(void)
{
	struct rte_eth_conf conf = { 0 };
	struct rte_mbuf *mbuf;
	uint16_t i;
	long frames, bytes, no_rule;

	CHECK(self_start(&conf) == 0);
	CHECK(rte_eth_xstats_reset(PORT) == 0);
	frames = card_counter("rx_frames");
	bytes = card_counter("tx_bytes");
	no_rule = card_counter("rx_drop_no_rule");
	for (i = 0; i < 20; i++)
		CHECK(echo(new_frame(i), i) == 0);
	CHECK(port_xstat(PORT, "rx_phy_packets") == 20);
	CHECK(card_counter("rx_frames") == frames + 20);
	CHECK(port_xstat(PORT, "tx_phy_bytes") == 20 * FRAME);
	CHECK(card_counter("tx_bytes") == bytes + 20 * FRAME);
	/* What nobody takes is seen by the port and by no queue. */
	mbuf = new_frame(1);
	CHECK(mbuf != NULL);
	*rte_pktmbuf_mtod_offset(mbuf, uint8_t *, RTE_ETHER_ADDR_LEN - 1) ^= 0x80;
	CHECK(send_frame(mbuf));
	CHECK_SOON(card_counter("rx_drop_no_rule") == no_rule + 1);
	CHECK(port_xstat(PORT, "rx_phy_dropped") == 1);
	CHECK(port_xstat(PORT, "rx_q0_packets") == port_xstat(PORT, "rx_phy_packets"));
	/* The kernel's rings and its checksums are not the port. */
	CHECK(port_xstat(PORT, "rx_phy_xdp_drop") == UINT64_MAX);
	CHECK(port_xstat(PORT, "rx_phy_csum_none") == UINT64_MAX);
	return 0;
}

static bool
link_is_up(void)
{
	struct rte_eth_link link;

	return rte_eth_link_get_nowait(PORT, &link) == 0 && link.link_status;
}

/* mlx4_en counts from 0 when its interface is set up; what had been counted stays. */
static int
test_phy_goes_on(void)
{
	struct rte_eth_conf conf = { 0 };
	uint16_t i;

	CHECK(self_start(&conf) == 0);
	CHECK(rte_eth_xstats_reset(PORT) == 0);
	for (i = 0; i < 5; i++)
		CHECK(echo(new_frame(i), i) == 0);
	CHECK(port_xstat(PORT, "rx_phy_packets") == 5);
	CHECK(rte_eth_dev_set_link_down(PORT) == 0);
	CHECK(rte_eth_dev_set_link_up(PORT) == 0);
	CHECK_SOON(link_is_up());
	CHECK(port_xstat(PORT, "rx_phy_packets") == 5);
	for (i = 0; i < 3; i++)
		CHECK(echo(new_frame(i), i) == 0);
	CHECK(port_xstat(PORT, "rx_phy_packets") == 8);
	CHECK(port_xstat(PORT, "tx_phy_packets") == 8);
	CHECK(rte_eth_xstats_reset(PORT) == 0);
	CHECK(port_xstat(PORT, "rx_phy_packets") == 0);
	return 0;
}

/* What others do to the kernel's interface meanwhile. */
static int
kernel_ethtool(void *command)
{
	struct ifreq ifr = { .ifr_data = command };
	struct rte_eth_dev_info info;
	int fd = socket(AF_INET, SOCK_DGRAM, 0), ret = -1;

	if (rte_eth_dev_info_get(PORT, &info) == 0 &&
	    if_indextoname(info.if_index, ifr.ifr_name) != NULL)
		ret = ioctl(fd, SIOCETHTOOL, &ifr);
	close(fd);
	return ret;
}

/* `ethtool -L`: other rings, and with them other statistics. */
static int
set_kernel_rings(uint32_t nb)
{
	struct ethtool_channels channels = {
		.cmd = ETHTOOL_SCHANNELS, .rx_count = nb, .tx_count = nb,
	};

	return kernel_ethtool(&channels);
}

/* Names and numbers stay what they were at probe. */
static int
test_phy_and_rings(void)
{
	static const uint32_t nb_rings[] = { 32, 2, 1 };
	static struct rte_eth_xstat_name names[MAX_XSTATS], now[MAX_XSTATS];
	struct rte_eth_conf conf = { 0 };
	uint16_t i;
	int nb;

	CHECK(self_start(&conf) == 0);
	nb = rte_eth_xstats_get_names(PORT, names, MAX_XSTATS);
	CHECK(nb > 0 && nb <= MAX_XSTATS);
	CHECK(rte_eth_xstats_reset(PORT) == 0);
	for (i = 0; i < RTE_DIM(nb_rings); i++) {
		CHECK(set_kernel_rings(nb_rings[i]) == 0);
		CHECK(echo(new_frame(i), i) == 0);
		CHECK(rte_eth_xstats_get_names(PORT, now, MAX_XSTATS) == nb);
		CHECK(memcmp(names, now, sizeof(names)) == 0);
		CHECK(port_xstat(PORT, "rx_phy_packets") == i + 1u);
		CHECK(port_xstat(PORT, "tx_phy_bytes") == (i + 1u) * FRAME);
	}
	CHECK(set_kernel_rings(0) == -1 && errno == EINVAL);
	return 0;
}

/* The speed that the link has is one that the port says it can have. */
static int
test_speed(void)
{
	struct rte_eth_dev_info info;
	struct rte_eth_link link;

	CHECK(rte_eth_dev_info_get(PORT, &info) == 0);
	CHECK_SOON(link_is_up());
	CHECK(rte_eth_link_get_nowait(PORT, &link) == 0);
	CHECK(link.link_speed == RTE_ETH_SPEED_NUM_40G);
	CHECK(info.speed_capa & rte_eth_speed_bitflag(link.link_speed, link.link_duplex));
	CHECK(info.speed_capa & RTE_ETH_LINK_SPEED_10G);
	CHECK(!(info.speed_capa & RTE_ETH_LINK_SPEED_100G));
	return 0;
}

/* What is told as a limit can be had, one more or less is refused. */
static int
test_limits(void)
{
	struct rte_eth_conf conf = { 0 };
	struct rte_eth_dev_info info;
	uint16_t nb_min, mtu;

	CHECK(rte_eth_dev_info_get(PORT, &info) == 0);
	CHECK(info.min_mtu == RTE_ETHER_MIN_MTU && info.max_mtu == 9600);
	CHECK(rte_eth_dev_get_mtu(PORT, &mtu) == 0);
	CHECK(rte_eth_dev_configure(PORT, 1, 1, &conf) == 0);
	CHECK(rte_eth_dev_set_mtu(PORT, info.min_mtu - 1) == -EINVAL);
	CHECK(rte_eth_dev_set_mtu(PORT, info.max_mtu + 1) == -EINVAL);
	CHECK(rte_eth_dev_set_mtu(PORT, info.min_mtu) == 0);
	CHECK(rte_eth_dev_set_mtu(PORT, mtu) == 0);
	nb_min = info.rx_desc_lim.nb_min;
	CHECK(nb_min == 64 && info.tx_desc_lim.nb_min == 64);
	CHECK(rte_eth_rx_queue_setup(PORT, 0, nb_min - 1, SOCKET_ID_ANY, NULL, pool) == -EINVAL);
	CHECK(rte_eth_tx_queue_setup(PORT, 0, nb_min - 1, SOCKET_ID_ANY, NULL) == -EINVAL);
	CHECK(rte_eth_tx_queue_setup(PORT, 0, info.tx_desc_lim.nb_max, SOCKET_ID_ANY, NULL) == 0);
	CHECK(rte_eth_tx_queue_setup(PORT, 0, info.tx_desc_lim.nb_max + 1, SOCKET_ID_ANY,
		NULL) == -EINVAL);
	CHECK(rte_eth_rx_queue_setup(PORT, 0, info.rx_desc_lim.nb_max + 1, SOCKET_ID_ANY, NULL,
		pool) == -EINVAL);
	CHECK(rte_eth_rx_queue_setup(PORT, 0, nb_min, SOCKET_ID_ANY, NULL, pool) == 0);
	CHECK(rte_eth_dev_start(PORT) == 0);
	return echo(new_frame(1), 1);
}

/* The bytes that vcx3's module holds (SFF-8636): identifier, connector, vendor name. */
static int
test_module(void)
{
	struct rte_eth_dev_module_info info = { 0 };
	uint8_t bytes[256];
	struct rte_dev_eeprom_info eeprom = { .data = bytes, .length = sizeof(bytes) };

	CHECK(rte_eth_dev_get_module_info(PORT, &info) == 0);
	CHECK(info.type == RTE_ETH_MODULE_SFF_8436 && info.eeprom_len == sizeof(bytes));
	memset(bytes, 0xaa, sizeof(bytes));
	CHECK(rte_eth_dev_get_module_eeprom(PORT, &eeprom) == 0);
	CHECK(bytes[0] == 0x0d && bytes[1] == 0 && bytes[128] == 0x0d && bytes[130] == 0x23);
	CHECK(memcmp(bytes + 148, "vcx3            ", 16) == 0);
	eeprom.offset = 148;
	eeprom.length = 4;
	CHECK(rte_eth_dev_get_module_eeprom(PORT, &eeprom) == 0);
	CHECK(memcmp(bytes, "vcx3", 4) == 0 && bytes[4] == 0);
	eeprom.offset = sizeof(bytes) - 3;
	CHECK(rte_eth_dev_get_module_eeprom(PORT, &eeprom) == -EINVAL);
	eeprom.offset = UINT32_MAX;
	eeprom.length = 2;
	CHECK(rte_eth_dev_get_module_eeprom(PORT, &eeprom) == -EINVAL);
	CHECK(memcmp(bytes, "vcx3", 4) == 0);
	return 0;
}

/* `ethtool -p` of somebody else. */
static void *
blink_for_another(void *seconds)
{
	struct ethtool_value request = { .cmd = ETHTOOL_PHYS_ID, .data = *(uint32_t *)seconds };

	kernel_ethtool(&request);
	return NULL;
}

static int
test_led_is_busy(void)
{
	uint32_t seconds = 3;
	pthread_t another;

	CHECK(pthread_create(&another, NULL, blink_for_another, &seconds) == 0);
	CHECK_SOON(card_counter("identifies") == 1);
	CHECK(rte_eth_led_on(PORT) == -EBUSY);
	CHECK(rte_eth_led_off(PORT) == 0);
	CHECK(pthread_join(another, NULL) == 0);
	CHECK(card_counter("identifies") == 0);
	CHECK(rte_eth_led_on(PORT) == 0);
	CHECK(rte_eth_led_off(PORT) == 0);
	return 0;
}

static int
test_led(void)
{
	struct rte_eth_conf conf = { 0 };

	CHECK(self_start(&conf) == 0);
	CHECK(rte_eth_led_off(PORT) == 0);
	CHECK(rte_eth_led_on(PORT) == 0);
	CHECK(rte_eth_led_on(PORT) == 0);
	CHECK_SOON(card_counter("identifies") == 1);
	CHECK(echo(new_frame(1), 1) == 0);	/* nothing waits for it */
	CHECK(rte_eth_led_off(PORT) == 0);
	CHECK(card_counter("identifies") == 0);
	CHECK(rte_eth_led_on(PORT) == 0);
	CHECK(rte_eth_led_off(PORT) == 0);
	return 0;
}

/*
 * MBUF_FAST_FREE: completed frames go straight to the pool, whatever their reference count
 * says. Without the offload a frame that has another owner stays its.
 */
static int
send_shared(uint64_t offloads, unsigned int *in_use)
{
	struct rte_eth_conf conf = { .txmode.offloads = offloads };
	unsigned int ring_in_use;
	struct rte_mbuf *mbuf;

	CHECK(self_start(&conf) == 0);
	ring_in_use = rte_mempool_in_use_count(pool);
	mbuf = new_frame(1);
	rte_mbuf_refcnt_set(mbuf, 2);
	CHECK(send_frame(mbuf));
	CHECK(take_frame(1));
	CHECK(rte_eth_tx_done_cleanup(PORT, 0, 0) >= 0);
	CHECK(rte_eth_dev_stop(PORT) == 0);
	*in_use = rte_mempool_in_use_count(pool);
	CHECK(ring_in_use == RING && *in_use <= 1);
	CHECK(rte_mbuf_refcnt_read(mbuf) == (*in_use == 0 ? 2 : 1));
	rte_mbuf_refcnt_set(mbuf, 1);
	if (*in_use == 1)
		rte_pktmbuf_free(mbuf);
	return 0;
}

static int
test_fast_free(void)
{
	unsigned int in_use;

	CHECK(send_shared(RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE, &in_use) == 0);
	CHECK(in_use == 0);
	CHECK(send_shared(0, &in_use) == 0);
	CHECK(in_use == 1);
	return 0;
}

/* The last one: without the card the port's counters are what they were. */
static int
test_removed(void)
{
	struct rte_eth_dev_module_info info;
	struct rte_eth_conf conf = { 0 };
	uint16_t i;

	CHECK(self_start(&conf) == 0);
	CHECK(rte_eth_xstats_reset(PORT) == 0);
	CHECK(rte_eth_dev_is_removed(PORT) == 0);
	for (i = 0; i < 3; i++)
		CHECK(echo(new_frame(i), i) == 0);
	CHECK(port_xstat(PORT, "rx_phy_packets") == 3);
	/* A card that is gone gives no frame back. The ring lacks the three that came. */
	CHECK_SOON(rte_eth_tx_done_cleanup(PORT, 0, 0) >= 0 &&
		rte_mempool_in_use_count(pool) == RING - 3);
	CHECK(card_ctl("unplug"));
	CHECK_SOON(rte_eth_dev_is_removed(PORT) == 1);
	CHECK(port_xstat(PORT, "rx_phy_packets") == 3);
	CHECK(rte_eth_xstats_reset(PORT) == 0);
	CHECK(port_xstat(PORT, "rx_phy_packets") == 0);
	CHECK(rte_eth_dev_get_module_info(PORT, &info) == -ENODEV);
	CHECK(rte_eth_led_on(PORT) == -EIO);
	return 0;
}

static const struct self_test tests[] = {
	{ "xstats_names", test_xstats_names },
	{ "xstats_by_id", test_xstats_by_id },
	{ "reset", test_reset },
	{ "phy_counters", test_phy_counters },
	{ "phy_goes_on", test_phy_goes_on },
	{ "phy_and_rings", test_phy_and_rings },
	{ "speed", test_speed },
	{ "limits", test_limits },
	{ "module", test_module },
	{ "led", test_led },
	{ "led_is_busy", test_led_is_busy },
	{ "fast_free", test_fast_free },
	{ "removed", test_removed },
};

int
main(int argc, char **argv)
{
	return self_main(argc, argv, tests, RTE_DIM(tests));
}
