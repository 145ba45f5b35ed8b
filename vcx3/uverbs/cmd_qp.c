/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Raw packet QPs and RSS QPs. The core makes a QP at RESET->INIT, as the device does; until then
 * it exists only here (connectx3-device.md B.5).
 */

#include <errno.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx4-abi.h>

#include "command.h"

/* Raw packet QPs have bits 6 and 7 of their number clear (B.5). */
#define RAW_FORBIDDEN_MASK 0xc0
#define MIN_LOG_SQ_STRIDE 6
#define MAX_LOG_SQ_STRIDE 10 /* 1008 bytes is the largest descriptor */

#define HASH_IPV4 (MLX4_IB_RX_HASH_SRC_IPV4 | MLX4_IB_RX_HASH_DST_IPV4)
#define HASH_IPV6 (MLX4_IB_RX_HASH_SRC_IPV6 | MLX4_IB_RX_HASH_DST_IPV6)
#define HASH_TCP (MLX4_IB_RX_HASH_SRC_PORT_TCP | MLX4_IB_RX_HASH_DST_PORT_TCP)
#define HASH_UDP (MLX4_IB_RX_HASH_SRC_PORT_UDP | MLX4_IB_RX_HASH_DST_PORT_UDP)

static uint64_t
round_up_pow2(uint32_t value)
{
	return UINT64_C(1) << uv_log2_up(value);
}

static int
pin_rings(const struct mlx4_ib_create_qp *provider, const struct vcx3_qp_attr *attr)
{
	uint64_t size = (UINT64_C(1) << (attr->sq.log_count + attr->sq.log_stride)) +
			(UINT64_C(1) << (attr->rq.log_count + attr->rq.log_stride));
	int ret = uv_pin(provider->buf_addr, size, false);

	return ret == 0 ? uv_pin(provider->db_addr, UV_WQ_RECORD_SIZE, false) : ret;
}

/* Rings as libmlx4 lays them out: the larger stride first (B.5). */
static int
fill_rings(const struct ib_uverbs_create_qp *request, const struct mlx4_ib_create_qp *provider,
	   struct vcx3_qp_attr *attr)
{
	struct vcx3_wq_attr *sq = &attr->sq, *rq = &attr->rq;

	if (request->max_recv_wr > UV_MAX_QP_WR || request->max_recv_sge > UV_MAX_SGE ||
	    !request->max_recv_wr != !request->max_recv_sge ||
	    provider->log_sq_bb_count > 31 ||
	    1u << provider->log_sq_bb_count > round_up_pow2(UV_MAX_QP_WR) ||
	    provider->log_sq_stride < MIN_LOG_SQ_STRIDE ||
	    provider->log_sq_stride > MAX_LOG_SQ_STRIDE || provider->db_addr & 3)
		return -EINVAL;
	sq->present = true;
	sq->log_count = provider->log_sq_bb_count;
	sq->log_stride = provider->log_sq_stride;
	rq->present = true;
	rq->log_count = uv_log2_up(request->max_recv_wr);
	rq->log_stride = 4 + uv_log2_up(request->max_recv_sge);
	if (rq->log_stride > sq->log_stride)
		sq->offset = 1u << (rq->log_count + rq->log_stride);
	else
		rq->offset = 1u << (sq->log_count + sq->log_stride);
	attr->buffer = vcx3_object_flat((void *)(uintptr_t)provider->buf_addr);
	attr->record = vcx3_object_flat((void *)(uintptr_t)provider->db_addr);
	return pin_rings(provider, attr);
}

/* The numbers that the kernel returns: the send side as asked, the receive side rounded up. */
static void
fill_limits(const struct ib_uverbs_create_qp *request, struct uv_object *qp)
{
	qp->qp.max_send_wr = request->max_send_wr;
	qp->qp.max_send_sge = request->max_send_sge;
	qp->qp.max_inline_data = request->max_inline_data;
	qp->qp.max_recv_wr = round_up_pow2(request->max_recv_wr);
	qp->qp.max_recv_sge = round_up_pow2(request->max_recv_sge);
	qp->qp.sig_all = request->sq_sig_all;
}

