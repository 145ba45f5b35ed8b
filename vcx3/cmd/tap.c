/* SPDX-License-Identifier: BSD-3-Clause */

/* See tap.h. */

#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static int
configure(int fd, struct vcx3_netdev *netdev, const char **step)
{
	struct ifreq request = {0};
	int control, ret = 0;

	*step = "the name";
	request.ifr_flags = IFF_TAP | IFF_NO_PI;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "mlx4p%%d");
	if (ioctl(fd, TUNSETIFF, &request) != 0)
		return -errno;
	memcpy(netdev->name, request.ifr_name, sizeof(netdev->name));
	control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (control < 0)
		return -errno;
	*step = "the MAC address";
	request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
	memcpy(request.ifr_hwaddr.sa_data, netdev->mac, sizeof(netdev->mac));
	if (ioctl(control, SIOCSIFHWADDR, &request) != 0)
		ret = -errno;
	request.ifr_mtu = netdev->mtu;
	if (ret == 0 && (*step = "the MTU", ioctl(control, SIOCSIFMTU, &request) != 0))
		ret = -errno;
	request.ifr_flags = netdev->flags;
	if (ret == 0 && (*step = "up", ioctl(control, SIOCSIFFLAGS, &request) != 0))
		ret = -errno;
	close(control);
	netdev->index = if_nametoindex(netdev->name);
	return ret;
}

int
vcx3_tap_create(struct vcx3_netdev *netdev, char *reason, size_t size)
{
	const char *step = "/dev/net/tun";
	int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	int ret = fd < 0 ? -errno : configure(fd, netdev, &step);

	if (ret < 0) {
		snprintf(reason, size, "--netdev tap: cannot make a TAP interface (%s): %s; "
			 "it needs root and /dev/net/tun", step, strerror(-ret));
		if (fd >= 0)
			close(fd);
		return ret;
	}
	netdev->tap_fd = fd;
	return 0;
}
