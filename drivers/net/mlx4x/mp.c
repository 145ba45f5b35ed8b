/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Secondary processes. Queues, their rings and the table of memory keys lie in shared
 * memory; so a secondary process that the application has given a queue to receives
 * and sends on it like the primary. What each process needs for itself is a mapping of
 * the doorbell page, through the descriptor of the primary's verbs context, and the
 * addresses of the burst functions in its own copy of this library.
 *
 * Memory that a secondary's burst meets first is registered by the primary, and a
 * broken queue is repaired there: both are asked for through the queue (recovery.c).
 *
 * When a port starts or stops, the primary tells all secondaries, because ethdev keeps
 * the burst functions of each process for itself; and when it closes one, because ethdev
 * frees what the others point to. DPDK's message thread calls the handlers; they take no
 * lock of the driver.
 */

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>

#include "mlx4x.h"
#include "mp.h"
#include "rx_burst.h"
#include "tx_burst.h"

#define MP_NAME "net_mlx4x"
#define MP_TIMEOUT_S 5

enum mp_type {
	MP_GET_DOORBELL,	/* to the primary: the descriptor to map the page from */
	MP_START,		/* to all secondaries, with that descriptor */
	MP_STOP,
	MP_CLOSE,
};

struct mp_param {
	uint32_t type;
	int32_t result;
	uint16_t port_id;
};

/* Ports of each device that this secondary process uses. */
static unsigned int nb_attached[MLX4X_MAX_DEVICES];

static unsigned int nb_users;

static struct mp_param *
compose(struct rte_mp_msg *msg, enum mp_type type, uint16_t port_id)
{
	struct mp_param *param = (struct mp_param *)msg->param;

	memset(msg, 0, sizeof(*msg));
	snprintf(msg->name, sizeof(msg->name), MP_NAME);
	msg->len_param = sizeof(*param);
	param->type = type;
	param->port_id = port_id;
	return param;
}

/* The port that a message is about, NULL if this process does not have it. */
static struct rte_eth_dev *
port_of(const struct mp_param *param, const struct eth_dev_ops *ops)
{
	struct rte_eth_dev *eth_dev = param->port_id < RTE_MAX_ETHPORTS ?
		&rte_eth_devices[param->port_id] : NULL;

	return eth_dev != NULL && eth_dev->dev_ops == ops ? eth_dev : NULL;
}

static int
answer_secondary(const struct rte_mp_msg *request, const void *peer)
{
	const struct mp_param *asked = (const struct mp_param *)request->param;
	struct rte_eth_dev *eth_dev = port_of(asked, &mlx4x_ops);
	struct rte_mp_msg reply;
	struct mp_param *param = compose(&reply, asked->type, asked->port_id);

	if (eth_dev == NULL) {
		param->result = -ENODEV;
	} else {
		reply.num_fds = 1;
		reply.fds[0] = mlx4x_port_of(eth_dev)->dev->ctx->cmd_fd;
	}
	return rte_mp_reply(&reply, peer);
}

static void
unmap_doorbells(const struct mlx4x_dev *dev)
{
	if (mlx4x_uar[dev->id] != NULL)
		munmap(mlx4x_uar[dev->id], sysconf(_SC_PAGESIZE));
	mlx4x_uar[dev->id] = NULL;
}

/* A page of a device that the primary has closed meanwhile is replaced. */
static int
map_doorbells(const struct mlx4x_dev *dev, int fd)
{
	static uint64_t mapped_instance[MLX4X_MAX_DEVICES];
	void *page;

	if (mlx4x_uar[dev->id] != NULL && mapped_instance[dev->id] == dev->instance)
		return 0;
	unmap_doorbells(dev);
	page = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_WRITE, MAP_SHARED, fd, dev->uar_offset);
	if (page == MAP_FAILED)
		return -errno;
	mlx4x_uar[dev->id] = page;
	mapped_instance[dev->id] = dev->instance;
	return 0;
}

/* A program's code and maps are the primary's. */
static bool
has_program(const struct rte_eth_dev_data *data)
{
	uint16_t i;

	for (i = 0; i < data->nb_rx_queues; i++) {
		if (((const struct mlx4x_rxq *)data->rx_queues[i])->xdp != NULL)
			return true;
	}
	return false;
}

/*
 * Burst functions of this process. ethdev reads its own copy of them, which it fills
 * in a secondary process only when the port is probed.
 */
static void
set_bursts(struct rte_eth_dev *eth_dev, bool started)
{
	struct rte_eth_fp_ops *fast = &rte_eth_fp_ops[eth_dev->data->port_id];

	eth_dev->rx_pkt_burst = mlx4x_rx_burst_stopped;
	eth_dev->tx_pkt_burst = mlx4x_tx_burst_stopped;
	if (started) {
		if (!has_program(eth_dev->data))
			eth_dev->rx_pkt_burst = mlx4x_rx_select(eth_dev);
		eth_dev->tx_pkt_burst = mlx4x_tx_select(eth_dev);
	}
	fast->rxq.data = eth_dev->data->rx_queues;
	fast->txq.data = eth_dev->data->tx_queues;
	mlx4x_store_release(&fast->rx_pkt_burst, eth_dev->rx_pkt_burst);
	mlx4x_store_release(&fast->tx_pkt_burst, eth_dev->tx_pkt_burst);
}

/* The port is gone for this process too: it gets ENODEV from ethdev. */
static int
forget_port(struct rte_eth_dev *eth_dev)
{
	mlx4x_mp_detach(eth_dev);
	return rte_eth_dev_release_port(eth_dev);
}

