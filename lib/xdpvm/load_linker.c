/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Without the kernel: libbpf's loader generator links the object and makes no bpf(2) call. Maps are
 * named by index in the instructions. CO-RE is only recorded by it, so what needs CO-RE is refused.
 */
#include <bpf/libbpf.h>

#include "object.h"

/* libbpf's linker cannot put programs into a PROG_ARRAY, and does not say so. */
static int
explain(struct xdpvm_object *object, int error, const char *reason)
{
	for (uint32_t i = 0; i < object->n_maps && error == -ENOTSUP; i++)
		if (object->maps[i].type == BPF_MAP_TYPE_PROG_ARRAY)
			return xdpvm_fail(object, error, "cannot be linked: programs that the object "
					  "itself puts into a PROG_ARRAY (%s) need verify=kernel",
					  object->maps[i].name);
	return xdpvm_fail(object, xdpvm_libbpf_error(error), "cannot be linked: %s",
			  reason != NULL ? reason : strerror(-error));
}

int
xdpvm_load_linker(struct xdpvm_object *object)
{
	LIBBPF_OPTS(gen_loader_opts, gen);
	struct xdpvm_capture capture;
	int ret = xdpvm_core_relo_check(object);

	if (ret != 0)
		return ret;
	xdpvm_capture_begin(&capture);
	/* A pinned map would be looked for in the kernel. */
	for (uint32_t i = 0; i < object->n_maps; i++)
		bpf_map__set_pin_path(object->maps[i].bpf, NULL);
	ret = bpf_object__gen_loader(object->bpf, &gen);
	if (ret == 0)
		ret = bpf_object__load(object->bpf);
	if (ret != 0)
		ret = explain(object, ret, capture.reason);
	xdpvm_capture_end();
	xdpvm_capture_free(&capture);
	return ret;
}
