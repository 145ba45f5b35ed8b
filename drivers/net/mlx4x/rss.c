/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Spreading over receive queues. A struct mlx4x_rss is a hash together with an
 * aligned power of two of queues: in verbs an indirection table and the RSS queue
 * pair on top of it. It is what steering rules point to, and is shared by those that
 * want the same.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mlx4x.h"

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

/*
 * A completion does not say whether its frame was hashed. So a frame is said to carry
 * a hash only if every hash in use covers frames of its kind.
 */
static void
follow_hashes(struct mlx4x_port *port)
{
	uint64_t fields = port->dev->caps.rss_fields;
	const struct mlx4x_rss *rss;

	if (TAILQ_EMPTY(&port->rss_list))
		return;
	TAILQ_FOREACH(rss, &port->rss_list, next)
		fields &= rss->conf.fields;
	if (fields == port->hashed_fields)
		return;
	port->hashed_fields = fields;
	mlx4x_rx_table_build(port);
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
	follow_hashes(port);
	return rss;
}

void
mlx4x_rss_put(struct mlx4x_port *port, struct mlx4x_rss *rss)
{
	if (--rss->refcnt != 0)
		return;
	TAILQ_REMOVE(&port->rss_list, rss, next);
	destroy(rss);
	follow_hashes(port);
}
