/* SPDX-License-Identifier: BSD-3-Clause */

/* See self_port.h. */

#include "self_port.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "vcx3.h"

#define NB_MBUFS 2047

struct rte_mempool *pool;

static struct rte_ether_addr mac;

int
self_init(int argc, char **argv)
{
	int used = rte_eal_init(argc, argv);

	setlinebuf(stdout);
	if (used < 0 || rte_eth_dev_count_avail() != 1) {
		printf("no EAL, or not one port\n");
		return -1;
	}
	rte_eth_macaddr_get(PORT, &mac);
	pool = rte_pktmbuf_pool_create("frames", NB_MBUFS, 0, 0, 2176, SOCKET_ID_ANY);
	return pool == NULL ? -1 : used;
}

int
self_configure(const struct rte_eth_conf *conf)
{
	int socket = rte_eth_dev_socket_id(PORT);

	CHECK(rte_eth_dev_configure(PORT, 1, 1, conf) == 0);
	CHECK(rte_eth_rx_queue_setup(PORT, 0, RING, socket, NULL, pool) == 0);
	CHECK(rte_eth_tx_queue_setup(PORT, 0, RING, socket, NULL) == 0);
	return 0;
}

int
self_start(const struct rte_eth_conf *conf)
{
	CHECK(self_configure(conf) == 0);
	CHECK(rte_eth_dev_start(PORT) == 0);
	return 0;
}

void
write_frame(struct rte_mbuf *mbuf, uint16_t number)
{
	uint8_t *data = rte_pktmbuf_mtod(mbuf, uint8_t *);

	mbuf->data_len = FRAME;
	mbuf->pkt_len = FRAME;
	memset(data, 0x5a, FRAME);
	memcpy(data, &mac, sizeof(mac));
	memset(data + 6, 2, 6);
	data[12] = 0x88;
	data[13] = 0xb5;	/* local experimental EtherType */
	memcpy(data + 14, &number, sizeof(number));
}

struct rte_mbuf *
new_frame(uint16_t number)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);

	if (mbuf != NULL)
		write_frame(mbuf, number);
	return mbuf;
}

struct rte_mbuf *
udp_frame(struct rte_mempool *mp, uint16_t number)
{
	static const struct rte_ether_addr from = { { 2, 0, 0, 0, 0, 1 } };
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(mp);
	struct rte_ether_hdr *eth;
	struct rte_ipv4_hdr *ip;
	struct rte_udp_hdr *udp;

	if (mbuf == NULL)
		return NULL;
	mbuf->data_len = FRAME;
	mbuf->pkt_len = FRAME;
	eth = rte_pktmbuf_mtod(mbuf, struct rte_ether_hdr *);
	ip = (void *)(eth + 1);
	udp = (void *)(ip + 1);
	memset(eth, 0, FRAME);
	rte_eth_macaddr_get(PORT, &eth->dst_addr);
	eth->src_addr = from;
	eth->ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	ip->version_ihl = RTE_IPV4_VHL_DEF;
	ip->total_length = rte_cpu_to_be_16(FRAME - sizeof(*eth));
	ip->time_to_live = 64;
	ip->next_proto_id = IPPROTO_UDP;
	ip->src_addr = RTE_BE32(RTE_IPV4(10, 0, 0, 1));
	ip->dst_addr = RTE_BE32(RTE_IPV4(10, 0, 0, 2));
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	udp->src_port = rte_cpu_to_be_16(number);
	udp->dst_port = RTE_BE16(9);
	udp->dgram_len = rte_cpu_to_be_16(FRAME - sizeof(*eth) - sizeof(*ip));
	return mbuf;
}

/* The driver may ask for patience while it registers memory or repairs a queue. */
bool
send_frame(struct rte_mbuf *mbuf)
{
	unsigned int ms;

	for (ms = 0; ms < WAIT_MS; ms++) {
		if (rte_eth_tx_burst(PORT, 0, &mbuf, 1) == 1)
			return true;
		rte_delay_us_sleep(1000);
	}
	rte_pktmbuf_free(mbuf);
	return false;
}

struct rte_mbuf *
receive_frame(void)
{
	struct rte_mbuf *mbuf;
	unsigned int ms;

	for (ms = 0; ms < WAIT_MS; ms++) {
		if (rte_eth_rx_burst(PORT, 0, &mbuf, 1) == 1)
			return mbuf;
		rte_delay_us_sleep(1000);
	}
	return NULL;
}

bool
take_frame(uint16_t number)
{
	struct rte_mbuf *mbuf = receive_frame();
	bool ok = mbuf != NULL && mbuf->pkt_len == FRAME &&
		memcmp(rte_pktmbuf_mtod_offset(mbuf, void *, 14), &number, sizeof(number)) == 0;

	rte_pktmbuf_free(mbuf);
	return ok;
}

int
echo(struct rte_mbuf *mbuf, uint16_t number)
{
	CHECK(mbuf != NULL);
	CHECK(send_frame(mbuf));
	CHECK(take_frame(number));
	return 0;
}

uint64_t
send_errors(void)
{
	struct rte_eth_stats stats = { 0 };

	rte_eth_stats_get(PORT, &stats);
	return stats.oerrors;
}

