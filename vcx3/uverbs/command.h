/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A uverbs command on its way: parsed request, answer being built. Handlers are grouped by
 * object in the cmd_*.c files and listed in the table of dispatch.c.
 */

#ifndef VCX3_UVERBS_COMMAND_H
#define VCX3_UVERBS_COMMAND_H

#include <string.h>
#include <sys/types.h>

#include "../core/status.h"
#include "card.h"
#include "frame.h"
#include "objects.h"

struct uv_command {
	struct uv_card *card;
	struct uv_context *context;
	struct uv_frame frame;
	uint8_t core_out[UV_MAX_CORE_OUT];
	uint8_t provider_out[UV_MAX_PROVIDER_OUT];
};

/* Runs under uv_lock(). Returns 0 or the negative errno for the program. */
typedef int (*uv_handler)(struct uv_command *command);

/* Copies a request struct; what a shorter, older caller left out is zero. */
#define UV_CORE(command, request) \
	uv_copy(&(request), sizeof(request), (command)->frame.core, (command)->frame.core_size)
#define UV_PROVIDER(command, request) \
	uv_copy(&(request), sizeof(request), (command)->frame.provider, \
		(command)->frame.provider_size)
#define UV_ANSWER(command, response) memcpy((command)->core_out, &(response), sizeof(response))
#define UV_ANSWER_PROVIDER(command, response) \
	memcpy((command)->provider_out, &(response), sizeof(response))

static inline void
uv_copy(void *to, size_t to_size, const void *from, size_t from_size)
{
	size_t nb = from_size < to_size ? from_size : to_size;

	memset(to, 0, to_size);
	memcpy(to, from, nb);
}

/* The program's write(): one whole command. Returns count, or -1 with errno. */
ssize_t uv_dispatch(struct uv_card *card, struct uv_context *context, const void *bytes,
		    size_t count);

/* The smallest power of two that is not below value, and its logarithm. */
static inline uint32_t
uv_log2_up(uint32_t value)
{
	return value <= 1 ? 0 : 32 - __builtin_clz(value - 1);
}

#define UV_WQ_RECORD_SIZE 4

#define UV_HANDLERS(X) \
	X(get_context) X(query_device) X(ex_query_device) X(query_port) \
	X(alloc_pd) X(dealloc_pd) X(reg_mr) X(dereg_mr) \
	X(create_comp_channel) X(create_cq) X(ex_create_cq) X(resize_cq) X(destroy_cq) \
	X(ex_modify_cq) \
	X(create_qp) X(ex_create_qp) X(query_qp) X(modify_qp) X(destroy_qp) \
	X(ex_create_wq) X(ex_modify_wq) X(ex_destroy_wq) \
	X(ex_create_table) X(ex_destroy_table) \
	X(ex_create_flow) X(ex_destroy_flow) X(attach_mcast) X(detach_mcast)

#define UV_DECLARE_HANDLER(name) int uv_cmd_##name(struct uv_command *command);
UV_HANDLERS(UV_DECLARE_HANDLER)
#undef UV_DECLARE_HANDLER

/*
 * Pins memory of the program as the kernel does for regions and rings, for writing when the device
 * writes there: 0, or -EFAULT when the program has no such access itself.
 */
int uv_pin(uint64_t start, uint64_t length, bool writable);

/* What cmd_wq.c does for an RSS QP of cmd_qp.c: its WQs go live on this port. */
int uv_wqs_bring_up(struct uv_card *card, struct uv_object *table, uint8_t port);
void uv_wqs_bring_down(struct uv_card *card, struct uv_object *table);

#endif /* VCX3_UVERBS_COMMAND_H */
