/* SPDX-License-Identifier: BSD-3-Clause */
/* xdpvm check: would it load, and if not, why? */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "json.h"

/* The last sentence that the library said. */
struct reason {
	const struct options *options;
	char text[1024];
};

static void
keep_reason(void *arg, enum xdpvm_log_level level, const char *message)
{
	struct reason *reason = arg;

	if (level == XDPVM_LOG_ERROR)
		snprintf(reason->text, sizeof(reason->text), "%s", message);
	else if (reason->options->verbose)
		log_stderr((void *)(uintptr_t)reason->options, level, message);
}

static void
print_good(const struct engine *engine, const struct options *options)
{
	uint32_t n;
	size_t size;

	xdpvm_prog_insns(engine->prog, XDPVM_FORM_LINKED, &n);
	xdpvm_prog_code(engine->prog, &size);
	print_engine(engine, options);
	if (options->json) {
		json_bool("loads", true);
		json_number("instructions", n);
		json_number("code_bytes", size);
	} else {
		printf("  loads: %u instructions, %zu bytes of native code\n", n, size);
	}
}

static void
print_bad(const char *name, const struct options *options, const char *reason)
{
	if (options->json) {
		json_string("program", name);
		json_bool("loads", false);
		json_string("reason", reason);
	} else {
		printf("program %s\n  does not load: %s\n", name, reason);
	}
}

static bool
check_program(const struct options *options, const char *name)
{
	struct reason reason = { .options = options };
	struct xdpvm_options load = options->load;
	struct engine engine;
	bool good;

	load.program = name;
	load.log = keep_reason;
	load.log_arg = &reason;
	good = engine_open(&engine, ENGINE_JIT, options->object, &load) == 0 &&
	       engine_load(&engine) == 0;
	if (options->json)
		json_open(NULL, '{');
	if (good) {
		print_good(&engine, options);
	} else {
		print_bad(name, options, reason.text);
	}
	engine_close(&engine);
	if (options->json)
		json_close('}');
	return good;
}

int
command_check(const struct options *options)
{
	struct reason reason = { .options = options };
	struct xdpvm_options load = options->load;
	struct xdpvm_object *object;
	struct xdpvm_prog *prog = NULL;
	bool good = true;

	load.log = keep_reason;
	load.log_arg = &reason;
	if (xdpvm_object_open(options->object, &load, &object) != 0) {
		failed("%s", reason.text);
		return STATUS_NO;
	}
	if (options->json)
		json_open(NULL, '[');
	while ((prog = xdpvm_prog_next(object, prog)) != NULL)
		good &= check_program(options, xdpvm_prog_name(prog));
	if (options->json) {
		json_close(']');
		printf("\n");
	}
	xdpvm_object_close(object);
	return good ? STATUS_OK : STATUS_NO;
}