static int
follow_primary(struct rte_eth_dev *eth_dev, const struct rte_mp_msg *request, enum mp_type type)
{
	int ret = 0;

	if (type == MP_CLOSE)
		return forget_port(eth_dev);
	if (type == MP_START)
		ret = map_doorbells(mlx4x_port_of(eth_dev)->dev, request->fds[0]);
	set_bursts(eth_dev, type == MP_START && ret == 0);
	return ret;
}

static int
answer_primary(const struct rte_mp_msg *request, const void *peer)
{
	const struct mp_param *told = (const struct mp_param *)request->param;
	struct rte_eth_dev *eth_dev = port_of(told, &mlx4x_secondary_ops);
	struct rte_mp_msg reply;
	struct mp_param *param = compose(&reply, told->type, told->port_id);

	if (eth_dev != NULL)
		param->result = follow_primary(eth_dev, request, told->type);
	if (request->num_fds != 0)
		close(request->fds[0]);
	return rte_mp_reply(&reply, peer);
}

/* Called for each device that is opened; without shared memory it is no error. */
int
mlx4x_mp_init(void)
{
	bool primary = rte_eal_process_type() == RTE_PROC_PRIMARY;

	if (nb_users++ != 0)
		return 0;
	if (rte_mp_action_register(MP_NAME, primary ? answer_secondary : answer_primary) == 0 ||
	    rte_errno == ENOTSUP)
		return 0;
	nb_users = 0;
	MLX4X_INIT_LOG(ERR, "cannot listen to other processes: %s", rte_strerror(rte_errno));
	return -rte_errno;
}

void
mlx4x_mp_fini(void)
{
	if (--nb_users == 0)
		rte_mp_action_unregister(MP_NAME);
}

static void
tell_secondaries(const struct mlx4x_port *port, enum mp_type type)
{
	const struct timespec timeout = { .tv_sec = MP_TIMEOUT_S };
	struct rte_mp_reply replies = { 0 };
	struct rte_mp_msg msg;
	int i;

	/* Those that have no port of the device would not answer, and be waited for. */
	if (mlx4x_load_acquire(&port->dev->nb_secondaries) == 0)
		return;
	compose(&msg, type, port->data->port_id);
	if (type == MP_START) {
		msg.num_fds = 1;
		msg.fds[0] = port->dev->ctx->cmd_fd;
	}
	if (rte_mp_request_sync(&msg, &replies, &timeout) != 0 && rte_errno != ENOTSUP)
		MLX4X_LOG(port, WARNING, "cannot reach secondary processes: %s",
			rte_strerror(rte_errno));
	for (i = 0; i < replies.nb_received; i++) {
		const struct mp_param *param = (const struct mp_param *)replies.msgs[i].param;

		if (param->result != 0)
			MLX4X_LOG(port, WARNING, "a secondary process cannot use the port: %s",
				strerror(-param->result));
	}
	free(replies.msgs);
}

void
mlx4x_mp_tell_start(const struct mlx4x_port *port)
{
	tell_secondaries(port, MP_START);
}

void
mlx4x_mp_tell_stop(const struct mlx4x_port *port)
{
	tell_secondaries(port, MP_STOP);
}

void
mlx4x_mp_tell_close(const struct mlx4x_port *port)
{
	tell_secondaries(port, MP_CLOSE);
}

static int
get_doorbells(const struct rte_eth_dev *eth_dev)
{
	const struct timespec timeout = { .tv_sec = MP_TIMEOUT_S };
	struct rte_mp_reply replies = { 0 };
	const struct mp_param *param;
	struct rte_mp_msg msg;
	int ret = -EIO;

	compose(&msg, MP_GET_DOORBELL, eth_dev->data->port_id);
	if (rte_mp_request_sync(&msg, &replies, &timeout) != 0)
		return -rte_errno;
	if (replies.nb_received == 1) {
		param = (const struct mp_param *)replies.msgs[0].param;
		ret = param->result;
		if (ret == 0 && replies.msgs[0].num_fds == 1) {
			const struct mlx4x_port *port = eth_dev->data->dev_private;

			ret = map_doorbells(port->dev, replies.msgs[0].fds[0]);
			close(replies.msgs[0].fds[0]);
		}
	}
	free(replies.msgs);
	return ret;
}

/* What a secondary process has once listened to, it listens to until it ends. */
static int
listen_to_primary(void)
{
	return nb_users == 0 ? mlx4x_mp_init() : 0;
}

/* A secondary process begins to use a port, which may be started already. */
int
mlx4x_mp_attach(struct rte_eth_dev *eth_dev)
{
	struct mlx4x_port *port = mlx4x_port_of(eth_dev);
	int ret = listen_to_primary();

	if (ret != 0)
		return ret;
	set_bursts(eth_dev, false);
	/* From here on a start is heard of. */
	mlx4x_add_relaxed(&port->dev->nb_secondaries, 1);
	nb_attached[port->dev->id]++;
	if (!mlx4x_load_acquire(&port->started))
		return 0;
	ret = get_doorbells(eth_dev);
	if (ret == 0) {
		set_bursts(eth_dev, true);
		return 0;
	}
	MLX4X_INIT_LOG(ERR, "%s: the primary process does not give its doorbell page: %s",
		eth_dev->data->name, strerror(-ret));
	mlx4x_mp_detach(eth_dev);
	return ret;
}

void
mlx4x_mp_detach(struct rte_eth_dev *eth_dev)
{
	struct mlx4x_dev *dev;

	if (mlx4x_port_of(eth_dev) == NULL)
		return;		/* the primary has closed the port: nothing is left of it */
	dev = mlx4x_port_of(eth_dev)->dev;
	set_bursts(eth_dev, false);
	mlx4x_add_relaxed(&dev->nb_secondaries, -1);
	if (--nb_attached[dev->id] == 0)
		unmap_doorbells(dev);
}