static void
fill_answer(const struct uv_object *qp, struct ib_uverbs_create_qp_resp *response)
{
	*response = (struct ib_uverbs_create_qp_resp){
		.qp_handle = qp->handle,
		.qpn = qp->qp.number,
		.max_send_wr = qp->qp.max_send_wr,
		.max_recv_wr = qp->qp.max_recv_wr,
		.max_send_sge = qp->qp.max_send_sge,
		.max_recv_sge = qp->qp.max_recv_sge,
		.max_inline_data = qp->qp.max_inline_data,
	};
}

/* A QP object with a number. */
static int
new_qp(struct uv_command *command, uint32_t forbidden_mask, struct uv_object **made)
{
	struct uv_card *card = command->card;
	struct uv_object *qp = uv_object_new(card, command->context, UV_QP);
	int64_t number = qp != NULL ? uv_numbers_take(&card->qpns, 1, forbidden_mask) : -ENOMEM;

	if (number < 0) {
		uv_object_forget(card, qp);
		return -ENOMEM;
	}
	qp->qp.number = number;
	*made = qp;
	return 0;
}

static int
create_raw(struct uv_command *command, const struct ib_uverbs_create_qp *request,
	   struct uv_object **made)
{
	struct uv_card *card = command->card;
	struct uv_context *context = command->context;
	struct mlx4_ib_create_qp provider;
	struct vcx3_qp_attr attr = {0};
	struct uv_object *pd, *send_cq, *recv_cq;
	int ret;

	UV_PROVIDER(command, provider);
	pd = uv_object_get(card, context, UV_PD, request->pd_handle);
	send_cq = uv_object_get(card, context, UV_CQ, request->send_cq_handle);
	recv_cq = uv_object_get(card, context, UV_CQ, request->recv_cq_handle);
	if (pd == NULL || send_cq == NULL || recv_cq == NULL)
		return -EINVAL;
	/* Connected transports and shared receive queues are InfiniBand's. */
	if (request->qp_type != IBV_QPT_RAW_PACKET || request->is_srq)
		return -EOPNOTSUPP;
	ret = fill_rings(request, &provider, &attr);
	if (ret == 0)
		ret = new_qp(command, RAW_FORBIDDEN_MASK, made);
	if (ret < 0)
		return ret;
	attr.pd = pd->pd.number;
	attr.send_cqn = send_cq->cq.number;
	attr.recv_cqn = recv_cq->cq.number;
	attr.need_doorbell = card->options.strict;
	(*made)->user_handle = request->user_handle;
	(*made)->qp.pd = pd;
	(*made)->qp.send_cq = send_cq;
	(*made)->qp.recv_cq = recv_cq;
	(*made)->qp.attr = attr;
	pd->users++;
	send_cq->users++;
	recv_cq->users++;
	fill_limits(request, *made);
	return 0;
}

int
uv_cmd_create_qp(struct uv_command *command)
{
	struct ib_uverbs_create_qp request;
	struct ib_uverbs_create_qp_resp response;
	struct uv_object *qp;
	int ret;

	UV_CORE(command, request);
	ret = create_raw(command, &request, &qp);
	if (ret < 0)
		return ret;
	fill_answer(qp, &response);
	UV_ANSWER(command, response);
	return 0;
}

/* From the fields of verbs to those of the QP context; the kernel's refusals (B.5). */
static int
hash_flags(uint64_t fields, uint8_t *flags)
{
	const uint64_t pairs[] = {HASH_IPV4, HASH_IPV6, HASH_TCP, HASH_UDP};
	unsigned int i;

	*flags = 0;
	if (fields & ~(uint64_t)0xff)
		return -EOPNOTSUPP;
	for (i = 0; i < 4; i++)
		if ((fields & pairs[i]) != 0 && (fields & pairs[i]) != pairs[i])
			return -EOPNOTSUPP;
	if (fields & (HASH_TCP | HASH_UDP) && !(fields & (HASH_IPV4 | HASH_IPV6)))
		return -EOPNOTSUPP;
	if (fields & HASH_IPV4)
		*flags |= VCX3_RSS_IPV4 | (fields & HASH_TCP ? VCX3_RSS_TCP_IPV4 : 0) |
			  (fields & HASH_UDP ? VCX3_RSS_UDP_IPV4 : 0);
	if (fields & HASH_IPV6)
		*flags |= VCX3_RSS_IPV6 | (fields & HASH_TCP ? VCX3_RSS_TCP_IPV6 : 0) |
			  (fields & HASH_UDP ? VCX3_RSS_UDP_IPV6 : 0);
	return 0;
}

