/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Receive queues: setting up, creating their verbs objects, filling, stopping.
 *
 * The verbs objects of all queues of a port are created together when it starts,
 * because the device spreads a hash over work queues whose numbers follow each
 * other: see number_block(). They go when the port stops; stopping one queue only
 * resets it.
 */

#include <errno.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_malloc.h>

#include "barrier.h"
#include "mlx4x.h"
#include "xdp.h"
#include "xdp_ring.h"

/* Descriptors that are refilled together: a burst's worth. */
#define REFILL_BATCH 32

/* Most bytes of a frame, as the buffers of the queue must hold it. */
uint32_t
mlx4x_rxq_max_frame(const struct mlx4x_rxq *rxq, uint16_t mtu)
{
	return mtu + MLX4X_FRAME_OVERHEAD +
		(rxq->offloads & RTE_ETH_RX_OFFLOAD_KEEP_CRC ? RTE_ETHER_CRC_LEN : 0);
}

/* Buffers that a frame of an MTU can take, 0 (explained) if it cannot be received. */
uint32_t
mlx4x_rxq_nb_sges(const struct mlx4x_rxq *rxq, uint16_t mtu)
{
	uint32_t room = rte_pktmbuf_data_room_size(rxq->mp);
	uint32_t frame = mlx4x_rxq_max_frame(rxq, mtu);
	uint32_t headroom = rxq->port->started ? rxq->headroom : RTE_PKTMBUF_HEADROOM;
	uint32_t nb_sges = 1 + (frame + headroom - 1) / room;

	if (frame + headroom <= room)
		return 1;
	if (rxq->offloads & RTE_ETH_RX_OFFLOAD_SCATTER && nb_sges <= MLX4X_MAX_SGES)
		return nb_sges;
	MLX4X_LOG(rxq->port, ERR, "Rx queue %u: frames of MTU %u take up to %u bytes, an mbuf of "
		"%s holds %u; %s", rxq->idx, mtu, frame, rxq->mp->name, room - headroom,
		rxq->offloads & RTE_ETH_RX_OFFLOAD_SCATTER ? "32 of them are not enough" :
		"ask for scattered Rx, larger mbufs or a smaller MTU");
	return 0;
}

static int
check_setup(const struct mlx4x_port *port, uint16_t idx, uint16_t nb_desc,
	const struct rte_mempool *mp)
{
	if (nb_desc < MLX4X_MIN_DESC || nb_desc > rte_align32prevpow2(port->dev->caps.max_wr)) {
		MLX4X_LOG(port, ERR, "Rx queue %u: %u descriptors; from %u to %u are possible", idx,
			nb_desc, MLX4X_MIN_DESC, rte_align32prevpow2(port->dev->caps.max_wr));
		return -EINVAL;
	}
	if (mp == NULL) {
		MLX4X_LOG(port, ERR, "Rx queue %u: needs one mempool; frames are not split", idx);
		return -ENOTSUP;
	}
	if (rte_pktmbuf_data_room_size((struct rte_mempool *)(uintptr_t)mp) <= RTE_PKTMBUF_HEADROOM) {
		MLX4X_LOG(port, ERR, "Rx queue %u: the mbufs of %s have no room beyond their "
			"headroom of %u", idx, mp->name, RTE_PKTMBUF_HEADROOM);
		return -EINVAL;
	}
	return 0;
}

/* The first word of an mbuf that is handed up. */
static uint64_t
rearm_word(const struct mlx4x_rxq *rxq)
{
	struct rte_mbuf mbuf = {
		.data_off = rxq->headroom,
		.refcnt = 1,
		.nb_segs = 1,
		.port = rxq->port->data->port_id,
	};
	uint64_t word;

	memcpy(&word, &mbuf.rearm_data, sizeof(word));
	return word;
}

