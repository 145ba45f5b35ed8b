/* SPDX-License-Identifier: BSD-3-Clause */

/* The server's side of `vcx3 ctl`: one line of words in, "ok" or "error" and text out. */

#ifndef VCX3_UVERBS_CONTROL_H
#define VCX3_UVERBS_CONTROL_H

#include "card.h"

/* Listens; the descriptor or a negative errno, with a sentence on stderr. */
int uv_control_listen(const char *path);

/* Answers one client. */
void uv_control_serve(struct uv_card *card, int listen_fd);

#endif /* VCX3_UVERBS_CONTROL_H */
