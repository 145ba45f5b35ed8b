/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Trapped stores to a doorbell page, and what they tell the core.
 *
 * A process that maps the page of a command descriptor which it got from another one (a secondary
 * DPDK process) has no core to tell. It sends the store to the owner of the card, through a
 * socket in the state folder; so the order of its doorbells and of the commands that it asks
 * the owner for afterwards stays.
 */

#ifndef VCX3_UVERBS_DOORBELL_H
#define VCX3_UVERBS_DOORBELL_H

#include <stdint.h>

#include "card.h"

struct uv_doorbell {
	uint32_t offset; /* in the page */
	uint32_t size;
	uint8_t bytes[32];
};

/* Tells the core; other places than doorbell registers mean nothing. With uv_lock(). */
void uv_doorbell_ring(struct uv_card *card, const struct uv_doorbell *doorbell);

/* In a process that is not the owner: to be able to send. A negative errno. */
int uv_doorbell_prepare(struct uv_card *card);

/* Waits while the owner is behind. May be called in a signal handler. */
void uv_doorbell_send(const struct uv_card *card, const struct uv_doorbell *doorbell);

/* In the owner: card->doorbell_fd becomes readable. A negative errno, with a sentence. */
int uv_doorbell_listen(struct uv_card *card);

/* Rings what others have sent until now. With uv_lock(). */
void uv_doorbell_serve(struct uv_card *card);

#endif /* VCX3_UVERBS_DOORBELL_H */
