/* SPDX-License-Identifier: BSD-3-Clause */

/* See pair.h. A failure of what every test needs ends the program. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_byteorder.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>
#include <rte_mbuf.h>

#include "pair.h"

#define BURST 32
#define NB_DESC 256
#define PATIENCE_S 30	/* a machine under load */
#define MARKER_MAGIC 0x6d61726bu
#define FRAME_MAGIC 0x6672616du

static FILE *log_stream;
static char *log_text;
static size_t log_size;

/* What a frame ends with, so that it is known again. */
struct trailer {
	uint32_t magic;
	uint32_t number;
};

static void
must(bool condition, const char *what)
{
	if (condition)
		return;
	fflush(log_stream);
	fprintf(stderr, "%s: %s (%s)\n%s", what, "failed", rte_strerror(rte_errno), log_text);
	exit(1);
}

const char *
pair_log(void)
{
	static char *text;

	fflush(log_stream);
	free(text);
	text = strdup(log_text);
	rewind(log_stream);
	fflush(log_stream);
	log_text[0] = '\0';
	return text;
}

int
pair_configure(struct pair *pair, uint16_t nb_queues, const struct rte_eth_conf *conf)
{
	int ret = rte_eth_dev_configure(pair->rx_port, nb_queues, 1, conf);
	uint16_t i;

	if (ret != 0)
		return ret;
	pair->nb_queues = nb_queues;
	for (i = 0; i < nb_queues; i++)
		must(rte_eth_rx_queue_setup(pair->rx_port, i, NB_DESC, SOCKET_ID_ANY, NULL,
			pair->mp) == 0, "Rx queue");
	must(rte_eth_tx_queue_setup(pair->rx_port, 0, NB_DESC, SOCKET_ID_ANY, NULL) == 0,
		"Tx queue");
	return 0;
}

void
pair_start(struct pair *pair)
{
	must(rte_eth_dev_start(pair->rx_port) == 0, "start");
}

void
pair_stop(struct pair *pair)
{
	must(rte_eth_dev_stop(pair->rx_port) == 0, "stop");
}

static void
open_sender(struct pair *pair)
{
	struct rte_eth_conf conf = { .txmode.mq_mode = RTE_ETH_MQ_TX_NONE };

	must(rte_eth_dev_configure(pair->tx_port, 1, 1, &conf) == 0, "configure the sender");
	must(rte_eth_rx_queue_setup(pair->tx_port, 0, 64, SOCKET_ID_ANY, NULL, pair->mp) == 0 &&
		rte_eth_tx_queue_setup(pair->tx_port, 0, NB_DESC, SOCKET_ID_ANY, NULL) == 0,
		"queues of the sender");
	must(rte_eth_dev_start(pair->tx_port) == 0, "start the sender");
}

void
pair_open(struct pair *pair, char **argv)
{
	char prefix[32];
	const char *words[] = { argv[0], "-d", argv[1], "-l", "0", "--no-huge", "-m", "128",
		"--no-telemetry", "--file-prefix", prefix, "--log-level", "pmd.net.mlx4x:info" };

	snprintf(prefix, sizeof(prefix), "pair%d", getpid());
	log_stream = open_memstream(&log_text, &log_size);
	if (log_stream == NULL || rte_openlog_stream(log_stream) != 0)
		exit(1);
	memset(pair, 0, sizeof(*pair));
	must(rte_eal_init(RTE_DIM(words), (char **)(uintptr_t)words) >= 0, "EAL");
	must(rte_eth_dev_count_avail() == 2, "two ports");
	pair->tx_port = 1;
	pair->mp = rte_pktmbuf_pool_create("pair", 8191, 64, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
		SOCKET_ID_ANY);
	must(pair->mp != NULL, "mempool");
	must(rte_eth_macaddr_get(pair->rx_port, &pair->mac) == 0, "MAC address");
	open_sender(pair);
}

void
pair_close(struct pair *pair)
{
	rte_eth_dev_stop(pair->rx_port);
	rte_eth_dev_stop(pair->tx_port);
	must(rte_eth_dev_close(pair->rx_port) == 0 && rte_eth_dev_close(pair->tx_port) == 0,
		"close");
	must(rte_mempool_avail_count(pair->mp) == pair->mp->size, "all mbufs back");
	rte_eal_cleanup();
}

static const struct rte_ether_addr marker_mac = { { 0x02, 0, 0, 0, 0xfe, 0xfe } };

/* Created before any rule of the test, so that none can hide it. */
static void
ensure_marker_rule(struct pair *pair)
{
	const struct rte_flow_attr attr = { .ingress = 1 };
	const struct rte_flow_item_eth eth = { .dst = marker_mac };
	const struct rte_flow_item_eth mask = {
		.dst = { { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } },
	};
	const struct rte_flow_item pattern[] = {
		{ .type = RTE_FLOW_ITEM_TYPE_ETH, .spec = &eth, .mask = &mask },
		{ .type = RTE_FLOW_ITEM_TYPE_END },
	};
	const struct rte_flow_action_queue queue = { .index = 0 };
	const struct rte_flow_action actions[] = {
		{ .type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &queue },
		{ .type = RTE_FLOW_ACTION_TYPE_END },
	};
	struct rte_flow_error error = { 0 };

	if (pair->marker_rule != NULL)
		return;
	pair->marker_rule = rte_flow_create(pair->rx_port, &attr, pattern, actions, &error);
	must(pair->marker_rule != NULL, error.message != NULL ? error.message : "marker rule");
}

