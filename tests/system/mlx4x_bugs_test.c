/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Regression tests for what is wrong in the stock mlx4 driver of DPDK 22.11. The
 * letters are those of section 3.1 of the user reports, the numbers those of section
 * G.4 of the device notes; each test shows the behaviour that is right.
 */

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_ip.h>
#include <rte_thash.h>
#include <rte_udp.h>

#include "self_port.h"

#define JUMBO 4000
#define SMALL_ROOM 640
#define NB_SMALL 80

static uint8_t key[40];

static struct rte_eth_conf
hashing(void)
{
	unsigned int i;

	for (i = 0; i < sizeof(key); i++)
		key[i] = 17 * i + 3;
	return (struct rte_eth_conf) {
		.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS,
		.rxmode.offloads = RTE_ETH_RX_OFFLOAD_CHECKSUM,
		.rx_adv_conf.rss_conf = {
			.rss_key = key,
			.rss_key_len = sizeof(key),
			.rss_hf = RTE_ETH_RSS_UDP,
		},
	};
}

static uint32_t
toeplitz(const struct rte_mbuf *mbuf)
{
	const struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(mbuf, const void *, 14);
	const struct rte_udp_hdr *udp = (const void *)(ip + 1);
	uint32_t words[] = {
		rte_be_to_cpu_32(ip->src_addr),
		rte_be_to_cpu_32(ip->dst_addr),
		(uint32_t)rte_be_to_cpu_16(udp->src_port) << 16 | rte_be_to_cpu_16(udp->dst_port),
	};

	return rte_softrss(words, RTE_DIM(words), key);
}

/* a, 1: the hash flag stays when checksums are looked at. b, 2: the hash is Toeplitz's. */
static int
test_a_b_hash(void)
{
	struct rte_eth_conf conf = hashing();
	uint16_t i;

	CHECK(self_start(&conf) == 0);
	for (i = 0; i < 50; i++) {
		struct rte_mbuf *mbuf;

		CHECK(send_frame(udp_frame(pool, 1000 + i)));
		mbuf = receive_frame();
		CHECK(mbuf != NULL);
		CHECK(mbuf->ol_flags & RTE_MBUF_F_RX_RSS_HASH);
		CHECK((mbuf->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) ==
			RTE_MBUF_F_RX_IP_CKSUM_GOOD);
		CHECK(mbuf->hash.rss == toeplitz(mbuf));
		rte_pktmbuf_free(mbuf);
	}
	/* A frame that the card does not hash claims none. */
	CHECK(send_frame(new_frame(1)));
	CHECK(take_frame(1));
	return 0;
}

/* c, 3: a completion with an error is no frame, whatever its length field holds. */
static int
receive_error(unsigned int msb)
{
	struct rte_eth_conf conf = { 0 };
	struct rte_eth_stats before, stats;
	uint16_t i;

	CHECK(self_start(&conf) == 0);
	rte_eth_stats_get(PORT, &before);
	CHECK(card_ctl("inject rx_error:port=1,skip=3,count=2,syndrome=1,msb=%u", msb));
	for (i = 0; i < 2 * RING; i++) {
		CHECK(send_frame(new_frame(i)));
		if (i != 3 && i != 4)
			CHECK(take_frame(i));
	}
	CHECK(rte_eth_stats_get(PORT, &stats) == 0);
	CHECK(stats.ierrors - before.ierrors == 2);
	CHECK(stats.ipackets - before.ipackets == 2 * RING - 2);
	return 0;
}

static int
test_c_receive_error(void)
{
	CHECK(receive_error(1) == 0);
	CHECK(rte_eth_dev_stop(PORT) == 0);
	return receive_error(0);
}

/* Sends until a frame comes back: those before find the ring in error, and are lost. */
static bool
comes_back(uint16_t number)
{
	struct rte_mbuf *mbuf;
	unsigned int i, ms;

	for (i = 0; i < 100; i++) {
		if (!send_frame(new_frame(number)))
			return false;
		for (ms = 0; ms < 100; ms++) {
			if (rte_eth_rx_burst(PORT, 0, &mbuf, 1) == 1) {
				rte_pktmbuf_free(mbuf);
				return true;
			}
			rte_delay_us_sleep(1000);
		}
	}
	return false;
}

