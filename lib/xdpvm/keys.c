/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the keys of map lookups came onto the stack. A processor hands a store's bytes to a later
 * load at once only when the load lies inside the store; a key that was stored as 4 + 4 + 2 + 2 + 4
 * bytes and is read as 8 + 8 waits for the cache instead, which costs more than the whole lookup.
 * So the key's words are put together from pieces that each lie in one store.
 *
 * The stores are taken in the order in which they stand in the program. That is how compilers emit
 * them; where it is wrong, the pieces only cost time.
 */
#include <stdlib.h>

#include "map.h"
#include "rewrite.h"

/* For each byte of the frame: which store wrote it last. */
struct writers {
	int16_t start[XDPVM_FRAME_STACK];	/* of the store, from the frame's lowest byte */
	uint8_t size[XDPVM_FRAME_STACK];	/* 0: nobody */
};

static uint8_t
store_size(const struct bpf_insn *insn)
{
	static const uint8_t sizes[] = {
		[BPF_W >> 3] = 4, [BPF_H >> 3] = 2, [BPF_B >> 3] = 1, [BPF_DW >> 3] = 8,
	};

	return sizes[BPF_SIZE(insn->code) >> 3];
}

static void
note_store(struct writers *writers, const struct bpf_insn *insn, int16_t stack_offset)
{
	int start = XDPVM_FRAME_STACK + stack_offset;
	uint8_t size = store_size(insn);

	if (start < 0 || start + size > XDPVM_FRAME_STACK)
		return;
	for (int byte = start; byte < start + size; byte++) {
		writers->start[byte] = start;
		writers->size[byte] = size;
	}
}

/* The longest piece at byte that lies in one store and has a load instruction. */
static uint8_t
piece_width(const struct writers *writers, int byte, int limit)
{
	int end = writers->start[byte] + writers->size[byte];
	int left = writers->size[byte] == 0 ? limit : end - byte;
	uint8_t width = 8;

	if (left > limit)
		left = limit;
	while (width > left)
		width /= 2;
	return width;
}

static void
cut_key(struct xdpvm_key *key, const struct writers *writers, int start, unsigned int size)
{
	unsigned int at = 0, word_end;
	uint8_t width;

	while (at < size) {
		word_end = (at / 8 + 1) * 8 < size ? (at / 8 + 1) * 8 : size;
		width = piece_width(writers, start + at, word_end - at);
		key->width[at] = width;
		at += width;
	}
}

static int
add_key(struct xdpvm_prog *prog, uint32_t i, const struct writers *writers)
{
	struct xdpvm_insn_info *info = &prog->info[i];
	int start = XDPVM_FRAME_STACK + info->stack_offset;
	uint32_t size = info->map->key_size;
	struct xdpvm_key *keys;

	if (info->stack_offset >= 0 || start < 0 || size > XDPVM_KEY_INLINE ||
	    start + size > XDPVM_FRAME_STACK || prog->n_keys == UINT16_MAX)
		return 0;
	keys = realloc(prog->keys, (prog->n_keys + 1) * sizeof(*keys));
	if (keys == NULL)
		return -ENOMEM;
	prog->keys = keys;
	memset(&keys[prog->n_keys], 0, sizeof(*keys));
	cut_key(&keys[prog->n_keys], writers, start, size);
	info->key = ++prog->n_keys;
	return 0;
}

static int
find_in_function(struct xdpvm_prog *prog, const struct xdpvm_subprog *subprog,
		 struct writers *writers)
{
	int ret = 0;

	memset(writers, 0, sizeof(*writers));
	for (uint32_t i = subprog->start; i < subprog->end && ret == 0; i++) {
		const struct bpf_insn *insn = &prog->insns[i];
		uint8_t class = BPF_CLASS(insn->code);

		if ((class == BPF_ST || class == BPF_STX) && prog->info[i].stack_offset < 0)
			note_store(writers, insn, prog->info[i].stack_offset);
		else if (xdpvm_is_call(insn, 0) && insn->imm == BPF_FUNC_map_lookup_elem &&
			 prog->info[i].map != NULL)
			ret = add_key(prog, i, writers);
	}
	return ret;
}

int
xdpvm_find_keys(struct xdpvm_prog *prog)
{
	struct writers *writers = malloc(sizeof(*writers));
	int ret = writers != NULL ? 0 : -ENOMEM;

	for (uint32_t s = 0; s < prog->n_subprogs && ret == 0; s++)
		ret = find_in_function(prog, &prog->subprogs[s], writers);
	free(writers);
	return ret;
}
