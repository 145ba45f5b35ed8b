/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Commands that the kernel refuses, written to the command descriptor by hand: short buffers,
 * unknown handles and commands, bad addresses; each with the kernel's errno. Nothing crashes,
 * and the card works afterwards.
 */

#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../unit/check.h"
#include "rig.h"

static struct rig rig;

/* errno of writing these bytes, 0 when they are taken. */
static int
refused(const void *bytes, size_t length)
{
	ssize_t written = write(rig.context->cmd_fd, bytes, length);

	return written == (ssize_t)length ? 0 : written < 0 ? errno : -1;
}

struct legacy {
	struct ib_uverbs_cmd_hdr header;
	uint64_t body[8];
};

static struct legacy
legacy_of(uint32_t command, size_t in, size_t out)
{
	struct legacy made = {.header = {.command = command,
					 .in_words = (sizeof(made.header) + in) / 4,
					 .out_words = out / 4}};

	return made;
}

static void
test_frames(void)
{
	struct legacy command = legacy_of(IB_USER_VERBS_CMD_QUERY_DEVICE, 8, 176);
	uint64_t response[32];

	command.body[0] = (uintptr_t)response;
	CHECK(refused(&command, 16) == 0, "a good command");
	CHECK(refused(&command, 0) == EINVAL, "nothing: %s", strerror(errno));
	CHECK(refused(&command, 4) == EINVAL, "half a header");
	CHECK(refused(&command, 12) == EINVAL, "fewer bytes than words");
	command.header.in_words = 2;
	CHECK(refused(&command, 8) == ENOSPC, "no request");
	command = legacy_of(IB_USER_VERBS_CMD_QUERY_DEVICE, 8, 100);
	command.body[0] = (uintptr_t)response;
	CHECK(refused(&command, 16) == ENOSPC, "no room for the response");
	command = legacy_of(IB_USER_VERBS_CMD_QUERY_DEVICE, 8, 176);
	command.body[0] = 16;
	CHECK(refused(&command, 16) == EFAULT, "a response that is nowhere");
	CHECK(refused((void *)16, 16) == EFAULT, "a request that is nowhere");
	command = legacy_of(60, 8, 8);
	CHECK(refused(&command, 16) == EOPNOTSUPP, "an unknown command");
	command = legacy_of(IB_USER_VERBS_CMD_CREATE_AH, 8, 8);
	CHECK(refused(&command, 16) == EOPNOTSUPP, "a command that this card has not");
	command = legacy_of(0x40000000, 8, 8);
	CHECK(refused(&command, 16) == EINVAL, "unknown flags");
	command = legacy_of(IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_WQ, 0, 0);
	CHECK(refused(&command, 8) == EINVAL, "an extended command without its second header");
}

/* Destroying what is not there. The handle stands behind the response pointer, if there is one. */
static void
test_handles(void)
{
	static const struct {
		uint32_t command;
		bool has_response;
	} cases[] = {
		{IB_USER_VERBS_CMD_DEALLOC_PD, false},
		{IB_USER_VERBS_CMD_DEREG_MR, false},
		{IB_USER_VERBS_CMD_DESTROY_CQ, true},
		{IB_USER_VERBS_CMD_DESTROY_QP, true},
	};
	static const uint32_t handles[] = {0xffffffff, 4000, 0x80000000};
	uint64_t response[4];
	size_t i, k;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (k = 0; k < 3; k++) {
			struct legacy command = legacy_of(cases[i].command,
							  cases[i].has_response ? 16 : 4,
							  cases[i].has_response ? 8 : 0);

			command.body[0] = (uintptr_t)response;
			command.body[cases[i].has_response] = handles[k];
			CHECK(refused(&command, command.header.in_words * 4) == EINVAL,
			      "command %u handle %x: %s", cases[i].command, handles[k],
			      strerror(errno));
		}
	/* A handle of another type: the PD's own. */
	{
		struct legacy command = legacy_of(IB_USER_VERBS_CMD_DEREG_MR, 4, 0);

		command.body[0] = rig.pd->handle;
		CHECK(refused(&command, 12) == EINVAL, "a PD is no MR");
	}
}

