/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ELF file: header, sections, strings, symbols (System V ABI, "Object Files"; names and numbers
 * from elf.h). See object_check.h.
 */
#include <ctype.h>
#include <stdlib.h>

#include "object_check.h"

#define GLOBALS_MAX (64u << 20)	/* bytes of a section that the file does not hold (.bss) */
#define NAME_BYTES 512	/* Linux: KSYM_NAME_LEN */

bool
xdpvm_is_identifier(const char *name)
{
	size_t n = strnlen(name, NAME_BYTES);

	if (n == 0 || n == NAME_BYTES || isdigit((unsigned char)name[0]))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && strchr("_.$", name[i]) == NULL)
			return false;
	return true;
}

static bool
is_printable(const char *name)
{
	for (; *name != '\0'; name++)
		if (!isprint((unsigned char)*name))
			return false;
	return true;
}

/* NULL, or why the header is not one of a BPF object for this machine. */
static const char *
header_fault(const Elf64_Ehdr *header, size_t size)
{
	const uint8_t data = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;

	if (size < sizeof(*header) || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
		return "it does not begin with an ELF header";
	if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != data ||
	    header->e_ident[EI_VERSION] != EV_CURRENT || header->e_version != EV_CURRENT)
		return "it is no 64-bit ELF file of this machine's byte order";
	/* Old compilers leave e_machine empty. */
	if (header->e_type != ET_REL ||
	    (header->e_machine != EM_BPF && header->e_machine != EM_NONE))
		return "it is no relocatable file for BPF";
	if (header->e_shnum < 2 || header->e_shnum > XDPVM_SECTIONS_MAX)
		return "its number of sections is not in 2 to 1024";
	if (header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shoff % sizeof(uint64_t) != 0 ||
	    header->e_shoff > size || header->e_shnum > (size - header->e_shoff) / sizeof(Elf64_Shdr))
		return "its table of sections is not inside the file";
	if (((const Elf64_Shdr *)((const uint8_t *)header + header->e_shoff))->sh_size != 0)
		return "its section 0 is not empty";
	if (header->e_shstrndx == 0 || header->e_shstrndx >= header->e_shnum)
		return "its section names are in a section that does not exist";
	return NULL;
}

/* NULL, or why a section's contents cannot be read. */
static const char *
extent_fault(const Elf64_Shdr *section, size_t size)
{
	if (section->sh_flags & SHF_COMPRESSED)
		return "it is compressed";
	if (section->sh_type == SHT_NULL)
		return NULL;
	if (section->sh_type == SHT_NOBITS)
		return section->sh_size > GLOBALS_MAX ? "it is larger than 64 MiB" : NULL;
	if (section->sh_offset > size || section->sh_size > size - section->sh_offset)
		return "it reaches over the end of the file";
	return NULL;
}

/* NULL, or why a section is no string table. */
static const char *
strings_fault(const Elf64_Shdr *section, const uint8_t *image)
{
	if (section->sh_type != SHT_STRTAB)
		return "it should hold strings and does not";
	if (section->sh_size == 0 || image[section->sh_offset + section->sh_size - 1] != '\0')
		return "its last string does not end";
	return NULL;
}

/* NULL, or why a section is no table of symbols with names. */
static const char *
symbols_fault(const Elf64_Ehdr *header, const Elf64_Shdr *section, const uint8_t *image)
{
	const Elf64_Shdr *sections = (const void *)(image + header->e_shoff);

	if (section->sh_entsize != sizeof(Elf64_Sym) || section->sh_size % sizeof(Elf64_Sym) != 0 ||
	    section->sh_offset % sizeof(uint64_t) != 0)
		return "it is no table of symbols: size, offset or entry size";
	if (section->sh_size / sizeof(Elf64_Sym) > XDPVM_SYMBOLS_MAX)
		return "it has more than 65536 symbols";
	if (section->sh_link == 0 || section->sh_link >= header->e_shnum)
		return "its names are in a section that does not exist";
	return strings_fault(&sections[section->sh_link], image);
}

/* Contents that libbpf reads by the section's name. */
static const char *
known_section_fault(const Elf64_Shdr *section, const uint8_t *image, const char *name)
{
	static const struct {
		const char *name;
		uint32_t align;		/* bytes, of what is in it */
	} known[] = { { ".BTF", 4 }, { ".BTF.ext", 4 }, { ".maps", 8 }, { "license", 1 },
		      { "version", 4 } };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(known[i].name, name) != 0)
			continue;
		if (section->sh_type != SHT_PROGBITS)
			return "it is of a type that it cannot have";
		if (section->sh_offset % known[i].align != 0)
			return "it is not aligned in the file";
	}
	if (strcmp(name, "license") == 0 &&
	    memchr(image + section->sh_offset, '\0', section->sh_size) == NULL)
		return "the licence does not end";
	return NULL;
}

/* Section names, which the sentences about sections need. */
static int
check_names(const struct xdpvm_object *object)
{
	const Elf64_Ehdr *header = object->image;
	const uint8_t *image = object->image;
	const Elf64_Shdr *sections = (const void *)(image + header->e_shoff);
	const Elf64_Shdr *names = &sections[header->e_shstrndx];
	const char *fault = extent_fault(names, object->image_size);

	if (fault == NULL)
		fault = strings_fault(names, image);
	if (fault != NULL)
		return xdpvm_fail(object, -EINVAL, "section %u, the names of sections: %s",
				  header->e_shstrndx, fault);
	for (uint32_t i = 0; i < header->e_shnum; i++)
		if (sections[i].sh_name >= names->sh_size ||
		    !is_printable((const char *)image + names->sh_offset + sections[i].sh_name))
			return xdpvm_fail(object, -EINVAL, "section %u: its name is outside the names "
					  "or not printable", i);
	return 0;
}