/* c, 3: an error that stops the ring flushes it; it is reset and receives again. */
static int
receive_after_failure(uint64_t offloads)
{
	struct rte_eth_conf conf = { .rxmode.offloads = offloads };
	uint16_t round, i;

	CHECK(self_start(&conf) == 0);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < 10; i++)
			CHECK(echo(new_frame(i), i) == 0);
		CHECK(card_ctl("inject rx_error:port=1,syndrome=4"));
		CHECK(send_frame(new_frame(100)));
		CHECK(comes_back(101));
		for (i = 0; i < 2 * RING; i++)
			CHECK(echo(new_frame(i), i) == 0);
	}
	CHECK(rte_eth_dev_stop(PORT) == 0);
	return 0;
}

static int
test_c_failed_ring(void)
{
	CHECK(receive_after_failure(0) == 0);
	CHECK(receive_after_failure(RTE_ETH_RX_OFFLOAD_VLAN_STRIP) == 0);
	CHECK(receive_after_failure(RTE_ETH_RX_OFFLOAD_TIMESTAMP) == 0);
	return 0;
}

/* d, 3: a send error is counted and does not silence the queue. */
static int
test_d_send_error(void)
{
	struct rte_eth_conf conf = { 0 };
	uint16_t i;

	CHECK(self_start(&conf) == 0);
	for (i = 0; i < 3; i++) {
		CHECK(echo(new_frame(i), i) == 0);
		CHECK(card_ctl("inject tx_error:port=1,syndrome=4"));
		CHECK(send_frame(new_frame(100)));
		/* The next burst sees it; the frame behind it is not lost. */
		CHECK_SOON(rte_eth_tx_done_cleanup(PORT, 0, 0) >= 0 &&
			send_errors() == i + 1u);
		CHECK(echo(new_frame(10 + i), 10 + i) == 0);
	}
	return 0;
}

/* A chain of two segments, every byte of which tells its number. */
static struct rte_mbuf *
jumbo_frame(uint16_t number)
{
	struct rte_mbuf *head = new_frame(number), *tail = rte_pktmbuf_alloc(pool);
	uint16_t first = rte_pktmbuf_tailroom(head);

	if (head == NULL || tail == NULL)
		return NULL;
	memset(rte_pktmbuf_append(head, first), number, first);
	memset(rte_pktmbuf_append(tail, JUMBO - first - FRAME), number, JUMBO - first - FRAME);
	return rte_pktmbuf_chain(head, tail) == 0 ? head : NULL;
}

/* Number of a frame that came in, -1 if any of its bytes is another's. */
static int
jumbo_number(const struct rte_mbuf *mbuf)
{
	uint8_t data[JUMBO];
	const uint8_t *all = rte_pktmbuf_read(mbuf, 0, JUMBO, data);
	uint16_t number;
	unsigned int i;

	if (mbuf->pkt_len != JUMBO || all == NULL)
		return -1;
	memcpy(&number, all + 14, sizeof(number));
	for (i = FRAME; i < JUMBO; i++) {
		if (all[i] != (uint8_t)number)
			return -1;
	}
	return number;
}

/* Sends frames first to first + nb - 1, keeps what comes; -1 if anything is wrong. */
static int
exchange_jumbos(uint16_t first, uint16_t nb, struct rte_mbuf **kept)
{
	int last = first - 1, nb_kept = 0;
	unsigned int i, idle;

	for (i = 0; i < nb; i++)
		CHECK(send_frame(jumbo_frame(first + i)));
	for (idle = 0; idle < 100 && last != first + nb - 1; idle++) {
		while (rte_eth_rx_burst(PORT, 0, &kept[nb_kept], 1) == 1) {
			int number = jumbo_number(kept[nb_kept++]);

			CHECK(number > last);
			last = number;
			idle = 0;
		}
		rte_delay_us_sleep(1000);
	}
	return nb_kept;
}

