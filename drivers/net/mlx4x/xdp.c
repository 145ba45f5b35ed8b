/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Which program judges which queue: attaching, replacing and detaching while traffic
 * flows.
 *
 * A burst holds a program only between going online and going offline (rx_xdp.c). So a
 * change is: prepare everything that can fail, swap one pointer per queue, wait until
 * no burst can hold the old pointer (xdpvm_synchronize()), free what it led to. A queue
 * that gets its first program gets a struct mlx4x_xdp with a send queue; a queue that
 * loses its last one loses them. The burst function of the port looks for programs only
 * while the port has any.
 */

#include <errno.h>
#include <string.h>

#include <rte_malloc.h>
#include <rte_string_fns.h>

#include "mp.h"
#include "rx_burst.h"
#include "rx_common.h"
#include "xdp.h"

static pthread_mutex_t xdp_mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void
mlx4x_xdp_lock(void)
{
	pthread_mutex_lock(&xdp_mutex);
}

void
mlx4x_xdp_unlock(void)
{
	pthread_mutex_unlock(&xdp_mutex);
}

int
mlx4x_xdp_port_find(uint16_t port_id, struct mlx4x_port **port)
{
	struct rte_eth_dev *eth_dev;

	*port = NULL;
	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return mlx4x_xdp_refuse(NULL, ENOTSUP, "only the primary process answers for "
			"ports and their programs");
	eth_dev = rte_eth_dev_is_valid_port(port_id) ? &rte_eth_devices[port_id] : NULL;
	if (eth_dev == NULL || eth_dev->dev_ops != &mlx4x_ops)
		return mlx4x_xdp_refuse(NULL, ENODEV, "port %u is not a port of "
			RTE_PMD_MLX4X_DRIVER_NAME, port_id);
	*port = mlx4x_port_of(eth_dev);
	return 0;
}

/* Largest MTU whose frames fit one buffer behind a program's headroom. */
uint32_t
mlx4x_xdp_mtu_max(const struct mlx4x_rxq *rxq)
{
	uint32_t taken = MLX4X_XDP_HEADROOM + mlx4x_rxq_max_frame(rxq, 0);
	uint32_t room = rte_pktmbuf_data_room_size(rxq->mp);

	return room > taken ? room - taken : 0;
}

/* Programs judge whole frames in one buffer, with the headroom of Linux. */
int
mlx4x_xdp_check_mtu(const struct mlx4x_rxq *rxq, uint16_t mtu)
{
	const struct mlx4x_xdp_prog *prog = mlx4x_xdp_prog_of(rxq->port->xdp, rxq->idx);
	uint32_t mtu_max = mlx4x_xdp_mtu_max(rxq);

	if (mtu > mtu_max)
		return mlx4x_xdp_refuse(rxq->port, EOPNOTSUPP, "Rx queue %u: MTU %u is above %u, the "
			"largest with a program%s%s: a frame must fit one buffer of %s (%u bytes) "
			"behind %u bytes of headroom", rxq->idx, mtu, mtu_max,
			prog != NULL ? ", and it has " : "", prog != NULL ? prog->name : "",
			rxq->mp->name, rte_pktmbuf_data_room_size(rxq->mp), MLX4X_XDP_HEADROOM);
	if (rxq->port->started && rxq->headroom < MLX4X_XDP_HEADROOM)
		return mlx4x_xdp_refuse(rxq->port, EOPNOTSUPP, "Rx queue %u was started for a larger "
			"MTU, with %u bytes of headroom; a program needs %u: restart the port",
			rxq->idx, rxq->headroom, MLX4X_XDP_HEADROOM);
	return 0;
}

static bool
filters_loopback(const struct mlx4x_port *port)
{
	return port->dev->caps.is_vf;
}

static uint32_t
rx_features(const struct mlx4x_rxq *rxq)
{
	uint32_t features = rxq->port->dev->caps.tunnel ? MLX4X_RX_TUNNEL : 0;

	if (rxq->offloads & RTE_ETH_RX_OFFLOAD_VLAN_STRIP)
		features |= MLX4X_RX_STRIP;
	if (rxq->offloads & RTE_ETH_RX_OFFLOAD_TIMESTAMP)
		features |= MLX4X_RX_STAMP;
	return features;
}

