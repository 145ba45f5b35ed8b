/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tag of a program: the first bytes of a SHA-256 over its instructions, with what differs
 * between two loads of the same program (map descriptors and addresses) zeroed. Linux before 6.18
 * used SHA-1; a program that such a kernel loaded carries that kernel's tag.
 */
#include <stdlib.h>

#include "program.h"
#include "sha256.h"
#include "tag.h"

static bool
loads_map(const struct bpf_insn *insn)
{
	return insn->code == (BPF_LD | BPF_IMM | BPF_DW) &&
	       (insn->src_reg == BPF_PSEUDO_MAP_FD || insn->src_reg == BPF_PSEUDO_MAP_VALUE ||
		insn->src_reg == BPF_PSEUDO_MAP_IDX || insn->src_reg == BPF_PSEUDO_MAP_IDX_VALUE);
}

/* The kernel sees a descriptor where the linker has an index. */
static uint8_t
kernel_pseudo(uint8_t src_reg)
{
	if (src_reg == BPF_PSEUDO_MAP_IDX)
		return BPF_PSEUDO_MAP_FD;
	return src_reg == BPF_PSEUDO_MAP_IDX_VALUE ? BPF_PSEUDO_MAP_VALUE : src_reg;
}

int
xdpvm_tag(const struct bpf_insn *insns, uint32_t n, uint8_t tag[XDPVM_TAG_SIZE])
{
	struct bpf_insn *copy = malloc(n * sizeof(*insns));
	uint8_t digest[XDPVM_SHA256_BYTES];

	if (copy == NULL)
		return -ENOMEM;
	memcpy(copy, insns, n * sizeof(*insns));
	for (uint32_t i = 0; i + 1 < n; i++) {
		if (!loads_map(&copy[i]))
			continue;
		copy[i].src_reg = kernel_pseudo(copy[i].src_reg);
		copy[i].imm = 0;
		copy[++i].imm = 0;
	}
	xdpvm_sha256(copy, n * sizeof(*insns), digest);
	memcpy(tag, digest, XDPVM_TAG_SIZE);
	free(copy);
	return 0;
}
