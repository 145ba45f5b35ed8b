/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * /mlx4x/xdp/targets/...: where programs of a port can redirect to.
 */

#include <errno.h>
#include <stdio.h>

#include "xdp_tel.h"

static void
add_target(struct rte_tel_data *dict, const struct mlx4x_port *port, uint16_t target)
{
	const struct mlx4x_port *own = mlx4x_own_port(target);
	const struct rte_eth_dev_data *data = rte_eth_devices[target].data;

	rte_tel_data_add_dict_int(dict, "port", target);
	rte_tel_data_add_dict_string(dict, "name", data->name);
	rte_tel_data_add_dict_u64(dict, "ifindex", mlx4x_xdp_ifindex_of(target));
	rte_tel_data_add_dict_u64(dict, "number", RTE_PMD_MLX4X_XDP_IFINDEX(target));
	rte_tel_data_add_dict_int(dict, "started", data->dev_started);
	rte_tel_data_add_dict_string(dict, "way", own != NULL ? "zero-copy" : "ethdev");
	if (own == NULL)
		rte_tel_data_add_dict_int(dict, "txq", port->xdp->target_queue[target] - 1);
}

static int
list(const struct mlx4x_tel_request *request, struct rte_tel_data *dict)
{
	const struct mlx4x_port *port = request->port;
	unsigned int nb = 0;
	uint16_t target;

	mlx4x_xdp_lock();
	RTE_ETH_FOREACH_DEV(target) {
		struct rte_tel_data *inner;
		char name[24];

		if (mlx4x_own_port(target) == NULL && port->xdp->target_queue[target] == 0)
			continue;
		snprintf(name, sizeof(name), "target_%u", nb++);
		inner = mlx4x_tel_add_dict(dict, name);
		if (inner != NULL)
			add_target(inner, port, target);
	}
	mlx4x_xdp_unlock();
	rte_tel_data_add_dict_int(dict, "targets", nb);
	return 0;
}

/* A port by its name or its number. */
static int
find_target(const struct mlx4x_tel_request *request, uint16_t *target)
{
	uint64_t number;
	int ret;

	if (rte_eth_dev_get_port_by_name(request->value[MLX4X_TEL_TARGET], target) == 0)
		return 0;
	ret = mlx4x_tel_number(request, MLX4X_TEL_TARGET, 0, RTE_MAX_ETHPORTS - 1, &number);
	if (ret != 0)
		return mlx4x_xdp_refuse(request->port, ENODEV, "there is no port %s to redirect to",
			request->value[MLX4X_TEL_TARGET]);
	*target = number;
	return 0;
}

static int
set_or_delete(const struct mlx4x_tel_request *request, struct rte_tel_data *dict, bool on)
{
	uint16_t target;
	uint64_t queue;
	int ret = find_target(request, &target);

	if (ret == 0)
		ret = mlx4x_tel_number(request, MLX4X_TEL_TXQ, 0, RTE_MAX_QUEUES_PER_PORT - 1,
			&queue);
	if (ret == 0 && !on && request->port->xdp->target_queue[target] == 0)
		ret = mlx4x_xdp_refuse(request->port, ENOENT, "port %u is not set as a target",
			target);
	if (ret == 0)
		ret = mlx4x_xdp_target_set(request->port, target, queue, on);
	if (ret == 0)
		rte_tel_data_add_dict_int(dict, "target", target);
	return ret;
}

static int
set(const struct mlx4x_tel_request *request, struct rte_tel_data *dict)
{
	return set_or_delete(request, dict, true);
}

static int
delete(const struct mlx4x_tel_request *request, struct rte_tel_data *dict)
{
	return set_or_delete(request, dict, false);
}

#define BIT MLX4X_TEL_BIT

static const struct mlx4x_tel_command commands[] = {
	{ "/mlx4x/xdp/targets/list", "port=N", BIT(PORT), 0, list },
	{ "/mlx4x/xdp/targets/set", "port=N,target=NAME[,txq=N]", BIT(PORT) | BIT(TARGET),
		BIT(TXQ), set },
	{ "/mlx4x/xdp/targets/delete", "port=N,target=NAME", BIT(PORT) | BIT(TARGET), 0, delete },
};

RTE_INIT(mlx4x_register_target_commands)
{
	mlx4x_tel_register(commands, RTE_DIM(commands));
}