static int
service_mtu(struct xdpvm_buff *buff, uint32_t ifindex)
{
	const struct mlx4x_xdp *xdp = container_of(buff, struct mlx4x_xdp, buff);
	uint16_t port_id;

	if (ifindex == 0 || ifindex == buff->ingress_ifindex)
		return xdp->rxq->port->data->mtu;
	RTE_ETH_FOREACH_DEV(port_id) {
		const struct rte_eth_dev *eth_dev = &rte_eth_devices[port_id];

		if (RTE_PMD_MLX4X_XDP_IFINDEX(port_id) == ifindex ||
		    (eth_dev->dev_ops == &mlx4x_ops &&
		     ((const struct mlx4x_port *)eth_dev->data->dev_private)->if_index == ifindex))
			return eth_dev->data->mtu;
	}
	return -ENODEV;
}

static const struct xdpvm_services services = {
	.fib_lookup = mlx4x_xdp_fib_lookup,
	.mtu = service_mtu,
};

/* What a queue needs to run programs; not visible to its bursts yet. */
static struct mlx4x_xdp *
new_queue(struct mlx4x_rxq *rxq)
{
	struct mlx4x_xdp *xdp = rte_zmalloc_socket("mlx4x XDP queue", sizeof(*xdp),
		RTE_CACHE_LINE_SIZE, rxq->socket);

	if (xdp == NULL) {
		mlx4x_xdp_refuse(rxq->port, ENOMEM, "Rx queue %u: no memory on socket %d", rxq->idx,
			rxq->socket);
		return NULL;
	}
	xdpvm_buff_init(&xdp->buff, rxq->port->if_index, rxq->idx);
	xdp->buff.services = &services;
	xdp->rxq = rxq;
	xdp->buf_len = rte_pktmbuf_data_room_size(rxq->mp);
	xdp->features = rx_features(rxq);
	xdp->filters_loopback = filters_loopback(rxq->port);
	xdp->own.txq = mlx4x_xdp_tx_create(xdp, rxq->port);
	if (xdp->own.txq != NULL && mlx4x_xdp_outs_init(xdp) == 0)
		return xdp;
	if (xdp->own.txq != NULL)
		mlx4x_xdp_tx_destroy(xdp->own.txq);
	rte_free(xdp);
	return NULL;
}

/* No burst sees the queue any more. Its pages go back to their pool. */
static void
free_queue(struct mlx4x_xdp *xdp)
{
	xdp->rxq->xdp_busy = false;
	mlx4x_xdp_outs_fini(xdp);
	mlx4x_xdp_tx_destroy(xdp->own.txq);
	page_pool_cache_flush(&xdp->cache, xdp->rxq->mp);
	rte_free(xdp);
}

static bool
is_used(const struct mlx4x_port *port)
{
	uint16_t i;

	for (i = 0; i < port->data->nb_rx_queues; i++) {
		if (mlx4x_xdp_prog_of(port->xdp, i) != NULL)
			return true;
	}
	return false;
}

/* The burst function of a port whose queues without a program would call plain. */
eth_rx_burst_t
mlx4x_xdp_select(struct mlx4x_port *port, eth_rx_burst_t plain)
{
	uint16_t i;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return plain;
	port->xdp->plain_burst = plain;
	for (i = 0; i < port->data->nb_rx_queues; i++) {
		struct mlx4x_rxq *rxq = port->data->rx_queues[i];

		if (rxq->xdp != NULL)
			rxq->xdp->features = rx_features(rxq);
	}
	return is_used(port) || port->nb_soft_queues != 0 ? mlx4x_rx_burst_xdp : plain;
}

