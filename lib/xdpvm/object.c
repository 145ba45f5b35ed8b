/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Objects: opening an ELF file, choosing programs, the order of a load, closing. The steps
 * themselves are in files of their own.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "object.h"
#include "object_check.h"
#include "xdpvm_sync.h"

#define IMAGE_MAX (64u << 20)	/* bytes; the largest object seen has half a MiB */

static char *
copy_string(const char *string)
{
	return string != NULL ? strdup(string) : NULL;
}

static struct xdpvm_object *
object_new(const char *name, const struct xdpvm_options *options)
{
	struct xdpvm_object *object = calloc(1, sizeof(*object));

	if (object == NULL)
		return NULL;
	if (options != NULL)
		object->options = *options;
	object->options.program = copy_string(object->options.program);
	object->options.section = copy_string(object->options.section);
	object->options.pin_dir = copy_string(object->options.pin_dir);
	object->options.cache_dir = copy_string(object->options.cache_dir);
	object->name = strdup(name);
	if (object->name == NULL) {
		xdpvm_object_close(object);
		return NULL;
	}
	return object;
}

static int
read_all(int fd, uint8_t *to, size_t size)
{
	ssize_t got;

	for (size_t done = 0; done < size; done += got) {
		got = read(fd, to + done, size - done);
		if (got <= 0)
			return got < 0 ? -errno : -EIO;
	}
	return 0;
}

static int
image_read(struct xdpvm_object *object, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	int ret = 0;

	if (fd < 0)
		return xdpvm_fail(object, -errno, "%s cannot be opened: %s", path, strerror(errno));
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		ret = xdpvm_fail(object, -EINVAL, "%s is no regular file", path);
	else if (st.st_size > IMAGE_MAX)
		ret = xdpvm_fail(object, -EFBIG, "%s has %lld bytes, more than %u", path,
				 (long long)st.st_size, IMAGE_MAX);
	if (ret == 0) {
		object->image_size = st.st_size;
		object->image = malloc(st.st_size + 1);
		ret = object->image == NULL ? -ENOMEM : read_all(fd, object->image, st.st_size);
		if (ret != 0)
			xdpvm_log(object, XDPVM_LOG_ERROR, "%s cannot be read: %s", path,
				  strerror(-ret));
	}
	close(fd);
	return ret;
}

static int
bpf_open(struct xdpvm_object *object)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = object->name,
		    .pin_root_path = object->options.pin_dir);
	struct xdpvm_capture capture;
	int ret = 0;

	xdpvm_capture_begin(&capture);
	object->bpf = bpf_object__open_mem(object->image, object->image_size, &opts);
	if (object->bpf == NULL)
		ret = -errno;
	xdpvm_capture_end();
	if (ret != 0)
		ret = xdpvm_fail(object, xdpvm_libbpf_error(ret), "is no usable BPF object: %s",
				 capture.reason != NULL ? capture.reason : strerror(-ret));
	xdpvm_capture_free(&capture);
	return ret;
}

static bool
has_prog_array(const struct xdpvm_object *object)
{
	for (uint32_t i = 0; i < object->n_maps; i++)
		if (object->maps[i].type == BPF_MAP_TYPE_PROG_ARRAY)
			return true;
	return false;
}

static bool
is_named(const struct xdpvm_object *object, const struct bpf_program *bpf)
{
	const struct xdpvm_options *options = &object->options;

	return (options->program == NULL ||
		strcmp(options->program, bpf_program__name(bpf)) == 0) &&
	       (options->section == NULL ||
		strcmp(options->section, bpf_program__section_name(bpf)) == 0);
}

/*
 * Which programs are loaded: the one that was named, or every XDP program that the object does not
 * mark as optional. With a PROG_ARRAY the others come along, as a tail call may need them.
 */
static bool
is_wanted(const struct xdpvm_object *object, const struct bpf_program *bpf)
{
	bool named = object->options.program != NULL || object->options.section != NULL;
	bool xdp = bpf_program__type(bpf) == BPF_PROG_TYPE_XDP;

	if (named && is_named(object, bpf))
		return xdp || bpf_program__type(bpf) == BPF_PROG_TYPE_UNSPEC;
	if (named && !has_prog_array(object))
		return false;
	return xdp && bpf_program__autoload(bpf);
}

static int
fail_not_found(const struct xdpvm_object *object)
{
	const char *program = object->options.program, *section = object->options.section;
	struct bpf_program *bpf;

	if (program != NULL || section != NULL)
		return xdpvm_fail(object, -ENOENT, "has no XDP program%s%s%s%s",
				  program != NULL ? " named " : "", program != NULL ? program : "",
				  section != NULL ? " in section " : "",
				  section != NULL ? section : "");
	bpf_object__for_each_program(bpf, object->bpf)
		if (bpf_program__type(bpf) == BPF_PROG_TYPE_UNSPEC)
			return xdpvm_fail(object, -ENOENT, "has no section whose name says XDP; %s "
					  "in section %s may be an XDP program: ask for it by name",
					  bpf_program__name(bpf), bpf_program__section_name(bpf));
	return xdpvm_fail(object, -ENOENT, "has no XDP program");
}

static int
select_programs(struct xdpvm_object *object)
{
	struct xdpvm_prog **end = &object->progs;
	struct bpf_program *bpf;
	bool found = false;

	bpf_object__for_each_program(bpf, object->bpf) {
		if (!is_wanted(object, bpf)) {
			bpf_program__set_autoload(bpf, false);
			continue;
		}
		/* Old objects name sections freely; asking for one by name says what it is. */
		if (bpf_program__type(bpf) == BPF_PROG_TYPE_UNSPEC)
			bpf_program__set_type(bpf, BPF_PROG_TYPE_XDP);
		bpf_program__set_autoload(bpf, true);
		*end = xdpvm_prog_new(object, bpf);
		if (*end == NULL)
			return xdpvm_fail(object, -ENOMEM, "no memory");
		end = &(*end)->next;
		found = found || is_named(object, bpf);
	}
	return found ? 0 : fail_not_found(object);
}

