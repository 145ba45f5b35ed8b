/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Programs that write any command in any order: the input is a list of actions. Commands start
 * from a body that makes sense, with the latest handle of each kind, and the input changes bytes
 * of it; so most come deep into the handlers. The program's memory is one block with nothing
 * around it. When the device is closed, nothing of it may be left.
 */

#include <rdma/ib_user_verbs.h>
#include <rdma/mlx4-abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd/tree.h"
#include "core/counters.h"
#include "uverbs/command.h"
#include "uverbs/fds.h"
#include "input.h"

#define ARENA 65536
/* Far from all else: an address that the input changes a little is nowhere. */
#define ARENA_AT ((void *)0x680000000000)
#define ADDRESS_MASK UINT64_C(0xffffff)
#define BODY_MAX 256
#define FDS 4096
#define RAW_PACKET 8

static struct vcx3_tree tree;
static struct uv_card *card;
static uint8_t *arena;
static int device;
static uint32_t latest[UV_TYPES];
static uint64_t response[128];

static void
fail(const char *what)
{
	fprintf(stderr, "%s\n", what);
	abort();
}

static void
stop(void)
{
	vcx3_tree_remove(tree.dir);
}

static void
start(void)
{
	static char texts[][8] = {"--step", "--ports", "1", "--wire", "1=self"};
	char *words[] = {texts[0], texts[1], texts[2], texts[3], texts[4]};
	struct vcx3_options options;
	char reason[512];
	uint8_t *at = mmap(ARENA_AT, ARENA, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (at == MAP_FAILED || vcx3_options_parse(&options, 5, words, reason, sizeof(reason)) < 0 ||
	    vcx3_tree_create(&tree, &options, 5, words, reason, sizeof(reason)) < 0)
		fail("cannot start");
	setenv(VCX3_DIR_VARIABLE, tree.dir, 1);
	arena = at;
	atexit(stop);
	card = uv_card();
	if (card == NULL || uv_card_prepare(card) < 0)
		fail("no card");
}

/* A command: its number, length of the request, the kind of object that it makes. */
static const struct form {
	uint32_t number;
	bool is_extended;
	uint8_t core;
	uint8_t provider;
	uint16_t core_room;
	uint8_t provider_room;
	int makes;
} forms[] = {
#define CORE(name) sizeof(struct ib_uverbs_##name)
#define MLX4(name) sizeof(struct mlx4_ib_##name)
	{IB_USER_VERBS_CMD_ALLOC_PD, false, CORE(alloc_pd), 0, CORE(alloc_pd_resp),
		MLX4(alloc_pd_resp), UV_PD},
	{IB_USER_VERBS_CMD_REG_MR, false, CORE(reg_mr), 0, CORE(reg_mr_resp), 0, UV_MR},
	{IB_USER_VERBS_CMD_CREATE_CQ, false, CORE(create_cq), MLX4(create_cq),
		CORE(create_cq_resp), MLX4(create_cq_resp), UV_CQ},
	{IB_USER_VERBS_CMD_CREATE_QP, false, CORE(create_qp), MLX4(create_qp),
		CORE(create_qp_resp), 0, UV_QP},
	{IB_USER_VERBS_CMD_MODIFY_QP, false, CORE(modify_qp), 0, 0, 0, -1},
	{IB_USER_VERBS_EX_CMD_CREATE_WQ, true, CORE(ex_create_wq), MLX4(create_wq),
		CORE(ex_create_wq_resp), 0, UV_WQ},
	{IB_USER_VERBS_EX_CMD_MODIFY_WQ, true, CORE(ex_modify_wq), MLX4(modify_wq), 0, 0, -1},
	{IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL, true, CORE(ex_create_rwq_ind_table) + 8, 0,
		CORE(ex_create_rwq_ind_table_resp), 0, UV_TABLE},
	{IB_USER_VERBS_EX_CMD_CREATE_QP, true, CORE(ex_create_qp), MLX4(create_qp_rss),
		CORE(ex_create_qp_resp), 0, UV_QP},
	{IB_USER_VERBS_EX_CMD_CREATE_FLOW, true, CORE(create_flow) + CORE(flow_spec_eth), 0,
		CORE(create_flow_resp), 0, UV_FLOW},
	{IB_USER_VERBS_EX_CMD_CREATE_CQ, true, CORE(ex_create_cq), MLX4(create_cq),
		CORE(ex_create_cq_resp), MLX4(create_cq_resp), UV_CQ},
	{IB_USER_VERBS_CMD_RESIZE_CQ, false, CORE(resize_cq), MLX4(resize_cq),
		CORE(resize_cq_resp), 0, -1},
	{IB_USER_VERBS_CMD_QUERY_QP, false, CORE(query_qp), 0, CORE(query_qp_resp), 0, -1},
	{IB_USER_VERBS_CMD_QUERY_PORT, false, CORE(query_port), 0, CORE(query_port_resp), 0, -1},
	{IB_USER_VERBS_EX_CMD_QUERY_DEVICE, true, CORE(ex_query_device), 0, 304, 48, -1},
	{IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, false, CORE(create_comp_channel), 0,
		CORE(create_comp_channel_resp), 0, -1},
	{IB_USER_VERBS_EX_CMD_MODIFY_CQ, true, CORE(ex_modify_cq), 0, 0, 0, -1},
	{IB_USER_VERBS_CMD_ATTACH_MCAST, false, CORE(attach_mcast), 0, 0, 0, -1},
	{IB_USER_VERBS_CMD_DETACH_MCAST, false, CORE(detach_mcast), 0, 0, 0, -1},
	{IB_USER_VERBS_CMD_DEALLOC_PD, false, CORE(dealloc_pd), 0, 0, 0, -1},
	{IB_USER_VERBS_CMD_DEREG_MR, false, CORE(dereg_mr), 0, 0, 0, -1},
	{IB_USER_VERBS_CMD_DESTROY_CQ, false, CORE(destroy_cq), 0, CORE(destroy_cq_resp), 0, -1},
	{IB_USER_VERBS_CMD_DESTROY_QP, false, CORE(destroy_qp), 0, CORE(destroy_qp_resp), 0, -1},
	{IB_USER_VERBS_EX_CMD_DESTROY_WQ, true, CORE(ex_destroy_wq), 0, CORE(ex_destroy_wq_resp), 0,
		-1},
	{IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL, true, CORE(ex_destroy_rwq_ind_table), 0, 0, 0,
		-1},
	{IB_USER_VERBS_EX_CMD_DESTROY_FLOW, true, CORE(destroy_flow), 0, 0, 0, -1},
};

#define NB_FORMS (sizeof(forms) / sizeof(forms[0]))

/* Bodies that make sense. Rings and records have places in the arena, by kind of object. */
static void
fill_cq(uint8_t *body, bool is_extended)
{
	struct ib_uverbs_create_cq plain = {.cqe = 15, .comp_channel = -1};
	struct ib_uverbs_ex_create_cq more = {.cqe = 15, .comp_channel = -1};
	struct mlx4_ib_create_cq ring = {(uintptr_t)arena, (uintptr_t)arena + 0xf000};

	memcpy(body, is_extended ? (void *)&more : (void *)&plain, sizeof(plain));
	memcpy(body + (is_extended ? sizeof(more) : sizeof(plain)), &ring, sizeof(ring));
}

static void
fill_qp(uint8_t *body)
{
	struct ib_uverbs_create_qp core = {
		.pd_handle = latest[UV_PD], .send_cq_handle = latest[UV_CQ],
		.recv_cq_handle = latest[UV_CQ], .max_send_wr = 15, .max_recv_wr = 16,
		.max_send_sge = 1, .max_recv_sge = 1, .qp_type = RAW_PACKET,
	};
	struct mlx4_ib_create_qp rings = {
		.buf_addr = (uintptr_t)arena + 0x2000, .db_addr = (uintptr_t)arena + 0xf100,
		.log_sq_bb_count = 4, .log_sq_stride = 6,
	};

	memcpy(body, &core, sizeof(core));
	memcpy(body + sizeof(core), &rings, sizeof(rings));
}

static void
fill_rss(uint8_t *body)
{
	struct ib_uverbs_ex_create_qp core = {
		.pd_handle = latest[UV_PD], .qp_type = RAW_PACKET,
		.comp_mask = IB_UVERBS_CREATE_QP_MASK_IND_TABLE,
		.rwq_ind_tbl_handle = latest[UV_TABLE],
	};
	struct mlx4_ib_create_qp_rss rss = {
		.rx_hash_fields_mask = 0xff, .rx_hash_function = MLX4_IB_RX_HASH_FUNC_TOEPLITZ,
	};

	memcpy(body, &core, sizeof(core));
	memcpy(body + sizeof(core), &rss, sizeof(rss));
}

static void
fill_wq(uint8_t *body)
{
	struct ib_uverbs_ex_create_wq core = {
		.pd_handle = latest[UV_PD], .cq_handle = latest[UV_CQ], .max_wr = 16, .max_sge = 1,
	};
	struct mlx4_ib_create_wq ring = {
		.buf_addr = (uintptr_t)arena + 0x4000, .db_addr = (uintptr_t)arena + 0xf200,
	};

	memcpy(body, &core, sizeof(core));
	memcpy(body + sizeof(core), &ring, sizeof(ring));
}

static void
fill_flow(uint8_t *body)
{
	struct ib_uverbs_create_flow core = {
		.qp_handle = latest[UV_QP],
		.flow_attr = {.size = CORE(flow_spec_eth), .num_of_specs = 1, .port = 1},
	};
	struct ib_uverbs_flow_spec_eth eth = {.type = 0x20, .size = sizeof(eth)};

	memcpy(body, &core, sizeof(core));
	memcpy(body + sizeof(core), &eth, sizeof(eth));
}

/* A command whose only field of interest is a handle, at the end of its first words. */
static void
fill_handle(uint8_t *body, const struct form *form, uint32_t handle)
{
	size_t at = form->is_extended ? 4 : form->core >= 16 ? 8 : 0;

	memcpy(body + at, &handle, sizeof(handle));
}

static void
fill_modify(uint8_t *body, uint32_t state)
{
	struct ib_uverbs_modify_qp core = {
		.qp_handle = latest[UV_QP], .attr_mask = 0x11, .qp_state = state, .port_num = 1,
	};

	memcpy(body, &core, sizeof(core));
}

static void
fill(uint8_t *body, const struct form *form, uint8_t choice)
{
	struct ib_uverbs_reg_mr mr = {
		.start = (uintptr_t)arena, .hca_va = (uintptr_t)arena, .length = ARENA,
		.pd_handle = latest[UV_PD], .access_flags = 1,
	};
	struct ib_uverbs_ex_modify_wq ready = {1, latest[UV_WQ], 1 + choice % 3, 0, 0, 0};
	uint32_t table[4] = {0, 0, latest[UV_WQ], latest[UV_WQ]};
	static const uint8_t destroyed[] = {
		[IB_USER_VERBS_CMD_DEALLOC_PD] = UV_PD, [IB_USER_VERBS_CMD_DEREG_MR] = UV_MR,
		[IB_USER_VERBS_CMD_DESTROY_CQ] = UV_CQ, [IB_USER_VERBS_CMD_RESIZE_CQ] = UV_CQ,
		[IB_USER_VERBS_CMD_QUERY_QP] = UV_QP, [IB_USER_VERBS_CMD_DESTROY_QP] = UV_QP,
		[IB_USER_VERBS_EX_CMD_DESTROY_WQ] = UV_WQ,
		[IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL] = UV_TABLE,
		[IB_USER_VERBS_EX_CMD_DESTROY_FLOW] = UV_FLOW,
		[IB_USER_VERBS_EX_CMD_MODIFY_CQ] = UV_CQ, [UV_COMMANDS - 1] = 0,
	};

	switch (form->number) {
	case IB_USER_VERBS_CMD_REG_MR:
		memcpy(body, &mr, sizeof(mr));
		break;
	case IB_USER_VERBS_CMD_CREATE_CQ:
		fill_cq(body, form->is_extended);
		break;
	case IB_USER_VERBS_CMD_CREATE_QP:
		form->is_extended ? fill_rss(body) : fill_qp(body);
		break;
	case IB_USER_VERBS_CMD_MODIFY_QP:
		fill_modify(body, choice % 7);
		break;
	case IB_USER_VERBS_EX_CMD_CREATE_WQ:
		fill_wq(body);
		break;
	case IB_USER_VERBS_EX_CMD_MODIFY_WQ:
		memcpy(body, &ready, sizeof(ready));
		break;
	case IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL:
		memcpy(body, table, sizeof(table));
		break;
	case IB_USER_VERBS_EX_CMD_CREATE_FLOW:
		fill_flow(body);
		break;
	default:
		fill_handle(body, form, latest[destroyed[form->number]]);
	}
}

static ssize_t
send_command(const void *bytes, size_t length)
{
	struct uv_fd *entry = uv_fd_get(device);

	return uv_dispatch(card, entry->context, bytes, length);
}

static void
learn_handle(const struct form *form)
{
	const uint32_t *words = (const uint32_t *)response;

	if (form->makes < 0)
		return;
	/* Extended answers of WQs, tables and flows have comp_mask and a length in front. */
	latest[form->makes] = form->number == IB_USER_VERBS_EX_CMD_CREATE_FLOW ? words[1] :
			      form->number == IB_USER_VERBS_EX_CMD_CREATE_WQ ||
			      form->number == IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL ? words[2] :
										       words[0];
}

/* Changes some bytes; addresses of the arena stay near it. */
static void
change(struct input *input, uint8_t *body, size_t length)
{
	uint64_t before[BODY_MAX / 8], now;
	uint8_t changes, at;
	size_t i;

	memcpy(before, body, BODY_MAX);
	for (changes = take(input) % 4; changes > 0; changes--) {
		at = take(input) % length;
		body[at] = take(input);
	}
	for (i = 0; i < BODY_MAX / 8; i++) {
		if ((before[i] & ~ADDRESS_MASK) != (uintptr_t)ARENA_AT)
			continue;
		memcpy(&now, body + 8 * i, sizeof(now));
		now = (uintptr_t)ARENA_AT | (now & ADDRESS_MASK);
		memcpy(body + 8 * i, &now, sizeof(now));
	}
}

static void
run_command(struct input *input, const struct form *form)
{
	struct {
		struct ib_uverbs_cmd_hdr header;
		uint8_t rest[sizeof(struct ib_uverbs_ex_cmd_hdr) + BODY_MAX];
	} command = {.header = {.command = form->number}};
	struct ib_uverbs_ex_cmd_hdr more = {.response = (uintptr_t)response};
	size_t length = form->core + form->provider, room = form->core_room + form->provider_room;
	uint8_t *body = command.rest + (form->is_extended ? sizeof(more) : 0);
	uint64_t answer = (uintptr_t)response;

	fill(body, form, take(input));
	change(input, body, length);
	if (form->is_extended) {
		command.header.command |= IB_USER_VERBS_CMD_FLAG_EXTENDED;
		command.header.in_words = form->core / 8;
		command.header.out_words = form->core_room / 8;
		more.provider_in_words = form->provider / 8;
		more.provider_out_words = form->provider_room / 8;
		if (room == 0)
			more.response = 0;
		memcpy(command.rest, &more, sizeof(more));
		length += sizeof(more);
	} else {
		command.header.in_words = (sizeof(command.header) + length) / 4;
		command.header.out_words = room / 4;
		if (room != 0)
			memcpy(body, &answer, sizeof(answer));
	}
	if (send_command(&command, sizeof(command.header) + length) > 0)
		learn_handle(form);
}

/* Bytes as they are, short or long. */
static void
run_raw(struct input *input)
{
	uint8_t bytes[64];
	size_t length = take(input) % sizeof(bytes), i;

	for (i = 0; i < length; i++)
		bytes[i] = take(input);
	/* An answer must not land anywhere: nowhere is an address, too. */
	if (length >= 16)
		memset(bytes + 8, 0, 8);
	send_command(bytes, length);
}

static void
write_memory(struct input *input)
{
	uint32_t at = (take(input) << 8 | take(input)) % (ARENA - 16), i;
	uint8_t length = take(input) % 16;

	for (i = 0; i < length; i++)
		arena[at + i] = take(input);
}

static void
act(struct input *input)
{
	uint8_t action = take(input) % (NB_FORMS + 4);

	if (action < NB_FORMS)
		run_command(input, &forms[action]);
	else if (action == NB_FORMS)
		run_raw(input);
	else if (action == NB_FORMS + 1)
		write_memory(input);
	else if (card->runner != NULL)
		vcx3_runner_step(card->runner, 4);
}

static void
open_device(void)
{
	struct {
		struct ib_uverbs_cmd_hdr header;
		struct ib_uverbs_get_context core;
	} command = {{IB_USER_VERBS_CMD_GET_CONTEXT, sizeof(command) / 4, 24 / 4},
		     {(uintptr_t)response}};

	device = uv_fd_open_context(card, 0);
	if (device < 0 || send_command(&command, sizeof(command)) < 0)
		fail("cannot open the device");
}

static void
close_device(void)
{
	const struct vcx3_counters *counters;
	int fd, type;

	for (fd = 0; fd < FDS; fd++)
		if (uv_fd_events(fd) != NULL)
			uv_fd_close(card, fd);
	uv_fd_close(card, device);
	for (type = 0; type < UV_TYPES; type++)
		if (uv_objects_count(card, type) != 0)
			fail("an object is left");
	counters = vcx3_counters_get(card->core);
	if (counters->live_mpts + counters->live_cqs + counters->live_qps + counters->live_rules != 0)
		fail("the device has something left");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};

	if (card == NULL)
		start();
	memset(latest, 0, sizeof(latest));
	memset(arena, 0, ARENA);
	open_device();
	while (input.len > 0)
		act(&input);
	close_device();
	return 0;
}
