/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Map lookups without a call, by the layouts of map.h. Registers R0 to R5 and r9 to r11 are free
 * here, as around any call: rsi points to the key, rax receives the value's address or 0.
 */
#include "jit_x86.h"
#include "map.h"

/* The key's 8-byte words, zero-padded. */
static const uint8_t word_register[XDPVM_KEY_INLINE / 8] = { R10, R11 };

bool
xdpvm_jit_lookup_inlined(const struct xdpvm_prog *prog, uint32_t i, bool *needs_buff)
{
	const struct bpf_insn *insn = &prog->insns[i];
	const struct xdpvm_map *map = prog->info[i].map;

	if (!xdpvm_is_call(insn, 0) || insn->imm != BPF_FUNC_map_lookup_elem || map == NULL)
		return false;
	switch (map->layout) {
	case XDPVM_LAYOUT_ARRAY:
		*needs_buff = false;
		return fits32(map->elem_size) && fits32(map->max_entries);
	case XDPVM_LAYOUT_PERCPU_ARRAY:
		*needs_buff = true;
		return fits32(map->elem_size) && fits32(map->max_entries);
	case XDPVM_LAYOUT_HASH:
		*needs_buff = false;
		break;
	case XDPVM_LAYOUT_PERCPU_HASH:
		*needs_buff = true;
		break;
	default:
		return false;
	}
	return map->key_size <= XDPVM_KEY_INLINE && fits32(map->bucket_mask) &&
	       fits32(map->elem_size) && fits32(map->value_stride);
}

/* reg = from * size; offsets of elements go beyond 4 GiB. */
static void
emit_scale(struct jit *jit, uint8_t reg, uint8_t from, uint32_t size)
{
	if ((size & (size - 1)) != 0) {
		emit_imul_imm(jit, true, reg, from, size);
		return;
	}
	emit_mov(jit, true, reg, from);
	if (size > 1)
		emit_shift(jit, true, SHIFT_LEFT, reg, __builtin_ctz(size));
}

static void
emit_add_percpu(struct jit *jit, uint8_t reg)
{
	/* add reg, [buff + percpu_offset] */
	emit_mem(jit, true, 0x03, reg, BUFF, offsetof(struct xdpvm_buff, percpu_offset));
}

/* Where the key is: the frame directly when that is known, which saves waiting for rsi. */
static void
key_place(const struct jit *jit, uint32_t i, uint8_t *base, int32_t *offset)
{
	int16_t stack_offset = jit->prog->info[i].stack_offset;

	*base = stack_offset < 0 ? RBP : RSI;
	*offset = stack_offset < 0 ? stack_offset : 0;
}

/*
 * rax is 0: there is no such element. With the program's own check for NULL behind the lookup this
 * jumps to where that would have. Always the long form, so that code does not grow between passes.
 */
static void
emit_null_jump(struct jit *jit, uint32_t i, int condition)
{
	uint32_t target = xdpvm_jump_target(&jit->prog->insns[i + 1], i + 1);

	if (condition >= 0)
		emit(jit, 0x0f);
	emit(jit, condition < 0 ? 0xe9 : 0x80 | condition);
	emit32(jit, jit->offsets[target] - (jit->at + 4));
}

/* rax += r10 * size; r10 is lost. */
static void
emit_add_scaled(struct jit *jit, uint32_t size)
{
	if (size != 8) {
		emit_scale(jit, R10, R10, size);
		emit_rr(jit, true, X86_ADD, RAX, R10);
		return;
	}
	/* lea rax, [rax + r10 * 8]: 8-byte values, and whatever is rounded up to them */
	emit(jit, 0x4a);	/* REX.W, REX.X */
	emit(jit, 0x8d);
	emit(jit, 0x04);
	emit(jit, 0xd0);
}

static void
emit_array(struct jit *jit, uint32_t i, const struct xdpvm_map *map)
{
	bool null_check = jit->plan[i] == JIT_PLAN_NULL_CHECK;
	size_t outside = 0;
	int32_t offset;
	uint8_t base;

	key_place(jit, i, &base, &offset);
	emit_mem(jit, false, X86_LOAD, R10, base, offset);
	emit_rr(jit, false, X86_XOR, RAX, RAX);
	emit_ri(jit, false, X86_CMP, R10, map->max_entries);
	if (null_check)
		emit_null_jump(jit, i, CC_AE);
	else
		outside = emit_jcc_short(jit, CC_AE);
	emit_mov_imm(jit, RAX, (uintptr_t)map->base);
	emit_add_scaled(jit, map->elem_size);
	if (map->layout == XDPVM_LAYOUT_PERCPU_ARRAY)
		emit_add_percpu(jit, RAX);
	if (!null_check)
		land(jit, outside);
}

/* One piece of the key, zero-extended. */
static void
emit_piece(struct jit *jit, uint8_t reg, unsigned int width, uint8_t base, int32_t offset)
{
	if (width == 1)
		emit_mem0f(jit, false, 0xb6, reg, base, offset);
	else if (width == 2)
		emit_mem0f(jit, false, 0xb7, reg, base, offset);
	else
		emit_mem(jit, width == 8, X86_LOAD, reg, base, offset);
}

/* Without knowledge of the stores: as wide as the word allows. */
static unsigned int
plain_width(unsigned int left)
{
	return left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
}

