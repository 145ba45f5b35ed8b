/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * XDP_REDIRECT of net_mlx4x: ports 0 and 1 are of this driver, each on a wire that gives
 * it back what it sends (vcx3 --step); port 2 is a ring of DPDK (--vdev net_ring0). A
 * frame sent on port 0 comes back there, the program redirects it, and it is received
 * where it should arrive. Arguments: the object redirect.bpf.o, and cpumap to test that
 * instead, with the device argument xdp_cpumap_queues=2.
 */

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/bpf.h>

#include <rte_cycles.h>
#include <rte_eal.h>

#include <page_pool.h>
#include <rte_pmd_mlx4x.h>

#include "self_port.h"
#include "vcx3.h"

#define OTHER 1
#define RING_PORT 2
#define NB_PORTS 3
#define BURST 32

static const char *object_path;
static struct xdpvm_object *object;

static void
settle(void)
{
	while (vcx3_step(64) != 0)
		;
}

static bool stopped[NB_PORTS];

/* Where frames can turn up. */
struct places {
	unsigned int at[NB_PORTS];	/* frames, by port */
	bool wrong;			/* a frame that is not the one sent */
	uint8_t mark;			/* what a second program wrote into the last one */
};

static void
collect(struct places *places, uint16_t port, uint16_t number)
{
	struct rte_mbuf *pkts[BURST];
	uint16_t i, n = rte_eth_rx_burst(port, 0, pkts, BURST);

	places->at[port] += n;
	for (i = 0; i < n; i++) {
		const uint8_t *data = rte_pktmbuf_mtod(pkts[i], const uint8_t *);

		places->mark = data[30];
		places->wrong |= pkts[i]->pkt_len != FRAME || data[12] != 0x88 ||
			memcmp(data + 14, &number, sizeof(number)) != 0 || data[FRAME - 1] != 0x5a;
	}
	rte_pktmbuf_free_bulk(pkts, n);
}

/* Sends one frame on port 0 and looks where it comes out. */
static struct places
send_one(uint16_t number)
{
	struct places places = { .at = { 0 } };
	unsigned int i;
	uint16_t port;

	if (!send_frame(new_frame(number)))
		return places;
	for (i = 0; i < 4; i++) {
		settle();
		RTE_ETH_FOREACH_DEV(port) {
			if (!stopped[port])
				collect(&places, port, number);
		}
	}
	return places;
}

static bool
comes_to(struct places places, unsigned int port0, unsigned int port1, unsigned int port2)
{
	if (!places.wrong && places.at[0] == port0 && places.at[1] == port1 &&
	    places.at[2] == port2)
		return true;
	printf("frames at ports: %u, %u, %u%s\n", places.at[0], places.at[1], places.at[2],
		places.wrong ? ", changed" : "");
	return false;
}

static int
stop(uint16_t port)
{
	stopped[port] = true;
	return rte_eth_dev_stop(port);
}

static int
start(uint16_t port)
{
	stopped[port] = false;
	return rte_eth_dev_start(port);
}

static struct xdpvm_redirect target;

static uint64_t
redirect(struct xdpvm_buff *buff)
{
	buff->redirect = target;
	return XDP_REDIRECT;
}

static const struct rte_pmd_mlx4x_xdp_prog hook = { .name = "redirect", .hook = redirect };

static void
to_ifindex(uint32_t ifindex)
{
	target = (struct xdpvm_redirect){ .kind = XDPVM_REDIRECT_IFINDEX, .target = ifindex };
}

static uint32_t
kernel_ifindex(uint16_t port)
{
	struct rte_eth_dev_info info;

	return rte_eth_dev_info_get(port, &info) == 0 ? info.if_index : 0;
}

static int
start_port(uint16_t port, uint16_t nb_queues)
{
	struct rte_eth_conf conf = { 0 };
	uint16_t i;

	CHECK(rte_eth_dev_configure(port, nb_queues, 1, &conf) == 0);
	for (i = 0; i < nb_queues; i++)
		CHECK(rte_eth_rx_queue_setup(port, i, RING, SOCKET_ID_ANY, NULL, pool) == 0);
	CHECK(rte_eth_tx_queue_setup(port, 0, RING, SOCKET_ID_ANY, NULL) == 0);
	CHECK(rte_eth_dev_start(port) == 0);
	rte_eth_promiscuous_enable(port);
	return 0;
}

