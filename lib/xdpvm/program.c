/* SPDX-License-Identifier: BSD-3-Clause */
/* A program's life: from libbpf's linked instructions to something that runs. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "object.h"
#include "tag.h"

struct xdpvm_prog *
xdpvm_prog_new(struct xdpvm_object *object, const struct bpf_program *bpf)
{
	struct xdpvm_prog *prog = calloc(1, sizeof(*prog));

	if (prog == NULL)
		return NULL;
	prog->object = object;
	prog->fd = -1;
	prog->name = strdup(bpf_program__name(bpf));
	prog->section = strdup(bpf_program__section_name(bpf));
	if (prog->name == NULL || prog->section == NULL) {
		xdpvm_prog_free(prog);
		return NULL;
	}
	return prog;
}

void
xdpvm_prog_free(struct xdpvm_prog *prog)
{
	xdpvm_jit_free(prog);
	free(prog->stats);
	free(prog->lines);
	free(prog->keys);
	free(prog->subprogs);
	free(prog->info);
	free(prog->original);
	free(prog->insns);
	free(prog->section);
	free(prog->name);
	free(prog);
}

static int
set_tag(struct xdpvm_prog *prog)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);

	if (prog->fd < 0 || bpf_obj_get_info_by_fd(prog->fd, &info, &size) != 0)
		return xdpvm_tag(prog->insns, prog->n_insns, prog->tag);
	memcpy(prog->tag, info.tag, XDPVM_TAG_SIZE);
	return 0;
}

static int
copy_insns(struct xdpvm_prog *prog)
{
	const struct bpf_program *bpf;
	size_t size;

	bpf = bpf_object__find_program_by_name(prog->object->bpf, prog->name);
	if (bpf == NULL || bpf_program__insn_cnt(bpf) == 0)
		return xdpvm_fail(prog->object, -EINVAL, "program %s is empty", prog->name);
	prog->n_insns = bpf_program__insn_cnt(bpf);
	if (prog->n_insns > XDPVM_MAX_INSNS)
		return xdpvm_fail(prog->object, -E2BIG,
				  "program %s has %u instructions, more than %u", prog->name,
				  prog->n_insns, XDPVM_MAX_INSNS);
	if (prog->object->verify == XDPVM_VERIFY_KERNEL)
		prog->fd = bpf_program__fd(bpf);
	size = prog->n_insns * sizeof(*prog->insns);
	prog->insns = malloc(size);
	prog->original = malloc(size);
	prog->info = calloc(prog->n_insns, sizeof(*prog->info));
	if (prog->insns == NULL || prog->original == NULL || prog->info == NULL)
		return xdpvm_fail(prog->object, -ENOMEM, "program %s: no memory", prog->name);
	memcpy(prog->insns, bpf_program__insns(bpf), size);
	memcpy(prog->original, prog->insns, size);
	return set_tag(prog);
}

bool
xdpvm_jit_wanted(const struct xdpvm_prog *prog)
{
	enum xdpvm_engine engine = prog->object->options.engine;

	return engine == XDPVM_ENGINE_JIT ||
	       (engine == XDPVM_ENGINE_AUTO && xdpvm_jit_available());
}

int
xdpvm_prog_prepare(struct xdpvm_prog *prog)
{
	int ret = xdpvm_check_subprogs(prog);

	if (ret != 0)
		return ret;
	if (prog->object->image != NULL)
		xdpvm_prog_lines(prog);
	ret = xdpvm_check_insns(prog);
	if (ret == 0)
		ret = xdpvm_link(prog);
	if (ret == 0 && prog->object->verify == XDPVM_VERIFY_INTERNAL)
		ret = xdpvm_prove(prog);
	prog->proven = prog->object->verify == XDPVM_VERIFY_INTERNAL;
	if (ret == 0)
		ret = xdpvm_analyse(prog);
	if (ret == 0 && xdpvm_jit_wanted(prog))
		ret = xdpvm_jit(prog);
	return ret;
}

int
xdpvm_prog_load(struct xdpvm_prog *prog)
{
	int ret = copy_insns(prog);

	return ret != 0 ? ret : xdpvm_prog_prepare(prog);
}

int
xdpvm_prog_fail(const struct xdpvm_prog *prog, uint32_t insn, int error, const char *format, ...)
{
	const struct xdpvm_line *line = xdpvm_prog_line(prog, insn);
	char reason[512], where[384] = "";
	va_list args;

	va_start(args, format);
	vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	if (line != NULL)
		snprintf(where, sizeof(where), " (%.150s:%u: %.150s)", line->file, line->line,
			 line->text + strspn(line->text, " \t"));
	return xdpvm_fail(prog->object, error, "program %s, instruction %u%s: %s", prog->name, insn,
			  where, reason);
}

const char *
xdpvm_prog_name(const struct xdpvm_prog *prog)
{
	return prog->name;
}

const char *
xdpvm_prog_section(const struct xdpvm_prog *prog)
{
	return prog->section;
}

void
xdpvm_prog_tag(const struct xdpvm_prog *prog, uint8_t tag[XDPVM_TAG_SIZE])
{
	memcpy(tag, prog->tag, XDPVM_TAG_SIZE);
}

int
xdpvm_prog_fd(const struct xdpvm_prog *prog)
{
	return prog->fd;
}

const struct bpf_insn *
xdpvm_prog_insns(const struct xdpvm_prog *prog, enum xdpvm_form form, uint32_t *n)
{
	*n = prog->n_insns;
	return form == XDPVM_FORM_LINKED ? prog->original : prog->insns;
}

const void *
xdpvm_prog_code(const struct xdpvm_prog *prog, size_t *size)
{
	*size = prog->code_size;
	return prog->code;
}
