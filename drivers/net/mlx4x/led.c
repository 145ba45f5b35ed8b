/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The LED of a port blinks, so that somebody in front of the machine finds it
 * (`ethtool -p`). The kernel has no "on" and "off": its request names a time, and the
 * caller waits that long. So a thread asks for a second at a time; off takes up to one.
 */

#include <errno.h>
#include <linux/ethtool.h>
#include <pthread.h>
#include <string.h>

#include "mlx4x.h"

#define BLINK_S 1

static int
blink(const struct mlx4x_port *port)
{
	struct ethtool_value request = { .cmd = ETHTOOL_PHYS_ID, .data = BLINK_S };

	return mlx4x_netdev_ethtool(port, &request);
}

static void *
blink_on(void *arg)
{
	struct mlx4x_port *port = arg;
	int ret = 0;

	while (ret == 0 && mlx4x_load_acquire(&port->led_is_on))
		ret = blink(port);
	if (ret != 0)
		MLX4X_LOG(port, WARNING, "the LED has stopped blinking: %s", strerror(-ret));
	return NULL;
}

/* Returns after the first second, or at once if the kernel refuses. */
int
mlx4x_led_on(struct rte_eth_dev *eth_dev)
{
	struct mlx4x_port *port = mlx4x_port_of(eth_dev);
	int ret;

	if (port->led_is_on)
		return 0;
	ret = blink(port);
	if (ret == 0) {
		port->led_is_on = true;
		ret = -pthread_create(&port->led_thread, NULL, blink_on, port);
		port->led_is_on = ret == 0;
	}
	if (ret != 0)
		MLX4X_LOG(port, ERR, "the LED cannot blink: %s", strerror(-ret));
	return ret;
}

int
mlx4x_led_off(struct rte_eth_dev *eth_dev)
{
	struct mlx4x_port *port = mlx4x_port_of(eth_dev);

	if (!port->led_is_on)
		return 0;
	mlx4x_store_release(&port->led_is_on, false);
	pthread_join(port->led_thread, NULL);
	return 0;
}
