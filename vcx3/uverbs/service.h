/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A slow thread beside the engine, in the process that owns the card: the control socket, netdev
 * changes made by other processes, frames of the kernel, the clock page, the saved counters.
 */

#ifndef VCX3_UVERBS_SERVICE_H
#define VCX3_UVERBS_SERVICE_H

#include "card.h"

/* A negative errno when the thread or the control socket cannot be made. */
int uv_service_start(struct uv_card *card);
void uv_service_stop(struct uv_card *card);

#endif /* VCX3_UVERBS_SERVICE_H */
