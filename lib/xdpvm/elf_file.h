/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What libbpf does not show of an object: sections and function symbols, read with libelf, and the
 * records of .BTF.ext. Everything read is checked against its section's size.
 */
#ifndef XDPVM_ELF_FILE_H
#define XDPVM_ELF_FILE_H

#include <gelf.h>

#include "internal.h"

struct xdpvm_elf {
	Elf *elf;
	size_t names;		/* section index of the section names */
	Elf_Data *symbols;	/* NULL when there are none */
	size_t symbol_names;	/* section index */
	size_t n_symbols;
};

/* A function in a section of code. */
struct xdpvm_elf_function {
	const char *name;
	size_t section;		/* index */
	uint32_t insn;		/* first instruction, from the start of the section */
	uint32_t n_insns;
};

/* 0 or -EINVAL; the image must stay while the structure is used. */
int xdpvm_elf_open(struct xdpvm_elf *elf, void *image, size_t size);
void xdpvm_elf_close(struct xdpvm_elf *elf);

/* The data of a section, NULL when there is none; index may be NULL. */
Elf_Data *xdpvm_elf_section(const struct xdpvm_elf *elf, const char *name, size_t *index);
const char *xdpvm_elf_section_name(const struct xdpvm_elf *elf, size_t index);

/* The i-th symbol's name, and its function if it is one (false otherwise). */
const char *xdpvm_elf_symbol(const struct xdpvm_elf *elf, size_t i, GElf_Sym *symbol);
bool xdpvm_elf_function(const struct xdpvm_elf *elf, size_t i, struct xdpvm_elf_function *function);

/* The relocations of a section, NULL when there are none. */
Elf_Data *xdpvm_elf_relocations(const struct xdpvm_elf *elf, size_t section, size_t *count);

/*
 * The two kinds of records in .BTF.ext that are read here, as Documentation/bpf/btf.rst has them.
 */
enum xdpvm_btf_ext_kind {
	XDPVM_BTF_EXT_LINES,	/* struct bpf_line_info */
	XDPVM_BTF_EXT_RELOS,	/* struct bpf_core_relo */
};

/* Called for each record: the name's offset in BTF strings of the section it is for. */
typedef int (*xdpvm_btf_ext_fn)(void *arg, uint32_t section_name, const void *record);

/* Calls fn until it returns non-zero, which is returned; -EINVAL when the data is malformed. */
int xdpvm_btf_ext_each(const struct xdpvm_elf *elf, enum xdpvm_btf_ext_kind kind,
		       size_t record_size, xdpvm_btf_ext_fn fn, void *arg);

#endif /* XDPVM_ELF_FILE_H */
