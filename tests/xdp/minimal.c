/* SPDX-License-Identifier: BSD-3-Clause */
/* See minimal.h. */
#include <stddef.h>
#include <string.h>

#include "minimal.h"
#include "raw.h"

#define INFO(kind, vlen) ((uint32_t)(kind) << 24 | (vlen))

/* The offset of a string in a table, where it is put if it is not there yet. */
static uint32_t
add_string(char *table, size_t size, const char *string)
{
	uint32_t at = 1;

	while (at < size && table[at] != '\0' && strcmp(table + at, string) != 0)
		at += strlen(table + at) + 1;
	memcpy(table + at, string, strlen(string) + 1);
	return at;
}

static void
make_section(struct minimal *minimal, enum minimal_section section, const char *name,
	     uint32_t type, size_t offset, size_t size)
{
	minimal->sections[section] = (Elf64_Shdr){
		.sh_name = add_string(minimal->names, sizeof(minimal->names), name),
		.sh_type = type, .sh_offset = offset, .sh_size = size, .sh_addralign = 8,
	};
}

#define PLACE(member) offsetof(struct minimal, member), sizeof(((struct minimal *)0)->member)

static void
make_elf(struct minimal *minimal)
{
	Elf64_Shdr *sections = minimal->sections;

	minimal->header = (Elf64_Ehdr){
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_REL, .e_machine = EM_BPF, .e_version = EV_CURRENT,
		.e_shoff = offsetof(struct minimal, sections), .e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr), .e_shnum = SECTIONS, .e_shstrndx = NAMES,
	};
	make_section(minimal, NAMES, ".strtab", SHT_STRTAB, PLACE(names));
	make_section(minimal, SYMBOLS, ".symtab", SHT_SYMTAB, PLACE(symbols));
	make_section(minimal, CODE, "xdp", SHT_PROGBITS, PLACE(code));
	make_section(minimal, CODE_RELOCATIONS, ".relxdp", SHT_REL, PLACE(relocations));
	make_section(minimal, TEXT, ".text", SHT_PROGBITS, PLACE(text));
	make_section(minimal, MAPS, ".maps", SHT_PROGBITS, PLACE(maps));
	make_section(minimal, LICENSE, "license", SHT_PROGBITS, PLACE(license));
	make_section(minimal, BTF, ".BTF", SHT_PROGBITS, PLACE(btf));
	make_section(minimal, BTF_EXT, ".BTF.ext", SHT_PROGBITS, PLACE(btf_ext));
	sections[SYMBOLS].sh_entsize = sizeof(Elf64_Sym);
	sections[SYMBOLS].sh_link = NAMES;
	sections[CODE].sh_flags = sections[TEXT].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	sections[CODE_RELOCATIONS].sh_entsize = sizeof(Elf64_Rel);
	sections[CODE_RELOCATIONS].sh_link = SYMBOLS;
	sections[CODE_RELOCATIONS].sh_info = CODE;
}

static void
make_symbol(struct minimal *minimal, enum minimal_symbol symbol, const char *name, uint8_t type,
	    enum minimal_section section)
{
	minimal->symbols[symbol] = (Elf64_Sym){
		.st_name = add_string(minimal->names, sizeof(minimal->names), name),
		.st_info = ELF64_ST_INFO(STB_GLOBAL, type), .st_shndx = section,
		.st_size = minimal->sections[section].sh_size,
	};
}

static void
make_code(struct minimal *minimal)
{
	const struct bpf_insn code[] = {
		ST(BPF_W, BPF_REG_10, -4, 0),
		LD64(BPF_REG_1, 0),
		ALU64_X(BPF_MOV, BPF_REG_2, BPF_REG_10),
		ALU64_K(BPF_ADD, BPF_REG_2, -4),
		CALL(BPF_FUNC_map_lookup_elem),
		CALL_FUNCTION(-1),
		EXIT(),
	};
	const struct bpf_insn text[] = { ALU64_K(BPF_MOV, BPF_REG_0, XDP_PASS), EXIT() };

	memcpy(minimal->code, code, sizeof(code));
	memcpy(minimal->text, text, sizeof(text));
	make_symbol(minimal, PROGRAM, "program", STT_FUNC, CODE);
	make_symbol(minimal, FUNCTION, "function", STT_FUNC, TEXT);
	make_symbol(minimal, MAP, "map", STT_OBJECT, MAPS);
	/* R_BPF_64_64 and R_BPF_64_32: Documentation/bpf/llvm_reloc.rst */
	minimal->relocations[0] = (Elf64_Rel){ 1 * sizeof(code[0]), ELF64_R_INFO(MAP, 1) };
	minimal->relocations[1] = (Elf64_Rel){ 6 * sizeof(code[0]), ELF64_R_INFO(FUNCTION, 10) };
	memcpy(minimal->license, "GPL", sizeof("GPL"));
}

static void
make_number(struct minimal_number *number, uint32_t id, uint32_t value)
{
	number->type.info = INFO(BTF_KIND_ARRAY, 0);
	number->array = (struct btf_array){ INT, INT, value };
	number->pointer = (struct btf_type){ 0, INFO(BTF_KIND_PTR, 0), { .type = id } };
}

