/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Work queues and indirection tables. A WQ is a QP with a receive queue only; it goes live when
 * an RSS QP that uses it does, and takes its port from there (connectx3-device.md B.5).
 */

#include <errno.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx4-abi.h>
#include <stdlib.h>

#include "command.h"

#define WQ_ATTR_STATE 1
#define WQ_ATTR_CURRENT_STATE 2
#define LOG_SGE_SIZE 4
#define DUMMY_SQ_SIZE 64

/* The receive ring behind, or before, libmlx4's dummy send queue of one stride. */
static void
fill_ring(const struct ib_uverbs_ex_create_wq *request, const struct mlx4_ib_create_wq *provider,
	  struct vcx3_qp_attr *attr)
{
	struct vcx3_wq_attr *rq = &attr->rq;

	rq->present = true;
	rq->log_count = uv_log2_up(request->max_wr);
	rq->log_stride = LOG_SGE_SIZE + uv_log2_up(request->max_sge);
	rq->offset = 1u << rq->log_stride <= DUMMY_SQ_SIZE ? DUMMY_SQ_SIZE : 0;
	attr->buffer = vcx3_object_flat((void *)(uintptr_t)provider->buf_addr);
	attr->record = vcx3_object_flat((void *)(uintptr_t)provider->db_addr);
	attr->deliver_fcs = request->create_flags & IBV_WQ_FLAGS_SCATTER_FCS;
}

static int
pin_ring(const struct mlx4_ib_create_wq *provider, const struct vcx3_qp_attr *attr)
{
	uint64_t size = DUMMY_SQ_SIZE + (UINT64_C(1) << (attr->rq.log_count + attr->rq.log_stride));
	int ret = uv_pin(provider->buf_addr, size, false);

	return ret == 0 ? uv_pin(provider->db_addr, UV_WQ_RECORD_SIZE, false) : ret;
}

static int
check_wq(const struct ib_uverbs_ex_create_wq *request, const struct mlx4_ib_create_wq *provider)
{
	if (request->comp_mask != 0 || provider->comp_mask != 0)
		return -EOPNOTSUPP;
	if (request->wq_type != IBV_WQT_RQ || request->create_flags & ~IBV_WQ_FLAGS_SCATTER_FCS)
		return -EOPNOTSUPP;
	if (request->max_wr < 1 || request->max_wr > UV_MAX_QP_WR || request->max_sge < 1 ||
	    request->max_sge > UV_MAX_SGE || provider->db_addr & 3 || provider->log_range_size > 7)
		return -EINVAL;
	return 0;
}

/* The next number: of the open range, else of a new one. */
static int64_t
take_number(struct uv_card *card, struct uv_context *context, uint8_t log_range)
{
	uint32_t size = 1u << log_range;
	int64_t first;

	if (context->range_size != 0) {
		if (size > 1 && !context->range_dirty)
			return -EINVAL;
		if (size == 1 && !context->range_dirty)
			goto from_range;
		/* A dirty range is not filled up: the rest goes back. */
		for (; context->range_used < context->range_size; context->range_used++)
			uv_numbers_give(&card->qpns, context->range_first + context->range_used, 1);
	}
	first = uv_numbers_take(&card->qpns, size, 0);
	if (first < 0)
		return -ENOMEM;
	context->range_first = first;
	context->range_size = size;
	context->range_used = 0;
	context->range_dirty = false;

from_range:
	first = context->range_first + context->range_used++;
	if (context->range_used == context->range_size)
		context->range_size = 0;
	return first;
}

