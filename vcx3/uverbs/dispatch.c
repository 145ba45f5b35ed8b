/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * From the program's write() to a handler and back: the table of commands
 * (connectx3-device.md B.2), faults, copies that cannot crash on a bad address.
 */

#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx4-abi.h>
#include <stdlib.h>
#include <unistd.h>

#include "../cmd/commands.h"
#include "../core/fault.h"
#include "command.h"
#include "doorbell.h"

/* Largest frame: 16-bit counts of 8-byte words, core and provider. */
#define MAX_COMMAND (2 * 65535 * 8 + 24)

struct entry {
	enum vcx3_uverbs_command name;
	uv_handler handler;
	struct uv_shape shape;
	bool works_when_dead; /* destroying must succeed after removal */
};

#define CORE(request, response, provider_request, provider_response) \
	{request, response, provider_request, provider_response}
#define IN(type) sizeof(struct ib_uverbs_##type)
#define MLX4(type) sizeof(struct mlx4_ib_##type)

static const struct entry legacy[UV_COMMANDS] = {
	[IB_USER_VERBS_CMD_GET_CONTEXT] = {VCX3_COMMAND_GET_CONTEXT, uv_cmd_get_context,
		CORE(IN(get_context), IN(get_context_resp), 0, MLX4(alloc_ucontext_resp)), false},
	[IB_USER_VERBS_CMD_QUERY_DEVICE] = {VCX3_COMMAND_QUERY_DEVICE, uv_cmd_query_device,
		CORE(IN(query_device), IN(query_device_resp), 0, 0), false},
	[IB_USER_VERBS_CMD_QUERY_PORT] = {VCX3_COMMAND_QUERY_PORT, uv_cmd_query_port,
		CORE(IN(query_port), IN(query_port_resp), 0, 0), false},
	[IB_USER_VERBS_CMD_ALLOC_PD] = {VCX3_COMMAND_ALLOC_PD, uv_cmd_alloc_pd,
		CORE(IN(alloc_pd), IN(alloc_pd_resp), 0, MLX4(alloc_pd_resp)), false},
	[IB_USER_VERBS_CMD_DEALLOC_PD] = {VCX3_COMMAND_DEALLOC_PD, uv_cmd_dealloc_pd,
		CORE(IN(dealloc_pd), 0, 0, 0), true},
	[IB_USER_VERBS_CMD_REG_MR] = {VCX3_COMMAND_REG_MR, uv_cmd_reg_mr,
		CORE(IN(reg_mr), IN(reg_mr_resp), 0, 0), false},
	[IB_USER_VERBS_CMD_DEREG_MR] = {VCX3_COMMAND_DEREG_MR, uv_cmd_dereg_mr,
		CORE(IN(dereg_mr), 0, 0, 0), true},
	[IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL] = {VCX3_COMMAND_CREATE_COMP_CHANNEL,
		uv_cmd_create_comp_channel,
		CORE(IN(create_comp_channel), IN(create_comp_channel_resp), 0, 0), false},
	[IB_USER_VERBS_CMD_CREATE_CQ] = {VCX3_COMMAND_CREATE_CQ, uv_cmd_create_cq,
		CORE(IN(create_cq), IN(create_cq_resp), MLX4(create_cq), MLX4(create_cq_resp)),
		false},
	[IB_USER_VERBS_CMD_RESIZE_CQ] = {VCX3_COMMAND_RESIZE_CQ, uv_cmd_resize_cq,
		CORE(IN(resize_cq), IN(resize_cq_resp), MLX4(resize_cq), 0), false},
	[IB_USER_VERBS_CMD_DESTROY_CQ] = {VCX3_COMMAND_DESTROY_CQ, uv_cmd_destroy_cq,
		CORE(IN(destroy_cq), IN(destroy_cq_resp), 0, 0), true},
	[IB_USER_VERBS_CMD_CREATE_QP] = {VCX3_COMMAND_CREATE_QP, uv_cmd_create_qp,
		CORE(IN(create_qp), IN(create_qp_resp), MLX4(create_qp), 0), false},
	[IB_USER_VERBS_CMD_QUERY_QP] = {VCX3_COMMAND_QUERY_QP, uv_cmd_query_qp,
		CORE(IN(query_qp), IN(query_qp_resp), 0, 0), false},
	[IB_USER_VERBS_CMD_MODIFY_QP] = {VCX3_COMMAND_MODIFY_QP, uv_cmd_modify_qp,
		CORE(IN(modify_qp), 0, 0, 0), false},
	[IB_USER_VERBS_CMD_DESTROY_QP] = {VCX3_COMMAND_DESTROY_QP, uv_cmd_destroy_qp,
		CORE(IN(destroy_qp), IN(destroy_qp_resp), 0, 0), true},
	[IB_USER_VERBS_CMD_ATTACH_MCAST] = {VCX3_COMMAND_ATTACH_MCAST, uv_cmd_attach_mcast,
		CORE(IN(attach_mcast), 0, 0, 0), false},
	[IB_USER_VERBS_CMD_DETACH_MCAST] = {VCX3_COMMAND_DETACH_MCAST, uv_cmd_detach_mcast,
		CORE(IN(detach_mcast), 0, 0, 0), true},
};

