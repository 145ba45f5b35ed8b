/* SPDX-License-Identifier: BSD-3-Clause */

/* See netdev.h. */

#include "netdev.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../core/port.h"
#include "real.h"

#define CHANGEABLE_FLAGS (IFF_UP | IFF_PROMISC | IFF_ALLMULTI | IFF_DEBUG)

/* A QSFP+ module with a passive copper cable (SFF-8636): identifier and a vendor name. */
#define MODULE_EEPROM_SIZE ETH_MODULE_SFF_8436_LEN
#define MODULE_IDENTIFIER_QSFP_PLUS 0x0d
#define MODULE_CONNECTOR_NO_SEPARABLE 0x23

const struct vcx3_netdev *
uv_netdev_by_name(const char *name)
{
	struct uv_card *card = uv_card();
	unsigned int i;

	for (i = 0; card != NULL && i < card->options.ports; i++)
		if (card->shared->netdev[i].name[0] != '\0' &&
		    strncmp(card->shared->netdev[i].name, name, VCX3_IFNAME_SIZE) == 0)
			return &card->shared->netdev[i];
	return NULL;
}

const struct vcx3_netdev *
uv_netdev_by_index(unsigned int index)
{
	struct uv_card *card = uv_card();
	unsigned int i;

	for (i = 0; card != NULL && i < card->options.ports; i++)
		if (card->shared->netdev[i].name[0] != '\0' &&
		    card->shared->netdev[i].index == index)
			return &card->shared->netdev[i];
	return NULL;
}

static unsigned int
port_of(const struct uv_card *card, const struct vcx3_netdev *netdev)
{
	return netdev - card->shared->netdev + 1;
}

static int
set_flags(struct uv_card *card, struct vcx3_netdev *netdev, uint32_t wanted)
{
	uint32_t flags = (netdev->flags & ~(uint32_t)CHANGEABLE_FLAGS) |
			 (wanted & CHANGEABLE_FLAGS);

	netdev->flags = flags;
	if (card->core == NULL) {
		netdev->running = flags & IFF_UP ? 1 : 0;
		return 0;
	}
	uv_lock(card);
	vcx3_port_set_admin(card->core, port_of(card, netdev), flags & IFF_UP);
	uv_unlock(card);
	/* Until the card has an owner the link follows the interface. */
	if (card->runner == NULL)
		netdev->running = flags & IFF_UP ? 1 : 0;
	return 0;
}

static int
set_mtu(struct uv_card *card, struct vcx3_netdev *netdev, int mtu)
{
	if (mtu < VCX3_NETDEV_MIN_MTU || mtu > VCX3_MAX_MTU)
		return -EINVAL;
	netdev->mtu = mtu;
	if (card->core == NULL)
		return 0;
	uv_lock(card);
	vcx3_port_set_mtu(card->core, port_of(card, netdev), mtu);
	uv_unlock(card);
	return 0;
}

static bool
is_up(const struct vcx3_netdev *netdev)
{
	return netdev->flags & IFF_UP && netdev->running;
}

