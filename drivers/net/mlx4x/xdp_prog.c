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

static uint64_t
run_chain(struct xdpvm_buff *buff)
{
	return xdpvm_chain_run(buff->opaque, buff);
}

static uint32_t
new_id(void)
{
	static uint32_t nb_progs;

	return mlx4x_fetch_add_relaxed(&nb_progs, 1) + 1;
}

static struct mlx4x_xdp_prog *
new_prog(const char *name, uint32_t id)
{
	struct mlx4x_xdp_prog *prog = calloc(1, sizeof(*prog));

	if (prog == NULL)
		return NULL;
	prog->id = id;
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

static void
put_link(struct mlx4x_xdp_link *link)
{
	if (--link->refcnt != 0)
		return;
	xdpvm_object_close(link->object);
	free(link);
}

/* libxdp's order and rules, which the chain has from what the links say. */
static int
use_chain(const struct mlx4x_port *port, struct mlx4x_xdp_prog *prog)
{
	struct xdpvm_chain_link links[XDPVM_CHAIN_MAX];
	struct mlx4x_xdp_link *given[XDPVM_CHAIN_MAX];
	unsigned int i, j;
	int ret;

	for (i = 0; i < prog->nb_links; i++) {
		given[i] = prog->links[i];
		links[i] = (struct xdpvm_chain_link){ given[i]->prog, &given[i]->config };
	}
	ret = xdpvm_chain_create(links, prog->nb_links, &prog->chain);
	if (ret != 0)
		return mlx4x_xdp_refuse(port, -ret, "cannot make a chain of %u programs: %s",
			prog->nb_links, strerror(-ret));
	for (i = 0; i < prog->nb_links; i++) {
		for (j = 0; given[j]->prog != xdpvm_chain_prog(prog->chain, i); j++)
			;
		prog->links[i] = given[j];
	}
	prog->prog = prog->links[0]->prog;
	prog->entry = run_chain;
	prog->opaque = prog->chain;
	return 0;
}

int
mlx4x_xdp_prog_of_links(const struct mlx4x_port *port, struct mlx4x_xdp_link *const *links,
	unsigned int nb, struct mlx4x_xdp_prog **prog)
{
	struct mlx4x_xdp_prog *made = nb == 1 ?
		new_prog(xdpvm_prog_name(links[0]->prog), links[0]->id) :
		new_prog("xdp_dispatcher", new_id());
	int ret = 0;

	if (made == NULL)
		return mlx4x_xdp_refuse(port, ENOMEM, "no memory for program %s",
			xdpvm_prog_name(links[0]->prog));
	for (; made->nb_links < nb; made->nb_links++) {
		made->links[made->nb_links] = links[made->nb_links];
		links[made->nb_links]->refcnt++;
	}
	if (nb == 1)
		use_xdpvm(made, links[0]->prog);
	else
		ret = use_chain(port, made);
	if (ret != 0)
		mlx4x_xdp_prog_free(made);
	else
		*prog = made;
	return ret;
}

/* What the object says of its place in a chain, unless the caller does. */
static int
read_config(const struct mlx4x_port *port, const struct mlx4x_xdp_load *load,
	struct mlx4x_xdp_link *link)
{
	if (xdpvm_prog_run_config(link->prog, &link->config) != 0)
		return mlx4x_xdp_refuse(port, EINVAL, "cannot load %s: its section .xdp_run_config has "
			"something else than priority and actions", load->path);
	if (load->options.priority != 0)
		link->config.priority = load->options.priority;
	return 0;
}

/* A program out of an object file. */
int
mlx4x_xdp_prog_load(const struct mlx4x_port *port, const struct mlx4x_xdp_load *load,
	struct mlx4x_xdp_prog **prog)
{
	struct mlx4x_xdp_link *link = calloc(1, sizeof(*link));
	int ret = link != NULL ? load_object(port, load, &link->object) :
		mlx4x_xdp_refuse(port, ENOMEM, "no memory for the program of %s", load->path);

	if (ret != 0) {
		free(link);
		return ret;
	}
	link->refcnt = 1;
	link->id = new_id();
	link->verify = xdpvm_object_verify(link->object);
	strlcpy(link->path, load->path, sizeof(link->path));
	link->prog = only_prog(port, load, link->object);
	ret = link->prog != NULL ? read_config(port, load, link) : -ENOENT;
	if (ret == 0)
		ret = mlx4x_xdp_prog_of_links(port, &link, 1, prog);
	put_link(link);
	return ret;
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
	*prog = new_prog(name, new_id());
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
	unsigned int i;

	if (prog == NULL)
		return;
	xdpvm_chain_free(prog->chain);
	for (i = 0; i < prog->nb_links; i++)
		put_link(prog->links[i]);
	free(prog);
}
