/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * An application with XDP programs: what the guard lets pass comes to this loop as mbufs,
 * everything else is gone before an mbuf exists. The guard is a C function that drops
 * all but IPv4, until an unmodified XDP object takes its place:
 *
 *     xdp_guard -l 0 -a 0000:03:00.0,port=0 -- [OBJECT.bpf.o]
 *
 * It ends with Ctrl-C and prints what both have counted.
 */

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <linux/bpf.h>

#include <rte_eal.h>
#include <rte_ethdev.h>

#include <rte_pmd_mlx4x.h>

#define PORT 0
#define RING 1024
#define BURST 32
#define NB_MBUFS (RING + 512)

static volatile sig_atomic_t ended;

static void
end(int number)
{
	ended = 1;
}

/* The guard in C. It runs on the lcore that polls, for each frame. */
static uint64_t
only_ipv4(struct xdpvm_buff *buff)
{
	const struct rte_ether_hdr *eth = (const struct rte_ether_hdr *)buff->data;
	uint64_t *nb_seen = buff->opaque;

	(*nb_seen)++;
	if (buff->data + sizeof(*eth) > buff->data_end)
		return XDP_ABORTED;
	return eth->ether_type == RTE_BE16(RTE_ETHER_TYPE_IPV4) ? XDP_PASS : XDP_DROP;
}

static int
start(void)
{
	struct rte_eth_conf conf = { 0 };
	/* Page pool: a page for each frame, 256 bytes in front of it for programs. */
	struct rte_mempool *mp = rte_pktmbuf_pool_create_by_ops("pages", NB_MBUFS, 0, 0,
		RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY, "page_pool");
	int ret = mp == NULL ? -ENOMEM : rte_eth_dev_configure(PORT, 1, 0, &conf);

	if (ret == 0)
		ret = rte_eth_rx_queue_setup(PORT, 0, RING, SOCKET_ID_ANY, NULL, mp);
	if (ret == 0)
		ret = rte_eth_dev_start(PORT);
	return ret;
}

/* At the end, what the ring holds is still judged. */
static void
receive(void)
{
	struct rte_mbuf *mbufs[BURST];
	unsigned int left = RING / BURST;

	while (!ended || left-- != 0)
		rte_pktmbuf_free_bulk(mbufs, rte_eth_rx_burst(PORT, 0, mbufs, BURST));
}

static void
print_counters(void)
{
	struct rte_eth_xstat_name names[512];
	struct rte_eth_xstat values[512];
	int nb = rte_eth_xstats_get_names(PORT, names, RTE_DIM(names)), i;

	if (nb > (int)RTE_DIM(names) || rte_eth_xstats_get(PORT, values, nb) != nb)
		return;
	for (i = 0; i < nb; i++) {
		if (strncmp(names[i].name, "rx_xdp_", 7) == 0 && values[i].value != 0)
			printf("%s: %" PRIu64 "\n", names[i].name, values[i].value);
	}
}

int
main(int argc, char **argv)
{
	uint64_t nb_seen = 0;
	struct rte_pmd_mlx4x_xdp_prog guard = { "only_ipv4", only_ipv4, &nb_seen, NULL };
	struct rte_pmd_mlx4x_xdp_options options = { .replace = true };
	int used = rte_eal_init(argc, argv);

	if (used < 0 || rte_eth_dev_count_avail() == 0 || start() != 0) {
		fprintf(stderr, "xdp_guard: no port\n");
		return 1;
	}
	signal(SIGINT, end);
	signal(SIGTERM, end);
	if (rte_pmd_mlx4x_xdp_set(PORT, &guard) != 0 || (used + 1 < argc &&
	    rte_pmd_mlx4x_xdp_load(PORT, RTE_PMD_MLX4X_XDP_PORT, argv[used + 1], &options) < 0))
		fprintf(stderr, "xdp_guard: %s\n", rte_pmd_mlx4x_xdp_error());
	printf("guarding\n");
	fflush(stdout);
	receive();
	printf("the C function saw %" PRIu64 " frames\n", nb_seen);
	print_counters();
	rte_eth_dev_stop(PORT);
	rte_eth_dev_close(PORT);
	rte_eal_cleanup();
	return 0;
}
