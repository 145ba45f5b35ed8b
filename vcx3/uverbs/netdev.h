/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The kernel siblings of the ports: the socket ioctls that drivers, ethtool and the like send
 * them (connectx3-device.md A.4), answered from the shared state.
 */

#ifndef VCX3_UVERBS_NETDEV_H
#define VCX3_UVERBS_NETDEV_H

#include <stdbool.h>

#include "card.h"

/*
 * Handles a request if it is one for a netdev of the card: true, with the result for the program
 * in *result (0 or a negative errno). False for everything else.
 */
bool uv_netdev_ioctl(unsigned long request, void *argument, int *result);

/* The netdev of this name or index, or NULL. */
const struct vcx3_netdev *uv_netdev_by_name(const char *name);
const struct vcx3_netdev *uv_netdev_by_index(unsigned int index);

/* The port of the card that it belongs to, from 1; whether it is up and has a link. */
unsigned int uv_netdev_port(const struct uv_card *card, const struct vcx3_netdev *netdev);
bool uv_netdev_is_up(const struct vcx3_netdev *netdev);

#endif /* VCX3_UVERBS_NETDEV_H */
