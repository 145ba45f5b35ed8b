/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One round over one map, in this order: what differs between the kernel's map and the shadow was
 * written by a tool and is taken; then what differs between the own map and the shadow was
 * written by programs and is given, unless the kernel's value changed in the meantime.
 */
#include <stdlib.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "object.h"
#include "sync_map.h"
#include "sync_refs.h"

#define FIRST_BATCH 1024u
#define TOKEN_MIN 4u	/* bytes: hashes walk by bucket number */
#define LRU_KEPT 128u	/* free elements that a CPU keeps; Linux: LOCAL_FREE_TARGET */
#define KERNEL_ENOTSUPP 524	/* what Linux says to a batch on a type without batches */

bool
xdpvm_sync_map_wanted(const struct xdpvm_map *map)
{
	/* A side that may not read, or not write, cannot be kept in step. */
	if (map->fd < 0 || map->ops == NULL || map->shared_memory ||
	    (map->flags & (BPF_F_RDONLY | BPF_F_WRONLY)))
		return false;
	switch (map->type) {
	case BPF_MAP_TYPE_ARRAY:	/* a reused pin whose memory cannot be mapped */
	case BPF_MAP_TYPE_PERCPU_ARRAY:
	case BPF_MAP_TYPE_HASH:
	case BPF_MAP_TYPE_PERCPU_HASH:
	case BPF_MAP_TYPE_LRU_HASH:
	case BPF_MAP_TYPE_LRU_PERCPU_HASH:
	case BPF_MAP_TYPE_LPM_TRIE:
	case BPF_MAP_TYPE_DEVMAP:
	case BPF_MAP_TYPE_DEVMAP_HASH:
	case BPF_MAP_TYPE_CPUMAP:
		return true;
	default:
		return false;
	}
}

/*
 * May the kernel have evicted keys since its map was read last? Only when something was put into an
 * LRU map in which no element is free but those that CPUs keep for themselves.
 */
static bool
may_have_evicted(const struct xdpvm_sync_map *sync)
{
	const struct xdpvm_map *map = sync->map;
	uint64_t kept = LRU_KEPT * (uint64_t)libbpf_num_possible_cpus();

	return (map->type == BPF_MAP_TYPE_LRU_HASH || map->type == BPF_MAP_TYPE_LRU_PERCPU_HASH) &&
	       sync->inserted && sync->shadow.n_used + kept >= map->max_entries;
}

static uint32_t
values_size(const struct xdpvm_sync_map *sync)
{
	return sync->copies * sync->step;
}

static bool
batch_resize(struct xdpvm_sync_map *sync, uint32_t batch)
{
	uint8_t *keys = calloc(batch, sync->map->key_size);
	uint8_t *values = calloc(batch, values_size(sync));

	if (keys == NULL || values == NULL) {
		free(keys);
		free(values);
		return false;
	}
	free(sync->keys);
	free(sync->values);
	sync->keys = keys;
	sync->values = values;
	sync->batch = batch;
	return true;
}

static bool
is_array(const struct xdpvm_map *map)
{
	return map->type == BPF_MAP_TYPE_ARRAY || map->type == BPF_MAP_TYPE_PERCPU_ARRAY ||
	       map->type == BPF_MAP_TYPE_DEVMAP || map->type == BPF_MAP_TYPE_CPUMAP;
}

int
xdpvm_sync_map_init(struct xdpvm_sync_map *sync, struct xdpvm_map *map)
{
	bool percpu = xdpvm_map_is_percpu(map->type);
	uint32_t token = map->key_size > TOKEN_MIN ? map->key_size : TOKEN_MIN;
	int ret = 0;

	*sync = (struct xdpvm_sync_map){ .map = map };
	sync->copies = percpu ? libbpf_num_possible_cpus() : 1;
	sync->step = percpu ? (map->value_size + 7) & ~7u : map->value_size;
	if (is_array(map))
		ret = xdpvm_shadow_init_array(&sync->shadow, map->max_entries, values_size(sync));
	else
		xdpvm_shadow_init(&sync->shadow, map->key_size, values_size(sync));
	sync->token = calloc(2, token);
	sync->value = calloc(2, values_size(sync));
	sync->own = calloc(1, xdpvm_map_value_bytes(map));
	if (!batch_resize(sync, FIRST_BATCH) || sync->token == NULL || sync->value == NULL ||
	    sync->own == NULL)
		return -ENOMEM;
	return ret;
}

void
xdpvm_sync_map_fini(struct xdpvm_sync_map *sync)
{
	xdpvm_shadow_fini(&sync->shadow);
	free(sync->keys);
	free(sync->values);
	free(sync->token);
	free(sync->value);
	free(sync->own);
}

/* ---- Second programs of entries ------------------------------------------------------------- */