/* Zero copy: nothing is taken from the pool and nothing is mapped, in steady state. */
static int
test_other_port(void)
{
	struct page_pool_stats before, after;
	unsigned int i;
	long mapped;

	CHECK(rte_pmd_mlx4x_xdp_set(PORT, &hook) == 0);
	to_ifindex(kernel_ifindex(OTHER));
	for (i = 0; i < 300; i++)
		CHECK(comes_to(send_one(i), 0, 1, 0));
	mapped = card_counter("registrations");
	page_pool_stats_get(pool, &before);
	for (i = 0; i < 300; i++)
		CHECK(comes_to(send_one(i), 0, 1, 0));
	page_pool_stats_get(pool, &after);
	/* What the application sent and received at port 1; redirects take nothing. */
	CHECK(after.taken - before.taken <= 300 + 300 + 2 * BURST);
	CHECK(card_counter("registrations") == mapped);
	CHECK(port_xstat(PORT, "rx_xdp_redirect") == 600 && verdicts_add_up(PORT));
	CHECK(port_xstat(PORT, "rx_xdp_xmit") == 600);
	CHECK(port_xstat(PORT, "rx_xdp_xmit_bytes") == 600 * FRAME);
	CHECK(port_xstat(PORT, "rx_xdp_xmit_doorbells") == 600);	/* they came one by one */
	CHECK(port_xstat(PORT, "rx_xdp_tx_bytes") == 0);
	to_ifindex(RTE_PMD_MLX4X_XDP_IFINDEX(OTHER));
	CHECK(comes_to(send_one(7), 0, 1, 0));
	return 0;
}

static int
test_unknown(void)
{
	to_ifindex(4711);
	CHECK(comes_to(send_one(1), 0, 0, 0));
	target.kind = XDPVM_REDIRECT_NONE;
	CHECK(comes_to(send_one(1), 0, 0, 0));
	CHECK(port_xstat(PORT, "rx_xdp_redirect_unknown") == 2 && verdicts_add_up(PORT));
	return 0;
}

static int
test_own_port(void)
{
	uint64_t seen = port_xstat(PORT, "rx_xdp_packets");

	to_ifindex(kernel_ifindex(PORT));
	CHECK(comes_to(send_one(1), 0, 0, 0));	/* goes round and round */
	CHECK(port_xstat(PORT, "rx_xdp_packets") > seen + 2);
	to_ifindex(kernel_ifindex(OTHER));
	CHECK(comes_to(send_one(1), 0, 2, 0));	/* two of the same number */
	CHECK(port_xstat(PORT, "rx_xdp_redirect_fail") == 2 && verdicts_add_up(PORT));
	return 0;
}

static int
test_port_of_another_driver(void)
{
	CHECK(rte_pmd_mlx4x_xdp_target(PORT, OTHER, 0, true) == -EINVAL);
	CHECK(rte_pmd_mlx4x_xdp_target(PORT, 77, 0, true) == -ENODEV);
	to_ifindex(RTE_PMD_MLX4X_XDP_IFINDEX(RING_PORT));
	CHECK(comes_to(send_one(1), 0, 0, 0));
	CHECK(rte_pmd_mlx4x_xdp_target(PORT, RING_PORT, 0, true) == 0);
	CHECK(comes_to(send_one(2), 0, 0, 1));
	CHECK(comes_to(send_one(3), 0, 0, 1));
	CHECK(rte_pmd_mlx4x_xdp_target(PORT, RING_PORT, 0, false) == 0);
	CHECK(comes_to(send_one(4), 0, 0, 0));
	CHECK(rte_pmd_mlx4x_xdp_target(PORT, RING_PORT, 0, true) == 0);
	CHECK(stop(RING_PORT) == 0);
	CHECK(comes_to(send_one(5), 0, 0, 0));
	CHECK(start(RING_PORT) == 0);
	CHECK(comes_to(send_one(6), 0, 0, 1));
	CHECK(verdicts_add_up(PORT));
	return 0;
}

static int
test_target_stops_and_starts(void)
{
	unsigned int i;

	to_ifindex(kernel_ifindex(OTHER));
	for (i = 0; i < 5; i++) {
		CHECK(comes_to(send_one(1), 0, 1, 0));
		CHECK(stop(OTHER) == 0);
		CHECK(comes_to(send_one(2), 0, 0, 0));
		CHECK(start(OTHER) == 0);
	}
	CHECK(verdicts_add_up(PORT));
	return 0;
}

