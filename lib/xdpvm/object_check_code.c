/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions and relocations. libbpf copies a function by its symbol, writes both halves of a wide
 * load that has a relocation, and puts functions of .text behind each program that calls them.
 */
#include <stdlib.h>

#include "object_check.h"

#define INSN_BYTES sizeof(struct bpf_insn)

/* A section with instructions, while it is looked at. */
struct code {
	const struct xdpvm_object *object;
	const struct xdpvm_elf *elf;
	const char *name;
	uint32_t section;
	uint32_t n_insns;
	const struct bpf_insn *insns;
	bool *relocated;		/* by instruction */
	bool *taken;			/* by instruction: some function has it */
};

static int
check_relocation(const struct code *code, const Elf64_Rel *relocation, uint32_t i)
{
	uint64_t insn = relocation->r_offset / INSN_BYTES;

	if (relocation->r_offset % INSN_BYTES != 0 || insn >= code->n_insns)
		return xdpvm_fail(code->object, -EINVAL, "section %s: relocation %u is at offset "
				  "%llu, where no instruction begins", code->name, i,
				  (unsigned long long)relocation->r_offset);
	if (code->relocated[insn])
		return xdpvm_fail(code->object, -EINVAL, "section %s: relocation %u is the second of "
				  "instruction %llu", code->name, i, (unsigned long long)insn);
	code->relocated[insn] = true;
	return 0;
}

static int
check_relocations(const struct code *code)
{
	uint32_t count;
	const Elf64_Rel *relocations = xdpvm_elf_relocations(code->elf, code->section, &count);
	int ret = 0;

	for (uint32_t i = 0; i < count && ret == 0; i++)
		ret = check_relocation(code, &relocations[i], i);
	return ret;
}

/*
 * The linker finds functions in .text. A call there may go without a relocation; from elsewhere it
 * needs one. A function that is alone in .text counts as a program, and must not call itself.
 */
static int
check_call(const struct code *code, uint32_t i, uint32_t n_functions)
{
	bool text = strcmp(code->name, ".text") == 0;

	if (!xdpvm_is_call(&code->insns[i], BPF_PSEUDO_CALL) || (text && n_functions > 1) ||
	    (!text && code->relocated[i]))
		return 0;
	return xdpvm_fail(code->object, -EINVAL, "section %s, instruction %u: it calls a function that "
			  "the file does not name", code->name, i);
}

static int
check_insns(const struct code *code, const struct xdpvm_elf_function *function,
	    uint32_t n_functions)
{
	uint32_t end = function->insn + function->n_insns;
	int ret = 0;

	for (uint32_t i = function->insn; i < end && ret == 0; i++) {
		ret = check_call(code, i, n_functions);
		if (!xdpvm_is_ld_imm64(&code->insns[i]))
			continue;
		if (++i == end || code->insns[i].code != 0)
			return xdpvm_fail(code->object, -EINVAL, "section %s, instruction %u: a wide "
					  "load without its second half", code->name, i - 1);
	}
	return ret;
}

static int
check_function(const struct code *code, uint32_t symbol, uint32_t n_functions)
{
	const Elf64_Sym *entry = &code->elf->symbols[symbol];
	uint64_t bytes = (uint64_t)code->n_insns * INSN_BYTES;
	struct xdpvm_elf_function function;

	xdpvm_elf_function(code->elf, symbol, &function);
	if (!xdpvm_is_identifier(function.name))
		return xdpvm_fail(code->object, -EINVAL, "section %s: symbol %u has no name that a "
				  "function can have", code->name, symbol);
	if (entry->st_value % INSN_BYTES != 0 || entry->st_size % INSN_BYTES != 0 ||
	    entry->st_size == 0 || entry->st_value > bytes ||
	    entry->st_size > bytes - entry->st_value)
		return xdpvm_fail(code->object, -EINVAL, "section %s: function %s (%llu bytes from "
				  "%llu) is not inside it", code->name, function.name,
				  (unsigned long long)entry->st_size,
				  (unsigned long long)entry->st_value);
	for (uint32_t i = 0; i < function.n_insns; i++) {
		if (code->taken[function.insn + i])
			return xdpvm_fail(code->object, -EINVAL, "section %s: function %s overlaps "
					  "another", code->name, function.name);
		code->taken[function.insn + i] = true;
	}
	return check_insns(code, &function, n_functions);
}

static int
check_functions(const struct code *code, uint32_t n_functions)
{
	struct xdpvm_elf_function function;
	int ret = 0;

	for (uint32_t i = 0; i < code->elf->n_symbols && ret == 0; i++)
		if (xdpvm_elf_function(code->elf, i, &function) &&
		    function.section == code->section)
			ret = check_function(code, i, n_functions);
	return ret;
}

static int
check_code(const struct xdpvm_object *object, const struct xdpvm_elf *elf, uint32_t section,
	   uint32_t n_functions)
{
	struct xdpvm_bytes bytes = xdpvm_elf_bytes(elf, section);
	struct code code = {
		.object = object, .elf = elf, .section = section,
		.name = xdpvm_elf_section_name(elf, section),
		.n_insns = bytes.size / INSN_BYTES, .insns = (const void *)bytes.at,
	};
	int ret;

	if (bytes.size % INSN_BYTES != 0 || elf->sections[section].sh_offset % INSN_BYTES != 0)
		return xdpvm_fail(object, -EINVAL, "section %s: it does not hold whole instructions",
				  code.name);
	code.relocated = calloc(code.n_insns + 1, sizeof(bool));
	code.taken = calloc(code.n_insns + 1, sizeof(bool));
	if (code.relocated != NULL && code.taken != NULL) {
		ret = check_relocations(&code);
		if (ret == 0)
			ret = check_functions(&code, n_functions);
	} else {
		ret = xdpvm_fail(object, -ENOMEM, "no memory");
	}
	free(code.relocated);
	free(code.taken);
	return ret;
}

