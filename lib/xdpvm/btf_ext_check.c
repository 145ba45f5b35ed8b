/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * .BTF.ext: every record is for an instruction of a section of code, and its types and strings are
 * in .BTF. libbpf takes functions and lines to be in the order of the code.
 */
#include "object_check.h"

#define KIND_LAST BPF_CORE_ENUMVAL_VALUE	/* linux/bpf.h: enum bpf_core_relo_kind */

struct checker {
	const struct xdpvm_object *object;
	const struct xdpvm_elf *elf;
	const struct xdpvm_btf_view *btf;
	enum xdpvm_btf_ext_kind kind;
	uint32_t n_records;
	uint32_t section_name;		/* of the last record, in strings */
	uint32_t section_size;		/* bytes */
	uint32_t last;			/* offset of the last record's instruction */
};

static const char *const kind_names[XDPVM_BTF_EXT_KINDS] = {
	[XDPVM_BTF_EXT_FUNCS] = "function", [XDPVM_BTF_EXT_LINES] = "line",
	[XDPVM_BTF_EXT_RELOS] = "CO-RE",
};

static bool
is_string(const struct checker *checker, uint32_t offset)
{
	return offset < checker->btf->strings_size;
}

static const char *
contents_fault(const struct checker *checker, const void *record)
{
	const struct bpf_func_info *function = record;
	const struct bpf_line_info *line = record;
	const struct bpf_core_relo *relo = record;

	switch (checker->kind) {
	case XDPVM_BTF_EXT_FUNCS:
		return function->type_id <= checker->btf->n_types &&
		       btf_is_func(xdpvm_btf_view_type(checker->btf, function->type_id)) ?
		       NULL : "its type is no function";
	case XDPVM_BTF_EXT_LINES:
		return is_string(checker, line->file_name_off) && is_string(checker, line->line_off) ?
		       NULL : "its file or line is outside the strings of .BTF";
	default:
		if (relo->type_id > checker->btf->n_types)
			return "its type does not exist";
		return is_string(checker, relo->access_str_off) && relo->kind <= KIND_LAST ?
		       NULL : "its access or kind does not exist";
	}
}

/* At the first record of a section, whose name must be one of code. */
static const char *
enter_section(struct checker *checker, uint32_t name)
{
	uint32_t section;

	if (checker->n_records > 0 && name == checker->section_name)
		return NULL;
	if (!is_string(checker, name))
		return "its section's name is outside the strings of .BTF";
	section = xdpvm_elf_find(checker->elf, checker->btf->strings + name);
	if (section == 0 || !xdpvm_elf_is_code(checker->elf, section))
		return "it is for a section that holds no code";
	checker->section_name = name;
	checker->section_size = checker->elf->sections[section].sh_size;
	checker->last = UINT32_MAX;
	return NULL;
}

/* The first member of all kinds of records is an offset in bytes. */
static const char *
order_fault(struct checker *checker, uint32_t offset)
{
	if (offset % sizeof(struct bpf_insn) != 0 || offset >= checker->section_size)
		return "it is for no instruction of its section";
	if (checker->kind != XDPVM_BTF_EXT_RELOS && checker->last != UINT32_MAX &&
	    offset <= checker->last)
		return "it is not behind the one before it";
	checker->last = offset;
	return NULL;
}

static int
check_record(void *arg, uint32_t section_name, const void *record)
{
	struct checker *checker = arg;
	const char *fault = enter_section(checker, section_name);

	if (fault == NULL)
		fault = order_fault(checker, *(const uint32_t *)record);
	if (fault == NULL)
		fault = contents_fault(checker, record);
	if (fault == NULL && ++checker->n_records > XDPVM_RECORDS_MAX)
		fault = "there are too many";
	if (fault == NULL)
		return 0;
	xdpvm_fail(checker->object, -EINVAL, "section .BTF.ext: %s record %u: %s",
		   kind_names[checker->kind], checker->n_records, fault);
	return 1;
}

int
xdpvm_btf_ext_check(const struct xdpvm_object *object, const struct xdpvm_elf *elf,
		    const struct xdpvm_btf_view *btf)
{
	struct checker checker = { .object = object, .elf = elf, .btf = btf };
	int ret;

	if (btf->strings == NULL)
		return 0;	/* without .BTF nobody reads .BTF.ext */
	for (checker.kind = 0; checker.kind < XDPVM_BTF_EXT_KINDS; checker.kind++) {
		checker.n_records = 0;
		ret = xdpvm_btf_ext_each(elf, checker.kind, check_record, &checker);
		if (ret > 0)
			return -EINVAL;
		if (ret < 0)
			return xdpvm_fail(object, ret, "section .BTF.ext: its header or its %s "
					  "records are damaged", kind_names[checker.kind]);
	}
	return 0;
}
