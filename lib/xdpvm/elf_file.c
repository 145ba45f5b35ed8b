/* SPDX-License-Identifier: BSD-3-Clause */
/* Sections, symbols and relocations of an object in memory. See elf_file.h. */
#include "elf_file.h"

static void
find_symbols(struct xdpvm_elf *elf)
{
	for (uint32_t i = 1; i < elf->n_sections; i++) {
		const Elf64_Shdr *section = &elf->sections[i];

		if (section->sh_type != SHT_SYMTAB)
			continue;
		elf->symbols = (const void *)(elf->image + section->sh_offset);
		elf->n_symbols = section->sh_size / sizeof(*elf->symbols);
		elf->symbol_names = (const char *)elf->image +
				    elf->sections[section->sh_link].sh_offset;
		return;
	}
}

void
xdpvm_elf_open(struct xdpvm_elf *elf, const void *image)
{
	const Elf64_Ehdr *header = image;

	*elf = (struct xdpvm_elf){ .image = image, .n_sections = header->e_shnum };
	elf->sections = (const void *)(elf->image + header->e_shoff);
	elf->names = (const char *)image + elf->sections[header->e_shstrndx].sh_offset;
	find_symbols(elf);
}

const char *
xdpvm_elf_section_name(const struct xdpvm_elf *elf, uint32_t section)
{
	return elf->names + elf->sections[section].sh_name;
}

uint32_t
xdpvm_elf_find(const struct xdpvm_elf *elf, const char *name)
{
	for (uint32_t i = 1; i < elf->n_sections; i++)
		if (strcmp(xdpvm_elf_section_name(elf, i), name) == 0)
			return i;
	return 0;
}

struct xdpvm_bytes
xdpvm_elf_bytes(const struct xdpvm_elf *elf, uint32_t section)
{
	const Elf64_Shdr *header = &elf->sections[section];

	if (section == 0 || header->sh_type == SHT_NOBITS || header->sh_size == 0)
		return (struct xdpvm_bytes){ 0 };
	return (struct xdpvm_bytes){ elf->image + header->sh_offset, header->sh_size };
}

bool
xdpvm_elf_is_code(const struct xdpvm_elf *elf, uint32_t section)
{
	const Elf64_Shdr *header = &elf->sections[section];

	return header->sh_type == SHT_PROGBITS && (header->sh_flags & SHF_EXECINSTR);
}

const char *
xdpvm_elf_symbol_name(const struct xdpvm_elf *elf, uint32_t symbol)
{
	return elf->symbol_names + elf->symbols[symbol].st_name;
}

bool
xdpvm_elf_function(const struct xdpvm_elf *elf, uint32_t i, struct xdpvm_elf_function *function)
{
	const Elf64_Sym *symbol = &elf->symbols[i];

	if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx >= elf->n_sections ||
	    !xdpvm_elf_is_code(elf, symbol->st_shndx))
		return false;
	*function = (struct xdpvm_elf_function){
		.name = xdpvm_elf_symbol_name(elf, i),
		.section = symbol->st_shndx,
		.insn = symbol->st_value / sizeof(struct bpf_insn),
		.n_insns = symbol->st_size / sizeof(struct bpf_insn),
	};
	return true;
}

const Elf64_Rel *
xdpvm_elf_relocations(const struct xdpvm_elf *elf, uint32_t target, uint32_t *count)
{
	*count = 0;
	for (uint32_t i = 1; i < elf->n_sections; i++) {
		const Elf64_Shdr *section = &elf->sections[i];

		if (section->sh_type != SHT_REL || section->sh_info != target)
			continue;
		*count = section->sh_size / sizeof(Elf64_Rel);
		return (const void *)(elf->image + section->sh_offset);
	}
	return NULL;
}
