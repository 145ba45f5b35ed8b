/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The receive hash of a port: key and types from its configuration or changed while it
 * runs, over the largest power of two of its queues.
 *
 * The device has no redirection table that can be written: a frame goes to queue
 * hash & (number of queues - 1). An application sees that as a table of the greatest
 * size the device could have, entry i is queue i modulo the number of queues.
 */

#include <errno.h>
#include <string.h>

#include "mlx4x.h"

/* That of net_mlx4: when the driver is exchanged, flows stay on their queues. */
static const uint8_t default_key[MLX4X_RSS_KEY_SIZE] = {
	0x2c, 0xc6, 0x81, 0xd1, 0x5b, 0xdb, 0xf4, 0xf7, 0xfc, 0xa2,
	0x83, 0x19, 0xdb, 0x1a, 0x3e, 0x94, 0x6b, 0x9e, 0x38, 0xd9,
	0x2c, 0x9c, 0x03, 0xd1, 0xad, 0x99, 0x44, 0xa7, 0xd9, 0x56,
	0x3d, 0x59, 0x06, 0x3c, 0x25, 0xf3, 0xfc, 0x1f, 0xdc, 0x2a,
};

/* All hash types that the device can do. */
uint64_t
mlx4x_rss_hf_supported(const struct mlx4x_dev *dev)
{
	return mlx4x_rss_hf(dev->caps.rss_fields);
}

/* Queues that the default hash spreads over: the largest power of two there is. */
uint16_t
mlx4x_rss_default_queues(const struct mlx4x_port *port)
{
	return RTE_MIN(rte_align32prevpow2(mlx4x_nb_device_rxqs(port)),
		port->dev->caps.max_rss_queues);
}

/* What spreads the traffic that no rule of the application takes. */
void
mlx4x_rss_default_conf(const struct mlx4x_port *port, struct mlx4x_rss_conf *conf)
{
	memset(conf, 0, sizeof(*conf));
	conf->fields = port->default_fields;
	memcpy(conf->key, port->rss_key, sizeof(conf->key));
	conf->nb_queues = mlx4x_rss_default_queues(port);
}

static int
check_key(const struct mlx4x_port *port, const struct rte_eth_rss_conf *rss)
{
	if (rss->rss_key == NULL || rss->rss_key_len == 0 ||
	    rss->rss_key_len == MLX4X_RSS_KEY_SIZE)
		return 0;
	MLX4X_LOG(port, ERR, "RSS key of %u bytes; the device takes %u", rss->rss_key_len,
		MLX4X_RSS_KEY_SIZE);
	return -EINVAL;
}

static void
set_hash(struct mlx4x_port *port, uint64_t fields, const uint8_t key[MLX4X_RSS_KEY_SIZE])
{
	port->default_fields = fields;
	memmove(port->rss_key, key, sizeof(port->rss_key));
}

/* Takes hash types and key of the port from its configuration. */
int
mlx4x_rss_configure(struct mlx4x_port *port)
{
	const struct rte_eth_conf *conf = &port->data->dev_conf;
	const struct rte_eth_rss_conf *rss = &conf->rx_adv_conf.rss_conf;
	uint64_t hf = mlx4x_rss_hf_supported(port->dev);
	const uint8_t *key = default_key;

	if (conf->rxmode.mq_mode & RTE_ETH_MQ_RX_RSS_FLAG) {
		if (check_key(port, rss) != 0)
			return -EINVAL;
		if (rss->rss_key != NULL)
			key = rss->rss_key;
		hf &= rss->rss_hf;
	}
	set_hash(port, mlx4x_rss_fields(hf), key);
	port->hashed_fields = port->default_fields;
	if (mlx4x_rss_default_queues(port) != mlx4x_nb_device_rxqs(port))
		MLX4X_LOG(port, WARNING, "the device spreads over a power of two of queues: of %u "
			"Rx queues the first %u share the traffic, the others serve flow rules only",
			mlx4x_nb_device_rxqs(port), mlx4x_rss_default_queues(port));
	return 0;
}

