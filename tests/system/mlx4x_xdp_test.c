/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Programs in the receive path of net_mlx4x, frame by frame: a C hook judges what the
 * port gets back from its own wire (vcx3 --step --wire 1=self). Tests are named after
 * the rows of the table of claims about the kernel's driver, where they show one.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/bpf.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mbuf_dyn.h>

#include <page_pool.h>
#include <rte_pmd_mlx4x.h>

#include "xdp_port.h"


#define NB_OF_PAGES 2

/* What the hook does with each frame, and what it saw of the last one. */
static struct {
	uint64_t action;
	int head;		/* moves data by this */
	int tail;		/* and data_end */
	unsigned int runs;
	unsigned int headroom;
	unsigned int len;
	unsigned int page_offset;
	uintptr_t data;
	void *arg;
} hook;

static uint64_t
judge(struct xdpvm_buff *buff)
{
	hook.runs++;
	hook.headroom = buff->data - buff->hard_start;
	hook.len = buff->data_end - buff->data;
	hook.data = (uintptr_t)buff->data;
	hook.page_offset = hook.data % PAGE_POOL_PAGE_SIZE;
	hook.arg = buff->opaque;
	buff->data += hook.head;
	buff->data_meta = buff->data;
	buff->data_end += hook.tail;
	return hook.action;
}

static const struct rte_pmd_mlx4x_xdp_prog prog = { .name = "judge", .hook = judge, .arg = &hook };

static void
hook_does(uint64_t action)
{
	memset(&hook, 0, sizeof(hook));
	hook.action = action;
}

static int
start_with(uint64_t action)
{
	struct rte_eth_conf conf = { 0 };

	hook_does(action);
	CHECK(self_start(&conf) == 0);
	CHECK(rte_eth_promiscuous_enable(PORT) == 0);
	CHECK(rte_pmd_mlx4x_xdp_set(PORT, &prog) == 0);
	return 0;
}

static int
end(int result)
{
	rte_pmd_mlx4x_xdp_set(PORT, NULL);
	return result;
}

/*
 * The frame lies behind the full headroom of, where pages are not shared, one of the places that
 * the pool has in a page.
 */
static bool
is_in_place(void)
{
	struct page_pool_geometry geometry;
	uint32_t lines, moved;

	if (page_pool_geometry_get(pool, &geometry) != 0 || hook.headroom != HEADROOM)
		return false;
	if (geometry.layout.objs_per_block > 1)
		return true;
	moved = hook.page_offset - HEADROOM - geometry.buf_offset;
	lines = moved / RTE_CACHE_LINE_SIZE;
	return moved == lines * RTE_CACHE_LINE_SIZE && lines < geometry.layout.nb_colours;
}

static int
row1_body(void)
{
	uintptr_t seen[RING];
	uint64_t posted[RING];
	unsigned int i, j;

	CHECK(start_with(XDP_DROP) == 0);
	CHECK(vcx3_posted(posted, RING) == RING);
	for (i = 0; i < RING; i++) {
		CHECK(pass_frames(1) == 0);
		seen[i] = hook.data & ~(uintptr_t)(PAGE_POOL_PAGE_SIZE - 1);
		CHECK(is_in_place() && hook.len == FRAME && hook.arg == &hook);
		CHECK(posted[i] == hook.data);
		for (j = 0; j < i; j++)
			CHECK(seen[j] != seen[i]);
	}
	/* The ring has gone round once: the same pages, in the same slots. */
	for (i = 0; i < 2 * RING; i++) {
		CHECK(pass_frames(1) == 0);
		CHECK(seen[i % RING] == (hook.data & ~(uintptr_t)(PAGE_POOL_PAGE_SIZE - 1)));
	}
	CHECK(port_xstat(PORT, "rx_xdp_drop") == 3 * RING && verdicts_add_up(PORT));
	return 0;
}

/* Row 1: one page for each packet; what is dropped stays in its slot. */
static int
test_row1_page_per_packet(void)
{
	return end(row1_body());
}

