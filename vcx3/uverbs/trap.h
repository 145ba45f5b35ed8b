/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Strict mode's view of doorbells: the program's mapping of the doorbell page has no access, and
 * the handler of the fault decodes the store, does it through the device's own mapping and tells
 * the core (connectx3-device.md V.5: decoding leaves no window in which another thread's store
 * passes unseen, as changing the protection would).
 */

#ifndef VCX3_UVERBS_TRAP_H
#define VCX3_UVERBS_TRAP_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "card.h"

/* Traps a page of the context that the program has just mapped. A negative errno: too many. */
int uv_trap_add(struct uv_card *card, struct uv_context *context, void *program, void *device);

/* The same for a page of another process's context; device is another mapping of it. */
int uv_trap_add_other(struct uv_card *card, void *program, void *device);

/* The program unmaps a page; the context is closed. */
void uv_trap_remove(void *program);
void uv_trap_forget(const struct uv_context *context);

/* The program's own handler for SIGSEGV; true when the call is taken over. */
bool uv_trap_sigaction(int number, const struct sigaction *to, struct sigaction *from);

#endif /* VCX3_UVERBS_TRAP_H */
