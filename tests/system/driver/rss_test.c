/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The receive hash: every frame has the hash and the queue that Toeplitz says, whatever
 * key, types, offloads and number of queues the port has, and while they change.
 */

#include <inttypes.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "../../unit/check.h"
#include "pair.h"

#define NB_FRAMES 160

static const uint64_t all_types = RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP;
static uint8_t random_key[40];
static uint8_t symmetric_key[40];

/* Frames of every kind that the device tells apart, for the port itself. */
static void
make_frames(const struct pair *pair, struct frame *frames)
{
	static const uint8_t protocols[] = { IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMP };
	unsigned int i;

	for (i = 0; i < NB_FRAMES; i++) {
		frames[i] = (struct frame){
			.dst = pair->mac,
			.tagged = random() % 2,
			.vid = 7,
			.version = i % 16 == 0 ? 0 : i % 2 ? 4 : 6,
			.protocol = protocols[random() % RTE_DIM(protocols)],
			.fragment = i % 16 == 5 || i % 16 == 6,
			.src_ip = random(),
			.dst_ip = random(),
			.src_port = random(),
			.dst_port = random(),
		};
	}
}

static void
check_hashes(struct pair *pair, const uint8_t *key, uint64_t types, uint16_t nb_queues)
{
	struct frame frames[NB_FRAMES];
	struct arrival arrivals[NB_FRAMES];
	unsigned int i, nb_hashed = 0;

	make_frames(pair, frames);
	pair_exchange(pair, frames, NB_FRAMES, arrivals);
	for (i = 0; i < NB_FRAMES; i++) {
		uint32_t hash = frame_hash(&frames[i], key, types);

		CHECK(arrivals[i].queue == hash % nb_queues, "frame %u: queue %u, hash %08x", i,
			arrivals[i].queue, hash);
		CHECK(arrivals[i].hashed == (hash != 0), "frame %u: flag %d, hash %08x", i,
			arrivals[i].hashed, hash);
		CHECK(!arrivals[i].hashed || arrivals[i].hash == hash, "frame %u: %08x, want %08x",
			i, arrivals[i].hash, hash);
		nb_hashed += arrivals[i].hashed;
	}
	CHECK(types == 0 || nb_hashed > NB_FRAMES / 4, "%u hashed", nb_hashed);
}

static void
start_with(struct pair *pair, uint16_t nb_queues, uint8_t *key, uint64_t types, uint64_t offloads)
{
	struct rte_eth_conf conf = {
		.rxmode = { .mq_mode = RTE_ETH_MQ_RX_RSS, .offloads = offloads },
		.rx_adv_conf.rss_conf = {
			.rss_key = key, .rss_key_len = key != NULL ? 40 : 0, .rss_hf = types,
		},
	};

	pair_stop(pair);
	pair_log();
	CHECK(pair_configure(pair, nb_queues, &conf) == 0);
	pair_start(pair);
}

static void
get_hash(const struct pair *pair, uint8_t key[40], uint64_t *types)
{
	struct rte_eth_rss_conf conf = { .rss_key = key, .rss_key_len = 40 };

	CHECK(rte_eth_dev_rss_hash_conf_get(pair->rx_port, &conf) == 0);
	*types = conf.rss_hf;
}

/* Flag and hash stay when checksums or tags are looked at, too (user-reports.md 3.1 a, b). */
static void
test_offloads(struct pair *pair)
{
	static const uint64_t offloads[] = {
		0, RTE_ETH_RX_OFFLOAD_CHECKSUM, RTE_ETH_RX_OFFLOAD_VLAN_STRIP,
		RTE_ETH_RX_OFFLOAD_CHECKSUM | RTE_ETH_RX_OFFLOAD_SCATTER |
			RTE_ETH_RX_OFFLOAD_VLAN_STRIP,
	};
	unsigned int i;

	for (i = 0; i < RTE_DIM(offloads); i++) {
		start_with(pair, 4, random_key, all_types, offloads[i]);
		check_hashes(pair, random_key, all_types, 4);
	}
}

static void
test_types(struct pair *pair)
{
	static const uint64_t types[] = {
		RTE_ETH_RSS_IPV4, RTE_ETH_RSS_IPV6, RTE_ETH_RSS_IP,
		RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP, RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP,
		RTE_ETH_RSS_NONFRAG_IPV4_UDP, RTE_ETH_RSS_NONFRAG_IPV6_TCP, 0,
	};
	uint8_t key[40];
	uint64_t got;
	unsigned int i;

	for (i = 0; i < RTE_DIM(types); i++) {
		start_with(pair, 4, random_key, types[i], 0);
		check_hashes(pair, random_key, types[i], 4);
		get_hash(pair, key, &got);
		CHECK((got & types[i]) == types[i], "%" PRIx64 " of %" PRIx64, got, types[i]);
	}
}

/* Each number of queues; those that no power of two covers, with a word about it. */
static void
test_queue_counts(struct pair *pair)
{
	static const uint16_t counts[] = { 4, 2, 3, 1, 8, 7, 5, 6 };
	static const char sentence[] = "the device spreads over a power of two of queues";
	unsigned int i;

	for (i = 0; i < RTE_DIM(counts); i++) {
		start_with(pair, counts[i], random_key, all_types, 0);
		CHECK((strstr(pair_log(), sentence) != NULL) == !rte_is_power_of_2(counts[i]));
		check_hashes(pair, random_key, all_types, rte_align32prevpow2(counts[i]));
	}
	start_with(pair, 3, random_key, all_types, 0);
	CHECK(strstr(pair_log(), "of 3 Rx queues the first 2 share the traffic, the others serve "
		"flow rules only") != NULL);
}