/*
 * In struct bpf_devmap_val and bpf_cpumap_val a program is read as an id and written as a
 * descriptor. The shadow has the kernel's ids; ours are places in the object.
 */
static uint32_t *
entry_prog(const struct xdpvm_map *map, uint8_t *value)
{
	bool entries = map->type == BPF_MAP_TYPE_DEVMAP || map->type == BPF_MAP_TYPE_DEVMAP_HASH ||
		       map->type == BPF_MAP_TYPE_CPUMAP;

	if (!entries || map->value_size != sizeof(struct bpf_devmap_val))
		return NULL;
	return (uint32_t *)(void *)(value + offsetof(struct bpf_devmap_val, bpf_prog));
}

/* As it was read, to as it is written. -ENOENT: no program of this object. */
static int
id_to_descriptor(const struct xdpvm_map *map, uint8_t *value)
{
	uint32_t *word = entry_prog(map, value);
	const struct xdpvm_prog *prog;

	if (word == NULL || *word == 0)
		return 0;
	prog = xdpvm_sync_prog_of(map->object, *word);
	if (prog == NULL)
		return -ENOENT;
	*word = prog->fd;
	return 0;
}

static int
kernel_put(const struct xdpvm_sync_map *sync, const void *key, const uint8_t *value, uint64_t flags)
{
	struct bpf_devmap_val entry;

	if (entry_prog(sync->map, sync->value) == NULL)
		return bpf_map_update_elem(sync->map->fd, key, value, flags);
	memcpy(&entry, value, sizeof(entry));
	id_to_descriptor(sync->map, (uint8_t *)&entry);
	return bpf_map_update_elem(sync->map->fd, key, &entry, flags);
}

/* ---- The own side --------------------------------------------------------------------------- */

/* Into value, in the kernel's layout. 0 or -ENOENT. */
static int
own_get(struct xdpvm_sync_map *sync, const void *key, uint8_t *value)
{
	const struct xdpvm_map_ops *ops = sync->map->ops;
	uint32_t *prog = entry_prog(sync->map, value);
	int ret = 0;

	if (ops->copy_out_cpu == NULL) {
		ret = ops->copy_out(sync->map, key, value);
		if (ret == 0 && prog != NULL && *prog != 0)
			*prog = xdpvm_sync_prog_id(xdpvm_map_entry_prog(sync->map, *prog));
		return ret;
	}
	for (uint32_t cpu = 0; cpu < sync->copies && cpu < XDPVM_MAX_THREADS && ret == 0; cpu++)
		ret = ops->copy_out_cpu(sync->map, key, value + cpu * sync->step, cpu);
	return ret;
}

/* CPUs that no thread can have as its number keep what tools wrote. */
static void
keep_far_copies(const struct xdpvm_sync_map *sync, const uint8_t *known)
{
	size_t near = (size_t)XDPVM_MAX_THREADS * sync->step;

	if (sync->copies > XDPVM_MAX_THREADS)
		memcpy(sync->value + near, known + near, values_size(sync) - near);
}

/* The whole value; a thread beyond the kernel's CPUs gets that of its number modulo theirs. */
static int
own_put(struct xdpvm_sync_map *sync, const void *key, const uint8_t *value)
{
	const struct xdpvm_map *map = sync->map;
	int ret;

	if (map->ops->copy_in_cpu == NULL) {
		memcpy(sync->own, value, map->value_size);
		ret = id_to_descriptor(map, sync->own);
		return ret != 0 ? ret : map->ops->copy_in(sync->map, key, sync->own, BPF_ANY);
	}
	memset(sync->own, 0, xdpvm_map_value_bytes(map));
	for (uint32_t cpu = 0; cpu < sync->copies || cpu < sync->limit; cpu++)
		if (cpu < XDPVM_MAX_THREADS)
			memcpy(sync->own + cpu * sync->step,
			       value + cpu % sync->copies * sync->step, map->value_size);
	return map->ops->copy_in(sync->map, key, sync->own, BPF_ANY);
}

/* Only the copies that differ from before: the others may be counting. */
static int
own_put_changes(struct xdpvm_sync_map *sync, const void *key, const uint8_t *value,
		const uint8_t *before)
{
	const struct xdpvm_map *map = sync->map;
	uint32_t cpu, copy;
	int ret = 0;

	if (map->ops->copy_in_cpu == NULL)
		return own_put(sync, key, value);
	for (cpu = 0; cpu < XDPVM_MAX_THREADS && ret == 0; cpu++) {
		copy = cpu % sync->copies * sync->step;
		if (cpu >= sync->copies && cpu >= sync->limit)
			break;
		if (memcmp(value + copy, before + copy, map->value_size) != 0)
			ret = map->ops->copy_in_cpu(sync->map, key, value + copy, cpu);
	}
	return ret == -ENOENT ? own_put(sync, key, value) : ret;
}

