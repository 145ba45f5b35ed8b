/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * CPUMAP: where Linux starts a thread for each entry, any lcore of the application
 * polls a receive queue that the device knows nothing of. The last xdp_cpumap_queues=N
 * receive queues of a port are such software queues; key k of a CPUMAP leads to the kth
 * of them, by a ring that holds as many packets as the value's qsize says.
 *
 * What is done to packets between ring and application belongs into
 * mlx4x_cpumap_burst().
 */

#include <errno.h>
#include <stdio.h>

#include <rte_errno.h>
#include <rte_ring.h>

#include "xdp.h"
#include "xdp_ring.h"

/* Largest qsize of an entry, that of Linux. */
#define RING_SIZE 16384

/* The queue is one of software. */
int
mlx4x_cpumap_setup(struct mlx4x_rxq *rxq)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "mlx4x_cpu_%u_%u", rxq->port->data->port_id, rxq->idx);
	rxq->ring = rte_ring_create(name, RING_SIZE, rxq->socket, RING_F_EXACT_SZ | RING_F_SC_DEQ);
	if (rxq->ring != NULL)
		return 0;
	MLX4X_LOG(rxq->port, ERR, "Rx queue %u: no ring of %u packets: %s", rxq->idx, RING_SIZE,
		rte_strerror(rte_errno));
	return -rte_errno;
}

/* Nobody writes to the ring or polls it. Packets that nobody fetched are freed. */
void
mlx4x_cpumap_drain(struct mlx4x_rxq *rxq)
{
	struct rte_mbuf *pkts[MLX4X_XDP_BATCH];
	unsigned int nb;

	while ((nb = rte_ring_sc_dequeue_burst(rxq->ring, (void **)pkts, RTE_DIM(pkts), NULL)) != 0)
		rte_pktmbuf_free_bulk(pkts, nb);
}

void
mlx4x_cpumap_release(struct mlx4x_rxq *rxq)
{
	if (rxq->ring == NULL)
		return;
	mlx4x_cpumap_drain(rxq);
	rte_ring_free(rxq->ring);
}

struct rte_ring *
mlx4x_cpumap_ring(const struct mlx4x_port *port, uint32_t cpu)
{
	const struct mlx4x_rxq *rxq;

	if (cpu >= port->nb_soft_queues)
		return NULL;
	rxq = port->data->rx_queues[mlx4x_nb_device_rxqs(port) + cpu];
	return rxq->ring;
}

uint16_t
mlx4x_cpumap_burst(struct mlx4x_rxq *rxq, struct rte_mbuf **pkts, uint16_t nb_pkts)
{
	uint16_t n = rte_ring_sc_dequeue_burst(rxq->ring, (void **)pkts, nb_pkts, NULL), i;

	for (i = 0; i < n; i++)
		rxq->stats.bytes += pkts[i]->pkt_len;
	rxq->stats.packets += n;
	return n;
}
