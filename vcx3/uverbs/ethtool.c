/* SPDX-License-Identifier: BSD-3-Clause */

/* See ethtool.h. */

#include "ethtool.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <net/if.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/module.h"

static int
get_settings(const struct vcx3_netdev *netdev, struct ethtool_cmd *settings)
{
	uint32_t speed = uv_netdev_is_up(netdev) ? netdev->speed_mbps : (uint32_t)SPEED_UNKNOWN;

	memset((char *)settings + sizeof(settings->cmd), 0, sizeof(*settings) - sizeof(settings->cmd));
	settings->supported = SUPPORTED_40000baseCR4_Full | SUPPORTED_10000baseKR_Full |
			      SUPPORTED_FIBRE;
	settings->advertising = settings->supported;
	settings->port = PORT_DA;
	settings->autoneg = AUTONEG_DISABLE;
	settings->duplex = uv_netdev_is_up(netdev) ? DUPLEX_FULL : DUPLEX_UNKNOWN;
	ethtool_cmd_speed_set(settings, speed);
	return 0;
}

/* The caller asks twice: first with a mask size of 0 to hear the right one, negated. */
static int
get_link_settings(const struct vcx3_netdev *netdev, struct ethtool_link_settings *settings)
{
	enum { NB_WORDS = 3 };
	int8_t asked = settings->link_mode_masks_nwords;
	uint32_t command = settings->cmd;

	memset(settings, 0, sizeof(*settings));
	settings->cmd = command;
	if (asked != NB_WORDS) {
		settings->link_mode_masks_nwords = -NB_WORDS;
		return 0;
	}
	settings->link_mode_masks_nwords = NB_WORDS;
	settings->speed = uv_netdev_is_up(netdev) ? netdev->speed_mbps : (uint32_t)SPEED_UNKNOWN;
	settings->duplex = uv_netdev_is_up(netdev) ? DUPLEX_FULL : DUPLEX_UNKNOWN;
	settings->port = PORT_DA;
	memset(settings->link_mode_masks, 0, 3 * NB_WORDS * sizeof(uint32_t));
	settings->link_mode_masks[0] = SUPPORTED_40000baseCR4_Full | SUPPORTED_10000baseKR_Full;
	settings->link_mode_masks[NB_WORDS] = settings->link_mode_masks[0];
	return 0;
}

static int
get_pause(const struct vcx3_netdev *netdev, struct ethtool_pauseparam *pause)
{
	pause->autoneg = netdev->pause_autoneg;
	pause->rx_pause = netdev->pause_rx;
	pause->tx_pause = netdev->pause_tx;
	return 0;
}

static int
set_pause(struct vcx3_netdev *netdev, const struct ethtool_pauseparam *pause)
{
	if (pause->autoneg)
		return -EINVAL;
	netdev->pause_rx = pause->rx_pause != 0;
	netdev->pause_tx = pause->tx_pause != 0;
	return 0;
}

/*
 * Statistics under mlx4_en's names and in its order, as far as the device model counts them.
 * What ends in _phy is the port's. Packets and bytes without that are those that the netdev
 * itself has seen, and a virtual function is told of no others.
 */
#define NOT_COUNTED SIZE_MAX

struct statistic {
	char name[ETH_GSTRING_LEN];
	size_t counter;
	size_t other; /* added to it */
	bool vf;
};

#define AT(field) offsetof(struct vcx3_port_counters, field)

static const struct statistic statistics[] = {
	{"rx_packets", AT(rx_host), NOT_COUNTED, true},
	{"tx_packets", AT(tx_host), NOT_COUNTED, true},
	{"rx_bytes", AT(rx_host_bytes), NOT_COUNTED, true},
	{"tx_bytes", AT(tx_host_bytes), NOT_COUNTED, true},
	{"rx_dropped", AT(rx_drop_no_rule), NOT_COUNTED, true},
	{"tx_dropped", AT(tx_drop_wire), NOT_COUNTED, true},
	{"rx_over_errors", AT(rx_drop_no_wqe), NOT_COUNTED, false},
	{"rx_crc_errors", AT(rx_drop_bad_fcs), NOT_COUNTED, false},
	{"rx_csum_none", AT(rx_host), NOT_COUNTED, false},
	{"rx_multicast_packets", AT(rx_multicast), NOT_COUNTED, false},
	{"rx_broadcast_packets", AT(rx_broadcast), NOT_COUNTED, false},
	{"rx_jabbers", AT(rx_drop_oversize), NOT_COUNTED, false},
	{"tx_multicast_packets", AT(tx_multicast), NOT_COUNTED, false},
	{"tx_broadcast_packets", AT(tx_broadcast), NOT_COUNTED, false},
	{"rx_xdp_drop", NOT_COUNTED, NOT_COUNTED, false},
	{"rx_packets_phy", AT(rx_frames), AT(rx_host), false},
	{"rx_bytes_phy", AT(rx_bytes), AT(rx_host_bytes), false},
	{"tx_packets_phy", AT(tx_frames), AT(tx_host), false},
	{"tx_bytes_phy", AT(tx_bytes), AT(tx_host_bytes), false},
};

