/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Programs as the driver attaches them: made of an object that it loads, of a program
 * that the application has loaded, or of a C function.
 */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_string_fns.h>

#include "xdp.h"
#include "xdpvm_sync.h"

#define SENTENCE_SIZE 1024

static __thread char last_error[SENTENCE_SIZE];

const char *
rte_pmd_mlx4x_xdp_error(void)
{
	return last_error;
}

int
mlx4x_xdp_refuse(const struct mlx4x_port *port, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(last_error, sizeof(last_error), format, args);
	va_end(args);
	if (port != NULL)
		MLX4X_LOG(port, ERR, "%s", last_error);
	else
		MLX4X_INIT_LOG(ERR, "%s", last_error);
	return -error;
}

static const char *const verify_names[] = {
	[XDPVM_VERIFY_AUTO] = "auto",
	[XDPVM_VERIFY_KERNEL] = "kernel",
	[XDPVM_VERIFY_INTERNAL] = "internal",
	[XDPVM_VERIFY_CACHED] = "cached",
	[XDPVM_VERIFY_NONE] = "none",
};

int
mlx4x_xdp_verify_parse(const char *text, enum xdpvm_verify *verify)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(verify_names); i++) {
		if (strcmp(text, verify_names[i]) == 0) {
			*verify = i;
			return 0;
		}
	}
	return -EINVAL;
}

const char *
mlx4x_xdp_verify_name(enum xdpvm_verify verify)
{
	return verify_names[verify];
}

/* Without native code: the interpreter, which wants the program itself. */
static uint64_t
interpret(struct xdpvm_buff *buff)
{
	return xdpvm_run(buff->opaque, buff);
}

static struct mlx4x_xdp_prog *
new_prog(const char *name)
{
	static uint32_t nb_progs;
	struct mlx4x_xdp_prog *prog = calloc(1, sizeof(*prog));

	if (prog == NULL)
		return NULL;
	prog->id = mlx4x_fetch_add_relaxed(&nb_progs, 1) + 1;
	strlcpy(prog->name, name, sizeof(prog->name));
	return prog;
}

static void
use_xdpvm(struct mlx4x_xdp_prog *prog, struct xdpvm_prog *xdpvm_prog)
{
	prog->prog = xdpvm_prog;
	prog->entry = xdpvm_prog_entry(xdpvm_prog);
	if (prog->entry == NULL) {
		prog->entry = interpret;
		prog->opaque = xdpvm_prog;
	}
}

/* The first error is the reason; the verifier's text is for the log. */
static void
keep_message(void *arg, enum xdpvm_log_level level, const char *message)
{
	char *reason = arg;

	if (level == XDPVM_LOG_ERROR && reason[0] == '\0')
		strlcpy(reason, message, SENTENCE_SIZE);
	else if (level == XDPVM_LOG_VERIFIER)
		MLX4X_INIT_LOG(NOTICE, "verifier: %s", message);
}

/* What the object says later, when nobody waits for a reason. */
static void
log_message(void *arg, enum xdpvm_log_level level, const char *message)
{
	if (level == XDPVM_LOG_ERROR)
		MLX4X_INIT_LOG(ERR, "%s", message);
}

/* Pinned maps are for others to read and write, so they are kept in step with ours. */
static int
load_and_serve(struct xdpvm_object *object, const char *pin_dir)
{
	int ret = xdpvm_object_load(object);

	return ret == 0 && pin_dir != NULL ? xdpvm_sync_start(object, 0) : ret;
}

/* Sections of programs for entries of maps: they judge no frame that comes in. */
static bool
is_for_entries(const struct xdpvm_prog *prog)
{
	const char *section = xdpvm_prog_section(prog);

	return strncmp(section, "xdp/devmap", strlen("xdp/devmap")) == 0 ||
		strncmp(section, "xdp/cpumap", strlen("xdp/cpumap")) == 0;
}

static struct xdpvm_prog *
next_entry(struct xdpvm_object *object, const struct xdpvm_prog *prog)
{
	struct xdpvm_prog *next = xdpvm_prog_next(object, prog);

	while (next != NULL && is_for_entries(next))
		next = xdpvm_prog_next(object, next);
	return next;
}

