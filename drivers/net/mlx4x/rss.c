/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Spreading over receive queues. A struct mlx4x_rss is a hash together with an
 * aligned power of two of queues: in verbs an indirection table and the RSS queue
 * pair on top of it. It is what steering rules point to, and is shared by those that
 * want the same.
 */

#include <errno.h>
#include <string.h>

#include <rte_thash.h>

#include "mlx4x.h"

/* The key of the mlx4_en driver would be random; this one is Microsoft's example. */
static const uint8_t default_key[MLX4X_RSS_KEY_SIZE] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67,
	0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
	0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30,
	0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

/*
 * What a DPDK hash type means in verbs. The device hashes layer 4 for both families
 * or for none, and a fragment as its addresses.
 */
static const struct {
	uint64_t hf;
	uint64_t fields;
} hash_types[] = {
	{
		RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_FRAG_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_OTHER,
		IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4,
	}, {
		RTE_ETH_RSS_IPV6 | RTE_ETH_RSS_FRAG_IPV6 | RTE_ETH_RSS_NONFRAG_IPV6_OTHER |
		RTE_ETH_RSS_IPV6_EX,
		IBV_RX_HASH_SRC_IPV6 | IBV_RX_HASH_DST_IPV6,
	}, {
		RTE_ETH_RSS_NONFRAG_IPV4_TCP,
		IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4 |
		IBV_RX_HASH_SRC_PORT_TCP | IBV_RX_HASH_DST_PORT_TCP,
	}, {
		RTE_ETH_RSS_NONFRAG_IPV6_TCP | RTE_ETH_RSS_IPV6_TCP_EX,
		IBV_RX_HASH_SRC_IPV6 | IBV_RX_HASH_DST_IPV6 |
		IBV_RX_HASH_SRC_PORT_TCP | IBV_RX_HASH_DST_PORT_TCP,
	}, {
		RTE_ETH_RSS_NONFRAG_IPV4_UDP,
		IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4 |
		IBV_RX_HASH_SRC_PORT_UDP | IBV_RX_HASH_DST_PORT_UDP,
	}, {
		RTE_ETH_RSS_NONFRAG_IPV6_UDP | RTE_ETH_RSS_IPV6_UDP_EX,
		IBV_RX_HASH_SRC_IPV6 | IBV_RX_HASH_DST_IPV6 |
		IBV_RX_HASH_SRC_PORT_UDP | IBV_RX_HASH_DST_PORT_UDP,
	},
};

/* All DPDK hash types that the device can do. */
uint64_t
mlx4x_rss_hf_supported(const struct mlx4x_dev *dev)
{
	uint64_t hf = 0;
	unsigned int i;

	for (i = 0; i < RTE_DIM(hash_types); i++) {
		if ((hash_types[i].fields & dev->caps.rss_fields) == hash_types[i].fields)
			hf |= hash_types[i].hf;
	}
	return hf;
}

/* The verbs fields that DPDK hash types need. */
uint64_t
mlx4x_rss_fields(uint64_t hf)
{
	uint64_t fields = 0;
	unsigned int i;

	for (i = 0; i < RTE_DIM(hash_types); i++) {
		if (hash_types[i].hf & hf)
			fields |= hash_types[i].fields;
	}
	return fields;
}

/* Queues that the default hash spreads over: the largest power of two there is. */
uint16_t
mlx4x_rss_default_queues(const struct mlx4x_port *port)
{
	return RTE_MIN(rte_align32prevpow2(port->data->nb_rx_queues),
		port->dev->caps.max_rss_queues);
}

/* Takes hash types and key of the port from its configuration. */
int
mlx4x_rss_configure(struct mlx4x_port *port)
{
	const struct rte_eth_conf *conf = &port->data->dev_conf;
	const struct rte_eth_rss_conf *rss = &conf->rx_adv_conf.rss_conf;

	port->rss_hf = mlx4x_rss_hf_supported(port->dev);
	memcpy(port->rss_key, default_key, sizeof(port->rss_key));
	if (conf->rxmode.mq_mode & RTE_ETH_MQ_RX_RSS_FLAG) {
		if (rss->rss_key != NULL && rss->rss_key_len != 0 &&
		    rss->rss_key_len != MLX4X_RSS_KEY_SIZE) {
			MLX4X_LOG(port, ERR, "RSS key of %u bytes; the device takes %u",
				rss->rss_key_len, MLX4X_RSS_KEY_SIZE);
			return -EINVAL;
		}
		if (rss->rss_key != NULL)
			memcpy(port->rss_key, rss->rss_key, sizeof(port->rss_key));
		port->rss_hf &= rss->rss_hf;
	}
	port->default_fields = mlx4x_rss_fields(port->rss_hf);
	if (!rte_is_power_of_2(port->data->nb_rx_queues))
		MLX4X_LOG(port, WARNING, "the device spreads over a power of two of queues: of %u "
			"Rx queues the first %u share the traffic, the others serve flow rules only",
			port->data->nb_rx_queues, mlx4x_rss_default_queues(port));
	return 0;
}

