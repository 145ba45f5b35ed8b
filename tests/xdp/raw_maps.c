/* SPDX-License-Identifier: BSD-3-Clause */
/* See raw_maps.h. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "raw_maps.h"

static const struct xdpvm_map definitions[RAW_MAPS] = {
	[RAW_ARRAY] = { .name = "array", .type = BPF_MAP_TYPE_ARRAY, .key_size = 4,
			.value_size = RAW_VALUE, .max_entries = RAW_ENTRIES },
	[RAW_HASH] = { .name = "hash", .type = BPF_MAP_TYPE_HASH, .key_size = RAW_KEY,
		       .value_size = RAW_VALUE, .max_entries = RAW_ENTRIES },
	[RAW_PERCPU_ARRAY] = { .name = "percpu_array", .type = BPF_MAP_TYPE_PERCPU_ARRAY,
			       .key_size = 4, .value_size = RAW_VALUE,
			       .max_entries = RAW_ENTRIES },
	[RAW_PERCPU_HASH] = { .name = "percpu_hash", .type = BPF_MAP_TYPE_PERCPU_HASH,
			      .key_size = RAW_KEY, .value_size = RAW_VALUE,
			      .max_entries = RAW_ENTRIES },
	[RAW_LRU_HASH] = { .name = "lru_hash", .type = BPF_MAP_TYPE_LRU_HASH,
			   .key_size = RAW_KEY, .value_size = RAW_VALUE,
			   .max_entries = RAW_ENTRIES },
	[RAW_RINGBUF] = { .name = "ringbuf", .type = BPF_MAP_TYPE_RINGBUF, .max_entries = 4096 },
	[RAW_QUEUE] = { .name = "queue", .type = BPF_MAP_TYPE_QUEUE, .value_size = RAW_VALUE,
			.max_entries = RAW_ENTRIES },
	[RAW_PROG_ARRAY] = { .name = "prog_array", .type = BPF_MAP_TYPE_PROG_ARRAY, .key_size = 4,
			     .value_size = 4, .max_entries = RAW_ENTRIES },
	[RAW_PERF] = { .name = "perf", .type = BPF_MAP_TYPE_PERF_EVENT_ARRAY, .key_size = 4,
		       .value_size = 4, .max_entries = RAW_ENTRIES },
	[RAW_DEVMAP] = { .name = "devmap", .type = BPF_MAP_TYPE_DEVMAP, .key_size = 4,
			 .value_size = 4, .max_entries = RAW_ENTRIES },
	[RAW_RODATA] = { .name = "rodata", .type = BPF_MAP_TYPE_ARRAY, .key_size = 4,
			 .value_size = RAW_VALUE, .max_entries = 1, .flags = BPF_F_RDONLY_PROG },
	[RAW_GLOBALS] = { .name = "globals", .type = BPF_MAP_TYPE_ARRAY, .key_size = 4,
			  .value_size = RAW_VALUE, .max_entries = 1 },
	[RAW_OUTER] = { .name = "outer", .type = BPF_MAP_TYPE_ARRAY_OF_MAPS, .key_size = 4,
			.value_size = 4, .max_entries = RAW_ENTRIES },
};

static int
create_kernel(const struct raw_maps *maps, enum raw_map which)
{
	const struct xdpvm_map *map = &maps->maps[which];
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = map->flags);
	char value[RAW_VALUE] = "text";
	uint32_t zero = 0;
	int fd;

	if (which == RAW_OUTER)
		opts.inner_map_fd = maps->fds[RAW_ARRAY];
	fd = bpf_map_create(map->type, map->name, map->key_size, map->value_size,
			    map->max_entries, &opts);
	if (fd >= 0 && which == RAW_RODATA) {
		bpf_map_update_elem(fd, &zero, value, 0);
		bpf_map_freeze(fd);
	}
	return fd;
}

/* What the loader does for read-only globals. */
static int
freeze(struct xdpvm_map *map)
{
	memcpy(map->base, "text", 5);
	map->frozen = true;
	return mprotect(map->base, map->elem_size, PROT_READ);
}

static int
fill(struct raw_maps *maps)
{
	static const enum raw_map hashes[] = { RAW_HASH, RAW_PERCPU_HASH, RAW_LRU_HASH };
	struct xdpvm_map *outer = &maps->maps[RAW_OUTER];
	uint8_t key[RAW_KEY] = { 0 };
	int ret = freeze(&maps->maps[RAW_RODATA]);

	for (size_t i = 0; i < sizeof(hashes) / sizeof(hashes[0]) && ret == 0; i++) {
		struct xdpvm_map *map = &maps->maps[hashes[i]];
		void *value = calloc(1, xdpvm_map_value_bytes(map));

		ret = map->ops->copy_in(map, key, value, BPF_ANY);
		free(value);
	}
	return ret == 0 ? outer->ops->put_map(outer, key, &maps->maps[RAW_ARRAY], BPF_ANY) : ret;
}

int
raw_maps_create(struct raw_maps *maps, bool kernel)
{
	maps->n = RAW_MAPS;
	maps->maps = malloc(sizeof(definitions));
	memcpy(maps->maps, definitions, sizeof(definitions));
	for (uint32_t i = 0; i < RAW_MAPS; i++) {
		maps->maps[i].fd = -1;
		if (i == RAW_OUTER) {
			maps->maps[i].inner_template = malloc(sizeof(definitions[RAW_ARRAY]));
			*maps->maps[i].inner_template = definitions[RAW_ARRAY];
		}
		if (xdpvm_map_init(&maps->maps[i]) != 0)
			return -1;
		maps->fds[i] = kernel ? create_kernel(maps, i) : -1;
		if (kernel && maps->fds[i] < 0)
			return -1;
	}
	return fill(maps);
}

void
raw_maps_destroy(struct raw_maps *maps)
{
	for (uint32_t i = RAW_MAPS; i-- > 0;) {
		if (maps->fds[i] >= 0)
			close(maps->fds[i]);
		xdpvm_map_fini(&maps->maps[i]);
		free(maps->maps[i].inner_template);
	}
	free(maps->maps);
}