/* After this the accessors of elf_file.h can be used. */
static int
check_tables(const struct xdpvm_object *object)
{
	const Elf64_Ehdr *header = object->image;
	const uint8_t *image = object->image;
	const Elf64_Shdr *sections = (const void *)(image + header->e_shoff);
	const char *names = (const char *)image + sections[header->e_shstrndx].sh_offset;
	uint32_t symbol_tables = 0;
	const char *fault = NULL;

	for (uint32_t i = 1; i < header->e_shnum; i++) {
		fault = extent_fault(&sections[i], object->image_size);
		if (fault != NULL)
			return xdpvm_fail(object, -EINVAL, "section %s: %s", names + sections[i].sh_name,
					  fault);
	}
	for (uint32_t i = 1; i < header->e_shnum; i++) {
		if (sections[i].sh_type != SHT_SYMTAB)
			continue;
		fault = symbols_fault(header, &sections[i], image);
		if (fault != NULL || symbol_tables++ != 0)
			return xdpvm_fail(object, -EINVAL, "section %s: %s", names + sections[i].sh_name,
					  fault != NULL ? fault : "it is a second table of symbols");
	}
	return symbol_tables != 0 ? 0 : xdpvm_fail(object, -EINVAL, "has no table of symbols");
}

static int
check_section(const struct xdpvm_object *object, const struct xdpvm_elf *elf, uint32_t i)
{
	const char *name = xdpvm_elf_section_name(elf, i);
	const char *fault = known_section_fault(&elf->sections[i], elf->image, name);

	if (fault != NULL)
		return xdpvm_fail(object, -EINVAL, "section %s: %s", name, fault);
	if (strcmp(name, "maps") == 0)
		return xdpvm_fail(object, -ENOTSUP, "its maps are in a legacy \"maps\" section; "
				  "only maps that BTF describes (SEC(\".maps\")) are supported");
	if (strcmp(name, ".struct_ops") == 0)
		return xdpvm_fail(object, -ENOTSUP, "section %s: operations of the kernel, which a "
				  "program in user space cannot provide", name);
	for (uint32_t j = 1; j < i; j++)
		if (strcmp(name, xdpvm_elf_section_name(elf, j)) == 0)
			return xdpvm_fail(object, -EINVAL, "section %s: there are two of that name",
					  name);
	return 0;
}

static int
check_symbol(const struct xdpvm_object *object, const struct xdpvm_elf *elf, uint32_t i,
	     uint64_t names_size)
{
	const Elf64_Sym *symbol = &elf->symbols[i];

	if (symbol->st_name >= names_size)
		return xdpvm_fail(object, -EINVAL, "symbol %u: its name is outside the names", i);
	if (!is_printable(xdpvm_elf_symbol_name(elf, i)))
		return xdpvm_fail(object, -EINVAL, "symbol %u: its name is not printable", i);
	if (symbol->st_shndx >= elf->n_sections && symbol->st_shndx < SHN_LORESERVE)
		return xdpvm_fail(object, -EINVAL, "symbol %u (%s): it is in section %u, which does "
				  "not exist", i, xdpvm_elf_symbol_name(elf, i), symbol->st_shndx);
	return 0;
}

static int
check_contents(const struct xdpvm_object *object, const struct xdpvm_elf *elf)
{
	uint64_t names_size = 0;
	int ret = 0;

	for (uint32_t i = 1; i < elf->n_sections && ret == 0; i++) {
		if (elf->sections[i].sh_type == SHT_SYMTAB)
			names_size = elf->sections[elf->sections[i].sh_link].sh_size;
		ret = check_section(object, elf, i);
	}
	for (uint32_t i = 0; i < elf->n_symbols && ret == 0; i++)
		ret = check_symbol(object, elf, i, names_size);
	return ret;
}

static int
check_btf(const struct xdpvm_object *object, const struct xdpvm_elf *elf)
{
	struct xdpvm_btf_view btf = { 0 };
	int ret = xdpvm_btf_check(object, elf, &btf);

	if (ret == 0)
		ret = xdpvm_btf_check_vars(object, elf, &btf);
	if (ret == 0)
		ret = xdpvm_btf_ext_check(object, elf, &btf);
	free(btf.offsets);
	return ret;
}

int
xdpvm_object_check(const struct xdpvm_object *object)
{
	const char *fault = header_fault(object->image, object->image_size);
	struct xdpvm_elf elf;
	int ret;

	if (fault != NULL)
		return xdpvm_fail(object, -EINVAL, "is no BPF object: %s", fault);
	ret = check_names(object);
	if (ret == 0)
		ret = check_tables(object);
	if (ret != 0)
		return ret;
	xdpvm_elf_open(&elf, object->image);
	ret = check_contents(object, &elf);
	if (ret == 0)
		ret = xdpvm_code_check(object, &elf);
	if (ret == 0)
		ret = check_btf(object, &elf);
	return ret;
}
