/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What libbpf does not show of an object: sections, symbols and relocations, read in the image, and
 * the records of .BTF.ext. Everything here trusts xdpvm_object_check(), which has seen that tables,
 * sections and strings are inside the image.
 */
#ifndef XDPVM_ELF_FILE_H
#define XDPVM_ELF_FILE_H

#include <elf.h>

#include "internal.h"

struct xdpvm_elf {
	const uint8_t *image;
	const Elf64_Shdr *sections;
	uint32_t n_sections;
	const char *names;		/* of sections */
	const Elf64_Sym *symbols;
	uint32_t n_symbols;
	const char *symbol_names;
};

/* A section's contents; at is NULL when it has none in the file. */
struct xdpvm_bytes {
	const uint8_t *at;
	size_t size;
};

/* A function in a section of code. */
struct xdpvm_elf_function {
	const char *name;
	uint32_t section;	/* index */
	uint32_t insn;		/* first instruction, from the start of the section */
	uint32_t n_insns;
};

/* The image must stay while the structure is used. */
void xdpvm_elf_open(struct xdpvm_elf *elf, const void *image);

/* The index of a section, 0 when there is none. */
uint32_t xdpvm_elf_find(const struct xdpvm_elf *elf, const char *name);
const char *xdpvm_elf_section_name(const struct xdpvm_elf *elf, uint32_t section);
struct xdpvm_bytes xdpvm_elf_bytes(const struct xdpvm_elf *elf, uint32_t section);
/* Whether it holds instructions. */
bool xdpvm_elf_is_code(const struct xdpvm_elf *elf, uint32_t section);

const char *xdpvm_elf_symbol_name(const struct xdpvm_elf *elf, uint32_t symbol);
/* False when the symbol is no function. */
bool xdpvm_elf_function(const struct xdpvm_elf *elf, uint32_t symbol,
			struct xdpvm_elf_function *function);

/* The relocations of a section, count 0 when there are none. */
const Elf64_Rel *xdpvm_elf_relocations(const struct xdpvm_elf *elf, uint32_t section,
				       uint32_t *count);

/* The kinds of records in .BTF.ext, as Documentation/bpf/btf.rst has them. */
enum xdpvm_btf_ext_kind {
	XDPVM_BTF_EXT_FUNCS,	/* struct bpf_func_info */
	XDPVM_BTF_EXT_LINES,	/* struct bpf_line_info */
	XDPVM_BTF_EXT_RELOS,	/* struct bpf_core_relo */
	XDPVM_BTF_EXT_KINDS,
};

/* Called for each record: the name's offset in BTF strings of the section it is for. */
typedef int (*xdpvm_btf_ext_fn)(void *arg, uint32_t section_name, const void *record);

/* Calls fn until it returns non-zero, which is returned; -EINVAL when the data is malformed. */
int xdpvm_btf_ext_each(const struct xdpvm_elf *elf, enum xdpvm_btf_ext_kind kind,
		       xdpvm_btf_ext_fn fn, void *arg);

#endif /* XDPVM_ELF_FILE_H */
