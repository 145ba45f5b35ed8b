/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Before anything else reads an object: is the image one that can be read? libbpf 1.1 follows
 * section, symbol, string and type numbers without looking, so a damaged file makes it read and
 * write where it must not. What passes here is inside the image, ends, and refers to things that
 * exist. Whether it makes sense is for libbpf to say, and whether it is safe to run for check.c and
 * the verifier. Every refusal is -EINVAL, or what the sentence says, and a sentence.
 *
 * object_check.c: the ELF file, its sections and symbols.
 * object_check_code.c: functions, wide loads, relocations.
 * btf_check.c: .BTF, one type at a time and how deep they nest.
 * btf_check_vars.c: variables of .BTF against sections and symbols.
 * btf_ext_check.c: .BTF.ext.
 */
#ifndef XDPVM_OBJECT_CHECK_H
#define XDPVM_OBJECT_CHECK_H

#include <bpf/btf.h>

#include "elf_file.h"
#include "object.h"

/*
 * Limits that Linux and libbpf do not have: libbpf compares names of some of these with names of
 * others, each with each, and a hostile file must not make that take minutes. The largest object of
 * the corpus has 43 sections, 321 symbols and 21 functions.
 */
#define XDPVM_SECTIONS_MAX 1024u
#define XDPVM_SYMBOLS_MAX 65536u
#define XDPVM_FUNCTIONS_MAX 1024u	/* the linker recurses into functions that call functions */
#define XDPVM_VARIABLES_MAX 4096u
#define XDPVM_TYPES_MAX (1u << 18)	/* Linux: BTF_MAX_TYPE, four times as many */
#define XDPVM_RECORDS_MAX (1u << 17)	/* of a kind in .BTF.ext */
/* Programs times instructions of .text, which the linker copies for each program. */
#define XDPVM_LINKED_MAX (4u << 20)

/* A .BTF section; types are numbered from 1, 0 is void. */
struct xdpvm_btf_view {
	const uint8_t *types;
	const char *strings;
	uint32_t strings_size;
	uint32_t n_types;
	uint32_t *offsets;	/* of types[i + 1] in types; freed by xdpvm_object_check() */
};

static inline const struct btf_type *
xdpvm_btf_view_type(const struct xdpvm_btf_view *btf, uint32_t id)
{
	static const struct btf_type nothing;

	return id == 0 ? &nothing : (const void *)(btf->types + btf->offsets[id - 1]);
}

/* 0 or a negative errno after a sentence. */
int xdpvm_object_check(const struct xdpvm_object *object);

/* Its steps, in this order. */
int xdpvm_code_check(const struct xdpvm_object *object, const struct xdpvm_elf *elf);
int xdpvm_btf_check(const struct xdpvm_object *object, const struct xdpvm_elf *elf,
		    struct xdpvm_btf_view *btf);
int xdpvm_btf_check_vars(const struct xdpvm_object *object, const struct xdpvm_elf *elf,
			 const struct xdpvm_btf_view *btf);
int xdpvm_btf_ext_check(const struct xdpvm_object *object, const struct xdpvm_elf *elf,
			const struct xdpvm_btf_view *btf);

/*
 * What names of functions, variables and maps consist of in Linux (btf.c: btf_name_valid), and the
 * sign that compilers of other languages put into symbols ($). They become names of files.
 */
bool xdpvm_is_identifier(const char *name);

#endif /* XDPVM_OBJECT_CHECK_H */
