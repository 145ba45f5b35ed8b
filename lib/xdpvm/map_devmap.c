/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DEVMAP and DEVMAP_HASH: interfaces by index or by key. The value is a struct bpf_devmap_val or
 * its first field alone, the ifindex, which is not looked up here: the embedder knows its devices.
 * The second program of an entry is the embedder's to run.
 */
#include "hash_table.h"
#include "map_types.h"
#include "redirect.h"

#define DEVMAP_FLAGS (BPF_F_NUMA_NODE | BPF_F_RDONLY | BPF_F_WRONLY)

/* The value as entries keep it; false when its program is not one of the object's. */
static bool
value_parse(const struct xdpvm_map *map, const void *value, struct bpf_devmap_val *entry)
{
	*entry = (struct bpf_devmap_val){ 0 };
	memcpy(entry, value, map->value_size);
	return xdpvm_entry_place(map, entry->bpf_prog.fd, &entry->bpf_prog.id);
}

static int
devmap_init(struct xdpvm_map *map)
{
	return xdpvm_cells_init(map, true, DEVMAP_FLAGS);
}

static int
devmap_copy_in(struct xdpvm_map *map, const void *key, const void *value, uint64_t flags)
{
	uint32_t index = xdpvm_array_index(map, key);
	int ret = xdpvm_array_may_update(map, index, flags);
	struct bpf_devmap_val entry;
	uint64_t cell;

	if (ret != 0)
		return ret;
	if (!value_parse(map, value, &entry))
		return -EINVAL;
	memcpy(&cell, &entry, sizeof(cell));
	__atomic_store_n(xdpvm_cell(map, index), cell, __ATOMIC_RELAXED);
	return 0;
}

/* The entry is read once: it may go away under us, which leaves a zero. */
static long
redirect_to_entry(struct xdpvm_map *map, uint64_t key, uint64_t flags, struct xdpvm_buff *buff,
		  const void *value)
{
	uint64_t word = value != NULL ? __atomic_load_n((const uint64_t *)value, __ATOMIC_RELAXED) : 0;
	struct bpf_devmap_val entry;
	struct xdpvm_redirect target = { .kind = XDPVM_REDIRECT_DEV, .key = key };

	memcpy(&entry, &word, sizeof(entry));
	if (entry.ifindex != 0) {
		target.value = value;
		target.target = entry.ifindex;
		target.prog = xdpvm_map_entry_prog(map, entry.bpf_prog.id);
	}
	return xdpvm_redirect_to(map, buff, flags, BPF_F_BROADCAST | BPF_F_EXCLUDE_INGRESS,
				 &target);
}

static long
devmap_redirect(struct xdpvm_map *map, uint64_t key, uint64_t flags, struct xdpvm_buff *buff)
{
	uint32_t index = key;

	return redirect_to_entry(map, key, flags, buff, xdpvm_cells_lookup(map, &index, buff));
}

const struct xdpvm_map_ops xdpvm_map_devmap_ops = {
	.init = devmap_init,
	.fini = xdpvm_cells_fini,
	.lookup = xdpvm_cells_lookup,
	.redirect = devmap_redirect,
	.copy_out = xdpvm_cells_copy_out,
	.copy_in = devmap_copy_in,
	.remove = xdpvm_cells_remove,
	.next_key = xdpvm_array_next_key,
};

static int
devmap_hash_init(struct xdpvm_map *map)
{
	int ret;

	if (map->key_size != 4 || (map->value_size != 4 && map->value_size != 8))
		return xdpvm_fail(map->object, -EINVAL,
				  "map %s: key size %u, value size %u; needs 4, 4 or 8", map->name,
				  map->key_size, map->value_size);
	ret = xdpvm_hash_check(map, DEVMAP_FLAGS);
	if (ret != 0)
		return ret;
	map->layout = XDPVM_LAYOUT_HASH;
	return xdpvm_hash_init(map, sizeof(struct bpf_devmap_val));
}

static uint8_t *
entry_at(const struct xdpvm_map *map, uint32_t index)
{
	return (uint8_t *)xdpvm_hash_elem_at(map, index) + map->value_offset;
}

static void
entry_fill(struct xdpvm_map *map, uint32_t index, const void *value, bool fresh, uint32_t cpu)
{
	xdpvm_value_store(entry_at(map, index), value, sizeof(struct bpf_devmap_val));
}

static const struct xdpvm_hash_kind devmap_kind = { .fill = entry_fill };

static void *
devmap_hash_lookup(struct xdpvm_map *map, const void *key, struct xdpvm_buff *buff)
{
	struct xdpvm_hash_elem *elem = xdpvm_hash_find(map, key);

	return elem != NULL ? (uint8_t *)elem + map->value_offset : NULL;
}

/* Linux looks at BPF_NOEXIST here, but not at BPF_EXIST. */
static int
devmap_hash_copy_in(struct xdpvm_map *map, const void *key, const void *value, uint64_t flags)
{
	struct bpf_devmap_val entry;
	bool valid = value_parse(map, value, &entry);

	if (flags > BPF_EXIST || entry.ifindex == 0)
		return -EINVAL;
	if (flags == BPF_NOEXIST && xdpvm_hash_find(map, key) != NULL)
		return -EEXIST;
	if (!valid)
		return -EINVAL;
	return xdpvm_hash_update(map, &devmap_kind, key, &entry,
				 flags == BPF_EXIST ? BPF_ANY : flags, 0);
}

static void
copy_visit(struct xdpvm_map *map, uint32_t index, void *value)
{
	xdpvm_value_load(value, entry_at(map, index), map->value_size);
}

static int
devmap_hash_copy_out(struct xdpvm_map *map, const void *key, void *value)
{
	return xdpvm_hash_visit(map, key, false, copy_visit, value);
}

static long
devmap_hash_redirect(struct xdpvm_map *map, uint64_t key, uint64_t flags, struct xdpvm_buff *buff)
{
	uint32_t number = key;

	return redirect_to_entry(map, key, flags, buff, devmap_hash_lookup(map, &number, buff));
}

const struct xdpvm_map_ops xdpvm_map_devmap_hash_ops = {
	.init = devmap_hash_init,
	.fini = xdpvm_hash_fini,
	.lookup = devmap_hash_lookup,
	.redirect = devmap_hash_redirect,
	.copy_out = devmap_hash_copy_out,
	.copy_in = devmap_hash_copy_in,
	.remove = xdpvm_hash_remove,
	.next_key = xdpvm_hash_next_key,
};
