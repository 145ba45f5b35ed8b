/* SPDX-License-Identifier: BSD-3-Clause */

/* See netdev.h. */

#include "netdev.h"

#include <errno.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../core/port.h"
#include "ethtool.h"
#include "real.h"

#define CHANGEABLE_FLAGS (IFF_UP | IFF_PROMISC | IFF_ALLMULTI | IFF_DEBUG)

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

unsigned int
uv_netdev_port(const struct uv_card *card, const struct vcx3_netdev *netdev)
{
	return netdev - card->shared->netdev + 1;
}

/* mlx4_en counts anew when its interface is set up. */
static void
clear_statistics(struct uv_card *card, struct vcx3_netdev *netdev)
{
	uv_lock(card);
	uv_ethtool_publish(card, netdev);
	netdev->cleared = netdev->counters;
	uv_unlock(card);
}

static int
set_flags(struct uv_card *card, struct vcx3_netdev *netdev, uint32_t wanted)
{
	uint32_t flags = (netdev->flags & ~(uint32_t)CHANGEABLE_FLAGS) |
			 (wanted & CHANGEABLE_FLAGS);

	if (flags & IFF_UP && !(netdev->flags & IFF_UP))
		clear_statistics(card, netdev);
	netdev->flags = flags;
	if (card->core == NULL) {
		netdev->running = flags & IFF_UP ? 1 : 0;
		return 0;
	}
	uv_lock(card);
	vcx3_port_set_admin(card->core, uv_netdev_port(card, netdev), flags & IFF_UP);
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
	vcx3_port_set_mtu(card->core, uv_netdev_port(card, netdev), mtu);
	uv_unlock(card);
	return 0;
}

bool
uv_netdev_is_up(const struct vcx3_netdev *netdev)
{
	return netdev->flags & IFF_UP && netdev->running;
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
		ifreq->ifr_flags = netdev->flags | (uv_netdev_is_up(netdev) ? IFF_RUNNING : 0);
		return 0;
	case SIOCSIFFLAGS:
		forward(netdev, request, ifreq);
		return set_flags(card, netdev, (uint16_t)ifreq->ifr_flags);
	default:
		return uv_ethtool(card, netdev, ifreq->ifr_data);
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
		handle(card, &card->shared->netdev[uv_netdev_port(card, netdev) - 1], request, argument);
	return true;
}