/* Behind these come those of its rings: packets and bytes of each, all in the first one. */
static const struct statistic tx_ring[] = {
	{"tx%u_packets", AT(tx_host), NOT_COUNTED, true},
	{"tx%u_bytes", AT(tx_host_bytes), NOT_COUNTED, true},
};
static const struct statistic rx_ring[] = {
	{"rx%u_packets", AT(rx_host), NOT_COUNTED, true},
	{"rx%u_bytes", AT(rx_host_bytes), NOT_COUNTED, true},
};

#define NB_STATISTICS (sizeof(statistics) / sizeof(statistics[0]))

static bool
has_statistic(const struct uv_card *card, size_t i)
{
	return statistics[i].vf || card->options.identity != VCX3_IDENTITY_VF;
}

#define NB_OF_RING (sizeof(tx_ring) / sizeof(tx_ring[0]))

static uint32_t
nb_statistics(const struct uv_card *card, const struct vcx3_netdev *netdev)
{
	uint32_t nb = NB_OF_RING * (2 + netdev->more_tx_rings + netdev->more_rx_rings);
	size_t i;

	for (i = 0; i < NB_STATISTICS; i++)
		nb += has_statistic(card, i);
	return nb;
}

static int
get_driver_info(const struct uv_card *card, const struct vcx3_netdev *netdev,
		struct ethtool_drvinfo *info)
{
	memset((char *)info + sizeof(info->cmd), 0, sizeof(*info) - sizeof(info->cmd));
	strcpy(info->driver, "mlx4_en");
	snprintf(info->fw_version, sizeof(info->fw_version), "%d.%d.%d", VCX3_FIRMWARE_MAJOR,
		 VCX3_FIRMWARE_MINOR, VCX3_FIRMWARE_PATCH);
	strcpy(info->bus_info, VCX3_PCI_ADDRESS);
	info->n_stats = nb_statistics(card, netdev);
	return 0;
}

static int
get_set_sizes(const struct uv_card *card, const struct vcx3_netdev *netdev,
	      struct ethtool_sset_info *info)
{
	bool wanted = info->sset_mask & 1ull << ETH_SS_STATS;

	info->sset_mask = wanted ? 1ull << ETH_SS_STATS : 0;
	if (wanted)
		info->data[0] = nb_statistics(card, netdev);
	return 0;
}

static char *
put_ring_names(char *at, const struct statistic *rows, uint32_t nb_rings)
{
	uint32_t ring, i;

	for (ring = 0; ring < nb_rings; ring++)
		for (i = 0; i < NB_OF_RING; i++, at += ETH_GSTRING_LEN) {
			char name[ETH_GSTRING_LEN] = "";

			snprintf(name, sizeof(name), rows[i].name, ring);
			memcpy(at, name, sizeof(name));
		}
	return at;
}

/* Here and below: as Linux, which writes all it has, whatever room the caller told of. */
static int
get_strings(const struct uv_card *card, const struct vcx3_netdev *netdev,
	    struct ethtool_gstrings *strings)
{
	char *at = (char *)strings->data;
	size_t i;

	if (strings->string_set != ETH_SS_STATS)
		return -EOPNOTSUPP;
	strings->len = nb_statistics(card, netdev);
	for (i = 0; i < NB_STATISTICS; i++) {
		if (!has_statistic(card, i))
			continue;
		memset(at, 0, ETH_GSTRING_LEN);
		strcpy(at, statistics[i].name);
		at += ETH_GSTRING_LEN;
	}
	at = put_ring_names(at, tx_ring, 1 + netdev->more_tx_rings);
	put_ring_names(at, rx_ring, 1 + netdev->more_rx_rings);
	return 0;
}

static uint64_t
read_counter(const struct vcx3_port_counters *counters, size_t offset)
{
	uint64_t value = 0;

	if (offset != NOT_COUNTED)
		memcpy(&value, (const char *)counters + offset, sizeof(value));
	return value;
}

void
uv_ethtool_publish(struct uv_card *card, struct vcx3_netdev *netdev)
{
	if (card->runner != NULL && !uv_is_forked())
		vcx3_port_counters(card->core, uv_netdev_port(card, netdev), &netdev->counters);
}

static uint64_t
read_statistic(const struct vcx3_netdev *netdev, const struct statistic *statistic)
{
	return read_counter(&netdev->counters, statistic->counter) +
	       read_counter(&netdev->counters, statistic->other) -
	       read_counter(&netdev->cleared, statistic->counter) -
	       read_counter(&netdev->cleared, statistic->other);
}

static uint64_t *
put_ring_values(uint64_t *out, const struct vcx3_netdev *netdev, const struct statistic *rows,
		uint32_t nb_rings)
{
	uint32_t ring, i;

	for (ring = 0; ring < nb_rings; ring++)
		for (i = 0; i < NB_OF_RING; i++)
			*out++ = ring == 0 ? read_statistic(netdev, &rows[i]) : 0;
	return out;
}

