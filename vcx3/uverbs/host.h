/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The kernel's share of the ports (--netdev tap): frames that no rule takes go to the TAP
 * interface, frames that the kernel sends there go out of the port. The launcher holds the TAPs;
 * the process that owns the card copies their descriptors.
 */

#ifndef VCX3_UVERBS_HOST_H
#define VCX3_UVERBS_HOST_H

#include "card.h"

/* Gets the descriptors; a negative errno, with a sentence on stderr, when it cannot. */
int uv_host_open(struct uv_card *card);
void uv_host_close(struct uv_card *card);

/* Hands a frame to the kernel; false when there is no TAP or it refuses the frame. */
bool uv_host_receive(struct uv_card *card, unsigned int port, const uint8_t *data, uint32_t len);

/* Sends what the kernel has put into the TAPs. */
void uv_host_send(struct uv_card *card);

#endif /* VCX3_UVERBS_HOST_H */