/* The only program of a loaded object, or the one that was named. */
static struct xdpvm_prog *
only_prog(const struct mlx4x_port *port, const struct mlx4x_xdp_load *load,
	struct xdpvm_object *object)
{
	struct xdpvm_prog *prog = next_entry(object, NULL);

	if (prog == NULL) {
		mlx4x_xdp_refuse(port, ENOENT, "%s holds no XDP program", load->path);
	} else if (next_entry(object, prog) != NULL && load->options.section == NULL &&
			load->options.function == NULL) {
		/* The first, as xdp-loader takes it. */
		MLX4X_LOG(port, NOTICE, "%s holds several programs: taking %s", load->path,
			xdpvm_prog_name(prog));
	}
	return prog;
}

static int
load_object(const struct mlx4x_port *port, const struct mlx4x_xdp_load *load,
	struct xdpvm_object **object)
{
	const char *cache_dir = port->xdp->cache_dir;
	char reason[SENTENCE_SIZE] = "";
	const struct xdpvm_options options = {
		.verify = load->options.verify,
		.engine = load->options.engine,
		.program = load->options.function,
		.section = load->options.section,
		.pin_dir = load->options.pin_dir,
		.cache_dir = cache_dir[0] != '\0' ? cache_dir : NULL,
		.log = keep_message,
		.log_arg = reason,
	};
	int ret;

	if (options.verify == XDPVM_VERIFY_CACHED && options.cache_dir == NULL)
		return mlx4x_xdp_refuse(port, EINVAL, "verify=cached needs the device argument "
			"xdp_cache=, the folder of what a kernel accepted");
	ret = xdpvm_object_open(load->path, &options, object);
	if (ret == 0) {
		ret = load_and_serve(*object, load->options.pin_dir);
		if (ret == 0) {
			xdpvm_object_set_log(*object, log_message, NULL);
			return 0;
		}
		xdpvm_object_close(*object);
	}
	return mlx4x_xdp_refuse(port, -ret, "cannot load %s: %s", load->path,
		reason[0] != '\0' ? reason : strerror(-ret));
}

/* A program out of an object file. */
int
mlx4x_xdp_prog_load(const struct mlx4x_port *port, const struct mlx4x_xdp_load *load,
	struct mlx4x_xdp_prog **prog)
{
	struct xdpvm_object *object;
	struct xdpvm_prog *found;
	int ret = load_object(port, load, &object);

	if (ret != 0)
		return ret;
	found = only_prog(port, load, object);
	*prog = found == NULL ? NULL : new_prog(xdpvm_prog_name(found));
	if (*prog == NULL) {
		xdpvm_object_close(object);
		return found == NULL ? -ENOENT : mlx4x_xdp_refuse(port, ENOMEM,
			"no memory for the program of %s", load->path);
	}
	(*prog)->object = object;
	(*prog)->verify = xdpvm_object_verify(object);
	strlcpy((*prog)->path, load->path, sizeof((*prog)->path));
	use_xdpvm(*prog, found);
	return 0;
}

/* A program that the application brings. */
int
mlx4x_xdp_prog_wrap(const struct mlx4x_port *port, const struct rte_pmd_mlx4x_xdp_prog *given,
	struct mlx4x_xdp_prog **prog)
{
	const char *name = given->name;

	if ((given->hook == NULL) == (given->prog == NULL))
		return mlx4x_xdp_refuse(port, EINVAL, "a program is either a hook or an object's; "
			"this one is %s", given->hook == NULL ? "neither" : "both");
	if (name == NULL)
		name = given->prog != NULL ? xdpvm_prog_name(given->prog) : "hook";
	*prog = new_prog(name);
	if (*prog == NULL)
		return mlx4x_xdp_refuse(port, ENOMEM, "no memory for program %s", name);
	if (given->prog != NULL)
		use_xdpvm(*prog, given->prog);
	else
		(*prog)->entry = given->hook;
	if (given->hook != NULL)
		(*prog)->opaque = given->arg;
	return 0;
}

/* No queue runs the program any more. NULL is allowed. */
void
mlx4x_xdp_prog_free(struct mlx4x_xdp_prog *prog)
{
	if (prog == NULL)
		return;
	xdpvm_object_close(prog->object);
	free(prog);
}