/* Makes the rules of a port that runs use its new hash. All of them, or none. */
static int
retarget(struct mlx4x_port *port)
{
	int ret = mlx4x_flow_retarget_begin(port);

	if (ret != 0)
		return ret;
	ret = mlx4x_steer_retarget(port);
	mlx4x_flow_retarget_end(port, ret == 0);
	return ret;
}

int
mlx4x_rss_hash_update(struct rte_eth_dev *eth_dev, struct rte_eth_rss_conf *rss)
{
	struct mlx4x_port *port = mlx4x_port_of(eth_dev);
	uint64_t old_fields = port->default_fields;
	uint8_t old_key[MLX4X_RSS_KEY_SIZE];
	int ret = check_key(port, rss);

	if (ret != 0)
		return ret;
	mlx4x_lock(port->dev);
	memcpy(old_key, port->rss_key, sizeof(old_key));
	set_hash(port, mlx4x_rss_fields(rss->rss_hf),
		rss->rss_key != NULL ? rss->rss_key : old_key);
	if (port->started) {
		ret = retarget(port);
	} else {
		port->hashed_fields = port->default_fields;
		mlx4x_rx_table_build(port);
	}
	if (ret != 0) {
		MLX4X_LOG(port, ERR, "the receive hash stays as it is: %s", strerror(-ret));
		set_hash(port, old_fields, old_key);
	}
	mlx4x_unlock(port->dev);
	return ret;
}

/* The types are those that the device performs, which may be more than were asked for. */
int
mlx4x_rss_hash_conf_get(struct rte_eth_dev *eth_dev, struct rte_eth_rss_conf *rss)
{
	struct mlx4x_port *port = mlx4x_port_of(eth_dev);

	if (rss->rss_key != NULL && rss->rss_key_len >= MLX4X_RSS_KEY_SIZE)
		memcpy(rss->rss_key, port->rss_key, sizeof(port->rss_key));
	rss->rss_key_len = MLX4X_RSS_KEY_SIZE;
	rss->rss_hf = mlx4x_rss_hf(port->default_fields);
	return 0;
}

uint16_t
mlx4x_reta_size(const struct mlx4x_dev *dev)
{
	return RTE_MIN(dev->caps.max_rss_queues, (uint32_t)RTE_ETH_RSS_RETA_SIZE_512);
}

static int
check_reta_size(const struct mlx4x_port *port, uint16_t size)
{
	if (size == mlx4x_reta_size(port->dev))
		return 0;
	MLX4X_LOG(port, ERR, "redirection table of %u entries; it has %u", size,
		mlx4x_reta_size(port->dev));
	return -EINVAL;
}

int
mlx4x_reta_query(struct rte_eth_dev *eth_dev, struct rte_eth_rss_reta_entry64 *reta, uint16_t size)
{
	const struct mlx4x_port *port = mlx4x_port_of(eth_dev);
	uint16_t i, nb_queues = mlx4x_rss_default_queues(port);
	int ret = check_reta_size(port, size);

	if (ret != 0)
		return ret;
	for (i = 0; i < size && nb_queues != 0; i++)
		reta[i / RTE_ETH_RETA_GROUP_SIZE].reta[i % RTE_ETH_RETA_GROUP_SIZE] = i % nb_queues;
	return 0;
}

/* What is there already may be written; nothing else can. */
int
mlx4x_reta_update(struct rte_eth_dev *eth_dev, struct rte_eth_rss_reta_entry64 *reta, uint16_t size)
{
	const struct mlx4x_port *port = mlx4x_port_of(eth_dev);
	uint16_t i, nb_queues = mlx4x_rss_default_queues(port);
	int ret = check_reta_size(port, size);

	if (ret != 0)
		return ret;
	for (i = 0; i < size; i++) {
		const struct rte_eth_rss_reta_entry64 *group = &reta[i / RTE_ETH_RETA_GROUP_SIZE];
		unsigned int slot = i % RTE_ETH_RETA_GROUP_SIZE;

		if (!(group->mask & RTE_BIT64(slot)) || group->reta[slot] == i % nb_queues)
			continue;
		MLX4X_LOG(port, ERR, "entry %u of the redirection table cannot be queue %u: the "
			"device has no table, the last bits of the hash are the queue, here %u", i,
			group->reta[slot], i % nb_queues);
		return -ENOTSUP;
	}
	return 0;
}