int
mlx4x_rx_queue_setup(struct rte_eth_dev *eth_dev, uint16_t idx, uint16_t nb_desc,
	unsigned int socket, const struct rte_eth_rxconf *conf, struct rte_mempool *mp)
{
	struct mlx4x_port *port = mlx4x_port_of(eth_dev);
	struct mlx4x_rxq *rxq;
	int ret = check_setup(port, idx, nb_desc, mp);

	if (ret != 0)
		return ret;
	mlx4x_rx_queue_release(eth_dev, idx);
	rxq = rte_zmalloc_socket("mlx4x Rx queue", sizeof(*rxq), RTE_CACHE_LINE_SIZE, socket);
	if (rxq == NULL) {
		MLX4X_LOG(port, ERR, "Rx queue %u: no memory on socket %d", idx, (int)socket);
		return -ENOMEM;
	}
	rxq->port = port;
	rxq->idx = idx;
	rxq->mp = mp;
	rxq->nb_desc = rte_align32pow2(nb_desc);
	rxq->socket = socket;
	rxq->offloads = conf->offloads | eth_dev->data->dev_conf.rxmode.offloads;
	rxq->deferred_start = conf->rx_deferred_start;
	rxq->meaning = port->meaning;
	rxq->state = MLX4X_QUEUE_STOPPED;
	if (mlx4x_rxq_nb_sges(rxq, eth_dev->data->mtu) == 0)
		ret = -EINVAL;
	else if (idx >= mlx4x_nb_device_rxqs(port))
		ret = mlx4x_cpumap_setup(rxq);
	if (ret != 0) {
		rte_free(rxq);
		return ret;
	}
	eth_dev->data->rx_queues[idx] = rxq;
	return 0;
}

/*
 * Gives all buffers back. A single-segment burst does not clear the slots that it
 * empties: there, only those of posted descriptors hold a buffer.
 */
static void
free_slots(struct mlx4x_rxq *rxq)
{
	uint32_t i, nb_slots = (rxq->mask + 1) << rxq->log_sges;

	if (rxq->slots == NULL)
		return;
	if (rxq->nb_sges == 1) {
		for (i = rxq->ci; i != rxq->pi; i++)
			rte_pktmbuf_free(rxq->slots[i & rxq->mask]);
	} else {
		rte_pktmbuf_free_bulk(rxq->slots, nb_slots);
	}
	memset(rxq->slots, 0, nb_slots * sizeof(rxq->slots[0]));
	rxq->pi = rxq->ci;
}

/* Destroys what start created; harmless if it did not. */
static void
destroy(struct mlx4x_rxq *rxq)
{
	rxq->state = MLX4X_QUEUE_STOPPED;
	if (rxq->wq != NULL)
		ibv_destroy_wq(rxq->wq);
	rxq->wq = NULL;
	if (rxq->cq != NULL)
		ibv_destroy_cq(rxq->cq);
	rxq->cq = NULL;
	if (rxq->channel != NULL)
		ibv_destroy_comp_channel(rxq->channel);
	rxq->channel = NULL;
	free_slots(rxq);
	rte_free(rxq->slots);
	rxq->slots = NULL;
}

void
mlx4x_rx_queue_release(struct rte_eth_dev *eth_dev, uint16_t idx)
{
	struct mlx4x_rxq *rxq = eth_dev->data->rx_queues[idx];

	if (rxq == NULL)
		return;
	mlx4x_lock(rxq->port->dev);
	destroy(rxq);
	mlx4x_cpumap_release(rxq);
	mlx4x_unlock(rxq->port->dev);
	eth_dev->data->rx_queues[idx] = NULL;
	rte_free(rxq);
}

/*
 * What a program wants in front of a frame (Linux: XDP_PACKET_HEADROOM), if the buffers
 * have it to spare. So a program can be attached later without touching the ring.
 */
static uint16_t
headroom(const struct mlx4x_rxq *rxq)
{
	return rxq->port->data->mtu <= mlx4x_xdp_mtu_max(rxq) ?
		MLX4X_XDP_HEADROOM : RTE_PKTMBUF_HEADROOM;
}

/* Decides ring geometry and takes the slots. */
static int
lay_out(struct mlx4x_rxq *rxq)
{
	uint32_t nb_sges = mlx4x_rxq_nb_sges(rxq, rxq->port->data->mtu);
	uint32_t nb_wqes;

	if (nb_sges == 0)
		return -EINVAL;
	rxq->headroom = headroom(rxq);
	rxq->nb_sges = nb_sges;
	rxq->log_sges = rte_log2_u32(nb_sges);
	nb_wqes = RTE_MAX(rte_align32prevpow2(rxq->nb_desc / nb_sges), 4u);
	rxq->mask = nb_wqes - 1;
	rxq->refill_batch = RTE_MIN(nb_wqes / 4, (uint32_t)REFILL_BATCH);
	rxq->ci = 0;
	rxq->pi = 0;
	rxq->cq_offset = 0;
	rxq->crc_len = rxq->offloads & RTE_ETH_RX_OFFLOAD_KEEP_CRC ? RTE_ETHER_CRC_LEN : 0;
	rxq->rearm = rearm_word(rxq);
	rxq->data_offset = sizeof(struct rte_mbuf) + rte_pktmbuf_priv_size(rxq->mp) + rxq->headroom;
	rxq->slots = rte_zmalloc_socket("mlx4x Rx slots",
		((size_t)nb_wqes << rxq->log_sges) * sizeof(rxq->slots[0]), RTE_CACHE_LINE_SIZE,
		rxq->socket);
	if (rxq->slots == NULL) {
		MLX4X_LOG(rxq->port, ERR, "Rx queue %u: no memory for its slots on socket %d",
			rxq->idx, rxq->socket);
		return -ENOMEM;
	}
	return 0;
}

