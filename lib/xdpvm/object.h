/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An opened object: libbpf's view of it, its maps and its programs; and the steps from the one to
 * the other, in the order in which xdpvm_object_load() takes them.
 */
#ifndef XDPVM_OBJECT_H
#define XDPVM_OBJECT_H

#include "internal.h"
#include "map.h"
#include "program.h"

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

	struct xdpvm_sync *sync;	/* NULL unless started */

	void *image;			/* the ELF file, until the load is over */
	size_t image_size;
};

/* libbpf.c: runs a libbpf call with its messages collected instead of printed. */
struct xdpvm_capture {
	char *reason;		/* libbpf's last warning, without newline; or NULL */
	char *verifier;		/* the kernel verifier's log; or NULL */
};
void xdpvm_capture_begin(struct xdpvm_capture *capture);
void xdpvm_capture_end(void);
void xdpvm_capture_free(struct xdpvm_capture *capture);
/* libbpf has numbers of its own beside errno's: -EINVAL for those. */
int xdpvm_libbpf_error(int error);

/* load_kernel.c, load_linker.c: both end with linked instructions in bpf_program__insns(). */
int xdpvm_load_kernel(struct xdpvm_object *object);
void xdpvm_load_kernel_undo(struct xdpvm_object *object);
int xdpvm_load_linker(struct xdpvm_object *object);

/* verify_cache.c: asks for every program of the object, or enters it. 0 or a negative errno. */
int xdpvm_cache_check(const struct xdpvm_object *object);
int xdpvm_cache_store(const struct xdpvm_object *object);

/* object_maps.c */
int xdpvm_object_maps_open(struct xdpvm_object *object);
int xdpvm_object_maps_load(struct xdpvm_object *object);
void xdpvm_object_maps_free(struct xdpvm_object *object);

/* map_memory.c: whether the maps take no more than they may; 0, or -E2BIG after a sentence. */
int xdpvm_object_maps_check(const struct xdpvm_object *object);

/* slots.c: initial values of PROG_ARRAYs and maps of maps, from the object's .maps relocations. */
int xdpvm_object_slots(struct xdpvm_object *object);

/* ksyms.c: the kernel's functions and variables that the object declares, with commas. */
void xdpvm_object_ksyms(const struct xdpvm_object *object, char *names, size_t size);

/* lines.c: BTF line information of a linked program; no lines is no error. */
void xdpvm_prog_lines(struct xdpvm_prog *prog);

/* core_relo.c: what the linker alone cannot do; 0, or -ENOTSUP after a sentence. */
int xdpvm_core_relo_check(const struct xdpvm_object *object);

/* program.c: from libbpf's program to a runnable one. */
struct bpf_program;
struct xdpvm_prog *xdpvm_prog_new(struct xdpvm_object *object, const struct bpf_program *bpf);
int xdpvm_prog_load(struct xdpvm_prog *prog);
/* The second half of it: insns, original, info and n_insns are set. */
int xdpvm_prog_prepare(struct xdpvm_prog *prog);
void xdpvm_prog_free(struct xdpvm_prog *prog);

#endif /* XDPVM_OBJECT_H */
