/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accesses to memory: the rules by kind of pointer. What is loaded from anything but the context
 * and the stack is a number: a pointer that a program stored there is no pointer any more.
 */
#include "prove.h"

struct access {
	struct prover *prover;
	uint32_t i;
	struct prove_state *state;
	unsigned int reg;	/* holds the pointer */
	int64_t offset;		/* from it */
	uint64_t size;
	bool write;
	bool checkable;		/* by one instruction; the engine can check it at run time */
};

static const char *
kind_name(const struct prove_value *value)
{
	static const char *const names[] = {
		[PROVE_UNSET] = "never set, or lost",
		[PROVE_NUMBER] = "a number",
		[PROVE_CTX] = "the context",
		[PROVE_STACK] = "a place on the stack",
		[PROVE_PACKET] = "a place in the packet",
		[PROVE_META] = "a place in the metadata",
		[PROVE_END] = "the end of the packet",
		[PROVE_STALE] = "a packet pointer from before a call that moved the packet",
		[PROVE_MAP] = "a map",
		[PROVE_VALUE] = "a map value",
		[PROVE_MEMORY] = "memory of a helper",
		[PROVE_FUNCTION] = "a function",
	};

	return names[value->kind];
}

int
xdpvm_prove_refuse(struct prover *prover, uint32_t i, unsigned int reg,
		   const struct prove_value *value, const char *wanted)
{
	return xdpvm_prog_fail(prover->prog, i, -EACCES, "R%u is %s%s, but must be %s", reg,
			       kind_name(value), value->maybe_null ? " or NULL" : "", wanted);
}

static struct prove_value *
pointer_of(const struct access *access)
{
	return &prove_top(access->state)->regs[access->reg];
}

/* Whether the variable part keeps the access within [0, end). */
static bool
within(const struct access *access, const struct prove_value *pointer, uint64_t end)
{
	int64_t start = pointer->offset + access->offset;

	return pointer->low >= -PROVE_FAR && pointer->high <= PROVE_FAR &&
	       access->size <= PROVE_OFFSET_MAX && start + pointer->low >= 0 &&
	       start + pointer->high + (int64_t)access->size <= (int64_t)end;
}

/*
 * Packet and metadata: start at or above the first byte, and end within what a comparison has shown
 * to exist. If that is not proven the engine checks; behind the check it is known.
 */
static int
access_packet(const struct access *access)
{
	const struct prove_value *pointer = pointer_of(access);
	struct xdpvm_prog *prog = access->prover->prog;
	int64_t start = pointer->offset + access->offset;
	int64_t range = xdpvm_prove_range(access->state, pointer);

	if (pointer->low >= -PROVE_FAR && start + pointer->low >= 0 &&
	    start + (int64_t)access->size <= range)
		return 0;
	if (!access->checkable)
		return xdpvm_prog_fail(prog, access->i, -EACCES, "R%u: %llu bytes of the packet are "
				       "not proven to exist before its end", access->reg,
				       (unsigned long long)access->size);
	prog->info[access->i].check = pointer->kind == PROVE_PACKET ? XDPVM_CHECK_PACKET :
								      XDPVM_CHECK_META;
	prog->checked = true;
	xdpvm_prove_learn_range(access->state, *pointer, start + (int64_t)access->size);
	return xdpvm_prove_may_end(access->prover, access->i, access->state);
}

static int
access_value(const struct access *access)
{
	const struct prove_value *pointer = pointer_of(access);
	const struct xdpvm_map *map = pointer->map;
	struct xdpvm_prog *prog = access->prover->prog;
	uint32_t forbidden = access->write ? BPF_F_RDONLY_PROG : BPF_F_WRONLY_PROG;

	if ((map->flags & forbidden) != 0 || (access->write && pointer->read_only))
		return xdpvm_prog_fail(prog, access->i, -EACCES, "map %s may not be %s by programs",
				       map->name, access->write ? "written" : "read");
	if (within(access, pointer, map->value_size))
		return 0;
	if (pointer->id == 0)
		return xdpvm_prog_fail(prog, access->i, -EACCES, "accesses %llu bytes at offset %lld "
				       "of a value of map %s, which has %u bytes",
				       (unsigned long long)access->size,
				       (long long)(pointer->offset + access->offset), map->name,
				       map->value_size);
	return xdpvm_prog_fail(prog, access->i, -EACCES, "accesses a value of map %s at an offset "
			       "that is not proven to be within its %u bytes", map->name,
			       map->value_size);
}