/* ---- From the kernel ------------------------------------------------------------------------ */

static void
take_new(struct xdpvm_sync_map *sync, const uint8_t *key, const uint8_t *value,
	 struct xdpvm_sync_stats *stats)
{
	struct xdpvm_shadow_entry *entry;

	if (own_put(sync, key, value) != 0) {
		stats->refused++;
		return;
	}
	sync->inserted = true;
	entry = xdpvm_shadow_add(&sync->shadow, key, value);
	if (entry == NULL)
		return;		/* no memory: it looks new again in the next round */
	entry->in_kernel = true;
	stats->taken++;
}

static void
take_entry(struct xdpvm_sync_map *sync, const uint8_t *key, const uint8_t *value,
	   struct xdpvm_sync_stats *stats)
{
	struct xdpvm_shadow_entry *entry = xdpvm_shadow_find(&sync->shadow, key);
	uint8_t *before;

	if (entry == NULL) {
		take_new(sync, key, value, stats);
		return;
	}
	entry->in_kernel = true;
	before = xdpvm_shadow_values(&sync->shadow, entry);
	if (memcmp(before, value, values_size(sync)) == 0)
		return;
	if (own_put_changes(sync, key, value, before) != 0) {
		stats->refused++;
		return;
	}
	memcpy(before, value, values_size(sync));
	stats->taken++;
}

/* What the kernel's map may have, with room for keys that come and go during the walk. */
static uint64_t
walk_limit(const struct xdpvm_sync_map *sync)
{
	return 2ull * sync->map->max_entries + sync->batch;
}

static int
read_by_batch(struct xdpvm_sync_map *sync, struct xdpvm_sync_stats *stats)
{
	uint32_t key_size = sync->map->key_size;
	uint32_t token_size = key_size > TOKEN_MIN ? key_size : TOKEN_MIN;
	LIBBPF_OPTS(bpf_map_batch_opts, opts);
	void *in = NULL, *out = sync->token;
	uint64_t total = 0;
	uint32_t n;
	int ret;

	do {
		n = sync->batch;
		ret = bpf_map_lookup_batch(sync->map->fd, in, out, sync->keys, sync->values, &n,
					   &opts);
		if (ret == -ENOSPC) {	/* a bucket has more than fits */
			if (!batch_resize(sync, sync->batch * 2))
				return -ENOMEM;
			ret = 0;
			continue;
		}
		if (ret != 0 && ret != -ENOENT)
			return ret;
		for (uint32_t i = 0; i < n; i++)
			take_entry(sync, sync->keys + (size_t)i * key_size,
				   sync->values + (size_t)i * values_size(sync), stats);
		total += n;
		in = out;
		out = out == sync->token ? sync->token + token_size : sync->token;
	} while (ret == 0 && total < walk_limit(sync));
	return ret == -ENOENT ? 0 : -EAGAIN;
}

static int
read_by_key(struct xdpvm_sync_map *sync, struct xdpvm_sync_stats *stats)
{
	int fd = sync->map->fd, ret;
	void *key = NULL;

	for (uint64_t total = 0; total < walk_limit(sync); total++) {
		ret = bpf_map_get_next_key(fd, key, sync->keys);
		if (ret != 0)
			return ret == -ENOENT ? 0 : ret;
		if (bpf_map_lookup_elem(fd, sync->keys, sync->values) == 0)
			take_entry(sync, sync->keys, sync->values, stats);
		memcpy(sync->token, sync->keys, sync->map->key_size);
		key = sync->token;
	}
	return -EAGAIN;
}

/* Keys that a tool deleted; those that the kernel evicted stay, and are given again. */
static void
take_deletions(struct xdpvm_sync_map *sync, struct xdpvm_sync_stats *stats)
{
	bool evicted = may_have_evicted(sync);
	struct xdpvm_shadow_entry *entry;

	for (uint32_t i = 0; i < sync->shadow.n_entries; i++) {
		entry = xdpvm_shadow_at(&sync->shadow, i);
		if (!entry->used || entry->in_kernel)
			continue;
		if (!evicted) {
			sync->map->ops->remove(sync->map, entry->key);
			stats->taken++;
		}
		xdpvm_shadow_remove(&sync->shadow, entry);
	}
	sync->inserted = false;
}

/* ---- To the kernel -------------------------------------------------------------------------- */

/* Does the kernel still have what we know? If not, the next round takes it. */
static bool
kernel_unchanged(struct xdpvm_sync_map *sync, struct xdpvm_shadow_entry *entry)
{
	uint8_t *now = sync->value + values_size(sync);

	return bpf_map_lookup_elem(sync->map->fd, entry->key, now) == 0 &&
	       memcmp(now, xdpvm_shadow_values(&sync->shadow, entry), values_size(sync)) == 0;
}

