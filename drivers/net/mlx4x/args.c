/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Device arguments: one table of keys, from which parsing, the list in the refusal
 * of an unknown key and the registered parameter string come.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_devargs.h>
#include <rte_kvargs.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_string_fns.h>

#include <page_pool.h>

#include "mlx4x.h"
#include "xdp.h"

/* False if it is not a number up to max. */
static bool
parse_number(const char *value, unsigned long max, unsigned long *number)
{
	char *end;

	errno = 0;
	*number = strtoul(value, &end, 10);
	return errno == 0 && end != value && *end == '\0' && *number <= max;
}

static int
parse_port(const char *key, const char *value, void *opaque)
{
	struct mlx4x_args *args = opaque;
	unsigned long port;

	if (!parse_number(value, MLX4X_MAX_PORTS - 1, &port)) {
		MLX4X_INIT_LOG(ERR, "argument %s=%s: a device has the ports 0 to %u", key, value,
			MLX4X_MAX_PORTS - 1);
		return -EINVAL;
	}
	args->port_mask |= 1u << port;
	return 0;
}

static int
parse_xdp_prog(const char *key, const char *value, void *opaque)
{
	struct mlx4x_args *args = opaque;

	if (strlcpy(args->xdp_prog, value, sizeof(args->xdp_prog)) < sizeof(args->xdp_prog))
		return 0;
	MLX4X_INIT_LOG(ERR, "argument %s: a path of more than %zu bytes", key,
		sizeof(args->xdp_prog) - 1);
	return -ENAMETOOLONG;
}

static int
parse_xdp_sec(const char *key, const char *value, void *opaque)
{
	struct mlx4x_args *args = opaque;

	if (strlcpy(args->xdp_sec, value, sizeof(args->xdp_sec)) < sizeof(args->xdp_sec))
		return 0;
	MLX4X_INIT_LOG(ERR, "argument %s=%s: a name of more than %zu bytes", key, value,
		sizeof(args->xdp_sec) - 1);
	return -ENAMETOOLONG;
}

static int
parse_xdp_verify(const char *key, const char *value, void *opaque)
{
	struct mlx4x_args *args = opaque;

	if (mlx4x_xdp_verify_parse(value, &args->xdp_verify) == 0)
		return 0;
	MLX4X_INIT_LOG(ERR, "argument %s=%s: one of auto, kernel, internal, cached, none", key,
		value);
	return -EINVAL;
}

static int
parse_xdp_cache(const char *key, const char *value, void *opaque)
{
	struct mlx4x_args *args = opaque;
	int ret;

	if (strlcpy(args->xdp_cache, value, sizeof(args->xdp_cache)) >= sizeof(args->xdp_cache)) {
		MLX4X_INIT_LOG(ERR, "argument %s: a path of more than %zu bytes", key,
			sizeof(args->xdp_cache) - 1);
		return -ENAMETOOLONG;
	}
	ret = xdpvm_cache_dir_check(value);
	if (ret == -EPERM)
		MLX4X_INIT_LOG(ERR, "argument %s=%s: the folder has to belong to root or to this "
			"user, and nobody else may write to it", key, value);
	else if (ret != 0)
		MLX4X_INIT_LOG(ERR, "argument %s=%s: the folder cannot be opened: %s", key, value,
			strerror(-ret));
	return ret;
}

static int
parse_cpumap_queues(const char *key, const char *value, void *opaque)
{
	struct mlx4x_args *args = opaque;
	unsigned long nb;

	if (!parse_number(value, XDPVM_MAX_THREADS, &nb)) {
		MLX4X_INIT_LOG(ERR, "argument %s=%s: from 0 to %u queues are possible", key, value,
			XDPVM_MAX_THREADS);
		return -EINVAL;
	}
	args->cpumap_queues = nb;
	return 0;
}