/* Values in .maps: slots of 8 bytes that name maps or programs. */
static int
check_map_relocations(const struct xdpvm_object *object, const struct xdpvm_elf *elf)
{
	uint32_t count, section = xdpvm_elf_find(elf, ".maps");
	uint64_t size = elf->sections[section].sh_size;
	const Elf64_Rel *relocations = xdpvm_elf_relocations(elf, section, &count);

	for (uint32_t i = 0; i < count; i++)
		if (relocations[i].r_offset > size ||
		    size - relocations[i].r_offset < sizeof(uint64_t))
			return xdpvm_fail(object, -EINVAL, "section .maps: relocation %u is outside "
					  "it", i);
	return 0;
}

/* A table of relocations: of one section, one of its kind, to symbols that exist. */
static const char *
table_fault(const struct xdpvm_elf *elf, uint32_t i)
{
	const Elf64_Shdr *section = &elf->sections[i];
	const Elf64_Rel *relocations = (const void *)(elf->image + section->sh_offset);

	if (section->sh_entsize != sizeof(Elf64_Rel) || section->sh_size % sizeof(Elf64_Rel) != 0 ||
	    section->sh_offset % sizeof(uint64_t) != 0)
		return "it is no table of relocations: size, offset or entry size";
	if (section->sh_info == 0 || section->sh_info >= elf->n_sections)
		return "it is for a section that does not exist";
	if (section->sh_link >= elf->n_sections ||
	    elf->sections[section->sh_link].sh_type != SHT_SYMTAB)
		return "its symbols are in a section that holds none";
	for (uint32_t other = 1; other < i; other++)
		if (elf->sections[other].sh_type == SHT_REL &&
		    elf->sections[other].sh_info == section->sh_info)
			return "it is the second one of its section";
	for (uint64_t r = 0; r < section->sh_size / sizeof(Elf64_Rel); r++)
		if (ELF64_R_SYM(relocations[r].r_info) >= elf->n_symbols)
			return "it names a symbol that does not exist";
	return NULL;
}

static int
check_relocation_tables(const struct xdpvm_object *object, const struct xdpvm_elf *elf)
{
	const char *fault = NULL;

	for (uint32_t i = 1; i < elf->n_sections; i++) {
		if (elf->sections[i].sh_type == SHT_REL)
			fault = table_fault(elf, i);
		if (fault != NULL)
			return xdpvm_fail(object, -EINVAL, "section %s: %s",
					  xdpvm_elf_section_name(elf, i), fault);
	}
	return check_map_relocations(object, elf);
}

/*
 * Programs are found by name, also the one that a kernel has looked at: no name may stand for two.
 * Functions of .text are found by where they are.
 */
static int
check_program_name(const struct xdpvm_object *object, const struct xdpvm_elf *elf, uint32_t symbol,
		   uint32_t text)
{
	const char *name = xdpvm_elf_symbol_name(elf, symbol);
	struct xdpvm_elf_function other;

	for (uint32_t i = 0; i < symbol; i++)
		if (xdpvm_elf_function(elf, i, &other) && other.section != text &&
		    strcmp(other.name, name) == 0)
			return xdpvm_fail(object, -EINVAL, "symbol %u: there are two programs named "
					  "%s", symbol, name);
	return 0;
}

/* Counts functions, and refuses what the linker would copy too often. */
static int
count_functions(const struct xdpvm_object *object, const struct xdpvm_elf *elf, uint32_t *count)
{
	uint32_t text = xdpvm_elf_find(elf, ".text");
	uint64_t text_insns = elf->sections[text].sh_size / INSN_BYTES;
	struct xdpvm_elf_function function;
	uint32_t programs = 0;
	int ret = 0;

	*count = 0;
	for (uint32_t i = 0; i < elf->n_symbols && ret == 0; i++) {
		if (!xdpvm_elf_function(elf, i, &function))
			continue;
		if (++*count > XDPVM_FUNCTIONS_MAX)
			return xdpvm_fail(object, -E2BIG, "has more than %u functions",
					  XDPVM_FUNCTIONS_MAX);
		if (function.section == text)
			continue;
		programs++;
		ret = check_program_name(object, elf, i, text);
	}
	if (ret != 0)
		return ret;
	if (text_insns * programs > XDPVM_LINKED_MAX)
		return xdpvm_fail(object, -E2BIG, "section .text: %llu instructions for each of %u "
				  "programs are more than %u", (unsigned long long)text_insns,
				  programs, XDPVM_LINKED_MAX);
	return 0;
}

int
xdpvm_code_check(const struct xdpvm_object *object, const struct xdpvm_elf *elf)
{
	uint32_t n_functions = 0;
	int ret = check_relocation_tables(object, elf);

	if (ret == 0)
		ret = count_functions(object, elf, &n_functions);
	for (uint32_t i = 1; i < elf->n_sections && ret == 0; i++)
		if (xdpvm_elf_is_code(elf, i))
			ret = check_code(object, elf, i, n_functions);
	return ret;
}