/* e, 4: mbufs run out in the middle of a frame; every later frame has its own bytes. */
static int
scattered_starvation(struct rte_mempool *small)
{
	struct rte_eth_conf conf = {
		.rxmode.offloads = RTE_ETH_RX_OFFLOAD_SCATTER,
		.txmode.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS,
	};
	struct rte_mbuf *kept[64];
	int round, nb;

	CHECK(rte_eth_dev_configure(PORT, 1, 1, &conf) == 0);
	CHECK(rte_eth_dev_set_mtu(PORT, JUMBO) == 0);
	CHECK(rte_eth_rx_queue_setup(PORT, 0, 64, SOCKET_ID_ANY, NULL, small) == 0);
	CHECK(rte_eth_tx_queue_setup(PORT, 0, 512, SOCKET_ID_ANY, NULL) == 0);
	CHECK(rte_eth_dev_start(PORT) == 0);
	for (round = 0; round < 20; round++) {
		nb = exchange_jumbos(100 * round, 20, kept);
		CHECK(nb > 0 && nb < 20);	/* else there was no shortage */
		rte_pktmbuf_free_bulk(kept, nb);
		while (rte_eth_rx_burst(PORT, 0, kept, 1) == 1)
			rte_pktmbuf_free(kept[0]);
	}
	nb = exchange_jumbos(3000, 5, kept);
	rte_pktmbuf_free_bulk(kept, RTE_MAX(nb, 0));
	CHECK(nb == 5);
	CHECK(rte_eth_dev_stop(PORT) == 0);
	CHECK(rte_eth_dev_set_mtu(PORT, RTE_ETHER_MTU) == 0);
	CHECK(rte_mempool_in_use_count(small) == 0);
	return 0;
}

static int
test_e_starved_in_a_frame(void)
{
	struct rte_mempool *small = rte_pktmbuf_pool_create("small", NB_SMALL, 0, 0, SMALL_ROOM,
		SOCKET_ID_ANY);
	int ret;

	CHECK(small != NULL);
	ret = scattered_starvation(small);
	rte_eth_dev_stop(PORT);
	rte_mempool_free(small);
	return ret;
}

/* f: tunnel types are values, not bits: what the card cannot parse is not sent. */
static int
test_f_tunnels(void)
{
	static const uint64_t unknown[] = {
		RTE_MBUF_F_TX_TUNNEL_IPIP, RTE_MBUF_F_TX_TUNNEL_GENEVE,
		RTE_MBUF_F_TX_TUNNEL_MPLSINUDP, RTE_MBUF_F_TX_TUNNEL_VXLAN_GPE,
		RTE_MBUF_F_TX_TUNNEL_GTP, RTE_MBUF_F_TX_TUNNEL_IP, RTE_MBUF_F_TX_TUNNEL_UDP,
	};
	struct rte_eth_conf conf = {
		.txmode.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS | RTE_ETH_TX_OFFLOAD_IPV4_CKSUM,
	};
	uint16_t i;

	CHECK(self_start(&conf) == 0);
	for (i = 0; i < RTE_DIM(unknown); i++) {
		struct rte_mbuf *mbuf = new_frame(i);

		mbuf->ol_flags |= unknown[i] | RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM;
		CHECK(rte_eth_tx_prepare(PORT, 0, &mbuf, 1) == 0 && rte_errno == ENOTSUP);
		CHECK(send_frame(mbuf));
		CHECK(send_errors() == i + 1u);
	}
	CHECK(echo(new_frame(77), 77) == 0);
	return 0;
}

/* g: a request for the IP checksum leaves the one of UDP as it is, and the other way. */
static int
test_g_single_checksums(void)
{
	struct rte_eth_conf conf = {
		.txmode.offloads = RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM,
	};
	unsigned int flags;

	CHECK(self_start(&conf) == 0);
	for (flags = 0; flags < 4; flags++) {
		struct rte_mbuf *mbuf = udp_frame(pool, 5);
		struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(mbuf, void *, 14);
		struct rte_udp_hdr *udp = (void *)(ip + 1);
		rte_be16_t good_ip = ip->hdr_checksum;

		ip->hdr_checksum = RTE_BE16(0x1234);
		udp->dgram_cksum = RTE_BE16(0x5678);
		mbuf->l2_len = sizeof(struct rte_ether_hdr);
		mbuf->l3_len = sizeof(*ip);
		mbuf->ol_flags |= RTE_MBUF_F_TX_IPV4 |
			(flags & 1 ? RTE_MBUF_F_TX_IP_CKSUM : 0) |
			(flags & 2 ? RTE_MBUF_F_TX_UDP_CKSUM : 0);
		CHECK(send_frame(mbuf));
		mbuf = receive_frame();
		CHECK(mbuf != NULL);
		ip = rte_pktmbuf_mtod_offset(mbuf, void *, 14);
		udp = (void *)(ip + 1);
		CHECK(ip->hdr_checksum == (flags & 1 ? good_ip : RTE_BE16(0x1234)));
		CHECK((udp->dgram_cksum == RTE_BE16(0x5678)) == !(flags & 2));
		CHECK(!(flags & 2) || rte_ipv4_udptcp_cksum_verify(ip, udp) == 0);
		rte_pktmbuf_free(mbuf);
	}
	return 0;
}