static int
row7_body(void)
{
	struct page_pool_geometry geometry;
	uint16_t mtu_max;

	CHECK(page_pool_geometry_get(pool, &geometry) == 0);
	mtu_max = page_pool_frame_max(&geometry, HEADROOM) - 22;
	CHECK(mtu_max >= 3498);
	hook_does(XDP_DROP);
	CHECK(self_start(&(struct rte_eth_conf){ 0 }) == 0);
	/* The program first. */
	CHECK(rte_pmd_mlx4x_xdp_set(PORT, &prog) == 0);
	CHECK(rte_eth_dev_set_mtu(PORT, mtu_max) == 0);
	CHECK(rte_eth_dev_set_mtu(PORT, mtu_max + 1) == -EOPNOTSUPP);
	CHECK(strstr(rte_pmd_mlx4x_xdp_error(), "3627") != NULL);
	CHECK(strstr(rte_pmd_mlx4x_xdp_error(), "3626") != NULL);
	CHECK(pass_frames(1) == 0 && hook.runs == 1);
	/* The MTU first. */
	CHECK(rte_pmd_mlx4x_xdp_set(PORT, NULL) == 0);
	CHECK(rte_eth_dev_stop(PORT) == 0);
	CHECK(rte_eth_dev_set_mtu(PORT, mtu_max + 1) == 0);
	CHECK(rte_eth_dev_start(PORT) == 0);
	CHECK(rte_pmd_mlx4x_xdp_set(PORT, &prog) == -EOPNOTSUPP);
	CHECK(strstr(rte_pmd_mlx4x_xdp_error(), "3627") != NULL);
	CHECK(strstr(rte_pmd_mlx4x_xdp_error(), "3626") != NULL);
	CHECK(pass_frames(1) == 1 && hook.runs == 1);
	return 0;
}

/*
 * Row 7: as large an MTU as one buffer holds, at least the kernel's from a pool that is asked
 * for whole pages; refused in both orders.
 */
static int
test_row7_mtu(void)
{
	return with_pool(rte_pktmbuf_pool_create_by_ops("whole pages", 1023, 0, 0,
		PAGE_POOL_PAGE_SIZE - 192, SOCKET_ID_ANY, PAGE_POOL_OPS), row7_body);
}

static int
row8_body(void)
{
	struct rte_pmd_mlx4x_xdp_prog both = prog;
	struct rte_pmd_mlx4x_xdp_status status;
	long qps;

	hook_does(XDP_DROP);
	CHECK(self_start(&(struct rte_eth_conf){ 0 }) == 0);
	qps = card_counter("live_qps");
	CHECK(card_ctl("fail CREATE_QP 1 ENOMEM"));
	CHECK(rte_pmd_mlx4x_xdp_set(PORT, &prog) < 0);
	CHECK(strlen(rte_pmd_mlx4x_xdp_error()) > 10);
	CHECK(card_ctl("resume"));
	CHECK(card_ctl("fail CREATE_CQ 1 ENOMEM"));
	CHECK(rte_pmd_mlx4x_xdp_set(PORT, &prog) < 0);
	CHECK(card_ctl("resume"));
	CHECK(card_counter("live_qps") == qps);
	CHECK(pass_frames(3) == 3 && hook.runs == 0);
	CHECK(rte_pmd_mlx4x_xdp_status(PORT, 0, &status) == 0 && status.id == 0);
	/* A program is there: what fails leaves it. */
	CHECK(rte_pmd_mlx4x_xdp_set(PORT, &prog) == 0);
	both.prog = (struct xdpvm_prog *)&both;
	CHECK(rte_pmd_mlx4x_xdp_set(PORT, &both) == -EINVAL);
	CHECK(rte_pmd_mlx4x_xdp_queue_set(PORT, 1, &prog) == -EINVAL);
	CHECK(rte_pmd_mlx4x_xdp_set(PORT + 1, &prog) == -ENODEV);
	CHECK(rte_pmd_mlx4x_xdp_load(PORT, 0, "/no/such/file", NULL) == -ENOENT);
	CHECK(rte_pmd_mlx4x_xdp_load(PORT, RTE_PMD_MLX4X_XDP_PORT, "/no/such/file", NULL) == -EBUSY);
	CHECK(rte_pmd_mlx4x_xdp_unload(PORT, RTE_PMD_MLX4X_XDP_PORT, UINT32_MAX) == -ENOENT);
	CHECK(rte_pmd_mlx4x_xdp_unload(PORT, 0, 0) == -ENOENT);
	CHECK(pass_frames(3) == 0 && hook.runs == 3);
	CHECK(rte_pmd_mlx4x_xdp_status(PORT, 0, &status) == 0 && status.native);
	CHECK(strcmp(status.name, "judge") == 0);
	return 0;
}

