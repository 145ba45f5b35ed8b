/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * /mlx4x/xdp/maps/...: the maps of a program that the driver or the application loaded.
 * Keys and values travel as hex digits of their bytes, as bpftool writes them, without
 * spaces. A per-CPU value is a dict by CPU number, of those copies that are not zero.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "xdp_tel.h"

/* Entries of one dump answer: at most, and unless told. */
#define DUMP_PAGE 32u
/* Bytes of values in one dump answer; more go into the next one. */
#define DUMP_BYTES 4096u

/* A map and room for its key and value, while the device is locked. */
struct map_access {
	const struct mlx4x_tel_request *request;
	struct xdpvm_object *object;
	struct xdpvm_map *map;
	struct xdpvm_map_info info;
	size_t value_bytes;	/* of all copies */
	uint8_t *key;
	uint8_t *next_key;
	uint8_t *value;
};

static bool
is_per_cpu(const struct map_access *access)
{
	return access->info.type == BPF_MAP_TYPE_PERCPU_ARRAY ||
		access->info.type == BPF_MAP_TYPE_PERCPU_HASH ||
		access->info.type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
}

/* The program whose objects are ours to look into; NULL: refused. */
static const struct mlx4x_xdp_prog *
loaded_prog(const struct mlx4x_tel_request *request)
{
	const struct mlx4x_xdp_prog *prog = mlx4x_tel_prog(request);

	if (prog == NULL || prog->nb_links != 0)
		return prog;
	mlx4x_xdp_refuse(request->port, ENOTSUP, "program %s is the application's own; so are its "
		"maps, if any", prog->name);
	return NULL;
}

/* A map by its name, the first of a chain; or by the name of its program, a colon and its own. */
static void
find_map(struct map_access *access, const struct mlx4x_xdp_prog *prog, const char *name)
{
	const char *colon = strchr(name, ':'), *map = colon != NULL ? colon + 1 : name;
	size_t len = colon != NULL ? (size_t)(colon - name) : 0;
	unsigned int i;

	for (i = 0; i < prog->nb_links && access->map == NULL; i++) {
		const char *prog_name = xdpvm_prog_name(prog->links[i]->prog);

		if (colon != NULL && (strlen(prog_name) != len || strncmp(prog_name, name, len) != 0))
			continue;
		access->object = prog->links[i]->object;
		access->map = xdpvm_map_find(access->object, map);
	}
}

static int
open_map(struct map_access *access, const struct mlx4x_tel_request *request)
{
	const struct mlx4x_xdp_prog *prog = loaded_prog(request);
	const char *name = request->value[MLX4X_TEL_MAP];

	memset(access, 0, sizeof(*access));
	access->request = request;
	if (prog == NULL)
		return -ENOENT;
	find_map(access, prog, name);
	if (access->map == NULL)
		return mlx4x_xdp_refuse(request->port, ENOENT, "there is no map %s", name);
	xdpvm_map_info(access->map, &access->info);
	access->value_bytes = xdpvm_map_value_bytes(access->map);
	access->key = calloc(3, RTE_MAX(access->info.key_size, 1u) + access->value_bytes);
	if (access->key == NULL)
		return mlx4x_xdp_refuse(request->port, ENOMEM, "map %s: no memory", name);
	access->next_key = access->key + access->info.key_size;
	access->value = access->next_key + access->info.key_size;
	return 0;
}

static int
refuse(const struct map_access *access, const char *verb, int error)
{
	return mlx4x_xdp_refuse(access->request->port, error, "map %s: cannot %s the entry of key %s: "
		"%s", access->info.name, verb, access->request->value[MLX4X_TEL_KEY] != NULL ?
		access->request->value[MLX4X_TEL_KEY] : "(first)", strerror(error));
}

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Exactly nb bytes. */
static int
parse_hex(const struct map_access *access, const char *what, const char *text, uint8_t *bytes,
	size_t nb)
{
	size_t i;

	for (i = 0; i < nb && hex_digit(text[2 * i]) >= 0 && hex_digit(text[2 * i + 1]) >= 0; i++)
		bytes[i] = hex_digit(text[2 * i]) << 4 | hex_digit(text[2 * i + 1]);
	if (i == nb && text[2 * i] == '\0')
		return 0;
	return mlx4x_xdp_refuse(access->request->port, EINVAL, "map %s: %s %s is not %zu bytes in hex",
		access->info.name, what, text, nb);
}

static int
parse_key(struct map_access *access)
{
	return parse_hex(access, "key", access->request->value[MLX4X_TEL_KEY], access->key,
		access->info.key_size);
}

