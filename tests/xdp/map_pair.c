/* SPDX-License-Identifier: BSD-3-Clause */
/* See map_pair.h. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "map_pair.h"

#define MAX_KEY 64
#define MAX_VALUE 4096	/* with all copies of the kernel */

static void __attribute__((format(printf, 2, 3), noreturn))
differ(const struct map_pair *pair, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "%s: ", pair->map.name);
	vfprintf(stderr, format, args);
	fprintf(stderr, "\n");
	va_end(args);
	exit(1);
}

static int
no_log(enum libbpf_print_level level, const char *format, va_list args)
{
	return 0;
}

void
map_pair_need_kernel(void)
{
	int fd;

	libbpf_set_print(no_log);
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "probe", 4, 4, 1, NULL);
	if (fd < 0) {
		fprintf(stderr, "skipped: this process may not create BPF maps (%s)\n",
			strerror(-fd));
		exit(77);
	}
	close(fd);
}

void
map_pair_create(struct map_pair *pair, int *kernel, int *own)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = pair->map.flags);
	struct xdpvm_map *map = &pair->map;

	pair->cpus = xdpvm_map_is_percpu(map->type) ? libbpf_num_possible_cpus() : 1;
	pair->fd = bpf_map_create(map->type, map->name, map->key_size, map->value_size,
				  map->max_entries, &opts);
	*kernel = pair->fd < 0 ? -errno : 0;
	map->fd = -1;
	*own = xdpvm_map_init(map);
}

void
map_pair_destroy(struct map_pair *pair)
{
	if (pair->fd >= 0)
		close(pair->fd);
	xdpvm_map_fini(&pair->map);
}

size_t
map_pair_value_bytes(const struct map_pair *pair)
{
	if (pair->cpus == 1)
		return pair->map.value_size;
	return (size_t)pair->cpus * ((pair->map.value_size + 7) & ~7u);
}

/* Room for the library's value, which has more copies; one thread uses it. */
static uint8_t *
own_value(const struct map_pair *pair)
{
	static uint8_t *room;
	static size_t size;
	size_t need = xdpvm_map_value_bytes(&pair->map);

	if (need > size) {
		free(room);
		room = malloc(need);
		size = need;
	}
	memset(room, 0, need);
	return room;
}

static int
same(const struct map_pair *pair, const char *operation, int kernel, int own)
{
	kernel = kernel < 0 ? -errno : 0;
	if (kernel != own)
		differ(pair, "%s: kernel %d (%s), own %d (%s)", operation, kernel,
		       strerror(-kernel), own, strerror(-own));
	return own;
}

static void
same_value(const struct map_pair *pair, const char *operation, const uint8_t *kernel,
	   const uint8_t *own)
{
	size_t step = (pair->map.value_size + 7) & ~7u;

	for (uint32_t cpu = 0; cpu < pair->cpus; cpu++)
		if (memcmp(kernel + cpu * step, own + cpu * step, pair->map.value_size) != 0)
			differ(pair, "%s: copy %u differs", operation, cpu);
}

int
map_pair_update(struct map_pair *pair, const void *key, const void *value, uint64_t flags)
{
	uint8_t *own = own_value(pair);
	int kernel = bpf_map_update_elem(pair->fd, key, value, flags);

	memcpy(own, value, map_pair_value_bytes(pair));
	return same(pair, "update", kernel, xdpvm_map_update(&pair->map, key, own, flags));
}

int
map_pair_lookup(struct map_pair *pair, const void *key)
{
	uint8_t value[MAX_VALUE];
	uint8_t *own = own_value(pair);
	int ret = bpf_map_lookup_elem(pair->fd, key, value);

	ret = same(pair, "lookup", ret, xdpvm_map_lookup(&pair->map, key, own));
	if (ret == 0)
		same_value(pair, "lookup", value, own);
	return ret;
}

int
map_pair_take(struct map_pair *pair, const void *key)
{
	uint8_t value[MAX_VALUE];
	uint8_t *own = own_value(pair);
	int ret = bpf_map_lookup_and_delete_elem(pair->fd, key, value);

	ret = same(pair, "lookup and delete", ret, xdpvm_map_take(&pair->map, key, own));
	if (ret == 0)
		same_value(pair, "lookup and delete", value, own);
	return ret;
}

int
map_pair_delete(struct map_pair *pair, const void *key)
{
	int ret = bpf_map_delete_elem(pair->fd, key);

	return same(pair, "delete", ret, xdpvm_map_delete(&pair->map, key));
}

static uint32_t
walk_kernel(struct map_pair *pair)
{
	uint8_t key[MAX_KEY], next[MAX_KEY];
	uint32_t n = 0;

	for (void *at = NULL; bpf_map_get_next_key(pair->fd, at, next) == 0; n++) {
		map_pair_lookup(pair, next);
		memcpy(key, next, pair->map.key_size);
		at = key;
	}
	return n;
}

static uint32_t
walk_own(struct map_pair *pair)
{
	uint8_t key[MAX_KEY], next[MAX_KEY];
	uint32_t n = 0;

	for (void *at = NULL; xdpvm_map_next_key(&pair->map, at, next) == 0; n++) {
		memcpy(key, next, pair->map.key_size);
		at = key;
	}
	return n;
}

uint32_t
map_pair_compare(struct map_pair *pair)
{
	uint32_t kernel = walk_kernel(pair);
	uint32_t own = walk_own(pair);

	if (kernel != own)
		differ(pair, "the kernel's map has %u keys, the own one %u", kernel, own);
	return own;
}
