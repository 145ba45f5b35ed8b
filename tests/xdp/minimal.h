/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The smallest object that has one of everything: a program that looks into a map and calls a
 * function of .text, their symbols, relocations and BTF. As a structure, so that a test can name
 * what it damages.
 */
#ifndef MINIMAL_H
#define MINIMAL_H

#include <elf.h>
#include <stdint.h>

#include <linux/bpf.h>
#include <linux/btf.h>

enum minimal_section {
	NO_SECTION,
	NAMES,
	SYMBOLS,
	CODE,
	CODE_RELOCATIONS,
	TEXT,
	MAPS,
	LICENSE,
	BTF,
	BTF_EXT,
	SECTIONS,
};

enum minimal_symbol {
	NO_SYMBOL,
	PROGRAM,
	FUNCTION,
	MAP,
	N_SYMBOLS,
};

/* Types, by their numbers. */
enum minimal_type {
	VOID,
	INT,
	ARRAY_TYPE,	/* int[N]: the number N */
	TYPE,		/* a pointer to it, as __uint() makes them */
	ARRAY_SIZE,
	SIZE,		/* of key and value */
	ARRAY_ENTRIES,
	ENTRIES,
	DEFINITION,
	VARIABLE,
	SECTION,
	PROTOTYPE,
	PROGRAM_FUNC,
	FUNCTION_FUNC,
	N_TYPES,
};

struct minimal_number {
	struct btf_type type;
	struct btf_array array;
	struct btf_type pointer;
};

struct minimal {
	Elf64_Ehdr header;
	Elf64_Shdr sections[SECTIONS];
	Elf64_Sym symbols[N_SYMBOLS];
	struct bpf_insn code[8];
	Elf64_Rel relocations[2];
	struct bpf_insn text[2];
	uint64_t maps[4];
	char names[96];
	char license[8];
	struct {
		struct btf_header header;
		struct { struct btf_type type; uint32_t encoding; } integer;
		struct minimal_number map_type, size, entries;
		struct { struct btf_type type; struct btf_member members[4]; } definition;
		struct { struct btf_type type; struct btf_var var; } variable;
		struct { struct btf_type type; struct btf_var_secinfo info[1]; } section;
		struct btf_type prototype;
		struct btf_type program;
		struct btf_type function;
		char strings[96];
	} btf;
	struct {
		uint16_t magic;
		uint8_t version;
		uint8_t flags;
		uint32_t hdr_len;
		uint32_t func_off, func_len, line_off, line_len, relo_off, relo_len;
		struct {
			uint32_t record_size;
			uint32_t section_name, count;
			struct bpf_func_info record;
			uint32_t text_name, text_count;
			struct bpf_func_info text_record;
		} functions;
		struct {
			uint32_t record_size;
			uint32_t section_name, count;
			struct bpf_line_info records[2];
			uint32_t text_name, text_count;
			struct bpf_line_info text_record;
		} lines;
		struct {
			uint32_t record_size;
			uint32_t section_name, count;
			struct bpf_core_relo record;
		} relos;
	} btf_ext;
};

/* Fills it in; it loads with every verify mode, and its program answers XDP_PASS. */
void minimal_make(struct minimal *minimal);

#endif /* MINIMAL_H */