static void
update(struct pair *pair, uint8_t *key, uint8_t key_len, uint64_t types, int want)
{
	struct rte_eth_rss_conf conf = {
		.rss_key = key, .rss_key_len = key_len, .rss_hf = types,
	};
	int ret = rte_eth_dev_rss_hash_update(pair->rx_port, &conf);

	CHECK(ret == want, "%d", ret);
}

/* Key and types change while the port runs, and stay over a stop. */
static void
test_update(struct pair *pair)
{
	uint8_t key[40], default_key[40];
	const char *log;
	uint64_t types;

	start_with(pair, 4, NULL, all_types, 0);
	get_hash(pair, default_key, &types);
	check_hashes(pair, default_key, all_types, 4);
	update(pair, random_key, 40, RTE_ETH_RSS_IP, 0);
	check_hashes(pair, random_key, RTE_ETH_RSS_IP, 4);
	update(pair, NULL, 0, all_types, 0);
	check_hashes(pair, random_key, all_types, 4);
	pair_stop(pair);
	update(pair, symmetric_key, 40, all_types, 0);
	pair_start(pair);
	check_hashes(pair, symmetric_key, all_types, 4);
	pair_log();
	update(pair, random_key, 39, all_types, -EINVAL);
	log = pair_log();	/* of DPDK 24.11 itself, which no longer asks the driver */
	CHECK(strstr(log, "RSS key of 39 bytes; the device takes 40") != NULL ||
	      strstr(log, "invalid RSS key len: 39, valid value: 40") != NULL);
	get_hash(pair, key, &types);
	CHECK(memcmp(key, symmetric_key, 40) == 0 && types & RTE_ETH_RSS_NONFRAG_IPV4_UDP);
	check_hashes(pair, symmetric_key, all_types, 4);
}

static void
test_symmetric_key(struct pair *pair)
{
	struct frame frames[NB_FRAMES];
	struct arrival arrivals[NB_FRAMES];
	unsigned int i;

	start_with(pair, 8, symmetric_key, all_types, 0);
	make_frames(pair, frames);
	for (i = 1; i < NB_FRAMES; i += 2) {
		frames[i] = frames[i - 1];
		frames[i].src_ip = frames[i - 1].dst_ip;
		frames[i].dst_ip = frames[i - 1].src_ip;
		frames[i].src_port = frames[i - 1].dst_port;
		frames[i].dst_port = frames[i - 1].src_port;
	}
	pair_exchange(pair, frames, NB_FRAMES, arrivals);
	for (i = 1; i < NB_FRAMES; i += 2)
		CHECK(arrivals[i].queue == arrivals[i - 1].queue &&
			arrivals[i].hash == arrivals[i - 1].hash, "direction %u", i);
}

/* The table that the hardware has: the last bits of the hash. */
static void
test_reta(struct pair *pair)
{
	struct rte_eth_rss_reta_entry64 reta[RTE_ETH_RSS_RETA_SIZE_512 / RTE_ETH_RETA_GROUP_SIZE];
	struct rte_eth_dev_info info;
	uint16_t i;

	start_with(pair, 3, random_key, all_types, 0);
	CHECK(rte_eth_dev_info_get(pair->rx_port, &info) == 0 && info.reta_size >= 2 &&
		info.reta_size <= RTE_ETH_RSS_RETA_SIZE_512);
	memset(reta, 0xff, sizeof(reta));
	CHECK(rte_eth_dev_rss_reta_query(pair->rx_port, reta, info.reta_size) == 0);
	for (i = 0; i < info.reta_size; i++)
		CHECK(reta[i / 64].reta[i % 64] == i % 2, "entry %u: %u", i, reta[i / 64].reta[i % 64]);
	CHECK(rte_eth_dev_rss_reta_update(pair->rx_port, reta, info.reta_size) == 0);
	reta[0].reta[5] = 0;
	pair_log();
	CHECK(rte_eth_dev_rss_reta_update(pair->rx_port, reta, info.reta_size) == -ENOTSUP);
	CHECK(strstr(pair_log(), "entry 5 of the redirection table cannot be queue 0") != NULL);
	CHECK(rte_eth_dev_rss_reta_query(pair->rx_port, reta, info.reta_size / 2) == -EINVAL);
	check_hashes(pair, random_key, all_types, 2);
}

static void
test_refused_configurations(struct pair *pair)
{
	struct rte_eth_conf conf = {
		.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS,
		.rx_adv_conf.rss_conf = {
			.rss_key = random_key, .rss_key_len = 52, .rss_hf = all_types,
		},
	};

	pair_stop(pair);
	pair_log();
	CHECK(pair_configure(pair, 2, &conf) != 0);
	CHECK(strstr(pair_log(), "52") != NULL, "%s", pair_log());
	start_with(pair, 2, random_key, all_types, 0);
	check_hashes(pair, random_key, all_types, 2);
}

int
main(int argc, char **argv)
{
	struct pair pair;
	unsigned int i;

	if (argc != 2)
		return 2;
	srandom(2);
	for (i = 0; i < 40; i++) {
		random_key[i] = random();
		symmetric_key[i] = i % 2 ? 0x5a : 0x6d;
	}
	pair_open(&pair, argv);
	CHECK(pair_configure(&pair, 1, &(struct rte_eth_conf){ 0 }) == 0);
	pair_start(&pair);
	test_offloads(&pair);
	test_types(&pair);
	test_queue_counts(&pair);
	test_update(&pair);
	test_symmetric_key(&pair);
	test_reta(&pair);
	test_refused_configurations(&pair);
	pair_close(&pair);
	return check_status();
}
