/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the transceiver in the cage says about itself: the kernel reads its EEPROM
 * (`ethtool -m`). Both need CAP_NET_ADMIN. A virtual function may not ask.
 */

#include <errno.h>
#include <linux/ethtool.h>
#include <stdlib.h>
#include <string.h>

#include "mlx4x.h"

static_assert(RTE_ETH_MODULE_SFF_8079 == ETH_MODULE_SFF_8079 &&
	RTE_ETH_MODULE_SFF_8472 == ETH_MODULE_SFF_8472 &&
	RTE_ETH_MODULE_SFF_8636 == ETH_MODULE_SFF_8636 &&
	RTE_ETH_MODULE_SFF_8436 == ETH_MODULE_SFF_8436, "DPDK's types are the kernel's");

int
mlx4x_get_module_info(struct rte_eth_dev *eth_dev, struct rte_eth_dev_module_info *info)
{
	struct ethtool_modinfo kernel = { .cmd = ETHTOOL_GMODULEINFO };
	int ret = mlx4x_netdev_ethtool(mlx4x_port_of(eth_dev), &kernel);

	if (ret != 0) {
		MLX4X_LOG(mlx4x_port_of(eth_dev), ERR, "the kernel does not read the module: %s",
			strerror(-ret));
		return ret;
	}
	info->type = kernel.type;
	info->eeprom_len = kernel.eeprom_len;
	return 0;
}

/* The bytes asked for lie in the EEPROM. */
static int
check_range(const struct mlx4x_port *port, const struct rte_dev_eeprom_info *info,
	uint32_t size)
{
	if (info->length <= size && info->offset <= size - info->length)
		return 0;
	MLX4X_LOG(port, ERR, "%u bytes from byte %u on are not in a module with %u bytes",
		info->length, info->offset, size);
	return -EINVAL;
}

static int
read_eeprom(const struct mlx4x_port *port, const struct rte_dev_eeprom_info *info)
{
	struct ethtool_eeprom *kernel = calloc(1, sizeof(*kernel) + info->length);
	int ret;

	if (kernel == NULL)
		return -ENOMEM;
	kernel->cmd = ETHTOOL_GMODULEEEPROM;
	kernel->offset = info->offset;
	kernel->len = info->length;
	ret = mlx4x_netdev_ethtool(port, kernel);
	if (ret == 0)
		memcpy(info->data, kernel->data, info->length);
	else
		MLX4X_LOG(port, ERR, "the kernel does not read the module: %s", strerror(-ret));
	free(kernel);
	return ret;
}

int
mlx4x_get_module_eeprom(struct rte_eth_dev *eth_dev, struct rte_dev_eeprom_info *info)
{
	struct rte_eth_dev_module_info module;
	int ret = mlx4x_get_module_info(eth_dev, &module);

	if (ret == 0)
		ret = check_range(mlx4x_port_of(eth_dev), info, module.eeprom_len);
	return ret == 0 ? read_eeprom(mlx4x_port_of(eth_dev), info) : ret;
}
