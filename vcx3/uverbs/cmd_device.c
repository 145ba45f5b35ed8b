/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Commands about the device and its ports. Values: connectx3-device.md B.3 and B.4, where those
 * that no open source confirms are marked [U].
 */

#include <endian.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx4-abi.h>

#include "../core/port.h"
#include "command.h"
#include "fds.h"

#define VENDOR_MELLANOX 0x02c9
#define CAP_FLAGS 0x057e9c66u
#define PORT_CAP_CM_SUP 0x10000u
#define PORT_CAP_IP_BASED_GIDS 0x04000000u
#define GID_TABLE 2 /* as many files as the sysfs tree has */

int
uv_cmd_get_context(struct uv_command *command)
{
	struct uv_context *context = command->context;
	struct mlx4_ib_alloc_ucontext_resp provider = {
		.qp_tab_size = 1 << UV_LOG_QP_TABLE,
		.bf_reg_size = UV_BF_REG_SIZE,
		.bf_regs_per_page = UV_BF_REGS_PER_PAGE,
		.cqe_size = command->card->options.cqe_size,
	};
	struct ib_uverbs_get_context_resp response = {.num_comp_vectors = UV_COMP_VECTORS};
	int ret;

	if (context->async != NULL)
		return -EINVAL;
	ret = uv_events_create(UV_EVENTS_ASYNC, &context->async);
	if (ret == 0)
		ret = uv_fd_add_events(context->async);
	if (ret < 0)
		return ret;
	/* One reference is the descriptor's, one the context's. */
	uv_events_ref(context->async);
	if (provider.cqe_size == 64)
		provider.dev_caps = MLX4_USER_DEV_CAP_LARGE_CQE;
	response.async_fd = context->async->program_fd;
	UV_ANSWER(command, response);
	UV_ANSWER_PROVIDER(command, provider);
	return 0;
}

static uint32_t
part_id(const struct uv_card *card)
{
	switch (card->options.identity) {
	case VCX3_IDENTITY_CX3PRO:
		return 0x1007;
	case VCX3_IDENTITY_VF:
		return 0x1004;
	default:
		return 0x1003;
	}
}

/* The GUID that the sysfs tree shows as node_guid. */
static uint64_t
node_guid_be(const uint8_t mac[6])
{
	uint64_t guid = (uint64_t)mac[0] << 56 | (uint64_t)mac[1] << 48 | (uint64_t)mac[2] << 40 |
			(uint64_t)mac[3] << 16 | (uint64_t)mac[4] << 8 | mac[5];

	return htobe64(guid);
}

static void
fill_device(const struct uv_card *card, struct ib_uverbs_query_device_resp *response)
{
	*response = (struct ib_uverbs_query_device_resp){
		.fw_ver = (uint64_t)VCX3_FIRMWARE_MAJOR << 32 | VCX3_FIRMWARE_MINOR << 16 |
			  VCX3_FIRMWARE_PATCH,
		.node_guid = node_guid_be(card->options.mac),
		.sys_image_guid = node_guid_be(card->options.mac),
		.max_mr_size = UINT64_MAX,
		.page_size_cap = 0xfffffe00,
		.vendor_id = VENDOR_MELLANOX,
		.vendor_part_id = part_id(card),
		.max_qp = UV_MAX_QP,
		.max_qp_wr = UV_MAX_QP_WR,
		.device_cap_flags = CAP_FLAGS | IB_UVERBS_DEVICE_MANAGED_FLOW_STEERING,
		.max_sge = UV_MAX_SGE,
		.max_sge_rd = 30,
		.max_cq = UV_MAX_CQ,
		.max_cqe = UV_MAX_CQE,
		.max_mr = UV_MAX_MR,
		.max_pd = UV_MAX_PD,
		.max_qp_rd_atom = 16,
		.max_res_rd_atom = 2096000,
		.max_qp_init_rd_atom = 128,
		.atomic_cap = 1,
		.max_mcast_grp = 131072,
		.max_mcast_qp_attach = 244,
		.max_total_mcast_qp_attach = 31981568,
		.max_ah = 0x7fffffff,
		.max_srq = 65472,
		.max_srq_wr = 16383,
		.max_srq_sge = 31,
		.max_pkeys = 128,
		.local_ca_ack_delay = 15,
		.phys_port_cnt = card->options.ports,
	};
}

int
uv_cmd_query_device(struct uv_command *command)
{
	struct ib_uverbs_query_device_resp response;

	fill_device(command->card, &response);
	UV_ANSWER(command, response);
	return 0;
}

