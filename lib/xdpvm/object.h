/* SPDX-License-Identifier: BSD-3-Clause */
/* An opened object: libbpf's view of it, its maps and its programs. */
#ifndef XDPVM_OBJECT_H
#define XDPVM_OBJECT_H

#include "internal.h"

struct bpf_object;

struct xdpvm_object {
	char *name;			/* file name or what the caller gave; in every message */
	struct xdpvm_options options;	/* own copies of the strings */
	struct bpf_object *bpf;
	enum xdpvm_verify verify;	/* in force after load */
	bool loaded;

	struct xdpvm_map *maps;		/* n_maps, in the object's order */
	uint32_t n_maps;
	struct xdpvm_prog *progs;	/* list, in the object's order */
};

#endif /* XDPVM_OBJECT_H */
