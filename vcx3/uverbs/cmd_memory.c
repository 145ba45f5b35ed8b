/* SPDX-License-Identifier: BSD-3-Clause */

/* Protection domains and memory regions. */

#include <errno.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx4-abi.h>
#include <sys/mman.h>
#include <unistd.h>

#include "command.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

/*
 * Bits 15:14 of an lkey stay 0: the stock driver lets lkey bytes show where ins_vlan lies
 * (connectx3-device.md D.1), and these are the bits of ins_vlan.
 */
#define KEY_FORBIDDEN_MASK 0xc0

#define REMOTE_ACCESS (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)

int
uv_cmd_alloc_pd(struct uv_command *command)
{
	struct uv_card *card = command->card;
	struct ib_uverbs_alloc_pd_resp response = {0};
	struct mlx4_ib_alloc_pd_resp provider = {0};
	struct uv_object *pd;
	int64_t number;
	int ret;

	ret = uv_card_power_on(card);
	if (ret < 0)
		return ret;
	number = uv_numbers_take(&card->pdns, 1, 0);
	if (number < 0)
		return -ENOMEM;
	pd = uv_object_new(card, command->context, UV_PD);
	if (pd == NULL) {
		uv_numbers_give(&card->pdns, number, 1);
		return -ENOMEM;
	}
	pd->pd.number = number;
	response.pd_handle = pd->handle;
	provider.pdn = number;
	UV_ANSWER(command, response);
	UV_ANSWER_PROVIDER(command, provider);
	return 0;
}

int
uv_cmd_dealloc_pd(struct uv_command *command)
{
	struct ib_uverbs_dealloc_pd request;
	struct uv_object *pd;

	UV_CORE(command, request);
	pd = uv_object_get(command->card, command->context, UV_PD, request.pd_handle);
	return pd != NULL ? uv_object_destroy(command->card, pd) : -EINVAL;
}

/* Kernels before 5.14 do not know the advice: with them no region is looked at. */
static bool
can_populate(uint64_t page)
{
	uint64_t here = (uintptr_t)&page & ~(page - 1);

	return madvise((void *)(uintptr_t)here, page, MADV_POPULATE_READ) == 0;
}

int
uv_pin(uint64_t start, uint64_t length, bool writable)
{
	uint64_t page = sysconf(_SC_PAGESIZE);
	uint64_t from = start & ~(page - 1);
	uint64_t to = (start + length + page - 1) & ~(page - 1);

	if (start + length < start)
		return -EFAULT;
	if (madvise((void *)(uintptr_t)from, to - from,
		    writable ? MADV_POPULATE_WRITE : MADV_POPULATE_READ) == 0)
		return 0;
	if (errno == EINVAL)
		return can_populate(page) ? -EFAULT : 0;
	return errno == ENOMEM ? -EFAULT : -errno;
}

static int
check_region(const struct ib_uverbs_reg_mr *request)
{
	bool writable = request->access_flags & (IBV_ACCESS_LOCAL_WRITE | REMOTE_ACCESS);

	if ((request->start ^ request->hca_va) & (UV_PAGE - 1))
		return -EINVAL;
	if (request->access_flags & REMOTE_ACCESS &&
	    !(request->access_flags & IBV_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	if (request->length == 0 || request->start + request->length < request->start)
		return -EINVAL;
	return uv_pin(request->start, request->length, writable);
}

int
uv_cmd_reg_mr(struct uv_command *command)
{
	struct uv_card *card = command->card;
	struct ib_uverbs_reg_mr request;
	struct ib_uverbs_reg_mr_resp response = {0};
	struct vcx3_mpt_attr attr = {0};
	struct uv_object *pd, *mr;
	int64_t index;
	int ret;

	UV_CORE(command, request);
	pd = uv_object_get(card, command->context, UV_PD, request.pd_handle);
	ret = check_region(&request);
	if (pd == NULL || ret < 0)
		return pd == NULL ? -EINVAL : ret;
	mr = uv_object_new(card, command->context, UV_MR);
	index = mr != NULL ? uv_numbers_take(&card->keys, 1, KEY_FORBIDDEN_MASK) : -ENOMEM;
	if (index < 0) {
		ret = -ENOMEM;
		goto free_object;
	}
	attr.pd = pd->pd.number;
	attr.access = request.access_flags & IBV_ACCESS_LOCAL_WRITE ? VCX3_ACCESS_LOCAL_WRITE : 0;
	attr.start = request.hca_va;
	attr.length = request.length;
	attr.object = vcx3_object_flat((void *)(uintptr_t)request.start);
	mr->mr.key = vcx3_mpt_key(index);
	ret = vcx3_status_errno(vcx3_mpt_create(card->core, mr->mr.key, &attr));
	if (ret < 0)
		goto give_key;
	mr->mr.pd = pd;
	pd->users++;
	response.mr_handle = mr->handle;
	response.lkey = mr->mr.key;
	response.rkey = mr->mr.key;
	UV_ANSWER(command, response);
	return 0;

give_key:
	uv_numbers_give(&card->keys, index, 1);
free_object:
	uv_object_forget(card, mr);
	return ret;
}

int
uv_cmd_dereg_mr(struct uv_command *command)
{
	struct ib_uverbs_dereg_mr request;
	struct uv_object *mr;

	UV_CORE(command, request);
	mr = uv_object_get(command->card, command->context, UV_MR, request.mr_handle);
	return mr != NULL ? uv_object_destroy(command->card, mr) : -EINVAL;
}