static void
test_values(void)
{
	struct ibv_qp_init_attr attr = {.cap = {.max_send_wr = 20000, .max_send_sge = 1},
					.qp_type = IBV_QPT_RAW_PACKET};
	struct ibv_port_attr port;
	void *hole = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(ibv_query_port(rig.context, 3, &port) == EINVAL, "port 3");
	CHECK(ibv_create_cq(rig.context, 5000000, NULL, NULL, 0) == NULL && errno == EINVAL,
	      "CQ of 5 million: %s", strerror(errno));
	CHECK(ibv_create_cq(rig.context, 16, NULL, NULL, 100) == NULL && errno == EINVAL,
	      "vector 100: %s", strerror(errno));
	CHECK(ibv_reg_mr(rig.pd, hole, 8192, IBV_ACCESS_LOCAL_WRITE) == NULL && errno == EFAULT,
	      "memory without access: %s", strerror(errno));
	munmap(hole, 8192);
	CHECK(ibv_reg_mr(rig.pd, hole, 8192, IBV_ACCESS_LOCAL_WRITE) == NULL && errno == EFAULT,
	      "memory that is not there: %s", strerror(errno));
	CHECK(ibv_reg_mr(rig.pd, rig.memory, 4096, IBV_ACCESS_REMOTE_WRITE) == NULL &&
	      errno == EINVAL, "remote write without local: %s", strerror(errno));
	CHECK(ibv_dealloc_pd(rig.pd) == EBUSY, "a PD in use");
	attr.send_cq = ibv_create_cq(rig.context, 16, NULL, NULL, 0);
	attr.recv_cq = attr.send_cq;
	CHECK(ibv_create_qp(rig.pd, &attr) == NULL && errno == EINVAL, "QP of 20000: %s",
	      strerror(errno));
	attr.cap.max_send_wr = 16;
	attr.qp_type = IBV_QPT_RC;
	CHECK(ibv_create_qp(rig.pd, &attr) == NULL && errno == EOPNOTSUPP, "RC: %s",
	      strerror(errno));
	CHECK(ibv_destroy_cq(attr.send_cq) == 0, "CQ");
}

/* Rings at an address that is nowhere: pinning them fails, nothing is written there. */
static void
test_rings_nowhere(void)
{
	struct ibv_cq *cq = ibv_create_cq(rig.context, 16, NULL, NULL, 0);
	struct {
		struct ib_uverbs_cmd_hdr header;
		struct ib_uverbs_create_cq core;
		uint64_t buffer, record;
	} make_cq = {
		.header = {IB_USER_VERBS_CMD_CREATE_CQ, sizeof(make_cq) / 4, 16 / 4},
		.core = {.cqe = 15, .comp_channel = -1},
		.buffer = 4096,
	};
	struct {
		struct ib_uverbs_cmd_hdr header;
		struct ib_uverbs_create_qp core;
		uint64_t buffer, record;
		uint8_t log_bb_count, log_stride, reserved[6];
	} make_qp = {
		.header = {IB_USER_VERBS_CMD_CREATE_QP, sizeof(make_qp) / 4, 32 / 4},
		.core = {.qp_type = IBV_QPT_RAW_PACKET, .max_send_wr = 16, .max_send_sge = 1,
			 .max_recv_wr = 1, .max_recv_sge = 1},
		.log_bb_count = 6,
		.log_stride = 6,
	};
	uint64_t response[8];

	make_cq.core.response = make_qp.core.response = (uintptr_t)response;
	make_qp.core.pd_handle = rig.pd->handle;
	make_qp.core.send_cq_handle = make_qp.core.recv_cq_handle = cq->handle;
	CHECK(refused(&make_cq, sizeof(make_cq)) == EFAULT, "CQ ring: %s", strerror(errno));
	make_cq.buffer = (uintptr_t)rig.memory;
	CHECK(refused(&make_cq, sizeof(make_cq)) == EFAULT, "CQ record: %s", strerror(errno));
	CHECK(refused(&make_qp, sizeof(make_qp)) == EFAULT, "QP rings: %s", strerror(errno));
	make_qp.buffer = (uintptr_t)rig.memory;
	CHECK(refused(&make_qp, sizeof(make_qp)) == EFAULT, "QP record: %s", strerror(errno));
	CHECK(ibv_destroy_cq(cq) == 0, "nobody uses the CQ");
}

static void
test_states(void)
{
	struct ibv_qp_attr to_rts = {.qp_state = IBV_QPS_RTS};
	struct rig_qp qp;
	struct ibv_flow *flow;

	rig_qp_open(&rig, &qp, 16, 16, NULL);
	CHECK(ibv_destroy_cq(qp.cq) == EBUSY, "a CQ in use");
	to_rts.qp_state = IBV_QPS_INIT;
	CHECK(ibv_modify_qp(qp.qp, &to_rts, IBV_QP_STATE) == EINVAL, "RTS to INIT");
	flow = rig_flow_all(qp.qp);
	CHECK(ibv_destroy_qp(qp.qp) == EBUSY, "a QP with a rule");
	CHECK(ibv_destroy_flow(flow) == 0, "flow");
	rig_qp_close(&qp);
}

int
main(void)
{
	rig_open(&rig, 16);
	test_frames();
	test_handles();
	test_values();
	test_rings_nowhere();
	test_states();
	rig_close(&rig);
	return check_status();
}