int
uv_cmd_ex_create_wq(struct uv_command *command)
{
	struct uv_card *card = command->card;
	struct uv_context *context = command->context;
	struct ib_uverbs_ex_create_wq request;
	struct ib_uverbs_ex_create_wq_resp response = {.response_length = sizeof(response)};
	struct mlx4_ib_create_wq provider;
	struct vcx3_qp_attr attr = {0};
	struct uv_object *pd, *cq, *wq;
	int64_t number;
	int ret;

	UV_CORE(command, request);
	UV_PROVIDER(command, provider);
	pd = uv_object_get(card, context, UV_PD, request.pd_handle);
	cq = uv_object_get(card, context, UV_CQ, request.cq_handle);
	ret = pd != NULL && cq != NULL ? check_wq(&request, &provider) : -EINVAL;
	if (ret < 0)
		return ret;
	fill_ring(&request, &provider, &attr);
	ret = pin_ring(&provider, &attr);
	if (ret < 0)
		return ret;
	wq = uv_object_new(card, context, UV_WQ);
	number = wq != NULL ? take_number(card, context, provider.log_range_size) : -ENOMEM;
	if (number < 0) {
		uv_object_forget(card, wq);
		return number;
	}
	wq->wq.attr = attr;
	wq->wq.attr.pd = pd->pd.number;
	wq->wq.attr.recv_cqn = cq->cq.number;
	wq->wq.attr.send_cqn = cq->cq.number;
	wq->user_handle = request.user_handle;
	wq->wq.number = number;
	wq->wq.in_range = context->range_size != 0;
	wq->wq.state = IBV_WQS_RESET;
	wq->wq.pd = pd;
	wq->wq.cq = cq;
	pd->users++;
	cq->users++;
	response.wq_handle = wq->handle;
	response.max_wr = request.max_wr;
	response.max_sge = request.max_sge;
	response.wqn = number;
	UV_ANSWER(command, response);
	return 0;
}

static bool
is_up(const struct uv_card *card, const struct uv_object *wq)
{
	return vcx3_qp_state(card->core, wq->wq.number) != VCX3_QP_RESET;
}

/* RESET to RTR, where a receive queue works; nothing to do when it is there already. */
static int
go_live(struct uv_card *card, struct uv_object *wq)
{
	int ret;

	if (is_up(card, wq))
		return 0;
	ret = vcx3_status_errno(vcx3_qp_init(card->core, wq->wq.number, &wq->wq.attr));
	if (ret < 0)
		return ret;
	ret = vcx3_status_errno(vcx3_qp_modify(card->core, wq->wq.number, VCX3_QP_RTR, 0));
	if (ret < 0)
		vcx3_qp_modify(card->core, wq->wq.number, VCX3_QP_RESET, 0);
	return ret;
}

int
uv_wqs_bring_up(struct uv_card *card, struct uv_object *table, uint8_t port)
{
	uint32_t i, nb = 1u << table->table.log_size;
	int ret;

	for (i = 0; i < nb; i++) {
		struct uv_object *wq = table->table.wqs[i];

		if (wq->wq.live_users != 0 && wq->wq.attr.port != port)
			return -EINVAL;
	}
	for (i = 0; i < nb; i++) {
		struct uv_object *wq = table->table.wqs[i];

		wq->wq.attr.port = port;
		ret = wq->wq.state == IBV_WQS_RDY ? go_live(card, wq) : 0;
		if (ret < 0)
			break;
		wq->wq.live_users++;
	}
	if (i == nb)
		return 0;
	while (i-- > 0)
		table->table.wqs[i]->wq.live_users--;
	return ret;
}

/* An RSS QP went to RESET by command: WQs that nobody uses any more go down with it. */
void
uv_wqs_bring_down(struct uv_card *card, struct uv_object *table)
{
	uint32_t i;

	for (i = 0; i < 1u << table->table.log_size; i++) {
		struct uv_object *wq = table->table.wqs[i];

		if (--wq->wq.live_users == 0 && is_up(card, wq))
			vcx3_qp_modify(card->core, wq->wq.number, VCX3_QP_RESET, 0);
	}
}

/* The hardware follows at once only while an RSS QP uses the WQ. */
static int
change_state(struct uv_card *card, struct uv_object *wq, uint32_t to)
{
	int ret = 0;

	if ((wq->wq.state == IBV_WQS_ERR && to == IBV_WQS_RDY) ||
	    (wq->wq.state == IBV_WQS_RESET && to == IBV_WQS_ERR))
		return -EINVAL;
	if (to == IBV_WQS_RDY && wq->wq.live_users != 0)
		ret = go_live(card, wq);
	else if (to == IBV_WQS_RESET && is_up(card, wq))
		ret = vcx3_status_errno(vcx3_qp_modify(card->core, wq->wq.number, VCX3_QP_RESET, 0));
	else if (to == IBV_WQS_ERR && is_up(card, wq))
		ret = vcx3_status_errno(vcx3_qp_modify(card->core, wq->wq.number, VCX3_QP_ERROR, 0));
	if (ret == 0)
		wq->wq.state = to;
	return ret;
}