static void
count_free(void *addr, void *opaque)
{
	(*(unsigned int *)opaque)++;
}

/* Data at an address that the driver has never heard of. */
static struct rte_mbuf *
foreign_frame(void *buffer, unsigned int *nb_freed)
{
	static struct rte_mbuf_ext_shared_info info;
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);

	info.free_cb = count_free;
	info.fcb_opaque = nb_freed;
	rte_mbuf_ext_refcnt_set(&info, 1);
	rte_pktmbuf_attach_extbuf(mbuf, buffer, RTE_BAD_IOVA, 4096, &info);
	write_frame(mbuf, 0);
	return mbuf;
}

static struct rte_mbuf *
long_chain(void)
{
	struct rte_mbuf *mbuf = new_frame(0);
	unsigned int i;

	for (i = 0; i < 40; i++)
		rte_pktmbuf_chain(mbuf, new_frame(0));
	return mbuf;
}

/* A TCP segmentation whose headers are longer than the frame. */
static struct rte_mbuf *
bad_tso(void)
{
	struct rte_mbuf *mbuf = new_frame(0);

	mbuf->ol_flags |= RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM;
	mbuf->l2_len = 14;
	mbuf->l3_len = 60;
	mbuf->l4_len = 60;
	mbuf->tso_segsz = 500;
	return mbuf;
}

/* h, 6, 9: each frame that cannot be sent is dropped and counted; those behind it go. */
static int
test_h_bad_frames(void)
{
	struct rte_eth_conf conf = {
		.txmode.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS | RTE_ETH_TX_OFFLOAD_TCP_TSO |
			RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_CKSUM,
	};
	void *buffer = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int nb_freed = 0, round;
	struct rte_mbuf *mbuf;
	uint16_t sent, i;

	CHECK(buffer != MAP_FAILED);
	CHECK(self_start(&conf) == 0);
	for (round = 0; round < 5; round++) {
		struct rte_mbuf *frames[] = {
			new_frame(1), rte_pktmbuf_alloc(pool), new_frame(2), long_chain(),
			new_frame(3), bad_tso(), new_frame(4), foreign_frame(buffer, &nb_freed),
			new_frame(5),
		};
		unsigned int ms = 0;

		for (sent = 0; sent < RTE_DIM(frames) && ms < WAIT_MS; ms++) {
			sent += rte_eth_tx_burst(PORT, 0, &frames[sent], RTE_DIM(frames) - sent);
			rte_delay_us_sleep(1000);
		}
		CHECK(sent == RTE_DIM(frames));
		for (i = 1; i <= 5; i++)
			CHECK(take_frame(i));
		CHECK(send_errors() == 4 * (round + 1));
		CHECK(nb_freed == round + 1);
	}
	CHECK(rte_eth_rx_burst(PORT, 0, &mbuf, 1) == 0);
	munmap(buffer, 4096);
	return 0;
}

/* i: limits that are true. */
static int
test_i_limits(void)
{
	struct rte_eth_conf conf = {
		.rxmode.offloads = RTE_ETH_RX_OFFLOAD_SCATTER,
		.txmode.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS,
	};
	struct rte_eth_dev_info info;

	CHECK(rte_eth_dev_info_get(PORT, &info) == 0);
	CHECK(info.max_mtu < 10000 && info.min_mtu >= 68);
	CHECK(info.max_rx_pktlen > info.max_mtu && info.max_rx_pktlen < info.max_mtu + 64u);
	CHECK(self_start(&conf) == 0);
	CHECK(rte_eth_dev_set_mtu(PORT, info.max_mtu + 1) == -EINVAL);
	CHECK(echo(new_frame(1), 1) == 0);
	CHECK(rte_eth_dev_stop(PORT) == 0);
	CHECK(rte_eth_dev_set_mtu(PORT, info.max_mtu) == 0);
	CHECK(rte_eth_dev_start(PORT) == 0);
	CHECK(echo(new_frame(2), 2) == 0);
	CHECK(rte_eth_dev_stop(PORT) == 0);
	CHECK(rte_eth_dev_set_mtu(PORT, RTE_ETHER_MTU) == 0);
	return 0;
}