static int
test_mtu_of_the_target(void)
{
	uint64_t before = port_xstat(PORT, "rx_xdp_redirect_too_long");

	to_ifindex(kernel_ifindex(OTHER));
	CHECK(rte_eth_dev_set_mtu(OTHER, FRAME - 14 - 4 - 1) == 0);
	CHECK(comes_to(send_one(1), 0, 0, 0));
	CHECK(rte_eth_dev_set_mtu(OTHER, FRAME - 14 - 4) == 0);
	CHECK(port_xstat(PORT, "rx_xdp_redirect_too_long") == before + 1 && verdicts_add_up(PORT));
	CHECK(rte_eth_dev_set_mtu(OTHER, 1500) == 0);
	CHECK(comes_to(send_one(1), 0, 1, 0));
	return 0;
}

static int
set_map(const char *name, uint32_t key, uint32_t value)
{
	return xdpvm_map_update(xdpvm_map_find(object, name), &key, &value, BPF_ANY);
}

static int
order(uint32_t what, uint32_t key, uint32_t flags)
{
	return set_map("order", 0, what) | set_map("order", 1, key) | set_map("order", 2, flags);
}

static int
load_object(void)
{
	struct rte_pmd_mlx4x_xdp_options options = { .replace = true };
	struct rte_pmd_mlx4x_xdp_status status;

	CHECK(rte_pmd_mlx4x_xdp_load(PORT, RTE_PMD_MLX4X_XDP_PORT, object_path, &options) > 0);
	CHECK(rte_pmd_mlx4x_xdp_status(PORT, 0, &status) == 0);
	object = status.object;
	return 0;
}

static int
test_devmaps(void)
{
	CHECK(load_object() == 0);
	CHECK(order(0, 0, 0) == 0);
	CHECK(comes_to(send_one(1), 1, 0, 0));
	CHECK(order(1, kernel_ifindex(OTHER), 0) == 0);
	CHECK(comes_to(send_one(1), 0, 1, 0));
	CHECK(set_map("ports", 3, kernel_ifindex(OTHER)) == 0);
	CHECK(set_map("ports", 4, RTE_PMD_MLX4X_XDP_IFINDEX(RING_PORT)) == 0);
	CHECK(order(2, 3, 0) == 0);
	CHECK(comes_to(send_one(2), 0, 1, 0));
	CHECK(order(2, 4, 0) == 0);
	CHECK(comes_to(send_one(3), 0, 0, 1));
	CHECK(order(2, 5, XDP_PASS) == 0);	/* no entry: the action in the flags */
	CHECK(comes_to(send_one(4), 1, 0, 0));
	CHECK(set_map("ports_hash", 99, kernel_ifindex(OTHER)) == 0);
	CHECK(order(3, 99, 0) == 0);
	CHECK(comes_to(send_one(5), 0, 1, 0));
	CHECK(verdicts_add_up(PORT));
	return 0;
}

/* What the application answers, and what it was asked. */
static struct {
	int answer;
	uint32_t ingress;
	unsigned int asked;
} routes;

static int
look_up_route(void *arg, uint32_t ingress, struct bpf_fib_lookup *params, uint32_t flags)
{
	routes.ingress = ingress;
	routes.asked++;
	params->ifindex = *(const uint32_t *)arg;
	memset(params->dmac, 0x02, sizeof(params->dmac));
	memset(params->smac, 0x06, sizeof(params->smac));
	return params->family == AF_INET ? routes.answer : -EINVAL;
}

static int
test_routes(void)
{
	uint32_t other = kernel_ifindex(OTHER);

	CHECK(load_object() == 0 && order(8, 0, 0) == 0);
	CHECK(comes_to(send_one(1), 1, 0, 0));	/* nobody knows routes: not forwarded */
	CHECK(rte_pmd_mlx4x_xdp_fib_set(look_up_route, &other) == 0);
	routes.answer = BPF_FIB_LKUP_RET_SUCCESS;
	CHECK(comes_to(send_one(2), 0, 1, 0));
	CHECK(routes.asked == 1 && routes.ingress == kernel_ifindex(PORT));
	routes.answer = BPF_FIB_LKUP_RET_BLACKHOLE;
	CHECK(comes_to(send_one(3), 0, 0, 0));
	CHECK(rte_pmd_mlx4x_xdp_fib_set(NULL, NULL) == 0);
	CHECK(comes_to(send_one(4), 1, 0, 0));
	CHECK(routes.asked == 2 && verdicts_add_up(PORT));
	return 0;
}

