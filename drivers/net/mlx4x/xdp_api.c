/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The public interface, rte_pmd_mlx4x.h, on top of xdp.c and xdp_prog.c.
 */

#include <errno.h>

#include <rte_string_fns.h>

#include "xdp.h"

int
rte_pmd_mlx4x_xdp_queue_set(uint16_t port_id, uint16_t queue_id,
	const struct rte_pmd_mlx4x_xdp_prog *given)
{
	struct mlx4x_xdp_prog *prog = NULL;
	struct mlx4x_port *port;
	int ret = mlx4x_xdp_port_find(port_id, &port);

	if (ret == 0 && given != NULL)
		ret = mlx4x_xdp_prog_wrap(port, given, &prog);
	return ret != 0 ? ret : mlx4x_xdp_attach(port, queue_id, prog, true);
}

int
rte_pmd_mlx4x_xdp_set(uint16_t port_id, const struct rte_pmd_mlx4x_xdp_prog *prog)
{
	return rte_pmd_mlx4x_xdp_queue_set(port_id, RTE_PMD_MLX4X_XDP_PORT, prog);
}

int
rte_pmd_mlx4x_xdp_load(uint16_t port_id, uint16_t queue_id, const char *path,
	const struct rte_pmd_mlx4x_xdp_options *options)
{
	struct mlx4x_xdp_load load = { .path = path };
	struct mlx4x_xdp_prog *prog;
	struct mlx4x_port *port;
	uint32_t id;
	int ret = mlx4x_xdp_port_find(port_id, &port);

	if (ret != 0)
		return ret;
	if (options != NULL)
		load.options = *options;
	if (load.options.append && load.options.replace)
		return mlx4x_xdp_refuse(port, EINVAL, "a program is appended or it replaces, not both");
	/* Before the work of a load; attaching looks again. */
	ret = mlx4x_xdp_check_free(port, queue_id, load.options.replace || load.options.append);
	if (ret == 0)
		ret = mlx4x_xdp_prog_load(port, &load, &prog);
	if (ret != 0)
		return ret;
	id = prog->id;
	ret = load.options.append ? mlx4x_xdp_append(port, queue_id, prog) :
		mlx4x_xdp_attach(port, queue_id, prog, load.options.replace);
	return ret != 0 ? ret : (int)id;
}

int
rte_pmd_mlx4x_xdp_unload(uint16_t port_id, uint16_t queue_id, uint32_t id)
{
	struct mlx4x_port *port;
	int ret = mlx4x_xdp_port_find(port_id, &port);

	return ret != 0 ? ret : mlx4x_xdp_detach(port, queue_id, id);
}

int
rte_pmd_mlx4x_xdp_status(uint16_t port_id, uint16_t queue_id,
	struct rte_pmd_mlx4x_xdp_status *status)
{
	struct mlx4x_port *port;
	int ret = mlx4x_xdp_port_find(port_id, &port);

	return ret != 0 ? ret : mlx4x_xdp_status(port, queue_id, status);
}

int
rte_pmd_mlx4x_xdp_target(uint16_t port_id, uint16_t target, uint16_t tx_queue, bool on)
{
	struct mlx4x_port *port;
	int ret = mlx4x_xdp_port_find(port_id, &port);

	return ret != 0 ? ret : mlx4x_xdp_target_set(port, target, tx_queue, on);
}