/* What the lcores of a running port call from now on, in this process and in others. */
static void
select_burst(struct mlx4x_port *port)
{
	struct rte_eth_dev *eth_dev = &rte_eth_devices[port->data->port_id];

	eth_dev->rx_pkt_burst = mlx4x_rx_select(eth_dev);
	if (!port->data->dev_started)
		return;
	mlx4x_store_release(&rte_eth_fp_ops[port->data->port_id].rx_pkt_burst,
		eth_dev->rx_pkt_burst);
	mlx4x_mp_tell_start(port);
}

/* An upcoming change: what each queue gets. */
struct change {
	struct mlx4x_port *port;
	uint16_t first;
	uint16_t end;
	struct mlx4x_xdp_prog *prog;
	struct mlx4x_xdp *fresh[RTE_MAX_QUEUES_PER_PORT];
	struct mlx4x_xdp *old[RTE_MAX_QUEUES_PER_PORT];
};

static struct mlx4x_rxq *
rxq_of(const struct mlx4x_port *port, uint16_t i)
{
	return port->data->rx_queues[i];
}

/* Makes what queues will need that run no program yet. */
static int
prepare(struct change *change)
{
	uint16_t i;

	for (i = change->first; i < change->end; i++) {
		struct mlx4x_rxq *rxq = rxq_of(change->port, i);

		if (rxq == NULL || mlx4x_xdp_prog_of(change->port->xdp, i) == NULL)
			continue;
		if (mlx4x_xdp_check_mtu(rxq, change->port->data->mtu) != 0)
			return -EOPNOTSUPP;
		if (rxq->xdp != NULL || !change->port->started)
			continue;
		change->fresh[i] = new_queue(rxq);
		if (change->fresh[i] == NULL)
			return -ENOMEM;
	}
	return 0;
}

static void
forget(struct change *change)
{
	uint16_t i;

	for (i = change->first; i < change->end; i++) {
		if (change->fresh[i] != NULL)
			free_queue(change->fresh[i]);
	}
}

/* One pointer per queue. */
static void
publish(struct change *change)
{
	uint16_t i;

	for (i = change->first; i < change->end; i++) {
		struct mlx4x_xdp_prog *prog = mlx4x_xdp_prog_of(change->port->xdp, i);
		struct mlx4x_rxq *rxq = rxq_of(change->port, i);

		if (rxq == NULL)
			continue;
		if (change->fresh[i] != NULL) {
			change->fresh[i]->prog = prog;
			mlx4x_store_release(&rxq->xdp, change->fresh[i]);
		} else if (rxq->xdp != NULL && prog != NULL) {
			mlx4x_store_release(&rxq->xdp->prog, prog);
		} else if (rxq->xdp != NULL) {
			change->old[i] = rxq->xdp;
			mlx4x_store_release(&rxq->xdp, NULL);
		}
	}
}

/* Waits until no burst holds what publish() replaced, and frees that. */
static void
retire(struct change *change)
{
	uint16_t i;

	xdpvm_synchronize();
	for (i = change->first; i < change->end; i++) {
		if (change->old[i] != NULL)
			free_queue(change->old[i]);
	}
}

/* Brings the queues in line with the programs that port->xdp names. */
static int
apply(struct mlx4x_port *port, uint16_t first, uint16_t end)
{
	struct change *change = calloc(1, sizeof(*change));
	int ret;

	if (change == NULL)
		return mlx4x_xdp_refuse(port, ENOMEM, "no memory to change the program");
	change->port = port;
	change->first = first;
	change->end = end;
	ret = prepare(change);
	if (ret == 0) {
		publish(change);
		mlx4x_store_release(&port->xdp->epoch, port->xdp->epoch + 1);
		if (port->started)
			select_burst(port);
		retire(change);
	} else {
		forget(change);
	}
	free(change);
	return ret;
}

static int
check_queue(const struct mlx4x_port *port, uint16_t queue)
{
	if (queue == RTE_PMD_MLX4X_XDP_PORT || queue < mlx4x_nb_device_rxqs(port))
		return 0;
	if (queue < port->data->nb_rx_queues)
		return mlx4x_xdp_refuse(port, ENOTSUP, "Rx queue %u is one of software "
			"(xdp_cpumap_queues): its frames have met a program", queue);
	return mlx4x_xdp_refuse(port, EINVAL, "there is no Rx queue %u: the port has %u", queue,
		port->data->nb_rx_queues);
}