static int
test_broadcast(void)
{
	CHECK(order(2, 0, BPF_F_BROADCAST) == 0);
	CHECK(comes_to(send_one(1), 0, 1, 1));
	CHECK(set_map("ports_hash", 1, RTE_PMD_MLX4X_XDP_IFINDEX(RING_PORT)) == 0);
	CHECK(set_map("ports_hash", 2, kernel_ifindex(PORT)) == 0);
	CHECK(order(3, 0, BPF_F_BROADCAST | BPF_F_EXCLUDE_INGRESS) == 0);
	CHECK(comes_to(send_one(2), 0, 1, 1));
	CHECK(verdicts_add_up(PORT));
	return 0;
}

/* An entry with a second program, by its name. */
static int
set_entry(const char *map, uint32_t key, uint32_t value, const char *prog)
{
	uint32_t entry[2] = { value, 0 };

	if (prog != NULL)
		entry[1] = xdpvm_prog_ref(xdpvm_prog_find(object, prog));
	return xdpvm_map_update(xdpvm_map_find(object, map), &key, entry, BPF_ANY);
}

/* Programs in the entries: on the way out, for each target by itself. */
static int
test_egress_programs(void)
{
	uint64_t dropped = port_xstat(PORT, "rx_xdp_redirect_dropped");
	struct places places;

	CHECK(set_entry("ports_prog", 0, kernel_ifindex(OTHER), "xdp_at_port") == 0);
	CHECK(set_entry("ports_prog", 1, RTE_PMD_MLX4X_XDP_IFINDEX(RING_PORT), NULL) == 0);
	CHECK(order(6, 0, 0) == 0);
	places = send_one(2);
	CHECK(comes_to(places, 0, 1, 0) && places.mark == 0xa1);
	CHECK(comes_to(send_one(3), 0, 0, 0));
	CHECK(port_xstat(PORT, "rx_xdp_redirect_dropped") == dropped + 1 && verdicts_add_up(PORT));
	CHECK(order(6, 0, BPF_F_BROADCAST) == 0);
	places = send_one(3);	/* the ring gets it as it was */
	CHECK(comes_to(places, 0, 0, 1) && places.mark == 0x5a);
	CHECK(comes_to(send_one(4), 0, 1, 1));
	CHECK(set_entry("ports_prog", 1, RTE_PMD_MLX4X_XDP_IFINDEX(RING_PORT), "xdp_at_port") == 0);
	CHECK(comes_to(send_one(5), 0, 0, 0));
	CHECK(comes_to(send_one(6), 0, 1, 1));
	CHECK(set_entry("ports_prog", 0, kernel_ifindex(OTHER), NULL) == 0);
	places = send_one(7);
	CHECK(comes_to(places, 0, 1, 0) && places.mark == 0x5a);
	CHECK(verdicts_add_up(PORT));
	return 0;
}

static int
test_xskmap(void)
{
	struct rte_mbuf *pkts[BURST];
	uint64_t full = port_xstat(PORT, "rx_xdp_redirect_full");
	int number = rte_pmd_mlx4x_xdp_xsk_create(4, SOCKET_ID_ANY);
	uint16_t i;

	CHECK(number >= 0);
	CHECK(rte_pmd_mlx4x_xdp_xsk_create(0, SOCKET_ID_ANY) == -EINVAL);
	CHECK(set_map("sockets", 2, number) == 0);
	CHECK(order(4, 2, 0) == 0);
	for (i = 0; i < 10; i++)
		CHECK(comes_to(send_one(i), 0, 0, 0));
	CHECK(port_xstat(PORT, "rx_xdp_redirect_full") == full + 6 && verdicts_add_up(PORT));
	CHECK(rte_pmd_mlx4x_xdp_xsk_rx_burst(number, pkts, 2) == 2);
	CHECK(rte_pktmbuf_pkt_len(pkts[0]) == FRAME && rte_pktmbuf_pkt_len(pkts[1]) == FRAME);
	CHECK(*rte_pktmbuf_mtod_offset(pkts[1], uint8_t *, 14) == 1);
	rte_pktmbuf_free_bulk(pkts, 2);
	CHECK(rte_pmd_mlx4x_xdp_xsk_free(number) == 0);	/* with two packets in it */
	CHECK(rte_pmd_mlx4x_xdp_xsk_free(number) == -ENOENT);
	CHECK(rte_pmd_mlx4x_xdp_xsk_rx_burst(number, pkts, 2) == 0);
	CHECK(comes_to(send_one(1), 0, 0, 0));
	CHECK(verdicts_add_up(PORT));
	return 0;
}

