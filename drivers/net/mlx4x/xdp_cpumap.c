/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * CPUMAP: where Linux starts a thread for each entry, any lcore of the application
 * polls a receive queue that the device knows nothing of. The last xdp_cpumap_queues=N
 * receive queues of a port are such software queues; key k of a CPUMAP leads to the kth
 * of them, by a ring that holds as many packets as the value's qsize says.
 *
 * An entry may name a second program, which runs where the packet is fetched. It travels
 * in the next field of the mbuf, which has no other use in the ring, together with the
 * epoch of the port's programs: when those have changed since, that program may be gone
 * with them, and the packet is dropped and counted.
 *
 * What else is done to packets between ring and application belongs into
 * mlx4x_cpumap_burst().
 */

#include <errno.h>
#include <stdio.h>

#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_ring.h>

#include "xdp.h"
#include "xdp_ring.h"
#include "xdp_thread.h"

/* Largest qsize of an entry, that of Linux. */
#define RING_SIZE 16384

/* User space ends below that on all 64-bit systems DPDK runs on. */
#define EPOCH_SHIFT 48

/* The queue is one of software. */
int
mlx4x_cpumap_setup(struct mlx4x_rxq *rxq)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "mlx4x_cpu_%u_%u", rxq->port->data->port_id, rxq->idx);
	rxq->ring_buff = rte_zmalloc_socket(name, sizeof(*rxq->ring_buff), RTE_CACHE_LINE_SIZE,
		rxq->socket);
	if (rxq->ring_buff == NULL)
		return -ENOMEM;
	xdpvm_buff_init(rxq->ring_buff, rxq->port->if_index, rxq->idx);
	rxq->ring = rte_ring_create(name, RING_SIZE, rxq->socket, RING_F_EXACT_SZ | RING_F_SC_DEQ);
	if (rxq->ring != NULL)
		return 0;
	MLX4X_LOG(rxq->port, ERR, "Rx queue %u: no ring of %u packets: %s", rxq->idx, RING_SIZE,
		rte_strerror(rte_errno));
	rte_free(rxq->ring_buff);
	return -rte_errno;
}

/* Nobody writes to the ring or polls it. Packets that nobody fetched are freed. */
void
mlx4x_cpumap_drain(struct mlx4x_rxq *rxq)
{
	struct rte_mbuf *mbuf;

	while (rte_ring_sc_dequeue(rxq->ring, (void **)&mbuf) == 0) {
		mbuf->next = NULL;
		rte_pktmbuf_free(mbuf);
	}
}

void
mlx4x_cpumap_release(struct mlx4x_rxq *rxq)
{
	if (rxq->ring == NULL)
		return;
	mlx4x_cpumap_drain(rxq);
	rte_ring_free(rxq->ring);
	rte_free(rxq->ring_buff);
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

/* The packet is to meet the program where it is fetched. */
void
mlx4x_cpumap_stamp(struct rte_mbuf *mbuf, struct xdpvm_prog *prog, uint16_t epoch)
{
	mbuf->next = (struct rte_mbuf *)((uintptr_t)prog | (uintptr_t)epoch << EPOCH_SHIFT);
}

/* The mbuf as the program left the packet; see mlx4x_xdp_describe(). */
static void
take_over(struct rte_mbuf *mbuf, const struct xdpvm_buff *buff)
{
	const uint8_t *data = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	bool tail_moved = buff->data_end != data + mbuf->data_len;

	if (buff->data != data) {
		mbuf->ol_flags &= ~(RTE_MBUF_F_RX_RSS_HASH | RTE_MBUF_F_RX_IP_CKSUM_MASK |
			RTE_MBUF_F_RX_L4_CKSUM_MASK);
		mbuf->packet_type = 0;
	} else if (tail_moved) {
		mbuf->ol_flags &= ~(RTE_MBUF_F_RX_IP_CKSUM_MASK | RTE_MBUF_F_RX_L4_CKSUM_MASK);
	}
	mbuf->data_off += buff->data - data;
	mbuf->data_len = buff->data_end - buff->data;
	mbuf->pkt_len = mbuf->data_len;
}

/* Runs the program of an entry on a packet. False: it goes. */
static bool
passes(struct mlx4x_rxq *rxq, struct rte_mbuf *mbuf, uintptr_t stamp, uint16_t epoch)
{
	struct xdpvm_prog *prog = (void *)(stamp & ((UINT64_C(1) << EPOCH_SHIFT) - 1));
	struct xdpvm_buff *buff = rxq->ring_buff;

	if (stamp >> EPOCH_SHIFT != epoch) {
		rxq->stats.cpumap_stale++;
		return false;
	}
	buff->data = rte_pktmbuf_mtod(mbuf, uint8_t *);
	buff->data_end = buff->data + mbuf->data_len;
	buff->data_meta = buff->data;
	buff->hard_start = mbuf->buf_addr;
	buff->frame_end = buff->hard_start + mbuf->buf_len;
	if (xdpvm_run(prog, buff) == XDP_PASS) {
		take_over(mbuf, buff);
		return true;
	}
	rxq->stats.cpumap_dropped++;
	return false;
}

/* Second programs on a burst; the packets that are left. The thread is online. */
static uint16_t
run_programs(struct mlx4x_rxq *rxq, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t epoch = mlx4x_load_acquire(&rxq->port->xdp->epoch), i, kept = 0;

	mlx4x_xdp_bind(rxq->ring_buff);
	for (i = 0; i < n; i++) {
		uintptr_t stamp = (uintptr_t)pkts[i]->next;

		pkts[i]->next = NULL;
		if (stamp == 0 || passes(rxq, pkts[i], stamp, epoch))
			pkts[kept++] = pkts[i];
		else
			rte_pktmbuf_free(pkts[i]);
	}
	return kept;
}

uint16_t
mlx4x_cpumap_burst(struct mlx4x_rxq *rxq, struct rte_mbuf **pkts, uint16_t nb_pkts)
{
	uint16_t n, i;

	if (rte_ring_empty(rxq->ring) || !mlx4x_xdp_enter())
		return 0;
	n = rte_ring_sc_dequeue_burst(rxq->ring, (void **)pkts, nb_pkts, NULL);
	n = run_programs(rxq, pkts, n);
	mlx4x_xdp_leave();
	for (i = 0; i < n; i++)
		rxq->stats.bytes += pkts[i]->pkt_len;
	rxq->stats.packets += n;
	return n;
}
