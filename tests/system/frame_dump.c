/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Receives frames on one port and prints what the driver says of each, one line a
 * frame; sends each back with its checksums requested. compare_test.py runs it with
 * two drivers.
 *
 *   frame_dump EAL... -- nb_frames nb_queues [scatter] [checksum] [crc] [strip] [tso] [insert]
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_ip.h>
#include <rte_net.h>
#include <rte_net_crc.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "self_port.h"

#define RX_RING 1024
#define TX_RING 2048
#define NB_MBUFS 32767
#define JUMBO 9000

/* What both drivers can say. */
#define FLAGS_SHOWN (RTE_MBUF_F_RX_RSS_HASH | RTE_MBUF_F_RX_IP_CKSUM_MASK | \
	RTE_MBUF_F_RX_L4_CKSUM_MASK | RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED)

#define TSO_SIZE 500

static const struct {
	const char *name;
	uint64_t rx_offloads;
	uint64_t tx_offloads;
} words[] = {
	{ "scatter", RTE_ETH_RX_OFFLOAD_SCATTER, RTE_ETH_TX_OFFLOAD_MULTI_SEGS },
	{ "checksum", RTE_ETH_RX_OFFLOAD_CHECKSUM, 0 },
	{ "crc", RTE_ETH_RX_OFFLOAD_KEEP_CRC, 0 },
	{ "strip", RTE_ETH_RX_OFFLOAD_VLAN_STRIP, 0 },
	{ "tso", 0, RTE_ETH_TX_OFFLOAD_TCP_TSO },
	{ "insert", 0, RTE_ETH_TX_OFFLOAD_VLAN_INSERT },
};

static uint16_t nb_queues;
static uint64_t rx_offloads;
static uint64_t tx_offloads = RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_CKSUM |
	RTE_ETH_TX_OFFLOAD_UDP_CKSUM;

static bool
take_word(const char *name)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(words); i++) {
		if (strcmp(words[i].name, name) == 0) {
			rx_offloads |= words[i].rx_offloads;
			tx_offloads |= words[i].tx_offloads;
			return true;
		}
	}
	return false;
}