static unsigned int
poll_queue(uint16_t queue, uint16_t first)
{
	struct rte_mbuf *pkts[BURST];
	unsigned int nb = 0;
	uint16_t n, i, number;

	while ((n = rte_eth_rx_burst(PORT, queue, pkts, BURST)) != 0) {
		for (i = 0; i < n; i++) {
			memcpy(&number, rte_pktmbuf_mtod_offset(pkts[i], void *, 14),
				sizeof(number));
			if (number != first + nb++)
				nb = UINT16_MAX;	/* not in order */
		}
		rte_pktmbuf_free_bulk(pkts, n);
	}
	return nb;
}

static int
test_software_queues(void)
{
	struct rte_eth_conf conf = { 0 };

	CHECK(rte_eth_dev_rx_queue_stop(PORT, 1) == -ENOTSUP);
	CHECK(rte_pmd_mlx4x_xdp_queue_set(PORT, 2, &hook) == -ENOTSUP);
	CHECK(comes_to(send_one(1), 1, 0, 0));
	CHECK(poll_queue(1, 0) == 0 && poll_queue(2, 0) == 0);
	CHECK(rte_eth_dev_stop(PORT) == 0);
	CHECK(rte_eth_dev_configure(PORT, 2, 1, &conf) == -EINVAL);
	return start_port(PORT, 3);
}

static int
send_numbers(uint16_t nb)
{
	uint16_t i;

	for (i = 0; i < nb; i++)
		CHECK(comes_to(send_one(i), 0, 0, 0));
	return 0;
}

/* Row 52: a full ring drops and counts; nothing is lost unseen. */
static int
test_cpumap_ring(void)
{
	CHECK(load_object() == 0);
	CHECK(set_map("cpus", 0, 8) == 0 && set_map("cpus", 1, 100) == 0);
	CHECK(order(5, 0, 0) == 0);
	CHECK(send_numbers(20) == 0);
	CHECK(port_xstat(PORT, "rx_xdp_redirect") == 8);
	CHECK(port_xstat(PORT, "rx_xdp_redirect_full") == 12 && verdicts_add_up(PORT));
	CHECK(poll_queue(1, 0) == 8 && poll_queue(2, 0) == 0);
	CHECK(port_xstat(PORT, "rx_q1_packets") == 8);
	CHECK(order(5, 1, 0) == 0);
	CHECK(send_numbers(20) == 0);
	CHECK(poll_queue(1, 0) == 0 && poll_queue(2, 0) == 20);
	CHECK(port_xstat(PORT, "rx_q2_packets") == 20 && verdicts_add_up(PORT));
	return 0;
}

/* Row 53: an entry goes and comes back while its ring is full of packets. */
static int
test_cpumap_entries(void)
{
	uint32_t key = 1;
	unsigned int i;

	for (i = 0; i < 50; i++) {
		CHECK(send_numbers(5) == 0);
		CHECK(xdpvm_map_delete(xdpvm_map_find(object, "cpus"), &key) == 0);
		CHECK(comes_to(send_one(99), 0, 0, 0));	/* no entry: aborted */
		CHECK(set_map("cpus", 1, 6) == 0);
		CHECK(poll_queue(2, 0) == 5);
	}
	CHECK(port_xstat(PORT, "rx_xdp_aborted") == 50);
	CHECK(set_map("cpus", 3, 6) == 0);	/* there are two software queues */
	CHECK(order(5, 3, 0) == 0);
	CHECK(comes_to(send_one(1), 0, 0, 0));
	CHECK(port_xstat(PORT, "rx_xdp_redirect_unknown") == 1 && verdicts_add_up(PORT));
	return 0;
}

/* The entry's program runs where packets are fetched; none runs after its object is gone. */
static int
test_cpumap_programs(void)
{
	struct rte_mbuf *mbuf;
	uint16_t i;

	CHECK(set_entry("cpus_prog", 0, 64, "xdp_at_cpu") == 0);
	CHECK(order(7, 0, 0) == 0);
	CHECK(send_numbers(1) == 0);
	CHECK(rte_eth_rx_burst(PORT, 1, &mbuf, 1) == 1);
	CHECK(*rte_pktmbuf_mtod_offset(mbuf, uint8_t *, 30) == 0xa2);
	CHECK(mbuf->next == NULL && mbuf->nb_segs == 1);
	rte_pktmbuf_free(mbuf);
	for (i = 0; i < 10; i++)
		CHECK(comes_to(send_one(1 + 2 * i), 0, 0, 0));
	CHECK(poll_queue(1, 0) == 0);
	CHECK(port_xstat(PORT, "rx_q1_cpumap_dropped") == 10);
	CHECK(send_numbers(6) == 0);
	CHECK(load_object() == 0);	/* the old one is closed: its packets are stale */
	CHECK(poll_queue(1, 0) == 0);
	CHECK(port_xstat(PORT, "rx_q1_cpumap_stale") == 6);
	CHECK(set_entry("cpus_prog", 0, 64, "xdp_at_cpu") == 0 && order(7, 0, 0) == 0);
	CHECK(send_numbers(6) == 0);	/* freed with their program when the test ends */
	CHECK(verdicts_add_up(PORT));
	return 0;
}