static int
access_memory(const struct access *access)
{
	const struct prove_value *pointer = pointer_of(access);
	struct xdpvm_prog *prog = access->prover->prog;

	if (access->write && pointer->read_only)
		return xdpvm_prog_fail(prog, access->i, -EACCES, "writes to memory that is read-only");
	if (within(access, pointer, pointer->range))
		return 0;
	return xdpvm_prog_fail(prog, access->i, -EACCES, "accesses memory of a helper at an offset "
			       "that is not proven to be within its %u bytes", pointer->range);
}

/* Everything but the context, which has rules of its own. */
static int
check_access(const struct access *access)
{
	const struct prove_value *pointer = pointer_of(access);

	if (pointer->maybe_null)
		return xdpvm_prove_refuse(access->prover, access->i, access->reg, pointer,
					  "compared with NULL before");
	switch (pointer->kind) {
	case PROVE_STACK:
		return xdpvm_prove_stack_bounds(access->prover, access->i, pointer, access->offset,
						access->size);
	case PROVE_PACKET:
	case PROVE_META:
		return access_packet(access);
	case PROVE_VALUE:
		return access_value(access);
	case PROVE_MEMORY:
		return access_memory(access);
	default:
		return xdpvm_prove_refuse(access->prover, access->i, access->reg, pointer,
					  "a pointer to memory");
	}
}

int
xdpvm_prove_region(struct prover *prover, uint32_t i, struct prove_state *state, unsigned int reg,
		   uint64_t size, bool write)
{
	const struct prove_value *pointer = &prove_top(state)->regs[reg];
	struct access access = {
		.prover = prover, .i = i, .state = state, .reg = reg, .size = size, .write = write,
	};
	int ret = check_access(&access);

	if (ret != 0 || pointer->kind != PROVE_STACK)
		return ret;
	if (write)
		xdpvm_prove_stack_write(prover, state, pointer, size);
	else
		xdpvm_prove_stack_read(prover, state, pointer, size);
	return 0;
}

static unsigned int
access_size(const struct bpf_insn *insn)
{
	static const uint8_t sizes[] = {
		[BPF_W >> 3] = 4, [BPF_H >> 3] = 2, [BPF_B >> 3] = 1, [BPF_DW >> 3] = 8,
	};

	return sizes[BPF_SIZE(insn->code) >> 3];
}

/* struct xdp_md: 32-bit fields, read-only; the rewrite (rewrite_ctx.c) makes pointers of three. */
static int
load_ctx(struct prover *prover, uint32_t i, const struct prove_value *ctx,
	 struct prove_value *loaded)
{
	const struct bpf_insn *insn = &prover->prog->insns[i];
	int64_t offset = (int64_t)ctx->offset + insn->off;

	if (insn->code != (BPF_LDX | BPF_MEM | BPF_W) || offset < 0 || offset % 4 != 0 ||
	    offset >= (int64_t)sizeof(struct xdp_md))
		return xdpvm_prog_fail(prover->prog, i, -EACCES, "reads the context other than by a "
				       "32-bit field of struct xdp_md (offset %lld)",
				       (long long)offset);
	*loaded = (struct prove_value){ .kind = PROVE_UNSET };
	if (offset == offsetof(struct xdp_md, data))
		loaded->kind = PROVE_PACKET;
	else if (offset == offsetof(struct xdp_md, data_end))
		loaded->kind = PROVE_END;
	else if (offset == offsetof(struct xdp_md, data_meta))
		loaded->kind = PROVE_META;
	else
		*loaded = xdpvm_prove_unknown(prover, 4);
	return 0;
}

/* Read-only globals do not change after the load: what they hold now is what is read. */
static bool
load_frozen(const struct prove_value *pointer, const struct bpf_insn *insn, unsigned int size,
	    struct prove_value *loaded)
{
	uint64_t number = 0;

	if (pointer->kind != PROVE_VALUE || !pointer->map->frozen || pointer->id != 0 ||
	    pointer->map->layout != XDPVM_LAYOUT_ARRAY || pointer->map->max_entries != 1)
		return false;
	memcpy(&number, pointer->map->base + pointer->offset + insn->off, size);
	*loaded = prove_constant(number);
	return true;
}

static void
extend_sign(struct prover *prover, const struct bpf_insn *insn, unsigned int size,
	    struct prove_value *value)
{
	if (BPF_MODE(insn->code) == BPF_MEMSX &&
	    (value->kind != PROVE_NUMBER || value->max >= 1ull << (8 * size - 1)))
		*value = xdpvm_prove_unknown(prover, 8);
}

