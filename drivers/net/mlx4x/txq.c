/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Send queues: setting up, starting, stopping. Each is a queue pair of its own and
 * can be set up while the port runs. Its rings live from set-up to release; starting
 * resets them.
 */

#include <errno.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_malloc.h>

#include "mlx4x.h"
#include "tx_common.h"

/* Completed blocks that are freed together, unless the application says otherwise. */
#define FREE_THRESH 32

/* How long a stop waits for frames that are on their way. */
#define DRAIN_US 20000
#define DRAIN_STEP_US 50

static int
check_setup(const struct mlx4x_port *port, uint16_t idx, uint16_t nb_desc)
{
	if (nb_desc >= MLX4X_MIN_DESC && nb_desc <= port->dev->caps.max_wr)
		return 0;
	MLX4X_LOG(port, ERR, "Tx queue %u: %u descriptors; from %u to %u are possible", idx, nb_desc,
		MLX4X_MIN_DESC, port->dev->caps.max_wr);
	return -EINVAL;
}

static int
create_verbs(struct mlx4x_txq *txq)
{
	struct mlx4x_dev *dev = txq->port->dev;
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = txq->nb_desc, .max_send_sge = 1 },
		.qp_type = IBV_QPT_RAW_PACKET,
	};

	dev->alloc_socket = txq->socket;
	/* One entry for each descriptor: an error flushes every one of them. */
	txq->cq = ibv_create_cq(dev->ctx, rte_align32pow2(txq->nb_desc) - 1, NULL, NULL,
		txq->idx % dev->ctx->num_comp_vectors);
	if (txq->cq == NULL)
		return -errno;
	attr.send_cq = txq->cq;
	attr.recv_cq = txq->cq;
	txq->qp = ibv_create_qp(dev->pd, &attr);
	return txq->qp == NULL ? -errno : 0;
}

static int
map_rings(struct mlx4x_txq *txq)
{
	struct mlx4dv_qp qp = { .comp_mask = MLX4DV_QP_MASK_UAR_MMAP_OFFSET };
	struct mlx4dv_obj obj = {
		.cq = { .in = txq->cq, .out = &txq->dv_cq },
		.qp = { .in = txq->qp, .out = &qp },
	};
	int ret = mlx4dv_init_obj(&obj, MLX4DV_OBJ_CQ | MLX4DV_OBJ_QP);

	if (ret != 0)
		return -ret;
	if (qp.sq.wqe_shift != MLX4X_TXBB_SHIFT ||
	    qp.sq.wqe_cnt < txq->nb_desc + MLX4X_SQ_HEADROOM_TXBBS)
		return -EPROTO;
	txq->wqes = (uint8_t *)qp.buf.buf + qp.sq.offset;
	txq->mask = qp.sq.wqe_cnt - 1;
	txq->limit = txq->nb_desc;
	txq->doorbell_qpn = qp.doorbell_qpn;
	txq->cqes = (const uint8_t *)txq->dv_cq.buf.buf +
		txq->dv_cq.cqe_size - sizeof(struct mlx4x_cqe);
	txq->cqe_shift = rte_log2_u32(txq->dv_cq.cqe_size);
	txq->cq_mask = txq->dv_cq.cqe_cnt - 1;
	txq->cq_db = txq->dv_cq.set_ci_db;
	txq->port->dev->uar_offset = qp.uar_mmap_offset;
	mlx4x_uar[txq->dev_id] = (uint8_t *)qp.sdb - MLX4X_SEND_DOORBELL;
	return 0;
}

static int
create(struct mlx4x_txq *txq)
{
	const char *step = "a queue pair";
	int ret = create_verbs(txq);

	if (ret == 0) {
		step = "direct access to its rings";
		ret = map_rings(txq);
	}
	if (ret == 0) {
		step = "memory for its slots";
		txq->slots = rte_zmalloc_socket("mlx4x Tx slots",
			((size_t)txq->mask + 1) * sizeof(txq->slots[0]), RTE_CACHE_LINE_SIZE,
			txq->socket);
		ret = txq->slots == NULL ? -ENOMEM : 0;
	}
	if (ret != 0)
		MLX4X_LOG(txq->port, ERR, "Tx queue %u: cannot get %s: %s", txq->idx, step,
			strerror(-ret));
	return ret;
}

