/* SPDX-License-Identifier: BSD-3-Clause */
/* Sections, symbols and relocations of an object in memory. See elf_file.h. */
#include "elf_file.h"

static void
find_symbols(struct xdpvm_elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf->elf, section)) != NULL) {
		if (gelf_getshdr(section, &header) == NULL || header.sh_type != SHT_SYMTAB ||
		    header.sh_entsize == 0)
			continue;
		elf->symbols = elf_getdata(section, NULL);
		elf->symbol_names = header.sh_link;
		elf->n_symbols = elf->symbols != NULL ?
				 elf->symbols->d_size / header.sh_entsize : 0;
		return;
	}
}

int
xdpvm_elf_open(struct xdpvm_elf *elf, void *image, size_t size)
{
	*elf = (struct xdpvm_elf){ 0 };
	if (elf_version(EV_CURRENT) == EV_NONE)
		return -EINVAL;
	elf->elf = elf_memory(image, size);
	if (elf->elf == NULL || gelf_getclass(elf->elf) != ELFCLASS64 ||
	    elf_getshdrstrndx(elf->elf, &elf->names) != 0) {
		xdpvm_elf_close(elf);
		return -EINVAL;
	}
	find_symbols(elf);
	return 0;
}

void
xdpvm_elf_close(struct xdpvm_elf *elf)
{
	elf_end(elf->elf);
	elf->elf = NULL;
}

const char *
xdpvm_elf_section_name(const struct xdpvm_elf *elf, size_t index)
{
	Elf_Scn *section = elf_getscn(elf->elf, index);
	GElf_Shdr header;

	if (section == NULL || gelf_getshdr(section, &header) == NULL)
		return NULL;
	return elf_strptr(elf->elf, elf->names, header.sh_name);
}

Elf_Data *
xdpvm_elf_section(const struct xdpvm_elf *elf, const char *name, size_t *index)
{
	Elf_Scn *section = NULL;
	const char *found;

	while ((section = elf_nextscn(elf->elf, section)) != NULL) {
		found = xdpvm_elf_section_name(elf, elf_ndxscn(section));
		if (found == NULL || strcmp(found, name) != 0)
			continue;
		if (index != NULL)
			*index = elf_ndxscn(section);
		return elf_getdata(section, NULL);
	}
	return NULL;
}

const char *
xdpvm_elf_symbol(const struct xdpvm_elf *elf, size_t i, GElf_Sym *symbol)
{
	if (i >= elf->n_symbols || gelf_getsym(elf->symbols, i, symbol) == NULL)
		return NULL;
	return elf_strptr(elf->elf, elf->symbol_names, symbol->st_name);
}

bool
xdpvm_elf_function(const struct xdpvm_elf *elf, size_t i, struct xdpvm_elf_function *function)
{
	GElf_Sym symbol;

	function->name = xdpvm_elf_symbol(elf, i, &symbol);
	if (function->name == NULL || GELF_ST_TYPE(symbol.st_info) != STT_FUNC)
		return false;
	function->section = symbol.st_shndx;
	function->insn = symbol.st_value / sizeof(struct bpf_insn);
	function->n_insns = symbol.st_size / sizeof(struct bpf_insn);
	return true;
}

Elf_Data *
xdpvm_elf_relocations(const struct xdpvm_elf *elf, size_t target, size_t *count)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	Elf_Data *data;

	while ((section = elf_nextscn(elf->elf, section)) != NULL) {
		if (gelf_getshdr(section, &header) == NULL || header.sh_type != SHT_REL ||
		    header.sh_info != target || header.sh_entsize == 0)
			continue;
		data = elf_getdata(section, NULL);
		*count = data != NULL ? data->d_size / header.sh_entsize : 0;
		return data;
	}
	return NULL;
}