static int
create_channel(struct mlx4x_rxq *rxq)
{
	if (!rxq->port->data->dev_conf.intr_conf.rxq)
		return 0;
	rxq->channel = ibv_create_comp_channel(rxq->port->dev->ctx);
	return rxq->channel == NULL ? -errno : 0;
}

static int
create_cq(struct mlx4x_rxq *rxq)
{
	struct ibv_context *ctx = rxq->port->dev->ctx;
	int vector = rxq->idx % ctx->num_comp_vectors;
	struct ibv_cq_init_attr_ex attr = {
		.cqe = rxq->mask,	/* libmlx4 makes mask + 1 of it, a power of two */
		.channel = rxq->channel,
		.comp_vector = vector,
		.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
	};

	if (rxq->offloads & RTE_ETH_RX_OFFLOAD_TIMESTAMP) {
		struct ibv_cq_ex *cq = ibv_create_cq_ex(ctx, &attr);

		rxq->cq = cq == NULL ? NULL : ibv_cq_ex_to_cq(cq);
	} else {
		rxq->cq = ibv_create_cq(ctx, rxq->mask, NULL, rxq->channel, vector);
	}
	return rxq->cq == NULL ? -errno : 0;
}

static int
create_wq(struct mlx4x_rxq *rxq)
{
	struct ibv_wq_init_attr attr = {
		.wq_type = IBV_WQT_RQ,
		.max_wr = rxq->mask + 1,
		.max_sge = rxq->nb_sges,
		.pd = rxq->port->dev->pd,
		.cq = rxq->cq,
		.comp_mask = IBV_WQ_INIT_ATTR_FLAGS,
		.create_flags = rxq->crc_len != 0 ? IBV_WQ_FLAGS_SCATTER_FCS : 0,
	};

	rxq->wq = ibv_create_wq(rxq->port->dev->ctx, &attr);
	return rxq->wq == NULL ? -errno : 0;
}

static int
map_rings(struct mlx4x_rxq *rxq)
{
	struct mlx4dv_rwq rwq = { 0 };
	struct mlx4dv_obj obj = {
		.cq = { .in = rxq->cq, .out = &rxq->dv_cq },
		.rwq = { .in = rxq->wq, .out = &rwq },
	};
	int ret;

	memset(&rxq->dv_cq, 0, sizeof(rxq->dv_cq));
	rxq->dv_cq.comp_mask = MLX4DV_CQ_MASK_UAR;
	ret = mlx4dv_init_obj(&obj, MLX4DV_OBJ_CQ | MLX4DV_OBJ_RWQ);
	if (ret != 0)
		return -ret;
	if (rxq->dv_cq.cqe_cnt != rxq->mask + 1 || rwq.rq.wqe_cnt != rxq->mask + 1)
		return -EPROTO;
	rxq->cqes = (const uint8_t *)rxq->dv_cq.buf.buf +
		rxq->dv_cq.cqe_size - sizeof(struct mlx4x_cqe);
	rxq->cqe_shift = rte_log2_u32(rxq->dv_cq.cqe_size);
	rxq->cq_db = rxq->dv_cq.set_ci_db;
	rxq->wqes = (uint8_t *)rwq.buf.buf + rwq.rq.offset;
	rxq->log_stride = rwq.rq.wqe_shift;
	rxq->rq_db = rwq.rdb;
	mlx4x_uar[rxq->port->dev->id] = rxq->dv_cq.cq_uar;
	return 0;
}

/* Writes what stays the same in all descriptors: lengths, the key, the ends of lists. */
static void
write_constants(struct mlx4x_rxq *rxq)
{
	uint32_t room = rte_pktmbuf_data_room_size(rxq->mp);
	uint32_t per_wqe = (1u << rxq->log_stride) / sizeof(struct mlx4x_wqe_data);
	uint32_t i, j;

	for (i = 0; i <= rxq->mask; i++) {
		struct mlx4x_wqe_data *seg = (void *)(rxq->wqes + ((size_t)i << rxq->log_stride));

		for (j = 0; j < per_wqe; j++, seg++) {
			bool used = j < rxq->nb_sges;

			seg->byte_count = rte_cpu_to_be_32(!used ? 0 :
				j == 0 ? room - rxq->headroom : room);
			seg->lkey = used ? rxq->mr.lkey : RTE_BE32(MLX4X_INVALID_LKEY);
			seg->addr = 0;
		}
	}
}

