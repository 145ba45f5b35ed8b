/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands about the firmware, the context memory and the life of the function
 * (connectx3-pci.md B.4).
 */
#include <string.h>

#include "bar.h"
#include "be.h"
#include "cmd.h"

#define MAP_ENTRIES_MAX 256 /* of 16 bytes in a mailbox */
#define MAP_LOG_PAGES_MAX 20
#define INTA_PIN 31
#define INIT_HCA_DMFS (1U << 6)
#define INIT_HCA_EQE_64 (1U << 29)
#define INIT_HCA_CQE_64 (1U << 30)

enum vcx3_status
vcx3_cmd_accept(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	return VCX3_OK;
}

enum vcx3_status
vcx3_cmd_query_fw(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	uint8_t *out = cmd->out;

	put_be16(out, 0x00, 1); /* pages of memory for the firmware */
	put_be16(out, 0x02, 2); /* version 2.42.5000; the two minor numbers are swapped */
	put_be16(out, 0x04, 5000);
	put_be16(out, 0x06, 42);
	put_be16(out, 0x0a, 3); /* command interface with the new port commands */
	out[0x0f] = 4; /* log of commands that may wait for an event */
	put_be64(out, 0x20, VCX3_REG_CLEAR_INT);
	put_be64(out, 0x30, VCX3_REG_CATAS);
	put_be32(out, 0x38, VCX3_CATAS_WORDS);
	put_be64(out, 0x40, VCX3_REG_COMM);
	put_be64(out, 0x50, VCX3_REG_CLOCK);
	return VCX3_OK;
}

enum vcx3_status
vcx3_cmd_map_fa(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	return cmd->modifier <= MAP_ENTRIES_MAX ? VCX3_OK : VCX3_BAD_PARAM;
}

enum vcx3_status
vcx3_cmd_mod_stat_cfg(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	if (cmd->opmod != 2) /* only the physical port id, of which there is none, is read */
		cmd->out_size = 0;
	return VCX3_OK;
}

enum vcx3_status
vcx3_cmd_query_adapter(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	static const char board_id[16] = "MT_1090120019";
	unsigned int i;

	cmd->out[0x10] = INTA_PIN;
	for (i = 0; i < sizeof(board_id); i++)
		cmd->out[0xf0 + (i ^ 3)] = (uint8_t)board_id[i];
	return VCX3_OK;
}

enum vcx3_status
vcx3_cmd_set_icm_size(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	cmd->out_param = 16; /* auxiliary pages */
	return VCX3_OK;
}

enum vcx3_status
vcx3_cmd_map_icm(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	uint32_t i;

	if (cmd->modifier > MAP_ENTRIES_MAX)
		return VCX3_BAD_PARAM;
	for (i = 0; i < cmd->modifier; i++) {
		uint64_t virt = be64_at(cmd->in, i * 16);
		uint64_t page = be64_at(cmd->in, i * 16 + 8);
		uint32_t log_pages = page & 0x3f;
		enum vcx3_status status;

		if (log_pages > MAP_LOG_PAGES_MAX)
			return VCX3_BAD_PARAM;
		status = vcx3_icm_map(&pci->icm, virt & ~UINT64_C(0xfff), page & ~UINT64_C(0xfff),
				      (uint64_t)VCX3_DMA_PAGE << log_pages);
		if (status != VCX3_OK)
			return status;
	}
	return VCX3_OK;
}

enum vcx3_status
vcx3_cmd_unmap_icm(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	enum vcx3_status status = vcx3_icm_unmap(&pci->icm, cmd->in_param,
						 (uint64_t)cmd->modifier * VCX3_DMA_PAGE);

	vcx3_pci_memory_changed(pci);
	return status;
}

enum vcx3_status
vcx3_cmd_init_hca(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	uint32_t sizes = be32_at(cmd->in, 0x58);

	if (pci->running)
		return VCX3_BAD_SYS_STATE;
	pci->dmfs = (be32_at(cmd->in, 0x14) & INIT_HCA_DMFS) != 0;
	pci->cqe_size = (sizes & INIT_HCA_CQE_64) != 0 ? 64 : 32;
	pci->eqs.eqe_size = (sizes & INIT_HCA_EQE_64) != 0 ? 64 : 32;
	pci->icm.mtt_base = be64_at(cmd->in, 0x100) & ~UINT64_C(7);
	pci->running = true;
	return VCX3_OK;
}

enum vcx3_status
vcx3_cmd_close_hca(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	if (pci->running)
		pci->counters.left_at_close += vcx3_pci_count_live(pci);
	vcx3_pci_forget_objects(pci);
	return VCX3_OK;
}

enum vcx3_status
vcx3_cmd_query_hca(struct vcx3_pci *pci, struct vcx3_cmd *cmd)
{
	put_be16(cmd->out, 0x0c, VCX3_CLOCK_KHZ / 1000);
	return VCX3_OK;
}