/* Row 8: a failed attach, whatever fails, leaves things as they were. */
static int
test_row8_failure_keeps_the_old(void)
{
	return end(row8_body());
}

static int
restart_body(void)
{
	struct rte_eth_conf conf = { 0 };
	int socket = rte_eth_dev_socket_id(PORT);

	CHECK(start_with(XDP_DROP) == 0);
	CHECK(rte_eth_dev_stop(PORT) == 0);
	CHECK(rte_eth_dev_start(PORT) == 0);
	CHECK(pass_frames(5) == 0 && hook.runs == 5);
	/* Two queues instead of one; a program of queue 1 alone. */
	CHECK(rte_eth_dev_stop(PORT) == 0);
	CHECK(rte_eth_dev_configure(PORT, 2, 1, &conf) == 0);
	CHECK(rte_eth_rx_queue_setup(PORT, 0, RING, socket, NULL, pool) == 0);
	CHECK(rte_eth_rx_queue_setup(PORT, 1, RING, socket, NULL, pool) == 0);
	CHECK(rte_eth_tx_queue_setup(PORT, 0, RING, socket, NULL) == 0);
	CHECK(rte_eth_dev_start(PORT) == 0);
	CHECK(pass_frames(5) == 0 && hook.runs == 10);
	CHECK(rte_pmd_mlx4x_xdp_set(PORT, NULL) == 0);
	CHECK(rte_pmd_mlx4x_xdp_queue_set(PORT, 1, &prog) == 0);
	CHECK(pass_frames(5) == 5 && hook.runs == 10);
	CHECK(rte_pmd_mlx4x_xdp_queue_set(PORT, 0, &prog) == 0);
	CHECK(rte_pmd_mlx4x_xdp_queue_set(PORT, 1, NULL) == 0);
	CHECK(pass_frames(5) == 0 && hook.runs == 15);
	CHECK(rte_pmd_mlx4x_xdp_queue_set(PORT, 0, NULL) == 0);
	CHECK(rte_pmd_mlx4x_xdp_queue_set(PORT, 0, NULL) == -ENOENT);
	CHECK(pass_frames(5) == 5 && hook.runs == 15);
	return 0;
}

static int
test_restart_and_queues(void)
{
	return end(restart_body());
}

static int
scatter_body(void)
{
	struct rte_eth_conf conf = { .rxmode = {
		.mtu = 9000, .offloads = RTE_ETH_RX_OFFLOAD_SCATTER } };

	hook_does(XDP_DROP);
	CHECK(self_start(&conf) == 0);
	CHECK(rte_pmd_mlx4x_xdp_set(PORT, &prog) == -EOPNOTSUPP);
	CHECK(strstr(rte_pmd_mlx4x_xdp_error(), "one buffer") != NULL);
	CHECK(pass_frames(2) == 2 && hook.runs == 0);
	return 0;
}

static int
test_scatter_is_refused(void)
{
	int result = end(scatter_body());

	rte_eth_dev_stop(PORT);
	rte_eth_dev_set_mtu(PORT, 1500);
	return result;
}

static int
row67_body(void)
{
	static const uint64_t actions[] = { XDP_ABORTED, 5, 255, UINT64_C(1) << 32 };
	unsigned int i;

	CHECK(start_with(XDP_PASS) == 0);
	for (i = 0; i < RTE_DIM(actions); i++) {
		hook.action = actions[i];
		CHECK(pass_frames(1) == 0);
		CHECK(port_xstat(PORT, "rx_xdp_aborted") == i + 1);
	}
	hook.action = XDP_REDIRECT;	/* to nowhere */
	CHECK(pass_frames(1) == 0);
	CHECK(port_xstat(PORT, "rx_xdp_redirect_fail") == 1);
	CHECK(port_xstat(PORT, "rx_xdp_drop") == 0 && verdicts_add_up(PORT));
	return 0;
}

