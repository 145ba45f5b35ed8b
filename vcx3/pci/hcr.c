/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command register: one command at a time runs to its end inside the write that
 * starts it; the result goes to the register, or to an event queue.
 */
#include <string.h>

#include "../core/fault.h"
#include "be.h"
#include "cmd.h"

#define CONTROL_OPCODE 0xfff
#define CONTROL_OPMOD(value) ((value) >> 12 & 0xf)
#define CONTROL_EVENT (1U << 22)
#define CONTROL_GO (1U << 23)
#define CONTROL_STATUS_SHIFT 24

#define ALWAYS 0x1 /* also before INIT_HCA */
#define IN 0x2 /* in_param is a mailbox */

struct entry {
	uint16_t opcode;
	uint8_t flags;
	uint16_t out_size; /* of the mailbox, 0 = none */
	const char *name;
	enum vcx3_status (*run)(struct vcx3_pci *pci, struct vcx3_cmd *cmd);
};

/* connectx3-pci.md B.4 to B.15 */
#define ENTRIES(X) \
	X(0x004, ALWAYS, 0x100, "QUERY_FW", vcx3_cmd_query_fw) \
	X(0xfff, ALWAYS | IN, 0, "MAP_FA", vcx3_cmd_map_fa) \
	X(0xffe, ALWAYS, 0, "UNMAP_FA", vcx3_cmd_accept) \
	X(0xff6, ALWAYS, 0, "RUN_FW", vcx3_cmd_accept) \
	X(0x034, ALWAYS, 0x100, "MOD_STAT_CFG", vcx3_cmd_mod_stat_cfg) \
	X(0x003, ALWAYS, 0x100, "QUERY_DEV_CAP", vcx3_cmd_query_dev_cap) \
	X(0x006, ALWAYS, 0x100, "QUERY_ADAPTER", vcx3_cmd_query_adapter) \
	X(0xffd, ALWAYS, 0, "SET_ICM_SIZE", vcx3_cmd_set_icm_size) \
	X(0xffc, ALWAYS | IN, 0, "MAP_ICM_AUX", vcx3_cmd_map_fa) \
	X(0xffb, ALWAYS, 0, "UNMAP_ICM_AUX", vcx3_cmd_accept) \
	X(0xffa, ALWAYS | IN, 0, "MAP_ICM", vcx3_cmd_map_icm) \
	X(0xff9, ALWAYS, 0, "UNMAP_ICM", vcx3_cmd_unmap_icm) \
	X(0x007, ALWAYS | IN, 0, "INIT_HCA", vcx3_cmd_init_hca) \
	X(0x008, ALWAYS, 0, "CLOSE_HCA", vcx3_cmd_close_hca) \
	X(0x00b, 0, 0x200, "QUERY_HCA", vcx3_cmd_query_hca) \
	X(0x031, ALWAYS, 0, "NOP", vcx3_cmd_accept) \
	X(0x050, 0, 0, "HW_HEALTH_CHECK", vcx3_cmd_accept) \
	X(0x013, IN, 0, "SW2HW_EQ", vcx3_cmd_sw2hw_eq) \
	X(0x014, 0, 0, "HW2SW_EQ", vcx3_cmd_hw2sw_eq) \
	X(0x012, 0, 0, "MAP_EQ", vcx3_cmd_map_eq) \
	X(0x00d, IN, 0, "SW2HW_MPT", vcx3_cmd_sw2hw_mpt) \
	X(0x00f, 0, 0, "HW2SW_MPT", vcx3_cmd_hw2sw_mpt) \
	X(0x02f, 0, 0, "SYNC_TPT", vcx3_cmd_sync_tpt) \
	X(0x016, IN, 0, "SW2HW_CQ", vcx3_cmd_sw2hw_cq) \
	X(0x017, 0, 0, "HW2SW_CQ", vcx3_cmd_hw2sw_cq) \
	X(0x02c, IN, 0, "MODIFY_CQ", vcx3_cmd_modify_cq) \
	X(0x035, IN, 0, "SW2HW_SRQ", vcx3_cmd_sw2hw_srq) \
	X(0x036, 0, 0, "HW2SW_SRQ", vcx3_cmd_hw2sw_srq) \
	X(0x037, 0, 0x60, "QUERY_SRQ", vcx3_cmd_query_srq) \
	X(0x040, 0, 0, "ARM_SRQ", vcx3_cmd_arm_srq) \
	X(0x019, IN, 0, "RST2INIT_QP", vcx3_cmd_rst2init) \
	X(0x01a, IN, 0, "INIT2RTR_QP", vcx3_cmd_modify_qp) \
	X(0x01b, IN, 0, "RTR2RTS_QP", vcx3_cmd_modify_qp) \
	X(0x01c, IN, 0, "RTS2RTS_QP", vcx3_cmd_modify_qp) \
	X(0x01d, IN, 0, "SQERR2RTS_QP", vcx3_cmd_modify_qp) \
	X(0x01e, 0, 0, "2ERR_QP", vcx3_cmd_modify_qp) \
	X(0x01f, 0, 0, "RTS2SQD_QP", vcx3_cmd_modify_qp) \
	X(0x020, IN, 0, "SQD2RTS_QP", vcx3_cmd_modify_qp) \
	X(0x021, 0, 0, "2RST_QP", vcx3_cmd_reset_qp) \
	X(0x022, 0, 0x100, "QUERY_QP", vcx3_cmd_query_qp) \
	X(0x02d, IN, 0, "INIT2INIT_QP", vcx3_cmd_modify_qp) \
	X(0x038, IN, 0, "SQD2SQD_QP", vcx3_cmd_modify_qp) \
	X(0x043, ALWAYS, 0x40, "QUERY_PORT", vcx3_cmd_query_port) \
	X(0x009, 0, 0, "INIT_PORT", vcx3_cmd_init_port) \
	X(0x00a, 0, 0, "CLOSE_PORT", vcx3_cmd_close_port) \
	X(0x00c, IN, 0, "SET_PORT", vcx3_cmd_set_port) \
	X(0x047, 0, 0, "SET_VLAN_FLTR", vcx3_cmd_accept) \
	X(0x048, 0, 0, "SET_MCAST_FLTR", vcx3_cmd_accept) \
	X(0x049, 0, 0xc00, "DUMP_ETH_STATS", vcx3_cmd_dump_eth_stats) \
	X(0x030, 0, 0x400, "DIAG_RPRT", vcx3_cmd_accept) \
	X(0x023, 0, 0, "CONF_SPECIAL_QP", vcx3_cmd_accept) \
	X(0x024, IN, 0x100, "MAD_IFC", vcx3_cmd_mad_ifc) \
	X(0x05a, 0, 0, "SET_NODE", vcx3_cmd_accept) \
	X(0x065, IN, 0, "QP_FLOW_STEERING_ATTACH", vcx3_cmd_flow_attach) \
	X(0x066, 0, 0, "QP_FLOW_STEERING_DETACH", vcx3_cmd_flow_detach)