static enum mlx4x_tx_free
free_mode(uint64_t offloads)
{
	if (offloads & (RTE_ETH_TX_OFFLOAD_MULTI_SEGS | RTE_ETH_TX_OFFLOAD_TCP_TSO))
		return MLX4X_TX_FREE_CHAIN;
	return offloads & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE ?
		MLX4X_TX_FREE_FAST : MLX4X_TX_FREE_ANY;
}

/* The port may be configured anew, with a queue that stays as it was set up. */
void
mlx4x_txq_follow_port(struct mlx4x_txq *txq)
{
	txq->offloads = txq->own_offloads | txq->port->data->dev_conf.txmode.offloads;
	txq->free_mode = free_mode(txq->offloads);
}

void
mlx4x_txq_destroy(struct mlx4x_txq *txq)
{
	if (txq->slots != NULL)
		mlx4x_txq_free_all(txq);
	if (txq->qp != NULL)
		ibv_destroy_qp(txq->qp);
	if (txq->cq != NULL)
		ibv_destroy_cq(txq->cq);
	rte_free(txq->slots);
	rte_free(txq);
}

static struct mlx4x_txq *
allocate(struct mlx4x_port *port, uint16_t idx, uint16_t nb_desc, int socket)
{
	struct mlx4x_txq *txq = rte_zmalloc_socket("mlx4x Tx queue", sizeof(*txq),
		RTE_CACHE_LINE_SIZE, socket);

	if (txq == NULL) {
		MLX4X_LOG(port, ERR, "Tx queue %u: no memory on socket %d", idx, socket);
		return NULL;
	}
	txq->port = port;
	txq->idx = idx;
	txq->nb_desc = nb_desc;
	txq->socket = socket;
	txq->dev_id = port->dev->id;
	txq->wants_destination = port->dev->caps.is_vf;
	txq->mr_table = &port->dev->mr_table;
	txq->state = MLX4X_QUEUE_STOPPED;
	return txq;
}

/*
 * A send queue that the application does not see, stopped. All its frames come from one
 * pool and have one reference. The lock is held. NULL (explained) if there is none.
 */
struct mlx4x_txq *
mlx4x_txq_create_internal(struct mlx4x_port *port, uint16_t idx, uint16_t nb_desc, int socket)
{
	struct mlx4x_txq *txq = allocate(port, idx, nb_desc, socket);

	if (txq == NULL)
		return NULL;
	txq->internal = true;
	txq->free_mode = MLX4X_TX_FREE_FAST;
	if (create(txq) == 0)
		return txq;
	mlx4x_txq_destroy(txq);
	return NULL;
}

int
mlx4x_tx_queue_setup(struct rte_eth_dev *eth_dev, uint16_t idx, uint16_t nb_desc,
	unsigned int socket, const struct rte_eth_txconf *conf)
{
	struct mlx4x_port *port = mlx4x_port_of(eth_dev);
	struct mlx4x_txq *txq;
	int ret = check_setup(port, idx, nb_desc);

	if (ret != 0)
		return ret;
	mlx4x_tx_queue_release(eth_dev, idx);
	txq = allocate(port, idx, nb_desc, socket);
	if (txq == NULL)
		return -ENOMEM;
	txq->own_offloads = conf->offloads;
	mlx4x_txq_follow_port(txq);
	txq->free_thresh = conf->tx_free_thresh != 0 ? conf->tx_free_thresh :
		RTE_MIN(FREE_THRESH, nb_desc / 4);
	txq->deferred_start = conf->tx_deferred_start;
	mlx4x_lock(port->dev);
	ret = create(txq);
	if (ret != 0)
		mlx4x_txq_destroy(txq);
	else
		eth_dev->data->tx_queues[idx] = txq;
	if (ret == 0 && port->started)
		mlx4x_tx_select_again(eth_dev);
	mlx4x_unlock(port->dev);
	return ret;
}

void
mlx4x_tx_queue_release(struct rte_eth_dev *eth_dev, uint16_t idx)
{
	struct mlx4x_txq *txq = eth_dev->data->tx_queues[idx];
	struct mlx4x_dev *dev;

	if (txq == NULL)
		return;
	dev = txq->port->dev;
	mlx4x_lock(dev);
	mlx4x_txq_destroy(txq);
	mlx4x_unlock(dev);
	eth_dev->data->tx_queues[idx] = NULL;
}