static int
fill(struct mlx4x_rxq *rxq)
{
	mlx4x_rx_refill(rxq);
	if (rxq->pi == rxq->mask + 1)
		return 0;
	MLX4X_LOG(rxq->port, ERR, "Rx queue %u: mempool %s has buffers for %u of %u descriptors",
		rxq->idx, rxq->mp->name, rxq->pi, rxq->mask + 1);
	return -ENOMEM;
}

static int
set_state(struct mlx4x_rxq *rxq, enum ibv_wq_state state)
{
	struct ibv_wq_attr attr = {
		.attr_mask = IBV_WQ_ATTR_STATE,
		.wq_state = state,
	};
	int ret = ibv_modify_wq(rxq->wq, &attr);

	if (ret != 0)
		MLX4X_LOG(rxq->port, ERR, "Rx queue %u: cannot be set to state %d: %s", rxq->idx,
			state, strerror(ret));
	return -ret;
}

/* A queue that is reset and empty is filled and may receive. */
int
mlx4x_rxq_go(struct mlx4x_rxq *rxq)
{
	int ret = fill(rxq);

	if (ret == 0)
		ret = set_state(rxq, IBV_WQS_RDY);
	if (ret != 0) {
		free_slots(rxq);
		return ret;
	}
	/* libmlx4 clears the record when it resets a queue. */
	*rxq->rq_db = rte_cpu_to_be_32(rxq->pi & UINT16_MAX);
	mlx4x_store_release(&rxq->state, MLX4X_QUEUE_RUNNING);
	rxq->port->data->rx_queue_state[rxq->idx] = RTE_ETH_QUEUE_STATE_STARTED;
	return 0;
}

/* The device stops using the queue; its buffers go back, completions are forgotten. */
int
mlx4x_rxq_reset(struct mlx4x_rxq *rxq)
{
	uint32_t nb, cq_ci = rxq->ci + rxq->cq_offset;
	int ret = set_state(rxq, IBV_WQS_RESET);

	if (ret != 0)
		return ret;
	for (nb = 0; nb <= rxq->mask; nb++, cq_ci++) {
		if (!mlx4x_cqe_is_ready(mlx4x_cqe_at(rxq->cqes, cq_ci & rxq->mask, rxq->cqe_shift),
				cq_ci, rxq->mask + 1))
			break;
	}
	*rxq->cq_db = rte_cpu_to_be_32(cq_ci & MLX4X_CQ_CI_MASK);
	free_slots(rxq);
	rxq->ci = 0;
	rxq->pi = 0;
	rxq->cq_offset = cq_ci;
	return 0;
}

static int
create(struct mlx4x_rxq *rxq)
{
	struct mlx4x_dev *dev = rxq->port->dev;
	const char *step = "memory regions";
	int ret = lay_out(rxq);

	if (ret != 0)
		return ret;
	ret = mlx4x_mr_add_pool(dev, rxq->mp);
	if (ret == 0) {
		rxq->computed_addr = mlx4x_mr_pool_is_one_range(dev, rxq->mp, &rxq->mr);
		step = "a completion channel";
		ret = create_channel(rxq);
	}
	dev->alloc_socket = rxq->socket;
	if (ret == 0) {
		step = "a completion queue";
		ret = create_cq(rxq);
	}
	if (ret == 0) {
		step = "a work queue";
		ret = create_wq(rxq);
	}
	if (ret == 0) {
		step = "direct access to its rings";
		ret = map_rings(rxq);
	}
	if (ret != 0) {
		MLX4X_LOG(rxq->port, ERR, "Rx queue %u: cannot get %s: %s", rxq->idx, step,
			strerror(-ret));
		return ret;
	}
	write_constants(rxq);
	return rxq->deferred_start ? 0 : mlx4x_rxq_go(rxq);
}

/*
 * Work queue numbers. A hash spreads over a power of two of queues whose numbers
 * follow each other and start at a multiple of it. The queues of a port are divided
 * into such blocks, large to small: 6 queues are 0-3 and 4-5. The range of numbers is
 * asked for with the first queue of a block and is used up with its last, which the
 * kernel wants before the next range (mlx4_ib_alloc_wqn()).
 */
static uint32_t
number_block(uint32_t idx, uint32_t nb_queues)
{
	uint32_t start = 0, size = rte_align32prevpow2(nb_queues);

	while (start + size <= idx) {
		start += size;
		size = rte_align32prevpow2(nb_queues - start);
	}
	return start == idx ? size : 0;
}