/* Packets in the rings go back to their pool when the port stops. */
static int
test_cpumap_restart(void)
{
	CHECK(order(5, 0, 0) == 0);
	CHECK(send_numbers(5) == 0);
	CHECK(rte_eth_dev_stop(PORT) == 0);
	CHECK(rte_eth_dev_start(PORT) == 0);
	CHECK(poll_queue(1, 0) == 0);
	CHECK(send_numbers(5) == 0);
	CHECK(poll_queue(1, 0) == 5);
	CHECK(verdicts_add_up(PORT));
	return 0;
}

/* The target goes for good while the program stays. */
static int
test_target_is_closed(void)
{
	CHECK(order(1, kernel_ifindex(OTHER), 0) == 0);
	CHECK(comes_to(send_one(1), 0, 1, 0));
	CHECK(stop(OTHER) == 0);
	CHECK(rte_eth_dev_close(OTHER) == 0);
	CHECK(comes_to(send_one(1), 0, 0, 0));
	CHECK(verdicts_add_up(PORT));
	return 0;
}

static int
run_all(const struct self_test *tests, unsigned int nb)
{
	unsigned int i;

	for (i = 0; i < nb; i++) {
		int result = tests[i].run();

		printf("%s: %s\n", tests[i].name, result == 0 ? "ok" : "FAILED");
		if (result != 0)
			return -1;
	}
	return 0;
}

static int
test_ports(void)
{
	static const struct self_test tests[] = {
		{ "other_port", test_other_port },
		{ "unknown", test_unknown },
		{ "own_port", test_own_port },
		{ "port_of_another_driver", test_port_of_another_driver },
		{ "target_stops_and_starts", test_target_stops_and_starts },
		{ "mtu_of_the_target", test_mtu_of_the_target },
		{ "routes", test_routes },
		{ "devmaps", test_devmaps },
		{ "broadcast", test_broadcast },
		{ "egress_programs", test_egress_programs },
		{ "xskmap", test_xskmap },
		{ "target_is_closed", test_target_is_closed },
	};

	return run_all(tests, RTE_DIM(tests));
}

static int
test_cpumap(void)
{
	static const struct self_test tests[] = {
		{ "software_queues", test_software_queues },
		{ "row52_cpumap_ring", test_cpumap_ring },
		{ "row53_cpumap_entries", test_cpumap_entries },
		{ "cpumap_restart", test_cpumap_restart },
		{ "cpumap_programs", test_cpumap_programs },
	};

	return run_all(tests, RTE_DIM(tests));
}

int
main(int argc, char **argv)
{
	int used = rte_eal_init(argc, argv), result;
	uint16_t port;
	bool cpumap;

	setlinebuf(stdout);
	if (used < 0 || argc - used < 2 || rte_eth_dev_count_avail() != NB_PORTS)
		return 1;
	object_path = argv[used + 1];
	cpumap = argc - used > 2;
	pool = rte_pktmbuf_pool_create("frames", 2047, 0, 0, 2176, SOCKET_ID_ANY);
	if (pool == NULL)
		return 1;
	RTE_ETH_FOREACH_DEV(port) {
		if (start_port(port, cpumap && port != RING_PORT ? 3 : 1) != 0)
			return 1;
	}
	result = cpumap ? test_cpumap() : test_ports();
	RTE_ETH_FOREACH_DEV(port) {
		rte_eth_dev_stop(port);
		rte_eth_dev_close(port);
	}
	if (rte_mempool_in_use_count(pool) != 0 || card_census() != 0) {
		printf("FAILED: %u mbufs and %ld verbs objects are left\n",
			rte_mempool_in_use_count(pool), card_census());
		result = -1;
	}
	rte_eal_cleanup();
	return result != 0;
}
