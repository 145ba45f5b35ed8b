/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a VF writes for the switch inside the card: the destination address of each frame
 * in its control segment, wherever the segments of the frame begin. A physical function
 * writes none. The ring is memory of the test, which plays the device.
 */

#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>

#include "check.h"
#include "tx_burst.h"
#include "tx_common.h"

#define BLOCKS 64u
#define FRAME 64

static const uint8_t destination[] = { 0x02, 0x11, 0x22, 0x33, 0x44, 0x55 };

static struct mlx4x_dev dev;
static struct mlx4x_port port = { .dev = &dev };
static uint8_t wqes[BLOCKS * MLX4X_TXBB_SIZE] __rte_cache_aligned;
static uint8_t completions[BLOCKS * sizeof(struct mlx4x_cqe)];
static struct rte_mbuf *slots[BLOCKS];
static volatile rte_be32_t cq_db;
static uint8_t doorbells[4096];

/* A queue to which all memory is one region, and the device has completed nothing. */
static void
reset(struct mlx4x_txq *txq, bool vf)
{
	memset(txq, 0, sizeof(*txq));
	memset(completions, MLX4X_CQE_OWNER_MASK, sizeof(completions));
	txq->wqes = wqes;
	txq->slots = slots;
	txq->cqes = completions;
	txq->mask = BLOCKS - 1;
	txq->limit = BLOCKS - MLX4X_SQ_HEADROOM_TXBBS;
	txq->cq_mask = BLOCKS - 1;
	txq->cqe_shift = rte_log2_u32(sizeof(struct mlx4x_cqe));
	txq->cq_db = &cq_db;
	txq->free_mode = MLX4X_TX_FREE_CHAIN;
	txq->free_thresh = BLOCKS;
	txq->mr.len = SIZE_MAX;
	txq->mr_table = &dev.mr_table;
	txq->port = &port;
	txq->wants_destination = vf;
	mlx4x_uar[0] = doorbells;
}

static void
append(struct rte_mbuf *mbuf, const uint8_t *from, uint16_t len)
{
	memcpy(rte_pktmbuf_append(mbuf, len), from, len);
}

/* A frame whose first segment holds `first` bytes. */
static struct rte_mbuf *
frame(struct rte_mempool *mp, uint16_t first)
{
	struct rte_mbuf *head = rte_pktmbuf_alloc(mp), *tail;
	uint8_t data[FRAME] = { 0 };

	memcpy(data, destination, sizeof(destination));
	append(head, data, first);
	if (first == FRAME)
		return head;
	tail = rte_pktmbuf_alloc(mp);
	append(tail, data + first, FRAME - first);
	rte_pktmbuf_chain(head, tail);
	return head;
}

static void
check_control(const struct mlx4x_wqe_ctrl *ctrl, bool vf)
{
	static const uint8_t nothing[sizeof(destination)];
	uint8_t got[sizeof(destination)];

	memcpy(got, &ctrl->srcrb_flags, 2);
	memcpy(got + 2, &ctrl->imm, 4);
	CHECK(memcmp(got, vf ? destination : nothing, sizeof(got)) == 0);
	CHECK((rte_be_to_cpu_32(ctrl->srcrb_flags) & UINT16_MAX) ==
		(MLX4X_WQE_SOLICITED | MLX4X_WQE_CQ_UPDATE));
}

static void
test_destination(struct rte_mempool *mp, uint16_t first, bool vf)
{
	static struct mlx4x_txq txq;
	struct rte_mbuf *mbuf = frame(mp, first);

	reset(&txq, vf);
	CHECK(mlx4x_tx_burst_multi(&txq, &mbuf, 1) == 1);
	check_control((const struct mlx4x_wqe_ctrl *)wqes, vf);
	rte_pktmbuf_free(mbuf);
}

int
main(void)
{
	static char words[][20] = { "mlx4x_tx_vf_test", "--no-huge", "--no-pci", "--no-telemetry",
		"--no-shconf", "-m", "64", "-l", "0" };
	char *argv[RTE_DIM(words)];
	static const uint16_t firsts[] = { 1, 2, 5, 6, 14, FRAME };
	struct rte_mempool *mp;
	unsigned int i;

	for (i = 0; i < RTE_DIM(words); i++)
		argv[i] = words[i];
	if (rte_eal_init(RTE_DIM(words), argv) < 0)
		return 1;
	mp = rte_pktmbuf_pool_create("frames", 63, 0, 0, 256, SOCKET_ID_ANY);
	if (mp == NULL)
		return 1;
	for (i = 0; i < RTE_DIM(firsts); i++) {
		test_destination(mp, firsts[i], true);
		test_destination(mp, firsts[i], false);
	}
	rte_eal_cleanup();
	return check_status();
}