void
pair_flush(struct pair *pair)
{
	must(rte_flow_flush(pair->rx_port, NULL) == 0, "flush");
	pair->marker_rule = NULL;
	ensure_marker_rule(pair);
}

static struct rte_mbuf *
make_mbuf(struct pair *pair, const struct frame *frame, uint32_t magic, uint32_t number)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pair->mp);
	struct trailer trailer = { .magic = magic, .number = number };
	uint16_t len;

	must(mbuf != NULL, "an mbuf");
	len = frame_write(frame, rte_pktmbuf_mtod(mbuf, uint8_t *));
	memcpy(rte_pktmbuf_mtod_offset(mbuf, void *, len), &trailer, sizeof(trailer));
	mbuf->data_len = len + sizeof(trailer);
	mbuf->pkt_len = mbuf->data_len;
	return mbuf;
}

static void
transmit(struct pair *pair, struct rte_mbuf **mbufs, uint16_t nb)
{
	uint64_t limit = rte_get_timer_cycles() + PATIENCE_S * rte_get_timer_hz();
	uint16_t done = 0;

	while (done < nb) {
		done += rte_eth_tx_burst(pair->tx_port, 0, mbufs + done, nb - done);
		must(rte_get_timer_cycles() < limit, "room in the Tx ring");
	}
}

/* Notes where a frame arrived; true if it is the marker. */
static bool
take(struct pair *pair, uint16_t queue, struct rte_mbuf *mbuf, struct arrival *arrivals,
	uint32_t nb_frames)
{
	struct trailer trailer;
	bool is_marker;

	memcpy(&trailer, rte_pktmbuf_mtod_offset(mbuf, void *, mbuf->data_len - sizeof(trailer)),
		sizeof(trailer));
	is_marker = trailer.magic == MARKER_MAGIC && trailer.number == pair->marker;
	if (trailer.magic == FRAME_MAGIC && trailer.number < nb_frames) {
		struct arrival *arrival = &arrivals[trailer.number];

		arrival->queue = queue;
		arrival->copies++;
		arrival->hashed = mbuf->ol_flags & RTE_MBUF_F_RX_RSS_HASH;
		arrival->hash = mbuf->hash.rss;
	}
	rte_pktmbuf_free(mbuf);
	return is_marker;
}

/* Polls every queue until all are empty; true if the marker was among the frames. */
static bool
receive(struct pair *pair, struct arrival *arrivals, uint32_t nb_frames)
{
	struct rte_mbuf *mbufs[BURST];
	bool marker = false, more = true;
	uint16_t queue, nb, i;

	while (more) {
		more = false;
		for (queue = 0; queue < pair->nb_queues; queue++) {
			nb = rte_eth_rx_burst(pair->rx_port, queue, mbufs, BURST);
			for (i = 0; i < nb; i++)
				marker |= take(pair, queue, mbufs[i], arrivals, nb_frames);
			more |= nb != 0;
		}
	}
	return marker;
}

/* A batch that every ring takes, then the marker. */
static void
exchange_batch(struct pair *pair, const struct frame *frames, uint32_t first, uint32_t nb,
	struct arrival *arrivals, uint32_t nb_frames)
{
	const struct frame marker = { .dst = marker_mac };
	uint64_t limit = rte_get_timer_cycles() + PATIENCE_S * rte_get_timer_hz();
	struct rte_mbuf *mbufs[BURST + 1];
	uint32_t i;

	for (i = 0; i < nb; i++)
		mbufs[i] = make_mbuf(pair, &frames[first + i], FRAME_MAGIC, first + i);
	mbufs[nb] = make_mbuf(pair, &marker, MARKER_MAGIC, ++pair->marker);
	transmit(pair, mbufs, nb + 1);
	while (!receive(pair, arrivals, nb_frames))
		must(rte_get_timer_cycles() < limit, "arrival of the marker");
	/* The marker may have been seen before frames in queues polled earlier. */
	receive(pair, arrivals, nb_frames);
}

void
pair_exchange(struct pair *pair, const struct frame *frames, uint32_t nb_frames,
	struct arrival *arrivals)
{
	uint32_t i;

	for (i = 0; i < nb_frames; i++)
		arrivals[i] = (struct arrival){ .queue = PAIR_NOT_RECEIVED };
	ensure_marker_rule(pair);
	for (i = 0; i < nb_frames; i += BURST)
		exchange_batch(pair, frames, i, RTE_MIN(nb_frames - i, (uint32_t)BURST), arrivals, nb_frames);
}