static void
make_map_types(struct minimal *minimal)
{
	static const struct {
		const char *name;
		uint32_t type;
	} members[] = {
		{ "type", TYPE }, { "key_size", SIZE }, { "value_size", SIZE },
		{ "max_entries", ENTRIES },
	};

	make_number(&minimal->btf.map_type, ARRAY_TYPE, BPF_MAP_TYPE_ARRAY);
	make_number(&minimal->btf.size, ARRAY_SIZE, sizeof(uint32_t));
	make_number(&minimal->btf.entries, ARRAY_ENTRIES, 1);
	minimal->btf.definition.type = (struct btf_type){
		0, INFO(BTF_KIND_STRUCT, 4), { .size = sizeof(minimal->maps) } };
	for (uint32_t i = 0; i < 4; i++)
		minimal->btf.definition.members[i] = (struct btf_member){
			add_string(minimal->btf.strings, sizeof(minimal->btf.strings),
				   members[i].name),
			members[i].type, i * 64 };
}

static void
make_btf(struct minimal *minimal)
{
	char *strings = minimal->btf.strings;
	const size_t size = sizeof(minimal->btf.strings), head = sizeof(minimal->btf.header);

	minimal->btf.header = (struct btf_header){
		.magic = BTF_MAGIC, .version = BTF_VERSION, .hdr_len = head,
		.type_len = sizeof(minimal->btf) - head - size,
		.str_off = sizeof(minimal->btf) - head - size, .str_len = size,
	};
	minimal->btf.integer.type = (struct btf_type){
		add_string(strings, size, "int"), INFO(BTF_KIND_INT, 0), { .size = 4 } };
	minimal->btf.integer.encoding = BTF_INT_SIGNED << 24 | 32;
	make_map_types(minimal);
	minimal->btf.variable.type = (struct btf_type){
		add_string(strings, size, "map"), INFO(BTF_KIND_VAR, 0), { .type = DEFINITION } };
	minimal->btf.variable.var.linkage = BTF_VAR_GLOBAL_ALLOCATED;
	minimal->btf.section.type = (struct btf_type){
		add_string(strings, size, ".maps"), INFO(BTF_KIND_DATASEC, 1), { .size = 0 } };
	minimal->btf.section.info[0] = (struct btf_var_secinfo){ VARIABLE, 0, sizeof(minimal->maps) };
	minimal->btf.prototype = (struct btf_type){ 0, INFO(BTF_KIND_FUNC_PROTO, 0), { .type = INT } };
	minimal->btf.program = (struct btf_type){
		add_string(strings, size, "program"), INFO(BTF_KIND_FUNC, BTF_FUNC_GLOBAL),
		{ .type = PROTOTYPE } };
	minimal->btf.function = (struct btf_type){
		add_string(strings, size, "function"), INFO(BTF_KIND_FUNC, BTF_FUNC_GLOBAL),
		{ .type = PROTOTYPE } };
}

/* The CO-RE record is there, but the header says that it is not: only a kernel could serve it. */
static void
make_btf_ext(struct minimal *minimal)
{
	char *strings = minimal->btf.strings;
	const size_t size = sizeof(minimal->btf.strings);
	uint32_t xdp = add_string(strings, size, "xdp"), text = add_string(strings, size, ".text");
	uint32_t line = add_string(strings, size, "m.c"), at = sizeof(minimal->btf_ext.functions);

	minimal->btf_ext.magic = BTF_MAGIC;
	minimal->btf_ext.version = BTF_VERSION;
	minimal->btf_ext.hdr_len = 32;
	minimal->btf_ext.func_len = at;
	minimal->btf_ext.line_off = at;
	minimal->btf_ext.line_len = sizeof(minimal->btf_ext.lines);
	minimal->btf_ext.relo_off = at + sizeof(minimal->btf_ext.lines);
	minimal->btf_ext.functions.record_size = sizeof(struct bpf_func_info);
	minimal->btf_ext.functions.section_name = xdp;
	minimal->btf_ext.functions.count = minimal->btf_ext.functions.text_count = 1;
	minimal->btf_ext.functions.record = (struct bpf_func_info){ 0, PROGRAM_FUNC };
	minimal->btf_ext.functions.text_name = text;
	minimal->btf_ext.functions.text_record = (struct bpf_func_info){ 0, FUNCTION_FUNC };
	minimal->btf_ext.lines.record_size = sizeof(struct bpf_line_info);
	minimal->btf_ext.lines.section_name = xdp;
	minimal->btf_ext.lines.count = 2;
	minimal->btf_ext.lines.records[0] = (struct bpf_line_info){ 0, line, line, 1 << 10 };
	minimal->btf_ext.lines.records[1] = (struct bpf_line_info){ 8, line, line, 2 << 10 };
	minimal->btf_ext.lines.text_name = text;
	minimal->btf_ext.lines.text_count = 1;
	minimal->btf_ext.lines.text_record = (struct bpf_line_info){ 0, line, line, 3 << 10 };
	minimal->btf_ext.relos.record_size = sizeof(struct bpf_core_relo);
	minimal->btf_ext.relos.section_name = xdp;
	minimal->btf_ext.relos.count = 1;
	minimal->btf_ext.relos.record = (struct bpf_core_relo){ 0, INT, line, BPF_CORE_TYPE_SIZE };
}

void
minimal_make(struct minimal *minimal)
{
	memset(minimal, 0, sizeof(*minimal));
	make_elf(minimal);
	make_code(minimal);
	make_btf(minimal);
	make_btf_ext(minimal);
}