static int
create_rss(struct uv_command *command, const struct ib_uverbs_ex_create_qp *request,
	   struct uv_object **made)
{
	struct uv_card *card = command->card;
	struct mlx4_ib_create_qp_rss provider;
	struct vcx3_qp_attr attr = {.is_rss = true};
	struct uv_object *pd, *table;
	int ret;

	if (command->frame.provider_size < sizeof(provider) || command->frame.provider_room != 0)
		return -EINVAL;
	UV_PROVIDER(command, provider);
	pd = uv_object_get(card, command->context, UV_PD, request->pd_handle);
	table = uv_object_get(card, command->context, UV_TABLE, request->rwq_ind_tbl_handle);
	if (pd == NULL || table == NULL)
		return -EINVAL;
	if (request->qp_type != IBV_QPT_RAW_PACKET || provider.comp_mask != 0 ||
	    provider.reserved1 != 0 ||
	    provider.rx_hash_function != MLX4_IB_RX_HASH_FUNC_TOEPLITZ)
		return -EOPNOTSUPP;
	ret = hash_flags(provider.rx_hash_fields_mask, &attr.rss.flags);
	if (ret == 0)
		ret = new_qp(command, 0, made);
	if (ret < 0)
		return ret;
	attr.pd = pd->pd.number;
	attr.rss.base_qpn = table->table.wqs[0]->wq.number;
	attr.rss.default_qpn = attr.rss.base_qpn;
	attr.rss.log_size = table->table.log_size;
	attr.rss.toeplitz = true;
	memcpy(attr.rss.key, provider.rx_hash_key, sizeof(attr.rss.key));
	(*made)->user_handle = request->user_handle;
	(*made)->qp.pd = pd;
	(*made)->qp.table = table;
	(*made)->qp.attr = attr;
	pd->users++;
	table->users++;
	return 0;
}

int
uv_cmd_ex_create_qp(struct uv_command *command)
{
	struct ib_uverbs_ex_create_qp request;
	struct ib_uverbs_ex_create_qp_resp response = {.response_length = sizeof(response)};
	struct uv_object *qp;
	int ret;

	UV_CORE(command, request);
	if (request.comp_mask & ~(uint32_t)IB_UVERBS_CREATE_QP_SUP_COMP_MASK ||
	    request.create_flags != 0)
		return -EINVAL;
	if (request.comp_mask & IB_UVERBS_CREATE_QP_MASK_IND_TABLE) {
		ret = create_rss(command, &request, &qp);
	} else {
		/* The fields that both forms have, in the same order. */
		struct ib_uverbs_create_qp plain = {0};

		memcpy(&plain.user_handle, &request,
		       sizeof(plain) - offsetof(struct ib_uverbs_create_qp, user_handle));
		if (command->frame.provider_size < sizeof(struct mlx4_ib_create_qp))
			return -EINVAL;
		ret = create_raw(command, &plain, &qp);
	}
	if (ret < 0)
		return ret;
	fill_answer(qp, &response.base);
	UV_ANSWER(command, response);
	return 0;
}

int
uv_cmd_query_qp(struct uv_command *command)
{
	struct ib_uverbs_query_qp request;
	struct ib_uverbs_query_qp_resp response = {0};
	struct uv_object *qp;

	UV_CORE(command, request);
	qp = uv_object_get(command->card, command->context, UV_QP, request.qp_handle);
	if (qp == NULL)
		return -EINVAL;
	/* An error moves the QP without a command. */
	if (qp->qp.state != VCX3_QP_RESET && uv_object_is_current(command->card, qp))
		qp->qp.state = vcx3_qp_state(command->card->core, qp->qp.number);
	response.qp_state = qp->qp.state;
	response.cur_qp_state = qp->qp.state;
	response.max_send_wr = qp->qp.max_send_wr;
	response.max_recv_wr = qp->qp.max_recv_wr;
	response.max_send_sge = qp->qp.max_send_sge;
	response.max_recv_sge = qp->qp.max_recv_sge;
	response.max_inline_data = qp->qp.max_inline_data;
	response.port_num = qp->qp.attr.port;
	response.sq_sig_all = qp->qp.sig_all;
	UV_ANSWER(command, response);
	return 0;
}

