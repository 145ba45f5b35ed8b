/* SPDX-License-Identifier: BSD-3-Clause */
/* xdpvm dump: a program's instructions, what the library made of them, and native code. */
#include <errno.h>
#include <string.h>

#include "commands.h"
#include "disasm.h"
#include "json.h"

#define CODE_LINE 16	/* bytes of native code a line */

/* A wide load's constant as it should be read, or NULL for a plain number. */
static const char *
constant_text(struct xdpvm_object *object, const struct bpf_insn *insn, char *text, size_t size)
{
	uint64_t value = (uint32_t)insn[0].imm | (uint64_t)(uint32_t)insn[1].imm << 32;
	struct xdpvm_map *map = NULL;
	struct xdpvm_map_info info;

	if (insn->src_reg == 0)
		return NULL;
	if (insn->src_reg == BPF_PSEUDO_FUNC) {
		snprintf(text, size, "function pc%+d", insn->imm);
		return text;
	}
	for (uint32_t i = 0; (map = xdpvm_map_next(object, map)) != NULL; i++) {
		bool by_index = insn->src_reg == BPF_PSEUDO_MAP_IDX ||
				insn->src_reg == BPF_PSEUDO_MAP_IDX_VALUE;

		xdpvm_map_info(map, &info);
		if (value != (uintptr_t)map && insn->imm != (by_index ? (int)i : info.fd))
			continue;
		if (insn->src_reg == BPF_PSEUDO_MAP_VALUE ||
		    insn->src_reg == BPF_PSEUDO_MAP_IDX_VALUE)
			snprintf(text, size, "map[%s][0]%+d", info.name, insn[1].imm);
		else
			snprintf(text, size, "map[%s]", info.name);
		return text;
	}
	return NULL;
}

static void
print_source(const struct xdpvm_prog *prog, uint32_t insn)
{
	struct xdpvm_source source;

	if (xdpvm_prog_source(prog, insn, &source) && source.first)
		printf("; %s @ %s:%u\n", source.text + strspn(source.text, " \t"), source.file,
		       source.line);
}

static void
print_insns(const struct engine *engine, const struct options *options, enum xdpvm_form form)
{
	const struct bpf_insn *insns;
	char text[160], constant[96];
	uint32_t n;

	insns = xdpvm_prog_insns(engine->prog, form, &n);
	for (uint32_t i = 0; i < n; i += 1 + disasm_is_wide(&insns[i])) {
		bool wide = disasm_is_wide(&insns[i]);

		disasm(&insns[i], wide ? constant_text(engine->object, &insns[i], constant,
						       sizeof(constant)) : NULL,
		       text, sizeof(text));
		if (options->json) {
			json_string(NULL, text);
			continue;
		}
		if (form == XDPVM_FORM_LINKED)
			print_source(engine->prog, i);
		printf("%4u: %s\n", i, text);
	}
}

static void
print_code(const uint8_t *code, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (i % CODE_LINE == 0)
			printf("%4zx:", i);
		printf(" %02x%s", code[i], i % CODE_LINE == CODE_LINE - 1 || i + 1 == size ? "\n" : "");
	}
}

static void
dump_json(const struct engine *engine, const struct options *options)
{
	const void *code;
	size_t size;

	json_open(NULL, '{');
	print_engine(engine, options);
	json_open("linked", '[');
	print_insns(engine, options, XDPVM_FORM_LINKED);
	json_close(']');
	json_open("rewritten", '[');
	print_insns(engine, options, XDPVM_FORM_REWRITTEN);
	json_close(']');
	code = xdpvm_prog_code(engine->prog, &size);
	json_hex("code", code, size);
	json_close('}');
}

static void
dump_text(const struct engine *engine, const struct options *options)
{
	const void *code;
	size_t size;

	print_engine(engine, options);
	printf("\nas linked:\n");
	print_insns(engine, options, XDPVM_FORM_LINKED);
	printf("\nas rewritten (loads from the context are loads from struct xdpvm_buff):\n");
	print_insns(engine, options, XDPVM_FORM_REWRITTEN);
	code = xdpvm_prog_code(engine->prog, &size);
	printf("\nnative code, %zu bytes:\n", size);
	print_code(code, size);
	printf("\n");
}

static int
write_code(const struct engine *engine, const char *path)
{
	size_t size, written;
	const void *code = xdpvm_prog_code(engine->prog, &size);
	FILE *file = fopen(path, "wb");

	if (file == NULL)
		return failed("%s cannot be written: %s", path, strerror(errno));
	written = fwrite(code, 1, size, file);
	if (fclose(file) != 0 || written != size)
		return failed("%s cannot be written: %s", path, strerror(errno));
	return STATUS_OK;
}

static bool
is_wanted(const struct options *options, const struct xdpvm_prog *prog)
{
	return options->load.program == NULL ||
	       strcmp(options->load.program, xdpvm_prog_name(prog)) == 0;
}

int
command_dump(const struct options *options)
{
	struct xdpvm_prog *prog = NULL;
	struct engine engine;
	int status = STATUS_OK;

	if (engine_open(&engine, ENGINE_JIT, options->object, &options->load) != 0 ||
	    engine_load(&engine) != 0) {
		engine_close(&engine);
		return STATUS_FAILED;
	}
	if (options->json)
		json_open(NULL, '[');
	while ((prog = xdpvm_prog_next(engine.object, prog)) != NULL) {
		if (!is_wanted(options, prog))
			continue;
		engine.prog = prog;
		if (options->json)
			dump_json(&engine, options);
		else
			dump_text(&engine, options);
		if (options->code != NULL && status == STATUS_OK)
			status = write_code(&engine, options->code);
	}
	if (options->json) {
		json_close(']');
		printf("\n");
	}
	engine_close(&engine);
	return status;
}