static void
emit_key_words(struct jit *jit, uint32_t i, uint32_t key_size)
{
	uint16_t known = jit->prog->info[i].key;
	const struct xdpvm_key *key = known != 0 ? &jit->prog->keys[known - 1] : NULL;
	unsigned int width, word_end;
	int32_t offset;
	uint8_t base;

	key_place(jit, i, &base, &offset);
	for (unsigned int at = 0; at < key_size; at += width) {
		uint8_t word = word_register[at / 8];

		word_end = (at / 8 + 1) * 8 < key_size ? (at / 8 + 1) * 8 : key_size;
		width = key != NULL ? key->width[at] : plain_width(word_end - at);
		emit_piece(jit, at % 8 == 0 ? word : R9, width, base, offset + at);
		if (at % 8 == 0)
			continue;
		emit_shift(jit, true, SHIFT_LEFT, R9, at % 8 * 8);
		emit_rr(jit, true, X86_OR, word, R9);
	}
}

/* xdpvm_hash() of one or two words into rax; rdx is lost. */
static void
emit_hash(struct jit *jit, const struct xdpvm_map *map)
{
	emit_mov_imm(jit, RAX, map->secret[0]);
	emit_rr(jit, true, X86_XOR, RAX, word_register[0]);
	emit_mov_imm(jit, RDX, map->secret[1]);
	if (map->key_size > 8)
		emit_rr(jit, true, X86_XOR, RDX, word_register[1]);
	emit_rex(jit, true, 0, RDX, false);
	emit(jit, 0xf7);	/* mul rdx: /4 */
	emit_modrm_reg(jit, 4, RDX);
	emit_rr(jit, true, X86_XOR, RAX, RDX);
}

/* r8 = address of the element whose number is in rdx; rdi holds the base. */
static void
emit_element(struct jit *jit, const struct xdpvm_map *map)
{
	emit_scale(jit, R8, RDX, map->elem_size);
	emit_rr(jit, true, X86_ADD, R8, RDI);
}

static void
emit_mark(struct jit *jit)
{
	const int32_t referenced = offsetof(struct xdpvm_hash_elem, referenced);
	size_t marked;

	/* cmp byte [r8 + referenced], 0: no store when it is set, the line may be shared */
	emit_mem(jit, false, 0x80, 7, R8, referenced);
	emit(jit, 0);
	marked = emit_jcc_short(jit, CC_NE);
	emit_mem(jit, false, 0xc6, 0, R8, referenced);
	emit(jit, 1);
	land(jit, marked);
}

static void
emit_found(struct jit *jit, const struct xdpvm_map *map)
{
	if (map->mark_referenced)
		emit_mark(jit);
	if (map->layout == XDPVM_LAYOUT_HASH) {
		emit_mem(jit, true, 0x8d, RAX, R8, map->value_offset);	/* lea */
		return;
	}
	emit_scale(jit, RAX, RDX, map->value_stride);
	emit_mov_imm(jit, RDX, (uintptr_t)map->values);
	emit_rr(jit, true, X86_ADD, RAX, RDX);
	emit_add_percpu(jit, RAX);
}

/*
 * rax hash, rcx bucket, rdx link, rdi elements, r8 element, r10 and r11 the key. The end of the
 * chain names its bucket; another one means that the chain changed under us: again from the start.
 */
static void
emit_hash_lookup(struct jit *jit, uint32_t i, const struct xdpvm_map *map)
{
	size_t start, walk, end, wrong_hash, wrong[2], n_wrong = 0, again, done;

	emit_key_words(jit, i, map->key_size);
	emit_hash(jit, map);
	emit_mov_imm(jit, RDI, (uintptr_t)map->base);
	start = jit->at;
	emit_mov(jit, false, RCX, RAX);
	emit_ri(jit, false, X86_AND, RCX, map->bucket_mask);
	emit_mov_imm(jit, RDX, (uintptr_t)map->buckets);
	/* mov edx, [rdx + rcx * 4] */
	emit(jit, X86_LOAD);
	emit(jit, 0x14);
	emit(jit, 0x8a);
	walk = jit->at;
	emit_rr(jit, false, X86_TEST, RDX, RDX);
	end = emit_jcc_short(jit, CC_S);
	emit_element(jit, map);
	emit_mem(jit, true, X86_CMP, RAX, R8, offsetof(struct xdpvm_hash_elem, hash));
	wrong_hash = emit_jcc_short(jit, CC_NE);
	for (unsigned int word = 0; word * 8 < map->key_size; word++) {
		emit_mem(jit, true, X86_CMP, word_register[word], R8,
			 offsetof(struct xdpvm_hash_elem, key) + 8 * word);
		wrong[n_wrong++] = emit_jcc_short(jit, CC_NE);
	}
	emit_found(jit, map);
	done = emit_jmp_short(jit);
	land(jit, wrong_hash);
	for (size_t w = 0; w < n_wrong; w++)
		land(jit, wrong[w]);
	emit_mem(jit, false, X86_LOAD, RDX, R8, offsetof(struct xdpvm_hash_elem, next));
	land_at(jit, emit_jmp_short(jit), walk);
	land(jit, end);
	emit_ri(jit, false, X86_OR, RCX, (int32_t)XDPVM_LINK_END);
	emit_rr(jit, false, X86_CMP, RCX, RDX);
	again = emit_jcc_short(jit, CC_NE);
	land_at(jit, again, start);
	emit_rr(jit, false, X86_XOR, RAX, RAX);
	if (jit->plan[i] == JIT_PLAN_NULL_CHECK)
		emit_null_jump(jit, i, -1);
	land(jit, done);
}

bool
xdpvm_jit_lookup(struct jit *jit, uint32_t i)
{
	const struct xdpvm_map *map = jit->prog->info[i].map;
	bool needs_buff;

	if (!xdpvm_jit_lookup_inlined(jit->prog, i, &needs_buff))
		return false;
	if (map->layout == XDPVM_LAYOUT_ARRAY || map->layout == XDPVM_LAYOUT_PERCPU_ARRAY)
		emit_array(jit, i, map);
	else
		emit_hash_lookup(jit, i, map);
	return true;
}
