/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * SIOCETHTOOL on a netdev of the card, as mlx4_en answers it: link settings, pause frames,
 * statistics, the module's EEPROM, the LED.
 */

#ifndef VCX3_UVERBS_ETHTOOL_H
#define VCX3_UVERBS_ETHTOOL_H

#include "netdev.h"

/* 0 or a negative errno; data is the command with its arguments and the room for the answer. */
int uv_ethtool(struct uv_card *card, struct vcx3_netdev *netdev, void *data);

/*
 * Copies the port's counters to where the processes that do not own the card find them. Under
 * uv_lock(); nothing in a process that is not the owner.
 */
void uv_ethtool_publish(struct uv_card *card, struct vcx3_netdev *netdev);

#endif /* VCX3_UVERBS_ETHTOOL_H */