int
uv_cmd_ex_modify_wq(struct uv_command *command)
{
	struct ib_uverbs_ex_modify_wq request;
	struct uv_object *wq;

	UV_CORE(command, request);
	wq = uv_object_get(command->card, command->context, UV_WQ, request.wq_handle);
	if (wq == NULL || request.attr_mask == 0)
		return -EINVAL;
	if (request.attr_mask & ~(uint32_t)(WQ_ATTR_STATE | WQ_ATTR_CURRENT_STATE))
		return -EOPNOTSUPP;
	if (request.attr_mask & WQ_ATTR_CURRENT_STATE && request.curr_wq_state != wq->wq.state)
		return -EINVAL;
	if (!(request.attr_mask & WQ_ATTR_STATE))
		return 0;
	if (request.wq_state > IBV_WQS_ERR)
		return -EINVAL;
	return change_state(command->card, wq, request.wq_state);
}

int
uv_cmd_ex_destroy_wq(struct uv_command *command)
{
	struct ib_uverbs_ex_destroy_wq request;
	struct ib_uverbs_ex_destroy_wq_resp response = {.response_length = sizeof(response)};
	struct uv_object *wq;

	UV_CORE(command, request);
	wq = uv_object_get(command->card, command->context, UV_WQ, request.wq_handle);
	if (wq == NULL || request.comp_mask != 0)
		return wq == NULL ? -EINVAL : -EOPNOTSUPP;
	response.events_reported = wq->async_reported;
	UV_ANSWER(command, response);
	return uv_object_destroy(command->card, wq);
}

/* All WQs of a table: consecutive numbers, the first a multiple of the size (B.5). */
static int
collect(struct uv_command *command, uint32_t size, struct uv_object **wqs)
{
	const uint8_t *at = command->frame.core +
		sizeof(struct ib_uverbs_ex_create_rwq_ind_table);
	uint32_t i, handle;

	for (i = 0; i < size; i++) {
		memcpy(&handle, at + i * sizeof(handle), sizeof(handle));
		wqs[i] = uv_object_get(command->card, command->context, UV_WQ, handle);
		if (wqs[i] == NULL || wqs[i]->wq.number != wqs[0]->wq.number + i)
			return -EINVAL;
	}
	return wqs[0]->wq.number % size == 0 ? 0 : -EINVAL;
}

int
uv_cmd_ex_create_table(struct uv_command *command)
{
	struct ib_uverbs_ex_create_rwq_ind_table request;
	struct ib_uverbs_ex_create_rwq_ind_table_resp response = {
		.response_length = sizeof(response),
	};
	struct uv_object *table, **wqs;
	uint32_t i, size;
	int ret;

	UV_CORE(command, request);
	if (request.comp_mask != 0)
		return -EOPNOTSUPP;
	if (request.log_ind_tbl_size > IB_USER_VERBS_MAX_LOG_IND_TBL_SIZE ||
	    1u << request.log_ind_tbl_size > UV_MAX_TABLE_SIZE)
		return -EINVAL;
	size = 1u << request.log_ind_tbl_size;
	if (command->frame.core_size < sizeof(request) + size * sizeof(uint32_t))
		return -ENOSPC;
	wqs = calloc(size, sizeof(*wqs));
	ret = wqs != NULL ? collect(command, size, wqs) : -ENOMEM;
	table = ret == 0 ? uv_object_new(command->card, command->context, UV_TABLE) : NULL;
	if (table == NULL) {
		free(wqs);
		return ret < 0 ? ret : -ENOMEM;
	}
	table->table.log_size = request.log_ind_tbl_size;
	table->table.wqs = wqs;
	for (i = 0; i < size; i++)
		wqs[i]->users++;
	response.ind_tbl_handle = table->handle;
	response.ind_tbl_num = wqs[0]->wq.number;
	UV_ANSWER(command, response);
	return 0;
}

int
uv_cmd_ex_destroy_table(struct uv_command *command)
{
	struct ib_uverbs_ex_destroy_rwq_ind_table request;
	struct uv_object *table;

	UV_CORE(command, request);
	table = uv_object_get(command->card, command->context, UV_TABLE, request.ind_tbl_handle);
	if (table == NULL || request.comp_mask != 0)
		return table == NULL ? -EINVAL : -EOPNOTSUPP;
	return uv_object_destroy(command->card, table);
}
