/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The uverbs commands that the card knows, by the names that --fault and `vcx3 ctl` take. The
 * launcher checks names with this list; the table of uverbs/dispatch.c takes its names from it.
 */

#ifndef VCX3_CMD_COMMANDS_H
#define VCX3_CMD_COMMANDS_H

#define VCX3_UVERBS_COMMANDS(X) \
	X(GET_CONTEXT) X(QUERY_DEVICE) X(EX_QUERY_DEVICE) X(QUERY_PORT) X(ALLOC_PD) \
	X(DEALLOC_PD) X(REG_MR) X(DEREG_MR) X(CREATE_COMP_CHANNEL) X(CREATE_CQ) \
	X(EX_CREATE_CQ) X(RESIZE_CQ) X(DESTROY_CQ) X(MODIFY_CQ) X(CREATE_QP) X(EX_CREATE_QP) \
	X(QUERY_QP) X(MODIFY_QP) X(DESTROY_QP) X(CREATE_WQ) X(MODIFY_WQ) X(DESTROY_WQ) \
	X(CREATE_RWQ_IND_TBL) X(DESTROY_RWQ_IND_TBL) X(CREATE_FLOW) X(DESTROY_FLOW) \
	X(ATTACH_MCAST) X(DETACH_MCAST)

enum vcx3_uverbs_command {
#define VCX3_COMMAND_ENUM(name) VCX3_COMMAND_##name,
	VCX3_UVERBS_COMMANDS(VCX3_COMMAND_ENUM)
#undef VCX3_COMMAND_ENUM
};

/* By enum vcx3_uverbs_command, NULL behind the last. */
extern const char *const vcx3_uverbs_commands[];

#endif /* VCX3_CMD_COMMANDS_H */