/* NAME:QUEUE; a name may hold colons, so the last one counts. */
static int
parse_xdp_target(const char *key, const char *value, void *opaque)
{
	struct mlx4x_args *args = opaque;
	struct mlx4x_xdp_targets *targets = &args->targets;
	const char *colon = strrchr(value, ':');
	size_t len = colon != NULL ? (size_t)(colon - value) : 0;
	unsigned long queue;
	char *end;

	if (targets->nb == MLX4X_XDP_TARGETS) {
		MLX4X_INIT_LOG(ERR, "argument %s=%s: more than %u targets", key, value,
			MLX4X_XDP_TARGETS);
		return -E2BIG;
	}
	queue = colon != NULL ? strtoul(colon + 1, &end, 10) : 0;
	if (len == 0 || len >= RTE_ETH_NAME_MAX_LEN || colon[1] < '0' || colon[1] > '9' ||
	    *end != '\0' || queue >= RTE_MAX_QUEUES_PER_PORT) {
		MLX4X_INIT_LOG(ERR, "argument %s=%s: the name of a port, a colon and a send queue "
			"from 0 to %u", key, value, RTE_MAX_QUEUES_PER_PORT - 1);
		return -EINVAL;
	}
	memcpy(targets->target[targets->nb].name, value, len);
	targets->target[targets->nb++].tx_queue = queue;
	return 0;
}

/* Pools that are made from now on, by name of no handler. */
static int
parse_page_pool(const char *key, const char *value, void *opaque)
{
	const char *ops = strcmp(value, "page") == 0 ? PAGE_POOL_OPS :
		strcmp(value, "packed") == 0 ? PAGE_POOL_OPS_PACKED : NULL;
	int ret = ops == NULL ? -EINVAL : rte_mbuf_set_platform_mempool_ops(ops);

	if (ops == NULL)
		MLX4X_INIT_LOG(ERR, "argument %s=%s: one of page, packed", key, value);
	else if (ret != 0)
		MLX4X_INIT_LOG(ERR, "argument %s=%s: %s is DPDK's default mempool handler already",
			key, value, rte_mbuf_platform_mempool_ops());
	return ret;
}

/* A new argument is a new line here and in MLX4X_PARAMS of probe.c. */
static const struct {
	const char *key;
	arg_handler_t parse;
} arguments[] = {
	{ "port", parse_port },
	{ "xdp_prog", parse_xdp_prog },
	{ "xdp_sec", parse_xdp_sec },
	{ "xdp_verify", parse_xdp_verify },
	{ "xdp_cache", parse_xdp_cache },
	{ "xdp_cpumap_queues", parse_cpumap_queues },
	{ "xdp_target", parse_xdp_target },
	{ "page_pool", parse_page_pool },
};

static void
refuse_unknown(const struct rte_devargs *devargs)
{
	char keys[256] = "";
	size_t used = 0;
	unsigned int i;

	for (i = 0; i < RTE_DIM(arguments) && used < sizeof(keys); i++)
		used += snprintf(keys + used, sizeof(keys) - used, " %s=", arguments[i].key);
	MLX4X_INIT_LOG(ERR, "%s: arguments \"%s\" hold a key that is not one of:%s", devargs->name,
		devargs->args, keys);
}

int
mlx4x_args_parse(struct mlx4x_args *args, const struct rte_devargs *devargs)
{
	const char *keys[RTE_DIM(arguments) + 1] = { NULL };
	struct rte_kvargs *kvlist;
	unsigned int i;
	int ret = 0;

	memset(args, 0, sizeof(*args));
	if (devargs == NULL || devargs->args == NULL || devargs->args[0] == '\0')
		return 0;
	for (i = 0; i < RTE_DIM(arguments); i++)
		keys[i] = arguments[i].key;
	kvlist = rte_kvargs_parse(devargs->args, keys);
	if (kvlist == NULL) {
		refuse_unknown(devargs);
		return -EINVAL;
	}
	for (i = 0; i < RTE_DIM(arguments) && ret == 0; i++)
		ret = rte_kvargs_process(kvlist, arguments[i].key, arguments[i].parse, args);
	rte_kvargs_free(kvlist);
	return ret < 0 ? -EINVAL : 0;
}
