/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The vector receive functions hand up the same frames, in the same order, with the same
 * mbufs as the scalar one: random completions, good and bad, in bursts of random size,
 * through laps of a ring, with both sizes of completions and with the completion queue at
 * an offset to the ring.
 */

#include <stdbool.h>
#include <string.h>

#include <rte_cpuflags.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_random.h>

#include "check.h"
#include "rx_burst.h"
#include "rx_common.h"

#define RING 64u
#define MAX_BURST 64u
#define NB_STEPS 3000u
#define BAD_ONE_IN 40u
#define REARM UINT64_C(0x0007000100010080)	/* port 7, one segment, one reference, headroom */

/* A queue in memory of the test, on the completions that both queues read. */
struct bed {
	struct mlx4x_rxq rxq;
	struct rte_mempool *mp;
	struct rte_mbuf *slots[RING];
	struct rte_mbuf *pkts[RING];	/* what was received since the last check */
	uint32_t nb_pkts;
};

static struct mlx4x_rx_meaning meaning[MLX4X_RX_TABLE_SIZE];
static uint8_t completions[RING * 64] __rte_cache_aligned;
static uint32_t shift, written;	/* size of completions; how many there are */

static struct mlx4x_cqe *
completion(uint32_t cq_ci)
{
	return (struct mlx4x_cqe *)(completions + ((size_t)(cq_ci % RING) << shift) +
		((1u << shift) - sizeof(struct mlx4x_cqe)));
}

static uint8_t
owner_bit(uint32_t cq_ci)
{
	return cq_ci & RING ? MLX4X_CQE_OWNER_MASK : 0;
}

static uint8_t
random_opcode(void)
{
	static const uint8_t bad[] = { MLX4X_CQE_OPCODE_ERROR, MLX4X_CQE_OPCODE_RECV_SEND | 0x20 };

	return rte_rand_max(BAD_ONE_IN) != 0 ? MLX4X_CQE_OPCODE_RECV_SEND :
		bad[rte_rand_max(RTE_DIM(bad))];
}

/* As the device does: all of it, the owner bit last. */
static void
write_completion(uint32_t cq_ci)
{
	struct mlx4x_cqe *cqe = completion(cq_ci), new;
	uint32_t i;

	for (i = 0; i < sizeof(new); i++)
		((uint8_t *)&new)[i] = rte_rand();
	new.byte_cnt = rte_cpu_to_be_32(rte_rand_max(16000));
	if (rte_rand_max(BAD_ONE_IN) != 0)
		new.status &= ~RTE_BE32(MLX4X_CQE_BAD_FCS);
	new.owner_sr_opcode = random_opcode() | owner_bit(cq_ci);
	/* A flush would end the queue: the one error that no frame follows. */
	if (((struct mlx4x_err_cqe *)&new)->syndrome == MLX4_CQE_SYNDROME_WR_FLUSH_ERR)
		((struct mlx4x_err_cqe *)&new)->syndrome = MLX4_CQE_SYNDROME_LOCAL_LENGTH_ERR;
	*cqe = new;
}

/* A fresh buffer in each slot from which one was taken, marked with its number. */
static void
post(struct bed *bed)
{
	for (; bed->rxq.pi != bed->rxq.ci + RING; bed->rxq.pi++) {
		struct rte_mbuf *mbuf = rte_pktmbuf_alloc(bed->mp);

		if (mbuf == NULL) {
			fprintf(stderr, "a buffer is lost\n");
			exit(1);
		}
		memset((uint8_t *)mbuf + offsetof(struct rte_mbuf, rearm_data), 0xa5,
			offsetof(struct rte_mbuf, pool) - offsetof(struct rte_mbuf, rearm_data));
		mbuf->dynfield1[0] = bed->rxq.pi;
		bed->slots[bed->rxq.pi % RING] = mbuf;
	}
}

static void
begin(struct bed *bed, struct mlx4x_port *port, const char *name, uint32_t cq_offset)
{
	memset(&bed->rxq, 0, sizeof(bed->rxq));
	bed->rxq.cqes = (const uint8_t *)completion(0);
	bed->rxq.slots = bed->slots;
	bed->rxq.meaning = meaning;
	bed->rxq.rearm = REARM;
	bed->rxq.mask = RING - 1;
	bed->rxq.cqe_shift = shift;
	bed->rxq.cq_offset = cq_offset;
	bed->rxq.refill_batch = UINT32_MAX;	/* the test posts, not the driver */
	bed->rxq.port = port;
	bed->mp = rte_pktmbuf_pool_create(name, 3 * RING, 0, 0, RTE_PKTMBUF_HEADROOM + 64,
		SOCKET_ID_ANY);
	if (bed->mp == NULL) {
		fprintf(stderr, "no pool: %s\n", rte_strerror(rte_errno));
		exit(1);
	}
	bed->rxq.mp = bed->mp;
	bed->nb_pkts = 0;
	post(bed);
}

