/* SPDX-License-Identifier: BSD-3-Clause */
/* Run-time checks of the interpreter: see enum xdpvm_check. */
#include "interp.h"

static uint64_t
access_size(const struct bpf_insn *insn)
{
	static const uint8_t sizes[] = {
		[BPF_W >> 3] = 4, [BPF_H >> 3] = 2, [BPF_B >> 3] = 1, [BPF_DW >> 3] = 8,
	};

	return sizes[BPF_SIZE(insn->code) >> 3];
}

/* The address is compared as it is: it may be anything. */
static bool
lies_within(uint64_t address, uint64_t size, const uint8_t *start, const uint8_t *end)
{
	return address >= (uintptr_t)start && address <= (uintptr_t)end - size;
}

bool
xdpvm_burn_fuel(struct xdpvm_buff *buff, uint32_t cost)
{
	if (buff->fuel < cost)
		return false;
	buff->fuel -= cost;
	return true;
}

bool
xdpvm_check_passes(struct xdpvm_buff *buff, const struct bpf_insn *insn,
		   const struct xdpvm_insn_info *info, const uint64_t *regs)
{
	bool load = BPF_CLASS(insn->code) == BPF_LDX;
	uint64_t address = regs[load ? insn->src_reg : insn->dst_reg] + insn->off;

	switch (info->check) {
	case XDPVM_CHECK_PACKET:
		return lies_within(address, access_size(insn), buff->data, buff->data_end);
	case XDPVM_CHECK_META:
		return lies_within(address, access_size(insn), buff->data_meta, buff->data);
	case XDPVM_CHECK_ALIGNED:
		return address % access_size(insn) == 0;
	default:
		return xdpvm_burn_fuel(buff, info->cost);
	}
}