static const struct entry extended[UV_COMMANDS] = {
	[IB_USER_VERBS_EX_CMD_QUERY_DEVICE] = {VCX3_COMMAND_EX_QUERY_DEVICE, uv_cmd_ex_query_device,
		CORE(IN(ex_query_device), IN(query_device_resp) + 8, 0, 0), false},
	[IB_USER_VERBS_EX_CMD_CREATE_CQ] = {VCX3_COMMAND_EX_CREATE_CQ, uv_cmd_ex_create_cq,
		CORE(IN(ex_create_cq), IN(ex_create_cq_resp), MLX4(create_cq), 0), false},
	[IB_USER_VERBS_EX_CMD_CREATE_QP] = {VCX3_COMMAND_EX_CREATE_QP, uv_cmd_ex_create_qp,
		CORE(IN(ex_create_qp), IN(ex_create_qp_resp), 0, 0), false},
	[IB_USER_VERBS_EX_CMD_CREATE_FLOW] = {VCX3_COMMAND_CREATE_FLOW, uv_cmd_ex_create_flow,
		CORE(IN(create_flow), IN(create_flow_resp), 0, 0), false},
	[IB_USER_VERBS_EX_CMD_DESTROY_FLOW] = {VCX3_COMMAND_DESTROY_FLOW, uv_cmd_ex_destroy_flow,
		CORE(IN(destroy_flow), 0, 0, 0), true},
	[IB_USER_VERBS_EX_CMD_CREATE_WQ] = {VCX3_COMMAND_CREATE_WQ, uv_cmd_ex_create_wq,
		CORE(IN(ex_create_wq), IN(ex_create_wq_resp), MLX4(create_wq), 0), false},
	[IB_USER_VERBS_EX_CMD_MODIFY_WQ] = {VCX3_COMMAND_MODIFY_WQ, uv_cmd_ex_modify_wq,
		CORE(IN(ex_modify_wq), 0, 0, 0), false},
	[IB_USER_VERBS_EX_CMD_DESTROY_WQ] = {VCX3_COMMAND_DESTROY_WQ, uv_cmd_ex_destroy_wq,
		CORE(IN(ex_destroy_wq), IN(ex_destroy_wq_resp), 0, 0), true},
	[IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL] = {VCX3_COMMAND_CREATE_RWQ_IND_TBL,
		uv_cmd_ex_create_table,
		CORE(IN(ex_create_rwq_ind_table), IN(ex_create_rwq_ind_table_resp), 0, 0), false},
	[IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL] = {VCX3_COMMAND_DESTROY_RWQ_IND_TBL,
		uv_cmd_ex_destroy_table,
		CORE(IN(ex_destroy_rwq_ind_table), 0, 0, 0), true},
	[IB_USER_VERBS_EX_CMD_MODIFY_CQ] = {VCX3_COMMAND_MODIFY_CQ, uv_cmd_ex_modify_cq,
		CORE(IN(ex_modify_cq), 0, 0, 0), false},
};

