/* SPDX-License-Identifier: BSD-3-Clause */
/* struct xdp_md has 32-bit fields for pointers; the rewrite loads our 64-bit ones, 1 to 1. */
#include "rewrite.h"

struct field {
	uint16_t offset;	/* in struct xdpvm_buff */
	uint8_t size;		/* BPF_W or BPF_DW */
};

static const struct field fields[] = {
	[offsetof(struct xdp_md, data) / 4] = { offsetof(struct xdpvm_buff, data), BPF_DW },
	[offsetof(struct xdp_md, data_end) / 4] = { offsetof(struct xdpvm_buff, data_end), BPF_DW },
	[offsetof(struct xdp_md, data_meta) / 4] = {
		offsetof(struct xdpvm_buff, data_meta), BPF_DW },
	[offsetof(struct xdp_md, ingress_ifindex) / 4] = {
		offsetof(struct xdpvm_buff, ingress_ifindex), BPF_W },
	[offsetof(struct xdp_md, rx_queue_index) / 4] = {
		offsetof(struct xdpvm_buff, rx_queue_index), BPF_W },
	[offsetof(struct xdp_md, egress_ifindex) / 4] = {
		offsetof(struct xdpvm_buff, egress_ifindex), BPF_W },
};

static int
rewrite_load(struct xdpvm_prog *prog, uint32_t i, int16_t base)
{
	struct bpf_insn *insn = &prog->insns[i];
	int offset = base + insn->off;

	if (BPF_CLASS(insn->code) != BPF_LDX)
		return xdpvm_prog_fail(prog, i, -EACCES, "writes to the context, which is read-only");
	if (insn->code != (BPF_LDX | BPF_MEM | BPF_W) || offset < 0 || offset % 4 != 0 ||
	    offset >= (int)sizeof(struct xdp_md))
		return xdpvm_prog_fail(prog, i, -EACCES,
				       "reads the context other than by a 32-bit field of struct "
				       "xdp_md (offset %d)", offset);
	insn->code = BPF_LDX | BPF_MEM | fields[offset / 4].size;
	insn->off = fields[offset / 4].offset - base;
	return 0;
}

int
xdpvm_rewrite_ctx(struct xdpvm_prog *prog, const struct xdpvm_access *access)
{
	int ret = 0;

	for (uint32_t i = 0; i < prog->n_insns && ret == 0; i++) {
		if (!(access[i].seen & (XDPVM_SEEN_CTX | XDPVM_SEEN_UNCLEAR)))
			continue;
		if (access[i].seen != XDPVM_SEEN_CTX)
			return xdpvm_prog_fail(prog, i, -ENOTSUP, "cannot tell whether this reads "
					       "the context: different pointers meet here");
		ret = rewrite_load(prog, i, access[i].ctx_offset);
	}
	return ret;
}
