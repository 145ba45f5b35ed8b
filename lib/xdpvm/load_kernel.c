/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * verify=kernel: libbpf creates kernel maps and loads the programs, so the kernel's verifier has
 * accepted the instructions that bpf_program__insns() returns afterwards.
 */
#include <stdio.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "object.h"

/* The flags of a map that is pinned already and will be reused; false when there is none. */
static bool
pinned_flags(const char *path, uint32_t *flags)
{
	struct bpf_map_info info = { 0 };
	uint32_t size = sizeof(info);
	int fd = path != NULL ? bpf_obj_get(path) : -1;
	bool known;

	if (fd < 0)
		return false;
	known = bpf_obj_get_info_by_fd(fd, &info, &size) == 0;
	*flags = info.map_flags;
	close(fd);
	return known;
}

/* An inner map must have its template's flags, and others may want to put theirs in, too. */
static bool
may_be_inner(const struct xdpvm_map *map)
{
	const struct xdpvm_object *object = map->object;

	for (uint32_t i = 0; i < object->n_maps; i++) {
		const struct xdpvm_map *model = object->maps[i].inner_template;

		if (model != NULL && model->type == map->type && model->flags == map->flags &&
		    model->key_size == map->key_size && model->value_size == map->value_size)
			return true;
	}
	return false;
}

/*
 * An ARRAY shall be mappable, unless a pinned one is not. A kernel's DEVMAP calls itself read-only
 * for programs, and libbpf reuses only what has equal flags.
 */
static uint32_t
wanted_flags(const struct xdpvm_map *map)
{
	uint32_t pinned;
	bool reused = pinned_flags(bpf_map__pin_path(map->bpf), &pinned);

	switch (map->type) {
	case BPF_MAP_TYPE_ARRAY:
		if (may_be_inner(map))
			return map->flags;
		return map->flags | (reused ? pinned & BPF_F_MMAPABLE : BPF_F_MMAPABLE);
	case BPF_MAP_TYPE_DEVMAP:
	case BPF_MAP_TYPE_DEVMAP_HASH:
		return map->flags | (reused ? pinned & BPF_F_RDONLY_PROG : 0);
	default:
		return map->flags;
	}
}

/* Nobody asked for pins: not even an object that wants them gets some in libbpf's default place. */
static int
set_pin_path(struct xdpvm_map *map)
{
	const char *dir = map->object->options.pin_dir;
	char path[4096];

	/* Without a folder even a map with LIBBPF_PIN_BY_NAME stays this object's own. */
	if (dir == NULL)
		return bpf_map__set_pin_path(map->bpf, NULL);
	if (bpf_map__pin_path(map->bpf) != NULL || bpf_map__is_internal(map->bpf))
		return 0;
	if (snprintf(path, sizeof(path), "%s/%s", dir, map->name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	return bpf_map__set_pin_path(map->bpf, path);
}

static int
prepare_map(struct xdpvm_map *map)
{
	int ret = set_pin_path(map);
	const char *path = bpf_map__pin_path(map->bpf);

	map->pin_created = path != NULL && access(path, F_OK) != 0;

	if (ret != 0)
		return xdpvm_fail(map->object, ret, "map %s: cannot be pinned in %s: %s", map->name,
				  map->object->options.pin_dir, strerror(-ret));
	return bpf_map__is_internal(map->bpf) ? 0 :
	       bpf_map__set_map_flags(map->bpf, wanted_flags(map));
}

/*
 * The verifier's verdict is the last line before its statistics, and the instruction is the last
 * one that it printed as "number: (opcode) ...".
 */
static void
verifier_verdict(const char *log, char *verdict, size_t size, int *insn)
{
	const char *line, *end;

	*insn = -1;
	snprintf(verdict, size, "no reason given");
	for (line = log; *line != '\0'; line = *end != '\0' ? end + 1 : end) {
		int number, used = 0;

		end = strchrnul(line, '\n');
		if (strncmp(line, "processed ", 10) == 0)
			break;
		if (sscanf(line, "%d: (%*2x) %n", &number, &used) == 1 && used > 0)
			*insn = number;
		else if (end > line)
			snprintf(verdict, size, "%.*s", (int)(end - line), line);
	}
}

static int
explain(struct xdpvm_object *object, const struct xdpvm_capture *capture, int error)
{
	char verdict[256];
	int insn;

	if (capture->verifier == NULL) {
		if (error == -EPERM)
			return xdpvm_fail(object, error, "verify=kernel needs CAP_BPF (or root): %s",
					  capture->reason != NULL ? capture->reason : "refused");
		return xdpvm_fail(object, xdpvm_libbpf_error(error),
				  "the kernel cannot load it: %s (%s)",
				  capture->reason != NULL ? capture->reason : "no reason given",
				  strerror(-error));
	}
	xdpvm_log(object, XDPVM_LOG_VERIFIER, "%s", "the verifier says:");
	if (object->options.log != NULL)
		object->options.log(object->options.log_arg, XDPVM_LOG_VERIFIER, capture->verifier);
	verifier_verdict(capture->verifier, verdict, sizeof(verdict), &insn);
	return xdpvm_fail(object, -EACCES,
			  "%s: the kernel's verifier refused instruction %d: %s",
			  capture->reason != NULL ? capture->reason : "load", insn, verdict);
}

/* A load that fails later leaves no pins behind that it made. */
void
xdpvm_load_kernel_undo(struct xdpvm_object *object)
{
	for (uint32_t i = 0; i < object->n_maps; i++)
		if (object->maps[i].pin_created && bpf_map__is_pinned(object->maps[i].bpf))
			bpf_map__unpin(object->maps[i].bpf, NULL);
}

int
xdpvm_load_kernel(struct xdpvm_object *object)
{
	struct xdpvm_capture capture;
	int ret = 0;

	xdpvm_capture_begin(&capture);
	for (uint32_t i = 0; i < object->n_maps && ret == 0; i++)
		ret = prepare_map(&object->maps[i]);
	if (ret == 0) {
		ret = bpf_object__load(object->bpf);
		if (ret != 0)
			ret = explain(object, &capture, ret);
	}
	xdpvm_capture_end();
	xdpvm_capture_free(&capture);
	return ret;
}
