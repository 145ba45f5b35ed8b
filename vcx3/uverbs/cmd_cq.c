/* SPDX-License-Identifier: BSD-3-Clause */

/* Completion channels and completion queues (connectx3-device.md B.5, B.6). */

#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx4-abi.h>

#include "command.h"
#include "fds.h"

#define CQ_FLAGS (IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION | IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN)
#define CQ_ATTR_MODERATE 1
#define CQ_RECORD_SIZE 8

int
uv_cmd_create_comp_channel(struct uv_command *command)
{
	struct ib_uverbs_create_comp_channel_resp response;
	struct uv_events *channel;
	int ret;

	ret = uv_events_create(UV_EVENTS_COMPLETION, &channel);
	if (ret == 0)
		ret = uv_fd_add_events(channel);
	if (ret < 0)
		return ret;
	response.fd = channel->program_fd;
	UV_ANSWER(command, response);
	return 0;
}

/* The kernel adds one entry before rounding up (B.5). */
static uint32_t
log_size_of(uint32_t entries)
{
	return uv_log2_up(entries + 1);
}

static int
pin_ring(const struct uv_card *card, uint64_t buffer, uint32_t entries)
{
	return uv_pin(buffer, (uint64_t)card->options.cqe_size << log_size_of(entries), true);
}

/* What both forms of the command carry. */
struct cq_request {
	uint64_t user_handle;
	uint32_t entries;
	uint32_t comp_vector;
	int32_t channel_fd;
	uint32_t flags;
	struct mlx4_ib_create_cq provider;
};

static int
check_cq(const struct uv_card *card, const struct cq_request *request, struct uv_events **channel)
{
	if (request->entries < 1 || request->entries > UV_MAX_CQE ||
	    request->comp_vector >= UV_COMP_VECTORS || request->flags & ~(uint32_t)CQ_FLAGS ||
	    request->provider.db_addr & 7)
		return -EINVAL;
	if (request->flags & IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION &&
	    card->options.identity == VCX3_IDENTITY_VF)
		return -EINVAL;
	*channel = NULL;
	if (request->channel_fd < 0)
		return 0;
	*channel = uv_fd_events(request->channel_fd);
	return *channel != NULL && (*channel)->kind == UV_EVENTS_COMPLETION ? 0 : -EBADF;
}

static int
create_in_core(struct uv_card *card, uint32_t number, const struct cq_request *request)
{
	struct vcx3_cq_attr attr = {
		.buffer = vcx3_object_flat((void *)(uintptr_t)request->provider.buf_addr),
		.record = vcx3_object_flat((void *)(uintptr_t)request->provider.db_addr),
		.log_size = log_size_of(request->entries),
		.cqe_size = card->options.cqe_size,
		.device_init = true,
		.timestamps = request->flags & IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION,
		.ignore_overrun = request->flags & IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN,
		.arm_by_record = !card->options.strict,
	};

	return vcx3_status_errno(vcx3_cq_create(card->core, number, &attr));
}

static int
create_cq(struct uv_command *command, const struct cq_request *request, struct uv_object **made)
{
	struct uv_card *card = command->card;
	struct uv_events *channel;
	struct uv_object *cq;
	int64_t number;
	int ret;

	ret = check_cq(card, request, &channel);
	if (ret == 0)
		ret = pin_ring(card, request->provider.buf_addr, request->entries);
	if (ret == 0)
		ret = uv_pin(request->provider.db_addr, CQ_RECORD_SIZE, false);
	if (ret == 0)
		ret = uv_card_power_on(card);
	if (ret < 0)
		return ret;
	number = uv_numbers_take(&card->cqns, 1, 0);
	cq = number < 0 ? NULL : uv_object_new(card, command->context, UV_CQ);
	ret = cq == NULL ? -ENOMEM : create_in_core(card, number, request);
	if (ret < 0) {
		if (number >= 0)
			uv_numbers_give(&card->cqns, number, 1);
		uv_object_forget(card, cq);
		return ret;
	}
	cq->user_handle = request->user_handle;
	cq->cq.number = number;
	cq->cq.entries = (1u << log_size_of(request->entries)) - 1;
	cq->cq.channel = channel;
	if (channel != NULL)
		uv_events_ref(channel);
	card->cq_by_number[number] = cq;
	*made = cq;
	return 0;
}