/* Row 67: ABORTED and unknown values drop the frame; their events are the telemetry test's. */
static int
test_row67_exceptions(void)
{
	return end(row67_body());
}

static int
row68_body(void)
{
	unsigned int i;

	CHECK(start_with(XDP_DROP) == 0);
	for (i = 0; i < 10000; i++) {
		hook.head = i % 3 == 0 ? 16 : i % 3 == 1 ? -200 : 0;
		hook.tail = i % 2 ? -10 : 0;
		hook.action = i % 5 == 0 ? XDP_ABORTED : XDP_DROP;
		CHECK(pass_frames(1) == 0);
		CHECK(is_in_place() && hook.len == FRAME);
	}
	return 0;
}

/* Row 68: full headroom after any move that ended in a drop. */
static int
test_row68_headroom(void)
{
	return end(row68_body());
}

static int
passed_body(void)
{
	static const struct {
		int head;
		int tail;
	} moves[] = { { 0, 0 }, { 14, 0 }, { -100, 0 }, { 0, -20 }, { 0, 30 }, { -4, 4 } };
	unsigned int i;

	for (i = 0; i < RTE_DIM(moves); i++) {
		struct rte_mbuf *mbuf;

		hook.head = moves[i].head;
		hook.tail = moves[i].tail;
		CHECK(send_frame(udp_frame(pool, 7)));
		settle();
		mbuf = receive_frame();
		CHECK(mbuf != NULL);
		CHECK(mbuf->data_off == HEADROOM + moves[i].head);
		CHECK(mbuf->data_len == FRAME - moves[i].head + moves[i].tail);
		CHECK(mbuf->pkt_len == mbuf->data_len && mbuf->nb_segs == 1);
		CHECK((mbuf->packet_type != 0) == (moves[i].head == 0));
		CHECK(!!(mbuf->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_GOOD) == (i == 0));
		CHECK(!!(mbuf->ol_flags & RTE_MBUF_F_RX_RSS_HASH) == (moves[i].head == 0));
		rte_pktmbuf_free(mbuf);
	}
	CHECK(port_xstat(PORT, "rx_xdp_pass") == RTE_DIM(moves) && verdicts_add_up(PORT));
	CHECK(port_xstat(PORT, "rx_good_packets") == RTE_DIM(moves));
	return 0;
}

/* What the mbuf of a passed frame says is true of what the program left. */
static int
test_passed_frames(void)
{
	struct rte_eth_conf conf = {
		.rxmode = { .mq_mode = RTE_ETH_MQ_RX_RSS, .offloads = RTE_ETH_RX_OFFLOAD_CHECKSUM },
		.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_NONFRAG_IPV4_UDP,
	};

	hook_does(XDP_PASS);
	CHECK(self_start(&conf) == 0);
	CHECK(rte_pmd_mlx4x_xdp_set(PORT, &prog) == 0);
	return end(passed_body());
}

static int
row69_body(void)
{
	struct rte_mbuf *held[4096], *pkts[BURST];
	unsigned int nb_held = 0, i;
	uint16_t n;

	CHECK(start_with(XDP_PASS) == 0);
	/* The application keeps everything, until no frame can come in any more. */
	for (i = 0; i < 4096 && rte_mempool_avail_count(pool) != 0; i++) {
		struct rte_mbuf *mbuf = new_frame(i);

		CHECK(mbuf != NULL);
		if (i % 2) {
			held[nb_held++] = mbuf;
			continue;
		}
		CHECK(send_frame(mbuf));
		settle();
		rte_eth_tx_done_cleanup(PORT, 0, 0);
		n = rte_eth_rx_burst(PORT, 0, pkts, BURST);
		memcpy(&held[nb_held], pkts, n * sizeof(pkts[0]));
		nb_held += n;
	}
	CHECK(rte_mempool_avail_count(pool) == 0);
	/* Drops go on with the pages that the ring has, and none is lost. */
	hook.action = XDP_DROP;
	for (i = 0; i < 100; i++) {
		rte_pktmbuf_free(held[--nb_held]);
		CHECK(pass_frames(1) == 0);
	}
	rte_pktmbuf_free_bulk(held, nb_held);
	hook.action = XDP_PASS;
	CHECK(pass_frames(1) == 1);
	CHECK(pass_frames(300) == 300);
	CHECK(verdicts_add_up(PORT));
	return 0;
}

