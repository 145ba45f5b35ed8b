/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which source line an instruction comes from. BTF knows lines by section and offset; the linker
 * moved functions of other sections behind the program, so each linked function is found again in
 * the file by its length and its instructions' fixed fields.
 */
#include <stdlib.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "elf_file.h"
#include "object.h"

struct collector {
	struct xdpvm_prog *prog;
	const struct btf *btf;
	const struct xdpvm_elf *elf;
	struct xdpvm_elf_function function;
	const char *section;
	uint32_t start;		/* where the function lies in the linked program */
};

/* Linking changes immediate values and source registers of calls and loads, nothing else. */
static bool
same_code(const struct xdpvm_elf *elf, const struct xdpvm_elf_function *function,
	  const struct bpf_insn *linked)
{
	const struct bpf_insn *insns = (const void *)xdpvm_elf_bytes(elf, function->section).at;

	insns += function->insn;
	for (uint32_t i = 0; i < function->n_insns; i++)
		if (insns[i].code != linked[i].code || insns[i].dst_reg != linked[i].dst_reg ||
		    insns[i].off != linked[i].off)
			return false;
	return true;
}

static bool
find_function(struct collector *collector, const struct xdpvm_subprog *subprog)
{
	const struct xdpvm_prog *prog = collector->prog;
	struct xdpvm_elf_function *function = &collector->function;

	for (uint32_t i = 0; i < collector->elf->n_symbols; i++) {
		if (!xdpvm_elf_function(collector->elf, i, function) ||
		    function->n_insns != subprog->end - subprog->start)
			continue;
		if (subprog->start == 0 && strcmp(function->name, prog->name) != 0)
			continue;
		if (!same_code(collector->elf, function, prog->insns + subprog->start))
			continue;
		collector->section = xdpvm_elf_section_name(collector->elf, function->section);
		return true;
	}
	return false;
}

static int
add_line(void *arg, uint32_t section_name, const void *record)
{
	struct collector *collector = arg;
	struct xdpvm_prog *prog = collector->prog;
	const struct bpf_line_info *info = record;
	uint32_t insn = info->insn_off / sizeof(struct bpf_insn) - collector->function.insn;
	struct xdpvm_line *lines;

	if (insn >= collector->function.n_insns ||
	    strcmp(btf__str_by_offset(collector->btf, section_name), collector->section) != 0)
		return 0;
	lines = realloc(prog->lines, (prog->n_lines + 1) * sizeof(*lines));
	if (lines == NULL)
		return -ENOMEM;
	prog->lines = lines;
	lines[prog->n_lines++] = (struct xdpvm_line){
		.insn = collector->start + insn,
		.line = BPF_LINE_INFO_LINE_NUM(info->line_col),
		.file = btf__str_by_offset(collector->btf, info->file_name_off),
		.text = btf__str_by_offset(collector->btf, info->line_off),
	};
	return 0;
}

static int
compare_lines(const void *a, const void *b)
{
	const struct xdpvm_line *left = a, *right = b;

	return left->insn < right->insn ? -1 : left->insn > right->insn;
}

void
xdpvm_prog_lines(struct xdpvm_prog *prog)
{
	struct xdpvm_object *object = prog->object;
	struct collector collector = { .prog = prog, .btf = bpf_object__btf(object->bpf) };
	struct xdpvm_elf elf;

	if (collector.btf == NULL)
		return;
	xdpvm_elf_open(&elf, object->image);
	collector.elf = &elf;
	for (uint32_t i = 0; i < prog->n_subprogs; i++) {
		collector.start = prog->subprogs[i].start;
		if (find_function(&collector, &prog->subprogs[i]))
			xdpvm_btf_ext_each(&elf, XDPVM_BTF_EXT_LINES, add_line, &collector);
	}
	if (prog->n_lines > 0)
		qsort(prog->lines, prog->n_lines, sizeof(*prog->lines), compare_lines);
}

const struct xdpvm_line *
xdpvm_prog_line(const struct xdpvm_prog *prog, uint32_t insn)
{
	const struct xdpvm_line *line = NULL;

	for (uint32_t i = 0; i < prog->n_lines && prog->lines[i].insn <= insn; i++)
		line = &prog->lines[i];
	return line;
}

bool
xdpvm_prog_source(const struct xdpvm_prog *prog, uint32_t insn, struct xdpvm_source *source)
{
	const struct xdpvm_line *line = xdpvm_prog_line(prog, insn);

	if (line == NULL)
		return false;
	*source = (struct xdpvm_source){
		.file = line->file, .text = line->text, .line = line->line,
		.first = line->insn == insn,
	};
	return true;
}