static int
check_modify(const struct uv_card *card, const struct uv_object *qp,
	     const struct ib_uverbs_modify_qp *request)
{
	if (request->attr_mask & IBV_QP_CUR_STATE && request->cur_qp_state != qp->qp.state)
		return -EINVAL;
	if (request->attr_mask & IBV_QP_STATE && request->qp_state > IBV_QPS_ERR)
		return -EINVAL;
	if (!(request->attr_mask & IBV_QP_PORT))
		return 0;
	if (request->port_num < 1 || request->port_num > card->options.ports)
		return -EINVAL;
	/* Raw packets need an Ethernet port. */
	return card->shared->netdev[request->port_num - 1].name[0] != '\0' ? 0 : -EINVAL;
}

static int
reset_to_init(struct uv_card *card, struct uv_object *qp, uint8_t port)
{
	int ret;

	if (port == 0)
		return -EINVAL;
	qp->qp.attr.port = port;
	ret = qp->qp.table != NULL ? uv_wqs_bring_up(card, qp->qp.table, port) : 0;
	if (ret < 0)
		return ret;
	ret = vcx3_status_errno(vcx3_qp_init(card->core, qp->qp.number, &qp->qp.attr));
	if (ret < 0 && qp->qp.table != NULL)
		uv_wqs_bring_down(card, qp->qp.table);
	return ret;
}

/* An RSS QP only goes up, RESET to INIT to RTR, or back to RESET (B.5). */
static bool
rss_may(enum vcx3_qp_state from, enum vcx3_qp_state to)
{
	return to == VCX3_QP_RESET || (from == VCX3_QP_RESET && to == VCX3_QP_INIT) ||
	       (from == VCX3_QP_INIT && to == VCX3_QP_RTR);
}

int
uv_cmd_modify_qp(struct uv_command *command)
{
	struct uv_card *card = command->card;
	struct ib_uverbs_modify_qp request;
	enum vcx3_qp_state to;
	struct uv_object *qp;
	uint8_t port;
	int ret;

	UV_CORE(command, request);
	qp = uv_object_get(card, command->context, UV_QP, request.qp_handle);
	ret = qp != NULL ? check_modify(card, qp, &request) : -EINVAL;
	if (ret < 0 || !(request.attr_mask & IBV_QP_STATE))
		return ret;
	/* The states of verbs and of the device have the same numbers. */
	to = (enum vcx3_qp_state)request.qp_state;
	port = request.attr_mask & IBV_QP_PORT ? request.port_num : 0;
	if (qp->qp.table != NULL && !rss_may(qp->qp.state, to))
		return -EINVAL;
	if (qp->qp.state == VCX3_QP_RESET)
		ret = to == VCX3_QP_RESET ? 0 : to == VCX3_QP_INIT ?
			reset_to_init(card, qp, port) : -EINVAL;
	else
		ret = vcx3_status_errno(vcx3_qp_modify(card->core, qp->qp.number, to, port));
	if (ret < 0)
		return ret;
	if (to == VCX3_QP_RESET && qp->qp.state != VCX3_QP_RESET && qp->qp.table != NULL)
		uv_wqs_bring_down(card, qp->qp.table);
	qp->qp.state = to;
	return 0;
}

int
uv_cmd_destroy_qp(struct uv_command *command)
{
	struct ib_uverbs_destroy_qp request;
	struct ib_uverbs_destroy_qp_resp response;
	struct uv_object *qp;

	UV_CORE(command, request);
	qp = uv_object_get(command->card, command->context, UV_QP, request.qp_handle);
	if (qp == NULL)
		return -EINVAL;
	response.events_reported = qp->async_reported;
	UV_ANSWER(command, response);
	return uv_object_destroy(command->card, qp);
}