/* Row 69: starved, and back within one poll. */
static int
test_row69_starvation(void)
{
	return end(row69_body());
}

static struct {
	int hash_ret, stamp_ret, vlan_ret;
	uint32_t hash, type;
	uint64_t stamp;
	uint16_t proto, tci;
} meta;

static uint64_t
look_at_metadata(struct xdpvm_buff *buff)
{
	meta.hash_ret = rte_pmd_mlx4x_xdp_rx_hash(buff, &meta.hash, &meta.type);
	meta.stamp_ret = rte_pmd_mlx4x_xdp_rx_timestamp(buff, &meta.stamp);
	meta.vlan_ret = rte_pmd_mlx4x_xdp_rx_vlan_tag(buff, &meta.proto, &meta.tci);
	return XDP_PASS;
}

static const struct rte_pmd_mlx4x_xdp_prog meta_prog = { .hook = look_at_metadata };

/* A UDP frame, tagged if tci is not 0, through the port: what the application gets. */
static struct rte_mbuf *
metadata_frame(uint16_t tci)
{
	struct rte_mbuf *mbuf = udp_frame(pool, 3);

	if (mbuf == NULL)
		return NULL;
	if (tci != 0) {
		mbuf->vlan_tci = tci;
		if (rte_vlan_insert(&mbuf) != 0)
			return NULL;
	}
	if (!send_frame(mbuf))
		return NULL;
	settle();
	return receive_frame();
}

static int
row70_body(void)
{
	struct rte_eth_conf plain = { 0 };
	struct rte_eth_conf hash = {
		.rxmode = { .mq_mode = RTE_ETH_MQ_RX_RSS },
		.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_NONFRAG_IPV4_UDP,
	};
	struct rte_eth_conf stamp = { .rxmode.offloads = RTE_ETH_RX_OFFLOAD_TIMESTAMP };
	struct rte_mbuf *mbuf;
	uint64_t flag;
	int offset;

	CHECK(self_start(&plain) == 0);
	CHECK(rte_pmd_mlx4x_xdp_set(PORT, &meta_prog) == 0);
	mbuf = metadata_frame(0);
	CHECK(mbuf != NULL);
	rte_pktmbuf_free(mbuf);
	CHECK(meta.hash_ret == -ENODATA && meta.stamp_ret == -ENODATA);
	CHECK(meta.vlan_ret == -ENODATA);
	mbuf = metadata_frame(0x6007);
	CHECK(mbuf != NULL);
	rte_pktmbuf_free(mbuf);
	CHECK(meta.vlan_ret == 0 && meta.proto == 0x8100 && meta.tci == 0x6007);

	CHECK(rte_eth_dev_stop(PORT) == 0 && self_start(&hash) == 0);
	mbuf = metadata_frame(0);
	CHECK(mbuf != NULL);
	CHECK(meta.hash_ret == 0 && meta.hash == mbuf->hash.rss && meta.hash != 0);
	CHECK(meta.type == (RTE_PMD_MLX4X_XDP_RSS_IPV4 | RTE_PMD_MLX4X_XDP_RSS_L4 |
		RTE_PMD_MLX4X_XDP_RSS_UDP));
	rte_pktmbuf_free(mbuf);

	CHECK(rte_eth_dev_stop(PORT) == 0 && self_start(&stamp) == 0);
	CHECK(rte_mbuf_dyn_rx_timestamp_register(&offset, &flag) == 0);
	mbuf = metadata_frame(0);
	CHECK(mbuf != NULL);
	CHECK(meta.stamp_ret == 0 && meta.vlan_ret == -EOPNOTSUPP);
	CHECK(meta.stamp == *RTE_MBUF_DYNFIELD(mbuf, offset, rte_mbuf_timestamp_t *));
	rte_pktmbuf_free(mbuf);
	return 0;
}

/* Row 70: hash and its type, time stamp, VLAN tag; ENODATA where there is none. */
static int
test_row70_metadata(void)
{
	return end(row70_body());
}