int
uv_cmd_create_cq(struct uv_command *command)
{
	struct ib_uverbs_create_cq request;
	struct ib_uverbs_create_cq_resp response = {0};
	struct mlx4_ib_create_cq_resp provider = {0};
	struct cq_request common;
	struct uv_object *cq;
	int ret;

	UV_CORE(command, request);
	UV_PROVIDER(command, common.provider);
	common.user_handle = request.user_handle;
	common.entries = request.cqe;
	common.comp_vector = request.comp_vector;
	common.channel_fd = request.comp_channel;
	common.flags = 0;
	ret = create_cq(command, &common, &cq);
	if (ret < 0)
		return ret;
	response.cq_handle = cq->handle;
	response.cqe = cq->cq.entries;
	provider.cqn = cq->cq.number;
	UV_ANSWER(command, response);
	UV_ANSWER_PROVIDER(command, provider);
	return 0;
}

int
uv_cmd_ex_create_cq(struct uv_command *command)
{
	struct ib_uverbs_ex_create_cq request;
	struct ib_uverbs_ex_create_cq_resp response = {.response_length = sizeof(response)};
	struct mlx4_ib_create_cq_resp provider = {0};
	struct cq_request common;
	struct uv_object *cq;
	int ret;

	UV_CORE(command, request);
	UV_PROVIDER(command, common.provider);
	if (request.comp_mask != 0 || request.reserved != 0)
		return -EINVAL;
	common.user_handle = request.user_handle;
	common.entries = request.cqe;
	common.comp_vector = request.comp_vector;
	common.channel_fd = request.comp_channel;
	common.flags = request.flags;
	ret = create_cq(command, &common, &cq);
	if (ret < 0)
		return ret;
	response.base.cq_handle = cq->handle;
	response.base.cqe = cq->cq.entries;
	provider.cqn = cq->cq.number;
	UV_ANSWER(command, response);
	UV_ANSWER_PROVIDER(command, provider);
	return 0;
}

int
uv_cmd_resize_cq(struct uv_command *command)
{
	struct uv_card *card = command->card;
	struct ib_uverbs_resize_cq request;
	struct ib_uverbs_resize_cq_resp response = {0};
	struct mlx4_ib_resize_cq provider;
	struct vcx3_object buffer;
	struct uv_object *cq;
	uint32_t log_size;
	int ret;

	UV_CORE(command, request);
	UV_PROVIDER(command, provider);
	cq = uv_object_get(card, command->context, UV_CQ, request.cq_handle);
	if (cq == NULL || request.cqe < 1 || request.cqe > UV_MAX_CQE)
		return -EINVAL;
	ret = pin_ring(card, provider.buf_addr, request.cqe);
	if (ret < 0)
		return ret;
	log_size = log_size_of(request.cqe);
	buffer = vcx3_object_flat((void *)(uintptr_t)provider.buf_addr);
	ret = vcx3_status_errno(vcx3_cq_resize(card->core, cq->cq.number, &buffer, log_size, true));
	if (ret < 0)
		return ret;
	cq->cq.entries = (1u << log_size) - 1;
	response.cqe = cq->cq.entries;
	UV_ANSWER(command, response);
	return 0;
}

int
uv_cmd_destroy_cq(struct uv_command *command)
{
	struct ib_uverbs_destroy_cq request;
	struct ib_uverbs_destroy_cq_resp response = {0};
	struct uv_object *cq;

	UV_CORE(command, request);
	cq = uv_object_get(command->card, command->context, UV_CQ, request.cq_handle);
	if (cq == NULL)
		return -EINVAL;
	/* No reader is in between: reading counts under the same lock. */
	response.comp_events_reported = cq->cq.reported;
	response.async_events_reported = cq->async_reported;
	UV_ANSWER(command, response);
	return uv_object_destroy(command->card, cq);
}

int
uv_cmd_ex_modify_cq(struct uv_command *command)
{
	struct ib_uverbs_ex_modify_cq request;
	struct uv_object *cq;

	UV_CORE(command, request);
	cq = uv_object_get(command->card, command->context, UV_CQ, request.cq_handle);
	if (cq == NULL || request.attr_mask == 0)
		return -EINVAL;
	if (request.attr_mask & ~(uint32_t)CQ_ATTR_MODERATE)
		return -EOPNOTSUPP;
	return vcx3_status_errno(vcx3_cq_moderate(command->card->core, cq->cq.number,
						  request.attr.cq_count, request.attr.cq_period));
}