static struct mlx4x_xdp_prog **
place_of(struct mlx4x_port *port, uint16_t queue)
{
	return queue == RTE_PMD_MLX4X_XDP_PORT ? &port->xdp->prog : &port->xdp->queue_prog[queue];
}

static int
refuse_busy(const struct mlx4x_port *port, const struct mlx4x_xdp_prog *old)
{
	return mlx4x_xdp_refuse(port, EBUSY, "program %s (%u) is attached already; ask to replace it",
		old->name, old->id);
}

static int
check_place(const struct mlx4x_port *port, uint16_t queue, const struct mlx4x_xdp_prog *old,
	const struct mlx4x_xdp_prog *prog, bool replace)
{
	if (old != NULL && prog != NULL && !replace)
		return refuse_busy(port, old);
	if (old != NULL || prog != NULL)
		return 0;
	return queue == RTE_PMD_MLX4X_XDP_PORT ?
		mlx4x_xdp_refuse(port, ENOENT, "the port has no program") :
		mlx4x_xdp_refuse(port, ENOENT, "Rx queue %u has no program of its own", queue);
}

static int
attach_locked(struct mlx4x_port *port, uint16_t queue, struct mlx4x_xdp_prog *prog, bool replace)
{
	bool whole = queue == RTE_PMD_MLX4X_XDP_PORT;
	struct mlx4x_xdp_prog **place, *old;
	int ret = check_queue(port, queue);

	if (ret != 0)
		return ret;
	place = place_of(port, queue);
	old = *place;
	ret = check_place(port, queue, old, prog, replace);
	if (ret != 0)
		return ret;
	*place = prog;
	ret = apply(port, whole ? 0 : queue, whole ? mlx4x_nb_device_rxqs(port) : queue + 1);
	if (ret != 0)
		*place = old;
	else
		mlx4x_xdp_prog_free(old);
	return ret;
}

int
mlx4x_xdp_attach(struct mlx4x_port *port, uint16_t queue, struct mlx4x_xdp_prog *prog,
	bool replace)
{
	int ret;

	mlx4x_xdp_lock();
	mlx4x_lock(port->dev);
	ret = attach_locked(port, queue, prog, replace);
	if (ret != 0)
		mlx4x_xdp_prog_free(prog);
	mlx4x_unlock(port->dev);
	mlx4x_xdp_unlock();
	return ret;
}

int
mlx4x_xdp_append(struct mlx4x_port *port, uint16_t queue, struct mlx4x_xdp_prog *prog)
{
	struct mlx4x_xdp_prog *joined = NULL;
	const struct mlx4x_xdp_prog *old;
	int ret;

	mlx4x_xdp_lock();
	mlx4x_lock(port->dev);
	ret = check_queue(port, queue);
	old = ret == 0 ? *place_of(port, queue) : NULL;
	if (old != NULL)
		ret = mlx4x_xdp_chain_add(port, old, prog, &joined);
	if (ret == 0)
		ret = attach_locked(port, queue, joined != NULL ? joined : prog, true);
	if (ret != 0)
		mlx4x_xdp_prog_free(joined);
	if (ret != 0 || joined != NULL)
		mlx4x_xdp_prog_free(prog);
	mlx4x_unlock(port->dev);
	mlx4x_xdp_unlock();
	return ret;
}

/* -EBUSY (explained) if an attach would find a program that it may not replace. */
int
mlx4x_xdp_check_free(struct mlx4x_port *port, uint16_t queue, bool replace)
{
	const struct mlx4x_xdp_prog *old;
	int ret;

	mlx4x_lock(port->dev);
	ret = check_queue(port, queue);
	old = ret == 0 ? *place_of(port, queue) : NULL;
	if (old != NULL && !replace)
		ret = refuse_busy(port, old);
	mlx4x_unlock(port->dev);
	return ret;
}