static int
row72_body(void)
{
	CHECK(start_with(XDP_DROP) == 0);
	CHECK(card_ctl("inject rx_error:port=1,skip=3,count=5,syndrome=1"));
	CHECK(pass_frames(20) == 0);
	CHECK(hook.runs == 15 && port_xstat(PORT, "rx_xdp_drop") == 15);
	CHECK(port_xstat(PORT, "rx_errors") == 5);
	CHECK(card_ctl("inject bad_fcs:port=1,skip=0,count=4"));
	CHECK(pass_frames(20) == 0);
	/* These the card itself does not let through. */
	CHECK(hook.runs == 31 && port_xstat(PORT, "rx_errors") == 5);
	CHECK(card_counter("rx_drop_bad_fcs") == 4);
	CHECK(port_xstat(PORT, "rx_xdp_packets") == 31 && verdicts_add_up(PORT));
	return 0;
}

/* Row 72: no program sees a frame that came with an error, and they are counted. */
static int
test_row72_errors(void)
{
	int result = end(row72_body());

	return card_ctl("resume") ? result : -1;
}

/* Frames go round until the hook says otherwise; then one more round ends them. */
static int
sent_back_body(void)
{
	struct rte_mbuf *pkts[BURST];
	unsigned int i;

	CHECK(start_with(XDP_TX) == 0);
	for (i = 0; i < 10; i++)
		CHECK(send_frame(new_frame(i)));
	for (i = 0; i < 1000; i++) {
		settle();
		CHECK(rte_eth_rx_burst(PORT, 0, pkts, BURST) == 0);
	}
	CHECK(port_xstat(PORT, "rx_xdp_tx") == 10000);
	CHECK(port_xstat(PORT, "rx_xdp_tx_doorbells") == 1000);
	CHECK(port_xstat(PORT, "rx_xdp_tx_bytes") == 10000 * FRAME);
	CHECK(port_xstat(PORT, "rx_q0_xdp_tx_bytes") == 10000 * FRAME);
	CHECK(port_xstat(PORT, "rx_xdp_tx_err") == 0);
	hook.action = XDP_PASS;
	for (i = 0; i < 10; i++) {
		settle();
		CHECK(take_frame(i));	/* in order, and nothing of them has changed */
	}
	CHECK(port_xstat(PORT, "rx_xdp_pass") == 10 && verdicts_add_up(PORT));
	CHECK(port_xstat(PORT, "tx_good_packets") == 10);
	hook.action = XDP_TX;
	hook.tail = 13 - FRAME;		/* shorter than a header: nobody can send that */
	CHECK(pass_frames(1) == 0);
	CHECK(port_xstat(PORT, "rx_xdp_aborted") == 1);
	return 0;
}

static int
test_sent_back(void)
{
	return end(sent_back_body());
}

/* A turn of the card and a poll; the program keeps everything. */
static bool
turn(void)
{
	struct rte_mbuf *pkts[BURST];

	settle();
	return rte_eth_rx_burst(PORT, 0, pkts, BURST) == 0;
}

static int
send_error_body(void)
{
	uint64_t sent;
	unsigned int i;

	CHECK(start_with(XDP_TX) == 0);
	CHECK(send_frame(new_frame(1)));
	for (i = 0; i < 5; i++)
		CHECK(turn());
	CHECK(port_xstat(PORT, "rx_xdp_tx") >= 4);
	CHECK(card_ctl("inject tx_error:port=1,syndrome=4"));
	for (i = 0; i < 5; i++)
		CHECK(turn());
	/* The frame is lost. New ones are dropped as if the ring were full, until it works again. */
	sent = port_xstat(PORT, "rx_xdp_tx");
	for (i = 0; i < WAIT_MS && port_xstat(PORT, "rx_xdp_tx") < sent + 10; i++) {
		if (port_xstat(PORT, "rx_xdp_tx") == sent)
			CHECK(send_frame(new_frame(2)));
		CHECK(turn());
		rte_delay_us_sleep(1000);
	}
	CHECK(port_xstat(PORT, "rx_xdp_tx") >= sent + 10);
	CHECK(port_xstat(PORT, "rx_xdp_tx_err") == 1 && port_xstat(PORT, "rx_xdp_xmit_err") == 0);
	CHECK(verdicts_add_up(PORT));
	return 0;
}