/* Entries that a second program can belong to. */
static bool
has_programs(const struct map_access *access)
{
	return access->info.value_size == sizeof(struct bpf_devmap_val) &&
		(access->info.type == BPF_MAP_TYPE_DEVMAP ||
		 access->info.type == BPF_MAP_TYPE_DEVMAP_HASH ||
		 access->info.type == BPF_MAP_TYPE_CPUMAP);
}

/* One value, for every CPU if there are several copies. The program of an entry may be left out. */
static int
parse_value(struct map_access *access)
{
	size_t stride = RTE_ALIGN_CEIL((size_t)access->info.value_size, 8), offset;
	size_t size = access->info.value_size;
	const char *text = access->request->value[MLX4X_TEL_VALUE];
	int ret;

	if (text == NULL)
		return mlx4x_xdp_refuse(access->request->port, EINVAL, "map %s: the request needs "
			"value=, or name= if its entries are programs or maps",
			access->info.name);
	if (has_programs(access) && strlen(text) == 2 * sizeof(uint32_t))
		size = sizeof(uint32_t);
	ret = parse_hex(access, "value", text, access->value, size);
	for (offset = stride; is_per_cpu(access) && offset < access->value_bytes; offset += stride)
		memcpy(access->value + offset, access->value, access->info.value_size);
	return ret;
}

static bool
is_zero(const uint8_t *bytes, size_t nb)
{
	return nb == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, nb - 1) == 0);
}

static void
add_value(struct rte_tel_data *dict, const char *name, const struct map_access *access)
{
	size_t stride = RTE_ALIGN_CEIL((size_t)access->info.value_size, 8);
	struct rte_tel_data *copies;
	char cpu_name[16];
	unsigned int cpu;

	if (!is_per_cpu(access)) {
		mlx4x_tel_add_hex(dict, name, access->value, access->info.value_size);
		return;
	}
	copies = mlx4x_tel_add_dict(dict, name);
	for (cpu = 0; cpu < access->value_bytes / stride && copies != NULL; cpu++) {
		if (is_zero(access->value + cpu * stride, access->info.value_size))
			continue;
		snprintf(cpu_name, sizeof(cpu_name), "%u", cpu);
		mlx4x_tel_add_hex(copies, cpu_name, access->value + cpu * stride,
			access->info.value_size);
	}
}

/* The second program of the entry, whose number in the value says nothing to others. */
static void
add_program_name(struct rte_tel_data *dict, const struct map_access *access)
{
	struct xdpvm_prog *prog;
	uint32_t id;

	if (!has_programs(access))
		return;
	memcpy(&id, access->value + offsetof(struct bpf_devmap_val, bpf_prog), sizeof(id));
	prog = xdpvm_map_entry_prog(access->map, id);
	if (prog != NULL)
		rte_tel_data_add_dict_string(dict, "func", xdpvm_prog_name(prog));
}

static int
map_lookup(struct map_access *access, struct rte_tel_data *dict)
{
	int ret = parse_key(access);

	if (ret != 0)
		return ret;
	ret = xdpvm_map_lookup(access->map, access->key, access->value);
	if (ret != 0)
		return refuse(access, "look up", -ret);
	mlx4x_tel_add_hex(dict, "key", access->key, access->info.key_size);
	add_value(dict, "value", access);
	add_program_name(dict, access);
	return 0;
}

static int
parse_flags(const struct map_access *access, uint64_t *flags)
{
	static const char *const names[] = {
		[BPF_ANY] = "any", [BPF_NOEXIST] = "noexist", [BPF_EXIST] = "exist",
	};
	const char *text = access->request->value[MLX4X_TEL_FLAGS];

	*flags = BPF_ANY;
	if (text == NULL)
		return 0;
	for (; *flags < RTE_DIM(names); (*flags)++) {
		if (strcmp(text, names[*flags]) == 0)
			return 0;
	}
	return mlx4x_xdp_refuse(access->request->port, EINVAL, "flags=%s: one of any, noexist, exist",
		text);
}

static struct xdpvm_prog *
find_prog(const struct map_access *access, const char *name)
{
	struct xdpvm_prog *prog = xdpvm_prog_find(access->object, name);

	if (prog == NULL)
		mlx4x_xdp_refuse(access->request->port, ENOENT, "there is no program %s in the object "
			"of map %s", name, access->info.name);
	return prog;
}

/* func= names the second program of an entry, which is the second half of its value. */
static int
name_program(struct map_access *access)
{
	const char *name = access->request->value[MLX4X_TEL_FUNC];
	struct xdpvm_prog *prog;
	int32_t ref;

	if (name == NULL)
		return 0;
	if (!has_programs(access))
		return mlx4x_xdp_refuse(access->request->port, EINVAL, "map %s: its entries have no "
			"programs", access->info.name);
	prog = find_prog(access, name);
	if (prog == NULL)
		return -ENOENT;
	ref = xdpvm_prog_ref(prog);
	memcpy(access->value + offsetof(struct bpf_devmap_val, bpf_prog), &ref, sizeof(ref));
	return 0;
}