static int
get_settings(const struct vcx3_netdev *netdev, struct ethtool_cmd *settings)
{
	uint32_t speed = is_up(netdev) ? netdev->speed_mbps : (uint32_t)SPEED_UNKNOWN;

	memset((char *)settings + sizeof(settings->cmd), 0, sizeof(*settings) - sizeof(settings->cmd));
	settings->supported = SUPPORTED_40000baseCR4_Full | SUPPORTED_10000baseKR_Full |
			      SUPPORTED_FIBRE;
	settings->advertising = settings->supported;
	settings->port = PORT_DA;
	settings->autoneg = AUTONEG_DISABLE;
	settings->duplex = is_up(netdev) ? DUPLEX_FULL : DUPLEX_UNKNOWN;
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
	settings->speed = is_up(netdev) ? netdev->speed_mbps : (uint32_t)SPEED_UNKNOWN;
	settings->duplex = is_up(netdev) ? DUPLEX_FULL : DUPLEX_UNKNOWN;
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

/* Statistics under mlx4_en's names, as far as the device model counts them. */
static const struct {
	const char *name;
	size_t offset;
} statistics[] = {
#define STATISTIC(name, field) {name, offsetof(struct vcx3_port_counters, field)}
	STATISTIC("rx_packets", rx_frames),
	STATISTIC("tx_packets", tx_frames),
	STATISTIC("rx_bytes", rx_bytes),
	STATISTIC("tx_bytes", tx_bytes),
	STATISTIC("rx_multicast_packets", rx_multicast),
	STATISTIC("rx_broadcast_packets", rx_broadcast),
	STATISTIC("tx_multicast_packets", tx_multicast),
	STATISTIC("tx_broadcast_packets", tx_broadcast),
	STATISTIC("rx_crc_errors", rx_drop_bad_fcs),
	STATISTIC("rx_over_errors", rx_drop_no_wqe),
	STATISTIC("rx_jabbers", rx_drop_oversize),
	STATISTIC("rx_dropped", rx_drop_no_rule),
#undef STATISTIC
};

#define NB_STATISTICS (sizeof(statistics) / sizeof(statistics[0]))

static int
get_driver_info(const struct vcx3_netdev *netdev, struct ethtool_drvinfo *info)
{
	memset((char *)info + sizeof(info->cmd), 0, sizeof(*info) - sizeof(info->cmd));
	strcpy(info->driver, "mlx4_en");
	snprintf(info->fw_version, sizeof(info->fw_version), "%d.%d.%d", VCX3_FIRMWARE_MAJOR,
		 VCX3_FIRMWARE_MINOR, VCX3_FIRMWARE_PATCH);
	strcpy(info->bus_info, VCX3_PCI_ADDRESS);
	info->n_stats = NB_STATISTICS;
	return 0;
}

static int
get_set_sizes(struct ethtool_sset_info *info)
{
	bool wanted = info->sset_mask & 1ull << ETH_SS_STATS;

	info->sset_mask = wanted ? 1ull << ETH_SS_STATS : 0;
	if (wanted)
		info->data[0] = NB_STATISTICS;
	return 0;
}

static int
get_strings(struct ethtool_gstrings *strings)
{
	size_t i;

	if (strings->string_set != ETH_SS_STATS)
		return -EOPNOTSUPP;
	strings->len = NB_STATISTICS;
	for (i = 0; i < NB_STATISTICS; i++) {
		char *at = (char *)strings->data + i * ETH_GSTRING_LEN;

		memset(at, 0, ETH_GSTRING_LEN);
		strcpy(at, statistics[i].name);
	}
	return 0;
}

static int
get_statistics(struct uv_card *card, const struct vcx3_netdev *netdev,
	       struct ethtool_stats *stats)
{
	struct vcx3_port_counters counters = {0};
	size_t i;

	if (card->core != NULL) {
		uv_lock(card);
		vcx3_port_counters(card->core, port_of(card, netdev), &counters);
		uv_unlock(card);
	}
	stats->n_stats = NB_STATISTICS;
	for (i = 0; i < NB_STATISTICS; i++)
		memcpy(&stats->data[i], (char *)&counters + statistics[i].offset, sizeof(uint64_t));
	return 0;
}

static int
get_module_info(struct ethtool_modinfo *info)
{
	info->type = ETH_MODULE_SFF_8436;
	info->eeprom_len = MODULE_EEPROM_SIZE;
	return 0;
}

static int
get_module_eeprom(struct ethtool_eeprom *eeprom)
{
	uint8_t bytes[MODULE_EEPROM_SIZE] = {[0] = MODULE_IDENTIFIER_QSFP_PLUS};

	if (eeprom->len == 0 || eeprom->offset + eeprom->len > sizeof(bytes) ||
	    eeprom->offset + eeprom->len < eeprom->len)
		return -EINVAL;
	bytes[128] = MODULE_IDENTIFIER_QSFP_PLUS;
	bytes[130] = MODULE_CONNECTOR_NO_SEPARABLE;
	memcpy(bytes + 148, "vcx3            ", 16);
	memcpy(eeprom->data, bytes + eeprom->offset, eeprom->len);
	return 0;
}

static int
ethtool(struct uv_card *card, struct vcx3_netdev *netdev, void *data)
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
		((struct ethtool_value *)data)->data = is_up(netdev);
		return 0;
	case ETHTOOL_GDRVINFO:
		return get_driver_info(netdev, data);
	case ETHTOOL_GSSET_INFO:
		return get_set_sizes(data);
	case ETHTOOL_GSTRINGS:
		return get_strings(data);
	case ETHTOOL_GSTATS:
		return get_statistics(card, netdev, data);
	case ETHTOOL_GMODULEINFO:
		return get_module_info(data);
	case ETHTOOL_GMODULEEEPROM:
		return get_module_eeprom(data);
	case ETHTOOL_PHYS_ID: /* the LED blinks; nobody sees it */
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

/* With a TAP behind, the kernel's interface follows. */
static void
forward(const struct vcx3_netdev *netdev, unsigned long request, const struct ifreq *ifreq)
{
	struct ifreq copy = *ifreq;
	int fd;

	if (netdev->tap_fd < 0)
		return;
	fd = uv_real()->socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || uv_real()->ioctl(fd, request, &copy) != 0)
		uv_say("%s did not follow: %s", netdev->name, strerror(errno));
	if (fd >= 0)
		uv_real()->close(fd);
}