/* The send queue of XDP_TX that the card puts in error is repaired by itself. */
static int
test_send_error(void)
{
	return end(send_error_body());
}

/* The card goes while frames are on their way back; nothing waits, nothing is lost. */
static int
test_unplug(void)
{
	unsigned int i;

	CHECK(start_with(XDP_TX) == 0);
	for (i = 0; i < 10; i++)
		CHECK(send_frame(new_frame(i)));
	settle();
	CHECK(poll_all() == 0 && hook.runs >= 10);
	CHECK(card_ctl("unplug"));
	CHECK(poll_all() == 0);
	CHECK(port_xstat(PORT, "rx_xdp_packets") == hook.runs && verdicts_add_up(PORT));
	CHECK(rte_pmd_mlx4x_xdp_set(PORT, NULL) == 0);
	rte_eth_dev_stop(PORT);
	CHECK(rte_eth_dev_close(PORT) == 0);
	CHECK(rte_mempool_in_use_count(pool) == 0);
	printf("unplug: ok\n");
	return 0;
}

/* A frame from the port itself, to a group or to the port. */
static struct rte_mbuf *
own_frame(bool multicast)
{
	struct rte_mbuf *mbuf = new_frame(1);
	struct rte_ether_hdr *eth;

	if (mbuf == NULL)
		return NULL;
	eth = rte_pktmbuf_mtod(mbuf, struct rte_ether_hdr *);
	eth->src_addr = eth->dst_addr;
	if (multicast)
		memset(&eth->dst_addr, 0xff, sizeof(eth->dst_addr));
	return mbuf;
}

/*
 * Row 72: the own multicast that a virtual function hears again never reaches a program,
 * and is counted; its own frames to itself are frames like others.
 */
static int
test_row72_loopback(void)
{
	CHECK(start_with(XDP_DROP) == 0);
	/* Once from the switch of the card, once from the wire. */
	CHECK(send_frame(own_frame(true)) && poll_all() == 0);
	CHECK(hook.runs == 0 && port_xstat(PORT, "rx_loopback_filtered") == 2);
	CHECK(send_frame(own_frame(false)) && poll_all() == 0);
	CHECK(hook.runs > 0 && port_xstat(PORT, "rx_loopback_filtered") == 2);
	CHECK(port_xstat(PORT, "rx_xdp_packets") == hook.runs && verdicts_add_up(PORT));
	return end(0);
}

int
main(int argc, char **argv)
{
	/* The first NB_OF_PAGES are about pages; the others also hold where blocks are shared. */
	static const struct self_test tests[] = {
		{ "row1_page_per_packet", test_row1_page_per_packet },
		{ "row7_mtu", test_row7_mtu },
		{ "row8_failure_keeps_the_old", test_row8_failure_keeps_the_old },
		{ "restart_and_queues", test_restart_and_queues },
		{ "scatter_is_refused", test_scatter_is_refused },
		{ "row67_exceptions", test_row67_exceptions },
		{ "row68_headroom", test_row68_headroom },
		{ "passed_frames", test_passed_frames },
		{ "row69_starvation", test_row69_starvation },
		{ "row70_metadata", test_row70_metadata },
		{ "row72_errors", test_row72_errors },
		{ "sent_back", test_sent_back },
		{ "send_error", test_send_error },
	};
	static const struct self_test vf_test = { "row72_loopback", test_row72_loopback };
	int used = xdp_port_init(argc, argv);
	const char *only = used >= 0 && argc - used > 1 ? argv[used + 1] : NULL;

	if (used < 0)
		return 1;
	if (only != NULL && strcmp(only, "unplug") == 0)
		return test_unplug() != 0;
	if (only != NULL && strcmp(only, "loopback") == 0)
		return self_run(&vf_test, 1, NULL);
	if (only != NULL && strcmp(only, "any_layout") == 0)
		return self_run(tests + NB_OF_PAGES, RTE_DIM(tests) - NB_OF_PAGES, NULL);
	return self_run(tests, RTE_DIM(tests), only);
}