/* j: operations that the stock driver does not have. */
static int
test_j_operations(void)
{
	struct rte_eth_conf conf = hashing();
	struct rte_eth_rss_conf rss = { 0 };
	struct rte_mbuf *mbuf = NULL;
	struct rte_eth_dev_info info;
	uint64_t clock;

	CHECK(self_start(&conf) == 0);
	CHECK(rte_eth_dev_info_get(PORT, &info) == 0);
	CHECK(info.reta_size != 0);
	CHECK(rte_eth_dev_rss_hash_conf_get(PORT, &rss) == 0);
	CHECK(rss.rss_hf == RTE_ETH_RSS_UDP || rss.rss_hf & RTE_ETH_RSS_NONFRAG_IPV4_UDP);
	CHECK(rte_eth_rx_queue_count(PORT, 0) == 0);
	CHECK(rte_eth_rx_descriptor_status(PORT, 0, 0) == RTE_ETH_RX_DESC_AVAIL);
	CHECK(rte_eth_tx_descriptor_status(PORT, 0, 0) == RTE_ETH_TX_DESC_DONE);
	CHECK(rte_eth_tx_done_cleanup(PORT, 0, 0) == 0);
	mbuf = new_frame(1);
	CHECK(rte_eth_tx_prepare(PORT, 0, &mbuf, 1) == 1);
	rte_pktmbuf_free(mbuf);
	CHECK(rte_eth_read_clock(PORT, &clock) == 0);
	return 0;
}

/* 5: the smallest send ring runs for ever; smaller ones are refused. */
static int
test_5_smallest_ring(void)
{
	struct rte_eth_conf conf = { 0 };
	struct rte_eth_dev_info info;
	uint16_t i;

	CHECK(rte_eth_dev_info_get(PORT, &info) == 0);
	CHECK(rte_eth_dev_configure(PORT, 1, 1, &conf) == 0);
	CHECK(rte_eth_rx_queue_setup(PORT, 0, info.rx_desc_lim.nb_min, SOCKET_ID_ANY, NULL,
		pool) == 0);
	CHECK(rte_eth_tx_queue_setup(PORT, 0, info.tx_desc_lim.nb_min - 1, SOCKET_ID_ANY,
		NULL) == -EINVAL);
	CHECK(rte_eth_tx_queue_setup(PORT, 0, info.tx_desc_lim.nb_min, SOCKET_ID_ANY, NULL) == 0);
	CHECK(rte_eth_dev_start(PORT) == 0);
	for (i = 0; i < 20 * info.tx_desc_lim.nb_min; i++)
		CHECK(echo(new_frame(i), i) == 0);
	return 0;
}

/* A single-segment frame behind one of several blocks, in every position of the ring. */
static int
alternate(uint16_t number, uint16_t nb_segs)
{
	struct rte_mbuf *chain = new_frame(number), *mbuf;
	uint16_t i;

	for (i = 1; i < nb_segs; i++)
		CHECK(rte_pktmbuf_chain(chain, new_frame(number)) == 0);
	CHECK(send_frame(chain));
	CHECK(send_frame(new_frame(number)));
	for (i = 0; i < 2; i++) {
		mbuf = receive_frame();
		CHECK(mbuf != NULL);
		CHECK(mbuf->pkt_len == (i == 0 ? FRAME * nb_segs : FRAME));
		CHECK(rte_pktmbuf_mtod(mbuf, uint8_t *)[12] == 0x88);
		rte_pktmbuf_free(mbuf);
	}
	return 0;
}

/* 11: no VLAN tag appears where nobody asked for one (vcx3 --vlan-insert on). */
static int
test_11_stale_vlan(void)
{
	struct rte_eth_conf conf = { .txmode.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS };
	uint16_t i;

	CHECK(self_start(&conf) == 0);
	for (i = 0; i < 4 * RING; i++)
		CHECK(alternate(i, 1 + i % 13) == 0);
	return 0;
}

static const struct self_test tests[] = {
	{ "a_b_hash", test_a_b_hash },
	{ "c_receive_error", test_c_receive_error },
	{ "c_failed_ring", test_c_failed_ring },
	{ "d_send_error", test_d_send_error },
	{ "e_starved_in_a_frame", test_e_starved_in_a_frame },
	{ "f_tunnels", test_f_tunnels },
	{ "g_single_checksums", test_g_single_checksums },
	{ "h_bad_frames", test_h_bad_frames },
	{ "i_limits", test_i_limits },
	{ "j_operations", test_j_operations },
	{ "5_smallest_ring", test_5_smallest_ring },
	{ "11_stale_vlan", test_11_stale_vlan },
};

int
main(int argc, char **argv)
{
	return self_main(argc, argv, tests, RTE_DIM(tests));
}
