/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Firmware commands: how one reaches its handler. A handler gets copies of the
 * mailboxes, so software cannot change them under it (connectx3-pci.md B.3).
 */
#ifndef VCX3_PCI_CMD_H
#define VCX3_PCI_CMD_H

#include "pci.h"

struct vcx3_cmd {
	uint16_t opcode;
	uint8_t opmod;
	uint32_t modifier;
	uint64_t in_param; /* value, or address of the mailbox */
	uint64_t out_param; /* address of the mailbox on entry; immediate result */
	const uint8_t *in; /* 4 KB */
	uint8_t *out; /* zeroed; out_size bytes of it are handed back */
	uint32_t out_size;
};

/* Words of the command register. */
enum vcx3_hcr_word {
	VCX3_HCR_IN_HIGH,
	VCX3_HCR_IN_LOW,
	VCX3_HCR_MODIFIER,
	VCX3_HCR_OUT_HIGH,
	VCX3_HCR_OUT_LOW,
	VCX3_HCR_TOKEN,
	VCX3_HCR_CONTROL,
};

/** A write to the control word; runs the command if its GO bit is set. */
void vcx3_hcr_control(struct vcx3_pci *pci, uint32_t value);

/** Destroys what software made, as CLOSE_HCA and each reset do. */
void vcx3_pci_forget_objects(struct vcx3_pci *pci);

/* The handlers, by the file that has them. */
#define VCX3_CMD_HANDLERS(X) \
	/* cmd_fw.c */ \
	X(query_fw) X(map_fa) X(accept) X(mod_stat_cfg) X(query_adapter) X(set_icm_size) \
	X(map_icm) X(unmap_icm) X(init_hca) X(close_hca) X(query_hca) \
	/* caps.c */ \
	X(query_dev_cap) \
	/* cmd_object.c */ \
	X(sw2hw_eq) X(hw2sw_eq) X(map_eq) \
	X(sw2hw_mpt) X(hw2sw_mpt) X(sync_tpt) X(sw2hw_cq) X(hw2sw_cq) X(modify_cq) \
	X(sw2hw_srq) X(hw2sw_srq) X(query_srq) X(arm_srq) \
	/* cmd_qp.c */ \
	X(rst2init) X(modify_qp) X(reset_qp) X(query_qp) \
	/* cmd_port.c */ \
	X(query_port) X(init_port) X(close_port) X(set_port) X(dump_eth_stats) \
	/* cmd_steer.c */ \
	X(flow_attach) X(flow_detach) \
	/* mad.c */ \
	X(mad_ifc)

#define X(name) enum vcx3_status vcx3_cmd_##name(struct vcx3_pci *pci, struct vcx3_cmd *cmd);
VCX3_CMD_HANDLERS(X)
#undef X

/** QP contexts as the driver gave them, by number: for QUERY_QP and the doorbell's page. */
struct vcx3_qpc_table *vcx3_qpc_table_create(void);
void vcx3_qpc_table_destroy(struct vcx3_qpc_table *table);
void vcx3_qpc_table_clear(struct vcx3_qpc_table *table);

/** The page of BAR2 that a QP's doorbell is on; UINT32_MAX: no such QP. */
uint32_t vcx3_qpc_uar(const struct vcx3_qpc_table *table, uint32_t qpn);

/** Makes the rules of A0 steering anew from a port's MAC table and its calculation. */
enum vcx3_status vcx3_a0_update(struct vcx3_pci *pci, unsigned int port);

#endif