static int
object_open_image(struct xdpvm_object *object)
{
	int ret = xdpvm_object_check(object);

	if (ret == 0)
		ret = bpf_open(object);
	if (ret == 0)
		ret = xdpvm_object_maps_open(object);
	if (ret == 0)
		ret = select_programs(object);
	return ret;
}

static int
object_finish_open(struct xdpvm_object *object, int ret, struct xdpvm_object **result)
{
	if (ret == 0)
		ret = object_open_image(object);
	if (ret == 0)
		*result = object;
	else
		xdpvm_object_close(object);
	return ret;
}

int
xdpvm_object_open(const char *path, const struct xdpvm_options *options,
		  struct xdpvm_object **result)
{
	const char *slash = strrchr(path, '/');
	struct xdpvm_object *object = object_new(slash != NULL ? slash + 1 : path, options);

	if (object == NULL)
		return -ENOMEM;
	return object_finish_open(object, image_read(object, path), result);
}

int
xdpvm_object_open_memory(const void *image, size_t size, const char *name,
			 const struct xdpvm_options *options, struct xdpvm_object **result)
{
	struct xdpvm_object *object = object_new(name, options);

	if (object == NULL)
		return -ENOMEM;
	if (size > IMAGE_MAX)
		return object_finish_open(object, xdpvm_fail(object, -EFBIG, "has %zu bytes, more "
							     "than %u", size, IMAGE_MAX), result);
	object->image = malloc(size + 1);
	object->image_size = size;
	if (object->image == NULL)
		return object_finish_open(object, -ENOMEM, result);
	memcpy(object->image, image, size);
	return object_finish_open(object, 0, result);
}

static enum xdpvm_verify
choose_verify(const struct xdpvm_object *object)
{
	struct xdpvm_capture capture;
	bool kernel;

	if (object->options.verify != XDPVM_VERIFY_AUTO)
		return object->options.verify;
	xdpvm_capture_begin(&capture);
	kernel = libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_XDP, NULL) > 0;
	xdpvm_capture_end();
	xdpvm_capture_free(&capture);
	return kernel ? XDPVM_VERIFY_KERNEL : XDPVM_VERIFY_INTERNAL;
}

static int
load_programs(struct xdpvm_object *object)
{
	int ret = 0;

	for (struct xdpvm_prog *prog = object->progs; prog != NULL && ret == 0; prog = prog->next)
		ret = xdpvm_prog_load(prog);
	return ret;
}

int
xdpvm_object_load(struct xdpvm_object *object)
{
	int ret;

	if (object->loaded || object->image == NULL)
		return xdpvm_fail(object, -EBUSY, "was loaded before, or tried to be");
	object->verify = choose_verify(object);
	if (object->options.pin_dir != NULL && object->verify != XDPVM_VERIFY_KERNEL)
		return xdpvm_fail(object, -ENOTSUP, "its maps cannot be pinned in %s: only "
				  "verify=kernel makes maps in the kernel", object->options.pin_dir);
	ret = xdpvm_object_maps_check(object);
	if (ret == 0 && object->verify == XDPVM_VERIFY_CACHED)
		ret = xdpvm_cache_check(object);
	if (ret == 0)
		ret = object->verify == XDPVM_VERIFY_KERNEL ? xdpvm_load_kernel(object) :
							      xdpvm_load_linker(object);
	if (ret == 0)
		ret = xdpvm_object_maps_load(object);
	if (ret == 0)
		ret = load_programs(object);
	if (ret == 0)
		ret = xdpvm_object_slots(object);
	if (ret == 0 && object->verify == XDPVM_VERIFY_KERNEL && object->options.cache_dir != NULL)
		ret = xdpvm_cache_store(object);
	if (ret != 0 && object->verify == XDPVM_VERIFY_KERNEL)
		xdpvm_load_kernel_undo(object);
	free(object->image);
	object->image = NULL;
	object->loaded = ret == 0;
	return ret;
}

void
xdpvm_object_close(struct xdpvm_object *object)
{
	struct xdpvm_prog *prog;

	if (object == NULL)
		return;
	xdpvm_sync_stop(object);
	if (object->loaded)
		xdpvm_synchronize();
	while ((prog = object->progs) != NULL) {
		object->progs = prog->next;
		xdpvm_prog_free(prog);
	}
	xdpvm_object_maps_free(object);
	bpf_object__close(object->bpf);
	free(object->image);
	free((char *)(uintptr_t)object->options.program);
	free((char *)(uintptr_t)object->options.section);
	free((char *)(uintptr_t)object->options.pin_dir);
	free((char *)(uintptr_t)object->options.cache_dir);
	free(object->name);
	free(object);
}

enum xdpvm_verify
xdpvm_object_verify(const struct xdpvm_object *object)
{
	return object->verify;
}

struct xdpvm_prog *
xdpvm_prog_find(struct xdpvm_object *object, const char *name)
{
	struct xdpvm_prog *prog = object->progs;

	while (prog != NULL && name != NULL && strcmp(prog->name, name) != 0)
		prog = prog->next;
	return prog;
}

struct xdpvm_prog *
xdpvm_prog_next(struct xdpvm_object *object, const struct xdpvm_prog *prog)
{
	return prog != NULL ? prog->next : object->progs;
}