static int
set_state(struct mlx4x_port *port, struct ibv_qp *qp, enum ibv_qp_state state, int mask)
{
	struct ibv_qp_attr attr = {
		.qp_state = state,
		.port_num = port->number,
	};

	return -ibv_modify_qp(qp, &attr, IBV_QP_STATE | mask);
}

static int
create_table(struct mlx4x_port *port, struct mlx4x_rss *rss)
{
	struct ibv_wq *wqs[RTE_MAX_QUEUES_PER_PORT];
	struct ibv_rwq_ind_table_init_attr attr = {
		.log_ind_tbl_size = rte_log2_u32(rss->conf.nb_queues),
		.ind_tbl = wqs,
	};
	uint16_t i;

	for (i = 0; i < rss->conf.nb_queues; i++) {
		struct mlx4x_rxq *rxq = port->data->rx_queues[rss->conf.first_queue + i];

		wqs[i] = rxq->wq;
	}
	rss->ind_table = ibv_create_rwq_ind_table(port->dev->ctx, &attr);
	return rss->ind_table == NULL ? -errno : 0;
}

static int
create_qp(struct mlx4x_port *port, struct mlx4x_rss *rss)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_RX_HASH |
			IBV_QP_INIT_ATTR_IND_TABLE,
		.pd = port->dev->pd,
		.rwq_ind_tbl = rss->ind_table,
		.rx_hash_conf = {
			.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
			.rx_hash_key_len = MLX4X_RSS_KEY_SIZE,
			.rx_hash_key = rss->conf.key,
			.rx_hash_fields_mask = rss->conf.fields,
		},
	};

	rss->qp = ibv_create_qp_ex(port->dev->ctx, &attr);
	return rss->qp == NULL ? -errno : 0;
}

static void
destroy(struct mlx4x_rss *rss)
{
	if (rss->qp != NULL)
		ibv_destroy_qp(rss->qp);
	if (rss->ind_table != NULL)
		ibv_destroy_rwq_ind_table(rss->ind_table);
	free(rss);
}

static int
create(struct mlx4x_port *port, struct mlx4x_rss *rss)
{
	int ret = create_table(port, rss);

	if (ret == 0)
		ret = create_qp(port, rss);
	/* From INIT on the device fills the work queues that are ready. */
	if (ret == 0)
		ret = set_state(port, rss->qp, IBV_QPS_INIT, IBV_QP_PORT);
	if (ret == 0)
		ret = set_state(port, rss->qp, IBV_QPS_RTR, 0);
	return ret;
}

/* A reference to what spreads as conf says. NULL with errno, which is logged. */
struct mlx4x_rss *
mlx4x_rss_get(struct mlx4x_port *port, const struct mlx4x_rss_conf *conf)
{
	struct mlx4x_rss *rss;
	int ret;

	TAILQ_FOREACH(rss, &port->rss_list, next) {
		if (memcmp(&rss->conf, conf, sizeof(*conf)) == 0) {
			rss->refcnt++;
			return rss;
		}
	}
	rss = calloc(1, sizeof(*rss));
	if (rss == NULL)
		return NULL;
	memcpy(&rss->conf, conf, sizeof(*conf));
	rss->refcnt = 1;
	ret = create(port, rss);
	if (ret != 0) {
		MLX4X_LOG(port, ERR, "cannot spread over Rx queues %u to %u: %s", conf->first_queue,
			conf->first_queue + conf->nb_queues - 1, strerror(-ret));
		destroy(rss);
		errno = -ret;
		return NULL;
	}
	TAILQ_INSERT_TAIL(&port->rss_list, rss, next);
	return rss;
}

void
mlx4x_rss_put(struct mlx4x_port *port, struct mlx4x_rss *rss)
{
	if (--rss->refcnt != 0)
		return;
	TAILQ_REMOVE(&port->rss_list, rss, next);
	destroy(rss);
}