static int
start(void)
{
	struct rte_mempool *mp = rte_pktmbuf_pool_create("frames", NB_MBUFS, 0, 0,
		RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	struct rte_eth_conf conf = {
		.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS,
		.rxmode.offloads = rx_offloads,
		.txmode.offloads = tx_offloads,
		.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP,
	};
	struct rte_eth_dev_info info;
	uint16_t i;
	int ret = mp == NULL ? -1 : rte_eth_dev_info_get(PORT, &info);

	conf.rx_adv_conf.rss_conf.rss_hf &= info.flow_type_rss_offloads;
	if (ret == 0)
		ret = rte_eth_dev_configure(PORT, nb_queues, nb_queues, &conf);
	/* Before the queues: the stock driver decides on scattering when they are set up. */
	if (ret == 0 && rx_offloads & RTE_ETH_RX_OFFLOAD_SCATTER)
		ret = rte_eth_dev_set_mtu(PORT, JUMBO);
	for (i = 0; i < nb_queues && ret == 0; i++) {
		ret = rte_eth_rx_queue_setup(PORT, i, RX_RING, SOCKET_ID_ANY, NULL, mp);
		if (ret == 0)
			ret = rte_eth_tx_queue_setup(PORT, i, TX_RING, SOCKET_ID_ANY, NULL);
	}
	return ret != 0 ? ret : rte_eth_dev_start(PORT);
}

/* With KEEP_CRC the four bytes behind a frame, if it has them in one buffer, else 0. */
static uint32_t
kept_crc(struct rte_mbuf *mbuf)
{
	struct rte_mbuf *last = rte_pktmbuf_lastseg(mbuf);
	uint32_t crc;

	if (!(rx_offloads & RTE_ETH_RX_OFFLOAD_KEEP_CRC) || rte_pktmbuf_tailroom(last) < sizeof(crc))
		return 0;
	memcpy(&crc, rte_pktmbuf_mtod_offset(last, void *, last->data_len), sizeof(crc));
	return crc;
}

/* queue length segments type flags tag kept-CRC hash CRC-32 */
static void
print_frame(uint16_t queue, struct rte_mbuf *mbuf)
{
	static uint8_t data[JUMBO + 100];
	const uint8_t *all = rte_pktmbuf_read(mbuf, 0, mbuf->pkt_len, data);

	printf("frame %u %u %u 0x%x 0x%lx 0x%x 0x%x 0x%x 0x%x\n", queue, mbuf->pkt_len,
		mbuf->nb_segs, mbuf->packet_type, (unsigned long)(mbuf->ol_flags & FLAGS_SHOWN),
		mbuf->ol_flags & RTE_MBUF_F_RX_VLAN ? mbuf->vlan_tci : 0, kept_crc(mbuf),
		mbuf->hash.rss, rte_net_crc_calc(all, mbuf->pkt_len, RTE_NET_CRC32_ETH));
}

/* Spoils the checksums of a frame that has them, and asks the card for them. */
static void
request_checksums(struct rte_mbuf *mbuf)
{
	struct rte_net_hdr_lens lens = { 0 };
	uint32_t type = rte_net_get_ptype(mbuf, &lens, RTE_PTYPE_ALL_MASK);
	char *l3 = rte_pktmbuf_mtod_offset(mbuf, char *, lens.l2_len), *l4 = l3 + lens.l3_len;
	bool v4 = RTE_ETH_IS_IPV4_HDR(type);

	mbuf->ol_flags = 0;
	mbuf->l2_len = lens.l2_len;
	mbuf->l3_len = lens.l3_len;
	mbuf->l4_len = lens.l4_len;
	if (type & RTE_PTYPE_TUNNEL_MASK || (!v4 && !RTE_ETH_IS_IPV6_HDR(type)))
		return;
	mbuf->ol_flags |= v4 ? RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM : RTE_MBUF_F_TX_IPV6;
	if (v4)
		((struct rte_ipv4_hdr *)l3)->hdr_checksum = 0;
	if ((type & RTE_PTYPE_L4_MASK) == RTE_PTYPE_L4_TCP) {
		mbuf->ol_flags |= RTE_MBUF_F_TX_TCP_CKSUM;
		((struct rte_tcp_hdr *)l4)->cksum = 0;
	} else if ((type & RTE_PTYPE_L4_MASK) == RTE_PTYPE_L4_UDP) {
		mbuf->ol_flags |= RTE_MBUF_F_TX_UDP_CKSUM;
		((struct rte_udp_hdr *)l4)->dgram_cksum = 0;
	}
}

/* The number of frames that the card makes of one. */
static unsigned int
request_segments(struct rte_mbuf *mbuf)
{
	uint32_t headers = mbuf->l2_len + mbuf->l3_len + mbuf->l4_len;

	if (!(tx_offloads & RTE_ETH_TX_OFFLOAD_TCP_TSO) ||
	    (mbuf->ol_flags & RTE_MBUF_F_TX_L4_MASK) != RTE_MBUF_F_TX_TCP_CKSUM ||
	    mbuf->pkt_len <= headers + TSO_SIZE)
		return 1;
	mbuf->ol_flags |= RTE_MBUF_F_TX_TCP_SEG;
	mbuf->tso_segsz = TSO_SIZE;
	return (mbuf->pkt_len - headers + TSO_SIZE - 1) / TSO_SIZE;
}

static void
request_tag(struct rte_mbuf *mbuf)
{
	if (!(tx_offloads & RTE_ETH_TX_OFFLOAD_VLAN_INSERT))
		return;
	mbuf->ol_flags |= RTE_MBUF_F_TX_VLAN;
	mbuf->vlan_tci = 0x6000 | (mbuf->pkt_len & 0xfff);
}

/* The number of frames that are on the wire then. */
static unsigned int
take(uint16_t queue, struct rte_mbuf *mbuf)
{
	unsigned int ms, nb;

	print_frame(queue, mbuf);
	request_checksums(mbuf);
	nb = request_segments(mbuf);
	request_tag(mbuf);
	for (ms = 0; ms < WAIT_MS && rte_eth_tx_burst(PORT, queue, &mbuf, 1) == 0; ms++)
		rte_delay_us_sleep(1000);
	return nb;
}

static void
print_stats(void)
{
	struct rte_eth_stats stats;
	uint16_t i;

	rte_eth_stats_get(PORT, &stats);
	printf("stats all %lu %lu %lu %lu %lu %lu %lu\n", (unsigned long)stats.ipackets,
		(unsigned long)stats.ibytes, (unsigned long)stats.opackets,
		(unsigned long)stats.obytes, (unsigned long)stats.ierrors,
		(unsigned long)stats.oerrors, (unsigned long)stats.rx_nombuf);
	for (i = 0; i < nb_queues; i++)
		printf("stats %u %lu %lu %lu %lu %lu\n", i, (unsigned long)stats.q_ipackets[i],
			(unsigned long)stats.q_ibytes[i], (unsigned long)stats.q_opackets[i],
			(unsigned long)stats.q_obytes[i], (unsigned long)stats.q_errors[i]);
}

/* Until so many frames have come; how many did, and are sent. */
static unsigned long
forward(unsigned long wanted)
{
	unsigned long nb = 0, nb_sent = 0, ms = 0;
	struct rte_mbuf *mbufs[32];
	uint16_t queue, i, n;

	while (nb < wanted && ms < WAIT_MS) {
		unsigned long before = nb;

		for (queue = 0; queue < nb_queues; queue++) {
			n = rte_eth_rx_burst(PORT, queue, mbufs, RTE_DIM(mbufs));
			for (i = 0; i < n; i++)
				nb_sent += take(queue, mbufs[i]);
			nb += n;
		}
		if (nb == before) {
			rte_delay_us_sleep(1000);
			ms++;
		}
	}
	/* What was sent is on the wire before the port stops. */
	for (; ms < WAIT_MS && card_counter("tx_frames") < (long)nb_sent; ms++)
		rte_delay_us_sleep(1000);
	return nb;
}

int
main(int argc, char **argv)
{
	int used = rte_eal_init(argc, argv);
	unsigned long wanted, nb;
	int i;

	if (used < 0 || argc - used < 3 || rte_eth_dev_count_avail() != 1)
		return 2;
	wanted = strtoul(argv[used + 1], NULL, 10);
	nb_queues = atoi(argv[used + 2]);
	for (i = used + 3; i < argc; i++) {
		if (!take_word(argv[i]))
			return 2;
	}
	if (start() != 0)
		return 1;
	printf("ready\n");
	fflush(stdout);
	nb = forward(wanted);
	print_stats();
	rte_eth_dev_stop(PORT);
	rte_eth_dev_close(PORT);
	rte_eal_cleanup();
	return nb == wanted ? 0 : 1;
}