static int
get_statistics(struct uv_card *card, struct vcx3_netdev *netdev, struct ethtool_stats *stats)
{
	uint64_t *out = (uint64_t *)stats->data;
	size_t i;

	uv_lock(card);
	uv_ethtool_publish(card, netdev);
	for (i = 0; i < NB_STATISTICS; i++)
		if (has_statistic(card, i))
			*out++ = read_statistic(netdev, &statistics[i]);
	out = put_ring_values(out, netdev, tx_ring, 1 + netdev->more_tx_rings);
	put_ring_values(out, netdev, rx_ring, 1 + netdev->more_rx_rings);
	uv_unlock(card);
	stats->n_stats = nb_statistics(card, netdev);
	return 0;
}

/* mlx4_en's limits: MLX4_EN_MAX_TX_RING_P_UP and the number of receive rings. */
#define MAX_TX_RINGS 32
#define MAX_RX_RINGS 128

static int
get_channels(const struct vcx3_netdev *netdev, struct ethtool_channels *channels)
{
	memset((char *)channels + sizeof(channels->cmd), 0,
	       sizeof(*channels) - sizeof(channels->cmd));
	channels->max_tx = MAX_TX_RINGS;
	channels->max_rx = MAX_RX_RINGS;
	channels->tx_count = 1 + netdev->more_tx_rings;
	channels->rx_count = 1 + netdev->more_rx_rings;
	return 0;
}

static int
set_channels(struct vcx3_netdev *netdev, const struct ethtool_channels *channels)
{
	if (channels->tx_count == 0 || channels->tx_count > MAX_TX_RINGS ||
	    channels->rx_count == 0 || channels->rx_count > MAX_RX_RINGS ||
	    channels->combined_count != 0 || channels->other_count != 0)
		return -EINVAL;
	netdev->more_tx_rings = channels->tx_count - 1;
	netdev->more_rx_rings = channels->rx_count - 1;
	return 0;
}

/* A virtual function may not ask the port's module: its command fails. */
static int
get_module_info(const struct uv_card *card, struct ethtool_modinfo *info)
{
	if (card->options.identity == VCX3_IDENTITY_VF)
		return -EIO;
	info->type = ETH_MODULE_SFF_8436;
	info->eeprom_len = VCX3_MODULE_SIZE;
	return 0;
}

static int
get_module_eeprom(const struct uv_card *card, struct ethtool_eeprom *eeprom)
{
	if (card->options.identity == VCX3_IDENTITY_VF)
		return -EIO;
	if (eeprom->len == 0 || !vcx3_module_read(eeprom->offset, eeprom->data, eeprom->len))
		return -EINVAL;
	return 0;
}

/*
 * The LED blinks so many seconds, 0: without end, or until a signal comes; the caller waits.
 * Linux lets one port of the machine do so at a time. A virtual function has no LED.
 */
static int
identify(struct uv_card *card, struct vcx3_netdev *netdev, const struct ethtool_value *seconds)
{
	struct timespec left = {.tv_sec = seconds->data != 0 ? (time_t)seconds->data : INT32_MAX};
	uint32_t idle = 0;

	if (card->options.identity == VCX3_IDENTITY_VF)
		return -EOPNOTSUPP;
	if (!atomic_compare_exchange_strong(&card->shared->identifies, &idle,
					    uv_netdev_port(card, netdev)))
		return -EBUSY;
	nanosleep(&left, NULL);
	atomic_store(&card->shared->identifies, 0);
	return 0;
}

int
uv_ethtool(struct uv_card *card, struct vcx3_netdev *netdev, void *data)
{
	switch (*(const uint32_t *)data) {
	case ETHTOOL_GSET:
		return get_settings(netdev, data);
	case ETHTOOL_GLINKSETTINGS:
		return get_link_settings(netdev, data);
	case ETHTOOL_GPAUSEPARAM:
		return get_pause(netdev, data);
	case ETHTOOL_SPAUSEPARAM:
		return set_pause(netdev, data);
	case ETHTOOL_GLINK:
		((struct ethtool_value *)data)->data = uv_netdev_is_up(netdev);
		return 0;
	case ETHTOOL_GDRVINFO:
		return get_driver_info(card, netdev, data);
	case ETHTOOL_GSSET_INFO:
		return get_set_sizes(card, netdev, data);
	case ETHTOOL_GSTRINGS:
		return get_strings(card, netdev, data);
	case ETHTOOL_GSTATS:
		return get_statistics(card, netdev, data);
	case ETHTOOL_GCHANNELS:
		return get_channels(netdev, data);
	case ETHTOOL_SCHANNELS:
		return set_channels(netdev, data);
	case ETHTOOL_GMODULEINFO:
		return get_module_info(card, data);
	case ETHTOOL_GMODULEEEPROM:
		return get_module_eeprom(card, data);
	case ETHTOOL_PHYS_ID:
		return identify(card, netdev, data);
	default:
		return -EOPNOTSUPP;
	}
}