static int
handle(struct uv_card *card, struct vcx3_netdev *netdev, unsigned long request,
       struct ifreq *ifreq)
{
	switch (request) {
	case SIOCGIFHWADDR:
		ifreq->ifr_hwaddr.sa_family = ARPHRD_ETHER;
		memcpy(ifreq->ifr_hwaddr.sa_data, netdev->mac, sizeof(netdev->mac));
		return 0;
	case SIOCGIFINDEX:
		ifreq->ifr_ifindex = netdev->index;
		return 0;
	case SIOCGIFMTU:
		ifreq->ifr_mtu = netdev->mtu;
		return 0;
	case SIOCSIFMTU:
		forward(netdev, request, ifreq);
		return set_mtu(card, netdev, ifreq->ifr_mtu);
	case SIOCGIFFLAGS:
		ifreq->ifr_flags = netdev->flags | (is_up(netdev) ? IFF_RUNNING : 0);
		return 0;
	case SIOCSIFFLAGS:
		forward(netdev, request, ifreq);
		return set_flags(card, netdev, (uint16_t)ifreq->ifr_flags);
	default:
		return ethtool(card, netdev, ifreq->ifr_data);
	}
}

static bool
is_known(unsigned long request)
{
	switch (request) {
	case SIOCGIFHWADDR:
	case SIOCGIFINDEX:
	case SIOCGIFMTU:
	case SIOCSIFMTU:
	case SIOCGIFFLAGS:
	case SIOCSIFFLAGS:
	case SIOCETHTOOL:
		return true;
	default:
		return false;
	}
}

bool
uv_netdev_ioctl(unsigned long request, void *argument, int *result)
{
	struct uv_card *card = is_known(request) ? uv_card() : NULL;
	const struct vcx3_netdev *netdev;

	if (card == NULL || argument == NULL)
		return false;
	netdev = uv_netdev_by_name(((struct ifreq *)argument)->ifr_name);
	if (netdev == NULL)
		return false;
	*result = card->shared->removed ? -ENODEV :
		handle(card, &card->shared->netdev[port_of(card, netdev) - 1], request, argument);
	return true;
}