/* Receives in bursts of random sizes until nothing more comes. */
static void
drain(struct bed *bed, eth_rx_burst_t burst)
{
	uint16_t nb;

	do {
		uint32_t before = bed->rxq.ci;

		nb = burst(&bed->rxq, bed->pkts + bed->nb_pkts, 1 + rte_rand_max(MAX_BURST));
		bed->nb_pkts += nb;
		if (bed->rxq.ci != before)
			nb = 1;	/* a bad completion was consumed */
	} while (nb != 0);
}

/* The first cache line but addresses, then who it is. */
static bool
same_mbuf(const struct rte_mbuf *a, const struct rte_mbuf *b)
{
	size_t from = offsetof(struct rte_mbuf, rearm_data), to = offsetof(struct rte_mbuf, pool);

	return memcmp((const uint8_t *)a + from, (const uint8_t *)b + from, to - from) == 0 &&
		a->dynfield1[0] == b->dynfield1[0];
}

static void
compare(struct bed *scalar, struct bed *vector)
{
	uint32_t i;

	CHECK(scalar->nb_pkts == vector->nb_pkts, "%u, %u", scalar->nb_pkts, vector->nb_pkts);
	CHECK(scalar->rxq.ci == vector->rxq.ci, "%u, %u", scalar->rxq.ci, vector->rxq.ci);
	CHECK(memcmp(&scalar->rxq.stats, &vector->rxq.stats, sizeof(scalar->rxq.stats)) == 0,
		"counters differ at %u", scalar->rxq.ci);
	for (i = 0; i < RTE_MIN(scalar->nb_pkts, vector->nb_pkts); i++)
		CHECK(same_mbuf(scalar->pkts[i], vector->pkts[i]), "frame %u at %u", i,
			scalar->rxq.ci);
	rte_pktmbuf_free_bulk(scalar->pkts, scalar->nb_pkts);
	rte_pktmbuf_free_bulk(vector->pkts, vector->nb_pkts);
	scalar->nb_pkts = 0;
	vector->nb_pkts = 0;
}

static void
end(struct bed *bed)
{
	uint32_t ci;

	for (ci = bed->rxq.ci; ci != bed->rxq.pi; ci++)
		rte_mempool_put(bed->mp, bed->slots[ci % RING]);
	CHECK(rte_mempool_avail_count(bed->mp) == 3 * RING, "%u of %u buffers",
		rte_mempool_avail_count(bed->mp), 3 * RING);
	rte_mempool_free(bed->mp);
}

static void
test(eth_rx_burst_t burst, uint32_t log_size, uint32_t cq_offset)
{
	static struct bed scalar, vector;
	static struct mlx4x_port port;
	uint32_t step, i;

	shift = log_size;
	written = 0;
	begin(&scalar, &port, "scalar", cq_offset);
	begin(&vector, &port, "vector", cq_offset);
	for (i = 0; i < RING; i++)
		completion(cq_offset + i)->owner_sr_opcode =
			owner_bit(cq_offset + i) ^ MLX4X_CQE_OWNER_MASK;
	for (step = 0; step < NB_STEPS; step++) {
		uint32_t nb = rte_rand_max(RING + 1);

		for (i = 0; i < nb; i++)
			write_completion(cq_offset + written++);
		drain(&scalar, mlx4x_rx_burst);
		drain(&vector, burst);
		CHECK(scalar.rxq.ci == written, "%u of %u taken", scalar.rxq.ci, written);
		compare(&scalar, &vector);
		post(&scalar);
		post(&vector);
	}
	CHECK(scalar.rxq.stats.packets > NB_STEPS && scalar.rxq.stats.bad_fcs != 0 &&
		scalar.rxq.stats.cqe_errors != 0, "too little of everything");
	end(&scalar);
	end(&vector);
}

static void
test_all(const char *name, eth_rx_burst_t burst)
{
	static const uint32_t offsets[] = { 0, 3, RING - 8, RING + 4, 5 * RING + 61 };
	uint32_t i;

	printf("%s\n", name);
	for (i = 0; i < RTE_DIM(offsets); i++) {
		test(burst, 5, offsets[i]);
		test(burst, 6, offsets[i]);
	}
}

int
main(void)
{
	char *words[] = { (char[]){ "test" }, (char[]){ "--no-shconf" }, (char[]){ "--no-huge" },
		(char[]){ "-m" }, (char[]){ "64" }, (char[]){ "--no-pci" },
		(char[]){ "--no-telemetry" }, (char[]){ "-l" }, (char[]){ "0" } };
	uint32_t i;

	if (rte_eal_init(RTE_DIM(words), words) < 0) {
		fprintf(stderr, "EAL does not start: %s\n", rte_strerror(rte_errno));
		return 1;
	}
	rte_srand(1);
	for (i = 0; i < RTE_DIM(meaning); i++)
		meaning[i] = (struct mlx4x_rx_meaning){ rte_rand(), rte_rand() };
	test_all("SSE4.2", mlx4x_rx_burst_sse);
	if (rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX2) > 0)
		test_all("AVX2", mlx4x_rx_burst_avx2);
	else
		printf("AVX2: not on this processor\n");
	return check_status();
}