/* Frees every frame in the ring. The device does not work on them any more. */
void
mlx4x_txq_free_all(struct mlx4x_txq *txq)
{
	txq->done = txq->pi;
	mlx4x_tx_free_done(txq);
}

/* Waits a bounded time until the device has sent what is in the ring. */
void
mlx4x_txq_drain(struct mlx4x_txq *txq)
{
	unsigned int waited_us = 0;

	while (mlx4x_tx_poll(txq) && txq->done != txq->pi && waited_us < DRAIN_US) {
		rte_delay_us_sleep(DRAIN_STEP_US);
		waited_us += DRAIN_STEP_US;
	}
}

static int
set_state(struct mlx4x_txq *txq, enum ibv_qp_state state, int mask)
{
	struct ibv_qp_attr attr = {
		.qp_state = state,
		.port_num = txq->port->number,
	};
	int ret = ibv_modify_qp(txq->qp, &attr, IBV_QP_STATE | mask);

	if (ret != 0 && !txq->port->dev->removed)
		MLX4X_LOG(txq->port, ERR, "Tx queue %u: cannot be set to state %d: %s", txq->idx,
			state, strerror(ret));
	return -ret;
}

/* Takes the queue from the device: it is empty, and so is its completion queue. */
static int
reset(struct mlx4x_txq *txq)
{
	uint32_t cq_ci = txq->cq_ci, nb;
	int ret = txq->qp->state == IBV_QPS_RESET ? 0 : set_state(txq, IBV_QPS_RESET, 0);

	if (ret != 0)
		return ret;
	for (nb = 0; nb <= txq->cq_mask; nb++, cq_ci++) {
		if (!mlx4x_cqe_is_ready(mlx4x_cqe_at(txq->cqes, cq_ci & txq->cq_mask,
				txq->cqe_shift), cq_ci, txq->cq_mask + 1))
			break;
	}
	txq->cq_ci = cq_ci;
	*txq->cq_db = rte_cpu_to_be_32(cq_ci & MLX4X_CQ_CI_MASK);
	mlx4x_txq_free_all(txq);
	txq->pi = 0;
	txq->ci = 0;
	txq->done = 0;
	return 0;
}

/* Resets the queue, whatever state it is in, and makes it ready to send. */
int
mlx4x_txq_restart(struct mlx4x_txq *txq)
{
	int ret = reset(txq);

	if (ret == 0)	/* libmlx4 writes the initial owner bits here */
		ret = set_state(txq, IBV_QPS_INIT, IBV_QP_PORT);
	if (ret == 0)
		ret = set_state(txq, IBV_QPS_RTR, 0);
	if (ret == 0)
		ret = set_state(txq, IBV_QPS_RTS, 0);
	if (ret != 0)
		return ret;
	mlx4x_tx_flush_mr_cache(txq);
	mlx4x_store_release(&txq->state, MLX4X_QUEUE_RUNNING);
	if (!txq->internal)
		txq->port->data->tx_queue_state[txq->idx] = RTE_ETH_QUEUE_STATE_STARTED;
	return 0;
}

int
mlx4x_tx_queue_start(struct rte_eth_dev *eth_dev, uint16_t idx)
{
	struct mlx4x_txq *txq = eth_dev->data->tx_queues[idx];
	int ret;

	mlx4x_lock(txq->port->dev);
	ret = mlx4x_txq_restart(txq);
	mlx4x_unlock(txq->port->dev);
	return ret;
}

/* No burst sends from here on; what was sent goes out first. */
int
mlx4x_txq_stop(struct mlx4x_txq *txq)
{
	mlx4x_store_release(&txq->state, MLX4X_QUEUE_STOPPED);
	mlx4x_txq_drain(txq);
	return reset(txq);
}

int
mlx4x_tx_queue_stop(struct rte_eth_dev *eth_dev, uint16_t idx)
{
	struct mlx4x_txq *txq = eth_dev->data->tx_queues[idx];
	enum mlx4x_queue_state before;
	int ret;

	mlx4x_lock(txq->port->dev);
	before = txq->state;
	ret = mlx4x_txq_stop(txq);
	if (ret == 0)
		eth_dev->data->tx_queue_state[idx] = RTE_ETH_QUEUE_STATE_STOPPED;
	else	/* the device has it still: it goes on */
		mlx4x_store_release(&txq->state, before);
	mlx4x_unlock(txq->port->dev);
	return ret;
}