/* The command that this header names; NULL with the errno for the program. */
static const struct entry *
find(const uint8_t *bytes, size_t length, int *error)
{
	const struct entry *entry;
	uint32_t number;
	bool is_extended;

	*error = uv_frame_number(bytes, length, &number, &is_extended);
	if (*error < 0)
		return NULL;
	*error = -EOPNOTSUPP;
	if (number >= UV_COMMANDS)
		return NULL;
	entry = is_extended ? &extended[number] : &legacy[number];
	return entry->handler != NULL ? entry : NULL;
}

/* What stands before the handler: an injected fault, a card that is gone. */
static int
may_run(struct uv_command *command, const struct entry *entry)
{
	int fault;

	if (command->context->async == NULL && entry->handler != uv_cmd_get_context)
		return -EINVAL;
	if (command->context->dead && !entry->works_when_dead)
		return -EIO;
	fault = vcx3_fault_command(command->card->core, vcx3_uverbs_commands[entry->name]);
	return -fault;
}

/* Copies through a file, so that an address that is not there ends in EFAULT. */
static int
copy_out(struct uv_card *card, uint64_t to, const void *from, size_t size)
{
	if (size == 0)
		return 0;
	if (pwrite(card->scratch_fd, from, size, 0) != (ssize_t)size)
		return -EIO;
	if (pread(card->scratch_fd, (void *)(uintptr_t)to, size, 0) != (ssize_t)size)
		return -EFAULT;
	return 0;
}

static int
copy_in(struct uv_card *card, void *to, const void *from, size_t size)
{
	if (pwrite(card->scratch_fd, from, size, 0) != (ssize_t)size)
		return -EFAULT;
	return pread(card->scratch_fd, to, size, 0) == (ssize_t)size ? 0 : -EIO;
}

static int
answer(struct uv_command *command)
{
	struct uv_frame *frame = &command->frame;
	size_t core = frame->core_room, provider = frame->provider_room;
	int ret;

	core = core < sizeof(command->core_out) ? core : sizeof(command->core_out);
	provider = provider < sizeof(command->provider_out) ? provider :
							      sizeof(command->provider_out);
	ret = copy_out(command->card, frame->response, command->core_out, core);
	if (ret < 0)
		return ret;
	return copy_out(command->card, frame->response + frame->core_room, command->provider_out,
			provider);
}

static int
run(struct uv_card *card, struct uv_context *context, const uint8_t *bytes, size_t count)
{
	struct uv_command command = {.card = card, .context = context};
	const struct entry *entry;
	int ret;

	entry = find(bytes, count, &ret);
	if (entry == NULL)
		return ret;
	ret = uv_frame_parse(bytes, count, &entry->shape, &command.frame);
	if (ret < 0)
		return ret;
	ret = may_run(&command, entry);
	if (ret < 0)
		return ret;
	ret = entry->handler(&command);
	return ret < 0 ? ret : answer(&command);
}

ssize_t
uv_dispatch(struct uv_card *card, struct uv_context *context, const void *bytes, size_t count)
{
	uint8_t *copy;
	int ret;

	if (count > MAX_COMMAND || uv_is_forked()) {
		errno = count > MAX_COMMAND ? EINVAL : EIO;
		return -1;
	}
	copy = malloc(count + 1);
	if (copy == NULL) {
		errno = ENOMEM;
		return -1;
	}
	uv_lock(card);
	uv_doorbell_serve(card);
	ret = copy_in(card, copy, bytes, count);
	if (ret == 0)
		ret = run(card, context, copy, count);
	uv_unlock(card);
	free(copy);
	if (ret < 0) {
		errno = -ret;
		return -1;
	}
	return count;
}