int
xdpvm_prove_load(struct prover *prover, uint32_t i, struct prove_state *state)
{
	const struct bpf_insn *insn = &prover->prog->insns[i];
	struct prove_value *regs = prove_top(state)->regs;
	const struct prove_value pointer = regs[insn->src_reg];
	unsigned int size = access_size(insn);
	struct prove_value loaded;
	struct access access = {
		.prover = prover, .i = i, .state = state, .reg = insn->src_reg,
		.offset = insn->off, .size = size, .checkable = true,
	};
	int ret;

	if (pointer.kind == PROVE_CTX)
		return load_ctx(prover, i, &pointer, &regs[insn->dst_reg]);
	ret = check_access(&access);
	if (ret != 0)
		return ret;
	if (pointer.kind == PROVE_STACK)
		loaded = xdpvm_prove_stack_load(prover, state, &pointer, insn->off, size);
	else if (!load_frozen(&pointer, insn, size, &loaded))
		loaded = xdpvm_prove_unknown(prover, size);
	extend_sign(prover, insn, size, &loaded);
	regs[insn->dst_reg] = loaded;
	return 0;
}

/*
 * Packets have no alignment to speak of, and nobody shares them: as in Linux, no atomics there.
 * Stacks and map values are aligned; an operation across two cache lines is slow for every core of
 * the machine, and a kernel may end the process for it.
 */
static int
check_atomic(struct prover *prover, uint32_t i, struct prove_state *state)
{
	const struct bpf_insn *insn = &prover->prog->insns[i];
	const struct prove_value *pointer = &prove_top(state)->regs[insn->dst_reg];

	if (pointer->kind != PROVE_STACK && pointer->kind != PROVE_VALUE)
		return xdpvm_prove_refuse(prover, i, insn->dst_reg, pointer,
					  "a map value or a place on the stack for an atomic operation");
	if (pointer->id == 0 && (pointer->offset + insn->off) % (int)access_size(insn) != 0)
		return xdpvm_prog_fail(prover->prog, i, -EACCES, "an atomic operation at offset %d, "
				       "which is not aligned to its %u bytes",
				       pointer->offset + insn->off, access_size(insn));
	if (pointer->id == 0)
		return 0;
	prover->prog->info[i].check = XDPVM_CHECK_ALIGNED;
	prover->prog->checked = true;
	return xdpvm_prove_may_end(prover, i, state);
}

/* The old value is read: bytes of the stack count as read, and the result is a number. */
static void
finish_atomic(struct prover *prover, uint32_t i, struct prove_state *state, unsigned int size)
{
	const struct bpf_insn *insn = &prover->prog->insns[i];
	struct prove_value *regs = prove_top(state)->regs;
	const struct prove_value pointer = regs[insn->dst_reg];

	if (pointer.kind == PROVE_STACK) {
		xdpvm_prove_stack_load(prover, state, &pointer, insn->off, size);
		xdpvm_prove_stack_store(prover, state, &pointer, insn->off, size,
					xdpvm_prove_unknown(prover, size));
	}
	if (insn->imm & BPF_FETCH)
		regs[insn->imm == BPF_CMPXCHG ? BPF_REG_0 : insn->src_reg] =
			xdpvm_prove_unknown(prover, size);
}

int
xdpvm_prove_store(struct prover *prover, uint32_t i, struct prove_state *state)
{
	const struct bpf_insn *insn = &prover->prog->insns[i];
	struct prove_value *regs = prove_top(state)->regs;
	const struct prove_value pointer = regs[insn->dst_reg];
	bool immediate = BPF_CLASS(insn->code) == BPF_ST;
	bool atomic = !immediate && BPF_MODE(insn->code) == BPF_ATOMIC;
	struct access access = {
		.prover = prover, .i = i, .state = state, .reg = insn->dst_reg,
		.offset = insn->off, .size = access_size(insn), .write = true, .checkable = true,
	};
	int ret = atomic ? check_atomic(prover, i, state) : 0;

	if (ret == 0)
		ret = check_access(&access);
	if (ret != 0 || atomic) {
		if (ret == 0)
			finish_atomic(prover, i, state, access.size);
		return ret;
	}
	if (pointer.kind == PROVE_STACK)
		xdpvm_prove_stack_store(prover, state, &pointer, insn->off, access.size, immediate ?
					prove_constant((int64_t)insn->imm) : regs[insn->src_reg]);
	return 0;
}