static void
give_new(struct xdpvm_sync_map *sync, const void *key, struct xdpvm_sync_stats *stats)
{
	int ret = kernel_put(sync, key, sync->value, BPF_NOEXIST);
	struct xdpvm_shadow_entry *entry;

	if (ret == -EEXIST)
		return;		/* a tool was faster */
	if (ret != 0) {
		stats->refused++;
		return;
	}
	sync->inserted = true;
	stats->given++;
	entry = xdpvm_shadow_add(&sync->shadow, key, sync->value);
	if (entry != NULL)
		entry->in_own = true;
}

static void
give_entry(struct xdpvm_sync_map *sync, const void *key, struct xdpvm_sync_stats *stats)
{
	struct xdpvm_shadow_entry *entry = xdpvm_shadow_find(&sync->shadow, key);
	uint8_t *known;

	if (own_get(sync, key, sync->value) != 0)
		return;		/* gone since the walk came by */
	if (entry == NULL) {
		give_new(sync, key, stats);
		return;
	}
	entry->in_own = true;
	known = xdpvm_shadow_values(&sync->shadow, entry);
	keep_far_copies(sync, known);
	if (memcmp(known, sync->value, values_size(sync)) == 0 || !kernel_unchanged(sync, entry))
		return;
	if (kernel_put(sync, key, sync->value, BPF_EXIST) != 0) {
		stats->refused++;
		return;
	}
	memcpy(known, sync->value, values_size(sync));
	stats->given++;
}

/* False when keys came and went so fast that the walk did not end. */
static bool
give_all(struct xdpvm_sync_map *sync, struct xdpvm_sync_stats *stats)
{
	void *key = NULL;

	for (uint64_t total = 0; total < walk_limit(sync); total++) {
		if (sync->map->ops->next_key(sync->map, key, sync->keys) != 0)
			return true;
		give_entry(sync, sync->keys, stats);
		memcpy(sync->token, sync->keys, sync->map->key_size);
		key = sync->token;
	}
	return false;
}

/* Keys that a program deleted. */
static void
give_deletions(struct xdpvm_sync_map *sync, struct xdpvm_sync_stats *stats)
{
	struct xdpvm_shadow_entry *entry;

	for (uint32_t i = 0; i < sync->shadow.n_entries; i++) {
		entry = xdpvm_shadow_at(&sync->shadow, i);
		if (!entry->used || entry->in_own ||
		    own_get(sync, entry->key, sync->value) != -ENOENT ||
		    !kernel_unchanged(sync, entry))
			continue;
		if (bpf_map_delete_elem(sync->map->fd, entry->key) != 0) {
			stats->refused++;
			continue;
		}
		stats->given++;
		xdpvm_shadow_remove(&sync->shadow, entry);
	}
}

/* ---- Both ----------------------------------------------------------------------------------- */

static void
forget_seen(struct xdpvm_sync_map *sync)
{
	for (uint32_t i = 0; i < sync->shadow.n_entries; i++) {
		struct xdpvm_shadow_entry *entry = xdpvm_shadow_at(&sync->shadow, i);

		entry->in_kernel = false;
		entry->in_own = false;
	}
}

/* Threads that registered since the last round start with what tools wrote before. */
static void
serve_new_threads(struct xdpvm_sync_map *sync)
{
	uint32_t limit = xdpvm_percpu_limit(), first = sync->limit;

	sync->limit = limit;
	if (sync->map->ops->copy_in_cpu == NULL)
		return;
	for (uint32_t cpu = first > sync->copies ? first : sync->copies; cpu < limit; cpu++) {
		for (uint32_t i = 0; i < sync->shadow.n_entries; i++) {
			struct xdpvm_shadow_entry *entry = xdpvm_shadow_at(&sync->shadow, i);
			uint8_t *values = xdpvm_shadow_values(&sync->shadow, entry);

			if (entry->used)
				sync->map->ops->copy_in_cpu(sync->map, entry->key, values +
						cpu % sync->copies * sync->step, cpu);
		}
	}
}

int
xdpvm_sync_map_round(struct xdpvm_sync_map *sync, struct xdpvm_sync_stats *stats)
{
	int ret;

	forget_seen(sync);
	serve_new_threads(sync);
	ret = read_by_batch(sync, stats);
	if (ret == -KERNEL_ENOTSUPP)
		ret = read_by_key(sync, stats);
	if (ret != 0 && ret != -EAGAIN)
		return ret;
	if (ret == 0)
		take_deletions(sync, stats);
	if (give_all(sync, stats))
		give_deletions(sync, stats);
	return 0;
}