#define ENTRY(opcode, flags, out_size, name, run) { opcode, flags, out_size, name, run },
static const struct entry entries[] = { ENTRIES(ENTRY) };

#define NAME(opcode, flags, out_size, name, run) name,
const char *const vcx3_pci_commands[] = { ENTRIES(NAME) NULL };

static const struct entry *
find_entry(uint16_t opcode)
{
	unsigned int i;

	for (i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (entries[i].opcode == opcode)
			return &entries[i];
	return NULL;
}

static bool
fetch_mailbox(struct vcx3_pci *pci, uint64_t address)
{
	const uint8_t *mailbox = NULL;

	if (address % VCX3_DMA_PAGE == 0)
		mailbox = vcx3_dma_at(&pci->dma, address, sizeof(pci->in), false);
	if (mailbox == NULL)
		return false;
	memcpy(pci->in, mailbox, sizeof(pci->in));
	return true;
}

static bool
store_mailbox(struct vcx3_pci *pci, uint64_t address, uint32_t size)
{
	uint8_t *mailbox = NULL;

	if (address % VCX3_DMA_PAGE == 0)
		mailbox = vcx3_dma_at(&pci->dma, address, VCX3_DMA_PAGE, true);
	if (mailbox == NULL)
		return false;
	memcpy(mailbox, pci->out, size);
	return true;
}

static enum vcx3_status
run_entry(struct vcx3_pci *pci, const struct entry *entry, struct vcx3_cmd *cmd)
{
	uint64_t mailbox = cmd->out_param;
	enum vcx3_status status;

	if (!pci->running && (entry->flags & ALWAYS) == 0)
		return VCX3_BAD_SYS_STATE;
	if (vcx3_fault_command(pci->core, entry->name) != 0)
		return VCX3_INTERNAL_ERR;
	if ((entry->flags & IN) != 0 && !fetch_mailbox(pci, cmd->in_param))
		return VCX3_BAD_PARAM;
	cmd->in = pci->in;
	cmd->out = pci->out;
	cmd->out_size = entry->out_size;
	if (cmd->out_size != 0)
		memset(pci->out, 0, sizeof(pci->out));
	status = entry->run(pci, cmd);
	if (status == VCX3_OK && cmd->out_size != 0 &&
	    !store_mailbox(pci, mailbox, cmd->out_size))
		return VCX3_BAD_PARAM;
	return status;
}

static enum vcx3_status
run_command(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	const struct entry *entry = find_entry(cmd->opcode);
	enum vcx3_status status = VCX3_BAD_OP;

	pci->counters.commands++;
	if (entry == NULL)
		pci->counters.commands_unknown++;
	else
		status = run_entry(pci, entry, cmd);
	if (status != VCX3_OK)
		pci->counters.commands_failed++;
	return status;
}

static void
push_result(struct vcx3_pci *pci, enum vcx3_status status, uint64_t out_param)
{
	struct vcx3_eqe event = { .type = VCX3_EQE_COMMAND };

	put_be16(event.data, 0x06 - 0x04, (uint16_t)(pci->hcr.words[VCX3_HCR_TOKEN] >> 16));
	event.data[0x0f - 0x04] = (uint8_t)status;
	put_be64(event.data, 0x10 - 0x04, out_param);
	vcx3_eq_push_async(&pci->eqs, &event);
}

void
vcx3_hcr_control(struct vcx3_pci *pci, uint32_t value)
{
	uint32_t *words = pci->hcr.words;
	struct vcx3_cmd cmd = {
		.opcode = value & CONTROL_OPCODE,
		.opmod = CONTROL_OPMOD(value),
		.modifier = words[VCX3_HCR_MODIFIER],
		.in_param = (uint64_t)words[VCX3_HCR_IN_HIGH] << 32 | words[VCX3_HCR_IN_LOW],
		.out_param = (uint64_t)words[VCX3_HCR_OUT_HIGH] << 32 | words[VCX3_HCR_OUT_LOW],
	};
	enum vcx3_status status;

	words[VCX3_HCR_CONTROL] = value & ~CONTROL_GO;
	if ((value & CONTROL_GO) == 0)
		return;
	status = run_command(pci, &cmd);
	words[VCX3_HCR_OUT_HIGH] = (uint32_t)(cmd.out_param >> 32);
	words[VCX3_HCR_OUT_LOW] = (uint32_t)cmd.out_param;
	words[VCX3_HCR_CONTROL] &= ~(0xffU << CONTROL_STATUS_SHIFT);
	words[VCX3_HCR_CONTROL] |= (uint32_t)status << CONTROL_STATUS_SHIFT;
	if ((value & CONTROL_EVENT) != 0)
		push_result(pci, status, cmd.out_param);
}
