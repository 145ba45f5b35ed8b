/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Rings that an application reads, where AF_XDP sockets are in Linux: the values of an
 * XSKMAP are their numbers. Any receive queue of any port may write, one thread reads.
 */

#include <errno.h>
#include <stdio.h>

#include <rte_errno.h>
#include <rte_ring.h>
#include <rte_spinlock.h>

#include "xdp.h"
#include "xdp_ring.h"

#define MAX_RINGS 256u
/* Linux: descriptors of an AF_XDP ring are a power of two; this bound is ours. */
#define MAX_SIZE (1u << 20)

static struct rte_ring *rings[MAX_RINGS];
static pthread_mutex_t rings_mutex = PTHREAD_MUTEX_INITIALIZER;

struct rte_ring *
mlx4x_xdp_xsk_ring(uint32_t number)
{
	return number < MAX_RINGS ? mlx4x_load_acquire(&rings[number]) : NULL;
}

/* The mutex is held. */
static int
create(uint32_t size, int socket)
{
	char name[RTE_RING_NAMESIZE];
	struct rte_ring *ring;
	uint32_t number = 0;

	while (number < MAX_RINGS && rings[number] != NULL)
		number++;
	if (number == MAX_RINGS)
		return mlx4x_xdp_refuse(NULL, ENOSPC, "there are %u rings for XSKMAPs already",
			MAX_RINGS);
	snprintf(name, sizeof(name), "mlx4x_xsk_%u", number);
	ring = rte_ring_create(name, size, socket, RING_F_EXACT_SZ | RING_F_SC_DEQ);
	if (ring == NULL)
		return mlx4x_xdp_refuse(NULL, rte_errno, "no ring of %u packets: %s", size,
			rte_strerror(rte_errno));
	mlx4x_store_release(&rings[number], ring);
	return number;
}

int
rte_pmd_mlx4x_xdp_xsk_create(uint32_t size, int socket)
{
	int number;

	if (size == 0 || size > MAX_SIZE)
		return mlx4x_xdp_refuse(NULL, EINVAL, "a ring of %u packets; from 1 to %u are "
			"possible", size, MAX_SIZE);
	pthread_mutex_lock(&rings_mutex);
	number = create(size, socket);
	pthread_mutex_unlock(&rings_mutex);
	return number;
}

uint16_t
rte_pmd_mlx4x_xdp_xsk_rx_burst(int number, struct rte_mbuf **pkts, uint16_t nb_pkts)
{
	struct rte_ring *ring = mlx4x_xdp_xsk_ring(number);

	return ring == NULL ? 0 : rte_ring_sc_dequeue_burst(ring, (void **)pkts, nb_pkts, NULL);
}

int
rte_pmd_mlx4x_xdp_xsk_free(int number)
{
	struct rte_mbuf *pkts[MLX4X_XDP_BATCH];
	struct rte_ring *ring;
	unsigned int nb;

	pthread_mutex_lock(&rings_mutex);
	ring = mlx4x_xdp_xsk_ring(number);
	if (ring != NULL)
		mlx4x_store_release(&rings[number], NULL);
	pthread_mutex_unlock(&rings_mutex);
	if (ring == NULL)
		return mlx4x_xdp_refuse(NULL, ENOENT, "there is no ring %d", number);
	xdpvm_synchronize();	/* no burst writes to it any more */
	while ((nb = rte_ring_sc_dequeue_burst(ring, (void **)pkts, RTE_DIM(pkts), NULL)) != 0)
		rte_pktmbuf_free_bulk(pkts, nb);
	rte_ring_free(ring);
	return 0;
}