/* id 0 detaches any program; that of one in a chain takes it out. */
int
mlx4x_xdp_detach(struct mlx4x_port *port, uint16_t queue, uint32_t id)
{
	struct mlx4x_xdp_prog *rest = NULL;
	const struct mlx4x_xdp_prog *old;
	int ret;

	mlx4x_xdp_lock();
	mlx4x_lock(port->dev);
	ret = check_queue(port, queue);
	old = ret == 0 ? *place_of(port, queue) : NULL;
	if (id != 0 && old != NULL && old->id != id) {
		ret = mlx4x_xdp_chain_remove(port, old, id, &rest);
		if (ret == 0 && rest == NULL)
			ret = mlx4x_xdp_refuse(port, ENOENT, "program %u is not attached there, but %s "
				"(%u)", id, old->name, old->id);
	}
	if (ret == 0)
		ret = attach_locked(port, queue, rest, true);
	if (ret != 0)
		mlx4x_xdp_prog_free(rest);
	mlx4x_unlock(port->dev);
	mlx4x_xdp_unlock();
	return ret;
}

static void
fill_status(const struct mlx4x_xdp_prog *prog, struct rte_pmd_mlx4x_xdp_status *status)
{
	status->id = prog->id;
	status->native = prog->prog == NULL;
	status->prog = prog->prog;
	status->object = prog->nb_links != 0 ? prog->links[0]->object : NULL;
	strlcpy(status->name, prog->name, sizeof(status->name));
	if (prog->prog != NULL)
		strlcpy(status->section, xdpvm_prog_section(prog->prog),
			sizeof(status->section));
}

int
mlx4x_xdp_status(struct mlx4x_port *port, uint16_t queue, struct rte_pmd_mlx4x_xdp_status *status)
{
	const struct mlx4x_xdp_prog *prog;
	int ret;

	memset(status, 0, sizeof(*status));
	mlx4x_lock(port->dev);
	ret = check_queue(port, queue);
	if (ret == 0) {
		prog = queue == RTE_PMD_MLX4X_XDP_PORT ? port->xdp->prog :
			mlx4x_xdp_prog_of(port->xdp, queue);
		if (prog != NULL)
			fill_status(prog, status);
	}
	mlx4x_unlock(port->dev);
	return ret;
}

/* The queues exist and nothing polls them yet. */
int
mlx4x_xdp_start(struct mlx4x_port *port)
{
	int ret = is_used(port) ? apply(port, 0, mlx4x_nb_device_rxqs(port)) : 0;

	if (ret == 0)
		mlx4x_xdp_outs_update(NULL);
	return ret;
}

/* Takes the queues their programs, which stay the port's. */
void
mlx4x_xdp_stop(struct mlx4x_port *port)
{
	struct mlx4x_xdp *old;
	uint16_t i;

	mlx4x_xdp_outs_update(port);
	for (i = 0; i < port->data->nb_rx_queues; i++) {
		struct mlx4x_rxq *rxq = rxq_of(port, i);

		if (rxq == NULL || rxq->xdp == NULL)
			continue;
		old = rxq->xdp;
		mlx4x_store_release(&rxq->xdp, NULL);
		xdpvm_synchronize();
		free_queue(old);
	}
}

int
mlx4x_xdp_init(struct mlx4x_port *port)
{
	port->xdp = rte_zmalloc_socket("mlx4x XDP port", sizeof(*port->xdp), RTE_CACHE_LINE_SIZE,
		port->dev->pci->device.numa_node);
	return port->xdp == NULL ? -ENOMEM : 0;
}

void
mlx4x_xdp_fini(struct mlx4x_port *port)
{
	uint16_t i;

	if (port->xdp == NULL)
		return;
	mlx4x_xdp_targets_fini(port);
	mlx4x_xdp_prog_free(port->xdp->prog);
	for (i = 0; i < RTE_MAX_QUEUES_PER_PORT; i++)
		mlx4x_xdp_prog_free(port->xdp->queue_prog[i]);
	rte_free(port->xdp);
	port->xdp = NULL;
}
