/* SPDX-License-Identifier: BSD-3-Clause */
/* xdpvm: tries XDP objects with packets from a file; no driver and no interface is involved. */
#include <stdarg.h>
#include <string.h>

#include "commands.h"
#include "json.h"

int
failed(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "xdpvm: ");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\n");
	return STATUS_FAILED;
}

void
log_stderr(void *arg, enum xdpvm_log_level level, const char *message)
{
	const struct options *options = arg;

	if (level == XDPVM_LOG_ERROR || (options->verbose && level <= XDPVM_LOG_VERIFIER))
		fprintf(stderr, "xdpvm: %s\n", message);
}

static const char *
verify_name(const struct engine *engine)
{
	switch (xdpvm_object_verify(engine->object)) {
	case XDPVM_VERIFY_KERNEL:
		return "kernel";
	case XDPVM_VERIFY_INTERNAL:
		return "internal";
	case XDPVM_VERIFY_CACHED:
		return "cached";
	default:
		return "none";
	}
}

void
print_engine(const struct engine *engine, const struct options *options)
{
	const char *name = xdpvm_prog_name(engine->prog);

	if (!options->json) {
		printf("program %s (section %s), engine %s, verify=%s\n", name,
		       xdpvm_prog_section(engine->prog), engine_names[engine->kind],
		       verify_name(engine));
		return;
	}
	json_string("program", name);
	json_string("section", xdpvm_prog_section(engine->prog));
	json_string("engine", engine_names[engine->kind]);
	json_string("verify", verify_name(engine));
}

int
main(int argc, char **argv)
{
	static int (*const commands[COMMANDS])(const struct options *) = {
		[COMMAND_RUN] = command_run,
		[COMMAND_COMPARE] = command_compare,
		[COMMAND_CHECK] = command_check,
		[COMMAND_DUMP] = command_dump,
	};
	struct options options;
	char reason[256];
	int ret;

	if (options_parse(&options, argc - 1, argv + 1, reason, sizeof(reason)) != 0) {
		failed("%s", reason);
		return STATUS_USAGE;
	}
	if (options.help) {
		options_help(stdout);
		return STATUS_OK;
	}
	options.load.log = log_stderr;
	options.load.log_arg = &options;
	ret = engine_thread();
	if (ret != 0)
		return failed("cannot bind to a CPU: %s", strerror(-ret));
	ret = commands[options.command](&options);
	xdpvm_thread_unregister();
	return fflush(stdout) == 0 ? ret : failed("cannot write the result");
}