#define MAX_XSTATS 1024

uint64_t
port_xstat(uint16_t port, const char *name)
{
	struct rte_eth_xstat_name names[MAX_XSTATS];
	struct rte_eth_xstat values[MAX_XSTATS];
	int nb = rte_eth_xstats_get_names(port, names, MAX_XSTATS), i;

	if (nb < 0 || rte_eth_xstats_get(port, values, MAX_XSTATS) != nb)
		return UINT64_MAX;
	for (i = 0; i < nb; i++) {
		if (strcmp(names[i].name, name) == 0)
			return values[i].value;
	}
	return UINT64_MAX;
}

/* The sum of counters of a port ("rx_") or of a queue ("rx_q0_"). */
static uint64_t
sum_of(uint16_t port, const char *prefix, const char *const *names, unsigned int nb)
{
	char name[RTE_ETH_XSTATS_NAME_SIZE];
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < nb; i++) {
		snprintf(name, sizeof(name), "%s%s", prefix, names[i]);
		sum += port_xstat(port, name);
	}
	return sum;
}

static bool
adds_up(uint16_t port, const char *prefix)
{
	static const char *const packets[] = { "xdp_packets" };
	static const char *const fail[] = { "xdp_redirect_fail" };
	static const char *const verdicts[] = {
		"xdp_pass", "xdp_drop", "xdp_aborted", "xdp_tx", "xdp_tx_full", "xdp_redirect",
		"xdp_redirect_fail",
	};
	static const char *const reasons[] = {
		"xdp_redirect_unknown", "xdp_redirect_full", "xdp_redirect_too_long",
	};

	return sum_of(port, prefix, packets, 1) ==
			sum_of(port, prefix, verdicts, RTE_DIM(verdicts)) &&
		sum_of(port, prefix, fail, 1) == sum_of(port, prefix, reasons, RTE_DIM(reasons));
}

bool
verdicts_add_up(uint16_t port)
{
	struct rte_eth_dev_info info;
	char prefix[16];
	bool ok = adds_up(port, "rx_") && rte_eth_dev_info_get(port, &info) == 0;
	uint16_t i;

	for (i = 0; ok && i < info.nb_rx_queues; i++) {
		snprintf(prefix, sizeof(prefix), "rx_q%u_", i);
		ok = adds_up(port, prefix);
	}
	return ok;
}

/* The path of the socket is what the test was given in CARD_CONTROL. */
bool
card_ctl(const char *format, ...)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *path = getenv("CARD_CONTROL");
	char text[512] = "";
	va_list arguments;
	bool ok;
	int fd;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text) - 1, format, arguments);
	va_end(arguments);
	strcat(text, "\n");
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path != NULL ? path : "");
	ok = fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
		write(fd, text, strlen(text)) == (ssize_t)strlen(text) &&
		read(fd, text, sizeof(text) - 1) >= 2 && memcmp(text, "ok", 2) == 0;
	if (!ok)
		printf("the card does not take \"%s\"\n", text);
	if (fd >= 0)
		close(fd);
	return ok;
}

static const char *
counters_text(void)
{
	static char text[65536];

	return vcx3_counters_text(text, sizeof(text)) != 0 ? text : "";
}

long
card_counter(const char *name)
{
	char key[64];
	const char *at;

	snprintf(key, sizeof(key), "\"%s\": ", name);
	at = strstr(counters_text(), key);
	return at != NULL ? atol(at + strlen(key)) : -1;
}

long
card_census(void)
{
	const char *at = strstr(counters_text(), "\"census\": {");
	long nb = 0;

	if (at == NULL)
		return -1;
	while ((at = strchr(at + 1, ':')) != NULL)
		nb += atol(at + 1);
	return nb;
}

static bool
run_one(const struct self_test *test)
{
	int result;

	rte_eth_stats_reset(PORT);
	result = test->run();
	if (rte_eth_dev_stop(PORT) != 0)
		result = -1;
	if (result == 0 && !verdicts_add_up(PORT)) {
		printf("%s: received is not the sum of all verdicts\n", test->name);
		result = -1;
	}
	if (result == 0 && rte_mempool_in_use_count(pool) != 0) {
		printf("%s: %u mbufs are lost\n", test->name, rte_mempool_in_use_count(pool));
		result = -1;
	}
	printf("%s: %s\n", test->name, result == 0 ? "ok" : "FAILED");
	return result == 0;
}

int
self_run(const struct self_test *tests, unsigned int nb, const char *only)
{
	unsigned int i, failed = 0;

	for (i = 0; i < nb; i++) {
		if (only == NULL || strcmp(only, tests[i].name) == 0)
			failed += !run_one(&tests[i]);
	}
	if (rte_eth_dev_close(PORT) != 0)
		failed++;
	if (card_census() != 0) {
		printf("%ld verbs objects are left\n", card_census());
		failed++;
	}
	rte_mempool_free(pool);
	rte_eal_cleanup();
	return failed != 0;
}

int
self_main(int argc, char **argv, const struct self_test *tests, unsigned int nb)
{
	int used = self_init(argc, argv);

	if (used < 0)
		return 1;
	return self_run(tests, nb, used + 1 < argc ? argv[used + 1] : NULL);
}