/* name= is a program for a PROG_ARRAY, as in Linux in place of what is there or not. */
static int
put_program(const struct map_access *access, const char *name, uint64_t flags)
{
	struct xdpvm_prog *prog = find_prog(access, name);
	uint32_t index;
	int ret;

	if (prog == NULL)
		return -ENOENT;
	memcpy(&index, access->key, sizeof(index));
	ret = flags == BPF_ANY ? xdpvm_map_update_prog(access->map, index, prog) : -EINVAL;
	return ret != 0 ? refuse(access, "update", -ret) : 0;
}

/* And a map for a map of maps. */
static int
put_map(const struct map_access *access, const char *name, uint64_t flags)
{
	struct xdpvm_map *inner = xdpvm_map_find(access->object, name);
	int ret;

	if (inner == NULL)
		return mlx4x_xdp_refuse(access->request->port, ENOENT, "there is no map %s", name);
	ret = xdpvm_map_update_map(access->map, access->key, inner, flags);
	return ret != 0 ? refuse(access, "update", -ret) : 0;
}

static int
put_by_name(const struct map_access *access, const char *name, uint64_t flags)
{
	if (access->request->value[MLX4X_TEL_VALUE] != NULL)
		return mlx4x_xdp_refuse(access->request->port, EINVAL, "map %s: either value= or name=",
			access->info.name);
	switch (access->info.type) {
	case BPF_MAP_TYPE_PROG_ARRAY:
		return put_program(access, name, flags);
	case BPF_MAP_TYPE_ARRAY_OF_MAPS:
	case BPF_MAP_TYPE_HASH_OF_MAPS:
		return put_map(access, name, flags);
	default:
		return mlx4x_xdp_refuse(access->request->port, EINVAL, "map %s: its entries are no "
			"programs or maps, and have no name", access->info.name);
	}
}

static int
map_update(struct map_access *access, struct rte_tel_data *dict)
{
	const char *name = access->request->value[MLX4X_TEL_NAME];
	uint64_t flags;
	int ret = parse_key(access);

	if (ret == 0)
		ret = parse_flags(access, &flags);
	if (ret == 0 && name != NULL)
		return put_by_name(access, name, flags);
	if (ret == 0)
		ret = parse_value(access);
	if (ret == 0)
		ret = name_program(access);
	if (ret != 0)
		return ret;
	ret = xdpvm_map_update(access->map, access->key, access->value, flags);
	return ret != 0 ? refuse(access, "update", -ret) : 0;
}

static int
map_delete(struct map_access *access, struct rte_tel_data *dict)
{
	int ret = parse_key(access);

	if (ret != 0)
		return ret;
	ret = xdpvm_map_delete(access->map, access->key);
	return ret != 0 ? refuse(access, "delete", -ret) : 0;
}

static void
add_entry(struct rte_tel_data *dict, const struct map_access *access, unsigned int i)
{
	char name[16];
	struct rte_tel_data *entry;

	snprintf(name, sizeof(name), "entry_%u", i);
	entry = mlx4x_tel_add_dict(dict, name);
	if (entry == NULL)
		return;
	mlx4x_tel_add_hex(entry, "key", access->next_key, access->info.key_size);
	add_value(entry, "value", access);
	add_program_name(entry, access);
}

/* The entries behind key=, or the first ones. An entry deleted meanwhile is left out. */
static int
map_dump(struct map_access *access, struct rte_tel_data *dict)
{
	const char *start = access->request->value[MLX4X_TEL_KEY];
	unsigned int found = 0, limit;
	uint64_t count;
	int ret = mlx4x_tel_number(access->request, MLX4X_TEL_COUNT, DUMP_PAGE, DUMP_PAGE, &count);

	if (ret == 0 && start != NULL)
		ret = parse_key(access);
	if (ret != 0)
		return ret;
	limit = 1 + DUMP_BYTES / (access->info.value_size + 1);
	limit = RTE_MIN(limit, (unsigned int)count);
	ret = xdpvm_map_next_key(access->map, start != NULL ? access->key : NULL, access->next_key);
	while (ret == 0 && found < limit) {
		if (xdpvm_map_lookup(access->map, access->next_key, access->value) == 0)
			add_entry(dict, access, found++);
		memcpy(access->key, access->next_key, access->info.key_size);
		ret = xdpvm_map_next_key(access->map, access->key, access->next_key);
	}
	if (ret != 0 && ret != -ENOENT)
		return refuse(access, "walk from", -ret);
	rte_tel_data_add_dict_int(dict, "entries", found);
	if (ret == 0)
		mlx4x_tel_add_hex(dict, "next", access->key, access->info.key_size);
	return 0;
}