static int
open_number_block(struct mlx4x_port *port, uint32_t idx)
{
	uint32_t size = number_block(idx, mlx4x_nb_device_rxqs(port));
	uint8_t log_size = size == 0 ? 0 : rte_log2_u32(size);
	int ret;

	if (log_size == 0)
		return 0;
	ret = mlx4dv_set_context_attr(port->dev->ctx, MLX4DV_SET_CTX_ATTR_LOG_WQS_RANGE_SZ,
		&log_size);
	if (ret != 0)
		MLX4X_LOG(port, ERR, "cannot ask for %u work queue numbers in a row: %s", size,
			strerror(ret));
	return -ret;
}

/* ethdev starts a port also when its number of queues was raised, and no more set up. */
static int
check_set_up(const struct mlx4x_port *port)
{
	uint32_t i;

	for (i = 0; i < port->data->nb_rx_queues; i++) {
		if (port->data->rx_queues[i] == NULL) {
			MLX4X_LOG(port, ERR, "Rx queue %u of %u is not set up", i,
				port->data->nb_rx_queues);
			return -EINVAL;
		}
	}
	return 0;
}

int
mlx4x_rxq_start_all(struct mlx4x_port *port)
{
	struct rte_eth_dev_data *data = port->data;
	uint32_t i, block_start = 0;
	int ret = check_set_up(port);

	if (ret != 0)
		return ret;

	for (i = 0; i < mlx4x_nb_device_rxqs(port) && ret == 0; i++) {
		struct mlx4x_rxq *rxq = data->rx_queues[i];

		if (number_block(i, mlx4x_nb_device_rxqs(port)) != 0)
			block_start = i;
		ret = open_number_block(port, i);
		if (ret == 0)
			ret = create(rxq);
		if (ret == 0 && rxq->wq->wq_num - i !=
				((struct mlx4x_rxq *)data->rx_queues[block_start])->wq->wq_num -
				block_start) {
			MLX4X_LOG(port, ERR, "work queue numbers are not in a row");
			ret = -EPROTO;
		}
	}
	for (; i < data->nb_rx_queues && ret == 0; i++)	/* those of software */
		data->rx_queue_state[i] = RTE_ETH_QUEUE_STATE_STARTED;
	if (ret != 0)
		mlx4x_rxq_stop_all(port);
	return ret;
}

void
mlx4x_rxq_stop_all(struct mlx4x_port *port)
{
	uint32_t i;

	for (i = 0; i < port->data->nb_rx_queues; i++) {
		struct mlx4x_rxq *rxq = port->data->rx_queues[i];

		if (rxq != NULL && rxq->ring != NULL)
			mlx4x_cpumap_drain(rxq);
		else if (rxq != NULL)
			destroy(rxq);
		port->data->rx_queue_state[i] = RTE_ETH_QUEUE_STATE_STOPPED;
	}
}

static int
refuse_soft(const struct mlx4x_rxq *rxq)
{
	MLX4X_LOG(rxq->port, ERR, "Rx queue %u is one of software (xdp_cpumap_queues): it starts and "
		"stops with the port", rxq->idx);
	return -ENOTSUP;
}

int
mlx4x_rx_queue_start(struct rte_eth_dev *eth_dev, uint16_t idx)
{
	struct mlx4x_rxq *rxq = eth_dev->data->rx_queues[idx];
	int ret;

	if (rxq->ring != NULL)
		return refuse_soft(rxq);
	mlx4x_lock(rxq->port->dev);
	ret = mlx4x_rxq_go(rxq);
	mlx4x_unlock(rxq->port->dev);
	return ret;
}

int
mlx4x_rx_queue_stop(struct rte_eth_dev *eth_dev, uint16_t idx)
{
	struct mlx4x_rxq *rxq = eth_dev->data->rx_queues[idx];
	enum mlx4x_queue_state before;
	int ret;

	if (rxq->ring != NULL)
		return refuse_soft(rxq);
	mlx4x_lock(rxq->port->dev);
	before = rxq->state;
	mlx4x_store_release(&rxq->state, MLX4X_QUEUE_STOPPED);
	ret = mlx4x_rxq_reset(rxq);
	if (ret == 0)
		eth_dev->data->rx_queue_state[idx] = RTE_ETH_QUEUE_STATE_STOPPED;
	else	/* the device has it still: it goes on */
		mlx4x_store_release(&rxq->state, before);
	mlx4x_unlock(rxq->port->dev);
	return ret;
}