int
uv_cmd_ex_query_device(struct uv_command *command)
{
	struct ib_uverbs_ex_query_device request;
	struct ib_uverbs_ex_query_device_resp response = {
		.timestamp_mask = 0xffffffffffff,
		.hca_core_clock = VCX3_CLOCK_KHZ,
		.device_cap_flags_ex = CAP_FLAGS | IB_UVERBS_DEVICE_MANAGED_FLOW_STEERING |
				       IB_UVERBS_DEVICE_RAW_SCATTER_FCS,
		.rss_caps.supported_qpts = 1 << IBV_QPT_RAW_PACKET,
		.rss_caps.max_rwq_indirection_tables = UV_MAX_QP,
		.rss_caps.max_rwq_indirection_table_size = UV_MAX_TABLE_SIZE,
		.max_wq_type_rq = UV_MAX_QP,
		.raw_packet_caps = IB_UVERBS_RAW_PACKET_CAP_SCATTER_FCS |
				   IB_UVERBS_RAW_PACKET_CAP_IP_CSUM,
		.cq_moderation_caps.max_cq_moderation_count = 0xffff,
		.cq_moderation_caps.max_cq_moderation_period = 0xffff,
	};
	struct mlx4_uverbs_ex_query_device_resp provider = {
		.comp_mask = MLX4_IB_QUERY_DEV_RESP_MASK_CORE_CLOCK_OFFSET,
		.response_length = sizeof(provider),
		.max_inl_recv_sz = UV_MAX_SGE * 16,
		.rss_caps.rx_hash_fields_mask = 0xff,
		.rss_caps.rx_hash_function = MLX4_IB_RX_HASH_FUNC_TOEPLITZ,
		.tso_caps.max_tso = UV_MAX_TSO,
		.tso_caps.supported_qpts = 1 << IBV_QPT_RAW_PACKET,
	};

	UV_CORE(command, request);
	if (request.comp_mask != 0 || request.reserved != 0)
		return -EINVAL;
	fill_device(command->card, &response.base);
	response.response_length = command->frame.core_room < sizeof(response) ?
		command->frame.core_room : sizeof(response);
	if (command->card->options.identity == VCX3_IDENTITY_VF) {
		/* No timestamping on a VF (conventions.md 2.1). */
		response.timestamp_mask = 0;
		provider.comp_mask = 0;
	}
	UV_ANSWER(command, response);
	if (command->frame.provider_room < sizeof(provider))
		provider.response_length = command->frame.provider_room;
	UV_ANSWER_PROVIDER(command, provider);
	return 0;
}

/* 256, 512, 1024, 2048, 4096: the largest InfiniBand MTU that the netdev's holds. */
static uint8_t
active_mtu(uint32_t mtu)
{
	uint8_t code;

	for (code = IBV_MTU_4096; code > IBV_MTU_256; code--)
		if (mtu >= 128u << code)
			break;
	return code;
}

/* Width and speed that carry this many Mb/s. */
static void
fill_rate(struct ib_uverbs_query_port_resp *response, uint32_t mbps)
{
	response->active_width = mbps <= 10000 ? 1 : 2; /* 1X, 4X */
	response->active_speed = mbps == 56000 ? 16 : mbps == 40000 || mbps == 10000 ? 8 :
				 mbps == 20000 ? 2 : 1; /* FDR, QDR, DDR, SDR */
}

int
uv_cmd_query_port(struct uv_command *command)
{
	struct uv_card *card = command->card;
	struct ib_uverbs_query_port request;
	struct ib_uverbs_query_port_resp response = {
		.port_cap_flags = PORT_CAP_CM_SUP | PORT_CAP_IP_BASED_GIDS,
		.max_msg_sz = 0x40000000,
		.gid_tbl_len = GID_TABLE,
		.pkey_tbl_len = 1,
		.max_mtu = IBV_MTU_4096,
		.max_vl_num = 2,
		.link_layer = IBV_LINK_LAYER_ETHERNET,
	};
	struct vcx3_netdev *netdev;
	bool up;

	UV_CORE(command, request);
	if (request.port_num < 1 || request.port_num > card->options.ports)
		return -EINVAL;
	netdev = &card->shared->netdev[request.port_num - 1];
	if (netdev->name[0] == '\0')
		response.link_layer = IBV_LINK_LAYER_INFINIBAND;
	up = netdev->running != 0;
	response.state = up ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
	response.phys_state = up ? 5 : 3; /* LinkUp, Disabled */
	response.active_mtu = active_mtu(netdev->mtu);
	fill_rate(&response, netdev->speed_mbps);
	UV_ANSWER(command, response);
	return 0;
}