/* Runs one of the above on the map of a request. */
static int
with_map(const struct mlx4x_tel_request *request, struct rte_tel_data *dict,
	int (*run)(struct map_access *access, struct rte_tel_data *dict))
{
	struct map_access access;
	int ret;

	mlx4x_lock(request->port->dev);
	ret = open_map(&access, request);
	if (ret == 0)
		ret = run(&access, dict);
	if (ret == 0)
		rte_tel_data_add_dict_string(dict, "map", access.info.name);
	free(access.key);
	mlx4x_unlock(request->port->dev);
	return ret;
}

static int
lookup(const struct mlx4x_tel_request *request, struct rte_tel_data *dict)
{
	return with_map(request, dict, map_lookup);
}

static int
update(const struct mlx4x_tel_request *request, struct rte_tel_data *dict)
{
	return with_map(request, dict, map_update);
}

static int
delete(const struct mlx4x_tel_request *request, struct rte_tel_data *dict)
{
	return with_map(request, dict, map_delete);
}

static int
dump(const struct mlx4x_tel_request *request, struct rte_tel_data *dict)
{
	return with_map(request, dict, map_dump);
}

static void
add_map(struct rte_tel_data *dict, const struct mlx4x_xdp_link *link, const struct xdpvm_map *map)
{
	struct xdpvm_map_info info;

	xdpvm_map_info(map, &info);
	rte_tel_data_add_dict_string(dict, "func", xdpvm_prog_name(link->prog));
	rte_tel_data_add_dict_string(dict, "name", info.name);
	rte_tel_data_add_dict_int(dict, "type", info.type);
	rte_tel_data_add_dict_uint(dict, "key_size", info.key_size);
	rte_tel_data_add_dict_uint(dict, "value_size", info.value_size);
	rte_tel_data_add_dict_uint(dict, "max_entries", info.max_entries);
	rte_tel_data_add_dict_uint(dict, "flags", info.flags);
}

/* The maps of one object, behind nb others. */
static unsigned int
list_maps(struct rte_tel_data *dict, const struct mlx4x_xdp_link *link, unsigned int nb)
{
	struct xdpvm_map *map = NULL;

	while ((map = xdpvm_map_next(link->object, map)) != NULL) {
		struct rte_tel_data *inner;
		char name[16];

		snprintf(name, sizeof(name), "map_%u", nb++);
		inner = mlx4x_tel_add_dict(dict, name);
		if (inner != NULL)
			add_map(inner, link, map);
	}
	return nb;
}

static int
list(const struct mlx4x_tel_request *request, struct rte_tel_data *dict)
{
	const struct mlx4x_xdp_prog *prog;
	unsigned int nb = 0, i;

	mlx4x_lock(request->port->dev);
	prog = loaded_prog(request);
	for (i = 0; prog != NULL && i < prog->nb_links; i++)
		nb = list_maps(dict, prog->links[i], nb);
	mlx4x_unlock(request->port->dev);
	rte_tel_data_add_dict_int(dict, "maps", nb);
	return prog != NULL ? 0 : -ENOENT;
}

#define BIT MLX4X_TEL_BIT
#define PLACE (BIT(QUEUE) | BIT(ID))

static const struct mlx4x_tel_command commands[] = {
	{ "/mlx4x/xdp/maps/list", "port=N[,queue=N][,id=N]", BIT(PORT), PLACE, list },
	{ "/mlx4x/xdp/maps/dump", "port=N,map=NAME[,key=HEX][,count=N][,queue=N][,id=N]",
		BIT(PORT) | BIT(MAP), PLACE | BIT(KEY) | BIT(COUNT), dump },
	{ "/mlx4x/xdp/maps/lookup", "port=N,map=NAME,key=HEX[,queue=N][,id=N]",
		BIT(PORT) | BIT(MAP) | BIT(KEY), PLACE, lookup },
	{ "/mlx4x/xdp/maps/update", "port=N,map=NAME,key=HEX,value=HEX|name=NAME[,func=NAME]"
		"[,flags=any|noexist|exist][,queue=N][,id=N]", BIT(PORT) | BIT(MAP) | BIT(KEY),
		PLACE | BIT(VALUE) | BIT(NAME) | BIT(FLAGS) | BIT(FUNC), update },
	{ "/mlx4x/xdp/maps/delete", "port=N,map=NAME,key=HEX[,queue=N][,id=N]",
		BIT(PORT) | BIT(MAP) | BIT(KEY), PLACE, delete },
};

RTE_INIT(mlx4x_register_map_commands)
{
	mlx4x_tel_register(commands, RTE_DIM(commands));
}
